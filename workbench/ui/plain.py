"""Text from data, shown as it is written: Qt takes what looks like HTML in a tooltip for HTML.

A file name, a label or a document may hold `<img src="file:///…">`, and Qt would read that file, on
Windows from another computer too. So tooltips are set here and nowhere else in `ui/`, all other text
goes into labels of `widgets/words.py`, and Markdown into `widgets/markdown.py`.
"""

from __future__ import annotations

from html import escape
from typing import Protocol

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QToolTip, QWidget

LONG = 90  # characters from which a tooltip is wrapped
_DESCRIBED = "described_by_tip"  # property of a widget


class _HasTip(Protocol):
    def setToolTip(self, text: str, /) -> None: ...


def tip(text: str) -> str:
    """A tooltip that reads exactly `text`; long ones are wrapped, which Qt does only for HTML."""
    if "<" not in text and "&" not in text and len(text) <= LONG:
        return text
    return f'<p style="white-space: pre-wrap">{escape(text)}</p>'


def set_tip(target: _HasTip, text: str) -> None:
    """Give a widget, action or table item the tooltip `text`."""
    shown = tip(text)
    target.setToolTip(shown)
    if isinstance(target, QWidget):
        _describe(target, text if shown != text else "")


def _describe(widget: QWidget, text: str) -> None:
    """Screen readers read the tooltip of a widget without a description: never the markup."""
    if widget.accessibleDescription() == (widget.property(_DESCRIBED) or ""):
        widget.setAccessibleDescription(text)
        widget.setProperty(_DESCRIBED, text)


def show_tip(at: QPoint, text: str, widget: QWidget) -> None:
    """Show a tooltip now, at a position on the screen; an empty one hides it."""
    QToolTip.showText(at, tip(text), widget)


def menu_text(text: str) -> str:
    """For menus, buttons and tabs, where a single "&" would underline the next letter instead."""
    return text.replace("&", "&&")


def spoken(text: str) -> str:
    """The text of a menu or button without its mnemonic, for screen readers."""
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&")


def window_title(text: str) -> str:
    """For window titles, where Qt replaces "[*]" by the mark of unsaved changes."""
    return text.replace("[*]", "[*][*]")
