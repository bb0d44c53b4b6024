"""File ▸ Assign documents: split documents among people, and write a file for each of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QKeyEvent
from PySide6.QtWidgets import QCheckBox, QFileDialog, QFrame, QLineEdit, QVBoxLayout, QWidget

from workbench.base.events import ALL as EVERY
from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.text.columns import ValueKind
from workbench.text.rows import row_id
from workbench.ui.dialogs.assign_state import FIELD, HAND, QUERY, RANDOM, AssignState
from workbench.ui.dialogs.people import PersonDialog
from workbench.ui.dialogs.people_state import chip
from workbench.ui.style import escaping, theme
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.controls.field import TitledField, combo
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.spin import SpinBox
from workbench.ui.widgets.controls.words import call, words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.flow import FlowLayout, flow
from workbench.ui.widgets.layout import clear, column, fixed, row
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.operations.people.hand_out import Unit
    from workbench.operations.people.people import Person
    from workbench.text.labels import Layer
    from workbench.ui.application import Application

ROWS = 6  # of people in the preview; more scroll


class Assign(Dialog):
    """Choices above, the preview below; a running operation disables them and can be cancelled."""

    def __init__(self, app: Application) -> None:
        hint = _(
            "Each person gets a project file with their documents, the layers and the guidelines, "
            "labels in it, and sends it back. File ▸ Merge takes the labels into this project."
        )
        super().__init__(app.window, _("Assign documents"), hint, width=860)
        self.state = state = AssignState(app)
        self._who = QFrame()
        self._boxes = FlowLayout(self._who, gap=14)
        add = Button(_("Add…"), "plus", small=True, on=self._add, name=_("Add a person"))
        people = TitledField(_("People"), row((self._who, 1), add), name=_("People"))
        self._shares = self._share_fields()
        self._holder = QVBoxLayout()
        self._holder.setContentsMargins(0, 0, 0, 0)
        place = QFrame()
        place.setLayout(self._holder)
        self.table: Table | None = None  # people
        self.units: Table | None = None  # documents or values, by hand and by metadata
        self._summary = words("", "small", "muted", wrap=True)
        self._running = words("", "small", "muted")
        self._meter = Meter(0.0, name=_("Progress"))
        cancel = Button(_("Cancel writing"), small=True, on=state.cancel)
        self._progress = row(self._running, (self._meter, 1), cancel, gap=12)
        self._choices = (people, self._document_fields(), self._way_fields(), self._shares)
        self.put(*self._choices)
        self.put(row(words(_("Preview"), weight=600), (self._summary, 1), gap=12), place)
        self._files = self._file_fields()
        self.put(self._files, self._progress)
        self.write = Button("", "save", "primary", on=state.write)
        self.end(None, Button(_("Cancel"), on=self.reject), self.write)
        state.listen(state.changed, self.render)
        self.render(EVERY)
        self.which.setFocus()

    # ------------------------------------------------------------ parts

    def _document_fields(self) -> QWidget:
        state = self.state
        self.which = combo(state.choices, value=state.which)
        self.which.activated.connect(lambda _at: state.set(which=self.which.currentData()))
        self.query = QLineEdit()
        self.query.setPlaceholderText(_("For example: state:pending -label:sarcastic"))
        call(self.query, _("Query"))
        self.query.textChanged.connect(lambda text: state.set(query=text))
        self._again = QCheckBox(_("Also documents that are assigned already"))
        self._again.toggled.connect(lambda on: state.set(again=on))
        field = TitledField(
            _("Documents"), row((self.which, 1), (self.query, 2), self._again, gap=12)
        )
        return call(field, _("Documents"))

    def _way_fields(self) -> QWidget:
        state = self.state
        choices = [(RANDOM, _("At random")), (FIELD, _("By metadata")), (HAND, _("By hand"))]
        self.way = Segments(*choices, value=state.how, name=_("How"))
        self.way.button(FIELD).setEnabled(bool(state.fields))
        self.way.chosen.connect(lambda value: state.set(how=value))
        self.field = combo([(name, name) for name in state.fields], value=state.field)
        self.field.activated.connect(lambda _at: state.set(field=self.field.currentData()))
        self._field = TitledField(_("Metadata field"), self.field)
        seed = _spin(0, 2**31 - 1, state.seed, _("Seed"), lambda value: state.set(seed=value))
        return row(
            TitledField(_("How"), self.way, name=_("How")),
            (self._field, 1),
            TitledField(_("Seed"), fixed(seed, theme.px(130))),
            None,
            gap=16,
        )

    def _share_fields(self) -> QWidget:
        state = self.state

        def spin(name: str, title: str, low: int, high: int, suffix: str = "%") -> SpinBox:
            value = getattr(state, name)
            box = _spin(low, high, value, title, lambda new: state.set(**{name: new}))
            box.setSuffix(suffix)
            return box

        self.pair = spin("pair_share", _("Share that several people label"), 0, 100)
        self.pair_people = spin("pair_people", _("How many people"), 2, 20, "")
        self.every = spin("all_share", _("Share that all people label"), 0, 100)
        line = row(
            self.pair,
            words(_("by")),
            self.pair_people,
            words(_("people")),
            16,
            self.every,
            words(_("by all people")),
            None,
            gap=6,
        )
        hint = _("Documents that several people label show how far they agree.")
        return TitledField(_("Labelled by several people"), line, hint, name=_("Overlap"))

    def _file_fields(self) -> QWidget:
        state = self.state
        self._test = QCheckBox(_("With labels of the test split"))
        self._test.setChecked(state.test_labels)
        self._test.toggled.connect(lambda on: state.set(test_labels=on))
        self._blind = QCheckBox(_("Blind mode"))
        escaping.set_tip(self._blind, _("No suggestions and no instant model in the files"))
        self._blind.toggled.connect(lambda on: state.set(blind=on))
        self.context = [self._context_box(layer) for layer in state.layers]
        self.folder = QLineEdit(state.folder)
        self.folder.textChanged.connect(lambda text: state.set(folder=text))
        field = TitledField(_("Folder for the files"), self.folder)
        field.put_beside(
            Button(_("Choose…"), "folder-open", on=self._browse, name=_("Choose the folder"))
        )
        boxes = flow(self._test, self._blind, *self.context, gap=16)
        return column(field, boxes, gap=10)

    def _context_box(self, layer: Layer) -> QCheckBox:
        id, state = row_id(layer), self.state
        name = escaping.menu_text(layer.name)
        box = QCheckBox(_("Gold of {layer} as context", layer=name))
        tip = (
            _("For people who label coreference: they begin with these mentions")
            if layer.traits.in_chains
            else _("For people who label relations: the spans are read-only")
        )
        escaping.set_tip(box, tip)
        box.toggled.connect(
            lambda on: state.set(context=state.context | {id} if on else state.context - {id})
        )
        return box

    def _browse(self) -> None:
        folder = QFileDialog.getExistingDirectory(
            self, _("Choose a folder for the files"), self.folder.text()
        )
        if folder:
            self.folder.setText(folder)

    def _add(self) -> None:
        PersonDialog(self, self.state.save).exec()

    # ------------------------------------------------------------ showing

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        if concerns(fields, "people"):
            self._show_people()
        if concerns(fields, "people", "chosen", "how", "field"):
            self._build_tables()
        self.query.setVisible(state.which == QUERY)
        self._field.setVisible(state.how == FIELD)
        self.pair_people.setMaximum(max(2, len(state.chosen)))
        self._shares.setEnabled(len(state.chosen) > 1)
        if concerns(fields, "plan", "people", "chosen", "how", "field") and self.table is not None:
            self.table.set_rows(state.receivers)
            self.table.fit_height(ROWS)
            if self.units is not None:
                self.units.set_rows(state.units)
        self._summary.setText(state.summary)
        n = len(state.plan.parts) if state.plan is not None else 0
        self.write.set_text(ngettext("Write {n} file", "Write {n} files", n))
        self.write.setEnabled(state.can_write)
        self._running.setText(state.title)
        self._meter.set(state.share)
        self._progress.setVisible(bool(state.title))
        for part in (*self._choices, self._files):
            part.setEnabled(not state.title)
        self.fault(state.fault or state.problem, "bad" if state.fault else "warn")
        if state.over:
            self._end()

    def _end(self) -> None:
        folder = QUrl.fromLocalFile(str(Path(self.state.folder).expanduser()))

        def open_folder() -> None:
            QDesktopServices.openUrl(folder)

        self.state.app.note(self.state.message, open_folder, action=_("Open folder"))
        self.accept()

    def _show_people(self) -> None:
        clear(self._boxes)
        for person in self.state.people:
            box = QCheckBox(escaping.menu_text(person.name))
            box.setAccessibleName(person.name)
            box.setChecked(person.id in self.state.chosen)
            box.toggled.connect(partial(self.state.include, person.id))
            self._boxes.addWidget(box)

    def _build_tables(self) -> None:
        """The columns are the people, so that other people need other tables."""
        clear(self._holder)
        self.units = None
        receivers = self.state.receivers
        self.table = Table(
            self._people_columns(receivers), name=_("Documents by person"), key=lambda row: row.id
        )
        self._holder.addWidget(self.table)
        if self.state.how != RANDOM:
            self.units = self._unit_table(receivers)
            hint = _("Click a cell or press a person's number to assign or unassign a row.")
            self._holder.addSpacing(8)
            self._holder.addWidget(words(hint, "caption", "muted", wrap=True))
            self._holder.addWidget(self.units)
        if self.isVisible():
            self.fit_height(shrink=True)

    def _people_columns(self, receivers: tuple[Person, ...]) -> tuple[Column, ...]:
        state = self.state

        def documents(person: Person) -> int | None:
            return None if state.plan is None else len(state.plan.parts.get(person.id, ()))

        def shared(other: Person, person: Person) -> int | None:
            if state.plan is None or other.id == person.id:
                return None
            pairs = state.plan.shared
            return pairs[person.id, other.id] + pairs[other.id, person.id]

        def look(person: Person) -> tuple[str, object, str]:
            return person.initials or "?", chip(person, state.people.index(person)), ""

        others = receivers if len(receivers) > 1 else ()
        return (
            Column("", width=72, chip=look),
            Column(_("Person"), lambda person: person.name),
            Column(_("Documents"), documents, kind=ValueKind.COUNT, width=96),
            *(
                Column(
                    _("with {initials}", initials=other.initials or other.name),
                    partial(shared, other),
                    kind=ValueKind.COUNT,
                    hint=_("Documents that both label: {name}", name=other.name),
                    width=84,
                )
                for other in others
            ),
        )

    def _unit_table(self, receivers: tuple[Person, ...]) -> Table:
        by_field = self.state.how == FIELD
        title = self.state.field if by_field else _("Document")
        columns = [Column(title, lambda unit: unit.name, tip=lambda unit: unit.name)]
        if by_field:
            columns.append(
                Column(_("Documents"), lambda unit: len(unit.ids), kind=ValueKind.COUNT, width=96)
            )
        for number, person in enumerate(receivers, 1):
            columns.append(
                Column(
                    _("{number} {name}", number=number, name=person.name),
                    width=120,
                    icon=partial(_given, person.id),
                )
            )
        name = _("Who gets each row")
        table = _UnitTable(columns, name=name, key=lambda unit: unit.name, many=True)
        table.setMinimumHeight(theme.px(180))
        first = len(columns) - len(receivers)

        def clicked(index: QModelIndex) -> None:
            if index.column() >= first:
                unit, person = table.rows()[index.row()], receivers[index.column() - first]
                self.state.toggle([unit], person.id)

        table.clicked.connect(clicked)
        table.numbered.connect(partial(self._toggle_chosen, table, receivers))
        return table

    def _toggle_chosen(self, table: Table, receivers: tuple[Person, ...], number: int) -> None:
        if table.chosen_rows() and number <= len(receivers):
            self.state.toggle(table.chosen_rows(), receivers[number - 1].id)

    def done(self, result: int) -> None:
        """Also called on Escape; cancels a running operation instead of closing."""
        if self.state.title:
            self.state.cancel()
            return
        self.state.close()
        super().done(result)


class _UnitTable(Table):
    """`numbered(n)` is emitted when a key from 1 to 9 is pressed."""

    numbered = Signal(int)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        number = event.key() - Qt.Key.Key_0
        if 1 <= number <= 9 and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            self.numbered.emit(number)
        else:
            super().keyPressEvent(event)


def _given(person: int, unit: Unit) -> tuple[str, str] | None:
    return ("check", "accent") if person in unit.people else None


def _spin(low: int, high: int, value: int, name: str, on: Callable[[int], None]) -> SpinBox:
    box = SpinBox(low, high)
    box.setValue(value)
    box.setMinimumWidth(theme.px(72))
    call(box, name)
    box.valueChanged.connect(on)
    return box
