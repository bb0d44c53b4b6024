"""Equal to nervaluate and seqeval on random cases, nested spans included."""

import random
import warnings

import numpy as np
import pytest

from workbench.metrics import span_matching
from workbench.metrics.span_matching import MODES, OUTCOMES
from workbench.text import schemes
from workbench.text.spans import Span

NAMES = {"type": "ent_type"}  # of the modes in nervaluate


def drawn(seed):
    draw = random.Random(seed)

    def document():
        spans = set()
        for _ in range(draw.randint(0, 5)):
            start = draw.randint(0, 20)
            spans.add((start, start + draw.randint(1, 6), draw.choice(["PER", "LOC", "ORG"])))
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
