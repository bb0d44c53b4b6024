"""The characters that a language model reads for words, and where their states are read."""

import numpy as np
import pytest

from workbench.runtime.preparers.character_texts import FILE, CharacterTable, CharacterTexts
from workbench.text.document import Document

TABLE = CharacterTable({"<unk>": 0, "\n": 1, " ": 2, "a": 3, "b": 4, "c": 5}, 6)
BOTH = CharacterTexts({"next": TABLE, "previous": TABLE})


def document(text, second=None):
    texts = [("text", text), ("text_b", second)][: 1 + (second is not None)]
    return Document("1", tuple(texts))


def encoded(*texts, **more):
    return BOTH.whole([document(*texts)], 100, **more).inputs[0]


def test_both_models_read_the_words_joined_by_one_space_between_their_markers():
    arrays = encoded("ab  c").arrays

    assert arrays["next_characters"].tolist() == [1, 3, 4, 2, 5, 2]
    assert arrays["previous_characters"].tolist() == [1, 5, 2, 4, 3, 2]


def test_states_are_read_at_the_space_after_a_word_in_reading_order():
    arrays = encoded("ab c").arrays

    assert arrays["next_positions"].tolist() == [3, 5]
    assert arrays["previous_positions"].tolist() == [5, 2]


def test_unknown_characters_and_emoji_are_one_character_each():
    words = Document("1", (("text", "a😀é b"),), tokens={"text": ((0, 3), (4, 5))})
    (found,) = BOTH.whole([words], 100).inputs

    assert found.arrays["next_characters"].tolist() == [1, 3, 0, 0, 2, 4, 2]
    assert BOTH.pieces(found) == ["a\ufffd\ufffd", "b"]
    assert BOTH.unknown_share(["aé b", "ab"]) == pytest.approx(1 / 3)


def test_a_text_without_words_is_one_empty_word():
    result = encoded("")

    assert result.arrays["next_characters"].tolist() == [1, 2] and len(result) == 1
    assert result.arrays["next_positions"].tolist() == [1] and result.text.tolist() == [-1]


def test_a_longer_delimiter_moves_the_positions():
    table = CharacterTable(TABLE.ids, 6, delimiter="bc")
    (found,) = CharacterTexts({"previous": table}).whole([document("a")], 9).inputs

    assert found.arrays["previous_characters"].tolist() == [4, 5, 3, 2]
    assert found.arrays["previous_positions"].tolist() == [3]


def test_windows_of_a_long_text_hold_only_their_own_words():
    prepared = BOTH.windows([document("a b c a b c")], 4)

    assert [len(ids) for ids in prepared.inputs] == [4, 3]
    assert prepared.inputs[1].arrays["next_characters"].tolist() == [1, 3, 2, 4, 2, 5, 2]
    assert prepared.inputs[1].offsets.tolist() == [[6, 7], [8, 9], [10, 11]]


def test_the_tables_are_saved_and_loaded_again(tmp_path):
    BOTH.save(tmp_path)

    assert CharacterTexts.load(tmp_path / FILE).tables == BOTH.tables


def test_a_pair_is_read_as_one_text():
    result = encoded("a", "b c", texts=2)

    assert result.text.tolist() == [0, 1, 1]
    assert np.array_equal(result.arrays["next_characters"], [1, 3, 2, 4, 2, 5, 2])
