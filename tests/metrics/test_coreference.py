"""The published test cases of the reference scorer: github.com/conll/reference-coreference-scorers,
test/TestCases.README and CorefMetricTestConfig.pm (A to L), and the LEA values of the former.

One letter is one mention; B is another mention than b. Numbers are (recall, precision).
"""

import numpy as np
import pytest

from workbench.metrics import coreference
from workbench.metrics.coreference import ChainCounts

PUBLISHED = {
    "A1": ("a bc def", "a bc def",
           {"muc": (1, 1), "b_cubed": (1, 1), "ceaf_e": (1, 1), "lea": (1, 1)}),
    "A2": ("a bc def", "a de",
           {"muc": (1 / 3, 1), "b_cubed": (7 / 18, 1), "ceaf_e": (0.6, 0.9), "lea": (2 / 6, 1)}),
    "A3": ("a bc def", "a bcx defy z",
           {"muc": (1, 3 / 5), "b_cubed": (1, 55 / 108), "ceaf_e": (0.88571, 0.66429),
            "lea": (1, 4 / 9)}),
    "A4": ("a bc def", "a bcx dy z",
           {"muc": (1 / 3, 1 / 3), "b_cubed": (5 / 9, 17 / 42), "ceaf_e": (0.73333, 0.55),
            "lea": (3 / 6, 2 / 7)}),
    "A5": ("a bc def", "a bcxB dy z",
           {"muc": (1 / 3, 1 / 4), "b_cubed": (5 / 9, 5 / 16), "ceaf_e": (0.68889, 0.51667),
            "lea": (3 / 6, (1 + 4 / 6) / 8)}),
    "A6": ("a bc def", "a bcx dy Bz",
           {"muc": (1 / 3, 1 / 4), "b_cubed": (5 / 9, 17 / 48), "ceaf_e": (0.73333, 0.55),
            "lea": (3 / 6, 2 / 8)}),
    "A7": ("a bc def", "a bcxb dy z",
           {"muc": (1 / 3, 1 / 3), "b_cubed": (5 / 9, 17 / 42), "ceaf_e": (0.73333, 0.55),
            "lea": (3 / 6, 2 / 7)}),
    "A8": ("a bc def", "a bcx dy bz",
           {"muc": (1 / 3, 1 / 3), "b_cubed": (5 / 9, 17 / 42), "ceaf_e": (0.73333, 0.55),
            "lea": (3 / 6, 2 / 7)}),
    "A9": ("a bc def", "a bcx dy bbbbbbbbbbz",
           {"muc": (1 / 3, 1 / 3), "b_cubed": (5 / 9, 17 / 42), "ceaf_e": (0.73333, 0.55),
            "lea": (3 / 6, 2 / 7)}),
    "A10": ("a bc def", "a b c d e f",
            {"muc": (0, 0), "b_cubed": (3 / 6, 1), "lea": (1 / 6, 1 / 6)}),
    "A11": ("a bc def", "abcdef",
            {"muc": (1, 3 / 5), "b_cubed": (1, 7 / 18), "lea": (5 / 6, 4 / 15)}),
    "A12": ("a bc def", "a x y c d e z",
            {"muc": (0, 0), "b_cubed": (13 / 36, 4 / 7), "lea": (1 / 6, 1 / 7)}),
    "A13": ("a bc def", "axycdez",
            {"muc": (1 / 3, 1 / 6), "b_cubed": (17 / 36, 6 / 49), "lea": (1 / 6, 1 / 21)}),
    "B1": ("ab cde", "bcx de", {"lea": (1 / 5, 2 / 5)}),
    "C1": ("ab cde fg", "bcx de fg", {"lea": (3 / 7, 4 / 7)}),
    "D1": ("12345 67 89ABC", "12345 6789ABC",
           {"muc": (1, 9 / 10), "b_cubed": (1, 16 / 21), "lea": (1, (5 + 7 * 11 / 21) / 12)}),
    "E1": ("12345 67 89ABC", "1234589ABC 67",
           {"muc": (1, 9 / 10), "b_cubed": (1, 7 / 12), "lea": (1, (10 * 20 / 45 + 2) / 12)}),
    "F1": ("ABCD", "AB CD", {"muc": (2 / 3, 1), "lea": (2 / 6, 1)}),
    "G1": ("AB CD", "ABCD", {"muc": (1, 2 / 3), "lea": (1, 2 / 6)}),
    "H1": ("ABCD", "ABCD", {"muc": (1, 1), "lea": (1, 1)}),
    "I1": ("ABCD", "AB CD", {"muc": (2 / 3, 1), "lea": (2 / 6, 1)}),
    "J1": ("ABC", "AC", {"muc": (1 / 2, 1), "lea": (1 / 3, 1)}),
    "K1": ("BCDEGHJ", "ABC DEF GHI", {"muc": (3 / 6, 3 / 6), "lea": (3 / 21, 3 / 9)}),
    "L1": ("ABC DEFG", "AB CD FGH",
           {"muc": (2 / 5, 2 / 4), "lea": ((1 + 4 / 6) / 7, 3 / 7)}),
    "M1": ("abcdef", "abcdef",
           {"muc": (1, 1), "b_cubed": (1, 1), "ceaf_e": (1, 1), "lea": (1, 1)}),
    "M2": ("abcdef", "a b c d e f", {"muc": (0, 0), "lea": (0, 0)}),
    "M3": ("abcdef", "ab cde f", {"lea": (4 / 15, 5 / 6)}),
    "M4": ("abcdef", "abcxyz", {"lea": (3 / 15, 3 / 15)}),
    "M5": ("abcdef", "a b c x y z", {"muc": (0, 0), "lea": (0, 0)}),
    "M6": ("abcdef", "ab cxy z", {"lea": (1 / 15, 2 / 6)}),
    "N1": ("a b c d e f", "a b c d e f",
           {"muc": (0, 0), "b_cubed": (1, 1), "ceaf_e": (1, 1), "lea": (1, 1)}),
    "N2": ("a b c d e f", "abcdef", {"lea": (0, 0)}),
    "N3": ("a b c d e f", "ab cde f", {"lea": (1 / 6, 1 / 6)}),
    "N4": ("a b c d e f", "a b c x y z", {"muc": (0, 0), "lea": (0.5, 0.5)}),
    "N5": ("a b c d e f", "abcxyz", {"lea": (0, 0)}),
    "N6": ("a b c d e f", "ab cxy z", {"lea": (0, 0)}),
}  # fmt: skip


@pytest.mark.parametrize("case", PUBLISHED)
def test_every_measure_equals_the_reference_scorer(case):
    gold, predicted, expected = PUBLISHED[case]

    scores = coreference.scores([gold.split()], [predicted.split()])

    for measure, (recall, precision) in expected.items():
        mean = 2 * recall * precision / (recall + precision) if recall + precision else 0
        values = [scores[f"{measure}_{name}"] for name in ("recall", "precision", "f1")]
        assert values == pytest.approx([recall, precision, mean], abs=1e-5), measure


def test_the_conll_score_is_the_mean_f1_of_the_three_measures():
    scores = coreference.scores(["a bc def".split()], ["a de".split()])

    assert scores["coref_f1"] == pytest.approx((0.5 + 14 / 25 + 0.72) / 3)


def test_mentions_are_scored_without_their_chains():
    scores = coreference.scores(["ab cd".split()], ["ac d x".split()])

    assert (scores["mention_precision"], scores["mention_recall"]) == (3 / 4, 3 / 4)


def test_documents_are_summed_before_anything_is_divided():
    gold, predicted = ["ab".split(), "cdef".split()], ["ab".split(), "cd".split()]

    scores = coreference.scores(gold, predicted)

    assert scores["muc_recall"] == pytest.approx(2 / 4)  # not the mean of 1 and 1 / 3
    assert scores["ceaf_e_recall"] == pytest.approx((1 + 4 / 6) / 2)


def test_weights_of_documents_give_the_scores_of_a_resample():
    gold, predicted = ["abc".split(), "de f".split()], ["ab".split(), "def".split()]
    counts = ChainCounts.of(gold, predicted)

    drawn = counts(np.array([[2, 0], [0, 1]], np.float32))

    for row, document in enumerate((0, 1)):
        alone = coreference.scores([gold[document]], [predicted[document]])
        assert {name: values[row] for name, values in drawn.items()} == pytest.approx(alone)


def test_documents_without_chains_have_no_scores():
    assert set(coreference.scores([[]], [[]]).values()) == {0.0}
    assert set(coreference.scores([], []).values()) == {0.0}
