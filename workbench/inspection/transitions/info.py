"""The scores of neighbouring tags that a CRF has learned: the light half."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.base.i18n import N_
from workbench.inspection.spec import InspectorInfo


@dataclass(frozen=True)
class TransitionScores:
    """Learned scores (natural logarithms, not normalized) of L tags beside one another.

    start, end float64 (L,): of the first and of the last tag. step (L, L): from (row) → to
    (column). Where the scheme does not allow it, `no_start` and `no_step` are true and the score
    is 0.
    """

    tags: tuple[str, ...]
    labels: tuple[str, ...]
    start: np.ndarray
    step: np.ndarray
    end: np.ndarray
    no_start: np.ndarray
    no_step: np.ndarray


INFO = InspectorInfo(
    "transitions",
    N_("Transitions"),
    TransitionScores,
    shows=N_(
        "Shows the score that the CRF adds when one tag follows another; it is the same for every "
        "text. Does not show how often that happens. Lafferty, McCallum and Pereira 2001."
    ),
)
