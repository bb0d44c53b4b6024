"""File ▸ People: who labels in the project, whose labels are gold, and blind mode."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QCheckBox, QMenu, QWidget

from workbench.base.events import ALL, concerns
from workbench.base.i18n import _
from workbench.text.columns import ValueKind
from workbench.ui.commands import MenuChoice
from workbench.ui.dialogs.people_state import PeopleListState, chip, own_initials
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.person_fields import PersonFields
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import column
from workbench.ui.widgets.tables.table import Column, Table
from workbench.ui.widgets.text import context_menu

if TYPE_CHECKING:
    from workbench.operations.people.people import Person, Row
    from workbench.ui.application import Application


class People(Dialog):
    """The list of people, what each has done, and who of them labels."""

    def __init__(self, app: Application) -> None:
        hint = _(
            "The labels of each person are stored apart. Those of one person are the gold of a "
            "layer: displayed, edited, trained on and exported."
        )
        super().__init__(app.window, _("People"), hint, width=820)
        self.state = state = PeopleListState(app)
        self._current = Callout("", "accent", icon="user")
        self.table = Table(
            _columns(state), name=_("People"), key=lambda row: row.person.id, sortable=True
        )
        self.table.setMinimumHeight(theme.px(190))
        self.table.chosen.connect(self._choose)
        self.table.opened.connect(lambda row: self._edit())
        add = Button(_("Add…"), "plus", small=True, on=self._add, name=_("Add a person"))
        self.edit = Button(_("Edit…"), small=True, on=self._edit, name=_("Edit the person"))
        self.work_as = Button("", "user", small=True, on=self._work_as)
        self.mine = Button(
            _("This is me"),
            small=True,
            on=self._recognise,
            tip=_("The person in this file is the one who labels on this computer"),
        )
        self.gold = Button(_("Use as gold"), "chevron-down", small=True, on=self._ask_gold)
        self._menu = QMenu(self)
        self._adders = (add, self.edit, self.work_as, self.mine, self.gold)
        self.blind = QCheckBox(_("Blind mode"))
        self.blind.clicked.connect(state.set_blind)
        self._hidden = words("", "small", "warn", wrap=True)
        explained = words(
            _(
                "Hides the labels of others, all suggestions and predictions, and the pages Train, "
                "Results, Inspect and Prompts."
            ),
            "caption",
            "muted",
            wrap=True,
        )
        self.put(self._current, self.table, flow(*self._adders))
        self.put(column(self.blind, explained, self._hidden, gap=4))
        self._assign = Button(_("Assign documents…"), "users", on=self._leave_to_assign)
        self.end(self._assign, None, Button(_("Close"), kind="primary", on=self.accept))
        state.listen(state.changed, self.render)
        self.render(ALL)
        self.table.setFocus()

    # ------------------------------------------------------------ showing

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        if concerns(fields, "rows"):
            self.table.set_rows(state.rows or ())
        if concerns(fields, "rows", "person"):
            self.table.choose({state.person})
            self._show_person()
        self.blind.setChecked(state.blind)
        self.blind.setEnabled(state.can_write)
        self._assign.setEnabled(state.can_write)
        hidden = state.hidden
        message = _("Hidden, because their gold is by other people: {names}", names=hidden)
        self._hidden.setText(message if hidden else "")
        self._hidden.setVisible(bool(hidden))
        self.fault(state.fault)

    def _show_person(self) -> None:
        state, row = self.state, self.state.chosen
        for button in self._adders:
            button.setEnabled(state.can_write and (row is not None or button is self._adders[0]))
        if row is None:
            return
        name = row.person.name
        self.work_as.set_text(escaping.menu_text(_("Label as {name}…", name=name)))
        self.work_as.setEnabled(state.can_write and not row.is_current)
        self.mine.setVisible(not state.is_own(row.person))
        current = next(row for row in state.rows or () if row.is_current)
        if state.is_own(current.person):
            message = _("You label as {name}.", name=current.person.name)
        else:
            message = _(
                "You are labelling as {name}, not as this computer's user.",
                name=current.person.name,
            )
        self._current.set(message, "accent" if state.is_own(current.person) else "warn")

    def _choose(self) -> None:
        row = self.table.current_row()
        if row is not None:
            self.state.choose(row.person.id)

    # ------------------------------------------------------------ acts

    def _add(self) -> None:
        PersonDialog(self, self.state.save).exec()

    def _edit(self) -> None:
        if (row := self.state.chosen) is not None and self.state.can_write:
            PersonDialog(self, self.state.save, row.person).exec()

    def _work_as(self) -> None:
        if (row := self.state.chosen) is not None and WorkAs(self, row.person.name).exec():
            self.state.work_as(row.person)

    def _recognise(self) -> None:
        if (row := self.state.chosen) is not None:
            self.state.recognise(row.person)

    def _ask_gold(self) -> None:
        row = self.state.chosen
        if row is None:
            return
        choices = [
            MenuChoice(
                escaping.menu_text(layer.name),
                partial(self.state.set_gold, layer, row.person),
                on=layer.name in row.gold,
            )
            for layer in self.state.layers
        ]
        context_menu.fill(self._menu, choices)
        self._menu.popup(self.gold.mapToGlobal(self.gold.rect().bottomLeft()))

    def _leave_to_assign(self) -> None:
        self.accept()
        self.state.app.act("assign")

    def done(self, result: int) -> None:
        self.state.close()
        super().done(result)


class PersonDialog(Dialog):
    """Add a person, or change one; stays open while something is wrong.

    `save_person(id, values)` returns what that is, or "".
    """

    def __init__(
        self,
        parent: QWidget,
        save_person: Callable[[int | None, dict[str, str]], str],
        person: Person | None = None,
    ) -> None:
        title = _("Add a person") if person is None else _("Edit the person")
        super().__init__(parent, title, width=460)
        self._save_person, self._id = save_person, None if person is None else person.id
        values = () if person is None else (person.name, own_initials(person), person.colour)
        self.fields = PersonFields(*values)
        self.fields.name.setPlaceholderText(_("Name"))
        self.put(self.fields)
        save = Button(_("Add") if person is None else _("Save"), kind="primary", on=self.save)
        save.setDefault(True)
        self.end(None, Button(_("Cancel"), on=self.reject), save)
        self.fields.name.setFocus()

    def save(self) -> None:
        if problem := self._save_person(self._id, self.fields.values):
            self.fields.set_error(problem)
        else:
            self.accept()


class WorkAs(Dialog):
    """Accepted if the user is to label as another person."""

    def __init__(self, parent: QWidget, name: str) -> None:
        super().__init__(parent, _("Label as {name}", name=name), width=480)
        self.put(
            words(
                _(
                    "Labels that you create from now on are saved as labels of {name}. Layers that "
                    "show the labels of the person before show those of {name}. The status bar "
                    "says so, and the change can be undone.",
                    name=name,
                ),
                wrap=True,
            )
        )
        act = Button(_("Label as {name}", name=name), kind="primary", on=self.accept)
        self.end(None, Button(_("Cancel"), on=self.reject), act)


def _columns(state: PeopleListState) -> tuple[Column, ...]:
    def look(row: Row) -> tuple[str, object, str]:
        number = next((n for n, item in enumerate(state.rows or ()) if item is row), 0)
        return row.person.initials or "?", chip(row.person, number), ""

    return (
        Column("", width=72, chip=look),
        Column(_("Name"), _name, icon=_labels_here, tip=_name),
        Column(
            _("Assigned"),
            lambda row: row.assigned,
            display=_progress,
            kind=ValueKind.COUNT,
            hint=_("Submitted of the documents that are assigned to the person"),
            width=130,
        ),
        Column(_("Submitted"), lambda row: row.submitted, kind=ValueKind.COUNT, width=96),
        Column(_("Gold of"), lambda row: ", ".join(row.gold), width=170, tip=_gold),
    )


def _name(row: Row) -> str:
    return row.person.name


def _gold(row: Row) -> str:
    return ", ".join(row.gold)


def _labels_here(row: Row) -> tuple[str, str] | None:
    return ("user", "accent") if row.is_current else None


def _progress(row: Row) -> str:
    if not row.assigned:
        return ""
    return _("{done} of {n}", done=formats.count(row.done), n=formats.count(row.assigned))
