"""Build menus and shortcuts from command tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMainWindow, QMenu

from workbench.base.i18n import N_, _
from workbench.base.settings import Settings
from workbench.ui.commands import MENUS, Command
from workbench.ui.shell.keys import sequences, shown
from workbench.ui.widgets.text import context_menu

LAST = "quit"  # this group is placed at the end of its menu, as is customary
MAX_ENTRIES = 15  # a menu with more entries has its named groups in submenus
GROUPS = {  # group of commands → title of its submenu
    "queue": N_("&Queue"),
    "units": N_("&Paragraphs and sentences"),
    "errors": N_("&Errors"),
    "suggestions": N_("Sugg&estions"),
    "relations": N_("Relations and c&hains"),
    "examples": N_("E&xamples"),
    "size": N_("Te&xt size"),
    "theme": N_("T&heme"),
    "docks": N_("&Windows"),
    "annotate": N_("Annotate page"),
    "one": N_("Selected &run"),
    "people": N_("Peop&le"),
}


class Entry:
    """A command and where it belongs.

    `page` "" is the window itself; `target()` returns the argument of `run`.
    """

    def __init__(self, command: Command, page: str, target: Callable[[], Any]):
        self.command, self.page, self.target = command, page, target
        self.submenu: QMenu | None = None
        self._action: QAction | None = None

    @property
    def action(self) -> QAction | None:
        """Its QAction. That of a submenu is looked up each time: clearing the parent menu
        invalidates the Python object.
        """
        return self.submenu.menuAction() if self.submenu is not None else self._action

    @action.setter
    def action(self, action: QAction) -> None:
        self._action = action


class Menus:
    """The menu bar of the window. Titles, checks and enabled states are updated when a menu opens.

    While no menu is open, every entry of the current page stays enabled, so that its key works; the
    command then calls `enabled` again.
    """

    def __init__(
        self,
        window: QMainWindow,
        settings: Settings,
        page_shown: Callable[[], str],
        go: Callable[[str], None],
    ):
        self._window, self._settings, self._page_shown, self._go = window, settings, page_shown, go
        self.entries: list[Entry] = []
        self._keyed_for = ""  # the page whose keys are active
        self.menus: dict[str, QMenu] = {}
        self._groups: dict[tuple[str, str], QMenu] = {}  # menu, group → submenu
        for name in MENUS:
            menu = window.menuBar().addMenu("&" + _(name))
            menu.aboutToShow.connect(lambda name=name: self._fill(name))
            menu.aboutToHide.connect(self.refresh)
            self.menus[name] = menu

    def add(self, commands: Iterable[Command], page: str, target: Callable[[], Any]) -> None:
        added = [Entry(command, page, target) for command in commands]
        for entry in added:
            if not entry.command.shown_only:
                self._make_action(entry)
        self.entries += added
        self._enable(added)

    def _make_action(self, entry: Entry) -> None:
        if entry.command.choices is not None:
            entry.submenu = self._submenu(entry)
            return
        action = QAction(entry.command.lasting(), self._window)
        action.setShortcuts(sequences(entry.command, self._settings))
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        action.triggered.connect(lambda _checked=False: self.act(entry))
        if entry.command.checked is not None:
            action.setCheckable(True)
        entry.action = action
        self._window.addAction(action)

    def _submenu(self, entry: Entry) -> QMenu:
        menu, choices = QMenu(entry.command.lasting(), self._window), entry.command.choices
        if choices is not None:
            menu.aboutToShow.connect(lambda: context_menu.fill(menu, choices(entry.target())))
        return menu

    def act(self, entry: Entry) -> None:
        """Run the command if enabled; a page's command with `anywhere` opens its page first."""
        if not self.can_act(entry):
            return
        was_built = entry.target() is not None
        if entry.page and entry.page != self._page_shown():
            self._go(entry.page)
        target = entry.target()
        # A page just built is still loading what `enabled` depends on; `possible` was checked
        # above.
        if target is not None and (not was_built or entry.command.enabled(target)):
            entry.command.run(target)

    def can_act(self, entry: Entry) -> bool:
        if not self._belongs(entry):
            return False
        target = entry.target()
        if target is None:
            return entry.command.anywhere and entry.command.possible(self._window)
        return entry.command.enabled(target)

    def refresh(self) -> None:
        """Disable entries of other pages after a page change, so that their keys are free."""
        self._enable(self.entries)

    def _enable(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            if entry.action is not None:
                entry.action.setEnabled(self._belongs(entry))
        if self._page_shown() != self._keyed_for:
            self.rekey()

    def rekey(self) -> None:
        """Commands that act anywhere have their keys on their own page only, as others use them
        too.
        """
        self._keyed_for = self._page_shown()
        for entry in self.entries:
            if entry.action is not None and entry.command.choices is None:
                here = not entry.page or entry.page == self._keyed_for
                rests = entry.command.anywhere and not here
                entry.action.setShortcuts([] if rests else sequences(entry.command, self._settings))

    def shortcut(self, id: str) -> str:
        """The keys of a command in the platform's notation; "" for none."""
        command = next((entry.command for entry in self.entries if entry.command.id == id), None)
        return shown(command, self._settings).split(", ")[0] if command else ""

    def _belongs(self, entry: Entry) -> bool:
        return not entry.page or entry.command.anywhere or entry.page == self._page_shown()

    def _fill(self, name: str) -> None:
        """Add the entries of the current page and those that act anywhere.

        The entries of all pages would make a long list of disabled ones. Named groups of a menu
        that is still long are submenus.
        """
        menu, group = self.menus[name], None
        menu.clear()
        entries = [
            entry
            for entry in self.entries
            if entry.command.menu == name and entry.action is not None and self._belongs(entry)
        ]
        folded = set(GROUPS) if len(entries) > MAX_ENTRIES else set()
        filled: set[str] = set()
        for entry in sorted(entries, key=lambda item: item.command.group == LAST):
            own = entry.command.group
            if own in folded and own in filled:
                self._add(self._groups[name, own], entry)
                continue
            if group is not None and (entry.page, own) != group and not {own, group[1]} <= folded:
                menu.addSeparator()
            group = (entry.page, own)
            if own in folded:
                filled.add(own)
                self._add(self._group_menu(menu, name, own), entry)
            else:
                self._add(menu, entry)

    def _group_menu(self, menu: QMenu, name: str, group: str) -> QMenu:
        """The submenu of a group, emptied and added to its menu."""
        if (name, group) not in self._groups:
            self._groups[name, group] = QMenu(_(GROUPS[group]), self._window)
        submenu = self._groups[name, group]
        submenu.clear()
        menu.addMenu(submenu)
        return submenu

    def _add(self, menu: QMenu, entry: Entry) -> None:
        if (action := entry.action) is not None:
            self._show(entry, action)
            menu.addAction(action)

    def _show(self, entry: Entry, action: QAction) -> None:
        target = entry.target() if self._belongs(entry) else None
        if target is not None or not callable(entry.command.title):
            action.setText(entry.command.words(target))
        action.setEnabled(self.can_act(entry))
        if entry.command.checked is not None and target is not None:
            action.setChecked(entry.command.checked(target))
