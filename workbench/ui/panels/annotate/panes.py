"""Keyboard focus from one part of Annotate to the next."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget


def focus_next(panes: Sequence[QWidget], way: int) -> None:
    """Focus the pane after (`way` 1) or before (-1) the one that has the focus."""
    now = QApplication.focusWidget()
    focused = (
        number for number, pane in enumerate(panes) if pane is now or pane.isAncestorOf(now or pane)
    )
    at = next(focused, -1 if way > 0 else 0)
    if panes:
        panes[(at + way) % len(panes)].setFocus(Qt.FocusReason.ShortcutFocusReason)
