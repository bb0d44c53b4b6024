"""The guideline beside the text: search, and the section of the selected label."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QFrame

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.ui.panels.annotate.guideline.guideline import GuidelineTool
from workbench.ui.widgets.layout import fill, line
from workbench.ui.widgets.text.find_bar import FindBar
from workbench.ui.widgets.text.guideline_view import GuidelineView


class GuidelinePane(QFrame):
    """Reads the guideline only while it is visible. `left()`: Escape in the search."""

    left = Signal()

    def __init__(self, tool: GuidelineTool) -> None:
        super().__init__()
        self.tool = tool
        self.text = GuidelineView(_("Guideline text"), compact=True)
        self.search = FindBar(_("Find in the guideline"), brief=True)
        self.search.typed.connect(self._search)
        self.search.stepped.connect(self._step)
        self.search.left.connect(self._leave)
        fill(self, self.search, (self.text, 1), line(), gap=6, margins=(14, 8, 14, 0))

    def fill_text(self) -> None:
        """Show the text as it is now, and keep or find the place."""
        before = self.text.verticalScrollBar().value()
        self.text.set_guideline(self.tool.text, self.tool.layers)
        self.text.verticalScrollBar().setValue(before)
        if self.search.line.text():
            self.text.find_all(self.search.line.text())
            self._show_count()

    def open(self) -> None:
        """Show the section of the selected label."""
        self.fill_text()
        # after the page has given it its width
        QTimer.singleShot(0, self, lambda: self.text.go_to(self.tool.label))

    def render(self, fields: frozenset[str]) -> None:
        """Follow the tool while visible."""
        if self.isHidden():
            return
        if concerns(fields, "added") and self.tool.added is not None:
            self.fill_text()
            self.text.go_to_words(self.tool.added.marked or self.tool.added.text)
        elif concerns(fields, "label") and self.tool.label and not self.search.line.text():
            self.text.go_to(self.tool.label)

    def begin_search(self) -> None:
        self.search.begin()

    def _search(self, text: str) -> None:
        self.text.find_all(text)
        self._show_count()

    def _step(self, way: int) -> None:
        self.text.find_step(way)
        self._show_count()

    def _show_count(self) -> None:
        current, count = self.text.found_place
        self.search.show_count(current, count, cut=False, searching=False)

    def _leave(self) -> None:
        self.search.line.clear()
        self._search("")
        self.left.emit()
