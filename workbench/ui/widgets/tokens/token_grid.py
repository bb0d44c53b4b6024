"""Token grid: the tokens of a text in reading order, each with its tags below."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.base.i18n import _
from workbench.ui.style import theme

GAP, LINE_GAP, PAD = 8, 14, 5  # spacing in pixels: between tokens, between rows, and around a tag
MIN_TOKEN_WIDTH, MAX_TOKEN_WIDTH = 34, 320  # minimum and maximum width of a token
GOLD, SUGGESTED, PREDICTED, NONE = "gold", "suggested", "predicted", "none"
_LINES = {SUGGESTED: Qt.PenStyle.DashLine, PREDICTED: Qt.PenStyle.DotLine}


@dataclass(frozen=True)
class Tag:
    """A tag below a token: `label` has a colour or a position, see `theme.label_colours`."""

    name: str
    label: object = None
    kind: str = GOLD


@dataclass(frozen=True)
class GridToken:
    """One token: `number` is its index in the text; `breaks`: it starts a new line."""

    number: int
    text: str
    tags: tuple[Tag, ...] = ()
    breaks: bool = False


class TokenGrid(QWidget):
    """Wraps at its width and grows downwards; put it into `layout.scrolled`.

    `chosen(number)` on mouse clicks and arrow keys; `left(step)` if an arrow key leaves the grid.
    """

    chosen = Signal(int)
    left = Signal(int)

    def __init__(self, name: str, see: Callable[[QRectF], None] | None = None):
        super().__init__()
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self._cells: tuple[GridToken, ...] = ()
        self._areas: list[QRectF] = []
        self._rows = 1  # height of tags
        self._rtl, self._zoom, self._see = False, 100, see
        self._number: int | None = None
        drop = theme.changed.connect(self._place)
        self.destroyed.connect(lambda *_: drop())

    # ---------------------------------------------------------------- contents

    def set(self, cells: Sequence[GridToken], *, rtl: bool = False) -> None:
        """Set the tokens; the selection is kept if possible."""
        before, self._cells, self._rtl = self._cells, tuple(cells), rtl
        self._rows = max([1, *(len(cell.tags) for cell in self._cells)])
        if before != self._cells or not self._areas:
            self._place()
        self._describe()

    @property
    def number(self) -> int | None:
        """The index of the selected token."""
        return self._number

    def choose(self, number: int | None) -> None:
        """Outline a token and scroll to it; emits nothing."""
        self._number = number
        self._describe()
        self._show_chosen()
        self.update()

    def set_zoom(self, per_cent: int) -> None:
        if per_cent != self._zoom:
            self._zoom = per_cent
            self._place()

    def _describe(self) -> None:
        """Description for screen readers: the selected token and its tags."""
        cell = self._cell()
        names = ", ".join(tag.name for tag in cell.tags if tag.kind != NONE) if cell else ""
        message = _("{token}: {tags}", token=cell.text, tags=names or "–") if cell else ""
        self.setAccessibleDescription(message)

    def _cell(self) -> GridToken | None:
        return next((cell for cell in self._cells if cell.number == self._number), None)

    def _show_chosen(self) -> None:
        for cell, area in zip(self._cells, self._areas, strict=True):
            if cell.number == self._number and self._see is not None:
                self._see(area.adjusted(0, -LINE_GAP, 0, LINE_GAP))

    # ---------------------------------------------------------------- layout

    def sizeHint(self) -> QSize:
        return QSize(400, self._height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._place()
            self._show_chosen()

    def _font(self) -> QFont:
        font = theme.font("ui")
        font.setPixelSize(round(theme.px(17) * self._zoom / 100))
        return font

    def _sizes(self) -> tuple[float, float]:
        """Heights of a token and of a row of tags."""
        return QFontMetricsF(self._font()).height() + 4, theme.px(22)

    def row_height(self) -> int:
        """The height of a token with its tags, in pixels."""
        token, tag = self._sizes()
        return math.ceil(token + self._rows * tag) + 6

    def _place(self) -> None:
        word, line = self._sizes()
        words, tags = QFontMetricsF(self._font()), QFontMetricsF(theme.font("caption", 600))
        widths: dict[tuple[object, ...], float] = {}
        width, tall = max(self.width(), 160), word + self._rows * line
        x = y = 0.0
        self._areas = []
        for cell in self._cells:
            key = cell.text, *(tag.name for tag in cell.tags)
            if key not in widths:
                below = max([0.0, *(tags.horizontalAdvance(tag.name) for tag in cell.tags)])
                widest = max(words.horizontalAdvance(cell.text), below + 2 * PAD)
                widths[key] = min(max(MIN_TOKEN_WIDTH, widest + 2 * PAD), MAX_TOKEN_WIDTH, width)
            if x and (cell.breaks or x + widths[key] > width):
                x, y = 0.0, y + tall + LINE_GAP
            left = width - x - widths[key] if self._rtl else x
            self._areas.append(QRectF(left, y, widths[key], tall))
            x += widths[key] + GAP
        self.setMinimumHeight(self._height())
        self.updateGeometry()
        self.update()

    def _height(self) -> int:
        return int(self._areas[-1].bottom()) + 6 if self._areas else 0

    # ---------------------------------------------------------------- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        exposed = QRectF(event.rect())
        for cell, area in zip(self._cells, self._areas, strict=True):
            if area.intersects(exposed):
                self._paint(painter, cell, area)

    def _paint(self, painter: QPainter, cell: GridToken, area: QRectF) -> None:
        word, line = self._sizes()
        if cell.number == self._number:
            tone = "accent" if self.hasFocus() else "strong_line"
            painter.setPen(QPen(theme.qcolour(tone), 2))
            painter.setBrush(theme.qcolour("sunken"))
            painter.drawRoundedRect(area.adjusted(1, 0, -1, 0), 6, 6)
        painter.setFont(self._font())
        painter.setPen(theme.qcolour("text"))
        inner = area.adjusted(PAD, 0, -PAD, 0)
        elided = painter.fontMetrics().elidedText(
            cell.text, Qt.TextElideMode.ElideMiddle, int(inner.width()) + 1
        )
        top = QRectF(inner.left(), area.top(), inner.width(), word)
        painter.drawText(top, Qt.AlignmentFlag.AlignCenter, elided)
        for row, tag in enumerate(cell.tags):
            place = QRectF(inner.left(), area.top() + word + row * line, inner.width(), line - 3)
            self._paint_tag(painter, place, tag)

    def _paint_tag(self, painter: QPainter, area: QRectF, tag: Tag) -> None:
        if tag.kind == NONE:
            painter.setPen(QPen(theme.qcolour("faint"), 1))
            middle = area.center()
            painter.drawLine(
                QPointF(middle.x() - 6, middle.y()), QPointF(middle.x() + 6, middle.y())
            )
            return
        colours = theme.label_colours(tag.label)
        painter.setPen(QPen(QColor(colours.line), 1.2, _LINES.get(tag.kind, Qt.PenStyle.NoPen)))
        painter.setBrush(QColor(colours.chip) if tag.kind == GOLD else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(area, 4, 4)
        painter.setFont(theme.font("caption", 600))
        painter.setPen(QColor(colours.line))
        elided = painter.fontMetrics().elidedText(
            tag.name, Qt.TextElideMode.ElideRight, int(area.width())
        )
        painter.drawText(area, Qt.AlignmentFlag.AlignCenter, elided)

    # ---------------------------------------------------------------- mouse and keys

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        for cell, area in zip(self._cells, self._areas, strict=True):
            if area.contains(event.position()):
                self.chosen.emit(cell.number)
                return

    def keyPressEvent(self, event: QKeyEvent) -> None:
        held = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
        step = None if event.modifiers() & held else self._step(Qt.Key(event.key()))
        if step is None or not self._cells:
            super().keyPressEvent(event)
            return
        numbers = [cell.number for cell in self._cells]
        known = self._number if self._number in numbers else None
        at = numbers.index(known) + step if known is not None else 0
        if 0 <= at < len(numbers):
            self.chosen.emit(numbers[at])
        else:
            self.left.emit(1 if step > 0 else -1)

    def _step(self, key: Qt.Key) -> int | None:
        """The token offset of a key."""
        forward = -1 if self._rtl else 1
        if key in (Qt.Key.Key_Right, Qt.Key.Key_Left):
            return forward if key == Qt.Key.Key_Right else -forward
        if key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            return self._line_step(1 if key == Qt.Key.Key_Down else -1)
        return None

    def _line_step(self, way: int) -> int | None:
        """Go to the nearest token of the line below (1) or above (-1)."""
        at = next((n for n, cell in enumerate(self._cells) if cell.number == self._number), None)
        if at is None:
            return 0
        here = self._areas[at]
        tops = sorted({area.top() for area in self._areas if (area.top() - here.top()) * way > 0})
        if not tops:
            return len(self._cells) - at if way > 0 else -at - 1
        top = tops[0] if way > 0 else tops[-1]
        line = [n for n, area in enumerate(self._areas) if area.top() == top]
        return min(line, key=lambda n: abs(self._areas[n].center().x() - here.center().x())) - at

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.update()
        return super().event(event)
