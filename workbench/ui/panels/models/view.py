"""The Models page: cards in two columns, or one in a narrow window."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QDialog, QFileDialog, QFrame, QGridLayout, QSizePolicy, QVBoxLayout

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.ui import plain, theme
from workbench.ui.commands import SEPARATOR, Choice
from workbench.ui.panel import View
from workbench.ui.panels.models.state import ORIGINS, ModelsState, facts, problem_words, uses_told
from workbench.ui.widgets.button import Button
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.chip import Chip
from workbench.ui.widgets.context_menu import ContextMenu
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.header import PageHeader
from workbench.ui.widgets.layout import clear, column, row, scrolled
from workbench.ui.widgets.words import Elided, words

if TYPE_CHECKING:
    from workbench.models.spec import ModelInfo

NARROW = 840  # pixels at 100 %, below which there is one column
FACTS_A_ROW = 2


class ModelsView(View):
    state: ModelsState

    def __init__(self, state: ModelsState):
        super().__init__(state)
        self._add = Button(_("Add from folder…"), "folder-open", "primary", on=self.ask_folder)
        self._download = Button(_("Download by id…"), "download", on=self.ask_id)
        self._header = PageHeader(_("Models"), "", self._download, self._add)
        self._grid = QGridLayout()
        self._grid.setContentsMargins(24, 20, 24, 24)
        self._grid.setSpacing(16)
        self._cards: list[ModelCard] = []
        self._columns = 0
        page = QFrame()
        outer = QVBoxLayout(page)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addLayout(self._grid)
        outer.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._header)
        layout.addWidget(scrolled(page), 1)
        self.first = self._add

    def render(self, fields: frozenset[str]) -> None:
        if concerns(fields, "cards"):
            self._make_cards()
        if concerns(fields, "cards", "busy", "adding"):
            self._header.set_hint(self._hint())
            self._add.setEnabled(not self.state.adding)

    def _hint(self) -> str:
        if self.state.adding:
            return _("Reading {name}…").format(name=self.state.adding)
        if self.state.cards is None:
            return _("Reading model cards…")
        return _(
            "Pretrained models for training and inspection. Weights are loaded only when "
            "a model is used."
        )

    def _make_cards(self) -> None:
        held = next(
            (one.info.path for one in self._cards if one.isAncestorOf(self.focusWidget() or self)),
            "",
        )
        clear(self._grid)
        self._cards = [ModelCard(self, info) for info in self.state.cards or ()]
        self._columns = 0
        self._place()
        for card in self._cards:
            if card.info.path == held:
                card.first.setFocus()

    def _place(self) -> None:
        columns = 1 if self.width() < theme.px(NARROW) else 2
        if columns == self._columns:
            return
        self._columns = columns
        for number, card in enumerate(self._cards):
            self._grid.addWidget(card, number // columns, number % columns)
        for number in range(2):
            self._grid.setColumnStretch(number, 1 if number < columns else 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    # ---------------------------------------------------------------- confirmations

    def ask_folder(self) -> None:
        if chosen := QFileDialog.getExistingDirectory(self.window(), _("Add model from folder")):
            self.add(Path(chosen))

    def add(self, folder: Path) -> None:
        """Add a folder to the list, after confirmation if its weights are pickled."""
        self.state.examine(folder, lambda card: self._add_examined(folder, card))

    def _add_examined(self, folder: Path, card: ModelInfo) -> None:
        if not card.only_untrusted:
            self.state.add(folder)
        elif self._trusts(card):
            self.state.add(folder, trust=True)

    def ask_trust(self, info: ModelInfo) -> None:
        if self._trusts(info):
            self.state.trust(info.name)

    def _trusts(self, info: ModelInfo) -> bool:
        from workbench.ui.panels.models.dialogs import Trust

        return _asked(Trust(self.window(), info))

    def ask_delete(self, info: ModelInfo) -> None:
        from workbench.ui.panels.models.dialogs import Delete

        if _asked(Delete(self.window(), info)):
            self.state.delete(info)

    def ask_id(self) -> None:
        from workbench.ui.panels.models.dialogs import Download
        from workbench.ui.panels.models.download import DownloadState

        state = DownloadState(self.state.context)
        dialog = Download(self.window(), state)
        dialog.exec()
        dialog.deleteLater()
        if state.stage == "done":
            self.state.look()


def _asked(dialog: QDialog) -> bool:
    answer = bool(dialog.exec())
    dialog.deleteLater()
    return answer


class ModelCard(QFrame):
    """One model: description, purpose and actions; a broken one shows what is missing."""

    def __init__(self, page: ModelsView, info: ModelInfo):
        super().__init__()
        self.info = info
        self.setProperty("part", "card")
        self.setAccessibleName(info.name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(18, 14, 18, 14)
        layout.setSpacing(10)
        layout.addWidget(self._head(info))
        layout.addLayout(self._facts(info))
        if uses := uses_told(info):
            layout.addWidget(flow(*map(Chip, uses), gap=6))
        if info.problems:
            tone = "warn" if info.only_untrusted else "bad"
            layout.addWidget(Callout(problem_words(info), tone))
        if info.notes:
            layout.addWidget(Callout(" ".join(info.notes)))
        layout.addStretch(1)
        buttons = self._buttons(page, info)
        ContextMenu(self, lambda _point: _choices(page, info))
        self.first = next((one for one in buttons if one.isEnabled()), self)
        if buttons:
            layout.addWidget(row(*buttons, None))

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

    def _facts(self, info: ModelInfo) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        for number, (name, value) in enumerate(facts(info)):
            at, side = number // FACTS_A_ROW, 2 * (number % FACTS_A_ROW)
            grid.addWidget(words(name, "small", "muted"), at, side)
            grid.addWidget(Elided(value, "small"), at, side + 1)
        for names in (0, 2):
            grid.setColumnMinimumWidth(names, theme.px(100))
            grid.setColumnStretch(names + 1, 1)
        return grid

    def _buttons(self, page: ModelsView, info: ModelInfo) -> list[Button]:
        name, state = info.name, page.state
        found = []
        if info.usable:
            train = Button(
                _("Train with this"),
                "activity",
                small=True,
                on=lambda: state.train(info),
                name=_("Train with {name}").format(name=name),
            )
            train.setEnabled(state.can_train)
            plain.set_tip(train, "" if state.can_train else _("Open a project first."))
            inspect = Button(
                _("Inspect"),
                "scan-search",
                "quiet",
                small=True,
                on=lambda: state.inspect(info),
                name=_("Inspect {name}").format(name=name),
            )
            inspect.setEnabled(state.context.project is not None)
            found += [train, inspect]
        elif info.only_untrusted:
            found.append(
                Button(
                    _("Trust weights…"),
                    "triangle-alert",
                    small=True,
                    on=lambda: page.ask_trust(info),
                    name=_("Trust the weights of {name}").format(name=name),
                )
            )
        if info.origin == "folder":
            tip = _("Removes the model from this list; its files are kept")
            found.append(
                Button(
                    _("Remove"),
                    "x",
                    "quiet",
                    small=True,
                    on=lambda: state.forget(info),
                    name=_("Remove {name}").format(name=name),
                    tip=tip,
                )
            )
        elif info.downloaded:
            found.append(
                Button(
                    _("Delete…"),
                    "trash-2",
                    "quiet",
                    small=True,
                    on=lambda: page.ask_delete(info),
                    name=_("Delete {name}").format(name=name),
                    tip=_("Deletes the files that Glossbench downloaded"),
                )
            )
        return found


def _choices(page: ModelsView, info: ModelInfo) -> tuple[Choice | None, ...]:
    """The context menu of a card."""
    state, found = page.state, list[Choice | None]()
    if info.usable:
        open_project = state.context.project is not None
        found += [
            Choice(_("&Train with this"), lambda: state.train(info), state.can_train),
            Choice(_("&Inspect"), lambda: state.inspect(info), open_project),
        ]
    elif info.only_untrusted:
        found.append(Choice(_("T&rust weights…"), lambda: page.ask_trust(info)))
    there = Path(info.path).is_dir()
    found += [
        SEPARATOR,
        Choice(_("Open &folder"), lambda: _open(info.path), there),
        Choice(_("Copy &name"), lambda: QGuiApplication.clipboard().setText(info.name)),
        Choice(_("Copy &path"), lambda: QGuiApplication.clipboard().setText(info.path)),
    ]
    if info.origin == "folder":
        found += [SEPARATOR, Choice(_("&Remove from list"), lambda: state.forget(info))]
    elif info.downloaded:
        found += [SEPARATOR, Choice(_("&Delete…"), lambda: page.ask_delete(info))]
    return tuple(found)


def _open(folder: str) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(folder))
