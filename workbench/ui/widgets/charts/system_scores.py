"""Scores of systems side by side: points are runs, short lines are means, joined per series."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from statistics import fmean

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.base.i18n import _
from workbench.text.scale import decimals_of
from workbench.ui.style import formats, theme
from workbench.ui.widgets.charts.axes import Axis
from workbench.ui.widgets.charts.frame import ChartFrame
from workbench.ui.widgets.charts.layers import ChartLayer, ChartLine, ChartText, Points
from workbench.ui.widgets.charts.legend import CIRCLE, SQUARE

TONES = ("accent", "warn")  # of the series; the second one is dashed, with squares
BELOW, ABOVE = 22, 12  # more room for names and values, pixels at 100%
VALUE = 24  # height of a value below its mark, pixels at 100%
STEPS = (1, 2, 5, 10, 20, 25, 50)  # between lines of the scale; then powers of ten of these


@dataclass(frozen=True)
class SystemScores:
    """One system: title, note below it, and the scores of each series as they are shown.

    expected: number of runs that each series will have.
    """

    title: str
    note: str
    series: tuple[tuple[float, ...], ...]
    expected: int = 0


class LadderChart(QWidget):
    """joined: lines join the means of a series, for systems that build upon each other."""

    def __init__(self, name: str, *, joined: bool = True) -> None:
        super().__init__()
        self._groups: tuple[SystemScores, ...] = ()
        self._decimals, self._joined = 1, joined
        self.frame = ChartFrame(Axis(), Axis(), self, baseline=False)
        self.frame.above, self.frame.below = ABOVE, BELOW
        self.setMinimumHeight(theme.px(200))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(name)

    def set_groups(self, groups: Sequence[SystemScores], *, decimals: int = 1) -> None:
        """decimals: of the scores: 1 of those in percent, more of errors in a unit of their own."""
        self._groups, self._decimals = tuple(groups), decimals
        message = []
        for group in self._groups:
            means = [formats.decimal(fmean(scores), decimals) for scores in group.series if scores]
            message += [f"{group.title}: {', '.join(means)}"] if means else []
        self.setAccessibleDescription("; ".join(message))
        self._draw()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.frame.setGeometry(self.rect())
        self._draw()

    def _draw(self) -> None:
        """Distances of points beside each other are pixels, so they depend on the width."""
        values = [score for group in self._groups for scores in group.series for score in scores]
        if not values:
            self.frame.show_layers(())
            return
        low, high, step = scale(min(values), max(values), 10.0 ** (1 - self._decimals))
        levels = [low + number * step for number in range(round((high - low) / step) + 1)]
        names = tuple((level, formats.decimal(level, decimals_of(step))) for level in levels)
        self.frame.set_axes(Axis(names=()), Axis(names=names))
        x, y = (0.0, float(len(self._groups))), (self._lowest(low, high), high)
        self.frame.show_layers((), x, y)
        pixel = x[1] / self.frame.area().width()
        series = range(max(len(group.series) for group in self._groups))
        layers = [layer for number in series for layer in self._series(number, pixel)]
        self.frame.show_layers([*self._names(y[0], pixel), *layers], x, y)

    def _lowest(self, low: float, high: float) -> float:
        """The end of the scale; lower where a value below its mark would cover a name."""
        means = [fmean(scores) for group in self._groups for scores in group.series[1:] if scores]
        share = min(0.5, theme.px(VALUE) / max(1.0, self.frame.area().height()))
        return min(low, (min(means, default=high) - share * high) / (1 - share))

    def _names(self, low: float, pixel: float) -> Iterator[ChartLayer]:
        for number, group in enumerate(self._groups):
            for text, weight, tone, line in (
                (group.title, 600, "text", -0.4),
                (group.note, 400, "muted", -1.5),
            ):
                metrics = QFontMetricsF(theme.font("caption", weight))
                elided = metrics.elidedText(text, Qt.TextElideMode.ElideRight, 1 / pixel - 4)
                yield ChartText(number + 0.5, low, elided, tone, weight, (0.5, line))

    def _series(self, number: int, pixel: float) -> Iterator[ChartLayer]:
        tone, marker = TONES[number % len(TONES)], SQUARE if number else CIRCLE
        shift = 0.0 if len(self._groups[0].series) < 2 else (number - 0.5) / 3
        means = [
            (place + 0.5 + shift, group, group.series[number])
            for place, group in enumerate(self._groups)
            if number < len(group.series) and group.series[number]
        ]
        x, y = [at for at, *_rest in means], [fmean(scores) for *_rest, scores in means]
        if self._joined:
            yield ChartLine(x, y, tone, 1.2, dashed=bool(number))
        for (at, group, scores), mean in zip(means, y, strict=True):
            wide = theme.px(18) * pixel
            yield ChartLine((at - wide, at + wide), (mean, mean), tone)
            aside = min(theme.px(11) * pixel, 0.8 / max(1, len(scores) * len(group.series)))
            places = [at + (n - (len(scores) - 1) / 2) * aside for n in range(len(scores))]
            yield Points(places, scores, tone, marker, theme.px(8), tone, 1.6, filled=not number)
            text = formats.decimal(mean, self._decimals)
            if len(scores) < group.expected:
                text = _("{score}  n = {n}", score=text, n=len(scores))
            yield ChartText(at, mean, text, tone, 600, (0.5, -0.65 if number else 1.55))


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
