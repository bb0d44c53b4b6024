"""The card of a model: an installed one with its blocks and actions, or a published one."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QFrame, QGridLayout, QVBoxLayout, QWidget

from workbench.base.i18n import _
from workbench.ui.commands import SEPARATOR, MenuChoice
from workbench.ui.panels.models.state import (
    ORIGINS,
    about_facts,
    facts,
    problem_words,
    published_facts,
    uses_text,
)
from workbench.ui.style import escaping, theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.chip import Chip
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import column, line, row, scrolled
from workbench.ui.widgets.tables.block_map import BlockMap, Mark
from workbench.ui.widgets.text.context_menu import ContextMenu

if TYPE_CHECKING:
    from workbench.models.spec import ModelInfo
    from workbench.models.spec.blocks import ModelMap
    from workbench.models.spec.catalogue import Published
    from workbench.text.labels import Layer
    from workbench.ui.panels.models.listing import ModelRow
    from workbench.ui.panels.models.state import ModelsState


class CardPage(Protocol):
    """The page of a card: its state, and the dialogs that the card opens."""

    state: ModelsState

    def ask_trust(self, info: ModelInfo) -> None: ...
    def ask_delete(self, info: ModelInfo) -> None: ...
    def ask_id(self, model_id: str = "") -> None: ...
    def ask_word_map(self, info: ModelInfo) -> None: ...
    def ask_analogies(self, info: ModelInfo) -> None: ...
    def ask_batch(self, info: ModelInfo) -> None: ...


class ModelCard(QFrame):
    """An installed model: facts, blocks, purpose, actions; a broken one shows what is missing."""

    def __init__(self, page: CardPage, entry: ModelRow, info: ModelInfo):
        super().__init__()
        self.info = info
        self._fill(page, entry, info)

    def _fill(self, page: CardPage, entry: ModelRow, info: ModelInfo) -> None:
        self.setProperty("part", "card")
        self.setAccessibleName(info.name)
        inside = QFrame()
        layout = QVBoxLayout(inside)
        layout.setContentsMargins(16, 14, 16, 8)
        layout.setSpacing(10)
        layout.addWidget(self._head(info))
        known = about_facts(entry)
        layout.addWidget(_grid((*known, *facts(info))))
        if uses := uses_text(info):
            layout.addWidget(words(", ".join(uses), "small", wrap=True))
        if info.problems:
            tone = "warn" if info.only_untrusted else "bad"
            layout.addWidget(Callout(problem_words(info), tone))
        if info.notes:
            layout.addWidget(Callout(" ".join(info.notes)))
        self._map = column()
        self._map_layout = self._map.layout()
        layout.addWidget(self._map)
        layout.addStretch(1)
        buttons = self._buttons(page, info)
        ContextMenu(self, lambda _point: _choices(page, info))
        self.first = next((item for item in buttons if item.isEnabled()), self)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(1, 1, 1, 1)
        outer.setSpacing(0)
        outer.addWidget(scrolled(inside), 1)
        if buttons:
            actions = flow(*buttons, gap=6)
            actions.setContentsMargins(15, 4, 15, 0)
            outer.addWidget(actions)
            outer.setContentsMargins(1, 1, 1, 12)
        self.show_map(page.state.maps.get(info.path))

    def show_map(self, model_map: ModelMap | None) -> None:
        """Show the blocks once they have been read; nothing for files that do not tell."""
        if model_map is None or not model_map.blocks or self._map.findChild(BlockMap):
            return
        assert self._map_layout is not None
        self._map_layout.addWidget(line())
        self._map_layout.addWidget(words(_("Model map"), weight=600))
        self._map_layout.addWidget(
            BlockMap([Mark(block) for block in model_map.blocks], model_map.total)
        )

    def _head(self, info: ModelInfo) -> QFrame:
        where = Elided(info.path, "caption", "faint", mode=Qt.TextElideMode.ElideMiddle)
        broken = bool(info.problems)
        chip = Chip(
            _("cannot be used") if broken else ORIGINS.get(info.origin, info.origin),
            tone="bad" if broken else "",
        )
        top = row(
            (Elided(info.name, "heading", weight=600, mode=Qt.TextElideMode.ElideMiddle), 1),
            chip,
            gap=10,
        )
        return (
            column(top, where, gap=2)
            if info.origin != "starter"
            else column(top, words(_("Included with Glossbench"), "caption", "faint"), gap=2)
        )

    def _buttons(self, page: CardPage, info: ModelInfo) -> list[Button]:
        buttons = []
        if info.usable:
            buttons += self._use_buttons(page.state, info)
            if page.state.has_words(info):
                buttons += _word_buttons(page, info)
            if page.state.has_batch(info):
                buttons.append(_batch_button(page, info))
        elif info.only_untrusted:
            buttons.append(
                Button(
                    _("Trust weights…"),
                    "triangle-alert",
                    small=True,
                    on=lambda: page.ask_trust(info),
                    name=_("Trust the weights of {name}", name=info.name),
                )
            )
        return buttons + _removal_buttons(page, info)

    @staticmethod
    def _use_buttons(state: ModelsState, info: ModelInfo) -> list[Button]:
        train = Button(
            _("Train with this"),
            "activity",
            "primary",
            small=True,
            on=lambda: state.train(info),
            name=_("Train with {name}", name=info.name),
        )
        train.setEnabled(state.can_train)
        escaping.set_tip(train, "" if state.can_train else _("Open a project first."))
        inspect = Button(
            _("Inspect"),
            "scan-search",
            "quiet",
            small=True,
            on=lambda: state.inspect(info),
            name=_("Inspect {name}", name=info.name),
        )
        inspect.setEnabled(state.context.project is not None and not info.is_bare)
        return [train, inspect, *(_run_button(state, info, item) for item in state.layers_of(info))]


def _word_buttons(page: CardPage, info: ModelInfo) -> list[Button]:
    """Views of word vectors."""
    return [
        Button(
            _("Word map…"),
            "scan-search",
            "quiet",
            small=True,
            on=lambda: page.ask_word_map(info),
            name=_("Word map of {name}", name=info.name),
            tip=_("Word vectors in two dimensions"),
        ),
        Button(
            _("Analogies…"),
            "whole-word",
            "quiet",
            small=True,
            on=lambda: page.ask_analogies(info),
            name=_("Analogies and similarity of {name}", name=info.name),
            tip=_("Words that complete an analogy, and scores on data sets"),
        ),
    ]


def _batch_button(page: CardPage, info: ModelInfo) -> Button:
    return Button(
        _("First batch…"),
        "list-checks",
        "quiet",
        small=True,
        on=lambda: page.ask_batch(info),
        name=_("First batch of the pretraining of {name}", name=info.name),
        tip=_("What the model got at the start of its pretraining, and where the loss was taken"),
    )


def _removal_buttons(page: CardPage, info: ModelInfo) -> list[Button]:
    """The button that removes a model of the user from the list, or deletes a downloaded one."""
    if info.origin == "folder":
        return [
            Button(
                _("Remove"),
                "x",
                "quiet",
                small=True,
                on=lambda: page.state.forget(info),
                name=_("Remove {name}", name=info.name),
                tip=_("Removes the model from this list; its files are kept"),
            )
        ]
    if info.downloaded:
        return [
            Button(
                _("Delete…"),
                "trash-2",
                "quiet",
                small=True,
                on=lambda: page.ask_delete(info),
                name=_("Delete {name}", name=info.name),
                tip=_("Deletes the files that Glossbench downloaded"),
            )
        ]
    return []


def _run_button(state: ModelsState, info: ModelInfo, layer: Layer) -> Button:
    return Button(
        state.run_title(info, layer),
        "plus",
        "quiet",
        small=True,
        on=lambda: state.add_run(info, layer),
        tip=_("It can predict without training: evaluate it, and create suggestions with it"),
    )


def _choices(page: CardPage, info: ModelInfo) -> tuple[MenuChoice | None, ...]:
    """The context menu of a card."""
    state, choices = page.state, list[MenuChoice | None]()
    if info.usable:
        may_inspect = state.context.project is not None and not info.is_bare
        choices += [
            MenuChoice(_("&Train with this"), lambda: state.train(info), state.can_train),
            MenuChoice(_("&Inspect"), lambda: state.inspect(info), may_inspect),
        ]
        for layer in state.layers_of(info):
            message = state.run_title(info, layer)
            choices.append(MenuChoice(message, partial(state.add_run, info, layer)))
        if state.has_words(info):
            choices.append(MenuChoice(_("&Word map…"), lambda: page.ask_word_map(info)))
            choices.append(MenuChoice(_("&Analogies…"), lambda: page.ask_analogies(info)))
        if state.has_batch(info):
            choices.append(MenuChoice(_("First &batch…"), lambda: page.ask_batch(info)))
    elif info.only_untrusted:
        choices.append(MenuChoice(_("T&rust weights…"), lambda: page.ask_trust(info)))
    there = Path(info.path).is_dir()
    choices += [
        SEPARATOR,
        MenuChoice(_("Open &folder"), lambda: _open(info.path), there),
        MenuChoice(_("Copy &name"), lambda: QGuiApplication.clipboard().setText(info.name)),
        MenuChoice(_("Copy &path"), lambda: QGuiApplication.clipboard().setText(info.path)),
    ]
    if info.origin == "folder":
        choices += [SEPARATOR, MenuChoice(_("&Remove from list"), lambda: state.forget(info))]
    elif info.downloaded:
        choices += [SEPARATOR, MenuChoice(_("&Delete…"), lambda: page.ask_delete(info))]
    return tuple(choices)


def _open(folder: str) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(folder))


class PublishedCard(QFrame):
    """A published system that is not installed: facts, and where it can be had."""

    def __init__(self, page: CardPage, entry: ModelRow, about: Published):
        super().__init__()
        self.setProperty("part", "card")
        self.setAccessibleName(entry.title)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 14, 16, 12)
        layout.setSpacing(10)
        title = Elided(entry.title, "heading", weight=600, mode=Qt.TextElideMode.ElideMiddle)
        layout.addWidget(row((title, 1), Chip(_("not installed")), gap=10))
        layout.addWidget(_grid(published_facts(entry)))
        if not page.state.can_load(entry):
            message = _(
                "This version of Glossbench cannot load {name} models.", name=about.architecture
            )
            layout.addWidget(Callout(message, "warn"))
        elif not (about.hub or about.page):
            layout.addWidget(Callout(_("Its weights have not been published.")))
        elif not about.hub:
            layout.addWidget(
                Callout(_("Download the files from its page, then add them from their folder."))
            )
        elif page.state.offline:
            layout.addWidget(Callout(_("Offline mode is on. The download dialog can turn it off.")))
        layout.addStretch(1)
        buttons = self._buttons(page, entry, about)
        self.first: QWidget = buttons[0]
        layout.addWidget(flow(*buttons, gap=6))

    def _buttons(self, page: CardPage, entry: ModelRow, about: Published) -> list[Button]:
        buttons = []
        if about.hub:
            download = Button(
                _("Download…"),
                "download",
                "primary",
                small=True,
                on=lambda: page.ask_id(about.hub),
                name=_("Download {name}", name=entry.title),
            )
            download.setEnabled(page.state.can_load(entry))
            buttons.append(download)
        for title, address, name in (
            (_("Download page"), about.page, _("Download page of {name}")),
            (_("Paper"), about.url, _("Paper of {name}")),
        ):
            if address:
                buttons.append(
                    Button(
                        title,
                        "external-link",
                        small=True,
                        on=partial(QDesktopServices.openUrl, QUrl(address)),
                        name=name.format(name=entry.title),
                        tip=address,
                    )
                )
        return buttons


def _grid(facts: tuple[tuple[str, str], ...]) -> QFrame:
    """Names and values below one another."""
    box = QFrame()
    grid = QGridLayout(box)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(12)
    grid.setVerticalSpacing(3)
    grid.setColumnMinimumWidth(0, theme.px(100))
    grid.setColumnStretch(1, 1)
    for at, (name, value) in enumerate(facts):
        grid.addWidget(words(name, "small", "muted"), at, 0)
        grid.addWidget(Elided(value, "small"), at, 1)
    return box
