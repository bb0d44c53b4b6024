"""Token strip: the subwords of a text below their words, with the most probable predictions as
bars.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import cast

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer, Signal
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

from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.focus_ring import FocusRing

GAP, WORD_GAP, LINE_GAP = 6, 10, 16  # spacing in pixels: between subwords, words and rows
MIN_WIDTH, MAX_WIDTH = 52, 132  # minimum and maximum width of a subword
PAD = 7
SLICE = 0.008  # seconds of layout per turn of the event loop
MANY_WORDS = 500  # words laid out again in a later turn
CHUNK = 20  # words between two looks at the clock
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True)
class PredictionLine:
    """One prediction: text, probability in [0, 1], and the colour of its bar.

    The colour is #RRGGBB or a name of the theme.
    """

    text: str
    share: float
    tint: str


@dataclass(frozen=True)
class StripToken:
    """One subword. `number` is its index in the text."""

    number: int
    piece: str
    lines: tuple[PredictionLine, ...] = ()
    quiet: bool = False  # special: no part of the text
    marked: bool = False  # unknown to the model


@dataclass(frozen=True)
class Word:
    text: str
    cells: tuple[StripToken, ...]


@dataclass
class _Placed:
    area: QRectF
    cell: StripToken
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

    A long text is laid out in slices of `SLICE` seconds, so that the window stays responsive;
    `grown` is emitted after each. `see(area)` scrolls to a subword; `tip(number)` gives the tooltip
    of one. `chosen(number)` is emitted on mouse clicks and arrow keys.
    """

    chosen = Signal(int)
    grown = Signal()

    def __init__(
        self,
        name: str,
        *,
        lines: int = 2,
        see: Callable[[QRectF], None] | None = None,
        tip: Callable[[int], str] | None = None,
    ):
        super().__init__()
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        FocusRing(self)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        # growing downwards does not repaint the rows above
        self.setAttribute(Qt.WidgetAttribute.WA_StaticContents)
        self._words: list[Word] = []  # those that were needed so far
        self._coming: Iterator[Word] = iter(())
        self._lines, self._rtl = lines, False
        self._number: int | None = None
        self._see, self._tip = see, tip
        self._placed: list[_Placed] = []
        self._places: dict[int, int] = {}  # number of a cell → index in `_placed`
        self._steps: Iterator[None] = iter(())  # of the layout
        self._to_see = False  # scroll to the chosen subword once it is placed
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._place_slice)
        drop = theme.changed.connect(self._restyle)
        self.destroyed.connect(lambda *_: drop())

    def set(self, words: Iterable[Word], *, lines: int = 2, rtl: bool = False) -> None:
        """Set the words; `lines` predictions per subword, right-to-left if `rtl`.

        An iterator is consumed as far as the layout has come.
        """
        self._words, self._coming = [], iter(words)
        self._lines, self._rtl = lines, rtl
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
        """Lay out from the start: the first slice at once, the others in later turns."""
        self._to_see = self._number is not None
        self._steps = self._layout_words()
        if len(self._words) > MANY_WORDS:
            self._timer.start(0)  # once for several changes of the size
        else:
            self._place_slice()
        self.update()

    def _place_slice(self) -> None:
        end = time.perf_counter() + SLICE
        for _chunk in self._steps:
            if time.perf_counter() > end:
                self._timer.start(0)
                break
        else:
            self._timer.stop()
        self.setMinimumHeight(int(self._height()))
        self.updateGeometry()
        if self._to_see:
            self._show_chosen()
        self.grown.emit()

    def _all_words(self) -> Iterator[Word]:
        yield from self._words
        for word in self._coming:
            self._words.append(word)
            yield word

    def _layout_words(self) -> Iterator[None]:
        self._placed, self._places = [], {}
        self.update()
        sizes, width = self._sizes(), max(self.width(), 120)
        metrics = {name: QFontMetricsF(font) for name, font in sizes.fonts.items()}
        tall = sizes.word + sizes.piece + 4 + self._lines * sizes.line
        x = y = 0.0
        for count, word in enumerate(self._all_words(), 1):
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
                self._places[cell.number] = len(self._placed)
                self._placed.append(_Placed(area, cell, word.text if number == 0 else "", least))
                x += wide + GAP
            x += WORD_GAP - GAP
            if count % CHUNK == 0:
                yield

    def _cell_width(self, cell: StripToken, metrics: dict[str, QFontMetricsF]) -> float:
        share = metrics["line"].horizontalAdvance(" 100")
        widest = max(
            (
                metrics["line"].horizontalAdvance(line.text) + share
                for line in cell.lines[: self._lines]
            ),
            default=0.0,
        )
        return min(
            max(MIN_WIDTH, metrics["mono"].horizontalAdvance(cell.piece) + 2 * PAD, widest + 2),
            theme.px(MAX_WIDTH),
        )

    def _height(self) -> float:
        return self._placed[-1].area.bottom() + 4 if self._placed else 0.0

    # ---------------------------------------------------------------- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        sizes, exposed = self._sizes(), QRectF(event.rect())
        for placed in self._between(exposed.top(), exposed.bottom()):
            if placed.area.intersects(exposed):
                self._paint(painter, placed, sizes)

    def _between(self, top: float, bottom: float) -> Iterator[_Placed]:
        """The subwords of the rows in this vertical range."""
        first = bisect_left(self._placed, top, key=lambda item: item.area.bottom())
        for index in range(first, len(self._placed)):
            if self._placed[index].area.top() > bottom:
                return
            yield self._placed[index]

    def _at(self, position: QPointF) -> _Placed | None:
        rows = self._between(position.y(), position.y())
        return next((row for row in rows if row.area.contains(position)), None)

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

    def _paint_piece(
        self, painter: QPainter, area: QRectF, cell: StripToken, sizes: _Sizes
    ) -> None:
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
        elided = painter.fontMetrics().elidedText(
            cell.piece, Qt.TextElideMode.ElideRight, int(inner.width()) + 1
        )
        painter.drawText(inner, self._side(), elided)

    def _paint_line(
        self, painter: QPainter, area: QRectF, line: PredictionLine, first: bool, sizes: _Sizes
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
        placed = self._at(event.position())
        if placed is not None:
            self._take(placed.cell.number)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Right: -1 if self._rtl else 1, Qt.Key.Key_Left: 1 if self._rtl else -1}
        if (
            event.key() in steps
            and self._placed
            and not event.modifiers() & Qt.KeyboardModifier.ControlModifier
        ):
            place = self._places.get(self._number) if self._number is not None else None
            at = place + steps[Qt.Key(event.key())] if place is not None else 0
            self._take(self._placed[min(max(at, 0), len(self._placed) - 1)].cell.number)
            return
        super().keyPressEvent(event)

    def _take(self, number: int) -> None:
        self.choose(number)
        self.chosen.emit(number)

    def _show_chosen(self) -> None:
        place = self._places.get(self._number) if self._number is not None else None
        self._to_see = self._number is not None and place is None
        if place is not None and self._see is not None:
            self._see(self._placed[place].area)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip:
            placed = self._at(QPointF(cast(QHelpEvent, event).pos()))
            escaping.set_tip(self, self._tip(placed.cell.number) if placed and self._tip else "")
        return super().event(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if self._number is None and self._placed:
            self._take(self._placed[0].cell.number)
