"""Show text from data verbatim: Qt interprets a tooltip that looks like HTML as HTML.

A file name, a label or a document may contain `<img src="file:///…">`, and Qt would read that
file, on Windows even from another computer. So tooltips are set here and nowhere else in `ui/`,
all other text is shown in labels of `widgets/words.py`, and Markdown in `widgets/markdown.py`.
"""

from __future__ import annotations

from html import escape
from typing import Protocol

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QToolTip, QWidget

LONG = 90  # length in characters from which a tooltip is wrapped
_DESCRIBED = "described_by_tip"  # name of a dynamic property


class _HasTip(Protocol):
    def setToolTip(self, text: str, /) -> None: ...


def tip(text: str) -> str:
    """A tooltip that shows `text` verbatim; long ones are wrapped, which Qt does only for HTML."""
    if "<" not in text and "&" not in text and len(text) <= LONG:
        return text
    return f'<p style="white-space: pre-wrap">{escape(text)}</p>'


def set_tip(target: _HasTip, text: str) -> None:
    """Set the tooltip of a widget, action or table item to `text`."""
    tip_text = tip(text)
    target.setToolTip(tip_text)
    if isinstance(target, QWidget):
        _describe(target, text if tip_text != text else "")


def _describe(widget: QWidget, text: str) -> None:
    """Set the accessible description: screen readers would fall back to the tooltip with its
    markup.
    """
    if widget.accessibleDescription() == (widget.property(_DESCRIBED) or ""):
        widget.setAccessibleDescription(text)
        widget.setProperty(_DESCRIBED, text)


def show_tip(at: QPoint, text: str, widget: QWidget) -> None:
    """Show a tooltip at a position on the screen; empty text hides it."""
    QToolTip.showText(at, tip(text), widget)


def menu_text(text: str) -> str:
    """Escape text for menus, buttons and tabs, where a single "&" underlines the next letter."""
    return text.replace("&", "&&")


def spoken(text: str) -> str:
    """The text of a menu or button without its mnemonic, for screen readers."""
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&")


def window_title(text: str) -> str:
    """Escape text for window titles, where Qt replaces "[*]" by the modified marker."""
    return text.replace("[*]", "[*][*]")
