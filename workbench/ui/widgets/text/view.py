"""A read-only text view: text with its spans, a caret and a selection."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import cast

from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QGuiApplication,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QWidget

from workbench.base.i18n import _
from workbench.text.queries.find import TextMatches
from workbench.text.snap import WORD
from workbench.ui.style import theme
from workbench.ui.widgets.focus_ring import FocusRing
from workbench.ui.widgets.text import accessibility, keys
from workbench.ui.widgets.text.arc_layout import ArcIndex, TextArc, starts
from workbench.ui.widgets.text.arc_painter import rubber_band
from workbench.ui.widgets.text.bounds import Bounds
from workbench.ui.widgets.text.mouse import Mouse
from workbench.ui.widgets.text.offsets import DisplayText
from workbench.ui.widgets.text.piece import Measures
from workbench.ui.widgets.text.repaint import RepaintArea
from workbench.ui.widgets.text.scroll import LEFT, Place
from workbench.ui.widgets.text.span_layout import SpanIndex, TextSpan, compared
from workbench.ui.widgets.text.span_painter import Marked, SpanPainter, reading_font

ZOOMS = (50, 60, 75, 90, 100, 110, 125, 150, 175, 200, 250, 300)  # percent

Range = tuple[int, int]


class TextView(RepaintArea):
    """Positions are code points of the stored text, ranges half-open.

    `caret_moved()`: caret or selection changed. `span_clicked(name or None)`: the user clicked a
    span (or none). `span_resized(start, end)`: the user drags a boundary of the selected span
    there. `released()`: a mouse button, after what it did.
    `zoomed(percent)`. `connected(name, name)`: the user dragged a span to another one.
    """

    caret_moved = Signal()
    span_clicked = Signal(object)
    span_resized = Signal(int, int)
    zoomed = Signal(int)
    connected = Signal(object, object)
    released = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        accessibility.install(TextView)
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setObjectName("reading")
        self.setAccessibleName(_("Text"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.ring = FocusRing(self)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMaximumWidth(theme.READING_WIDTH)
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.viewport().setMouseTracking(True)
        self.viewport().setAutoFillBackground(False)
        self.word_steps = True  # Ctrl+arrow moves by word; a page may use those keys itself
        self.boundaries_move = False  # whether dragging moves the boundaries of the selected span
        self.connects = False  # whether dragging the bar of a span to another one connects both
        self._text, self._spans = DisplayText(""), SpanIndex()
        self._arcs = ArcIndex()
        self._shown_arcs: dict[int, TextArc] = {}
        self._shown: dict[int, TextSpan] = {}
        self._named: dict[tuple[str, int], TextSpan] = {}
        self._hint: tuple[Bounds, int, Range | None] | None = None  # the word at the caret
        self._bounds = Bounds(self._text)
        self._snapped = False  # whether the selection snapped to words or other units
        self.boundary_snap = WORD  # to what the boundaries of the selected span snap
        self._zoom, self._lanes = 100, 1
        self._caret = self._anchor = 0
        self._goal_x: float | None = None
        self._chosen: tuple[str, int] | None = None
        self._linked: tuple[str, int] | None = None
        self._found: TextMatches | None = None
        self._lit: Range | None = None
        self._limits: Callable[[int, int], Range | None] | None = None
        self._mouse = Mouse(self)
        self._drop_theme = theme.changed.connect(self._on_theme)
        self.destroyed.connect(lambda *_gone, drop=self._drop_theme: drop())
        self.verticalScrollBar().setSingleStep(24)
        self._restyle()

    # ------------------------------------------------------------ contents

    def set_text(self, text: str, tokens: Sequence[Range] = ()) -> None:
        """Set the text, from its start, without spans.

        `tokens`: token offsets of an import, which are then the words.
        """
        self._text, self._spans, self._shown, self._named = DisplayText(text), SpanIndex(), {}, {}
        self._arcs, self._shown_arcs = ArcIndex(), {}
        self._bounds = Bounds(self._text, tokens, snaps_to=self._bounds.snaps_to)
        self._caret = self._anchor = 0
        self._goal_x = self._chosen = self._held = self._found = None
        self._mouse.forget()
        self._new_pieces()
        self.verticalScrollBar().setValue(0)
        self._after_change()
        self.caret_moved.emit()

    def set_spans(self, spans: Iterable[TextSpan]) -> None:
        """Set the spans; only lines with a changed one are placed again."""
        self._shown, gone, come = compared(self._shown, spans)
        self._exchange(gone, come)

    def exchange_spans(self, gone: Sequence[TextSpan], come: Sequence[TextSpan]) -> None:
        """As `set_spans` without the objects in `gone`, which are shown, and with those in `come`.

        The time does not depend on the number of all spans.
        """
        for span in gone:
            del self._shown[id(span)]
        self._shown.update((id(span), span) for span in come)
        self._exchange(set(gone) - set(come), set(come) - set(gone))

    def _exchange(self, gone: set[TextSpan], come: set[TextSpan]) -> None:
        if gone or come:
            place = self._place_now()
            self._spans.exchange(gone, come)
            for span in gone:
                self._named.pop(span.name, None)
            self._named.update((span.name, span) for span in come)
            self._respan([(span.start, span.end) for span in gone | come], place)

    def set_arcs(self, arcs: Iterable[TextArc]) -> None:
        """Set the relations; only lines with a changed one are placed again."""
        self._shown_arcs, gone, come = compared(self._shown_arcs, arcs)
        if gone or come:
            place = self._place_now()
            self._arcs.exchange(gone, come)
            self._respan([(at, at) for arc in gone | come for at in starts(arc)], place)

    def _respan(self, changed: list[Range], place: Place | None) -> None:
        """Only the changed lines are painted again, unless others have moved."""
        frame, before = self._frame(), self._lines_shown()
        self._pieces.respan(self._spans, changed)
        self._restore(place)
        if self.isVisible():
            self._prepare()
            self._paint_other_lines(before)
        self._after_change(frame)

    def set_lanes(self, least: int) -> None:
        """Number of lanes reserved on every line: 1 if spans are being labelled, else 0."""
        if least != self._lanes:
            self._lanes = least
            self._remeasure()

    @property
    def spans(self) -> list[TextSpan]:
        return self._spans.spans

    @property
    def text(self) -> DisplayText:
        return self._text

    @property
    def bounds(self) -> Bounds:
        return self._bounds

    # ------------------------------------------------------------ caret, selection, selected span

    @property
    def caret(self) -> int:
        return self._caret

    @property
    def selection(self) -> Range | None:
        return (
            (min(self._caret, self._anchor), max(self._caret, self._anchor))
            if self._caret != self._anchor
            else None
        )

    @property
    def target(self) -> Range | None:
        """What a label key would mark: the selection without space at its ends, else the word at
        the caret.
        """
        if self.selection:
            start, end = self.selection
            chosen = self._text.text[start:end]
            start, end = (
                start + len(chosen) - len(chosen.lstrip()),
                end - len(chosen) + len(chosen.rstrip()),
            )
            return (start, end) if start < end else self.selection
        start, end = self._bounds.word_at(self._caret)
        return (start, end) if start < end else None

    def set_snap(self, snap: str) -> None:
        """To what selections with the mouse snap, one of `text.snap.SNAPS`."""
        self._bounds = self._bounds.of(snap)

    def target_in(self, snap: str) -> Range | None:
        """As `target`, for a layer whose spans snap to something else."""
        target, bounds = self.target, self._bounds.of(snap)
        if target is None or (self.selection and not self._snapped):
            return target
        start, end = bounds.snap(*target) if self.selection else bounds.word_at(self._caret)
        return self.held(*target, start), self.held(*target, end)

    def select(self, start: int, end: int, *, show: bool = True, snapped: bool = False) -> None:
        """Select text; the caret is at `end`. Equal ends only move the caret.

        `snapped`: it was extended to what spans snap to.
        """
        self._snapped = snapped
        start, end = self._text.legal(start), self._text.legal(end)
        if (start, end) == (self._anchor, self._caret):
            return
        self._anchor, self._caret = start, end
        self._goal_x = None
        if show:
            self.show_range(end, end)
        self._paint_marks()
        accessibility.tell_caret(self)
        self.caret_moved.emit()

    @property
    def has_chosen(self) -> bool:
        """Whether there is a selection to copy."""
        return self.selection is not None

    @property
    def can_select_all(self) -> bool:
        return self.selection != (0, len(self._text)) and len(self._text) > 0

    def chosen_text(self) -> str:
        """The stored text of the selection."""
        start, end = self.selection or (0, 0)
        return self._text.text[start:end]

    def copy_chosen(self) -> None:
        if self.has_chosen:
            QGuiApplication.clipboard().setText(self.chosen_text())

    def selectAll(self) -> None:
        self.select(0, len(self._text), show=False)

    def choose(self, name: tuple[str, int] | None, *, show: bool = False) -> None:
        """Outline a span; with `show`, scroll to it and move the caret to its start."""
        if name == self._chosen and not show:
            return
        self._chosen = name
        range_ = self._range_of(name) if show and name is not None else None
        if range_:
            self.select(range_[0], range_[0], show=False)
            self.show_range(*range_)
        self._paint_marks()

    def _range_of(self, name: tuple[str, int]) -> Range | None:
        span = self._named.get(name)
        return (span.start, span.end) if span is not None else None

    def set_linked(self, name: tuple[str, int] | None) -> None:
        """Mark the span from which a relation is being made."""
        if name != self._linked:
            self._linked = name
            self._paint_marks()

    def set_found(self, matches: TextMatches | None) -> None:
        """Set the matches of a search; None for no search."""
        if matches is not self._found:
            self._found = matches
            self.viewport().update()

    @property
    def chosen(self) -> tuple[str, int] | None:
        return self._chosen

    def set_lit(self, lit: Range | None) -> None:
        """Dim the text outside of this range; None: nothing."""
        if lit != self._lit:
            self._lit = lit
            self.viewport().update()

    def hold_in(self, limits: Callable[[int, int], Range | None] | None) -> None:
        """Keep selections in `limits(start, end)` of where they begin; None there: anywhere."""
        self._limits = limits

    def held(self, start: int, end: int, place: int) -> int:
        """The position nearest to `place` to which a selection at [start, end) may extend."""
        limits = self._limits(start, end) if self._limits is not None else None
        return place if limits is None else min(max(place, limits[0]), limits[1])

    # ------------------------------------------------------------ zoom, theme, size

    @property
    def zoom(self) -> int:
        return self._zoom

    def set_zoom(self, per_cent: int) -> None:
        per_cent = min(max(per_cent, ZOOMS[0]), ZOOMS[-1])
        if per_cent != self._zoom:
            self._zoom = per_cent
            self._restyle()
            self.zoomed.emit(per_cent)

    def zoom_by(self, step: int) -> None:
        """The next larger (+1) or smaller (-1) zoom; 0 gives 100%."""
        if step == 0:
            return self.set_zoom(100)
        others = [zoom for zoom in ZOOMS if (zoom > self._zoom if step > 0 else zoom < self._zoom)]
        if others:
            self.set_zoom(others[0] if step > 0 else others[-1])

    def _restyle(self) -> None:
        self._painter = SpanPainter(self._zoom / 100)
        self.setMaximumWidth(max(theme.READING_WIDTH, theme.px(theme.READING_WIDTH)))
        self._remeasure()

    def _on_theme(self) -> None:
        self._restyle()

    def _measures(self) -> Measures:
        zoom = self._zoom / 100
        return Measures(
            font=reading_font(zoom),
            width=float(max(60, self.viewport().width() - 2 * LEFT)),
            lane=self._painter.lane(),
            lead=round(6 * self._painter.zoom),
            paragraph=round(8 * zoom),
            least_lanes=self._lanes,
            level=self._painter.arcs.level(),
        )

    # ------------------------------------------------------------ painting

    def _marked(self) -> Marked:
        focus = self.hasFocus()
        hinted = focus and self._chosen is None and not self.selection and self._lanes
        hint = self._word_hint() if hinted else None
        caret = self._caret if focus else None
        marked = Marked(self.selection, self._chosen, hint, caret, self._found, self._linked)
        marked.lit = self._lit
        return marked

    def _word_hint(self) -> Range | None:
        if self._hint is None or self._hint[:2] != (self._bounds, self._caret):
            self._hint = self._bounds, self._caret, self.target
        return self._hint[2]

    def _paint_over(self, painter: QPainter) -> None:
        if (band := self._mouse.band) is not None:
            rubber_band(painter, *band)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    # ------------------------------------------------------------ mouse and keys

    def cancel_drag(self) -> bool:
        """Cancel the drag of a boundary; False if there is none."""
        return self._mouse.cancel()

    @property
    def anchor(self) -> int:
        return self._anchor

    @property
    def page_height(self) -> float:
        return max(40.0, self.viewport().height() - 2 * self._pieces.measures.lane)

    @property
    def goal_x(self) -> float:
        """Target x coordinate of vertical steps."""
        if self._goal_x is None:
            self._goal_x = self._pieces.x_of(self._caret)[2]
        return self._goal_x

    def move_caret(self, position: int, *, keep: bool = False, keep_goal: bool = False) -> None:
        """Move the caret; `keep` extends the selection. Deselects the span."""
        goal = self._goal_x
        if keep:
            position = self.held(self._anchor, self._anchor, position)
        if self._chosen is not None:
            self.span_clicked.emit(None)
        self.select(self._anchor if keep else position, position)
        self._goal_x = goal if keep_goal else None

    def names_at(self, point: QPointF) -> list[tuple[str, int]]:
        """Names of the spans at a point of the viewport, innermost first."""
        return [span.name for span in self._mouse.spans_at(point)]

    def arc_at(self, point: QPointF) -> TextArc | None:
        """The relation whose line, arrow or label is at a point of the viewport."""
        index, line = self._pieces.line_at_y(point.y() + self.offset)
        y = point.y() + self.offset - self._pieces.tops[index] - line.top
        if not line.arcs or y > 0:
            return None
        line_arc = self._painter.arcs.at(line, point.x() - LEFT, y, self._chosen)
        return line_arc.arc if line_arc else None

    def selected_at(self, point: QPointF) -> bool:
        """Whether a point of the viewport is in the selection."""
        start, end = self.selection or (0, 0)
        return start <= self.position_at(point) <= end and start < end

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not keys.handle(self, event):
            event.ignore()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._mouse.press(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._mouse.double(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._mouse.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._mouse.release(event)
            self.released.emit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom_by(1 if event.angleDelta().y() > 0 else -1)
            event.accept()
        else:
            super().wheelEvent(event)

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip:
            self._mouse.tell(cast(QHelpEvent, event))
            return True
        return super().viewportEvent(event)
