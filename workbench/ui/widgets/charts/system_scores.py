"""Scores of systems side by side: points are runs, short lines are means, joined per series."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from statistics import fmean

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.base.i18n import _
from workbench.text.scale import decimals_of
from workbench.ui.style import formats, theme

TONES = ("accent", "warn")  # of the series; the second one is dashed, with squares
LEFT, BELOW, ABOVE = 36, 42, 22  # room for the scale, names and values, pixels at 100%
VALUE = 24  # height of a value below its mark, pixels at 100%
STEPS = (1, 2, 5, 10, 20, 25, 50)  # between lines of the scale; then powers of ten of these


@dataclass(frozen=True)
class Group:
    """One system: title, note below it, and the scores of each series as they are shown.

    expected: number of runs that each series will have.
    """

    title: str
    note: str
    series: tuple[tuple[float, ...], ...]
    expected: int = 0


class LadderChart(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._groups: tuple[Group, ...] = ()
        self._decimals = 1
        self.setMinimumHeight(theme.px(200))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(_("Scores of the rungs"))

    def set_groups(self, groups: Sequence[Group], *, decimals: int = 1) -> None:
        """decimals: of the scores: 1 of those in percent, more of errors in a unit of their own."""
        self._groups, self._decimals = tuple(groups), decimals
        message = []
        for group in self._groups:
            means = [formats.decimal(fmean(scores), decimals) for scores in group.series if scores]
            message += [f"{group.title}: {', '.join(means)}"] if means else []
        self.setAccessibleDescription("; ".join(message))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        values = [score for group in self._groups for pair in group.series for score in pair]
        if not values:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.font("caption"))
        low, high, step = scale(min(values), max(values), self._unit)
        area = self._area((low, high))
        self._draw_scale(painter, area, (low, high, step))
        self._draw_names(painter, area)
        for number in range(max(len(group.series) for group in self._groups)):
            self._draw_series(painter, area, (low, high), number)

    def _area(self, bounds: tuple[float, float]) -> QRectF:
        """The area of the points; smaller where a value below its mark would cover a name."""
        area = QRectF(
            theme.px(LEFT),
            theme.px(ABOVE),
            self.width() - theme.px(LEFT) - 8,
            self.height() - theme.px(ABOVE) - theme.px(BELOW),
        )
        low, high = bounds
        means = [fmean(scores) for group in self._groups for scores in group.series[1:] if scores]
        lowest = area.height() * (min(means, default=high) - low) / (high - low)
        area.adjust(0, 0, 0, min(0.0, lowest - theme.px(VALUE)))
        return area

    @property
    def _unit(self) -> float:
        """The smallest step of the scale."""
        return float(10.0 ** (1 - self._decimals))

    def _draw_scale(
        self, painter: QPainter, area: QRectF, bounds: tuple[float, float, float]
    ) -> None:
        low, high, step = bounds
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for number in range(round((high - low) / step) + 1):
            value = low + number * step
            level = area.bottom() - area.height() * (value - low) / (high - low)
            painter.setPen(QPen(theme.qcolour("line"), 1))
            painter.drawLine(QPointF(area.left(), level), QPointF(area.right(), level))
            painter.setPen(theme.qcolour("muted"))
            painter.drawText(
                QRectF(0, level - 10, area.left() - 8, 20),
                right,
                formats.decimal(value, decimals_of(step)),
            )

    def _draw_names(self, painter: QPainter, area: QRectF) -> None:
        slot = area.width() / len(self._groups)
        for number, group in enumerate(self._groups):
            left = area.left() + slot * number
            for line, (text, weight, tone) in enumerate(
                ((group.title, 600, "text"), (group.note, 400, "muted"))
            ):
                painter.setFont(theme.font("caption", weight))
                painter.setPen(theme.qcolour(tone))
                top = self.height() - theme.px(BELOW) + 6 + line * theme.px(16)
                room = QRectF(left, top, slot, theme.px(16))
                shown = QFontMetricsF(painter.font()).elidedText(
                    text, Qt.TextElideMode.ElideRight, slot - 4
                )
                painter.drawText(room, Qt.AlignmentFlag.AlignCenter, shown)
        painter.setFont(theme.font("caption"))

    def _draw_series(
        self, painter: QPainter, area: QRectF, bounds: tuple[float, float], number: int
    ) -> None:
        tone = theme.qcolour(TONES[number % len(TONES)])
        style = Qt.PenStyle.DashLine if number else Qt.PenStyle.SolidLine
        low, high = bounds
        slot = area.width() / len(self._groups)
        shift = 0.0 if len(self._groups[0].series) < 2 else (number - 0.5) * slot / 3

        def level(score: float) -> float:
            return area.bottom() - area.height() * (score - low) / (high - low)

        before: QPointF | None = None
        for place, group in enumerate(self._groups):
            scores = group.series[number] if number < len(group.series) else ()
            if not scores:
                continue
            mean = QPointF(area.left() + slot * (place + 0.5) + shift, level(fmean(scores)))
            painter.setPen(QPen(tone, 1.2, style))
            if before is not None:
                painter.drawLine(before, mean)
            before = mean
            self._draw_points(painter, mean, [level(score) for score in scores], number)
            self._draw_mean(painter, mean, group, scores, number)

    def _draw_points(
        self, painter: QPainter, mean: QPointF, levels: Sequence[float], number: int
    ) -> None:
        tone, radius = theme.qcolour(TONES[number % len(TONES)]), theme.px(8) / 2
        painter.setPen(QPen(tone, 2))
        wide = theme.px(18)
        painter.drawLine(mean - QPointF(wide, 0), mean + QPointF(wide, 0))
        for place, height in enumerate(levels):
            aside = (place - (len(levels) - 1) / 2) * theme.px(11)
            dot = QRectF(mean.x() + aside - radius, height - radius, 2 * radius, 2 * radius)
            painter.setPen(QPen(tone, 1.6))
            painter.setBrush(theme.qcolour("surface") if number else tone)
            painter.drawRect(dot) if number else painter.drawEllipse(dot)
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _draw_mean(
        self, painter: QPainter, mean: QPointF, group: Group, scores: Sequence[float], number: int
    ) -> None:
        text = formats.decimal(fmean(scores), self._decimals)
        if len(scores) < group.expected:
            text = _("{score}  n = {n}").format(score=text, n=len(scores))
        wide, high = theme.px(90), theme.px(16)
        away = theme.px(24) if number == 0 else -theme.px(10)
        painter.setPen(theme.qcolour(TONES[number % len(TONES)]))
        painter.setFont(theme.font("caption", 600))
        painter.drawText(
            QRectF(mean.x() - wide / 2, mean.y() - away, wide, high),
            Qt.AlignmentFlag.AlignCenter,
            text,
        )
        painter.setFont(theme.font("caption"))


def scale(low: float, high: float, unit: float = 1.0) -> tuple[float, float, float]:
    """(lowest, highest, step) of a scale around scores from 0 on, with at most eight steps.

    unit: the smallest step.
    """
    steps = (unit * 100**power * step for power in count() for step in STEPS)
    step = next(step for step in steps if (high - low) / step <= 6)
    bottom, top = math.floor(low / step) * step, math.ceil(high / step) * step
    if low - bottom < step / 4:
        bottom -= step
    if top - high < step / 4:
        top += step
    return max(0.0, bottom), top, step


class LegendMark(QWidget):
    """The marker of a series: a filled circle, or an open square."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._number = number
        self.setFixedSize(theme.px(12), theme.px(12))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        tone = theme.qcolour(TONES[self._number % len(TONES)])
        painter.setPen(QPen(tone, 1.6))
        painter.setBrush(theme.qcolour("surface") if self._number else tone)
        area = QRectF(self.rect()).adjusted(2, 2, -2, -2)
        painter.drawRect(area) if self._number else painter.drawEllipse(area)
