"""Baselines: facts about their runs."""

from workbench.base.i18n import N_
from workbench.baselines.spec import KIND
from workbench.operations.runs.kinds.contract import RunKindInfo

INFO = RunKindInfo(KIND, N_("Baseline"), "circle-dot", queued=True, repeats=True)
