"""The prompt and its version, and a menu of what can be done with them."""

from __future__ import annotations

from PySide6.QtWidgets import QLineEdit, QMenu, QWidget

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.ui.commands import SEPARATOR, MenuChoice
from workbench.ui.panels.prompts.history import History, version_text
from workbench.ui.panels.prompts.parts import Part
from workbench.ui.panels.prompts.prompt_state import PromptState
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.layout import column, row
from workbench.ui.widgets.layout import fill as fill_with
from workbench.ui.widgets.text import context_menu

UNSAVED = 0  # the version of settings that differ from all saved ones
NONE, PROMPT, TEMPLATE = "none", "prompt ", "template "  # begin the values of the list of prompts


class PromptBox(Part):
    def __init__(self, state: PromptState):
        super().__init__()
        self.state, self.states = state, (state, state.draft)
        self.prompts, self.versions = combo(name=_("Prompt")), combo(name=_("Version"))
        self.prompts.activated.connect(lambda _i: self._choose())
        self.versions.activated.connect(lambda _i: self._choose_version())
        self._menu = QMenu(self)
        self._menu.setAccessibleName(_("Prompt actions"))
        self._menu.aboutToShow.connect(self._fill_menu)
        self.more = Button("", "ellipsis", name=_("Prompt actions"), menu=self._menu)
        prompt = TitledField(_("Prompt"), self.prompts, name=_("Prompt"))
        version = TitledField(_("Version"), self.versions, name=_("Version"))
        self._unlock = Button(_("Edit"), small=True, on=state.unlock)
        self._restore = Button(_("Restore"), small=True, on=self._restore_version)
        self.earlier = Callout("", "accent", self._restore, self._unlock, icon="history")
        self.earlier.hide()
        choice = row((prompt, 4), (version, 5), column(None, self.more), gap=8)
        fill_with(self, choice, self.earlier, gap=8)

    def render_part(self, fields: frozenset[str]) -> None:
        names = ("prompts", "templates", "rows", "number", "edited", "read_only", "prompt_name")
        if not concerns(fields, *names):
            return
        self._show_prompts()
        self._show_versions()
        state = self.state
        earlier = _(
            "Version {number} of {latest}, read-only.", number=state.number, latest=state.latest
        )
        self.earlier.set(earlier if state.read_only else "")
        editable = not state.project.read_only
        self._restore.setEnabled(editable)

    def _show_prompts(self) -> None:
        """The prompts of the project, then the templates to begin with."""
        state = self.state
        items: list[tuple[object, str]] = [(PROMPT + it.name, it.name) for it in state.prompts]
        if not state.name:
            items.insert(0, (NONE, state.title))
        begin = len(items)
        message = _("Template: {title}")
        items += [
            (TEMPLATE + each.id, message.format(title=_(each.title))) for each in state.templates
        ]
        fill(self.prompts, items, PROMPT + state.name if state.name else NONE)
        if begin < len(items) == self.prompts.count():
            self.prompts.insertSeparator(begin)

    def _show_versions(self) -> None:
        state, prompt = self.state, self.state.prompt
        items: list[tuple[object, str]] = []
        if prompt is None:
            items.append((UNSAVED, _("Not saved yet")))
        elif state.edited:
            items.append((UNSAVED, _("Edited, will be version {number}", number=state.latest + 1)))
        items += [(version.number, version_text(version)) for version in state.versions]
        fill(self.versions, items, UNSAVED if state.edited else state.number)

    def _choose(self) -> None:
        chosen = self.prompts.currentData()
        if chosen.startswith(PROMPT):
            self.state.choose(chosen.removeprefix(PROMPT))
        elif chosen.startswith(TEMPLATE):
            self.state.choose_template(chosen.removeprefix(TEMPLATE))
        self._show_prompts()

    def _choose_version(self) -> None:
        if number := self.versions.currentData():
            self.state.choose_version(number)
        self._show_versions()

    # ---------------------------------------------------------------- the menu

    def _fill_menu(self) -> None:
        context_menu.fill(self._menu, self.choices())

    def choices(self) -> tuple[MenuChoice | None, ...]:
        state = self.state
        can, saved = not state.project.read_only, state.prompt is not None
        return (
            MenuChoice(_("&Save version"), state.save, can and state.edited),
            MenuChoice(_("Save &as…"), self._save_as, can),
            SEPARATOR,
            MenuChoice(_("&Rename…"), self._rename, can and saved),
            MenuChoice(_("&Duplicate"), state.duplicate, can and saved),
            MenuChoice(_("D&elete"), state.delete, can and saved),
            SEPARATOR,
            MenuChoice(_("&History…"), self.show_history, saved),
        )

    def show_history(self) -> None:
        dialog = History(self.window(), self.state)
        dialog.exec()
        dialog.deleteLater()

    def _save_as(self) -> None:
        dialog = PromptName(self.window(), _("Save prompt as"), self.state.name, _("Save"))
        if dialog.exec() and dialog.name:
            self.state.save(dialog.name)

    def _rename(self) -> None:
        dialog = PromptName(self.window(), _("Rename prompt"), self.state.name, _("Rename"))
        if dialog.exec() and dialog.name:
            self.state.rename(dialog.name)

    def _restore_version(self) -> None:
        self.state.restore(self.state.number)


class PromptName(Dialog):
    """Asks for the name of a prompt."""

    def __init__(self, parent: QWidget, title: str, name: str, action: str):
        super().__init__(parent, title, width=420)
        self.edit = QLineEdit(name)
        self.edit.selectAll()
        self._accept = Button(action, "", "primary", on=self.accept)
        self._accept.setDefault(True)
        self.edit.textChanged.connect(lambda _text: self._accept.setEnabled(bool(self.name)))
        self._accept.setEnabled(bool(self.name))
        self.put(TitledField(_("Name"), self.edit))
        self.end(None, Button(_("Cancel"), on=self.reject), self._accept)
        self.edit.setFocus()

    @property
    def name(self) -> str:
        return self.edit.text().strip()
