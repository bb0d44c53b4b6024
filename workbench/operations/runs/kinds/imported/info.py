"""Imported predictions: facts about their runs."""

from workbench.base.i18n import N_
from workbench.operations.runs.kinds.contract import RunKindInfo

INFO = RunKindInfo(
    "imported",
    N_("Imported predictions"),
    "file-plus-2",
    own_weights=False,
    predicts=False,
    not_inspected=N_("Imported predictions have no model that could be inspected."),
)
