"""Intervals as bars on a common scale from 0 to 1, in the cells of a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QWidget

from workbench.ui.style import theme
from workbench.ui.widgets.tables.delegates import PAD, ground

MIN_SCALE_WIDTH = 60  # pixels at 100% of a scale; a narrower cell shows the text alone


@dataclass(frozen=True)
class Interval:
    """A value with its bounds, fractions of 1; mark: a dashed line on the scale, None without.

    value: None for one without such a scale. note: shown instead of the bar, for a row without one.
    ceiling: what people score, a line in another colour and style, None without.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    mark: float | None = None
    ceiling: float | None = None
    note: str = ""


class IntervalDelegate(QStyledItemDelegate):
    """Value in bold, its interval as a bar, and the bounds as text; `interval(row number)`."""

    def __init__(self, parent: QWidget, interval: Callable[[int], Interval]) -> None:
        super().__init__(parent)
        self._interval = interval

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        painter.save()
        ground(painter, option)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        interval = self._interval(index.row())
        area = QRectF(option.rect).adjusted(PAD, 0, -PAD, -1)
        middle = Qt.AlignmentFlag.AlignVCenter
        if interval.note:
            painter.setFont(theme.font("small"))
            painter.setPen(theme.qcolour("muted"))
            elided = painter.fontMetrics().elidedText(
                interval.note, Qt.TextElideMode.ElideRight, int(area.width())
            )
            painter.drawText(area, middle | Qt.AlignmentFlag.AlignLeft, elided)
            painter.restore()
            return
        value, _bar, bounds = str(index.data(Qt.ItemDataRole.DisplayRole) or "").partition("  ")
        painter.setFont(theme.font("ui", 600))
        # errors in the unit of gold can be longer than the points of a fraction
        wide = max(map(painter.fontMetrics().horizontalAdvance, ("100.0", value)))
        painter.setPen(theme.qcolour("text"))
        number = QRectF(area.left(), area.top(), wide, area.height())
        painter.drawText(number, middle | Qt.AlignmentFlag.AlignRight, value)
        painter.setFont(theme.font("small"))
        room, own = map(painter.fontMetrics().horizontalAdvance, ("100.0 – 100.0", bounds))
        room = max(room, own) + 4
        painter.setPen(theme.qcolour("muted"))
        left = area.left() + wide + 14
        if left + own <= area.right() + 8:  # never over the value
            painter.drawText(area, middle | Qt.AlignmentFlag.AlignRight, bounds)
        scale = QRectF(left, area.center().y(), area.right() - room - 12 - left, 0)
        if interval.value is not None and scale.width() >= theme.px(MIN_SCALE_WIDTH):
            self._draw(painter, scale, option.rect.height(), interval)
        painter.restore()

    @staticmethod
    def _draw(painter: QPainter, scale: QRectF, height: int, interval: Interval) -> None:
        def at(share: float) -> float:
            return scale.left() + scale.width() * min(max(share, 0.0), 1.0)

        y = scale.top()
        painter.setPen(QPen(theme.qcolour("line"), 1))
        painter.drawLine(int(scale.left()), int(y), int(scale.right()), int(y))
        if interval.low is not None and interval.high is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.qcolour("accent", 0.35))
            bar = QRectF(at(interval.low), y - 4, max(2.0, at(interval.high) - at(interval.low)), 8)
            painter.drawRoundedRect(bar, 4, 4)
        lines = (
            (interval.mark, "muted", 1, Qt.PenStyle.DashLine),
            (interval.ceiling, "good", 2, Qt.PenStyle.DotLine),
        )
        for share, tone, width, style in lines:
            if share is not None:
                painter.setPen(QPen(theme.qcolour(tone), width, style))
                x = int(at(share))
                painter.drawLine(x, int(y - height / 2), x, int(y + height / 2))
        if interval.value is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.qcolour("accent"))
            painter.drawRoundedRect(QRectF(at(interval.value) - 1.5, y - 6, 3, 12), 1, 1)
