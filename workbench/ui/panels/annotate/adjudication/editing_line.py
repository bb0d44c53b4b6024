"""The line above the text while gold is edited in adjudication."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.i18n import _
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.key_cap import CommandCap
from workbench.ui.widgets.layout import row

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.adjudication.adjudication import AdjudicationTool


class EditingLine(Callout):
    """Above the text while gold is edited: which difference, and the way back."""

    def __init__(self, tool: AdjudicationTool) -> None:
        self._tool = tool
        back = Button(_("Back to adjudication"), "check", small=True, on=tool.end_editing)
        settings = tool.context.settings
        super().__init__(
            "", "accent", row(back, CommandCap(settings, "annotate.submit", "Ctrl+Return"), gap=6)
        )
        self.hide()

    def render(self) -> None:
        tool = self._tool
        if not tool.editing or tool.sheet is None or tool.at is None:
            self.hide()
            return
        self.set(
            _(
                "Editing the gold labels of {key}: difference {n} of {all}.",
                key=tool.sheet.document.key,
                n=tool.at + 1,
                all=len(tool.sheet.differences),
            )
        )
