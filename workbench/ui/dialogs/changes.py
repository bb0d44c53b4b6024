"""What's new: the list of changes."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from workbench.base import paths
from workbench.base.i18n import _
from workbench.ui.style import theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.text.markdown import MarkdownView


class ChangesDialog(Dialog):
    def __init__(self, parent: QWidget | None):
        super().__init__(parent, _("What's new"), width=720)
        self.text = MarkdownView(_("List of changes"))
        self.text.setMinimumHeight(theme.px(360))
        self.text.set_markdown(paths.resource("help/changes.md").read_text(encoding="utf-8"))
        close = Button(_("Close"), kind="primary", on=self.accept)
        self.put(self.text)
        self.end(None, close)
        close.setFocus()
