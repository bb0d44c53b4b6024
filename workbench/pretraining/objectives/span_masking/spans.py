"""Contiguous spans of words that a masked language model predicts. numpy only.

Source: Joshi et al. 2020, SpanBERT, section 3.1: lengths in words from a geometric distribution
(p = 0.2), at most 10, until 15% of the tokens are chosen; one decision 80/10/10 per span.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.pretraining.masking import Rates

Span = tuple[int, int]  # positions, end exclusive


@dataclass(frozen=True)
class LengthSampler:
    """Lengths of spans in words: geometric with parameter `p`, renormalized over 1 … `longest`."""

    p: float = 0.2
    longest: int = 10

    def probabilities(self) -> np.ndarray:
        """float (longest,): of the lengths 1 … longest."""
        weights: np.ndarray = self.p * (1 - self.p) ** np.arange(self.longest)
        weights /= weights.sum()
        return weights

    def draw(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """int (count,): random lengths, 1 … longest."""
        lengths: np.ndarray = 1 + rng.choice(self.longest, size=count, p=self.probabilities())
        return lengths


def choose(
    allowed: np.ndarray,
    groups: np.ndarray,
    share: float,
    lengths: LengthSampler,
    rng: np.random.Generator,
) -> list[Span]:
    """Spans of whole words in order, at least one word apart, of allowed tokens only.

    allowed bool (T,): tokens of the text. groups int (T,): number of the word of each token. About
    `share` of the allowed tokens are chosen; the last span ends where the number is reached. A span
    that meets another one, or a token that is not allowed, is shorter.
    """
    places = np.flatnonzero(allowed)
    if not len(places):
        return []
    quota = max(1, int(rng.binomial(len(places), share)))
    starts, ends = _words(allowed, groups)
    free = np.ones(len(starts), dtype=bool)
    spans: list[Span] = []
    count = 0
    while count < quota and free.any():
        first = last = int(rng.choice(np.flatnonzero(free)))
        length = int(lengths.draw(rng, 1)[0])
        while last - first + 1 < length and ends[last] - starts[first] < quota - count:
            after = last + 1
            if after >= len(starts) or not free[after] or starts[after] != ends[last]:
                break
            last = after
        end = min(int(ends[last]), int(starts[first]) + quota - count)
        free[max(0, first - 1) : last + 2] = False
        spans.append((int(starts[first]), end))
        count += end - int(starts[first])
    return sorted(spans)


def _words(allowed: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(starts, ends) of the words: adjacent allowed tokens with an equal group."""
    marked = np.where(allowed, groups.astype(np.int64) + 1, 0)
    edges = np.flatnonzero(np.diff(marked, prepend=0, append=0))
    starts = edges[:-1]
    inside = marked[starts] > 0
    return starts[inside], edges[1:][inside]


def replaced(
    ids: np.ndarray,
    spans: Sequence[Span],
    rates: Rates,
    *,
    mask: int,
    ordinary: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """The input ids (T,): each span is masked, replaced by random tokens, or kept as a whole."""
    new = ids.copy()
    for start, end in spans:
        draw = rng.random()
        if draw < rates.masked:
            new[start:end] = mask
        elif draw < rates.masked + rates.random:
            new[start:end] = ordinary[rng.integers(0, len(ordinary), end - start)]
    return new


def boundaries(spans: Sequence[Span]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For every token of the spans: the position before its span, after it, and its place in it.

    Three arrays int64 (M,), M tokens in all spans.
    """
    sizes = [end - start for start, end in spans]
    left = np.repeat(np.array([start - 1 for start, _end in spans], np.int64), sizes)
    right = np.repeat(np.array([end for _start, end in spans], np.int64), sizes)
    places = [np.arange(size) for size in sizes]
    return left, right, np.concatenate(places) if places else np.zeros(0, np.int64)
