"""The answers of prompt runs, text by text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.events import State

if TYPE_CHECKING:
    from workbench.ui.panels.prompts.draft import PromptDraft


class AnswersState(State):
    def __init__(self, draft: PromptDraft) -> None:
        super().__init__()
        self.draft, self.context, self.project = draft, draft.context, draft.project
