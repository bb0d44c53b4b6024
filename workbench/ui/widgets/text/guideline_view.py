"""The guideline of layers: Markdown in which labels have their colours and examples their signs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QTextEdit

from workbench.text.guideline import BAD, GOOD, label_of
from workbench.ui.style import theme
from workbench.ui.widgets.text.markdown import MarkdownView, blocks_from, parts_of, selected

if TYPE_CHECKING:
    from workbench.text.labels import Label, Layer

HANGING = 15  # pixels: indent of an example beside its sign
NEAR = 8  # pixels above what is scrolled to
MOST = 1_000  # matches that are highlighted


class GuidelineView(MarkdownView):
    """Shows guidelines; `go_to` scrolls to what they say about a label, `find` searches them."""

    def __init__(self, name: str, placeholder: str = "", *, compact: bool = False):
        super().__init__(name, placeholder, compact=compact)
        self._labels: dict[str, Label] = {}
        self._sections: dict[str, int] = {}  # label → position of its heading
        self._mentions: dict[str, int] = {}  # and of its last row of a table or item
        self._labelled: list[tuple[int, str]] = []  # (position, label) of all sections
        self._matches: list[QTextCursor] = []
        self._match: int | None = None

    def set_guideline(self, text: str, layers: Sequence[Layer]) -> None:
        """Show Markdown that `operations.schema.guideline.shown` made of layers."""
        labels = {label.name: label for layer in layers for label in layer.labels}
        if labels != self._labels:
            self._labels = labels
            self._text, self._parts = None, []  # other colours
        self.set_markdown(text)

    # ------------------------------------------------------------ places

    def go_to(self, label: str) -> bool:
        """Scroll to the section of a label, else to its row or item, as soon as it is shown; False
        if there is neither so far.
        """
        place = self._sections.get(label, self._mentions.get(label) if self._is_whole else None)
        self._scroll_later = (
            None if place is not None or self._is_whole else lambda: self.go_to(label)
        )
        if place is None:
            return False
        self._scroll_to(place)
        return True

    def go_to_words(self, words: str) -> None:
        """Scroll to the last place with these words, such as an example that was just added."""
        if not self._is_whole:
            self._scroll_later = lambda: self._is_whole and self.go_to_words(words)
            return
        document = self.document()
        end = QTextCursor(document)
        end.movePosition(QTextCursor.MoveOperation.End)
        match = document.find(words[:80], end, QTextDocument.FindFlag.FindBackward)
        if not match.isNull():
            self._scroll_to(match.selectionStart())

    def _scroll_to(self, position: int) -> None:
        cursor = QTextCursor(self.document())
        cursor.setPosition(position)
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + self.cursorRect(cursor).top() - NEAR)

    # ------------------------------------------------------------ search

    def find_all(self, text: str) -> None:
        """Highlight all places with a text, and scroll to the first below the top of the view."""
        self.show_all()
        self._matches = list(self._places_of(text)) if text else []
        top = self.cursorForPosition(self.viewport().rect().topLeft()).position()
        below = (n for n, match in enumerate(self._matches) if match.selectionStart() >= top)
        self._match = next(below, 0) if self._matches else None
        self._highlight()

    def find_step(self, way: int) -> None:
        """Go to the next (1) or previous (-1) match."""
        if self._match is not None:
            self._match = (self._match + way) % len(self._matches)
            self._highlight()

    @property
    def found_place(self) -> tuple[int | None, int]:
        """Number of the current match, from 0, and of all matches."""
        return self._match, len(self._matches)

    def _places_of(self, text: str) -> Iterable[QTextCursor]:
        match = self.document().find(text)
        for _number in range(MOST):
            if match.isNull():
                return
            yield match
            match = self.document().find(text, match)

    def _highlight(self) -> None:
        selections = []
        for number, cursor in enumerate(self._matches):
            selection = QTextEdit.ExtraSelection()
            current = number == self._match
            selection.cursor = cursor
            chars = QTextCharFormat()
            chars.setBackground(theme.qcolour("accent" if current else "accent_soft"))
            if current:
                chars.setForeground(theme.qcolour("on_accent"))
            selection.format = chars
            selections.append(selection)
        self.setExtraSelections(selections)
        if self._match is not None:
            self._scroll_to(self._matches[self._match].selectionStart())

    # ------------------------------------------------------------ looks

    def _forget(self, position: int) -> None:
        self._sections = {name: at for name, at in self._sections.items() if at < position}
        self._mentions = {name: at for name, at in self._mentions.items() if at < position}
        self._labelled = [place for place in self._labelled if place[0] < position]
        self._matches, self._match = [], None
        self.setExtraSelections([])

    def _decorate(self, first: QTextBlock) -> None:
        label = self._labelled[-1][1] if self._labelled else ""
        names, example = tuple(self._labels), -1
        for block in list(blocks_from(first)):
            cursor, text = QTextCursor(block), block.text()
            if block.blockFormat().headingLevel():
                if label_of(text, names):
                    label = label_of(text, names)
                    self._sections.setdefault(label, block.position())
                    self._labelled.append((block.position(), label))
                continue
            depth = block.blockFormat().indent()
            item = block.textList()
            level = depth + (item.format().indent() if item is not None else 0)
            if item is not None and text[:1] in (GOOD, BAD):
                example = level
                self._show_example(block, label)
            elif item is not None and 0 <= example < level:
                _hang(block)
                _tint(block, "muted")
            elif name := label_of(text.rpartition("›")[2], names):
                example = -1
                table = cursor.currentTable()
                if table is None or table.cellAt(cursor).column() == 0:
                    self._mentions[name] = block.position()
                if table is not None and table.cellAt(cursor).column() == 0:
                    self._show_chip(block, name, text)
            else:
                example = -1

    def _show_chip(self, block: QTextBlock, name: str, text: str) -> None:
        """The name of a label in the first column of a table."""
        at = text.rfind(name)
        if at < 0 or text[at:].strip() != name:
            return
        cursor = QTextCursor(block)
        cursor.setPosition(block.position() + at)
        cursor.setPosition(block.position() + at + len(name), QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(self._colours(name, weight=500))

    def _colours(self, name: str, *, weight: int) -> QTextCharFormat:
        chars = QTextCharFormat()
        colours = theme.label_colours(self._labels[name])
        chars.setBackground(QColor(colours.fill))
        chars.setForeground(theme.qcolour("text"))
        chars.setFontWeight(QFont.Weight(weight))
        return chars

    def _show_example(self, block: QTextBlock, label: str) -> None:
        """Its sign in the colour of its meaning, its range in that of its label, its key small."""
        good = block.text()[:1] == GOOD
        _hang(block, first=-theme.px(HANGING))
        marks: list[QTextCursor] = []
        for fragment in [part.fragment() for part in parts_of(block)]:
            cursor = selected(fragment, block)
            chars = fragment.charFormat()
            if chars.fontFixedPitch():
                small = QTextCharFormat()
                small.setForeground(theme.qcolour("faint"))
                small.setProperty(QTextCharFormat.Property.FontPixelSize, theme.size("caption"))
                cursor.mergeCharFormat(small)
            elif chars.fontWeight() > QFont.Weight.Normal:
                if label in self._labels:
                    cursor.mergeCharFormat(self._colours(label, weight=600))
                marks.append(cursor)
        sign = QTextCursor(block)
        move = QTextCursor.MoveOperation.NextCharacter  # Right would be one to the left in Arabic
        sign.movePosition(move, QTextCursor.MoveMode.KeepAnchor)
        chars = QTextCharFormat()
        chars.setForeground(theme.qcolour("good" if good else "bad"))
        chars.setFontWeight(QFont.Weight.Bold)
        sign.mergeCharFormat(chars)
        for mark in reversed(marks):
            _remove_brackets(mark, block)


def _hang(block: QTextBlock, *, first: int = 0) -> None:
    """Indent a block without a bullet. first: of its first line, beside that."""
    if (item := block.textList()) is not None:
        item.remove(block)
    form = block.blockFormat()
    form.setIndent(0)
    if block.textDirection() == Qt.LayoutDirection.LeftToRight:
        form.setLeftMargin(theme.px(HANGING))
        form.setTextIndent(first)
    else:  # Qt would draw the first line beyond the margin
        form.setRightMargin(0 if first else theme.px(HANGING))
    QTextCursor(block).setBlockFormat(form)


def _tint(block: QTextBlock, colour: str) -> None:
    cursor = QTextCursor(block)
    cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
    chars = QTextCharFormat()
    chars.setForeground(theme.qcolour(colour))
    cursor.mergeCharFormat(chars)


def _remove_brackets(mark: QTextCursor, block: QTextBlock) -> None:
    """Those around the marked range: its colour takes their place."""
    text = block.text()
    start, end = (
        place - block.position() for place in (mark.selectionStart(), mark.selectionEnd())
    )
    if start > 0 and text[start - 1] == "[" and text[end : end + 1] == "]":
        for at in (end, start - 1):
            cursor = QTextCursor(block)
            cursor.setPosition(block.position() + at)
            cursor.deleteChar()
