"""The page header: title, one line of description, actions on the right."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QWidget

from workbench.ui.style import theme
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import column, layout_of

MARGIN, GAP = 24, 8


class PageHeader(QFrame):
    """64 pixels high, more with large text: title and description on the left, actions on the
    right, in further rows where they have no room.

    The primary button is last.
    """

    def __init__(self, title: str, hint: str = "", *actions: QWidget):
        super().__init__()
        self.setProperty("part", "header")
        self._title = words(title, "title", weight=600)
        self._hint = Elided(hint, "small", "muted")
        left = column(self._title, self._hint, gap=1)
        layout_of(left).setAlignment(Qt.AlignmentFlag.AlignVCenter)
        self._actions = flow(None, *actions)
        self._actions.installEventFilter(self)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(MARGIN, 0, MARGIN, 0)
        layout.setSpacing(GAP)
        layout.addWidget(left, 1)
        layout.addWidget(self._actions, 0, Qt.AlignmentFlag.AlignVCenter)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # An action is shown, hidden or renamed. The size of their frame is fixed, so that Qt does
        # not pass this on to its parent.
        if watched is self._actions and event.type() == QEvent.Type.LayoutRequest:
            self._arrange()
            layout_of(self).activate()  # else the actions are outside until the next event
        return super().eventFilter(watched, event)

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self.minimumHeight())

    def minimumSizeHint(self) -> QSize:
        least = self._title.sizeHint().width() + self._actions.minimumSizeHint().width()
        return QSize(2 * MARGIN + GAP + least, self.minimumHeight())

    def _arrange(self) -> None:
        """Give the actions the width beside the title, and the height that they need there."""
        beside = self.width() - 2 * MARGIN - GAP - self._title.sizeHint().width()
        wide = min(self._actions.sizeHint().width(), beside)
        self._actions.setFixedWidth(max(wide, self._actions.minimumSizeHint().width()))
        high = self._actions.heightForWidth(self._actions.minimumWidth())
        self._actions.setFixedHeight(high)
        # title and description with padding at every text size, reduced for large text
        self.setFixedHeight(max(theme.HEADER, theme.px(52), high + 2 * GAP))

    def set_hint(self, hint: str) -> None:
        self._hint.setText(hint)

    def set_title(self, title: str) -> None:
        self._title.setText(title)
