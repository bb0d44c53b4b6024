"""The page header: title, one line of description, actions on the right."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QWidget

from workbench.ui import theme
from workbench.ui.widgets.layout import column, layout_of
from workbench.ui.widgets.words import Elided, words


class PageHeader(QFrame):
    """64 pixels high, more with large text: title and description on the left, actions on the
    right.

    The primary button is last.
    """

    def __init__(self, title: str, hint: str = "", *actions: QWidget):
        super().__init__()
        self.setProperty("part", "header")
        self._title = words(title, "title", weight=600)
        self._hint = Elided(hint, "small", "muted")
        left = column(self._title, self._hint, gap=1)
        layout_of(left).setAlignment(Qt.AlignmentFlag.AlignVCenter)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(24, 0, 24, 0)
        layout.setSpacing(8)
        layout.addWidget(left, 1)
        for action in actions:
            layout.addWidget(action)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self._height())

    def minimumSizeHint(self) -> QSize:
        return QSize(super().minimumSizeHint().width(), self._height())

    def _height(self) -> int:
        """Title and description with padding at every text size, reduced for large text."""
        return max(theme.HEADER, theme.px(52))

    def set_hint(self, hint: str) -> None:
        self._hint.setText(hint)

    def set_title(self, title: str) -> None:
        self._title.setText(title)
