"""The units of an input in lines, with the target below each unit that a loss is taken at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QHelpEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.base.i18n import _
from workbench.ui.style import escaping, theme

GAP, LINE_GAP, PAD = 5, 9, 5  # pixels
MASKED, RANDOM, KEPT = "masked", "random", "kept"  # what was done to a unit
MARKS = {MASKED: _("M"), RANDOM: _("R"), KEPT: _("K")}
TOLD = {MASKED: _("masked"), RANDOM: _("replaced by a random token"), KEPT: _("kept")}
_MIDDLE = Qt.AlignmentFlag.AlignCenter


@dataclass(frozen=True)
class Unit:
    """text: what the model gets. target: what is predicted there, None without a loss.

    what: a key of MARKS, or "".
    """

    text: str
    target: str | None = None
    what: str = ""

    def words(self) -> str:
        """The text for tooltips and screen readers."""
        if self.target is None:
            return self.text
        message = _("{input} → {target} ({what})") if self.what else _("{input} → {target}")
        return message.format(input=self.text, target=self.target, what=TOLD.get(self.what, ""))


class UnitFlow(QWidget):
    """Wraps at its width. Predicted units have an outline: dashed if masked, thick if replaced.

    Spans (start, end) have a line above them.
    """

    def __init__(self, name: str, units: Sequence[Unit], spans: Sequence[tuple[int, int]] = ()):
        super().__init__()
        self._units = tuple(units)
        self._inside = {at for start, end in spans for at in range(start, end)}
        self._ends = {end - 1 for _start, end in spans}
        self._areas: list[QRectF] = []  # of the box of each unit
        self.setAccessibleName(name)
        self.setAccessibleDescription(" ".join(unit.words() for unit in units)[:4000])
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        drop = theme.changed.connect(self._place)
        self.destroyed.connect(lambda *_gone: drop())

    def sizeHint(self) -> QSize:
        return QSize(400, self._height())

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self._height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._place()

    def _place(self) -> None:
        box = QFontMetricsF(theme.font("small"))
        below = QFontMetricsF(theme.font("caption"))
        tall, line = theme.px(22), theme.px(22) + theme.px(16) + LINE_GAP
        x, y, width, areas = 0.0, 4.0, max(self.width(), 120), []
        for unit in self._units:
            wide = max(
                box.horizontalAdvance(unit.text),
                below.horizontalAdvance(self._below(unit)) if unit.target is not None else 0,
            )
            wide = min(wide + 2 * PAD, width)
            if x and x + wide > width:
                x, y = 0.0, y + line
            areas.append(QRectF(x, y, wide, tall))
            x += wide + GAP
        self._areas = areas
        self.setFixedHeight(self._height())
        self.update()

    def _height(self) -> int:
        return int(self._areas[-1].bottom() + theme.px(16) + 4) if self._areas else theme.px(24)

    def _below(self, unit: Unit) -> str:
        return f"{MARKS[unit.what]} {unit.target}" if unit.what in MARKS else str(unit.target)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for at, (unit, area) in enumerate(zip(self._units, self._areas, strict=False)):
            if area.bottom() + 20 >= event.rect().top() and area.top() - 4 <= event.rect().bottom():
                self._paint(painter, at, unit, area)

    def _paint(self, painter: QPainter, at: int, unit: Unit, area: QRectF) -> None:
        painter.setFont(theme.font("small"))
        if unit.target is not None:
            style = Qt.PenStyle.DashLine if unit.what == MASKED else Qt.PenStyle.SolidLine
            wide = 2 if unit.what == RANDOM else 1
            painter.setPen(QPen(theme.qcolour("accent"), wide, style))
            painter.setBrush(theme.qcolour("accent_soft"))
            painter.drawRoundedRect(area.adjusted(1, 1, -1, -1), 4, 4)
        painter.setPen(theme.qcolour("text" if unit.target is not None else "muted"))
        painter.drawText(area, _MIDDLE, unit.text)
        if at in self._inside:
            painter.setPen(QPen(theme.qcolour("good"), 2))
            end = area.right() + (0 if at in self._ends else GAP)
            painter.drawLine(QPointF(area.left(), area.top() - 2), QPointF(end, area.top() - 2))
        if unit.target is not None:
            painter.setFont(theme.font("caption"))
            painter.setPen(theme.qcolour("accent"))
            below = QRectF(area.left(), area.bottom(), area.width(), theme.px(16))
            painter.drawText(below, _MIDDLE, self._below(unit))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip:
            place = QPointF(cast(QHelpEvent, event).pos())
            pairs = zip(self._units, self._areas, strict=False)
            text = next((unit.words() for unit, area in pairs if area.contains(place)), "")
            escaping.show_tip(cast(QHelpEvent, event).globalPos(), text, self)
            return True
        return super().event(event)
