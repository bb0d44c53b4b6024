"""Scores of all spans of words up to a maximum length, from states of their boundaries.

numpy only, shared by training, hosts and exported models. A candidate is (first, width): the words
first … first + width, so width 0 is one word. The network gives an array of D numbers for the start
and one for the end of a span at every token; the scores of a candidate are those of a layer of D
hidden units, output(relu(starts[first] + ends[last] + widths[width] + summary)): the first layer of
a feed-forward network over [start; end; width embedding; attention summary], split into sums. The
summary is the mean of `inside` over the subwords of the span, weighted by a softmax of one logit
for each; networks without `inside` have none. Sources: Zhong and Chen 2021, A Frustratingly Easy
Approach for Entity and Relation Extraction, section 3.2; Lee et al. 2017, End-to-end Neural
Coreference Resolution, section 4; Joshi et al. 2020, SpanBERT, section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from workbench.runtime import decoding
from workbench.text.fields import Prediction, SpanScores, WordTag, WordTags
from workbench.text.spans import ANY, FLAT

BLOCK = 1 << 20  # numbers of hidden units computed at a time; bounds memory


@dataclass(frozen=True)
class SpanCandidate:
    """One span of words, both included, with a label number and its probability."""

    first: int
    last: int
    label: int
    score: float


@dataclass(frozen=True, eq=False)
class WordStates:
    """What the network gives for the P words of a text, float32.

    starts, ends (P, D). inside (P, D + 1): the summary of the subwords of a word, and last the
    logarithm of its weight among other words; None without summaries.
    """

    starts: np.ndarray
    ends: np.ndarray
    inside: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, words: slice) -> WordStates:
        inside = None if self.inside is None else self.inside[words]
        return WordStates(self.starts[words], self.ends[words], inside)


@dataclass(frozen=True, eq=False)
class SpanScorer:
    """The layer on top of the states of boundaries; all float32.

    widths (W, D) for 1 … W words; weight (C, D), bias (C,) of the output. With `none` it is a
    softmax over no label (column 0) and the L labels, C = L + 1; without, a sigmoid for each of the
    L labels, C = L.
    """

    widths: np.ndarray
    weight: np.ndarray
    bias: np.ndarray
    none: bool

    @classmethod
    def from_json(cls, raw: Mapping[str, Any], labels: int) -> Self:
        """Raises ValueError if the sizes do not match each other or the number of labels."""
        widths, weight, bias = (
            np.array(raw[name], np.float32) for name in ("widths", "weight", "bias")
        )
        count = labels + bool(raw["none"])
        hidden = widths.shape[-1]
        if widths.ndim != 2 or (weight.shape, bias.shape) != ((count, hidden), (count,)):
            raise ValueError(f"span weights of shape {weight.shape} for {labels} labels")
        return cls(widths, weight, bias, bool(raw["none"]))

    def to_json(self) -> dict[str, Any]:
        return {
            "widths": self.widths.tolist(),
            "weight": self.weight.tolist(),
            "bias": self.bias.tolist(),
            "none": self.none,
        }

    @property
    def longest(self) -> int:
        """Words of the longest candidate."""
        return len(self.widths)

    def blocks(self, states: WordStates) -> Iterator[tuple[int, np.ndarray]]:
        """(first word, probabilities (N, W, L) of the candidates that start at it and the next).

        Candidates beyond the last word have 0.
        """
        for begin, units, inside in self.units(states):
            logits = units @ self.weight.T + self.bias
            if self.none:
                shares = decoding.softmax(logits)[..., 1:]
            else:
                shares = decoding.sigmoid(logits)
            yield begin, np.where(inside[..., None], shares, 0.0)

    def units(self, states: WordStates) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """(first word, representations (N, W, D) of the candidates that start at it and the next,
        whether each ends within the text, bool (N, W)).
        """
        words, hidden = states.starts.shape
        step = max(1, BLOCK // max(1, self.longest * hidden))
        for begin in range(0, words, step):
            first = np.arange(begin, min(words, begin + step))[:, None]  # (N, 1)
            last = first + np.arange(self.longest)  # (N, W)
            ends = states.ends[np.minimum(last, words - 1)]
            units = states.starts[first] + ends + self.widths  # (N, W, D)
            if states.inside is not None:
                units += summaries(states.inside, begin, len(first), self.longest)
            yield begin, np.maximum(units, 0), last < words


def summaries(inside: np.ndarray, begin: int, count: int, longest: int) -> np.ndarray:
    """inside (P, D + 1) of words → float32 (count, longest, D), of the spans that start at the
    words begin … begin + count - 1; those beyond the last word are meaningless.
    """
    table = np.empty((count, longest, inside.shape[1] - 1), np.float32)
    last = np.arange(begin, begin + count)
    mean, total = inside[last, :-1], inside[last, -1:]
    for width in range(longest):
        if width:
            word = inside[np.minimum(last + width, len(inside) - 1)]
            both = np.logaddexp(total, word[:, -1:])
            mean = np.exp(total - both) * mean + np.exp(word[:, -1:] - both) * word[:, :-1]
            total = both
        table[:, width] = mean
    return table


def decode(
    scorer: SpanScorer, states: WordStates, overlaps: str
) -> tuple[list[SpanCandidate], np.ndarray]:
    """The spans of a text, in text order, and for each word the probability that one covers it.

    The spans are those whose label is more probable than none, or without `none` than 0.5, and that
    may occur with more probable ones, see `compatible`. The second result float64 (T,) is the
    highest probability of a label among the candidates over the word: a lower bound.
    """
    candidates: list[SpanCandidate] = []
    covered = np.zeros(len(states))
    for begin, shares in scorer.blocks(states):
        any_label = shares.sum(-1) if scorer.none else shares.max(-1)  # (N, W)
        _cover(covered, begin, any_label)
        candidates += _chosen(begin, shares, 1 - any_label if scorer.none else None)
    chosen = compatible(candidates, overlaps)
    return sorted(chosen, key=lambda item: (item.first, item.last, item.label)), covered


def _chosen(begin: int, shares: np.ndarray, none: np.ndarray | None) -> Iterator[SpanCandidate]:
    """none (N, W): the probability of no label, which one label has to exceed."""
    if none is None:
        places = np.argwhere(shares > 0.5)
    else:
        best = shares.argmax(-1)
        over = np.argwhere(shares.max(-1) > none)
        places = np.column_stack([over, best[tuple(over.T)]])
    for row, width, label in places.tolist():
        first = begin + row
        yield SpanCandidate(first, first + width, label, float(shares[row, width, label]))


def _cover(covered: np.ndarray, begin: int, scores: np.ndarray) -> None:
    """Raise `covered` (T,) to the scores (N, W) of the candidates over each word."""
    for width in range(scores.shape[1]):
        column = scores[: max(0, len(covered) - begin - width), width]
        for distance in range(width + 1):
            part = covered[begin + distance : begin + distance + len(column)]
            np.maximum(part, column, out=part)


def compatible(candidates: Iterable[SpanCandidate], overlaps: str) -> list[SpanCandidate]:
    """The candidates that are compatible, chosen by falling score.

    ANY keeps all; NESTED leaves out those that cross a better one, so that each pair is disjoint or
    one lies within the other; FLAT leaves out those that share a word with a better one. Equal
    scores: the first one in text order, the longer one first.
    """
    order = sorted(candidates, key=lambda item: (-item.score, item.first, -item.last, item.label))
    clash: Callable[[SpanCandidate, SpanCandidate], bool]
    if overlaps == ANY:
        return order
    clash = _overlap if overlaps == FLAT else _cross
    # Only spans that begin or end near each other can clash: they are kept by their words.
    at: dict[int, list[SpanCandidate]] = {}
    chosen = []
    for candidate in order:
        words = range(candidate.first, candidate.last + 1)
        if any(clash(candidate, other) for word in words for other in at.get(word, ())):
            continue
        chosen.append(candidate)
        for word in words:
            at.setdefault(word, []).append(candidate)
    return chosen


def _overlap(candidate: SpanCandidate, other: SpanCandidate) -> bool:
    return candidate.first <= other.last and other.first <= candidate.last


def _cross(candidate: SpanCandidate, other: SpanCandidate) -> bool:
    return (
        candidate.first < other.first <= candidate.last < other.last
        or other.first < candidate.first <= other.last < candidate.last
    )


def boundaries(
    logits: Sequence[Mapping[str, np.ndarray]], begin: int, where: decoding.Alignment
) -> tuple[np.ndarray, WordStates]:
    """Numbers of the words with a subword, int (P,), and their states.

    The start of a word is that of its first subword, the end that of its last one, in the window
    with the most context: spans over two windows are candidates too. `logits[begin + window]` has
    `starts` and `ends` (T, D) of each window of the document, and `inside` (T, D + 1) if its
    network has summaries.
    """
    present = np.flatnonzero(where.window >= 0)
    width = logits[begin]["starts"].shape[-1] if len(present) else 0
    starts, ends = (np.zeros((len(present), width), np.float32) for _ in range(2))
    inside = np.zeros((len(present), width + 1), np.float32)
    summarized = bool(len(present)) and "inside" in logits[begin]
    windows = where.window[present]
    for window in np.unique(windows):
        rows = np.flatnonzero(windows == window)
        window_logits = logits[begin + int(window)]
        first, end = where.first[present[rows]], where.end[present[rows]]
        starts[rows] = window_logits["starts"][first]
        ends[rows] = window_logits["ends"][end - 1]
        if summarized:
            inside[rows] = _summary(window_logits["inside"], first, end)
    return present, WordStates(starts, ends, inside if summarized else None)


def _summary(inside: np.ndarray, first: np.ndarray, end: np.ndarray) -> np.ndarray:
    """inside (T, D + 1) of subwords, first, end (P,) of words → (P, D + 1), see WordStates."""
    places = np.arange(len(inside))
    within = (places >= first[:, None]) & (places < end[:, None])  # (P, T)
    logits = np.where(within, inside[:, -1], -np.inf)
    total = np.logaddexp.reduce(logits, axis=1, keepdims=True)
    return np.concatenate([np.exp(logits - total) @ inside[:, :-1], total], 1)


def prediction(
    text: str,
    offsets: Sequence[tuple[int, int]],
    candidates: Sequence[SpanCandidate],
    covered: np.ndarray,
    labels: Sequence[str],
) -> Prediction:
    """Spans of a text, and its words with the label of the longest span over them.

    offsets: (start, end) of the words of the candidates. covered: float (W,), the probability that
    some span covers the word, as far as the candidates tell; a word without a label has the score
    1 - covered. No span begins or ends with white space.
    """
    over: dict[int, SpanCandidate] = {}
    for candidate in sorted(candidates, key=lambda item: item.last - item.first):
        over.update(dict.fromkeys(range(candidate.first, candidate.last + 1), candidate))
    words = []
    for at, (start, end) in enumerate(offsets):
        best = over.get(at)
        label, score = (
            (None, float(1 - covered[at])) if best is None else (labels[best.label], best.score)
        )
        words.append(WordTag(start, end, label, score))
    spans = [
        decoding.trimmed(
            text,
            offsets[candidate.first][0],
            offsets[candidate.last][1],
            labels[candidate.label],
            candidate.score,
        )
        for candidate in candidates
    ]
    with_text = tuple(span for span in spans if span is not None)
    return Prediction((WordTags(tuple(words)), SpanScores(with_text)))
