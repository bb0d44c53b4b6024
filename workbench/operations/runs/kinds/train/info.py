"""Fine-tuning: facts about its runs."""

from workbench.base.i18n import N_
from workbench.operations.runs.kinds.contract import RunKindInfo

INFO = RunKindInfo(
    "train",
    N_("Run"),
    "activity",
    page="train",
    queued=True,
    fine_tunes=True,
    curves=True,
    repeats=True,
)
