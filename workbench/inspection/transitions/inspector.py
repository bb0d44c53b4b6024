"""The learned transition scores of a CRF: the heavy part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.inspection.predicting import Predicting
from workbench.inspection.transitions.info import INFO, TransitionScores
from workbench.text.document import Document


class TransitionsInspector:
    """For runs that decode with learned transitions."""

    info = INFO

    def run(
        self, subject: Predicting, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> TransitionScores:
        """Raises ModelError for a run without transitions."""
        transitions = subject.transitions()
        if transitions is None:
            raise ModelError(_("This run has no learned transition scores."))
        no_start, no_step = np.isneginf(transitions.start), np.isneginf(transitions.step)
        start, step = (
            np.where(no_start, np.nan, transitions.start),
            np.where(no_step, np.nan, transitions.step),
        )
        return TransitionScores(
            transitions.tags, subject.labels, start, step, transitions.end, no_start, no_step
        )
