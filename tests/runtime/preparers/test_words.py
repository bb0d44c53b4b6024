"""Inputs of word-based models: truncation, windows, offsets, unknown words."""

import numpy as np
import pytest

from workbench.runtime.preparers.words import SPECIAL, Units, WordPreparer, _shortened
from workbench.text.document import Document

VOCABULARY = ["<unk>", "the", "cat", "sat", "on", "mat"]


class Lookup(WordPreparer):
    unknown = 0
    size = len(VOCABULARY)

    def arrays(self, units):
        ids = [VOCABULARY.index(word) if word in VOCABULARY else 0 for word in units.words]
        return {"input_ids": np.array(ids, dtype=np.int32)}

    def is_known(self, word):
        return word in VOCABULARY

    def word(self, number):
        return VOCABULARY[number]

    def save(self, folder):
        raise NotImplementedError


class Marked(Lookup):
    """With a special unit before the first word."""

    added = 1

    def framed(self, units):
        return Units(("<s>",), ((0, 0),), (SPECIAL,)).joined(units)


@pytest.fixture
def preparer():
    return Lookup()


def document(*texts, **other):
    names = ("text", "text_b")
    return Document("d", tuple(zip(names, texts, strict=False)), **other)


def test_each_word_is_a_unit_with_its_offsets(preparer):
    (encoded,) = preparer.whole([document("the 😀 cat")], 10).inputs

    assert preparer.pieces(encoded) == ["the", "<unk>", "cat"]
    assert encoded.offsets.tolist() == [[0, 3], [4, 5], [6, 9]]
    assert encoded.text.tolist() == [0, 0, 0]


def test_imported_tokens_are_used_as_words(preparer):
    given = document("the cat-sat", tokens={"text": ((0, 3), (4, 11))})

    (encoded,) = preparer.whole([given], 10).inputs

    assert encoded.offsets.tolist() == [[0, 3], [4, 11]]


def test_a_second_text_follows_the_first_and_is_marked(preparer):
    (encoded,) = preparer.whole([document("the cat", "sat")], 10, texts=2).inputs

    assert encoded.ids.tolist() == [1, 2, 3]
    assert encoded.text.tolist() == [0, 0, 1]
    assert encoded.offsets.tolist() == [[0, 3], [4, 7], [0, 3]]


@pytest.mark.parametrize(
    ("lengths", "room", "kept"),
    [
        ([5], 3, [3]),
        ([5, 2], 7, [5, 2]),
        ([5, 2], 4, [2, 2]),
        ([1, 9], 4, [1, 3]),
        ([4, 4], 5, [3, 2]),
    ],
)
def test_the_longer_text_is_truncated_first(lengths, room, kept):
    assert _shortened(lengths, room) == kept


def test_a_truncated_text_is_reported(preparer):
    prepared = preparer.whole([document("the cat sat"), document("the")], 2)

    assert prepared.cut.tolist() == [True, False]
    assert [len(encoded) for encoded in prepared.inputs] == [2, 1]


def test_a_text_without_words_becomes_one_special_unit(preparer):
    (encoded,) = preparer.whole([document("  ")], 10).inputs

    assert encoded.text.tolist() == [SPECIAL]
    assert encoded.offsets.tolist() == [[0, 0]]


def test_windows_overlap_and_cover_every_word(preparer):
    text = " ".join(["the cat sat on"] * 5)  # 20 words

    prepared = preparer.windows([document(text)], 8)

    first_words = [int(window.offsets[0][0]) for window in prepared.inputs]
    words = [start for start, _end in prepared.words[0]]
    assert [words.index(start) for start in first_words] == [0, 6, 12]  # 8 words, 2 shared
    assert [len(window) for window in prepared.inputs] == [8, 8, 8]
    assert (prepared.alignments[0].window >= 0).all()
    assert prepared.inputs[-1].offsets[-1][1] == len(text)


def test_a_text_that_fits_is_one_window(preparer):
    assert len(preparer.windows([document("the cat sat")], 3).inputs) == 1


def test_special_units_count_towards_the_maximum_length():
    prepared = Marked().whole([document("the cat sat")], 3)

    assert prepared.inputs[0].text.tolist() == [SPECIAL, 0, 0]
    assert prepared.cut.tolist() == [True]
    assert Marked().count_cut([("the cat sat",), ("the cat",)], 3) == 1


def test_the_unknown_share_counts_words_with_letters(preparer):
    assert preparer.unknown_share(["the dog, 7"]) == pytest.approx(1 / 2)
    assert preparer.unknown_share([]) == 0.0
