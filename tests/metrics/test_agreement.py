"""Agreement of annotators: worked examples of the literature, and equal to other libraries."""

import warnings
from itertools import combinations

import numpy as np
import pytest

from workbench.metrics import agreement
from workbench.metrics.agreement import MISSING, NumberAgreement, class_agreement
from workbench.metrics.resampling import resampled
from workbench.text.spans import Span

_ = MISSING  # in the table
KRIPPENDORFF = np.array(  # 2011, example C: four observers, twelve units, missing ratings
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
        [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
    ]
).T
FLEISS = [  # 1971: ten subjects, fourteen raters, five categories
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]
SHROUT_FLEISS = np.array(  # 1979, table 2: six targets, four judges
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float
)


def values(statistic, documents):
    return {name: part[0] for name, part in statistic(np.ones((1, documents))).items()}


def of_classes(ratings, labels=None):
    ratings = np.asarray(ratings)
    labels = labels or [str(number) for number in range(ratings.max() + 1)]
    return values(class_agreement(ratings, labels), len(ratings))


def of_numbers(ratings):
    return values(NumberAgreement(np.asarray(ratings, float)), len(ratings))


def test_two_coders_of_artstein_and_poesio():
    """2008, table 1: statements and information requests; kappa .348, observed .7."""
    pairs = [(0, 0)] * 20 + [(0, 1)] * 10 + [(1, 0)] * 20 + [(1, 1)] * 50

    measured = of_classes(pairs)

    assert measured["observed_agreement"] == pytest.approx(0.7)
    assert measured["kappa"] == pytest.approx((0.7 - 0.54) / 0.46)
    assert measured["fleiss_kappa"] == pytest.approx((0.7 - 0.545) / 0.455)  # pi of two coders


def test_alpha_of_the_example_of_krippendorff():
    measured = of_classes(np.maximum(KRIPPENDORFF - 1, MISSING))
    numbers = of_numbers(np.where(KRIPPENDORFF > 0, KRIPPENDORFF, np.nan))

    assert measured["alpha"] == pytest.approx(0.743, abs=5e-4)
    assert numbers["ordinal_alpha"] == pytest.approx(0.815, abs=5e-4)
    assert numbers["interval_alpha"] == pytest.approx(0.849, abs=5e-4)


def test_kappa_of_the_example_of_fleiss():
    ratings = [np.repeat(np.arange(5), row) for row in FLEISS]

    assert of_classes(ratings)["fleiss_kappa"] == pytest.approx(0.210, abs=5e-4)


def test_icc_of_the_example_of_shrout_and_fleiss():
    assert of_numbers(SHROUT_FLEISS)["icc"] == pytest.approx(0.29, abs=5e-3)


def random_ratings(seed, *, annotators=3, labels=4, units=40, missing=0.2):
    draw = np.random.default_rng(seed)
    ratings = draw.integers(0, labels, (units, 1)).repeat(annotators, 1)
    other = draw.random(ratings.shape) < 0.4
    ratings = np.where(other, draw.integers(0, labels, ratings.shape), ratings)
    return np.where(draw.random(ratings.shape) < missing, MISSING, ratings)


@pytest.mark.parametrize("seed", range(10))
def test_alphas_equal_those_of_the_package_krippendorff(seed):
    krippendorff = pytest.importorskip("krippendorff")
    ratings = random_ratings(seed)
    table = np.where(ratings == MISSING, np.nan, ratings + 1.0).T

    measured = {**of_classes(ratings), **of_numbers(table.T)}

    for ours, level in (
        ("alpha", "nominal"),
        ("ordinal_alpha", "ordinal"),
        ("interval_alpha", "interval"),
    ):
        theirs = krippendorff.alpha(reliability_data=table, level_of_measurement=level)
        assert measured[ours] == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_kappa_is_the_mean_of_scikit_learn_over_the_pairs(seed):
    from sklearn.metrics import cohen_kappa_score

    ratings = random_ratings(seed)
    kappas = []
    for left, right in combinations(ratings.T, 2):
        both = (left != MISSING) & (right != MISSING)
        kappas.append(cohen_kappa_score(left[both], right[both]))

    assert of_classes(ratings)["kappa"] == pytest.approx(np.mean(kappas))


@pytest.mark.parametrize("seed", range(5))
def test_ac1_by_its_definition(seed):
    ratings = random_ratings(seed, missing=0)
    shares = np.stack([(ratings == label).mean(1) for label in range(4)], 1)
    agreeing = np.mean([np.mean(left == right) for left, right in combinations(ratings.T, 2)])
    mean = shares.mean(0)
    chance = (mean * (1 - mean)).sum() / 3

    measured = of_classes(ratings)

    assert measured["observed_agreement"] == pytest.approx(agreeing)
    assert measured["ac1"] == pytest.approx((agreeing - chance) / (1 - chance))


@pytest.mark.parametrize("seed", range(5))
def test_alpha_of_a_label_is_that_of_this_label_against_all_others(seed):
    ratings = random_ratings(seed)
    measured = of_classes(ratings)

    for label in range(4):
        alone = np.where(ratings == MISSING, MISSING, ratings == label)
        assert measured["label_alpha"][label] == pytest.approx(of_classes(alone)["alpha"])


def test_a_resample_is_the_agreement_of_the_documents_drawn():
    ratings = random_ratings(3)
    draw = np.random.default_rng(0).integers(0, len(ratings), len(ratings))
    weights = np.bincount(draw, minlength=len(ratings))[None]

    drawn = class_agreement(ratings, list("abcd"))(weights)
    again = class_agreement(ratings[draw], list("abcd"))(np.ones((1, len(ratings))))
    numbers = np.where(ratings == MISSING, np.nan, ratings)
    of_drawn = NumberAgreement(numbers)(weights)
    of_again = NumberAgreement(numbers[draw])(np.ones((1, len(ratings))))

    for left, right in ((drawn, again), (of_drawn, of_again)):
        assert left.keys() == right.keys()
        for name in left:
            assert np.allclose(left[name], right[name], equal_nan=True), name
    spread = resampled(class_agreement(ratings, list("abcd")), len(ratings), 50)
    assert spread["alpha"].shape == (50,) and spread["label_alpha"].shape == (50, 4)


def test_what_cannot_differ_has_no_value_and_gives_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alike = of_classes([(0, 0)] * 3)
        one = of_numbers([[1.0, np.nan], [2.0, np.nan]])
        none = values(class_agreement(np.zeros((0, 2), int), []), 0)

    assert alike["observed_agreement"] == 1 and np.isnan(alike["alpha"])
    assert np.isnan(alike["kappa"]) and all(np.isnan(value) for value in one.values())
    assert np.isnan(none["observed_agreement"])


@pytest.mark.parametrize("seed", range(5))
def test_characters_are_units_that_count_as_often_as_they_are_long(seed):
    draw = np.random.default_rng(seed)
    lengths = [{"text": 30}, {"text": 17, "second": 5}]

    def version(fields):
        return [
            Span(start, min(start + int(draw.integers(1, 9)), length), label, field)
            for field, length in fields.items()
            for label in ("PER", "LOC")
            for start in draw.integers(0, length, 2).tolist()
        ]

    versions = [[version(fields) for _annotator in range(3)] for fields in lengths]
    versions[1][2] = None
    rows = []
    for sides, fields in zip(versions, lengths, strict=True):
        for field, length in fields.items():
            for place in range(length):
                row = []
                for side in sides:
                    covering = {
                        s.label for s in side or () if s.field == field and s.start <= place < s.end
                    }
                    row.append(None if side is None else " + ".join(sorted(covering)))
                rows.append(row)
    names = sorted({name for row in rows for name in row if name is not None})
    ratings = [[MISSING if name is None else names.index(name) for name in row] for row in rows]

    statistic = agreement.character_agreement(versions, lengths)

    measured, expected = values(statistic, 2), of_classes(ratings, names)
    assert statistic.labels == tuple(names)
    for name, value in expected.items():
        assert np.allclose(measured[name], value, equal_nan=True), name


def test_words_have_the_label_of_their_span():
    words = [(0, 3), (4, 7), (8, 11)]
    versions = [[[Span(0, 7, "PER")], [Span(0, 3, "PER"), Span(8, 11, "LOC")]]]

    statistic = agreement.word_agreement(versions, [words])

    assert statistic.labels == ("", "LOC", "PER")
    expected = of_classes([(2, 2), (2, 0), (0, 1)], ["", "LOC", "PER"])
    measured = values(statistic, 1)
    assert measured["kappa"] == pytest.approx(expected["kappa"])
    assert measured["observed_agreement"] == pytest.approx(1 / 3)


def test_items_are_compared_as_sets_in_each_pair():
    versions = [[{"a", "b"}, {"b"}, None], [{"c"}, set(), {"c", "d"}]]

    statistic = agreement.item_agreement(versions)

    pairs = [2 * 1 / (3 + 1), 2 * 1 / (1 + 2), 0.0]
    assert values(statistic, 2)["f1"] == pytest.approx(np.mean(pairs))


def test_span_f1_of_two_is_that_of_one_as_gold_and_the_other_as_prediction():
    from workbench.metrics.span_matching import span_counts

    left = [[Span(0, 3, "PER"), Span(5, 9, "LOC")], [Span(0, 2, "PER")]]
    right = [[Span(0, 4, "PER"), Span(5, 9, "LOC")], [Span(0, 2, "LOC")]]
    lengths, words = [{"text": 9}, {"text": 4}], [[(0, 4), (5, 9)], [(0, 2)]]

    statistic = agreement.span_agreement(
        [list(sides) for sides in zip(left, right, strict=True)], ["PER"], lengths, words
    )

    scores, expected = values(statistic, 2), values(span_counts(left, right), 2)
    assert statistic.labels == ("PER", "LOC")
    for name in ("span_f1", "exact_f1", "partial_f1", "type_f1"):
        assert scores[name] == pytest.approx(expected[name])
    assert scores["label_f1"] == pytest.approx(expected["label_f1"][::-1])
    assert scores["character_alpha"] == pytest.approx(
        values(statistic.characters, 2)["alpha"]
    ) and scores["word_kappa"] == pytest.approx(values(statistic.words, 2)["kappa"])
