"""A text as a strip of words, each with a background, a caption, or a box of probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
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
from PySide6.QtWidgets import QScrollArea, QSizePolicy, QWidget

from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.focus_ring import FocusRing
from workbench.ui.widgets.layout import scrolled

GAP, LINE_GAP, PAD = 5, 8, 5  # pixels: between words, between rows, around a word
BOX = 98  # width of a box with probabilities, pixels at 100%
_MIDDLE = Qt.AlignmentFlag.AlignVCenter
_STEPS = {Qt.Key.Key_Right: 1, Qt.Key.Key_Left: -1}


@dataclass(frozen=True)
class Share:
    """One line of a box: a name, a probability in [0, 1], the colour of its bar."""

    name: str
    share: float
    tint: str


@dataclass(frozen=True)
class StripWord:
    """One word. Colours are #RRGGBB or names of the theme, "" for none.

    number: what is emitted when it is selected. ground: behind the word; ink: of its letters.
    rule: the line below it, dashed if `dashed`. caption: below, in `ink_caption`; pieces: a further
    line in the font of tokens. shares: drawn in a box of the colour `frame`.
    """

    number: int
    text: str
    ground: str = ""
    ink: str = "text"
    rule: str = ""
    dashed: bool = False
    caption: str = ""
    ink_caption: str = "text"
    pieces: str = ""
    frame: str = ""
    shares: tuple[Share, ...] = ()
    bold: bool = False


@dataclass(frozen=True)
class _Sizes:
    fonts: dict[str, QFont]
    word: float
    caption: float
    share: float

    @classmethod
    def now(cls) -> _Sizes:
        fonts = {
            "word": theme.font("reading"),
            "bold": theme.font("reading", 600),
            "caption": theme.font("caption", 500),
            "small": theme.font("small"),
            "pieces": theme.font("mono"),
        }
        fonts["pieces"].setPixelSize(theme.size("tiny"))
        return cls(fonts, theme.px(25), theme.px(16), theme.px(21))


class WordStrip(QWidget):
    """Wraps at its width and grows downwards; put it into `strip_scrolled`.

    `chosen(number)` is emitted on clicks and arrow keys, `clicked(number)` on clicks alone,
    `opened(number)` on Enter and Space. `tip(number)` gives the tooltip and the accessible
    description of a word.
    """

    chosen = Signal(int)
    clicked = Signal(int)
    opened = Signal(int)
    grown = Signal()

    def __init__(self, name: str, *, tip: Callable[[int], str] | None = None):
        super().__init__()
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        FocusRing(self)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self._words: tuple[StripWord, ...] = ()
        self._areas: list[QRectF] = []
        self._rtl, self._number = False, -1
        self._tip = tip
        self.scroll_to: Callable[[QRectF], None] | None = None  # of what it is scrolled in
        drop = theme.changed.connect(self._place)
        self.destroyed.connect(lambda *_: drop())

    def set(self, words: Sequence[StripWord], *, rtl: bool = False) -> None:
        self._words, self._rtl = tuple(words), rtl
        self._place()

    @property
    def words(self) -> tuple[StripWord, ...]:
        return self._words

    @property
    def number(self) -> int:
        """Of the outlined word, -1 for none."""
        return self._number

    def choose(self, number: int) -> None:
        """Outline a word, -1 for none; emits nothing."""
        if number != self._number:
            self._number = number
            at = self._place_of(number)
            if at >= 0 and self.scroll_to is not None:
                self.scroll_to(self.area(at))
            self.update()

    def area(self, at: int) -> QRectF:
        """Where a word lies, in the coordinates of the strip."""
        return self._areas[at]

    def _place_of(self, number: int) -> int:
        return next((at for at, word in enumerate(self._words) if word.number == number), -1)

    # ---------------------------------------------------------------- layout

    def sizeHint(self) -> QSize:
        return QSize(400, self.minimumHeight())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._place()

    def _place(self) -> None:
        sizes, width = _Sizes.now(), max(self.width(), theme.px(120))
        metrics = {name: QFontMetricsF(font) for name, font in sizes.fonts.items()}
        self._areas = []
        x = y = tall = 0.0
        for word in self._words:
            wide, high = self._size(word, sizes, metrics)
            wide = min(wide, width)
            if x and x + wide > width:
                x, y, tall = 0.0, y + tall + LINE_GAP, 0.0
            left = width - x - wide if self._rtl else x
            self._areas.append(QRectF(left, y, wide, high))
            x, tall = x + wide + GAP, max(tall, high)
        self.setMinimumHeight(int(y + tall) + 4)
        self.updateGeometry()
        self.update()
        self.grown.emit()

    def _size(
        self, word: StripWord, sizes: _Sizes, metrics: dict[str, QFontMetricsF]
    ) -> tuple[float, float]:
        wide = metrics["bold" if word.bold else "word"].horizontalAdvance(word.text) + 2 * PAD
        high = sizes.word
        if word.shares:
            wide = max(wide, theme.px(BOX)) + 6
            high += len(word.shares) * sizes.share + 6
        if word.caption:
            wide = max(wide, metrics["caption"].horizontalAdvance(word.caption) + 2)
            high += sizes.caption + 4
        if word.pieces:
            wide = max(wide, metrics["pieces"].horizontalAdvance(word.pieces) + 2)
            high += sizes.caption
        return wide, high + (4 if word.rule and not word.caption else 0)

    # ---------------------------------------------------------------- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        sizes, exposed = _Sizes.now(), QRectF(event.rect())
        for word, area in zip(self._words, self._areas, strict=True):
            if area.intersects(exposed):
                self._paint(painter, word, area, sizes)

    def _paint(self, painter: QPainter, word: StripWord, area: QRectF, sizes: _Sizes) -> None:
        head = QRectF(area.left(), area.top(), area.width(), sizes.word)
        if word.ground:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(_colour(word.ground))
            painter.drawRoundedRect(head.adjusted(0, 1, 0, -1), 4, 4)
        chosen = word.number == self._number
        if word.frame or chosen:
            self._paint_frame(painter, word, area if word.shares else head, chosen)
        painter.setFont(sizes.fonts["bold" if word.bold else "word"])
        painter.setPen(_colour(word.ink))
        elided = painter.fontMetrics().elidedText(
            word.text, Qt.TextElideMode.ElideRight, int(head.width() - 2 * PAD) + 1
        )
        side = Qt.AlignmentFlag.AlignLeft if word.shares else Qt.AlignmentFlag.AlignHCenter
        painter.drawText(head.adjusted(PAD, 0, -PAD, 0), _MIDDLE | side, elided)
        if word.rule:
            style = Qt.PenStyle.DashLine if word.dashed else Qt.PenStyle.SolidLine
            painter.setPen(QPen(_colour(word.rule), 2, style))
            low = head.bottom() + 1
            painter.drawLine(QPointF(head.left() + 1, low), QPointF(head.right() - 1, low))
        self._paint_below(painter, word, area, sizes)

    def _paint_frame(self, painter: QPainter, word: StripWord, area: QRectF, chosen: bool) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        colour = theme.qcolour("accent") if chosen else _colour(word.frame)
        painter.setPen(QPen(colour, 2 if chosen else 1.3))
        painter.drawRoundedRect(area.adjusted(1, 1, -1, -1), 4, 4)

    def _paint_below(self, painter: QPainter, word: StripWord, area: QRectF, sizes: _Sizes) -> None:
        y = area.top() + sizes.word
        for number, share in enumerate(word.shares):
            room = QRectF(area.left() + PAD + 2, y, area.width() - 2 * PAD - 4, sizes.share)
            _paint_share(painter, share, room, number == 0)
            y += sizes.share
        center = _MIDDLE | Qt.AlignmentFlag.AlignHCenter
        if word.caption:
            painter.setFont(sizes.fonts["caption"])
            painter.setPen(_colour(word.ink_caption))
            painter.drawText(
                QRectF(area.left(), y + 4, area.width(), sizes.caption), center, word.caption
            )
            y += sizes.caption + 4
        if word.pieces:
            painter.setFont(sizes.fonts["pieces"])
            painter.setPen(theme.qcolour("muted"))
            painter.drawText(
                QRectF(area.left(), y, area.width(), sizes.caption), center, word.pieces
            )

    # ---------------------------------------------------------------- mouse and keys

    def _at(self, position: QPointF) -> int:
        places = (at for at, area in enumerate(self._areas) if area.contains(position))
        return next(places, -1)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if (at := self._at(event.position())) >= 0:
            self._take(at)
            self.clicked.emit(self._words[at].number)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, at = Qt.Key(event.key()), self._place_of(self._number)
        plain_key = not event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if key in _STEPS and self._words and plain_key:
            step = -_STEPS[key] if self._rtl else _STEPS[key]
            self._take(min(max(at + step, 0), len(self._words) - 1) if at >= 0 else 0)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and at >= 0:
            self.opened.emit(self._number)
        else:
            super().keyPressEvent(event)

    def _take(self, at: int) -> None:
        number = self._words[at].number
        self.choose(number)
        if self._tip is not None:
            self.setAccessibleDescription(f"{self._words[at].text}\n{self._tip(number)}".strip())
        self.chosen.emit(number)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip:
            at = self._at(QPointF(cast(QHelpEvent, event).pos()))
            known = at >= 0 and self._tip is not None
            escaping.set_tip(self, self._tip(self._words[at].number) if known and self._tip else "")
        return super().event(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if self._place_of(self._number) < 0 and self._words:
            self._take(0)


def _colour(name: str) -> QColor:
    return QColor(name if name.startswith("#") else theme.colour(name))


def _paint_share(painter: QPainter, share: Share, room: QRectF, first: bool) -> None:
    painter.setFont(theme.font("caption", 600 if first else 400))
    painter.setPen(theme.qcolour("text" if first else "muted"))
    number = formats.points(share.share, 0)
    text = room.adjusted(0, 0, 0, -6)
    wide = painter.fontMetrics().horizontalAdvance(number)
    painter.drawText(text, _MIDDLE | Qt.AlignmentFlag.AlignRight, number)
    name = painter.fontMetrics().elidedText(
        share.name, Qt.TextElideMode.ElideMiddle, int(room.width() - wide - 4)
    )
    painter.drawText(text, _MIDDLE | Qt.AlignmentFlag.AlignLeft, name)
    track = QRectF(room.left(), room.bottom() - 5, room.width(), 3)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.qcolour("sunken"))
    painter.drawRoundedRect(track, 1.5, 1.5)
    painter.setBrush(_colour(share.tint))
    filled = max(2.0, track.width() * min(1.0, share.share))
    painter.drawRoundedRect(QRectF(track.left(), track.top(), filled, 3), 1.5, 1.5)


def strip_scrolled(strip: WordStrip, *, fit: bool = True) -> QScrollArea:
    """The strip in a vertical scroll area, which keeps the outlined word in view.

    fit: the area is never higher than the words.
    """
    area = scrolled(strip)

    def scroll_to(word: QRectF) -> None:
        center = word.center()
        area.ensureVisible(int(center.x()), int(center.y()), 0, int(word.height() / 2) + 4)

    def limit() -> None:
        area.setMaximumHeight(strip.minimumHeight() + 2 * area.frameWidth())

    strip.scroll_to = scroll_to
    if fit:
        strip.grown.connect(limit)
        limit()
    return area
