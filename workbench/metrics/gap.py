"""Scores of the GAP challenge: whether a pronoun means each of two names, by gender.

Every name of every document is one decision. The bias is the F1 of feminine pronouns divided by
that of masculine ones. Source: Webster et al. 2018, section 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.metrics.classes import ratio
from workbench.text.pronouns import FEMININE, MASCULINE

Names = frozenset[str]  # the names that a pronoun means


@dataclass(frozen=True)
class GapScores:
    """F1 as fractions of 1. n: documents of each gender. bias: None without a masculine F1."""

    overall: float
    masculine: float
    feminine: float
    bias: float | None
    n: dict[str, int]


def gap_scores(
    genders: Sequence[str], gold: Sequence[Names], predicted: Sequence[Names]
) -> GapScores:
    """Scores of documents; those without a gender count for `overall` only."""
    found = {name: _f1(genders, gold, predicted, name) for name in (MASCULINE, FEMININE)}
    masculine, feminine = found[MASCULINE], found[FEMININE]
    return GapScores(
        _f1(genders, gold, predicted, None),
        masculine,
        feminine,
        feminine / masculine if masculine else None,
        {name: genders.count(name) for name in found},
    )


def _f1(
    genders: Sequence[str], gold: Sequence[Names], predicted: Sequence[Names], only: str | None
) -> float:
    """2 · right / (gold + predicted); 0 if no name is gold or predicted."""
    rows = [
        (true, found)
        for name, true, found in zip(genders, gold, predicted, strict=True)
        if only in (None, name)
    ]
    right = sum(len(true & found) for true, found in rows)
    return ratio(2 * right, sum(len(true) + len(found) for true, found in rows))
