"""Keys as they are now in captions and tooltips: they follow changes in the list of shortcuts."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from workbench.base.i18n import _
from workbench.base.settings import Settings
from workbench.ui.shell.keys import current
from workbench.ui.style import escaping
from workbench.ui.widgets.controls.words import KeyCap

_SIGNS = (("Return", "↵"), ("Down", "↓"), ("Up", "↑"), ("+", " "))


class CommandCap(KeyCap):
    """The current key of a command, empty without one. `keys` are its default keys."""

    def __init__(self, settings: Settings, command: str, *keys: str) -> None:
        super().__init__("")
        follow(self, lambda: self._read(settings, command, keys))

    def _read(self, settings: Settings, command: str, keys: tuple[str, ...]) -> None:
        self.setText(_printed(current(settings, command, *keys)))
        self.updateGeometry()


class _Follower(QObject):
    """Does something now and after each change of a key, as long as its widget lives."""

    def __init__(self, widget: QWidget, act: Callable[[], None]) -> None:
        super().__init__(widget)
        self.act = act


def follow(widget: QWidget, act: Callable[[], None]) -> None:
    """Call `act` now and whenever the user has changed a key."""
    _Follower(widget, act)
    act()


def follow_tip(widget: QWidget, tip: str, settings: Settings, command: str, *keys: str) -> None:
    """Give a widget a tooltip with the current key in brackets, see `with_key`."""
    follow(widget, lambda: escaping.set_tip(widget, with_key(tip, settings, command, *keys)))


def with_key(message: str, settings: Settings, command: str, *keys: str) -> str:
    """The words with the current key of a command in brackets, or one of them alone."""
    key = current(settings, command, *keys)
    return _("{words} ({key})", words=message, key=key) if key and message else key or message


def changed(window: QWidget) -> None:
    """Tell everything in a window that keys have changed."""
    for follower in window.findChildren(_Follower):
        follower.act()


def _printed(key: str) -> str:
    """A key as printed on a keyboard: "Ctrl ↵"."""
    if len(key) == 1:
        return key
    for name, sign in _SIGNS:
        key = key.replace(name, sign)
    return {"Space": _("Space"), "Esc": _("Esc")}.get(key, key)
