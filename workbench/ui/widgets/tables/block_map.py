"""The model map: a row for each block with its shape, parameters and state; a click opens it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QFrame, QGridLayout, QSizePolicy, QVBoxLayout

from workbench.base.i18n import _, ngettext
from workbench.models.spec.blocks import STATES
from workbench.operations.runs.block_states import FROZEN, INSERTED, LATER, NEW, TRAINED, UNUSED
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.charts.heat import hatch
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.layout import column, row

if TYPE_CHECKING:
    from workbench.models.spec.blocks import Block

MOST_SHAPES = 40  # listed of a block


@dataclass(frozen=True)
class Mark:
    """A block with its state, a key of `operations.runs.block_states` or "", and words."""

    block: Block
    state: str = ""
    words: str = ""


class BlockMap(QFrame):
    """All blocks of a model, then the total without heads."""

    def __init__(self, marks: Sequence[Mark], total: int):
        super().__init__()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        for mark in marks:
            button = _BlockButton(mark)
            inside = _inside(mark.block)
            inside.hide()
            button.toggled.connect(inside.setVisible)
            layout.addWidget(button)
            layout.addWidget(inside)
        figure = words(formats.count(total), weight=600)
        name = words(_("Total without heads"), "small", "muted")
        layout.addWidget(row(name, None, figure, margins=(0, 4, 0, 0)))


def _inside(block: Block) -> QFrame:
    """Parts of a layer, then the names and shapes of its weights."""
    box = QFrame()
    grid = QGridLayout(box)
    grid.setContentsMargins(22, 0, 8, 6)
    grid.setHorizontalSpacing(10)
    grid.setVerticalSpacing(2)
    grid.setColumnStretch(0, 1)
    lines = [
        (_(part.title), formats.count(part.parameters), _("per layer") if block.count > 1 else "")
        for part in block.parts
    ]
    lines += [
        (name, " × ".join(map(formats.count, shape)), "")
        for name, shape in block.shapes[:MOST_SHAPES]
    ]
    for at, (name, figure, note) in enumerate(lines):
        kind = "small" if at < len(block.parts) else "caption"
        grid.addWidget(Elided(name, kind, "muted", mode=Qt.TextElideMode.ElideMiddle), at, 0)
        grid.addWidget(words(figure, kind, "muted"), at, 1, Qt.AlignmentFlag.AlignRight)
        if note:
            grid.addWidget(words(note, "caption", "faint"), at, 2)
    more = len(block.shapes) - MOST_SHAPES
    if more > 0:
        message = ngettext("… and {n} more weight", "… and {n} more weights", more)
        grid.addWidget(words(message, "caption", "faint"), len(lines), 0)
    return column(box)


class _BlockButton(QAbstractButton):
    """A block. Hatched: its weights are shared or frozen; dashed outline: tied or not used."""

    def __init__(self, mark: Mark):
        super().__init__()
        self.block, self._mark = mark.block, mark
        block = mark.block
        self.setCheckable(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._title = block.words()
        self._state = _(STATES[block.state]) if block.state in STATES else ""
        self._count = formats.count(block.parameters) if block.parameters or block.state else ""
        words = ngettext("{block}: {n} parameter", "{block}: {n} parameters", block.parameters)
        message = words.format(block=self._title, n=self._count) if self._count else self._title
        self.setAccessibleName(message)
        parts = (mark.words, self._state or self._below())
        self.setAccessibleDescription(", ".join(part for part in parts if part))
        escaping.set_tip(self, self._state or _("Show parts and shapes"))

    def _below(self) -> str:
        """The shape: that of the largest weight, or the layers and their size."""
        block = self.block
        if block.layers:
            each = formats.count(block.parameters // block.count)
            return f"{block.count} × {each}"
        if not block.shapes:
            return self._state
        _name, largest = max(block.shapes, key=lambda shape: prod(shape[1]))
        return " × ".join(map(formats.count, largest))

    def sizeHint(self) -> QSize:
        return QSize(theme.px(240), theme.px(38))

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.px(200), theme.px(38))  # the title is elided before the number

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = self.rect().toRectF().adjusted(1, 1, -1, -1)
        state = self._mark.state
        dashed = self.block.state == "tied" or state == UNUSED
        style = Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine
        strong = self.hasFocus() or state == NEW
        painter.setPen(
            QPen(theme.qcolour("accent" if strong else "strong_line"), 2 if strong else 1, style)
        )
        painter.setBrush(theme.qcolour("accent_soft" if self.isChecked() else "surface"))
        painter.drawRoundedRect(area, 4, 4)
        side = QRectF(area.left() + 2, area.top() + 3, 8, area.height() - 6)
        if self.block.state == "shared" or state in (FROZEN, INSERTED):
            painter.fillRect(side, hatch())
        if state in (TRAINED, LATER, NEW, INSERTED):
            thin = side if state != INSERTED else side.adjusted(5, 0, 0, 0)
            full = thin if state != LATER else thin.adjusted(0, side.height() / 2, 0, 0)
            painter.fillRect(full, theme.qcolour("accent"))
        self._texts(painter)

    def _texts(self, painter: QPainter) -> None:
        left, right = 14, self.width() - 12
        top, half = 4, (self.height() - 8) // 2
        below = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        after = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.setFont(theme.font("small", 600))
        painter.setPen(theme.qcolour("text"))
        count = painter.fontMetrics().horizontalAdvance(self._count) + 12
        high = half if self._mark.words else self.height() - top
        painter.drawText(QRect(right - count, top, count, high), after, self._count)
        room = right - count - left
        title = painter.fontMetrics().elidedText(self._title, Qt.TextElideMode.ElideRight, room)
        painter.drawText(QRect(left, top, room, half), below, title)
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.qcolour("muted"))
        detail = self._state or self._below()
        taken = painter.fontMetrics().horizontalAdvance(self._mark.words)
        room = min(room, right - left - taken - 16)
        detail = painter.fontMetrics().elidedText(detail, Qt.TextElideMode.ElideRight, room)
        painter.drawText(QRect(left, top + half, room, half), below, detail)
        if self._mark.words:
            wide = painter.fontMetrics().horizontalAdvance(self._mark.words) + 12
            painter.setPen(theme.qcolour("text"))
            place = QRect(right - wide, top + half, wide, half)
            painter.drawText(place, after, self._mark.words)
