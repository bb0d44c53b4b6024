"""The Plugins page of Settings: one card per plugin."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication, QFileDialog, QFrame, QMenu, QPlainTextEdit, QWidget

from workbench.base import plugins as base_plugins
from workbench.base.i18n import N_, _, ngettext
from workbench.base.plugins import Plugin
from workbench.ui.dialogs.plugins_state import DISABLED, ENABLED, ERROR, PluginsState, PluginStatus
from workbench.ui.style import theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.chip import Chip
from workbench.ui.widgets.controls.words import Elided, IconLabel, words
from workbench.ui.widgets.layout import clear, column, fill, layout_of, row

LOOKS = {  # state → icon, icon tone, chip tone
    ENABLED: ("circle-check", "good", "good"),
    DISABLED: ("circle", "muted", ""),
    ERROR: ("triangle-alert", "bad", "bad"),
}
TITLE = 62  # pixels at 100%: width of the column "Adds" and "From"
LINES = 8  # lines of a traceback that are visible without scrolling
PERMISSION = N_(
    "Plugins run Python code with your user rights: they can read and change your files and use"
    " the network. Enable this one only if you trust its author."
)


class PluginsPage(QFrame):
    """Built from a PluginsState, and rebuilt whenever that changes."""

    def __init__(self, state: PluginsState):
        super().__init__()
        self.state = state
        self._folders = Button("", "folder-open", menu=QMenu(self))
        self._cards = column(gap=10)
        fill(
            self,
            row(
                (
                    words(
                        _("Plugins add importers, model families, tasks, inspectors and more."),
                        "small",
                        "muted",
                        wrap=True,
                    ),
                    1,
                ),
                Button(_("Reload"), "rotate-ccw", "quiet", on=state.refresh),
                self._folders,
            ),
            self._cards,
            None,
            gap=10,
        )
        state.changed.connect(self.show_state)
        self.show_state()

    def show_state(self) -> None:
        """Rebuild the page; the focus stays on the button of the same name, else on the card."""
        before = QApplication.focusWidget()
        name = before.accessibleName() if before is not None and self.isAncestorOf(before) else ""
        keys = (
            card.status.plugin.key
            for card in self._cards.findChildren(PluginCard)
            if before is not None and card.isAncestorOf(before)
        )
        key = next(keys, "")
        clear(layout_of(self._cards))
        cards = [PluginCard(self.state, status) for status in self.state.rows]
        for card in cards:
            layout_of(self._cards).addWidget(card)
        if not cards:
            layout_of(self._cards).addWidget(self._nothing())
        self._fill_folders()
        for card in cards:
            if card.status.plugin.key == key:
                buttons = card.findChildren(Button)
                again = (item for item in buttons if item.accessibleName() == name)
                next(again, card).setFocus()

    def _nothing(self) -> QWidget:
        message = _(
            "No plugins found. Copy a plugin folder to {folder}, or add its folder above.",
            folder=base_plugins.user_folder(),
        )
        return words(
            message,
            "small",
            "muted",
            wrap=True,
            select=True,
        )

    def _fill_folders(self) -> None:
        folders = self.state.settings.plugin_folders
        n = len(folders) + 1
        self._folders.set_text(ngettext("Plugin folders ({n})…", "Plugin folders ({n})…", n))
        menu = self._folders.menu()
        menu.clear()
        menu.addAction(_("Add folder…"), self._add)
        menu.addSeparator()
        own = base_plugins.user_folder()
        menu.addAction(_("Open {folder}", folder=_short(str(own))), _open_own)
        for folder in folders:
            message = _("Remove {folder} from the list", folder=_short(folder))
            menu.addAction(message, partial(self.state.remove_folder, folder))

    def _add(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, _("Choose a plugin folder"))
        if folder:
            self.state.add_folder(folder)


class PluginCard(QFrame):
    """One plugin: what it adds, its origin, its error, and its actions."""

    def __init__(self, state: PluginsState, status: PluginStatus):
        super().__init__()
        self.state, self.status = state, status
        plugin = status.plugin
        self.setProperty("part", "card")
        self.setAccessibleName(plugin.name)
        adds = enumerate(state.adds(plugin))
        parts = [self._head(), *(_fact("" if line else _("Adds"), add) for line, add in adds)]
        parts.append(_fact(_("From"), _short(plugin.key), Qt.TextElideMode.ElideMiddle))
        more = self._error() if status.state == ERROR else []
        if plugin.key in state.progress:
            more.append(words(state.progress[plugin.key], "small", "muted", wrap=True))
        for warning in plugin.warnings:
            message = words(warning, "small", wrap=True, select=True)
            more.append(row(IconLabel("triangle-alert", "warn", 14), (message, 1), gap=6))
        if restart := state.restart(status):
            message = words(restart, "small", wrap=True)
            more.append(row(IconLabel("rotate-ccw", "accent", 14), (message, 1), gap=6))
        if (button := parts[0].findChild(Button)) is not None:
            self.setFocusProxy(button)
        if state.asking == plugin.key:
            more.append(self._question())
        if more:
            parts.append(column(*more, gap=6, margins=(26, 0, 0, 0)))
        fill(self, *parts, gap=6, margins=(16, 12, 14, 12))

    def _head(self) -> QWidget:
        plugin, status = self.status.plugin, self.status
        icon, tone, chip = LOOKS[status.state]
        checking = plugin.key in self.state.progress
        message = _("Checking…") if checking else self.state.title(status)
        return row(
            IconLabel(icon, tone),
            words(plugin.name, weight=600),
            words(plugin.version, "small", "muted"),
            Chip(message, tone="accent" if checking else chip),
            None,
            *(self._checking_acts(plugin) if checking else self._acts(plugin)),
            gap=9,
        )

    def _checking_acts(self, plugin: Plugin) -> list[QWidget]:
        cancel = Button(_("Cancel"), "x", on=lambda: self.state.cancel(plugin))
        cancel.setAccessibleName(_("Cancel the check of {name}", name=plugin.name))
        return [cancel]

    def _acts(self, plugin: Plugin) -> list[QWidget]:
        state, name = self.state, plugin.name
        disable = Button(_("Disable"), on=lambda: state.disable(plugin))
        disable.setAccessibleName(_("Disable {name}", name=name))
        if self.status.state == ERROR:
            again = Button(_("Check again"), "rotate-ccw", on=lambda: state.check_again(plugin))
            again.setAccessibleName(_("Check {name} again", name=name))
            return [again, disable] if state.is_enabled(plugin) else [again]
        if self.status.state == ENABLED:
            return [disable]
        if state.asking == plugin.key:
            return [words(_("needs your permission"), "small", "muted")]
        button = Button(_("Enable…"), on=lambda: state.ask(plugin))
        button.setAccessibleName(_("Enable {name}", name=name))
        return [button]

    def _question(self) -> QWidget:
        plugin = self.status.plugin
        question = Callout(_(PERMISSION), "warn")
        cancel = Button(_("Cancel"), on=lambda: self.state.ask(None))
        self.setFocusProxy(cancel)
        buttons = row(
            None,
            Button(_("Open folder"), "folder-open", "quiet", on=self._open),
            cancel,
            Button(_("Enable plugin"), "check", on=lambda: self.state.enable(plugin)),
        )
        layout_of(question).addWidget(buttons)
        return question

    def _error(self) -> list[QWidget]:
        details = self.status.details
        parts: list[QWidget] = [words(self.status.error, "small", wrap=True, select=True)]
        if details:
            box = QPlainTextEdit(details.rstrip())
            box.setReadOnly(True)
            box.setProperty("kind", "mono")
            box.setAccessibleName(_("Traceback"))
            lines = min(LINES, details.count("\n") + 1)
            box.setFixedHeight(lines * box.fontMetrics().lineSpacing() + theme.px(18))
            bar = box.verticalScrollBar()  # the last line contains the error message
            bar.rangeChanged.connect(lambda _low, high: bar.setValue(high))
            parts.append(box)
            copy = Button(_("Copy traceback"), "copy", "quiet", small=True, on=self._copy)
        else:
            copy = None
        folder = Button(_("Open folder"), "folder-open", "quiet", small=True, on=self._open)
        parts.append(row(*([copy] if copy else []), folder, None))
        return parts

    def _copy(self) -> None:
        QApplication.clipboard().setText(self.status.details)

    def _open(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(self.status.plugin.key))


def _fact(title: str, text: str, mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight) -> QWidget:
    name = words(title, "small", "muted")
    name.setFixedWidth(theme.px(TITLE))
    value = Elided(text, "small", mode=mode)
    return row(26, name, (value, 1), gap=4)


def _short(path: str) -> str:
    home = str(Path.home())
    return f"~{path[len(home) :]}" if path.startswith(home) else path


def _open_own() -> None:
    folder = base_plugins.user_folder()
    folder.mkdir(parents=True, exist_ok=True)
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
