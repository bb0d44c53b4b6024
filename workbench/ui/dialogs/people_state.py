"""State of the dialog People: who labels in the project, whose labels are gold, and blind mode."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.operations.people import people
from workbench.operations.people.people import Person, Row
from workbench.operations.schema import labels
from workbench.text.labels import Label
from workbench.text.rows import row_id
from workbench.ui.dialogs.project_file_state import OperationState

if TYPE_CHECKING:
    from workbench.text.labels import Layer
    from workbench.ui.application import Application


class PeopleListState(OperationState):
    """rows: None while they are counted. person: the id of the selected one. Raises RuntimeError
    without an open project.
    """

    def __init__(self, app: Application):
        super().__init__(app)
        if app.project is None:
            raise RuntimeError("people need an open project")
        self.project = app.project
        self.rows: tuple[Row, ...] | None = None
        self.person = self.project.annotator_id
        self.blind = people.is_blind(self.project)
        self.listen(self.project.changed, lambda _changes: self.load())
        self.load()

    @property
    def can_write(self) -> bool:
        return not self.project.read_only

    @property
    def chosen(self) -> Row | None:
        return next((row for row in self.rows or () if row.person.id == self.person), None)

    def load(self) -> None:
        """Count again what each person has submitted."""

        def counted(rows: tuple[Row, ...]) -> None:
            self.update(rows=rows)

        self._tasks.start("people", partial(people.overview, self.project), counted)

    def choose(self, person: int) -> None:
        self.update(person=person)

    def is_own(self, person: Person) -> bool:
        return people.is_own(person, self.app.settings)

    # ------------------------------------------------------------ changes

    def save(self, id: int | None, values: dict[str, str]) -> str:
        """Add a person, or change one; returns what is wrong with the values, or ""."""
        try:
            if id is None:
                id = people.add(self.project, **values).id
            else:
                people.change(self.project, id, **values)
                person = next(p for p in people.every(self.project) if p.id == id)
                if self.app.settings.is_own(person.uid):
                    people.introduce(self.app.settings, values)
        except WorkbenchError as error:
            return str(error)
        self.update(person=id)
        self._done()
        return ""

    def work_as(self, person: Person) -> None:
        """Label as this person from now on, as an undo step."""
        if self._attempt(partial(people.work_as, self.project, person.id)):
            self.app.note(_("Labels are saved as {name} now.", name=person.name), undo=True)

    def recognise(self, person: Person) -> None:
        """The person is that of this computer."""
        people.recognise(self.app.settings, person)
        self._done()

    @property
    def layers(self) -> tuple[Layer, ...]:
        return labels.layers(self.project)

    def set_gold(self, layer: Layer, person: Person) -> None:
        """Make the labels of a person the gold of a layer, as an undo step."""
        if self._attempt(partial(people.set_gold, self.project, row_id(layer), person.id)):
            message = _("Gold of {layer} is by {name}.", layer=layer.name, name=person.name)
            self.app.note(message, undo=True)

    def set_blind(self, on: bool) -> None:
        if self._attempt(partial(people.set_blind, self.project, on)):
            self.update(blind=on)

    @property
    def hidden(self) -> str:
        """Names of the layers that blind mode hides, "" if it hides none."""
        ids = people.hidden_layers(self.project)
        return ", ".join(layer.name for layer in self.layers if layer.id in ids)

    def _attempt(self, act: partial[None]) -> bool:
        try:
            act()
        except WorkbenchError as error:
            self.update(fault=str(error))
            return False
        self.update(fault="")
        self._done()
        return True

    def _done(self) -> None:
        self.load()
        self.app.person_changed()


def chip(person: Person, position: int) -> Label:
    """A person as a label: with a colour."""
    return Label(person.name, colour=person.colour, position=position)


def own_initials(person: Person) -> str:
    """Initials that were chosen; "" for those of the name."""
    return "" if person.initials == people.initials_of(person.name) else person.initials
