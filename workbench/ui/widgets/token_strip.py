"""Token strip: the subwords of a text below their words, with the most probable predictions as
bars.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFont,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.ui import formats, plain, theme

GAP, WORD_GAP, LINE_GAP = 6, 10, 16  # spacing in pixels: between subwords, words and rows
NARROW, WIDE = 52, 132  # minimum and maximum width of a subword
PAD = 7
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True)
class Line:
    """One prediction: text, probability in [0, 1], and the colour of its bar.

    The colour is #RRGGBB or a name of the theme.
    """

    text: str
    share: float
    tint: str


@dataclass(frozen=True)
class Cell:
    """One subword. `number` is its index in the text."""

    number: int
    piece: str
    lines: tuple[Line, ...] = ()
    quiet: bool = False  # special: no part of the text
    marked: bool = False  # unknown to the model
    tip: str = ""


@dataclass(frozen=True)
class Word:
    text: str
    cells: tuple[Cell, ...]


@dataclass
class _Placed:
    area: QRectF
    cell: Cell
    word: str  # written above; "" if the word started in an earlier cell
    word_width: float = 0.0


@dataclass
class _Sizes:
    """Heights at the current text size."""

    word: float = 0.0
    piece: float = 0.0
    line: float = 0.0
    fonts: dict[str, QFont] = field(default_factory=dict)


class TokenStrip(QWidget):
    """Wraps at its width and grows downwards; put it into `layout.scrolled`.

    `chosen(number)` on mouse clicks and arrow keys.
    """

    chosen = Signal(int)

    def __init__(self, name: str, *, lines: int = 2, see: Callable[[QRectF], None] | None = None):
        super().__init__()
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self._words: tuple[Word, ...] = ()
        self._lines, self._rtl = lines, False
        self._number: int | None = None
        self._see = see
        self._placed: list[_Placed] = []
        drop = theme.changed.connect(self._restyle)
        self.destroyed.connect(lambda *_: drop())

    def set(self, words: Sequence[Word], *, lines: int = 2, rtl: bool = False) -> None:
        """Set the words; `lines` predictions per subword, right-to-left if `rtl`."""
        self._words, self._lines, self._rtl = tuple(words), lines, rtl
        self._number = None
        self._place()

    def choose(self, number: int | None) -> None:
        """Outline a subword and scroll to it; emits nothing."""
        if number != self._number:
            self._number = number
            self._show_chosen()
            self.update()

    # ---------------------------------------------------------------- layout

    def sizeHint(self) -> QSize:
        return QSize(400, int(self._height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._place()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LayoutDirectionChange:
            self._place()
        super().changeEvent(event)

    def _restyle(self) -> None:
        self._place()

    def _sizes(self) -> _Sizes:
        fonts = {
            "word": theme.font("heading"),
            "piece": theme.font("small"),
            "mono": theme.font("mono"),
            "line": theme.font("small"),
        }
        fonts["mono"].setPixelSize(theme.size("small"))
        return _Sizes(theme.px(22), theme.px(22), theme.px(26), fonts)

    def _place(self) -> None:
        sizes, width = self._sizes(), max(self.width(), 120)
        metrics = {name: QFontMetricsF(font) for name, font in sizes.fonts.items()}
        tall = sizes.word + sizes.piece + 4 + self._lines * sizes.line
        x = y = 0.0
        self._placed = []
        for word in self._words:
            widths = [self._cell_width(cell, metrics) for cell in word.cells]
            least = metrics["word"].horizontalAdvance(word.text) + 2
            total = sum(widths) + GAP * (len(widths) - 1)
            if widths and total < least:
                widths[-1] += min(least, width) - total
            if x and x + sum(widths) + GAP * (len(widths) - 1) > width:
                x, y = 0.0, y + tall + LINE_GAP
            for number, (cell, wide) in enumerate(zip(word.cells, widths, strict=True)):
                if x and x + wide > width:
                    x, y = 0.0, y + tall + LINE_GAP
                area = QRectF(x, y, wide, tall)
                if self._rtl:
                    area.moveRight(width - x)
                self._placed.append(_Placed(area, cell, word.text if number == 0 else "", least))
                x += wide + GAP
            x += WORD_GAP - GAP
        self.setMinimumHeight(int(self._height()))
        self.updateGeometry()
        self.update()

    def _cell_width(self, cell: Cell, metrics: dict[str, QFontMetricsF]) -> float:
        share = metrics["line"].horizontalAdvance(" 100")
        widest = max(
            (
                metrics["line"].horizontalAdvance(one.text) + share
                for one in cell.lines[: self._lines]
            ),
            default=0.0,
        )
        return min(
            max(NARROW, metrics["mono"].horizontalAdvance(cell.piece) + 2 * PAD, widest + 2),
            theme.px(WIDE),
        )

    def _height(self) -> float:
        return self._placed[-1].area.bottom() + 4 if self._placed else 0.0

    # ---------------------------------------------------------------- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        sizes, seen = self._sizes(), QRectF(event.rect())
        for placed in self._placed:
            if placed.area.intersects(seen):
                self._paint(painter, placed, sizes)

    def _paint(self, painter: QPainter, placed: _Placed, sizes: _Sizes) -> None:
        area, cell = placed.area, placed.cell
        if placed.word:
            painter.setFont(sizes.fonts["word"])
            painter.setPen(theme.qcolour("text"))
            room = QRectF(area.left(), area.top(), max(area.width(), placed.word_width), sizes.word)
            if self._rtl:
                room.moveRight(area.right())
            painter.drawText(room, self._side(), placed.word)
        self._paint_piece(
            painter,
            QRectF(area.left(), area.top() + sizes.word, area.width(), sizes.piece),
            cell,
            sizes,
        )
        y = area.top() + sizes.word + sizes.piece + 4
        for number, line in enumerate(cell.lines[: self._lines]):
            self._paint_line(
                painter, QRectF(area.left(), y, area.width(), sizes.line), line, number == 0, sizes
            )
            y += sizes.line

    def _side(self) -> Qt.AlignmentFlag:
        return Qt.AlignmentFlag.AlignVCenter | (
            Qt.AlignmentFlag.AlignRight if self._rtl else Qt.AlignmentFlag.AlignLeft
        )

    def _paint_piece(self, painter: QPainter, area: QRectF, cell: Cell, sizes: _Sizes) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        if cell.number == self._number:
            painter.setPen(QPen(theme.qcolour("accent"), 2))
        elif cell.marked:
            painter.setPen(QPen(theme.qcolour("warn"), 1, Qt.PenStyle.DashLine))
        painter.setBrush(theme.qcolour("sunken" if not cell.quiet else "window"))
        painter.drawRoundedRect(area.adjusted(1, 1, -1, -1), 4, 4)
        painter.setFont(sizes.fonts["mono"])
        painter.setPen(theme.qcolour("warn" if cell.marked else "faint" if cell.quiet else "muted"))
        inner = area.adjusted(PAD, 0, -PAD, 0)
        shown = painter.fontMetrics().elidedText(
            cell.piece, Qt.TextElideMode.ElideRight, int(inner.width()) + 1
        )
        painter.drawText(inner, self._side(), shown)

    def _paint_line(
        self, painter: QPainter, area: QRectF, line: Line, first: bool, sizes: _Sizes
    ) -> None:
        painter.setFont(sizes.fonts["line"])
        painter.setPen(theme.qcolour("text" if first else "muted"))
        share = f" {formats.points(line.share, 0)}"
        room = painter.fontMetrics().horizontalAdvance(share)
        text = painter.fontMetrics().elidedText(
            line.text, Qt.TextElideMode.ElideMiddle, int(area.width() - room)
        )
        painter.drawText(area.adjusted(0, 0, 0, -8), _LEFT, text + share)
        track = QRectF(area.left(), area.bottom() - 7, area.width() - 2, 4)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.qcolour("sunken"))
        painter.drawRoundedRect(track, 2, 2)
        painter.setBrush(
            QColor(line.tint if line.tint.startswith("#") else theme.colour(line.tint))
        )
        painter.drawRoundedRect(
            QRectF(track.left(), track.top(), max(2.0, track.width() * min(line.share, 1.0)), 4),
            2,
            2,
        )

    # ---------------------------------------------------------------- mouse and keys

    def mousePressEvent(self, event: QMouseEvent) -> None:
        found = next((one for one in self._placed if one.area.contains(event.position())), None)
        if found is not None:
            self._take(found.cell.number)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Right: -1 if self._rtl else 1, Qt.Key.Key_Left: 1 if self._rtl else -1}
        if (
            event.key() in steps
            and self._placed
            and not event.modifiers() & Qt.KeyboardModifier.ControlModifier
        ):
            numbers = [one.cell.number for one in self._placed]
            step = steps[Qt.Key(event.key())]
            known = self._number if self._number in numbers else None
            at = numbers.index(known) + step if known is not None else 0
            self._take(numbers[min(max(at, 0), len(numbers) - 1)])
            return
        super().keyPressEvent(event)

    def _take(self, number: int) -> None:
        self.choose(number)
        self.chosen.emit(number)

    def _show_chosen(self) -> None:
        found = next((one for one in self._placed if one.cell.number == self._number), None)
        if found is not None and self._see is not None:
            self._see(found.area)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip:
            at = cast(QHelpEvent, event).pos()
            found = next((one for one in self._placed if one.area.contains(at)), None)
            plain.set_tip(self, found.cell.tip if found else "")
        return super().event(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if self._number is None and self._placed:
            self._take(self._placed[0].cell.number)
