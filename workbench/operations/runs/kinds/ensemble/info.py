"""Ensembles: facts about their runs."""

from workbench.base.i18n import N_
from workbench.operations.runs.kinds.contract import RunKindInfo

INFO = RunKindInfo("ensemble", N_("Ensemble"), "boxes", own_weights=False, composed=True)
