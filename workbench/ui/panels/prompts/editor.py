"""Texts of the Prompts page: the template with line numbers, and the rendered prompt."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextBlock,
    QTextCursor,
)
from PySide6.QtWidgets import QWidget

from workbench.ui.style import escaping, theme
from workbench.ui.widgets.text.marked_text import MonoText
from workbench.ui.widgets.text.offsets import DisplayText, Utf16Map

GAP = 8  # pixels between a line number and the text


class TemplateEditor(MonoText):
    """The template editor. `mark` shows which line has an error."""

    def __init__(self, name: str):
        super().__init__(name)
        self._numbers = _Numbers(self)
        self._wrong: int | None = None
        self.blockCountChanged.connect(lambda _count: self._make_room())
        self.updateRequest.connect(self._scrolled)
        self.textChanged.connect(lambda: self.mark(None))
        self._make_room()

    def source(self) -> str:
        """The template as typed. `toPlainText` would replace no-break spaces by spaces."""
        return self.document().toRawText().replace("\u2029", "\n")

    def mark(self, line: int | None, message: str = "") -> None:
        """Mark a line (1-based) and report the reason to screen readers; None removes the mark."""
        block = self._block(line)
        self._wrong = block.blockNumber() if block else None
        self.highlight(QTextCursor(block) if block else None, "bad_soft", whole_line=True)
        self.setAccessibleDescription(message)
        escaping.set_tip(self._numbers, message)
        self._numbers.update()

    def go_to(self, line: int) -> None:
        """Move the cursor to the start of a line and scroll to it."""
        if block := self._block(line):
            self.setTextCursor(QTextCursor(block))
            self.centerCursor()
            self.setFocus()

    def shows(self, line: int) -> bool:
        """Whether the line is visible without scrolling."""
        block = self._block(line)
        return block is not None and self.viewport().rect().intersects(self._place(block))

    def paint_numbers(self, painter: QPainter, visible: QRect) -> None:
        painter.setFont(theme.font("mono"))
        block = self.firstVisibleBlock()
        while block.isValid():
            place = self._place(block)
            if place.top() > visible.bottom():
                break
            wrong = block.blockNumber() == self._wrong
            if wrong:
                ground = QRect(0, place.top(), self._numbers.width(), place.height())
                painter.fillRect(ground, QColor(theme.colour("bad_soft")))
            painter.setPen(QColor(theme.colour("bad" if wrong else "faint")))
            width = self._numbers.width() - GAP
            line = QRect(0, place.top(), width, self.fontMetrics().height())
            painter.drawText(line, Qt.AlignmentFlag.AlignRight, str(block.blockNumber() + 1))
            block = block.next()

    def width_of_numbers(self) -> int:
        digits = max(2, len(str(self.blockCount())))
        return GAP + round(digits * QFontMetricsF(theme.font("mono")).horizontalAdvance("9"))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if hasattr(self, "_numbers"):  # the theme or text size has changed
            self._make_room()
            self._numbers.update()

    def _block(self, line: int | None) -> QTextBlock | None:
        block = self.document().findBlockByNumber(line - 1) if line else None
        return block if block is not None and block.isValid() else None

    def _place(self, block: QTextBlock) -> QRect:
        """Rectangle of a line in the viewport, including all its wrapped parts."""
        return self.blockBoundingGeometry(block).translated(self.contentOffset()).toAlignedRect()

    def _make_room(self) -> None:
        width = self.width_of_numbers()
        if self.viewportMargins().left() != width:
            self.setViewportMargins(width, 0, 0, 0)
        beside = self.viewport().geometry()
        self._numbers.setGeometry(beside.left() - width, beside.top(), width, beside.height())

    def _scrolled(self, _place: QRect, by: int) -> None:
        if by:
            self._numbers.scroll(0, by)
        else:
            self._numbers.update()


class _Numbers(QWidget):
    """The line numbers beside the text."""

    def __init__(self, box: TemplateEditor):
        super().__init__(box)
        self._box = box

    def sizeHint(self) -> QSize:
        return QSize(self._box.width_of_numbers(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self._box.paint_numbers(painter, event.rect())
        painter.end()


class PromptText(MonoText):
    """The rendered prompt, read-only.

    The candidate is highlighted; an outdated prompt is dimmed.
    """

    def __init__(self, name: str):
        super().__init__(name)
        self.setReadOnly(True)
        self.setProperty("plain", True)
        self.setMinimumHeight(theme.px(80))
        self._shown: tuple[str, str, str] | None = None

    def show_prompt(self, parts: tuple[str, str, str]) -> None:
        """Show before, answer, after. Scrolls to the candidate if the prompt has changed."""
        if parts != self._shown:
            self._shown = parts
            self.setPlainText(displayed("".join(parts)))
            self.mark_candidate()
            end = self.verticalScrollBar()
            end.setValue(end.maximum())

    def mark_candidate(self) -> None:
        """Highlight the candidate in colours of the current theme."""
        if self._shown is None:
            return
        before, answer, _after = map(displayed, self._shown)
        cursor = QTextCursor(self.document())
        cursor.setPosition(_units(before))
        cursor.setPosition(_units(before + answer), QTextCursor.MoveMode.KeepAnchor)
        # Without a candidate, the model writes the answer.
        self.highlight(cursor if answer else None, "accent_soft", whole_line=False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the end visible, where the candidate usually is."""
        bar = self.verticalScrollBar()
        at_end = bar.value() == bar.maximum()
        super().resizeEvent(event)
        if at_end:
            bar.setValue(bar.maximum())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == event.Type.StyleChange and hasattr(self, "_shown"):
            self.mark_candidate()


def displayed(text: str) -> str:
    """As displayed by Qt: CR LF is one line break, other control characters have symbols."""
    return DisplayText(text).shown.replace("\r\n", "\n")


def _units(text: str) -> int:
    return Utf16Map(text).units
