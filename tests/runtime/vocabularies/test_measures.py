"""Fertility, unknown words and truncated texts, counted by hand."""

import pytest

from workbench.base import paths
from workbench.runtime.preparers.subwords import Subwords
from workbench.runtime.vocabularies.measures import measure


@pytest.fixture(scope="module")
def bert():
    return Subwords.load(paths.resource("models/starter-bert"))


def test_fertility_counts_subwords_per_word(bert):
    fit = measure(bert, ["unaffable day", "", "a day"])  # una ##ffa ##ble day a day

    assert (fit.texts, fit.words, fit.units) == (2, 4, 6) and fit.fertility == 1.5
    assert fit.lengths == (6, 4)  # with [CLS] and [SEP]
    assert [(piece.word, piece.units, piece.count, piece.texts) for piece in fit.split] == [
        ("unaffable", ("una", "##ffa", "##ble"), 1, 1)
    ]


def test_texts_above_a_limit_are_cut_and_unknown_words_counted(bert):
    fit = measure(bert, ["day " * 200, "day " * 126, "ꙮꙮ day"])

    assert fit.cut == {"128": pytest.approx(1 / 3), "256": 0, "512": 0}
    assert fit.unknown == pytest.approx(1 / 328)


def test_no_texts_give_zeros(bert):
    fit = measure(bert, [" "])

    assert (fit.texts, fit.fertility, fit.unknown) == (0, 0.0, 0.0)
