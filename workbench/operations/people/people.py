"""Who labels in a project: people, and whose labels are gold."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.base.settings import Settings
from workbench.storage.annotation import people as store
from workbench.storage.annotation import provenance
from workbench.storage.annotation.people import Person as Person
from workbench.storage.annotation.people import initials_of as initials_of
from workbench.storage.labels import labels
from workbench.storage.schema.values import new_uid
from workbench.text.labels import CURATED
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.project.project import Project

GOLD_UID = "676f6c6400000000"  # “gold” in ASCII: the same person in all files
BLIND, HANDED_OUT = "blind", "handed_out"  # keys of `meta`


def every(project: Project) -> tuple[Person, ...]:
    """All people of the project, in the order in which they were added."""
    return store.every(project.db)


@dataclass(frozen=True, slots=True)
class Row:
    """A person in a list. submitted: documents, in any layer. gold: the layers that show theirs.
    assigned: documents; done: those of them that the person has submitted, in any layer.
    """

    person: Person
    submitted: int
    gold: tuple[str, ...]
    is_current: bool
    assigned: int = 0
    done: int = 0


def overview(project: Project) -> tuple[Row, ...]:
    """All people with what they submitted, and the layers whose gold is theirs."""
    counts, gold = store.submitted_documents(project.db), labels.gold(project.db)
    layers, assigned = labels.layers(project.db), store.assigned(project.db)
    return tuple(
        Row(
            person,
            counts.get(person.id, 0),
            tuple(layer.name for layer in layers if gold[row_id(layer)] == person.id),
            person.id == project.annotator_id,
            *assigned.get(person.uid, ()),
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


@dataclass(frozen=True, slots=True)
class Mark:
    """What the window says of who labels. name: "" if it needs no mention. is_other: not the person
    of this computer. is_blind: blind mode is on.
    """

    name: str = ""
    is_other: bool = False
    is_blind: bool = False


def mark(project: Project, own: Settings) -> Mark:
    people = every(project)
    person = next(person for person in people if person.id == project.annotator_id)
    is_other = not is_own(person, own)
    return Mark(person.name if is_other or len(people) > 1 else "", is_other, is_blind(project))


def is_own(person: Person, own: Settings) -> bool:
    """Whether this is the person of this computer; one without a name is."""
    return person.name == Settings.annotator or own.is_own(person.uid)


def introduce(own: Settings, values: Mapping[str, str], project: Project | None = None) -> None:
    """Save who labels on this computer; also in `project` if the person there has no name yet.

    values: name, and initials and colour if they were chosen. Raises SpecError for a blank name.
    """
    own.annotator = _checked(values["name"])
    own.initials, own.colour = values.get("initials", "").strip(), values.get("colour", "")
    own.own_uid()
    own.save()
    if (
        project is not None
        and not project.read_only
        and project.annotator_name == Settings.annotator
    ):
        with project.write():
            project.label_as_own(own)


def recognise(own: Settings, person: Person) -> None:
    """The person of a file that was written elsewhere is that of this computer."""
    own.own_uid()
    if own.is_named:
        own.person_uids = [*own.person_uids, person.uid]
    else:
        own.annotator, own.initials, own.colour = person.name, person.initials, person.colour
        own.person_uids = [person.uid, *own.person_uids]
    own.save()


def begin_as(project: Project, name: str) -> None:
    """In a new project somebody else labels than the person of this computer."""
    with project.write():
        person = Person(project.annotator_id, new_uid(), _checked(name))
        store.become(project.db, project.annotator_id, person)
    project.read_annotator()


def add(
    project: Project, name: str, *, uid: str = "", initials: str = "", colour: str = ""
) -> Person:
    """Add a person; cannot be undone. Raises SpecError for a blank name or one that is taken."""
    name = _free(project, name)
    with project.write():
        id = store.add(project.db, name, uid=uid, initials=initials, colour=colour)
    return next(person for person in every(project) if person.id == id)


def add_gold(project: Project) -> Person:
    """Add the person whose labels are the result of adjudication, as `add`. A person with this name
    who has labels is somebody else; one without is the result from now on.
    """
    persons = {person.name: person for person in every(project)}
    person, labelling = persons.get(CURATED), store.labelling(project.db)
    if person is None or person.id in labelling or person.id == project.annotator_id:
        return add(project, free_name(CURATED, persons), uid=GOLD_UID)
    with project.write():
        store.become(project.db, person.id, replace(person, uid=GOLD_UID))
    return next(person for person in every(project) if person.uid == GOLD_UID)


def change(project: Project, id: int, name: str, *, initials: str = "", colour: str = "") -> None:
    """Set name, initials and colour; cannot be undone. Raises SpecError as `add`."""
    name = _free(project, name, besides=id)
    with project.write():
        store.change(project.db, id, name, initials=initials, colour=colour)
    project.read_annotator()


def work_as(project: Project, id: int, *, origin: object = None) -> None:
    """Label as this person from now on.

    Layers that show the labels of the person before show those of the new one, in one undo step;
    gold that others decided stays, and so does the result of adjudication: the person of it neither
    takes layers over nor leaves them.
    """
    persons = {person.id: person for person in every(project)}
    person, before = persons[id], project.annotator_id
    if id == before:
        return
    with project.edit(_("Label as {name}", name=person.name), origin=origin):
        for layer_id, gold in labels.gold(project.db).items():
            if gold == before and GOLD_UID not in (person.uid, persons[before].uid):
                labels.update_layer(project.db, layer_id, gold=id)
        provenance.change_annotator(project.db, id)
        project.read_annotator()


def is_handed_out(project: Project) -> bool:
    """Whether the file was written for a person, who is to label in all of its layers."""
    return bool(project.db.meta(HANDED_OUT, 0))


def is_blind(project: Project) -> bool:
    """Whether the labels of others, and all suggestions, are hidden from the one who labels."""
    return bool(project.db.meta(BLIND, 0))


def set_blind(project: Project, on: bool) -> None:
    """Turn blind mode on or off; cannot be undone. `project.layers_shown` tells the pages."""
    if on != is_blind(project):
        with project.write():
            project.db.set_meta(BLIND, int(on))
        project.layers_shown.emit()


def follow_blind_mode(project: Project) -> bool:
    """In blind mode, let this process read only the labels of the one who labels, and neither
    suggestions nor predictions; edits read all. Returns whether that is a change.
    """
    return project.db.show_only(project.annotator_id if is_blind(project) else None)


def hidden_layers(project: Project) -> dict[int, str]:
    """The layers that blind mode hides, as they show the labels of another: id → its name."""
    if not is_blind(project):
        return {}
    names = {person.id: person.name for person in every(project)}
    gold = labels.gold(project.db)
    return {
        row_id(layer): names[gold[row_id(layer)]]
        for layer in labels.layers(project.db)
        if gold[row_id(layer)] != project.annotator_id and not layer.is_read_only
    }


def set_gold(project: Project, layer_id: int, id: int, *, origin: object = None) -> None:
    """Make the labels of this person the gold of a layer, in one undo step."""
    person = next(person for person in every(project) if person.id == id)
    if project.gold(layer_id) == id:
        return
    name = labels.layer(project.db, layer_id).name
    title = _("Gold of {layer} is by {name}", layer=name, name=person.name)
    with project.edit(title, origin=origin):
        labels.update_layer(project.db, layer_id, gold=id)


def free_name(name: str, taken: Container[str]) -> str:
    """The name, with a number if it is taken."""
    number, free = 2, name
    while free in taken:
        free, number = f"{name} ({number})", number + 1
    return free


def _free(project: Project, name: str, besides: int | None = None) -> str:
    name = _checked(name)
    if any(person.name == name and person.id != besides for person in every(project)):
        raise SpecError(_("{name!r} is in this project already.", name=name))
    return name


def _checked(name: str) -> str:
    name = " ".join(name.split())
    if not name:
        raise SpecError(_("A person needs a name."))
    return name
