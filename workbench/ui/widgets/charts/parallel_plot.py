"""Parallel coordinates: one vertical axis per quantity, one line per row, kept by dragging."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPainterPathStroker,
    QPen,
)

from workbench.base.i18n import _
from workbench.ui.style import escaping, theme
from workbench.ui.widgets.charts.plot import LEFT, RIGHT, Plot

BEST, DONE, STOPPED = "best", "done", "stopped"  # what a line stands for
TITLE, FOOT, SIDE = 30, 12, 46  # room above, below and beside the axes, pixels at 100%
HIT, GRIP = 9, 14  # pixels around a line, and around an axis, in which the mouse meets it
STEP = 0.1  # of an axis, by which a key moves an end of the part that is kept
NEAR_TOP = 0.9  # place from which a text is written below its point
FAINT = 0.14  # opacity of lines that are filtered out


@dataclass(frozen=True)
class ParallelAxis:
    """ticks: (place from 0, below, to 1, text)."""

    title: str
    ticks: tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class ParallelLine:
    """places: on each axis, from 0 to 1, None where the row has no value. kind: of BEST, DONE and
    STOPPED. strength: of the colour, from 0 to 1. text: beside the last place. values: of the saved
    table.
    """

    key: Hashable
    places: tuple[float | None, ...]
    tip: str
    kind: str = DONE
    strength: float = 1.0
    text: str = ""
    values: tuple[object, ...] = ()


class ParallelPlot(Plot):
    """Lines over axes. Dragging along an axis keeps the lines that pass there; Esc shows all again.

    ↑↓ choose a line and Enter opens it; ←→ choose an axis, Shift+↑ and Shift+↓ raise the lower and
    lower the upper end of the part of it that is kept.

    `picked(key)`: another line was chosen. `filtered()`: other lines are kept.
    """

    picked = Signal(object)
    filtered = Signal()

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.axes: tuple[ParallelAxis, ...] = ()
        self.lines: tuple[ParallelLine, ...] = ()
        self._head: tuple[str, ...] = ()
        self._kept: dict[int, tuple[float, float]] = {}
        self._axis = -1  # chosen by keys
        self._drag: tuple[int, float] | None = None
        self.setMinimumHeight(theme.px(200))

    def show_lines(
        self, axes: Sequence[ParallelAxis], lines: Sequence[ParallelLine], head: Sequence[str]
    ) -> None:
        """Replace everything; the chosen line and the kept parts stay where possible."""
        key = self.chosen_key
        if [axis.title for axis in axes] != [axis.title for axis in self.axes]:
            self._kept, self._axis = {}, -1
        self.axes, self.lines, self._head = tuple(axes), tuple(lines), tuple(head)
        self._chosen = self._number(key)
        self.renew()

    # ---------------------------------------------------------------- what is kept and chosen

    @property
    def chosen_key(self) -> Hashable | None:
        return self.lines[self._chosen].key if 0 <= self._chosen < len(self.lines) else None

    def choose_key(self, key: Hashable | None) -> None:
        """Mark a line; emits nothing."""
        number = self._number(key)
        if number != self._chosen:
            self._chosen = number
            self.setAccessibleDescription(self.tip(number) if number >= 0 else "")
            self.update()

    def _number(self, key: Hashable | None) -> int:
        return next((n for n, line in enumerate(self.lines) if line.key == key), -1)

    @property
    def is_filtered(self) -> bool:
        return bool(self._kept)

    @property
    def kept_keys(self) -> frozenset[Hashable]:
        """Of the lines that pass through every part that is kept."""
        return frozenset(line.key for line in self.lines if self._is_kept(line))

    def _is_kept(self, line: ParallelLine) -> bool:
        for axis, (low, high) in self._kept.items():
            place = line.places[axis]
            if place is None or not low - 1e-9 <= place <= high + 1e-9:
                return False
        return True

    def keep(self, axis: int, low: float, high: float) -> None:
        """Keep the lines that pass an axis between two places."""
        low, high = sorted((max(0.0, min(1.0, low)), max(0.0, min(1.0, high))))
        self._kept[axis] = low, high
        self.update()
        self.filtered.emit()

    def clear(self) -> None:
        """Keep all lines."""
        if self._kept:
            self._kept = {}
            self.update()
            self.filtered.emit()

    # ---------------------------------------------------------------- places

    def count(self) -> int:
        return len(self.lines)

    def tip(self, number: int) -> str:
        return self.lines[number].tip

    def place(self, number: int, area: QRectF) -> QRectF:
        """Around the last place of a line, to scroll to."""
        points = self._points(self.lines[number], area)
        at = points[-1] if points else area.center()
        return QRectF(at.x() - 6, at.y() - 6, 12, 12)

    def _x(self, axis: int, area: QRectF) -> float:
        side, gaps = theme.px(SIDE), max(1, len(self.axes) - 1)
        return area.left() + side + (area.width() - 2 * side) * axis / gaps

    def _ends(self, area: QRectF) -> tuple[float, float]:
        """y of place 0 and of place 1."""
        return area.bottom() - theme.px(FOOT), area.top() + theme.px(TITLE)

    def _y(self, place: float, area: QRectF) -> float:
        low, high = self._ends(area)
        return low + (high - low) * place

    def _place_at(self, y: float, area: QRectF) -> float:
        low, high = self._ends(area)
        return (y - low) / (high - low)

    def _points(self, line: ParallelLine, area: QRectF) -> list[QPointF]:
        return [
            QPointF(self._x(axis, area), self._y(place, area))
            for axis, place in enumerate(line.places)
            if place is not None
        ]

    def _path(self, line: ParallelLine, area: QRectF) -> QPainterPath:
        points = self._points(line, area)
        path = QPainterPath()
        for number, point in enumerate(points):
            if not number:
                path.moveTo(point)
                continue
            before = points[number - 1]
            middle = (before.x() + point.x()) / 2
            path.cubicTo(QPointF(middle, before.y()), QPointF(middle, point.y()), point)
        return path

    # ---------------------------------------------------------------- drawing

    def _ordered(self) -> Iterator[ParallelLine]:
        """Those above others last."""
        chosen = self.chosen_key
        rank = {STOPPED: 0, DONE: 1, BEST: 2}
        yield from sorted(
            self.lines,
            key=lambda line: (
                self._is_kept(line),
                line.key == chosen,
                rank[line.kind],
                line.strength,
            ),
        )

    def draw(self, painter: QPainter, area: QRectF) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for line in self._ordered():
            self._draw_line(painter, line, area)
        for number, axis in enumerate(self.axes):
            self._draw_axis(painter, number, axis, area)
        self._draw_ends(painter, area)

    def _draw_line(self, painter: QPainter, line: ParallelLine, area: QRectF) -> None:
        is_chosen = line.key == self.chosen_key
        colour = theme.qcolour("muted" if line.kind == STOPPED else "accent")
        colour.setAlphaF(0.25 + 0.65 * line.strength if line.kind == DONE else 0.9)
        if not self._is_kept(line):
            colour.setAlphaF(FAINT)
        width = 3.0 if line.kind == BEST or is_chosen else 1.4
        style = Qt.PenStyle.DashLine if line.kind == STOPPED else Qt.PenStyle.SolidLine
        path = self._path(line, area)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if is_chosen:
            painter.setPen(QPen(theme.qcolour("accent_soft"), 8))
            painter.drawPath(path)
            colour = theme.qcolour("accent" if line.kind != STOPPED else "text")
        painter.setPen(QPen(colour, width, style))
        painter.drawPath(path)

    def _draw_axis(self, painter: QPainter, number: int, axis: ParallelAxis, area: QRectF) -> None:
        x, (low, high) = self._x(number, area), self._ends(area)
        tone = "accent" if self.hasFocus() and number == self._axis else "strong_line"
        painter.setPen(QPen(theme.qcolour(tone), 2 if tone == "accent" else 1))
        painter.drawLine(QPointF(x, low), QPointF(x, high))
        if number in self._kept:
            ends = [self._y(place, area) for place in self._kept[number]]
            band = QRectF(x - 5, ends[1], 10, max(3.0, ends[0] - ends[1]))
            painter.setPen(QPen(theme.qcolour("accent"), 1))
            painter.setBrush(theme.qcolour("accent", 0.25))
            painter.drawRoundedRect(band, 3, 3)
        painter.setFont(theme.font("caption"))
        metrics = QFontMetricsF(painter.font())
        for place, text in axis.ticks:
            y = self._y(place, area)
            painter.setPen(QPen(theme.qcolour("strong_line"), 1))
            painter.drawLine(QPointF(x - 3, y), QPointF(x + 3, y))
            box = QRectF(
                x + 6,
                y - metrics.height() / 2,
                metrics.horizontalAdvance(text) + 4,
                metrics.height(),
            )
            painter.fillRect(box, theme.qcolour("surface", 0.82))
            painter.setPen(theme.qcolour("muted"))
            painter.drawText(box, LEFT, text)
        self._draw_title(painter, axis.title, x, area)

    def _draw_title(self, painter: QPainter, title: str, x: float, area: QRectF) -> None:
        painter.setFont(theme.font("caption", 600))
        gaps = max(1, len(self.axes) - 1)
        room = min(2 * theme.px(SIDE) + 40, (area.width() - 2 * theme.px(SIDE)) / gaps) - 8
        text = QFontMetricsF(painter.font()).elidedText(title, Qt.TextElideMode.ElideRight, room)
        box = QRectF(x - room / 2, area.top(), room, theme.px(TITLE) - 10)
        if box.left() < area.left():
            box.moveLeft(area.left())
        if box.right() > area.right():
            box.moveRight(area.right())
        painter.setPen(theme.qcolour("text"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def _draw_ends(self, painter: QPainter, area: QRectF) -> None:
        """The point and the text at the end of the lines that have one."""
        painter.setFont(theme.font("small", 600))
        for line in self.lines:
            points = self._points(line, area)
            if not line.text or not points or line.places[-1] is None:
                continue
            at = points[-1]
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.qcolour("accent"))
            painter.drawEllipse(at, 4.5, 4.5)
            painter.setPen(theme.qcolour("accent"))
            wide = QFontMetricsF(painter.font()).horizontalAdvance(line.text)
            above = -20 if line.places[-1] < NEAR_TOP else 4  # not over the title
            box = QRectF(at.x() - wide - 10, at.y() + above, wide + 4, 18)
            painter.drawText(box, RIGHT, line.text)

    def paint_chosen(self, painter: QPainter) -> None:
        """The chosen line is thick; it needs no frame."""

    # ---------------------------------------------------------------- mouse and keys

    def _axis_at(self, point: QPointF) -> int:
        area = QRectF(self.rect())
        near = [n for n in range(len(self.axes)) if abs(self._x(n, area) - point.x()) <= GRIP]
        return near[0] if near else -1

    def _at(self, point: QPointF) -> int:
        """The line at a point, of several the uppermost."""
        area, stroker = QRectF(self.rect()), QPainterPathStroker()
        stroker.setWidth(HIT)
        for line in reversed(list(self._ordered())):
            if self._is_kept(line) and stroker.createStroke(self._path(line, area)).contains(point):
                return self._number(line.key)
        return -1

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        axis = self._axis_at(event.position())
        if axis >= 0:
            self._drag = axis, self._place_at(event.position().y(), QRectF(self.rect()))
        elif (number := self._at(event.position())) >= 0:
            self.choose(number)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._drag is not None:
            axis, start = self._drag
            here = self._place_at(event.position().y(), QRectF(self.rect()))
            if abs(here - start) > 0.015:
                self.keep(axis, start, here)
            return
        if self._axis_at(event.position()) >= 0:
            self.setCursor(Qt.CursorShape.SizeVerCursor)
            text = _("Drag to keep the lines that pass here; Esc shows all again")
            escaping.show_tip(event.globalPosition().toPoint(), text, self)
            return
        super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click on an axis, without dragging, keeps all of it again."""
        if self._drag is not None:
            axis, start = self._drag
            self._drag = None
            here = self._place_at(event.position().y(), QRectF(self.rect()))
            if abs(here - start) <= 0.015 and self._kept.pop(axis, None) is not None:
                self.update()
                self.filtered.emit()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self._axis_at(event.position()) < 0 and self._at(event.position()) >= 0:
            self.opened.emit(self._chosen)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, is_shifted = Qt.Key(event.key()), event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        if key == Qt.Key.Key_Escape and self._kept:
            self.clear()
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right) and self.axes:
            step = 1 if key == Qt.Key.Key_Right else -1
            self._axis = min(max(self._axis + step, 0), len(self.axes) - 1)
            self._tell_axis()
        elif is_shifted and self._axis >= 0 and key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            low, high = self._kept.get(self._axis, (0.0, 1.0))
            ends = (
                (min(low + STEP, high), high)
                if key == Qt.Key.Key_Up
                else (low, max(high - STEP, low))
            )
            self.keep(self._axis, *ends)
            self._tell_axis()
        else:
            super().keyPressEvent(event)

    def step(self, number: int, key: Qt.Key) -> int:
        """The next line that is kept."""
        on = key in (Qt.Key.Key_Down, Qt.Key.Key_Right)
        numbers = [n for n, line in enumerate(self.lines) if self._is_kept(line)]
        others = [n for n in numbers if (n > number if on else n < number)]
        return (others[0] if on else others[-1]) if others else number

    def choose(self, number: int) -> None:
        super().choose(number)
        self.picked.emit(self.chosen_key)

    def _tell_axis(self) -> None:
        self.setAccessibleDescription(
            _(
                "{axis}: lines kept {n}, of {total}",
                axis=self.axes[self._axis].title,
                n=len(self.kept_keys),
                total=len(self.lines),
            )
        )
        self.update()

    # ---------------------------------------------------------------- saving

    def sizeHint(self) -> QSize:
        return QSize(theme.px(620), theme.px(270))

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.px(360), theme.px(200))

    def numbers(self) -> Sequence[Sequence[object]]:
        return [self._head, *(line.values for line in self.lines)]
