"""The learned transition scores of a CRF: description and result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.base.i18n import N_
from workbench.inspection.spec import InspectorInfo


@dataclass(frozen=True)
class TransitionScores:
    """Learned transition scores (natural logarithms, not normalized) of L tags.

    start, end float64 (L,): of the first and of the last tag. step (L, L): from (row) → to
    (column). If the scheme forbids a transition, `no_start` or `no_step` is true and the score is
    NaN.
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
        "Shows the score that the CRF adds when one tag follows another; it does not depend on the "
        "text. Does not show how often that happens. Lafferty, McCallum and Pereira 2001."
    ),
)
