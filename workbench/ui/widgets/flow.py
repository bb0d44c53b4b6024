"""Parts beside one another that go on in the next line where there is no room."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QFrame, QLayout, QLayoutItem, QSizePolicy, QWidget


class FlowLayout(QLayout):
    """Left to right, then down; all parts at the size they ask for."""

    def __init__(self, parent: QWidget | None = None, *, gap: int = 8):
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap = gap
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._place(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, area: QRect) -> None:
        super().setGeometry(area)
        self._place(area, move=True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        sizes = [item.minimumSize() for item in self._items]
        return QSize(
            max((one.width() for one in sizes), default=0),
            max((one.height() for one in sizes), default=0),
        )

    def _place(self, area: QRect, *, move: bool) -> int:
        """Height that is needed at this width."""
        x, y, high = area.x(), area.y(), 0
        for item in self._items:
            size = item.sizeHint()
            if x > area.x() and x + size.width() > area.x() + area.width():
                x, y, high = area.x(), y + high + self._gap, 0
            if move:
                item.setGeometry(QRect(QPoint(x, y), size))
            x, high = x + size.width() + self._gap, max(high, size.height())
        return y + high - area.y()


def flow(*parts: QWidget, gap: int = 8) -> QFrame:
    """A frame whose parts wrap."""
    it = QFrame()
    layout = FlowLayout(it, gap=gap)
    for part in parts:
        layout.addWidget(part)
    policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
    policy.setHeightForWidth(True)
    it.setSizePolicy(policy)
    return it
