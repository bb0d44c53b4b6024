"""A scroll area over pieces of text whose heights are computed step by step, without jumps."""

from __future__ import annotations

import time
from math import ceil

from PySide6.QtCore import QPointF, QRectF, QTimer
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from workbench.ui.widgets.text import caret
from workbench.ui.widgets.text.arc_layout import ArcIndex
from workbench.ui.widgets.text.offsets import DisplayText
from workbench.ui.widgets.text.piece import Measures
from workbench.ui.widgets.text.pieces import Pieces
from workbench.ui.widgets.text.span_layout import SpanIndex

LEFT, TOP = 5, 4  # inner margins
SLICE = 0.004  # seconds of work per event while heights are computed
PAUSE = 5  # milliseconds before more is measured
REST = 60  # milliseconds after a change: no key press of a fast series waits for a measurement
_SETTLE_LIMIT = 2_000_000  # maximum number of code points for which all heights are measured

Place = tuple[int, float]  # a character, and the distance of its line from the top of the viewport


class PiecesArea(QAbstractScrollArea):
    """Subclasses implement `_measures` and set `_text`, `_spans` and `_arcs`."""

    _pieces: Pieces
    _text: DisplayText
    _spans: SpanIndex
    _arcs: ArcIndex

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pinning = False
        self._held: tuple[int, Place] | None = None  # scroll value, and the position it was set for
        self._settling = QTimer(self)
        self._settling.setSingleShot(True)
        self._settling.setInterval(REST)
        self._settling.timeout.connect(self._settle)

    def _measures(self) -> Measures:
        raise NotImplementedError

    @property
    def pieces(self) -> Pieces:
        return self._pieces

    @property
    def left_margin(self) -> int:
        return LEFT

    @property
    def offset(self) -> int:
        """Add to a viewport y coordinate to get a text coordinate."""
        return self.verticalScrollBar().value() - TOP

    def content_height(self) -> int:
        """Height of the whole text in pixels; an estimate for long texts until measured."""
        if len(self._text) < 4000:
            while self._pieces.settle():
                pass
        return round(self._pieces.height + 2 * TOP)

    def height_of_lines(self, count: int) -> int:
        """Height of this many lines with their first lanes, in pixels; at most that of the text."""
        return min(self.content_height(), ceil(count * self._pieces.pitch) + 2 * TOP)

    def _new_pieces(self) -> None:
        self._pieces = Pieces(self._text, self._measures(), self._spans, arcs=self._arcs)
        self._settling.start()

    def _remeasure(self) -> None:
        """Shape again with other measures, keeping the line at the top."""
        place = self._place_now() if hasattr(self, "_pieces") else None
        self._new_pieces()
        if place:
            self._restore(place)
        self._after_change()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if abs(self._pieces.measures.width - max(60, self.viewport().width() - 2 * LEFT)) > 0.5:
            self._remeasure()
        else:
            self._after_change()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._settling.start()

    def _place_now(self) -> Place | None:
        """A character of the line at the top, and its distance from the top; None at the text's
        start.

        Without scrolling it is the same character, so that rounding errors do not accumulate.
        """
        bar = self.verticalScrollBar()
        if bar.value() <= TOP:
            return None
        if self._held and self._held[0] == bar.value():
            return self._held[1]
        index, line = self._pieces.line_at_y(
            bar.value() - TOP + 1
        )  # the scroll bar has integer values
        beyond = self._pieces.tops[index] + line.above - (bar.value() - TOP)
        least = -line.head - line.pitch
        return self._pieces.position(index, line.first), min(0.0, max(least, beyond))

    def _restore(self, place: Place | None) -> None:
        if place is None:
            return
        index, line = self._pieces.locate(place[0])
        self._pin(self._pieces.tops[index] + line.above - place[1] + TOP)
        self._held = self.verticalScrollBar().value(), place

    def _pin(self, value: float) -> None:
        """Set the scroll bar to the current position; nothing moves on the screen."""
        bar = self.verticalScrollBar()
        self._pinning = True
        bar.setPageStep(self.viewport().height())
        bar.setRange(0, max(0, round(self._pieces.height + 2 * TOP - self.viewport().height())))
        bar.setValue(round(value))
        self._pinning = False
        if bar.isVisible() and not bar.maximum():
            QTimer.singleShot(0, self, self._hide_bar)

    def _hide_bar(self) -> None:
        """Qt leaves a bar that is no longer needed if its range changes during a resize."""
        if not self.verticalScrollBar().maximum():
            self.setVerticalScrollBarPolicy(self.verticalScrollBarPolicy())

    def _prepare(self) -> None:
        """Shape the visible part.

        If heights differ from estimates, the scroll bar moves, not the text.
        """
        bar, height = self.verticalScrollBar(), self.viewport().height()
        at_end = bar.maximum() > 0 and bar.value() >= bar.maximum()
        for _again in range(4):
            value = self._from_end(height) if at_end else self._from_top(bar.value(), height)
            whole = self._pieces.height + 2 * TOP
            self._pin(min(value, max(0.0, whole - height)))
            if value <= whole - height + 0.5 or value <= 0:
                return
            at_end = True

    def _from_top(self, value: float, height: float) -> float:
        """Shape downwards from scroll position `value`; returns its new value."""
        pieces = self._pieces
        y = max(0.0, value - TOP)
        index = pieces.index_at_y(y)
        if not pieces.settled(index):
            index, line = pieces.line_at_y(y)
            if value > TOP:
                y = pieces.tops[index] + line.above
                value = y + TOP
        while index < len(pieces.pieces) and pieces.tops[index] < y + height:
            pieces.ensure(index)
            index += 1
        return value

    def _from_end(self, height: float) -> float:
        """Shape upwards from the end of the text; returns the last scroll position."""
        pieces = self._pieces
        index, _line = pieces.locate(len(pieces.text))
        for later in range(index, len(pieces.pieces)):
            pieces.ensure(later)
        while index > 0 and pieces.height - pieces.tops[index] < height:
            before = pieces.pieces[index]
            pieces.locate(pieces.text.legal(before.start - 1))
            index = pieces.index_at(before.start) if before.start else 0
            index = max(0, index - 1)
            pieces.ensure(index)
        return max(0.0, pieces.height + 2 * TOP - height)

    def _settle(self) -> None:
        """Measure more of the text between two events."""
        if not self.isVisible() or len(self._text) > _SETTLE_LIMIT:
            return
        place, before = self._place_now(), self._showing()
        end = time.perf_counter() + SLICE
        more = True
        while more and time.perf_counter() < end:
            more = self._pieces.settle()
        self._restore(place)
        if place is None:
            self._pin(self.verticalScrollBar().value())
        if self._showing() != before:
            self.viewport().update()
        if more:
            self._settling.start(PAUSE)

    def _frame(self) -> list[tuple[object, float]]:
        """The visible pieces, where they are in the viewport, and where the last one ends."""
        pieces, y = self._pieces, self.offset
        first = pieces.index_at_y(y)
        last = pieces.index_at_y(y + self.viewport().height())
        places: list[tuple[object, float]] = [
            (pieces.pieces[index], pieces.tops[index] - y) for index in range(first, last + 1)
        ]
        return [*places, (None, pieces.tops[last + 1] - y)]

    def _showing(self) -> tuple[list[int], float]:
        """Visible pieces and the offset of the first: equal if nothing changed on the screen."""
        pieces, y = self._pieces, self.verticalScrollBar().value() - TOP
        first = pieces.index_at_y(y)
        last = pieces.index_at_y(y + self.viewport().height())
        return [id(piece.lines) for piece in pieces.pieces[first : last + 1]], y - pieces.tops[
            first
        ]

    def _after_change(self, frame: object = None) -> None:
        """`frame`: what was visible; nothing is painted again if it has not moved."""
        self._pin(self.verticalScrollBar().value())
        if frame is None or frame != self._frame():
            self.viewport().update()
        if self.isVisible():
            self._settling.start(REST)

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        if not self._pinning:
            self.viewport().update()

    def show_range(self, start: int, end: int) -> None:
        """Scroll as little as possible to show a range, with priority for its start."""
        bar, height, frame = self.verticalScrollBar(), self.viewport().height(), self._frame()
        index, line = self._pieces.locate(end)
        bottom = self._pieces.tops[index] + line.top + line.pitch + 2 * TOP
        if end >= len(self._text):
            bottom = self._pieces.height + 2 * TOP
        index, line = self._pieces.locate(start)
        self._after_change(frame)
        top = self._pieces.tops[index] + line.above
        if top < bar.value():
            bar.setValue(int(top))
        elif bottom > bar.value() + height:
            bar.setValue(int(min(top, bottom - height) + 0.999))

    def rect_of(self, position: int) -> QRectF:
        """Rectangle of the character at a position, in viewport coordinates."""
        index, line, x = self._pieces.x_of(position)
        width = abs(self._pieces.x_of(min(position + 1, len(self._text)))[2] - x)
        return QRectF(
            LEFT + x,
            self._pieces.tops[index] + line.top - self.offset,
            max(2.0, width),
            line.height,
        )

    def lanes_below(self, position: int) -> float:
        """Height of the bars and captions below the line of a position, in pixels; 0 without."""
        _index, line, _x = self._pieces.x_of(position)
        return max(0.0, line.pitch - line.height - line.head) if line.items else 0.0

    @property
    def end_in_sight(self) -> float | None:
        """Where the last line ends with its captions, in viewport coordinates; None if that is
        below the viewport.
        """
        bottom = self._pieces.height - self.offset
        return bottom if bottom <= self.viewport().height() else None

    def position_at(self, point: QPointF) -> int:
        """The caret position nearest to a point of the viewport."""
        index, line = self._pieces.line_at_y(point.y() + self.offset)
        return caret.at_x(self._pieces, index, line, point.x() - LEFT)
