"""State of the Data page: its parts, which see the selected documents, and the shown view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.events import State
from workbench.ui.panels.data.actions import DocumentActions
from workbench.ui.panels.data.selection import DocumentSelection

if TYPE_CHECKING:
    from workbench.ui.panel import PanelContext
    from workbench.ui.panels.data.duplicates_state import DuplicatesState
    from workbench.ui.panels.data.statistics_state import StatisticsState

VIEWS = DOCUMENTS, STATISTICS, DUPLICATES = ("documents", "statistics", "duplicates")


class DataState(State):
    """`view`: one of VIEWS."""

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.selection = DocumentSelection(context)
        self.actions = DocumentActions(self.selection)
        self.context, self.project = context, self.selection.project
        self.view = VIEWS[0]
        self._statistics: StatisticsState | None = None
        self._duplicates: DuplicatesState | None = None
        self.listen(self.selection.changed, self.changed.emit)
        self.listen(self.selection.listing, lambda: self.show_view(DOCUMENTS))

    def close(self) -> None:
        for part in (self._statistics, self._duplicates, self.selection):
            if part is not None:
                part.close()
        super().close()

    @property
    def statistics(self) -> StatisticsState:
        """Statistics of the documents that pass the filters; created on first use."""
        from workbench.ui.panels.data.statistics_state import StatisticsState

        if self._statistics is None:
            self._statistics = StatisticsState(self.selection)
        return self._statistics

    @property
    def duplicates(self) -> DuplicatesState:
        """Duplicates among the documents that pass the filters; created on first use."""
        from workbench.ui.panels.data.duplicates_state import DuplicatesState

        if self._duplicates is None:
            self._duplicates = DuplicatesState(self.selection, self.actions)
        return self._duplicates

    def show_view(self, view: str) -> None:
        """Show the documents, their statistics or their duplicates."""
        if view == STATISTICS:
            self.statistics.show()
        elif self._statistics is not None:
            self._statistics.hide()
        self.update(view=view)
