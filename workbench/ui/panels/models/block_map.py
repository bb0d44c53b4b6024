"""The model map: a row for each block with its shape, parameters and state; a click opens it."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QFrame, QGridLayout, QSizePolicy, QVBoxLayout

from workbench.base.i18n import _, ngettext
from workbench.ui import formats, plain, theme
from workbench.ui.panels.models.state import state_words
from workbench.ui.widgets.heat import hatch
from workbench.ui.widgets.layout import column, row
from workbench.ui.widgets.words import Elided, words

if TYPE_CHECKING:
    from workbench.models.spec.blocks import Block, ModelMap

MOST_SHAPES = 40  # listed of a block


class BlockMap(QFrame):
    """All blocks of a model, then the total without heads."""

    def __init__(self, found: ModelMap):
        super().__init__()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        for block in found.blocks:
            button = _BlockButton(block)
            inside = _inside(block)
            inside.hide()
            button.toggled.connect(inside.setVisible)
            layout.addWidget(button)
            layout.addWidget(inside)
        total = words(formats.count(found.total), weight=600)
        name = words(_("Total without heads"), "small", "muted")
        layout.addWidget(row(name, None, total, margins=(0, 4, 0, 0)))


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
        told = ngettext("… and {n} more weight", "… and {n} more weights", more).format(n=more)
        grid.addWidget(words(told, "caption", "faint"), len(lines), 0)
    return column(box)


class _BlockButton(QAbstractButton):
    """A block. Hatched: its weights are shared; dashed outline: tied to the embeddings."""

    def __init__(self, block: Block):
        super().__init__()
        self.block = block
        self.setCheckable(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._title, self._state = block.words(), state_words(block.state)
        self._count = formats.count(block.parameters)
        words = ngettext("{block}: {n} parameter", "{block}: {n} parameters", block.parameters)
        told = words.format(block=self._title, n=self._count)
        self.setAccessibleName(told)
        self.setAccessibleDescription(self._state or self._below())
        plain.set_tip(self, self._state or _("Show parts and shapes"))

    def _below(self) -> str:
        """The shape: that of the largest weight, or the layers and their size."""
        block = self.block
        if block.layers:
            each = formats.count(block.parameters // block.count)
            return f"{block.count} × {each}"
        if not block.shapes:
            return self._state
        _name, largest = max(block.shapes, key=lambda one: prod(one[1]))
        return " × ".join(map(formats.count, largest))

    def sizeHint(self) -> QSize:
        return QSize(theme.px(240), theme.px(38))

    minimumSizeHint = sizeHint

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = self.rect().toRectF().adjusted(1, 1, -1, -1)
        tied = self.block.state == "tied"
        style = Qt.PenStyle.DashLine if tied else Qt.PenStyle.SolidLine
        focused = self.hasFocus()
        painter.setPen(
            QPen(theme.qcolour("accent" if focused else "strong_line"), 2 if focused else 1, style)
        )
        painter.setBrush(theme.qcolour("accent_soft" if self.isChecked() else "surface"))
        painter.drawRoundedRect(area, 4, 4)
        if self.block.state == "shared":
            painter.fillRect(QRectF(area.left() + 2, area.top() + 3, 8, area.height() - 6), hatch())
        self._texts(painter)

    def _texts(self, painter: QPainter) -> None:
        left, right = 14, self.width() - 12
        top, half = 4, (self.height() - 8) // 2
        below = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        after = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.setFont(theme.font("small", 600))
        painter.setPen(theme.qcolour("text"))
        count = painter.fontMetrics().horizontalAdvance(self._count) + 12
        painter.drawText(QRect(right - count, 0, count, self.height()), after, self._count)
        room = right - count - left
        title = painter.fontMetrics().elidedText(self._title, Qt.TextElideMode.ElideRight, room)
        painter.drawText(QRect(left, top, room, half), below, title)
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.qcolour("muted"))
        shown = self._state or self._below()
        shown = painter.fontMetrics().elidedText(shown, Qt.TextElideMode.ElideRight, room)
        painter.drawText(QRect(left, top + half, room, half), below, shown)
