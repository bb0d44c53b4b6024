"""Context menus in tests: opened by a real event, their lines by the words without mnemonic and
key.
"""

from PySide6.QtCore import QPoint
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu, QWidget


def open_menu(widget: QWidget, at: QPoint | None = None) -> dict:
    """The lines of the menu at a point of the widget, or of what is current (the menu key): words →
    action.

    Lines of a submenu have its name in front: "Change label/PER". Empty where no menu opens. The
    platform of the tests cannot show a popup without warnings, so it is only filled.
    """
    surface = widget.viewport() if hasattr(widget, "viewport") else widget
    reasons, shown, popup = QContextMenuEvent.Reason, [], QMenu.popup
    QMenu.popup = lambda menu, *_place: shown.append(menu)
    try:
        if at is None:
            where = widget.mapToGlobal(QPoint())
            event = QContextMenuEvent(reasons.Keyboard, QPoint(0, 0), where)
            QApplication.sendEvent(widget, event)
        else:
            event = QContextMenuEvent(reasons.Mouse, at, surface.mapToGlobal(at))
            QApplication.sendEvent(surface, event)
    finally:
        QMenu.popup = popup
    return lines(shown[0]) if shown else {}


def lines(menu: QMenu, before: str = "") -> dict:
    found = {}
    for action in menu.actions():
        words = before + action.text().split("\t")[0].replace("&", "")
        if action.menu() is not None:
            found[words] = action
            found |= lines(action.menu(), f"{words}/")
        elif words:
            found[words] = action
    return found


def choose(found: dict, words: str) -> None:
    """Click a line."""
    assert found[words].isEnabled(), words
    found[words].trigger()
