"""Markdown to read: a layer's guideline, a model's card. Nothing is fetched and no link is followed without being asked for."""

from __future__ import annotations

from PySide6.QtCore import QUrl
from PySide6.QtGui import (
    QDesktopServices,
    QFont,
    QTextBlock,
    QTextBlockFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrameFormat,
    QTextTable,
)
from PySide6.QtWidgets import QFrame, QTextBrowser

from workbench.ui import theme

HEADINGS = ("title", "heading", "ui")  # kinds of type for levels 1, 2, 3 and below
LINE_HEIGHT = 125.0  # per cent


class MarkdownView(QTextBrowser):
    """Shows Markdown in the theme's type. Web links open in the browser when clicked; pictures are left out."""

    def __init__(self, name: str, placeholder: str = ""):
        super().__init__()
        self._text = None
        self.setAccessibleName(name)
        self.setPlaceholderText(placeholder)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("plain", True)
        self.setOpenLinks(False)
        self.anchorClicked.connect(_open)
        drop = theme.changed.connect(self._restyle)
        self.destroyed.connect(lambda *_: drop())

    def set_markdown(self, text: str) -> None:
        """Show `text`; the same again keeps the place."""
        if text != self._text:
            self._text = text
            self._restyle()

    def _restyle(self) -> None:
        document = self.document()
        document.setDocumentMargin(4)
        document.setDefaultFont(theme.font("ui"))
        document.setMarkdown(self._text or "")
        block = document.begin()
        while block.isValid():
            _dress(block)
            block = block.next()
        for frame in document.rootFrame().childFrames():
            if isinstance(frame, QTextTable):
                form = frame.format()
                form.setBorder(1)
                form.setBorderCollapse(True)
                form.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
                form.setBorderBrush(theme.qcolour("line"))
                form.setCellPadding(theme.px(5))
                form.setBottomMargin(theme.px(8))
                frame.setFormat(form)
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def loadResource(self, kind: int, _name: QUrl):
        """No file and no address is read for a text that may come from elsewhere."""
        return "" if kind == QTextDocument.ResourceType.StyleSheetResource.value else None


def _dress(block: QTextBlock) -> None:
    """Room around paragraphs and headings, in the sizes of the theme: Qt's own are those of a web page."""
    cursor = QTextCursor(block)
    form = block.blockFormat()
    level, in_table = form.headingLevel(), cursor.currentTable() is not None
    form.setLineHeight(LINE_HEIGHT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    form.setTopMargin(theme.px(10) if level and block.position() else 0)
    form.setBottomMargin(0 if in_table else theme.px(3 if block.textList() else 6))
    cursor.setBlockFormat(form)
    if level:
        _resize(block, theme.font(HEADINGS[min(level, len(HEADINGS)) - 1], 600))


def _resize(block: QTextBlock, font: QFont) -> None:
    """Give a heading our size in place of the relative one that Markdown brings; slant and links of its parts stay."""
    parts = [part.fragment() for part in block]
    for part in parts:
        chars = part.charFormat()
        chars.clearProperty(QTextFormat.Property.FontSizeAdjustment)
        chars.setProperty(QTextFormat.Property.FontPixelSize, font.pixelSize())
        chars.setFontWeight(font.weight())
        cursor = QTextCursor(block)
        cursor.setPosition(part.position())
        cursor.setPosition(part.position() + part.length(), QTextCursor.MoveMode.KeepAnchor)
        cursor.setCharFormat(chars)


def _open(url: QUrl) -> None:
    if url.scheme() in ("http", "https"):
        QDesktopServices.openUrl(url)
