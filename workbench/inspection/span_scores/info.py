"""The scores of all spans of words that a span classifier considers: description and result."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.inspection.spec import InspectorInfo
from workbench.text.spans import Span

PAGE_WORDS = 40  # words whose spans are listed at a time


@dataclass(frozen=True)
class CandidateWord:
    """A word that a span can begin or end with, code points [start, end)."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class ScoredSpan:
    """The span of the words `first` … `last` of the table with its most probable label."""

    text: str
    first: int
    last: int
    label: str
    probability: float


@dataclass(frozen=True)
class SpanScoreTable:
    """Probabilities of the spans that begin in one part of a text.

    words: P that spans begin at, then those that they can also end at. scores float32 (P, W, L):
    [i, w, l] that the span of the words i … i + w has the label l; 0 beyond the last word of the
    text. labels: L of the run. exclusive: a span has at most one label; then `none` float32 (P, W)
    is the probability of no label. temperature: of the run, applied to all probabilities one by
    one as in predictions, 1 for none.
    spans: the decoded ones that begin in this part, with scores. rejected: how many spans of the
    part have a label, but overlap a better one in a way that the run does not allow.
    part: counts from 1, one of `parts`. best: the most probable spans of the part, descending.
    """

    best: tuple[ScoredSpan, ...]
    words: tuple[CandidateWord, ...]
    scores: np.ndarray
    labels: tuple[str, ...]
    exclusive: bool
    spans: tuple[Span, ...]
    rejected: int
    part: int
    parts: int
    cut: bool = False
    temperature: float = 1.0
    none: np.ndarray | None = field(default=None, compare=False)


INFO = InspectorInfo(
    "span_scores",
    N_("Span scores"),
    SpanScoreTable,
    (
        Option("part", "int", 1, N_("Part of a long text, from 1."), low=1),
        Option("top", "int", 10, N_("Number of most probable spans to list."), low=1, high=1000),
    ),
    shows=N_(
        "Shows the probability of each label for every span of words up to the maximum length, by "
        "first and last word, with the fitted temperature of the run as in its predictions. Does "
        "not show longer spans, nor why a span was chosen. Zhong and Chen 2021, section 3.2."
    ),
    of_text=("part",),
)
