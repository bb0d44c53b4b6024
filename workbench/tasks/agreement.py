"""Whether a model that was loaded again computes the numbers of the one that was saved. Light."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_
from pathlib import Path

import numpy as np

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.tasks.proofs import TOLERANCE

Numbers = Mapping[str, np.ndarray]


def ensure_equal(folder: Path, expected: Sequence[Numbers], again: Sequence[Numbers]) -> None:
    """Raises ModelError unless the model in the folder gives the expected numbers, such as logits
    of each input, within float tolerance.
    """
    differences = [difference(*pair) for pair in zip(expected, again, strict=False)]
    largest = max(differences, default=0.0) if len(expected) == len(again) else float("inf")
    if largest > TOLERANCE:
        raise ModelError(
            _(
                "The model was saved in {folder}, but loaded again it does not give the same "
                "predictions (largest difference {difference:.1e}).",
                folder=folder,
                difference=largest,
            ),
            hint=_("Train with another model or method, and report this model as a bug."),
        )


def equal_decisions(*every: Sequence[object]) -> tuple[int, int]:
    """(decisions that are the same in all, decisions compared) of predictions for one document, see
    `TaskInfo.decisions`. Of spans, those that all have, in any order.
    """
    if len({*map(len, every)}) > 1:  # spans, of which one side has more
        return reduce(and_, map(Counter, every)).total(), max(map(len, every))
    same = [all(other == first for other in others) for first, *others in zip(*every, strict=True)]
    return sum(same), len(same)


def difference(ours: Numbers, theirs: Numbers) -> float:
    """The largest difference of numbers with equal names, relative to the largest above 1.

    Infinite if names, shapes, or numbers that are not finite differ.
    """
    if ours.keys() != theirs.keys():
        return float("inf")
    return max((_difference(ours[name], theirs[name]) for name in ours), default=0.0)


def _difference(values: np.ndarray, others: np.ndarray) -> float:
    finite = np.isfinite(values)
    if values.shape != others.shape or not np.array_equal(
        values[~finite], others[~finite], equal_nan=True
    ):
        return float("inf")
    scale = max(1.0, float(np.abs(values[finite]).max(initial=0.0)))
    largest = np.abs(values[finite] - others[finite]).max(initial=0.0)
    return float(largest) / scale if np.isfinite(largest) else float("inf")
