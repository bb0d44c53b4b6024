"""Text written by a model, without documents or labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.events import State

if TYPE_CHECKING:
    from workbench.ui.panels.prompts.draft import PromptDraft


class FreeTextState(State):
    def __init__(self, draft: PromptDraft) -> None:
        super().__init__()
        self.draft, self.context, self.project = draft, draft.context, draft.project
