"""What a user reads in a tooltip."""

from __future__ import annotations


def read(shown: str) -> str:
    """The text that Qt displays for a tooltip, or for the text of a label in automatic format."""
    from PySide6.QtGui import Qt, QTextDocument

    if not Qt.mightBeRichText(shown):
        return shown
    document = QTextDocument()
    document.setHtml(shown)
    return document.toPlainText()
