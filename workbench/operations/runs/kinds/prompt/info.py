"""Prompts: facts about their runs."""

from workbench.base.i18n import N_
from workbench.operations.runs.kinds.contract import RunKindInfo
from workbench.prompting.results import PromptResult

INFO = RunKindInfo(
    "prompt",
    N_("Prompt"),
    "message-square-quote",
    page="prompts",
    queued=True,
    own_weights=False,
    result=PromptResult,
    not_inspected=N_("A prompt has no model of its own: the Prompts page shows its answers."),
)
