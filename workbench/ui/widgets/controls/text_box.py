"""A field for a text of several lines that grows with its content."""

from __future__ import annotations

import math

from PySide6.QtCore import QSizeF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy

from workbench.ui.widgets.text.span_layout import starts_rtl

PARAGRAPH = "\u2029"  # what a QTextDocument has between two lines


class TextBox(QPlainTextEdit):
    """As tall as its text, between `least` and `most` lines; longer texts scroll.

    Enter emits `submitted`, Shift+Enter begins a new line, Tab moves the focus. `edited` is emitted
    when the user changes the text.
    """

    edited = Signal()
    submitted = Signal()

    def __init__(self, *, least: int = 2, most: int = 6):
        super().__init__()
        self._least, self._most, self._setting = least, most, False
        self.setTabChangesFocus(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        align_by_text(self)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self.textChanged.connect(self._changed)
        self._fit()

    def text(self) -> str:
        """As typed; `toPlainText` would replace no-break spaces by spaces."""
        return self.document().toRawText().replace(PARAGRAPH, "\n")

    def set_text(self, text: str) -> None:
        """Replace the text without emitting `edited`; shows its beginning."""
        self._setting = True
        self.setPlainText(text)
        self._setting = False

    def setPlaceholderText(self, text: str) -> None:
        """Qt does not draw a text again that replaces another one."""
        super().setPlaceholderText(text)
        self.viewport().update()

    def all_selected(self) -> bool:
        cursor = self.textCursor()
        return cursor.selectionEnd() - cursor.selectionStart() == len(self.document().toRawText())

    def _changed(self) -> None:
        if not self._setting:
            self.edited.emit()

    def _fit(self, _size: QSizeF | None = None) -> None:
        count = math.ceil(self.document().size().height())  # of a plain text, its lines
        policy = Qt.ScrollBarPolicy
        is_cut = count > self._most
        self.setVerticalScrollBarPolicy(
            policy.ScrollBarAsNeeded if is_cut else policy.ScrollBarAlwaysOff
        )
        lines = min(max(count, self._least), self._most)
        spacing = QFontMetricsF(self.font()).lineSpacing()
        around = self.height() - self.viewport().height()  # frame and padding
        high = math.ceil(lines * spacing + 2 * self.document().documentMargin()) + around
        if high != self.height():
            self.setFixedHeight(high)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.textCursor().insertText("\n")
        elif event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()  # a key of the page
        else:
            self.submitted.emit()


def align_by_text(editor: QPlainTextEdit) -> None:
    """Align a text that begins from right to left at the right; the layout of Qt never does."""

    def align() -> None:
        document = editor.document()
        sides = Qt.AlignmentFlag
        side = sides.AlignRight if starts_rtl(document.firstBlock().text()) else sides.AlignLeft
        option = document.defaultTextOption()
        if option.alignment() != side:
            option.setAlignment(side)
            document.setDefaultTextOption(option)

    editor.textChanged.connect(align)
    align()
