"""A layout that places widgets side by side and wraps them into further rows."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QFrame, QLayout, QLayoutItem, QSizePolicy, QSpacerItem, QWidget

LINE_GAP = 8  # most pixels between two rows; `gap` is that between widgets

Line = list[QLayoutItem]


class FlowLayout(QLayout):
    """Left to right, then down; widgets at their size hint, vertically centred in their row.

    A spring (`add_spring`) takes the remaining width of its row; rows that start after it are
    aligned to the right. With `fill`, the widgets of a row take all of its width, in equal
    parts where their size hints allow it.
    """

    def __init__(self, parent: QWidget | None = None, *, gap: int = 8, fill: bool = False):
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap, self._fill = gap, fill
        self._line_gap = min(gap, LINE_GAP)
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def add_spring(self) -> None:
        policy = QSizePolicy.Policy
        self.addItem(QSpacerItem(0, 0, policy.Expanding, policy.Minimum))

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
        """All widgets in one row."""
        sizes = [item.sizeHint() for item in self._shown()]
        return QSize(
            sum(size.width() for size in sizes) + self._gap * max(0, len(sizes) - 1),
            max((size.height() for size in sizes), default=0),
        )

    def minimumSize(self) -> QSize:
        sizes = [item.minimumSize() for item in self._shown()]
        return QSize(
            max((size.width() for size in sizes), default=0),
            max((size.height() for size in sizes), default=0),
        )

    def _shown(self) -> Line:
        return [item for item in self._items if item.widget() is not None and not item.isEmpty()]

    def _lines(self, width: int) -> list[Line]:
        """The widgets and springs of each row."""
        lines: list[Line] = [[]]
        x = 0
        for item in self._items:
            if item.widget() is None:
                lines[-1].append(item)
                continue
            if item.isEmpty():
                continue
            wide = min(item.sizeHint().width(), width)
            if x and x + wide > width:
                lines.append([])
                x = 0
            lines[-1].append(item)
            x += wide + self._gap
        return lines

    def _sizes(self, line: Line, width: int) -> list[QSize]:
        """Sizes of the widgets of a row; one that wraps is as high as its width requires."""
        widths = [min(item.sizeHint().width(), width) for item in line]
        if self._fill:
            widths = _filled(widths, width - self._gap * (len(line) - 1))
        return [
            QSize(wide, item.heightForWidth(wide))
            if item.hasHeightForWidth()
            else QSize(wide, item.sizeHint().height())
            for item, wide in zip(line, widths, strict=True)
        ]

    def _place(self, area: QRect, *, move: bool) -> int:
        """Place the widgets; returns the required height at this width."""
        y, behind = area.y(), False
        for line in self._lines(area.width()):
            sizes = self._sizes(line, area.width())
            widgets = [size for item, size in zip(line, sizes, strict=True) if item.widget()]
            high = max((size.height() for size in widgets), default=0)
            used = sum(size.width() + self._gap for size in widgets) - self._gap
            left = max(0, area.width() - used)
            x = area.x() + (left if behind else 0)
            for item, size in zip(line, sizes, strict=True):
                if item.widget() is None:
                    x, behind = x + (0 if behind else left), True
                    continue
                if move:
                    at = QPoint(x, y + (high - size.height()) // 2)
                    item.setGeometry(QRect(at, size))
                x += size.width() + self._gap
            y += high + self._line_gap if widgets else 0
        return max(0, y - self._line_gap - area.y())


def _filled(widths: list[int], total: int) -> list[int]:
    """Widen `widths` to `total` pixels, the narrowest first, so that they become equal."""
    filled, order = list(widths), sorted(range(len(widths)), key=lambda at: -widths[at])
    left = total
    for number, at in enumerate(order):
        filled[at] = max(widths[at], left // (len(order) - number))
        left -= filled[at]
    return filled


def flow(*parts: QWidget | None, gap: int = 8, fill: bool = False) -> QFrame:
    """A frame with wrapping contents; `None` is a spring."""
    it = QFrame()
    layout = FlowLayout(it, gap=gap, fill=fill)
    for part in parts:
        if part is None:
            layout.add_spring()
        else:
            layout.addWidget(part)
    policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
    policy.setHeightForWidth(True)
    it.setSizePolicy(policy)
    return it
