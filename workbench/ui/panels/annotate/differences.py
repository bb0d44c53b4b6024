"""How the prediction under review differs from gold. No Qt."""

from __future__ import annotations

from typing import NamedTuple


class UnmatchedPrediction(NamedTuple):
    """A predicted span that gold does not have."""

    field: str
    start: int
    end: int
    label: str
    score: float | None


class Differences(NamedTuple):
    """Differences between prediction and gold.

    spans: false positives; missed: ids of gold spans that were not predicted.
    labels: of the document, predicted and not gold; missed_labels: gold and not predicted, in a
    layer with several labels per document. number: the predicted one, if gold is another.
    """

    spans: tuple[UnmatchedPrediction, ...] = ()
    missed: frozenset[int] = frozenset()
    labels: tuple[str, ...] = ()
    missed_labels: tuple[str, ...] = ()
    number: float | None = None
