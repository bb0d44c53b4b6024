"""Confusion matrix: share of the row as depth of colour, count as number, diagonal outlined; a cell can be opened."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QTableWidget,
    QTableWidgetItem,
)

from workbench.base.i18n import _
from workbench.ui import theme

_COUNT, _SHARE = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1
LEAST_CELL, MOST_CELL = 22, 56
MOST_NAME = 180  # pixels at 100 % that a name may take, down or, turned, across


class Matrix(QTableWidget):
    """Gold down, predicted across. `opened(row, column)` by Enter, Space, or a click on a cell that counts something."""

    opened = Signal(int, int)

    def __init__(self, name: str):
        super().__init__()
        self.setAccessibleName(name)
        self.setProperty("part", "matrix")
        self._names: tuple[str, ...] = ()
        self._as_shares = False
        self._wanted = QSize(260, 260)
        self.setHorizontalHeader(_Across(self))
        self.setShowGrid(False)
        self.setCornerButtonEnabled(False)
        self.findChild(QAbstractButton).setAccessibleName(_("Gold down, predicted across"))
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setTabKeyNavigation(False)
        self.setItemDelegate(_Cell(self))
        self.setFrameShape(self.Shape.NoFrame)
        for head in (self.horizontalHeader(), self.verticalHeader()):
            head.setSectionResizeMode(head.ResizeMode.Fixed)
            head.setMinimumSectionSize(LEAST_CELL)
            head.setHighlightSections(False)
            head.setSectionsClickable(False)
        self.horizontalHeader().setDefaultAlignment(
            Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom
        )
        self.verticalHeader().setDefaultAlignment(
            Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        )
        self.cellClicked.connect(self._open)

    def set_counts(self, names: Sequence[str], counts: Sequence[Sequence[int]]) -> None:
        """`counts[gold][predicted]`, rows and columns in the order of `names`."""
        self._names = tuple(names)
        self.clear()
        self.setRowCount(len(names))
        self.setColumnCount(len(names))
        for row, values in enumerate(counts):
            total = sum(values) or 1
            for column, count in enumerate(values):
                item = QTableWidgetItem()
                item.setData(_COUNT, count)
                item.setData(_SHARE, count / total)
                item.setToolTip(
                    _("gold {gold}, predicted {predicted}: {count}").format(
                        gold=names[row], predicted=names[column], count=count
                    )
                )
                item.setText(str(count))
                self.setItem(row, column, item)
        self._fit()

    def show_shares(self, on: bool) -> None:
        """Numbers as per cent of their row instead of counts."""
        self._as_shares = on
        self.viewport().update()

    @property
    def as_shares(self) -> bool:
        return self._as_shares

    def sizeHint(self) -> QSize:
        return self._wanted

    def keyPressEvent(self, event) -> None:
        if (
            event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
            and self.currentItem() is not None
        ):
            self._open(self.currentRow(), self.currentColumn())
            return
        super().keyPressEvent(event)

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        count = len(self._names)
        if not count:
            return
        metrics = QFontMetrics(theme.font("caption"))
        longest = max(metrics.horizontalAdvance(one) for one in self._names)
        spare = max(
            theme.px(100), self.width() - 18 - LEAST_CELL * count
        )  # rather short names than columns out of sight
        left = min(longest + 18, theme.px(MOST_NAME), max(60, self.width() // 3), spare)
        self.verticalHeader().setFixedWidth(left)
        across = (self.width() - left - 18) // count
        turned = longest > min(max(across, LEAST_CELL), theme.px(MOST_CELL)) - 2
        above = min(longest + 12, theme.px(MOST_NAME)) if turned else theme.px(26)
        self.horizontalHeader().turn(turned)
        self.horizontalHeader().setFixedHeight(above)
        self.setMinimumHeight(min(700, max(260, above + LEAST_CELL * count + 8)))
        wide = min(max(across, LEAST_CELL), theme.px(MOST_CELL))
        wanted = QSize(
            left + wide * count + 18, above + wide * count + 10
        )  # as high as it can use at this width
        if wanted != self._wanted:
            self._wanted = wanted
            self.updateGeometry()
        cell = min(
            max(min(across, (self.height() - above - 6) // count), LEAST_CELL), theme.px(MOST_CELL)
        )
        self.horizontalHeader().setDefaultSectionSize(cell)
        self.verticalHeader().setDefaultSectionSize(cell)
        for index, name in enumerate(self._names):
            across = QTableWidgetItem(
                metrics.elidedText(
                    name, Qt.TextElideMode.ElideRight, above - 10 if turned else cell - 2
                )
            )
            down = QTableWidgetItem(
                metrics.elidedText(name, Qt.TextElideMode.ElideRight, left - 14)
            )
            for item in (across, down):
                item.setToolTip(name)
                item.setFont(theme.font("caption"))
            across.setTextAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom)
            down.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self.setHorizontalHeaderItem(index, across)
            self.setVerticalHeaderItem(index, down)

    def _open(self, row: int, column: int) -> None:
        item = self.item(row, column)
        if item is not None and item.data(_COUNT):
            self.opened.emit(row, column)


class _Across(QHeaderView):
    """The names across: upright letters where all fit over their column, else turned to be read from below."""

    def __init__(self, parent: Matrix):
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.turned = False

    def turn(self, on: bool) -> None:
        if on != self.turned:
            self.turned = on
            self.viewport().update()

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        if not self.turned:
            super().paintSection(painter, rect, section)
            return
        painter.save()
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.qcolour("muted"))
        painter.translate(rect.left(), rect.bottom() - 4)
        painter.rotate(-90)
        text = self.model().headerData(section, Qt.Orientation.Horizontal)
        painter.drawText(
            QRect(0, 0, rect.height() - 4, rect.width()),
            Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
            text,
        )
        painter.restore()


class _Cell(QStyledItemDelegate):
    def paint(self, painter: QPainter, option, index) -> None:
        count, share = index.data(_COUNT) or 0, index.data(_SHARE) or 0.0
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(option.rect).adjusted(1.5, 1.5, -1.5, -1.5)
        view: Matrix = self.parent()
        focused = view.hasFocus() and view.currentIndex() == index
        pen = QPen(theme.qcolour("accent"), 2.4) if focused else QPen(theme.qcolour("text"), 1.2)
        painter.setPen(pen if focused or index.row() == index.column() else Qt.PenStyle.NoPen)
        ground = _mix(
            theme.qcolour("surface"),
            theme.qcolour("accent"),
            0.05 + 0.95 * share if count else 0.03,
        )
        painter.setBrush(ground)
        painter.drawRoundedRect(area, 4, 4)
        readable = max(
            ("on_accent", "text"),
            key=lambda name: theme.contrast(theme.colour(name), ground.name()),
        )
        painter.setPen(theme.qcolour(readable if count else "faint"))
        painter.setFont(theme.font("caption"))
        text = "·" if not count else f"{100 * share:.0f}" if view.as_shares else str(count)
        painter.drawText(area, Qt.AlignmentFlag.AlignCenter, text)
        painter.restore()


def _mix(one: QColor, other: QColor, share: float) -> QColor:
    return QColor.fromRgbF(
        *(a + (b - a) * share for a, b in zip(one.getRgbF()[:3], other.getRgbF()[:3], strict=True))
    )
