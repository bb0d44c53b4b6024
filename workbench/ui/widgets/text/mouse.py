"""Mouse input of a text view.

A drag or double-click selects words, a triple-click a sentence, a click a span. Alt selects by
character. A click on the selected span selects the one below it; with `view.boundaries_move`, a
drag of its start or end moves that boundary. With `view.connects`, a drag from the bar of a span to
another span connects both.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QGuiApplication, QHelpEvent, QMouseEvent
from PySide6.QtWidgets import QApplication

from workbench.base.i18n import _
from workbench.ui.style import escaping
from workbench.ui.widgets.text import caret as moves
from workbench.ui.widgets.text.arc_layout import TextArc
from workbench.ui.widgets.text.span_layout import GOLD, SpanSegment, TextSpan

if TYPE_CHECKING:
    from workbench.ui.widgets.text.view import TextView

Range = tuple[int, int]
_DRAG = 3  # minimum distance of a drag in pixels
_FASTEST = 60  # maximum scroll distance in pixels per event for a drag beyond the edge
_NEAR = 5  # distance in pixels within which a boundary of the selected span can be dragged


class Mouse:
    """State of the mouse over `view`. Points are viewport coordinates."""

    def __init__(self, view: TextView) -> None:
        self.view = view
        self._origin: Range | None = None  # position or words where a drag started
        self._pressed: QPointF | None = None
        self._double_at = 0.0
        self._from: TextSpan | None = None  # the span whose bar was pressed, to connect it
        self._to: QPointF | None = None  # where the mouse is while a span is connected
        self._boundary: tuple[TextSpan, bool] | None = (
            None  # the span whose boundary is dragged, and whether it is the end
        )

    def forget(self) -> None:
        self._origin = self._pressed = self._boundary = self._from = self._to = None

    def press(self, event: QMouseEvent) -> None:
        point = event.position()
        place = self.view.position_at(point)
        if self._is_third(point):
            self._choose(self.view.bounds.sentence_at(place))
            self._pressed = None
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._origin = (self.view.anchor, self.view.anchor)
            anchor = self.view.anchor
            self.view.select(anchor, self.view.held(anchor, anchor, place))
        else:
            self._pressed, self._origin = point, (place, place)
            self._boundary = self.boundary_at(point)
            self._from, self._to = self._on_bar(point), None
            self.view.select(place, place, show=False)

    def double(self, event: QMouseEvent) -> None:
        point = event.position()
        self._choose(self._word_under(point, self.view.position_at(point)))
        self._double_at, self._pressed = time.monotonic(), point

    def move(self, event: QMouseEvent) -> None:
        if self._origin is None or not event.buttons() & Qt.MouseButton.LeftButton:
            self._show_hold(event.position())
            return
        if (
            self._pressed is not None
            and (event.position() - self._pressed).manhattanLength() < _DRAG
        ):
            return
        if self._from is not None:
            self._to = event.position()
            self._scroll(event.position().y())
            self.view.viewport().update()
            return
        drag = self._drag_to if self._boundary is None else self._move_boundary
        drag(
            self.view.position_at(event.position()),
            bool(event.modifiers() & Qt.KeyboardModifier.AltModifier),
        )
        self._scroll(event.position().y())

    def cancel(self) -> bool:
        """Leave the span whose boundary is being dragged as it is; False if there is none."""
        if self._boundary is None or self._origin is None:
            return False
        span, _at_end = self._boundary
        self.forget()
        self.view.select(span.start, span.start, show=False)
        return True

    def release(self, event: QMouseEvent) -> None:
        view, boundary, self._origin, self._boundary = self.view, self._boundary, None, None
        if self._connect(event.position()):
            return
        if boundary is not None and view.selection:
            start, end = view.selection
            view.select(end, end, show=False)
            view.span_resized.emit(start, end)
            return
        if view.selection or event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            return
        under = [span.name for span in self.spans_at(event.position())]
        if (arc := view.arc_at(event.position())) is not None:
            view.span_clicked.emit(arc.name)
            return
        if view.chosen in under:
            at = under.index(view.chosen)
            under = under[at + 1 :] + under[: at + 1]
        if under or view.chosen is not None:
            view.span_clicked.emit(under[0] if under else None)

    # ------------------------------------------------------------ connecting spans

    def _on_bar(self, point: QPointF) -> TextSpan | None:
        """The gold span whose bar or caption is at a point, if spans can be connected."""
        if not self.view.connects:
            return None
        index, line = self.view.pieces.line_at_y(point.y() + self.view.offset)
        y = point.y() + self.view.offset - self.view.pieces.tops[index] - line.top
        if y <= line.height + 1:
            return None
        return next((span for span in self.spans_at(point) if span.kind == GOLD), None)

    @property
    def band(self) -> tuple[QPointF, QPointF] | None:
        """From the span that is being connected to the mouse."""
        if self._from is None or self._to is None:
            return None
        start, end = (self.view.rect_of(at) for at in (self._from.start, self._from.end))
        middle = (start.left() + end.left()) / 2 if start.top() == end.top() else start.center().x()
        return QPointF(middle, start.top()), self._to

    def _connect(self, point: QPointF) -> bool:
        """Whether the mouse was dragged from a span; emits `connected` if it is over another."""
        start, dragged, self._from, self._to = self._from, self._to is not None, None, None
        if start is None or not dragged:
            return False
        self.view.viewport().update()
        names = [span.name for span in self.spans_at(point) if span.kind == GOLD]
        if target := next((name for name in names if name != start.name), None):
            self.view.connected.emit(start.name, target)
        return True

    # ------------------------------------------------------------ selecting text

    def _choose(self, words: Range) -> None:
        self._origin = words
        if self.view.chosen is not None:
            self.view.span_clicked.emit(None)
        self.view.select(*words, snapped=True)

    def _is_third(self, point: QPointF) -> bool:
        near = (
            self._pressed is not None
            and (point - self._pressed).manhattanLength()
            < QGuiApplication.styleHints().startDragDistance()
        )
        return (
            near
            and (time.monotonic() - self._double_at) * 1000 < QApplication.doubleClickInterval()
        )

    def _drag_to(self, place: int, letters: bool) -> None:
        if self._origin is None:
            return
        start, end = self._origin
        low, high = min(start, place), max(end, place)
        if not letters:
            low, high = self.view.bounds.snap(low, high)
        low, high = (self.view.held(start, end, at) for at in (low, high))
        if low < high and self.view.chosen is not None:
            self.view.span_clicked.emit(None)
        if place < start:
            low, high = high, low  # the caret follows the mouse
        self.view.select(low, high, show=False, snapped=not letters)

    def _move_boundary(self, place: int, letters: bool) -> None:
        """Preview the resized span as selected text; it is never inverted."""
        if self._boundary is None:
            return
        span, at_end = self._boundary
        place = (
            max(place, moves.following(self.view.pieces, span.start))
            if at_end
            else min(place, moves.previous(self.view.pieces, span.end))
        )
        low, high = (span.start, place) if at_end else (place, span.end)
        if not letters:
            words = self.view.bounds.of(self.view.boundary_snap).snap(low, high)
            low, high = (low, words[1]) if at_end else (words[0], high)
        low, high = (self.view.held(span.start, span.end, at) for at in (low, high))
        self.view.select(low, high, show=False)

    def boundary_at(self, point: QPointF) -> tuple[TextSpan, bool] | None:
        """The selected span if the point is on its start or (True) its end."""
        view = self.view
        if not view.boundaries_move or view.chosen is None:
            return None
        _index, line = view.pieces.line_at_y(point.y() + view.offset)
        span = next(
            (
                item.span
                for item in line.items
                if item.span.name == view.chosen and item.span.kind == GOLD
            ),
            None,
        )
        if span is None:
            return None
        for place, at_end in ((span.end, True), (span.start, False)):
            there = view.rect_of(place)
            if (
                abs(point.x() - there.left()) <= _NEAR
                and there.top() <= point.y() <= there.bottom()
            ):
                return span, at_end
        return None

    def _show_hold(self, point: QPointF) -> None:
        if self.boundary_at(point):
            shape = Qt.CursorShape.SizeHorCursor
        elif self._on_bar(point) is not None:
            shape = Qt.CursorShape.PointingHandCursor
        else:
            shape = Qt.CursorShape.IBeamCursor
        if self.view.viewport().cursor().shape() != shape:
            self.view.viewport().setCursor(shape)

    def _word_under(self, point: QPointF, place: int) -> Range:
        """The word at a point. The nearest caret position may be the word's end."""
        pieces, bounds = self.view.pieces, self.view.bounds
        word = bounds.word_at(place)
        if place == 0 or word[0] != place:
            return word
        before = moves.previous(pieces, place)
        same_line = pieces.locate(before) == pieces.locate(place)
        if same_line:
            x = point.x() - self.view.left_margin
            here, there = pieces.x_of(place)[2], pieces.x_of(before)[2]
            if (
                min(here, there) <= x < max(here, there)
                and not self.view.text.shown[before].isspace()
            ):
                return bounds.word_at(before)
        return word

    def _scroll(self, y: float) -> None:
        bar, height = self.view.verticalScrollBar(), self.view.viewport().height()
        beyond = min(0.0, y) or max(0.0, y - height)
        if beyond:
            bar.setValue(bar.value() + max(-_FASTEST, min(_FASTEST, int(beyond))))

    # ------------------------------------------------------------ spans under the mouse

    def spans_at(self, point: QPointF) -> list[TextSpan]:
        """The span of the bar or caption at a point; over text, all its spans, innermost first."""
        view = self.view
        y = point.y() + view.offset
        index, line = view.pieces.line_at_y(y)
        y -= view.pieces.tops[index] + line.top
        x = point.x() - view.left_margin
        if y > line.height + 1:
            lane = int((y - line.height - 1) // view.pieces.measures.lane)
            return [item.span for item in line.items if item.lane == lane and _on_bar(item, x)]
        if y < -1 and line.arcs:
            return []
        spans = [
            item.span
            for item in line.items
            if any(left - 1 <= x <= right + 1 for left, right in item.runs)
        ]
        return sorted(spans, key=lambda span: (span.end - span.start, span.kind, span.start))

    def tell(self, event: QHelpEvent) -> None:
        """Show the full names of the spans under the mouse, as captions may be elided."""
        point = QPointF(event.pos())
        names = [span.caption for span in self.spans_at(point)]
        if (arc := self.view.arc_at(point)) is not None:
            names = [self._describe(arc)]
        escaping.show_tip(event.globalPos(), "\n".join(names), self.view.viewport())

    def _describe(self, arc: TextArc) -> str:
        """ "label: from → to" in full, as labels may be elided and ends out of sight."""
        ends = [" ".join(self.view.text.text[a : min(b, a + 80)].split()) for a, b in arc[:2]]
        message = (
            _("{label}: {first} → {second}") if arc.directed else _("{label}: {first} – {second}")
        )
        return message.format(label=arc.label, first=ends[0], second=ends[1])


def _on_bar(item: SpanSegment, x: float) -> bool:
    if any(left - 2 <= x <= right + 2 for left, right in item.runs):
        return True
    left, right = item.caption_box
    return item.first and left <= x <= right
