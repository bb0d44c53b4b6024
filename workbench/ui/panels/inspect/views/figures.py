"""A row of numbers with their names, below a view."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QFrame, QHBoxLayout

from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.layout import clear, column


class Figures(QFrame):
    """`set` replaces all numbers: (name, value)."""

    def __init__(self) -> None:
        super().__init__()
        self._line = QHBoxLayout(self)
        self._line.setContentsMargins(0, 0, 0, 0)
        self._line.setSpacing(12)
        self.values: tuple[tuple[str, str], ...] = ()

    def set(self, values: Sequence[tuple[str, str]]) -> None:
        if tuple(values) == self.values:
            return
        self.values = tuple(values)
        clear(self._line)
        for name, value in values:
            number = words(value, weight=600, select=True)
            number.setAccessibleName(f"{name}: {value}")
            self._line.addWidget(column(Elided(name, "small", "muted"), number, gap=2), 1)
        self.setVisible(bool(values))
