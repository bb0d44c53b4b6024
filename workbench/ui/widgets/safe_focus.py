"""Keep the focus off destructive buttons, unless the user moves it there.

When the focused widget is hidden or disabled, as after a deletion, Qt moves the focus to the next
one; and a button that has deleted something keeps it, for what is selected then. In both cases a
second Enter would delete more.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid


def focus_moved(old: QWidget | None, new: QWidget | None) -> None:
    """Called after each change of the focus of the application."""
    if old is None or new is None or not _is_destructive(new):
        return
    if isValid(old) and old.isVisible() and old.isEnabled():
        return  # Tab or a click
    leave(new)


def leave(button: QWidget) -> None:
    """Move the focus from a destructive button to the last other widget before it."""
    widget = button.previousInFocusChain()
    while widget is not None and widget is not button:
        takes = widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        if takes and widget.isVisible() and widget.isEnabled() and not _is_destructive(widget):
            widget.setFocus()
            return
        widget = widget.previousInFocusChain()
    button.clearFocus()  # of all that can take it, the others are destructive too


def _is_destructive(widget: QWidget) -> bool:
    return bool(widget.property("kind") == "danger")
