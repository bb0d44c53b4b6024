"""Rows of a document from the units of its windows."""

import numpy as np
import pytest

from workbench.runtime.inputs import EncodedInput, prepared_windows
from workbench.runtime.preparers.fastai_words import FastaiWords
from workbench.runtime.units import once, rows_of
from workbench.text.document import Document

TEXT = "ab cd ef gh"  # units: a, b, cd, e, f, gh
OFFSETS = [(0, 1), (1, 2), (3, 5), (6, 7), (7, 8), (9, 11)]


def window(first, last, *, special=True):
    """Units first … last of TEXT, between two special ones."""
    units = OFFSETS[first:last]
    rows = [(0, 0), *units, (0, 0)] if special else units
    text = [-1, *[0] * len(units), -1] if special else [0] * len(units)
    ids = {"input_ids": np.arange(len(rows), dtype=np.int32)}
    return EncodedInput(ids, np.array(rows, np.int32).reshape(-1, 2), np.array(text, np.int8))


def prepared(*windows, text=TEXT):
    return prepared_windows([Document("", (("text", text),))], [list(windows)])


def computed(found, *windows):
    """The rows, where the state of each unit is the sum of its offsets."""
    rows = np.zeros(len(found))
    for share, item in zip(found.shares, windows, strict=True):
        np.add.at(rows, share.rows, item.offsets.sum(-1)[share.positions] * share.weights)
    return rows.tolist()


def test_the_row_of_a_word_is_the_mean_of_its_units():
    whole = window(0, 6)

    rows = rows_of(prepared(whole), 0, "word", added=2)

    assert rows.offsets.tolist() == [[0, 2], [3, 5], [6, 8], [9, 11]]
    assert computed(rows, whole) == [(1 + 3) / 2, 8, (13 + 15) / 2, 20]


def test_words_of_overlapping_windows_are_complete():
    windows = window(0, 4), window(2, 6)

    rows = rows_of(prepared(*windows), 0, "word", added=2)

    assert computed(rows, *windows) == [2, 8, 14, 20]


def test_every_token_is_given_once_with_special_ones_at_both_ends():
    windows = window(0, 4), window(2, 6)

    rows = rows_of(prepared(*windows), 0, "token", added=2)

    assert rows.offsets.tolist() == [[0, 0], *map(list, OFFSETS), [0, 0]]
    assert computed(rows, *windows) == [0, 1, 3, 8, 13, 15, 20, 0]


def test_marks_within_a_text_are_tokens_of_their_own():
    rules = [*"xxunk xxpad xxbos xxfld xxrep xxwrep xxup xxmaj".split(), "wait", "now", "4", "!"]
    text = "Wait NOW!!!! now NOW"
    preparer = FastaiWords(rules)

    for length in (100, 9):
        found = preparer.windows([Document("", (("text", text),))], length)
        rows = rows_of(found, 0, "token", added=preparer.added)

        shares = zip(found.inputs, rows.shares, strict=True)
        words = [preparer.word(item.ids[at]) for item, share in shares for at in share.positions]
        assert words == "xxbos xxmaj wait xxup now xxrep 4 ! now xxup now".split()
        words = [text[start:end] for start, end in rows.offsets if end]
        assert words == ["Wait", "NOW", "!!!!", "now", "NOW"]


def test_a_shared_unit_comes_from_the_window_with_more_context():
    first, second = once([window(0, 4), window(1, 6)], keep_special=False)

    assert first.tolist() == [1, 2, 3]  # a, b and cd; special units are at position 0
    assert second.tolist() == [3, 4, 5]  # e, f and gh


@pytest.mark.parametrize("parts", [[(0, 6)], [(0, 4), (2, 6)], [(0, 3), (2, 5), (4, 6)]])
def test_the_row_of_a_document_is_the_mean_of_all_tokens(parts):
    windows = [window(*part) for part in parts]

    rows = rows_of(prepared(*windows), 0, "document", added=2)

    assert rows.offsets.tolist() == [[0, len(TEXT)]]
    assert computed(rows, *windows) == [pytest.approx((1 + 3 + 8 + 13 + 15 + 20) / 8)]


def test_an_empty_text_has_its_special_tokens_and_no_word():
    empty = window(0, 0)

    assert len(rows_of(prepared(empty, text=""), 0, "token", added=2)) == 2
    assert len(rows_of(prepared(empty, text=""), 0, "word", added=2)) == 0


def test_the_unit_that_stands_for_an_empty_text_is_no_token():
    placeholder = window(0, 0)

    assert len(rows_of(prepared(placeholder, text=""), 0, "token", added=0)) == 0


def test_a_word_without_a_unit_is_a_row_of_zeros():
    part = window(0, 3)

    rows = rows_of(prepared(part), 0, "word", added=2)

    assert computed(rows, part) == [2, 8, 0, 0]
