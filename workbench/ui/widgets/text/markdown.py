"""Read-only Markdown, such as a layer's guideline. No file and no URL is loaded."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile
from typing import cast

from PySide6.QtCore import QByteArray, QTimer, QUrl
from PySide6.QtGui import (
    QDesktopServices,
    QFont,
    QImage,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFragment,
    QTextFrameFormat,
    QTextTable,
)
from PySide6.QtWidgets import QFrame, QTextBrowser

from workbench.base.i18n import _
from workbench.ui.style import escaping, theme

HEADINGS = ("title", "heading", "ui")  # font kinds of heading levels 1, 2, 3 and below
COMPACT = ("heading", "ui", "ui")  # compact, beside a text
LINE_HEIGHT = 125.0  # percent
PART = 24  # lines that are shown at once; the next ones follow after other events
_BREAK = re.compile(r"#{1,6} |[-*+] ")  # lines that a part can begin with
_FENCE = re.compile(r" {0,3}(```|~~~)")
_DEFINITION = re.compile(r"^ {0,3}(\[[^\]\n]+\]:|<)", re.MULTILINE)
_IMAGE = QTextDocument.ResourceType.ImageResource.value
_FEATURES = (
    QTextDocument.MarkdownFeature.MarkdownDialectGitHub
    | QTextDocument.MarkdownFeature.MarkdownNoHTML
)


class MarkdownView(QTextBrowser):
    """Shows Markdown in the fonts of the theme.

    A long text is shown part by part, with events between them; where its beginning stays the same,
    only what follows is laid out again. HTML is shown verbatim and an image as its description. The
    tooltip of a link is its URL; a web link opens in the browser when clicked, a link to a heading
    scrolls there.
    """

    def __init__(self, name: str, placeholder: str = "", *, compact: bool = False):
        super().__init__()
        self._text: str | None = None
        self._parts: list[str] = []
        self._starts: list[int] = []  # positions of the parts that are in the document
        self._scroll_later: Callable[[], object] | None = None  # scrolls to what is not there yet
        self._headings = COMPACT if compact else HEADINGS
        self._margin = 0 if compact else 4
        self.setAccessibleName(name)
        self.setPlaceholderText(placeholder)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("plain", True)
        self.setOpenLinks(False)
        self.anchorClicked.connect(self._open)
        drop = theme.changed.connect(self._restyle)
        self.destroyed.connect(lambda *_: drop())

    def set_markdown(self, text: str) -> None:
        """Show `text`; setting the same text again keeps the scroll position."""
        if text != self._text:
            before, self._text, self._parts = self._parts, text, _parts(text)
            pairs = zip(before[: len(self._starts)], self._parts, strict=False)
            self._show_from(sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)))

    def show_all(self) -> None:
        """Show all parts now."""
        while self._show_next():
            pass

    def _restyle(self) -> None:
        self._show_from(0)

    def _show_from(self, number: int) -> None:
        """Show the parts from this one on; those before it are shown already."""
        document = self.document()
        end = self._starts[number] if number < len(self._starts) else None
        del self._starts[number:]
        if not number:
            document.setDocumentMargin(self._margin)
            document.setDefaultFont(theme.font("ui"))
            self._forget(0)
            self._show_next()
            self.moveCursor(QTextCursor.MoveOperation.Start)
        elif end is not None:
            self._forget(end)
            cursor = QTextCursor(document)
            cursor.setPosition(end - 1)  # with the break before it
            cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
            cursor.removeSelectedText()
        QTimer.singleShot(0, self, self._continue)

    def _continue(self) -> None:
        if self._show_next():
            QTimer.singleShot(0, self, self._continue)

    def _show_next(self) -> bool:
        """Show another part; returns whether that was not the last."""
        document, number = self.document(), len(self._starts)
        if number >= max(1, len(self._parts)):
            return False
        part = self._parts[number] if self._parts else ""
        changes = QTextCursor(document)
        if number:
            changes.movePosition(QTextCursor.MoveOperation.End)
            changes.beginEditBlock()  # one layout for all changes
            changes.insertBlock(QTextBlockFormat(), QTextCharFormat())
            start = changes.position()
            changes.insertMarkdown(part, _FEATURES)
            if not document.findBlock(start).text():  # Qt puts a list into a new block
                changes.setPosition(start)
                changes.deleteChar()
        else:
            document.setMarkdown(part, _FEATURES)
            changes.beginEditBlock()
            start = 0
        self._starts.append(start)
        first = document.findBlock(start)
        _name_pictures(first)
        for block in blocks_from(first):
            _show_addresses(block)
            self._dress(block)
        for frame in document.rootFrame().childFrames():
            if isinstance(frame, QTextTable) and frame.firstPosition() >= start:
                _dress_table(frame)
        self._decorate(first)
        changes.endEditBlock()
        if self._scroll_later is not None and self._scroll_later():
            self._scroll_later = None
        return len(self._starts) < len(self._parts)

    @property
    def _is_whole(self) -> bool:
        return len(self._starts) >= len(self._parts)

    def _forget(self, position: int) -> None:
        """Called before what follows a position is removed."""

    def _decorate(self, first: QTextBlock) -> None:
        """Called within an edit block whenever the text from a block on was laid out."""

    def _dress(self, block: QTextBlock) -> None:
        """Set margins and heading sizes of the theme instead of Qt's defaults for web pages."""
        cursor = QTextCursor(block)
        form = block.blockFormat()
        level, in_table = form.headingLevel(), cursor.currentTable() is not None
        form.setLineHeight(LINE_HEIGHT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        form.setTopMargin(theme.px(10) if level and block.position() else 0)
        form.setBottomMargin(0 if in_table else theme.px(3 if block.textList() else 6))
        cursor.setBlockFormat(form)
        if level:
            kind = self._headings[min(level, len(self._headings)) - 1]
            _resize(block, theme.font(kind, 600))

    def loadResource(self, kind: int, _name: QUrl) -> QImage | QByteArray:
        """Load nothing. Qt would read an image file itself unless an image is returned."""
        return QImage() if kind == _IMAGE else QByteArray()

    def _open(self, url: QUrl) -> None:
        if url.scheme() in ("http", "https"):
            QDesktopServices.openUrl(url)
        elif url.hasFragment() and not url.path() and not url.scheme():
            self.scrollToAnchor(url.fragment())


def _parts(text: str) -> list[str]:
    """The text in parts of some lines, which begin with a heading or an item of a list."""
    parts: list[list[str]] = [[]]
    fenced = _DEFINITION.search(text) is not None  # links may be defined anywhere
    for line in text.split("\n"):
        if len(parts[-1]) >= PART and not fenced and _BREAK.match(line):
            parts.append([])
        if _FENCE.match(line):
            fenced = not fenced
        parts[-1].append(line)
    return ["\n".join(part).rstrip("\n") for part in parts]


def blocks_from(block: QTextBlock) -> Iterator[QTextBlock]:
    """A block and all that follow."""
    while block.isValid():
        yield block
        block = block.next()


def selected(fragment: QTextFragment, block: QTextBlock) -> QTextCursor:
    cursor = QTextCursor(block)
    cursor.setPosition(fragment.position())
    cursor.setPosition(fragment.position() + fragment.length(), QTextCursor.MoveMode.KeepAnchor)
    return cursor


def parts_of(block: QTextBlock) -> Iterable[QTextBlock.iterator]:
    """The fragments of a block; the stubs lack its iterator."""
    return cast(Iterable[QTextBlock.iterator], block)


def _name_pictures(first: QTextBlock) -> None:
    """Replace images by their descriptions; Qt drops images that have none."""
    pictures = [
        (selected(part.fragment(), block), part.fragment().charFormat().toImageFormat())
        for block in blocks_from(first)
        for part in parts_of(block)
        if part.fragment().charFormat().isImageFormat()
    ]
    for cursor, image in reversed(pictures):
        message = image.stringProperty(QTextFormat.Property.ImageAltText)
        words = QTextCharFormat()
        words.setFontItalic(True)
        cursor.insertText(_("[Image: {name}]", name=message), words)


def _show_addresses(block: QTextBlock) -> None:
    """Set the tooltip of links to their URL; a title from the text would be interpreted as HTML."""
    for fragment in [part.fragment() for part in parts_of(block)]:
        chars = fragment.charFormat()
        if chars.isAnchor() or chars.toolTip():
            escaping.set_tip(chars, chars.anchorHref())
            selected(fragment, block).setCharFormat(chars)


def _dress_table(table: QTextTable) -> None:
    form = table.format()
    form.setBorder(1)
    form.setBorderCollapse(True)
    form.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
    form.setBorderBrush(theme.qcolour("line"))
    form.setCellPadding(theme.px(5))
    form.setBottomMargin(theme.px(8))
    table.setFormat(form)


def _resize(block: QTextBlock, font: QFont) -> None:
    """Replace Markdown's relative size of a heading by ours; italics and links are kept."""
    for fragment in [part.fragment() for part in parts_of(block)]:
        chars = fragment.charFormat()
        chars.clearProperty(QTextFormat.Property.FontSizeAdjustment)
        chars.setProperty(QTextFormat.Property.FontPixelSize, font.pixelSize())
        chars.setFontWeight(font.weight())
        selected(fragment, block).setCharFormat(chars)
