"""Equal to nervaluate and seqeval on random flat spans; nested ones are matched equal first."""

import random
import warnings

import numpy as np
import pytest

from workbench.metrics import span_matching
from workbench.metrics import spans as span_scores
from workbench.metrics.span_matching import MODES, OUTCOMES
from workbench.text import schemes
from workbench.text.spans import Span, flatten

NAMES = {"type": "ent_type"}  # of the modes in nervaluate


def drawn(seed, *, flat=True):
    """Spans (start, end, label) of 6 documents on both sides."""
    draw = random.Random(seed)

    def document():
        spans = set()
        for _ in range(draw.randint(0, 5)):
            start = draw.randint(0, 20)
            spans.add((start, start + draw.randint(1, 6), draw.choice(["PER", "LOC", "ORG"])))
        if flat:
            kept, _dropped = flatten([Span(*span) for span in sorted(spans)])
            spans = {(span.start, span.end, span.label) for span in kept}
        return sorted(spans)

    sides = [[document() for _ in range(6)] for _ in range(2)]
    sides[0][0] = [(0, 3, "PER")]  # nervaluate recognizes its input by the first document
    sides[1][0] = [(0, 2, "PER"), (2, 3, "LOC")]
    return sides


def spans(side):
    return [[Span(*span) for span in document] for document in side]


def evaluated(gold, predicted):
    nervaluate = pytest.importorskip("nervaluate")
    sides = [
        [
            [{"label": label, "start": start, "end": end - 1} for start, end, label in document]
            for document in side
        ]
        for side in (gold, predicted)
    ]
    return nervaluate.Evaluator(*sides, tags=["PER", "LOC", "ORG"], loader="dict").evaluate()


@pytest.mark.parametrize("seed", range(40))
def test_outcomes_and_scores_equal_those_of_nervaluate(seed):
    gold, predicted = drawn(seed)
    theirs = evaluated(gold, predicted)

    ours = span_matching.span_counts(spans(gold), spans(predicted), ("LOC", "ORG", "PER"))

    scores = ours(np.ones((1, 6), np.float32))
    for mode in MODES:
        expected = theirs["overall"][NAMES.get(mode, mode)]
        assert ours.totals()[mode] == {name: getattr(expected, name) for name in OUTCOMES}
        overall, label = ("span", "") if mode == "strict" else (mode, f"{mode}_")
        for score in ("precision", "recall", "f1"):
            assert scores[f"{overall}_{score}"][0] == pytest.approx(getattr(expected, score))
            for at, name in enumerate(ours.labels):
                row = theirs["entities"].get(name, {}).get(NAMES.get(mode, mode))
                if row is not None:
                    found = scores[f"label_{label}{score}"][0, at]
                    assert found == pytest.approx(getattr(row, score))


@pytest.mark.parametrize("seed", range(40))
def test_nested_spans_have_one_strict_score_and_no_scheme_counts_less_than_strict(seed):
    gold, predicted = drawn(seed, flat=False)
    equal = sum(len({*g} & {*p}) for g, p in zip(gold, predicted, strict=True))
    sizes = sum(map(len, gold)) + sum(map(len, predicted))

    counts = span_matching.span_counts(spans(gold), spans(predicted))

    scores, totals = counts(np.ones((1, 6), np.float32)), counts.totals()
    assert totals["strict"]["correct"] == equal
    assert scores["span_f1"][0] == pytest.approx(2 * equal / sizes)
    assert min(totals[mode]["correct"] for mode in MODES) == equal
    assert totals["exact"]["correct"] == totals["partial"]["correct"]
    point = span_scores.scores(spans(gold), spans(predicted))
    assert point == pytest.approx({name: scores[name][0] for name in point})
    for row in span_scores.per_label(spans(gold), spans(predicted)):
        assert scores["label_f1"][0, counts.labels.index(row.label)] == pytest.approx(row.f1)


def test_a_span_that_equals_gold_is_matched_before_one_that_overlaps_it():
    # by hand: LOC 0–5 is spurious beside PER 0–14, which is predicted exactly
    gold = [[(0, 14, "PER")]] * 20
    predicted = [[(0, 5, "LOC"), (0, 14, "PER")]] * 20

    counts = span_matching.span_counts(spans(gold), spans(predicted))

    expected = {"correct": 20, "incorrect": 0, "partial": 0, "missed": 0, "spurious": 20}
    assert counts.totals() == dict.fromkeys(MODES, expected)
    scores = counts(np.ones((1, 20), np.float32))
    names = ("span_precision", "span_recall", "span_f1", "exact_f1", "type_f1", "partial_f1")
    assert [float(scores[name][0]) for name in names] == pytest.approx([0.5, 1, *[2 / 3] * 4])


def test_equal_boundaries_are_matched_before_overlaps():
    # by hand: B 0–9 has the boundaries of A 0–9; B 0–4 overlaps it and is left without a partner
    gold, predicted = [Span(0, 9, "A")], [Span(0, 4, "B"), Span(0, 9, "B")]

    found = dict(zip(MODES, span_matching.outcomes(gold, predicted).tolist(), strict=True))

    assert found["exact"] == found["partial"] == [1, 0, 0, 0, 1]
    assert found["strict"] == found["type"] == [0, 1, 0, 0, 1]


# by hand, from the table of scenarios in the README of nervaluate (gold, predicted → mode: outcome)
SCENARIOS = {
    "equal": ((0, 3, "A"), (0, 3, "A"), ("correct",) * 4),
    "spurious": (None, (0, 3, "A"), ("spurious",) * 4),
    "missed": ((0, 3, "A"), None, ("missed",) * 4),
    "another label": ((0, 3, "A"), (0, 3, "B"), ("incorrect", "correct", "correct", "incorrect")),
    "a boundary": ((0, 3, "A"), (0, 2, "A"), ("incorrect", "incorrect", "partial", "correct")),
    "both": ((0, 3, "A"), (0, 2, "B"), ("incorrect", "incorrect", "partial", "incorrect")),
}


@pytest.mark.parametrize("case", SCENARIOS)
def test_the_six_scenarios_have_their_published_outcomes(case):
    gold, predicted, expected = SCENARIOS[case]
    sides = ([Span(*span)] if span else [] for span in (gold, predicted))

    found = span_matching.outcomes(*sides)

    assert tuple(OUTCOMES[at] for at in found.argmax(1)) == expected
    assert found.sum() == 4


def tagged(seed):
    draw = random.Random(seed)
    tags = ["O", "O", *(f"{prefix}-{kind}" for prefix in "BI" for kind in ("PER", "LOC"))]
    lengths = [draw.randint(1, 12) for _ in range(draw.randint(1, 6))]
    sides = [[[draw.choice(tags) for _ in range(n)] for n in lengths] for _ in range(2)]
    sides[0][0][0] = "B-PER"  # seqeval fails on an empty gold
    return sides


@pytest.mark.parametrize("seed", range(20))
def test_scores_on_words_equal_the_default_mode_of_seqeval(seed):
    report = pytest.importorskip("seqeval.metrics").classification_report
    gold, predicted = tagged(seed)
    sides = [
        [[Span(span.first, span.last, span.label) for span in schemes.spans(tags)] for tags in side]
        for side in (gold, predicted)
    ]
    words = [[(at, at + 1) for at in range(len(tags))] for tags in gold]

    counts = span_matching.word_counts(*sides, words)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        micro = report(gold, predicted, output_dict=True, zero_division=0)["micro avg"]
    scores = counts(np.ones((1, len(words)), np.float32))
    found = [scores[f"conll_{name}"][0] for name in ("precision", "recall", "f1")]
    assert found == pytest.approx([micro["precision"], micro["recall"], micro["f1-score"]])


def test_a_book_of_spans_is_matched_fast():
    from time import process_time

    gold = [Span(at, at + 4, "A") for at in range(0, 100_000, 10)]
    predicted = [Span(at, at + 5, "A") for at in range(0, 100_000, 10)]

    began = process_time()
    found = span_matching.outcomes(gold, predicted)

    assert process_time() - began < 2.0
    assert found[2].tolist() == [0, 0, 10_000, 0, 0]
