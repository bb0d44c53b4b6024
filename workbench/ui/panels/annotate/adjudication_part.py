"""Adjudication within the page Annotate: its page, built on first use, and the line above the text
while gold is edited.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from workbench.base.events import ALL, concerns
from workbench.ui.panels.annotate.adjudication.editing_line import EditingLine
from workbench.ui.panels.annotate.folding import Sides

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.adjudication.adjudication import AdjudicationTool
    from workbench.ui.panels.annotate.adjudication.page import AdjudicationPage


class AdjudicationPart:
    """page: None until the mode was on. line: for above the text.

    owner: of dialogs. show_text: selects code points of a text in the usual page.
    """

    def __init__(
        self, tool: AdjudicationTool, owner: QWidget, show_text: Callable[[str, int, int], None]
    ) -> None:
        self._tool, self._owner, self._show_text = tool, owner, show_text
        self.page: AdjudicationPage | None = None
        self._sides: Sides | None = None
        self.line = EditingLine(tool)

    def build(self) -> QWidget:
        from workbench.ui.panels.annotate.adjudication.page import AdjudicationPage

        page = self.page = AdjudicationPage(self._tool, self.ask)
        window = self._tool.context.settings.window
        self._sides = Sides(page.splitter, window, page.take_focus)
        page.resized = self._sides.fit
        page.render(ALL)
        return page

    def ask(self) -> None:
        """Ask who is compared, and in which layers."""
        from workbench.ui.panels.annotate.adjudication.start_dialog import StartDialog

        StartDialog(self._owner.window(), self._tool).exec()

    @property
    def _shown_page(self) -> AdjudicationPage | None:
        return self.page if self._tool.is_shown else None

    @property
    def is_shown(self) -> bool:
        return self._shown_page is not None

    @property
    def sides(self) -> Sides | None:
        return self._sides if self.is_shown else None

    @property
    def guideline_shown(self) -> bool | None:
        """None in the usual mode."""
        return self._shown_page.guideline_shown if self._shown_page is not None else None

    def toggle_guideline(self) -> None:
        if self._shown_page is not None:
            self._shown_page.toggle_guideline()

    def zoom(self, step: int) -> None:
        if self._shown_page is not None:
            self._shown_page.zoom(step)

    def take_focus(self) -> None:
        if self._shown_page is not None:
            self._shown_page.take_focus()

    def panes(self) -> list[QWidget]:
        return self._shown_page.panes() if self._shown_page is not None else []

    def render(self, fields: frozenset[str]) -> None:
        if self.page is not None:
            self.page.render(fields)
        if concerns(fields, "editing", "at", "sheet"):
            self.line.render()

    def show_place(self) -> None:
        """While gold is edited: select where the versions differ."""
        difference = self._tool.current
        if not self._tool.editing or difference is None:
            return
        if difference.start is not None and difference.end is not None:
            self._show_text(difference.field, difference.start, difference.end)

    def restyle(self) -> None:
        if self.page is not None:
            self.page.restyle()
