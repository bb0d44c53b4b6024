"""Tokens in rows of equal height: what the matrix and the lines of an attention head share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRectF, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFont, QFontMetricsF, QPainter, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QSizePolicy

from workbench.ui.style import theme
from workbench.ui.widgets.focus_ring import FocusRing

if TYPE_CHECKING:
    from workbench.inspection.attention.info import Attention

MIN_SIDE = 12  # minimum height of a row, pixels at 100%
MOST_LABEL = 92  # maximum width of a token, pixels at 100%
PAD = 6


def token_font(chosen: bool = False) -> QFont:
    """Font of the tokens beside a matrix."""
    font = theme.font("mono", 700 if chosen else 400)
    font.setPixelSize(theme.size("caption"))
    return font


class TokenRows(QAbstractScrollArea):
    """Base class of matrix and lines: tokens in rows of equal height, one of them selected.

    `taken(row)` is emitted when the user selects a query token, `hovered(row, column)` when the
    mouse is over a cell or row; -1 for none.
    """

    taken = Signal(int)
    hovered = Signal(int, int)

    def __init__(self, name: str):
        super().__init__()
        self.setAccessibleName(name)
        self.setFrameShape(self.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        FocusRing(self)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.viewport().setMouseTracking(True)
        self.result: Attention | None = None
        self.row, self.column = -1, -1
        self.cell, self.above, self.label = float(MIN_SIDE), 60.0, 60.0
        drop = theme.changed.connect(self.restyle)
        self.destroyed.connect(lambda *_: drop())

    def set(self, result: Attention | None) -> None:
        """Show a head, or nothing."""
        before = self.result
        if before is None or result is None or before.tokens != result.tokens:
            self.row = self.column = -1
        self.result = result
        self.restyle()

    @property
    def head(self) -> Attention:
        """The head that is shown. Raises RuntimeError if there is none."""
        if self.result is None:
            raise RuntimeError("no head is shown")
        return self.result

    def choose(self, row: int) -> None:
        """Select a query token; emits nothing."""
        if row != self.row:
            self.row = row
            if row >= 0:
                self.see(row)
            self.viewport().update()

    def restyle(self) -> None:
        """Compute sizes from the tokens, the text size and the available space."""
        self.measure()
        self.viewport().update()

    def measure(self) -> None:
        raise NotImplementedError

    @property
    def count(self) -> int:
        return len(self.result.tokens) if self.result is not None else 0

    @property
    def top(self) -> float:
        return self.above - self.verticalScrollBar().value()

    def widest(self) -> float:
        metrics = QFontMetricsF(token_font(True))
        names = (token.shown for token in self.head.tokens)
        longest = max((metrics.horizontalAdvance(name) for name in names), default=0.0)
        return min(longest + PAD, theme.px(MOST_LABEL))

    def scroll_down(self) -> None:
        """Set up the vertical scroll bar."""
        bar, room = self.verticalScrollBar(), self.viewport().height()
        bar.setRange(0, max(0, int(self.above + self.count * self.cell + PAD - room)))
        bar.setPageStep(max(1, int(room - self.above)))
        bar.setSingleStep(int(self.cell))

    def see(self, row: int) -> None:
        """Scroll a row into view."""
        bar = self.verticalScrollBar()
        low = int((row + 1) * self.cell + self.above - self.viewport().height() + PAD)
        bar.setValue(min(max(bar.value(), low), int(row * self.cell)))

    def seen(self) -> range:
        """Range of visible rows."""
        first = int(self.verticalScrollBar().value() // self.cell)
        last = int((self.verticalScrollBar().value() + self.viewport().height()) // self.cell) + 1
        return range(max(0, first), min(self.count, last))

    def row_at(self, y: float) -> int:
        row = int((y - self.top) // self.cell)
        return row if 0 <= row < self.count and y >= self.above else -1

    def write(
        self, painter: QPainter, area: QRectF, number: int, chosen: bool, side: Qt.AlignmentFlag
    ) -> None:
        """Draw a token in its row."""
        token, font = self.head.tokens[number], token_font(chosen)
        painter.setFont(font)
        painter.setPen(theme.qcolour("text" if chosen else "faint" if token.special else "muted"))
        elided = QFontMetricsF(font).elidedText(
            token.shown, Qt.TextElideMode.ElideRight, area.width()
        )
        painter.drawText(area, side | Qt.AlignmentFlag.AlignVCenter, elided)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.measure()

    def scrollContentsBy(self, _across: int, _down: int) -> None:
        self.viewport().update()

    def leaveEvent(self, event: QEvent) -> None:
        self.hovered.emit(-1, -1)
        super().leaveEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if self.row < 0 and self.count:
            self.take(0)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def take(self, row: int) -> None:
        """Select a query token on behalf of the user."""
        self.choose(row)
        self.taken.emit(row)
