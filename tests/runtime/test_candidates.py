"""Scores of span candidates against sums written out, and sets of spans against all subsets."""

import itertools

import numpy as np
import pytest

from workbench.runtime import candidates
from workbench.runtime.candidates import SpanCandidate, SpanScorer, WordStates
from workbench.runtime.decoding import Alignment
from workbench.text.spans import ANY, FLAT, NESTED, Span

LABELS = ("P", "Q")


def scorer(rng, *, longest=3, hidden=4, none=True):
    outputs = len(LABELS) + none
    widths, weight, bias = (
        rng.normal(size=size).astype(np.float32)
        for size in ((longest, hidden), (outputs, hidden), (outputs,))
    )
    return SpanScorer(widths, 2 * weight, bias, none)


def by_hand(item, starts, ends, first, last):
    """The probabilities of the labels of a span, written as in the docstring of the module."""
    hidden = [
        max(
            0.0,
            float(starts[first][d]) + float(ends[last][d]) + float(item.widths[last - first][d]),
        )
        for d in range(starts.shape[1])
    ]
    logits = [
        float(item.bias[c]) + sum(float(item.weight[c][d]) * hidden[d] for d in range(len(hidden)))
        for c in range(len(item.bias))
    ]
    if not item.none:
        return [1 / (1 + np.exp(-value)) for value in logits]
    powers = np.exp(logits)
    return list(powers[1:] / powers.sum())


@pytest.mark.parametrize("none", [True, False])
def test_every_candidate_is_scored_once_also_over_the_edges_of_blocks(none, monkeypatch):
    rng = np.random.default_rng(3)
    item, (starts, ends) = scorer(rng, none=none), rng.normal(size=(2, 7, 4)).astype(np.float32)
    monkeypatch.setattr(candidates, "BLOCK", 2 * 3 * 4)  # two words at a time

    found = {}
    for begin, shares in item.blocks(WordStates(starts, ends)):
        assert len(shares) <= 2
        for row, width in itertools.product(range(len(shares)), range(3)):
            found[begin + row, begin + row + width] = shares[row, width]

    for (first, last), shares in found.items():
        wanted = by_hand(item, starts, ends, first, last) if last < 7 else [0.0, 0.0]
        assert shares == pytest.approx(wanted, abs=1e-5)
    assert len(found) == 7 * 3


def test_four_words_and_spans_of_any_length_have_ten_candidates():
    """T (T + 1) / 2: of T = 4 words with a maximum length of 4."""
    rng = np.random.default_rng(0)
    item, (starts, ends) = scorer(rng, longest=4), rng.normal(size=(2, 4, 4)).astype(np.float32)

    ((_, shares),) = item.blocks(WordStates(starts, ends))

    assert np.count_nonzero(shares.sum(-1)) == 10


@pytest.mark.parametrize("none", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_the_chosen_labels_are_those_more_probable_than_none_or_a_half(none, seed):
    rng = np.random.default_rng(seed)
    item, (starts, ends) = scorer(rng, none=none), rng.normal(size=(2, 6, 4)).astype(np.float32)
    wanted, cover = set(), np.zeros(6)
    for first, last in itertools.combinations_with_replacement(range(6), 2):
        if last - first >= 3:
            continue
        shares = by_hand(item, starts, ends, first, last)
        best = int(np.argmax(shares))
        if none:
            wanted |= {(first, last, best)} if shares[best] > 1 - sum(shares) else set()
        else:
            wanted |= {(first, last, label) for label in (0, 1) if shares[label] > 0.5}
        cover[first : last + 1] = np.maximum(
            cover[first : last + 1], sum(shares) if none else max(shares)
        )

    found, covered = candidates.decode(item, WordStates(starts, ends), ANY)

    assert [(c.first, c.last, c.label) for c in found] == sorted(wanted)
    assert covered == pytest.approx(cover, abs=1e-5)


def clash(item, other, overlaps):
    shared = {*range(item.first, item.last + 1)} & {*range(other.first, other.last + 1)}
    if overlaps == FLAT:
        return bool(shared)
    inside = len(shared) in (item.last - item.first + 1, other.last - other.first + 1)
    return overlaps == NESTED and bool(shared) and not inside


@pytest.mark.parametrize("overlaps", [NESTED, FLAT, ANY])
@pytest.mark.parametrize("seed", range(10))
def test_spans_are_kept_by_falling_score_unless_they_clash_with_a_kept_one(overlaps, seed):
    rng = np.random.default_rng(seed)
    given = [
        SpanCandidate(first, first + int(rng.integers(0, 4)), int(rng.integers(0, 2)), score)
        for first, score in zip(rng.integers(0, 8, 12).tolist(), rng.random(12), strict=True)
    ]
    wanted = []
    for item in sorted(given, key=lambda item: -item.score):
        if not any(clash(item, other, overlaps) for other in wanted):
            wanted.append(item)

    assert candidates.compatible(given, overlaps) == wanted


def test_nested_spans_stand_and_crossing_ones_do_not():
    outer, inner, crossing = (
        SpanCandidate(0, 3, 0, 0.9),
        SpanCandidate(1, 2, 1, 0.8),
        SpanCandidate(3, 4, 0, 0.7),
    )

    assert candidates.compatible([outer, inner, crossing], NESTED) == [outer, inner]
    assert candidates.compatible([outer, inner, crossing], FLAT) == [outer]
    assert candidates.compatible([outer, inner, crossing], ANY) == [outer, inner, crossing]


def test_a_text_without_words_has_no_spans():
    item = scorer(np.random.default_rng(0))
    nothing = np.zeros((0, 4), np.float32)

    found, covered = candidates.decode(item, WordStates(nothing, nothing), NESTED)

    assert found == [] and covered.shape == (0,)


def test_words_have_the_label_of_the_longest_span_over_them():
    found = [SpanCandidate(0, 1, 0, 0.9), SpanCandidate(1, 1, 1, 0.95)]
    offsets = [(0, 3), (4, 7), (8, 11)]

    answer = candidates.prediction(
        "ada met bob", offsets, found, np.array([0.9, 0.95, 0.2]), LABELS
    )

    assert answer.spans == (Span(0, 7, "P", score=0.9), Span(4, 7, "Q", score=0.95))
    assert [(word.label, word.score) for word in answer.words] == [
        ("P", 0.9),
        ("P", 0.9),
        (None, 0.8),
    ]


def test_boundaries_are_read_in_the_window_of_their_word():
    """Words 0 and 3 in window 0 and 1; word 1 has no subword; word 2 has two."""
    where = Alignment(np.array([0, -1, 0, 1]), np.array([1, -1, 2, 1]), np.array([2, -1, 4, 2]))
    logits = [
        {"starts": np.full((5, 1), 9), "ends": np.full((5, 1), 9)},  # of another document
        {"starts": np.arange(5)[:, None], "ends": 10 + np.arange(5)[:, None]},
        {"starts": 20 + np.arange(3)[:, None], "ends": 30 + np.arange(3)[:, None]},
    ]

    words, states = candidates.boundaries(logits, 1, where)

    assert words.tolist() == [0, 2, 3]
    assert states.starts[:, 0].tolist() == [1, 2, 21]
    assert states.ends[:, 0].tolist() == [11, 13, 31] and states.inside is None


def test_the_summary_of_a_span_is_the_weighted_mean_of_all_its_subwords():
    """Words of the subwords 1, 2 and 3 … 4 of one window; weights by the exponent of the logit."""
    rng = np.random.default_rng(4)
    inside = rng.normal(size=(6, 3)).astype(np.float32)  # two units, and the logit
    where = Alignment(np.zeros(3, int), np.array([1, 2, 3]), np.array([2, 3, 5]))
    window = {"starts": inside[:, :2], "ends": inside[:, :2], "inside": inside}

    words, states = candidates.boundaries([window], 0, where)
    found = candidates.summaries(states.inside, 0, 3, 3)

    for first, width in itertools.product(range(3), range(3)):
        if first + width < 3:
            own = inside[where.first[first] : where.end[first + width]]
            wanted = np.average(own[:, :2], axis=0, weights=np.exp(own[:, 2]))
            assert found[first, width] == pytest.approx(wanted, abs=1e-6)


def test_a_scorer_returns_from_json_and_wrong_sizes_are_refused():
    item = scorer(np.random.default_rng(1))

    again = SpanScorer.from_json(item.to_json(), len(LABELS))

    assert again.none and again.longest == 3
    for name in ("widths", "weight", "bias"):
        assert np.array_equal(getattr(again, name), getattr(item, name))
    with pytest.raises(ValueError, match="for 3 labels"):
        SpanScorer.from_json(item.to_json(), 3)
