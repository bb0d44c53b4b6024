"""Rows, columns, cards: helpers to arrange widgets.

An item is a widget, `None` (a stretch), a number (spacing in pixels) or `(widget, stretch)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, cast

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QScrollArea,
    QSizePolicy,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from workbench.ui.style import theme
from workbench.ui.widgets.controls.words import Wrapped
from workbench.ui.widgets.flow import FlowLayout, flow

W = TypeVar("W", bound=QWidget)
Margins = tuple[int, int, int, int]  # pixels: left, top, right, bottom
LEAST_WORDS = 150  # pixels at 100%
Part = QWidget | QLayout | None | int | tuple[QWidget, int]


def row(*parts: Part, gap: int = 8, margins: Margins = (0, 0, 0, 0), part: str = "") -> QFrame:
    """Items from left to right."""
    return _box(QHBoxLayout(), parts, gap, margins, part)


def column(*parts: Part, gap: int = 8, margins: Margins = (0, 0, 0, 0), part: str = "") -> QFrame:
    """Items from top to bottom.

    `part` is a background of the style sheet: side, side-right, bar, surface, card.
    """
    return _box(QVBoxLayout(), parts, gap, margins, part)


def card(
    *parts: Part,
    title: str = "",
    note: QWidget | str = "",
    gap: int = 8,
    margins: Margins = (16, 14, 16, 16),
) -> QFrame:
    """A surface with a border; heading on the left, note on the right or, without room, below."""
    if title or note:
        right = Wrapped(note, "caption", "muted") if isinstance(note, str) else note
        parts = (flow(Wrapped(title, weight=600), None, right), *parts)
    return column(*parts, gap=gap, margins=margins, part="card")


def layout_of(widget: QWidget) -> QBoxLayout:
    """The layout of a widget that `row`, `column`, `card` or `fill` has made."""
    return cast(QBoxLayout, widget.layout())


def widgets(layout: QLayout) -> list[QWidget]:
    """The widgets of a layout, in their order, read without `itemAt`.

    PySide6 6.11 keeps the Python object of an item with the layout, also after Qt has deleted the
    item together with its widget. If another object is then created at the same address, Python
    crashes when that is deleted. Drop when fixed, see test_reading_a_layout_keeps_no_items.
    """
    parent = layout.parentWidget()
    children = parent.children() if parent is not None else ()
    places = [(layout.indexOf(child), child) for child in children if isinstance(child, QWidget)]
    return [child for at, child in sorted(places, key=lambda place: place[0]) if at >= 0]


def least_size(widget: QWidget) -> QSize:
    """The minimum size of a widget in a layout, as Qt computes it."""
    policy, hint, least = widget.sizePolicy(), widget.sizeHint(), widget.minimumSizeHint()
    shrinks, ignored = QSizePolicy.PolicyFlag.ShrinkFlag.value, QSizePolicy.Policy.Ignored

    def side(policy: QSizePolicy.Policy, hint: int, least: int, low: int, high: int) -> int:
        needed = least if policy.value & shrinks else max(hint, least)
        return low or min(0 if policy == ignored else needed, high)

    low, high = widget.minimumSize(), widget.maximumSize()
    across, down = policy.horizontalPolicy(), policy.verticalPolicy()
    return QSize(
        max(0, side(across, hint.width(), least.width(), low.width(), high.width())),
        max(0, side(down, hint.height(), least.height(), low.height(), high.height())),
    )


def free_height(widget: QWidget) -> int:
    """Pixels beyond the least heights of the items in its layout; negative if they do not fit."""
    layout = layout_of(widget)
    needed = max(layout.minimumSize().height(), layout.minimumHeightForWidth(widget.width()))
    return widget.height() - needed


class TurningRow(QFrame):
    """Widgets side by side, or stacked if there is not enough room.

    A text with word wrap needs room for some words beside the others, a flow for one line. A flow
    beside something higher is in the middle, as a button is.
    """

    def __init__(self, *parts: Part, gap: int = 10):
        super().__init__()
        self._line = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._line.setContentsMargins(0, 0, 0, 0)
        self._line.setSpacing(gap)
        for part in parts:
            add(self._line, part)
        self._is_beside: bool | None = None
        self._align(beside=True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._turn()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:  # a widget is shown, hidden or renamed
            self._turn()
        return super().event(event)

    def _turn(self) -> None:
        needed = [_beside(part) for part in widgets(self._line) if not part.isHidden()]
        room = self.width() - self._line.spacing() * (len(needed) - 1)
        way, beside = QBoxLayout.Direction, sum(needed) <= room
        self._align(beside=beside)
        self._line.setDirection(way.LeftToRight if beside else way.TopToBottom)

    def _align(self, *, beside: bool) -> None:
        if beside == self._is_beside:
            return
        self._is_beside = beside
        for part in widgets(self._line):
            align = Qt.AlignmentFlag
            if _flows(part):
                self._line.setAlignment(part, align.AlignVCenter if beside else align(0))
            elif part.property("field"):
                self._line.setAlignment(part, align.AlignTop if beside else align(0))

    def minimumSizeHint(self) -> QSize:
        """The width of the widest widget, so that it may become too narrow for all."""
        shown = (part for part in widgets(self._line) if not part.isHidden())
        widest = max((least_size(part).width() for part in shown), default=0)
        return QSize(widest, super().minimumSizeHint().height())


def _beside(widget: QWidget) -> int:
    """Width in pixels that a widget needs beside others."""
    least, hint = least_size(widget).width(), widget.sizeHint().width()
    hint = max(widget.minimumWidth(), min(max(hint, least), widget.maximumWidth()))
    if isinstance(widget, QLabel) and widget.wordWrap():
        return max(least, min(hint, theme.px(LEAST_WORDS)))
    return hint if _flows(widget) else least


def _flows(widget: QWidget) -> bool:
    return isinstance(widget.layout(), FlowLayout)


def bar(*parts: Part, margins: Margins = (24, 8, 24, 8), gap: int = 8) -> QFrame:
    """The bar with actions at the bottom of a page; buttons without room go to further rows."""
    if all(part is None or isinstance(part, QAbstractButton) for part in parts):
        buttons = cast(tuple[QWidget | None, ...], parts)
        return row((flow(*buttons, gap=gap), 1), margins=margins, part="bar")
    return row(*parts, gap=gap, margins=margins, part="bar")


def line() -> QFrame:
    """A horizontal line."""
    it = QFrame()
    it.setProperty("part", "line")
    it.setFixedHeight(1)
    return it


class _Upright(QScrollArea):
    """A scroll area that asks for the minimum width of its widget."""

    def minimumSizeHint(self) -> QSize:
        widget, least = self.widget(), super().minimumSizeHint()
        if widget is None:
            return least
        scroll_bar = self.verticalScrollBar().sizeHint().width() + 2 * self.frameWidth()
        return QSize(widget.minimumSizeHint().width() + scroll_bar, least.height())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.widget() and event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)


def scrolled(widget: QWidget, *, upright: bool = False) -> QScrollArea:
    """`widget` in a vertical scroll area; it scrolls sideways only below its minimum width.

    upright: the area asks for that width, where what is beside it can become narrower.
    """
    it = _Upright() if upright else QScrollArea()
    it.setWidgetResizable(True)
    it.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    widget.setProperty("part", widget.property("part") or "scrolled")
    it.setWidget(widget)
    return it


def fixed(widget: W, width: int | None = None, height: int | None = None) -> W:
    if width is not None:
        widget.setFixedWidth(width)
    if height is not None:
        widget.setFixedHeight(height)
    return widget


def wide(widget: QWidget) -> QWidget:
    """Make the widget take all the available width."""
    widget.setSizePolicy(QSizePolicy.Policy.Expanding, widget.sizePolicy().verticalPolicy())
    return widget


def remove(widget: QWidget) -> None:
    """Take a widget out of its parent and delete it."""
    widget.hide()
    widget.setParent(None)
    widget.deleteLater()


def clear(layout: QLayout) -> None:
    """Remove all items from a layout and delete them."""
    while layout.count():
        item = layout.takeAt(0)
        if item is None:
            return
        if (widget := item.widget()) is not None:
            # still a child until it is deleted: without a parent it could be deleted inside its own
            # signal
            widget.hide()
            widget.deleteLater()
        elif (inner := item.layout()) is not None:
            clear(inner)


def add(layout: QBoxLayout, part: Part) -> None:
    if part is None:
        layout.addStretch(1)
    elif isinstance(part, int):
        layout.addSpacing(part)
    elif isinstance(part, tuple):
        layout.addWidget(part[0], part[1])
        if isinstance(layout, QHBoxLayout) and part[0].property("field"):
            layout.setAlignment(part[0], Qt.AlignmentFlag.AlignTop)
    elif isinstance(part, QLayout):
        layout.addLayout(part)
    else:
        layout.addWidget(part)
        if isinstance(layout, QHBoxLayout) and isinstance(part, QLabel) and not part.wordWrap():
            layout.setAlignment(part, Qt.AlignmentFlag.AlignVCenter)


def fill(widget: QWidget, *parts: Part, gap: int = 8, margins: Margins = (0, 0, 0, 0)) -> None:
    """Place items from top to bottom in a widget that has no layout yet."""
    layout = QVBoxLayout(widget)
    layout.setContentsMargins(*margins)
    layout.setSpacing(gap)
    for part in parts:
        add(layout, part)


def side_by_side(left: QWidget, right: QWidget, *, width: int, most: int) -> QSplitter:
    """Two widgets side by side that the user can resize: the left one is `width` pixels at 100%
    wide at first, at most `most` pixels; the right one takes the rest.
    """
    it = QSplitter(Qt.Orientation.Horizontal)
    it.setChildrenCollapsible(False)
    it.addWidget(left)
    it.addWidget(right)
    it.setStretchFactor(1, 1)
    it.setSizes([min(theme.px(width), most), 800])
    return it


def _box(
    layout: QBoxLayout, parts: Sequence[Part], gap: int, margins: Margins, part: str
) -> QFrame:
    it = QFrame()
    if part:
        it.setProperty("part", part)
    layout.setContentsMargins(*margins)
    layout.setSpacing(gap)
    for widget in parts:
        add(layout, widget)
    it.setLayout(layout)
    return it
