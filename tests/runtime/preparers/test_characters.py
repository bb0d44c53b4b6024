"""Words as character ids. Expected ids: the documentation of bilm-tf, all shifted by one."""

import pytest

from workbench.runtime.preparers.characters import WordCharacters
from workbench.text.document import Document


@pytest.fixture
def preparer():
    return WordCharacters(8)


def encoded(preparer, text):
    return preparer.whole([Document("", (("text", text),))], 100).inputs[0]


def test_a_word_is_its_bytes_between_marks(preparer):
    (row,) = encoded(preparer, "ab").arrays["characters"].tolist()

    assert row == [259, ord("a") + 1, ord("b") + 1, 260, 261, 261, 261, 261]


def test_other_letters_are_several_bytes(preparer):
    (row,) = encoded(preparer, "ü").arrays["characters"].tolist()

    assert row[:4] == [259, 0xC3 + 1, 0xBC + 1, 260]


def test_a_long_word_is_truncated_before_its_end_mark(preparer):
    (row,) = encoded(preparer, "abcdefghijk").arrays["characters"].tolist()

    assert row == [259, *(ord(item) + 1 for item in "abcdef"), 260]


def test_a_text_without_words_is_one_row_of_zeros(preparer):
    result = encoded(preparer, " ")

    assert result.arrays["characters"].tolist() == [[0] * 8]
    assert result.text.tolist() == [-1]


def test_the_marks_of_a_sentence_are_words_of_one_symbol(preparer):
    start, end = preparer.boundaries().tolist()

    assert start[:4] == [259, 257, 260, 261] and end[:4] == [259, 258, 260, 261]


def test_pieces_are_the_words_up_to_their_limit(preparer):
    assert preparer.pieces(encoded(preparer, "Zoë abcdefghijk")) == ["Zoë", "abcdef"]


def test_every_word_is_known(preparer):
    assert preparer.unknown_share(["Zoë qqq"]) == 0.0


def test_a_saved_preparer_is_loaded_from_the_folder(preparer, tmp_path):
    from workbench.models.families.elmo.info import INFO

    preparer.save(tmp_path)

    assert INFO.preparer(tmp_path).longest == 8
