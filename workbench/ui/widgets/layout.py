"""Rows, columns, cards: how parts are put beside one another.

A part is a widget, `None` (takes what is left), a number (that many pixels) or `(widget, stretch)`.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from workbench.ui.widgets.words import words

Part = QWidget | QLayout | None | int | tuple


def row(
    *parts: Part, gap: int = 8, margins: tuple[int, int, int, int] = (0, 0, 0, 0), part: str = ""
) -> QFrame:
    """Parts from left to right."""
    return _box(QHBoxLayout(), parts, gap, margins, part)


def column(
    *parts: Part, gap: int = 8, margins: tuple[int, int, int, int] = (0, 0, 0, 0), part: str = ""
) -> QFrame:
    """Parts from top to bottom. `part` names a ground of the style sheet: side, side-right, bar, surface, card."""
    return _box(QVBoxLayout(), parts, gap, margins, part)


def card(
    *parts: Part, title: str = "", note: QWidget | str = "", gap: int = 8, margins=(16, 14, 16, 16)
) -> QFrame:
    """A surface with a hairline; heading left, note right."""
    if title or note:
        right = words(note, "caption", "muted") if isinstance(note, str) else note
        parts = (row(words(title, weight=600), None, right), *parts)
    return column(*parts, gap=gap, margins=margins, part="card")


def bar(*parts: Part, margins=(24, 8, 24, 8), gap: int = 8) -> QFrame:
    """The strip with acts at the bottom of a page."""
    return row(*parts, gap=gap, margins=margins, part="bar")


def line() -> QFrame:
    """A hairline across."""
    it = QFrame()
    it.setProperty("part", "line")
    it.setFixedHeight(1)
    return it


def scrolled(widget: QWidget) -> QScrollArea:
    """`widget` in a frame that scrolls up and down, never sideways."""
    it = QScrollArea()
    it.setWidgetResizable(True)
    it.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    it.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    widget.setProperty("part", widget.property("part") or "scrolled")
    it.setWidget(widget)
    return it


def fixed(widget: QWidget, width: int | None = None, height: int | None = None) -> QWidget:
    if width is not None:
        widget.setFixedWidth(width)
    if height is not None:
        widget.setFixedHeight(height)
    return widget


def wide(widget: QWidget) -> QWidget:
    """The widget takes all the width it is given."""
    widget.setSizePolicy(QSizePolicy.Policy.Expanding, widget.sizePolicy().verticalPolicy())
    return widget


def clear(layout: QLayout) -> None:
    """Take all parts out of a layout and delete them."""
    while layout.count():
        item = layout.takeAt(0)
        if (widget := item.widget()) is not None:
            widget.hide()  # still a child until it is deleted: without a parent it could go in the middle of its own signal
            widget.deleteLater()
        elif item.layout() is not None:
            clear(item.layout())


def add(layout: QBoxLayout, part: Part) -> None:
    if part is None:
        layout.addStretch(1)
    elif isinstance(part, int):
        layout.addSpacing(part)
    elif isinstance(part, tuple):
        layout.addWidget(part[0], part[1])
    elif isinstance(part, QLayout):
        layout.addLayout(part)
    else:
        layout.addWidget(part)
        if isinstance(layout, QHBoxLayout) and isinstance(part, QLabel) and not part.wordWrap():
            layout.setAlignment(part, Qt.AlignmentFlag.AlignVCenter)


def fill(
    widget: QWidget, *parts: Part, gap: int = 8, margins: tuple[int, int, int, int] = (0, 0, 0, 0)
) -> None:
    """Put parts from top to bottom into a widget that has no layout yet."""
    layout = QVBoxLayout(widget)
    layout.setContentsMargins(*margins)
    layout.setSpacing(gap)
    for one in parts:
        add(layout, one)


def _box(layout: QBoxLayout, parts, gap, margins, part) -> QFrame:
    it = QFrame()
    if part:
        it.setProperty("part", part)
    layout.setContentsMargins(*margins)
    layout.setSpacing(gap)
    for one in parts:
        add(layout, one)
    it.setLayout(layout)
    return it
