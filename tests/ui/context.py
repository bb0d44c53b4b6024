"""Open context menus in tests, by a real event."""

from PySide6.QtCore import QPoint
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu, QWidget


def open_menu(widget: QWidget, at: QPoint | None = None) -> dict:
    """The entries of the menu at a point of the widget, or of the current item (menu key).

    Returns title without mnemonic → action. Titles in a submenu have its name in front: "Change
    label/PER". Empty if no menu opens. The menu is only filled, as the offscreen platform cannot
    show a popup without warnings.
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
    """Click an entry."""
    assert found[words].isEnabled(), words
    found[words].trigger()
