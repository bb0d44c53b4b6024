"""What each run of an ensemble predicts: description and result."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.i18n import N_
from workbench.inspection.spec import InspectorInfo


@dataclass(frozen=True)
class MemberScores:
    """The probabilities of one run, in the order of the classes."""

    name: str
    predicted: str
    scores: tuple[float, ...]


@dataclass(frozen=True)
class Members:
    """mean: the prediction of the ensemble."""

    classes: tuple[str, ...]
    members: tuple[MemberScores, ...]
    mean: tuple[float, ...]
    cut: bool = False


INFO = InspectorInfo(
    "members",
    N_("Runs of the ensemble"),
    Members,
    shows=N_(
        "Shows the probabilities of each run and their mean, which is the prediction of the "
        "ensemble. Does not show why the runs differ; inspect one of them for that. Howard and "
        "Ruder 2018, section 3.3."
    ),
)
