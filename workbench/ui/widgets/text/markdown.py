"""Read-only Markdown, such as a layer's guideline. No file and no URL is loaded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

from PySide6.QtCore import QByteArray, QUrl
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
_IMAGE = QTextDocument.ResourceType.ImageResource.value
_FEATURES = (
    QTextDocument.MarkdownFeature.MarkdownDialectGitHub
    | QTextDocument.MarkdownFeature.MarkdownNoHTML
)


class MarkdownView(QTextBrowser):
    """Shows Markdown in the fonts of the theme.

    HTML is shown verbatim and an image as its description. The tooltip of a link is its URL; a web
    link opens in the browser when clicked, a link to a heading scrolls there.
    """

    def __init__(self, name: str, placeholder: str = "", *, compact: bool = False):
        super().__init__()
        self._text: str | None = None
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
            self._text = text
            self._restyle()

    def _restyle(self) -> None:
        document = self.document()
        document.setDocumentMargin(self._margin)
        document.setDefaultFont(theme.font("ui"))
        document.setMarkdown(self._text or "", _FEATURES)
        changes = QTextCursor(document)
        changes.beginEditBlock()  # one layout for all changes
        _name_pictures(document)
        for block in blocks_of(document):
            _show_addresses(block)
            self._dress(block)
        for frame in document.rootFrame().childFrames():
            if isinstance(frame, QTextTable):
                _dress_table(frame)
        self._decorate(document)
        changes.endEditBlock()
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def _decorate(self, document: QTextDocument) -> None:
        """Called whenever the text is laid out again, within an edit block."""

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


def blocks_of(document: QTextDocument) -> Iterator[QTextBlock]:
    block = document.begin()
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


def _name_pictures(document: QTextDocument) -> None:
    """Replace images by their descriptions; Qt drops images that have none."""
    pictures = [
        (selected(part.fragment(), block), part.fragment().charFormat().toImageFormat())
        for block in blocks_of(document)
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
