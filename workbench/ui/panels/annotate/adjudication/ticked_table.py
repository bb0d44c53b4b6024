"""Differences that are decided together, each with a tick."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from PySide6.QtCore import QModelIndex

from workbench.ui.widgets.tables.table import Column, Table


class TickedTable(Table):
    """A click on a row, and Enter, calls `turn(row)`. tone: of the ticks."""

    def __init__(
        self,
        columns: Sequence[Column],
        *,
        name: str,
        key: Callable[[Any], Hashable],
        is_ticked: Callable[[Any], bool],
        turn: Callable[[Any], None],
        tone: Callable[[], str] = lambda: "accent",
    ) -> None:
        def icon(row: Any) -> tuple[str, str]:
            return ("square-check", tone()) if is_ticked(row) else ("square", "muted")

        super().__init__((Column("", width=30, icon=icon), *columns), name=name, key=key)
        self._act = turn
        self.clicked.connect(self._clicked)
        self.opened.connect(turn)

    def _clicked(self, index: QModelIndex) -> None:
        self._act(self.rows()[index.row()])
