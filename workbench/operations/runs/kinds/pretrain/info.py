"""Pretraining: facts about its runs."""

from workbench.base.i18n import N_
from workbench.operations.runs.kinds.contract import RunKindInfo

INFO = RunKindInfo(
    "pretrain",
    N_("Pretraining"),
    "whole-word",
    queued=True,
    own_weights=False,
    curves=True,
    predicts=False,
    not_inspected=N_("Choose the pretrained model itself on the Inspect page."),
)
