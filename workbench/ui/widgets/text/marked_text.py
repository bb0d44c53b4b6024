"""Plain text with highlighted lines: monospaced, and the difference of two texts."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QTimer
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QTextCharFormat,
    QTextCursor,
    QTextFormat,
    QTextOption,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit

from workbench.base.i18n import _
from workbench.text.line_difference import ADDED, REMOVED
from workbench.ui.style import theme

SIGNS = {ADDED: "+ ", REMOVED: "− "}
GROUNDS = {ADDED: "good_soft", REMOVED: "bad_soft"}


class MarkedText(QPlainTextEdit):
    """Plain text, of which a range can be highlighted."""

    def highlight(self, cursor: QTextCursor | None, ground: str, *, whole_line: bool) -> None:
        """Set the background of a range; None removes it."""
        self.setExtraSelections([] if cursor is None else [_selection(cursor, ground, whole_line)])

    def mark_lines(self, grounds: Sequence[str]) -> None:
        """Set the background of each line; "" for none."""
        document = self.document()
        self.setExtraSelections(
            [
                _selection(QTextCursor(document.findBlockByNumber(number)), ground, True)
                for number, ground in enumerate(grounds)
                if ground
            ]
        )


def _selection(cursor: QTextCursor, ground: str, whole_line: bool) -> QTextEdit.ExtraSelection:
    selection, style = QTextEdit.ExtraSelection(), QTextCharFormat()
    style.setBackground(QColor(theme.colour(ground)))
    style.setProperty(QTextFormat.Property.FullWidthSelection, whole_line)
    selection.format, selection.cursor = style, cursor
    return selection


class MonoText(MarkedText):
    """Monospaced and wrapped; Tab moves the focus."""

    def __init__(self, name: str):
        super().__init__()
        self.setAccessibleName(name)
        self.setProperty("kind", "mono")
        self.setFont(
            theme.font("mono")
        )  # family and size are set by the style sheet, font features are not
        self.setTabChangesFocus(True)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setTabStopDistance(4 * QFontMetricsF(theme.font("mono")).horizontalAdvance(" "))


class DifferenceText(MonoText):
    """Lines that were added or removed, and those around them."""

    def __init__(self) -> None:
        super().__init__(_("Difference"))
        self.setReadOnly(True)
        self.setProperty("plain", True)
        self.setMinimumHeight(theme.px(180))

    def set(self, lines: Sequence[tuple[str, str]]) -> None:
        """Show lines with their kinds, see `text.line_difference`; "" for those without a sign."""
        signed = any(kind for _text, kind in lines)
        shown = [
            (SIGNS.get(kind, "  " if signed and kind else "") + text, GROUNDS.get(kind, ""))
            for text, kind in lines
        ] or [(_("Both versions are equal."), "")]
        self.setPlainText("\n".join(text for text, _ground in shown))
        self.mark_lines([ground for _text, ground in shown])
        first = next((at for at, (_text, ground) in enumerate(shown) if ground), 0)
        self.setTextCursor(QTextCursor(self.document().findBlockByNumber(first)))
        QTimer.singleShot(0, self, self.centerCursor)  # once it has its size
