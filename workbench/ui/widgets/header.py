"""The page header: title, one line, actions at the right."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from workbench.ui import theme
from workbench.ui.widgets.layout import column
from workbench.ui.widgets.words import Elided, words


class PageHeader(QFrame):
    """64 pixels: what the page is for at the left, actions at the right, the primary button last."""

    def __init__(self, title: str, hint: str = "", *actions: QWidget):
        super().__init__()
        self.setProperty("part", "header")
        self._title = words(title, "title", weight=600)
        self._hint = Elided(hint, "small", "muted")
        left = column(self._title, self._hint, gap=1)
        left.layout().setAlignment(Qt.AlignmentFlag.AlignVCenter)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(24, 0, 24, 0)
        layout.setSpacing(8)
        layout.addWidget(left, 1)
        for action in actions:
            layout.addWidget(action)
        self.setMinimumHeight(theme.HEADER)
        self.setMaximumHeight(max(theme.HEADER, theme.px(theme.HEADER)))

    def set_hint(self, hint: str) -> None:
        self._hint.setText(hint)

    def set_title(self, title: str) -> None:
        self._title.setText(title)
