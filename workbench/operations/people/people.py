"""Who labels in a project: people, and whose labels are gold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.storage.annotation import people as store
from workbench.storage.annotation.people import Person as Person
from workbench.storage.labels import labels
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.project.project import Project


def every(project: Project) -> tuple[Person, ...]:
    """All people of the project, in the order in which they were added."""
    return store.every(project.db)


@dataclass(frozen=True, slots=True)
class Row:
    """A person in a list. submitted: documents, in any layer. gold: the layers that show theirs."""

    person: Person
    submitted: int
    gold: tuple[str, ...]
    is_current: bool


def overview(project: Project) -> tuple[Row, ...]:
    """All people with what they submitted, and the layers whose gold is theirs."""
    counts, gold = store.submitted_documents(project.db), labels.gold(project.db)
    layers = labels.layers(project.db)
    return tuple(
        Row(
            person,
            counts.get(person.id, 0),
            tuple(layer.name for layer in layers if gold[row_id(layer)] == person.id),
            person.id == project.annotator_id,
        )
        for person in every(project)
    )


def named(project: Project, name: str) -> Person:
    """Raises SpecError, with the names that there are, if nobody has this name."""
    people = every(project)
    for person in people:
        if person.name == name:
            return person
    raise SpecError(
        _("Nobody in this project is called {name!r}.", name=name),
        hint=_("People: {names}", names=", ".join(person.name for person in people)),
    )


def current(project: Project) -> Person:
    """Who labels in this project on this computer."""
    return next(person for person in every(project) if person.id == project.annotator_id)


def add(
    project: Project, name: str, *, uid: str = "", initials: str = "", colour: str = ""
) -> Person:
    """Add a person; cannot be undone. Raises SpecError for a blank name or one that is taken."""
    name = _free(project, name)
    with project.write():
        id = store.add(project.db, name, uid=uid, initials=initials, colour=colour)
    return next(person for person in every(project) if person.id == id)


def change(project: Project, id: int, name: str, *, initials: str = "", colour: str = "") -> None:
    """Set name, initials and colour; cannot be undone. Raises SpecError as `add`."""
    name = _free(project, name, besides=id)
    with project.write():
        store.change(project.db, id, name, initials=initials, colour=colour)
    if id == project.annotator_id:
        project.annotator_name = name


def work_as(project: Project, id: int, *, origin: object = None) -> None:
    """Label as this person from now on.

    Layers that show the labels of the person before show those of the new one, in one undo step;
    gold that others decided stays.
    """
    person = next(person for person in every(project) if person.id == id)
    before = project.annotator_id
    if id == before:
        return
    with project.edit(_("Label as {name}", name=person.name), origin=origin):
        for layer_id, gold in labels.gold(project.db).items():
            if gold == before:
                labels.update_layer(project.db, layer_id, gold=id)
        project.db.set_meta("annotator", id)
    project.annotator_id, project.annotator_name = id, person.name


def set_gold(project: Project, layer_id: int, id: int, *, origin: object = None) -> None:
    """Make the labels of this person the gold of a layer, in one undo step."""
    person = next(person for person in every(project) if person.id == id)
    if project.gold(layer_id) == id:
        return
    name = labels.layer(project.db, layer_id).name
    title = _("Gold of {layer} is by {name}", layer=name, name=person.name)
    with project.edit(title, origin=origin):
        labels.update_layer(project.db, layer_id, gold=id)


def _free(project: Project, name: str, besides: int | None = None) -> str:
    name = " ".join(name.split())
    if not name:
        raise SpecError(_("A person needs a name."))
    if any(person.name == name and person.id != besides for person in every(project)):
        raise SpecError(_("{name!r} is in this project already.", name=name))
    return name
