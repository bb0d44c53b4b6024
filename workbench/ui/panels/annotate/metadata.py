"""The metadata of the document on the right side of Annotate: source, date, a definition, …"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import ceil
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics, QTextCharFormat, QTextCursor, QTextOption
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextEdit, QVBoxLayout

from workbench.base.i18n import _
from workbench.text import parts
from workbench.ui.style import theme
from workbench.ui.widgets.controls.button import icon_button
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import line, row

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.session import DocumentSession

_KEY = "annotate.metadata"  # in the settings of the window: False while folded
VALUE_LENGTH = 2_000  # characters of a value that are shown
SHARE = 4  # at most this part of the height of the side: 1 / 4
MIN_VISIBLE_LINES = 2  # lines in sight
AROUND = 14  # pixels: border and padding of a text in the style sheet


class MetadataPane(QFrame):
    """Name and value of each field, to read and to copy. Hidden without metadata."""

    def __init__(self, session: DocumentSession) -> None:
        super().__init__()
        self._session = session
        self._kept = session.context.settings.window
        self._shown: tuple[tuple[str, str], ...] = ()
        self._head = icon_button("chevron-down", _("Show or hide metadata"), self._fold, small=True)
        self.text = QTextEdit()
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setProperty("plain", "true")
        self.text.setAccessibleName(_("Metadata of the document"))
        self.text.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.text.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.text.document().setDocumentMargin(0)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(line())
        title = words(_("Metadata"), weight=600)
        layout.addWidget(row(title, None, self._head, margins=(14, 6, 8, 0)))
        layout.addWidget(row((self.text, 1), margins=(8, 0, 2, 2)))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def render(self) -> None:
        doc = self._session.doc
        now = shown(doc.document.meta) if doc is not None else ()
        if now != self._shown:
            self._shown = now
            self._write()
            self._show_fold()
        self.setVisible(bool(now))

    def restyle(self) -> None:
        """Called after the theme or text size has changed."""
        self._write()

    def fit(self, height: int) -> None:
        """height: of the side, in pixels; the text gets a part of it, and scrolls beyond."""
        least = MIN_VISIBLE_LINES * QFontMetrics(theme.font("small")).lineSpacing()
        self.text.document().setTextWidth(self.text.viewport().width())
        needed = ceil(self.text.document().size().height())
        self.text.setFixedHeight(AROUND + min(needed, max(least, height // SHARE)))

    def _fold(self) -> None:
        self._kept[_KEY] = self.text.isHidden()
        self._show_fold()

    def _show_fold(self) -> None:
        opened = bool(self._kept.get(_KEY, True))
        self._head.set_icon("chevron-down" if opened else "chevron-right")
        self.text.setVisible(opened)

    def _write(self) -> None:
        self.text.clear()
        names, values = QTextCharFormat(), QTextCharFormat()
        for part, tone in ((names, "muted"), (values, "text")):
            part.setFont(theme.font("small"))
            part.setForeground(theme.qcolour(tone))
        cursor = QTextCursor(self.text.document())
        for number, (name, value) in enumerate(self._shown):
            if number:
                cursor.insertBlock()
            cursor.insertText(name + "  ", names)
            cursor.insertText(value, values)
        self.text.moveCursor(QTextCursor.MoveOperation.Start)
        if (side := self.parentWidget()) is not None:
            self.fit(side.height())


def shown(meta: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """(name, value) of each field with a value, without the place of a part in its document."""
    values = ((name, _value(value)) for name, value in meta.items() if name not in parts.KEYS)
    return tuple((name, value) for name, value in values if value)


def _value(value: object) -> str:
    """Text as it is, lists with commas, everything else as JSON."""
    if value is None or value == "":
        return ""
    if isinstance(value, list):
        return ", ".join(map(_value, value))
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= VALUE_LENGTH else text[:VALUE_LENGTH] + "…"
