"""State of the dialog Merge: another project file, what a merge would do, and doing it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _, ngettext
from workbench.operations.people import merge
from workbench.operations.people import people as persons
from workbench.operations.people.merge import Choices, MergePreview, PersonMerge
from workbench.operations.schema import labels as schema
from workbench.text.columns import Column, ValueKind
from workbench.ui.dialogs.project_file_state import OperationState

if TYPE_CHECKING:
    from workbench.ui.application import Application


LABEL, PERSON = "label", "person"


@dataclass(frozen=True, slots=True)
class Mapping:
    """A label or person of the other file that is not here. names: those here; chosen: one of them,
    "" to add it as a new one. there: (layer, label), or the name of the person.
    """

    kind: str
    there: Any
    title: str
    names: tuple[str, ...]
    chosen: str


class MergeState(OperationState):
    """path: of the other file, None before it is chosen. preview: None while it is read. Raises
    RuntimeError without an open project.
    """

    def __init__(self, app: Application):
        super().__init__(app)
        if app.project is None:
            raise RuntimeError("a merge needs an open project")
        self.project = app.project
        self.path: Path | None = None
        self.add = True  # documents that are not here
        self.preview: MergePreview | None = None
        # names of the other file → names here, "" for a new one: (layer, label), and people
        self.labels: dict[tuple[str, str], str] = {}
        self.people: dict[str, str] = {}

    @property
    def choices(self) -> Choices:
        labels = {place: name for place, name in self.labels.items() if name}
        people = {there: here for there, here in self.people.items() if here}
        return Choices(people, labels, add=self.add)

    @property
    def mappings(self) -> tuple[Mapping, ...]:
        """Labels and people of the other file that are not here, and what they can be here."""
        layers = {layer.name: layer.names for layer in schema.layers(self.project)}
        names = tuple(person.name for person in persons.every(self.project))
        labels = [
            Mapping(
                LABEL,
                place,
                _("Label {layer}/{label}", layer=place[0], label=place[1]),
                layers.get(place[0], ()),
                chosen,
            )
            for place, chosen in self.labels.items()
        ]
        people = [
            Mapping(PERSON, there, _("Person {name}", name=there), names, chosen)
            for there, chosen in self.people.items()
        ]
        return (*labels, *people)

    def map(self, mapping: Mapping, name: str) -> None:
        """Say which label or person here it is; "" for a new one."""
        if mapping.kind == LABEL:
            self.labels[mapping.there] = name
        else:
            self.people[mapping.there] = name
        if self.path is not None:
            self._preview(self.path)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the merge would leave out and add, besides documents and labels of people."""
        return tuple(merge.remarks(self.preview)) if self.preview is not None else ()

    @property
    def can_merge(self) -> bool:
        return self.preview is not None and not self.preview.is_empty and not self.title

    def read(self, path: Path) -> None:
        """Check another file, and look what a merge would do."""
        self.labels, self.people = {}, {}
        self.update(path=path, preview=None)
        self._preview(path)

    def _preview(self, path: Path) -> None:
        self.run(
            _("Comparing the files…"),
            partial(merge.preview, self.project, path, self.choices),
            self._compared,
        )

    def _compared(self, preview: MergePreview) -> None:
        new_people = (row.name for row in preview.people if row.is_new)
        self.labels = {**dict.fromkeys(preview.labels, ""), **self.labels}
        self.people = {**dict.fromkeys(new_people, ""), **self.people}
        self.update(preview=preview)

    @property
    def matches(self) -> tuple[tuple[str, int, str], ...]:
        """How the documents of the other file are matched: title, number, explanation."""
        if self.preview is None:
            return ()
        counts, changed = self.preview.documents, len(self.preview.changed)
        return (
            (_("Same document"), counts["uid"], _("Matched by document identifier")),
            (_("Same key and text"), counts["key"], ""),
            (_("Same text"), counts["text"], _("With another key")),
            (_("New"), counts["new"], _("Not in this project")),
            (_("Text differs"), changed, _("The labels of these documents are left out")),
        )

    def set_add(self, on: bool) -> None:
        if on != self.add:
            self.update(add=on)
            if self.path is not None:
                self._preview(self.path)

    def merge(self) -> None:
        """Merge the labels in one undo step, and close the dialog."""
        if self.path is None or not self.can_merge:
            return
        self.run(
            _("Merging…"),
            partial(merge.merge, self.project, self.path, self.choices),
            self._merged,
        )

    def _merged(self, merged: MergePreview) -> None:
        labels = sum(row.new + row.replaced for row in merged.people)
        message = ngettext("{n:,} label set merged.", "{n:,} label sets merged.", labels)
        self.app.note(message, undo=True)
        self.update(over=True)


def people_columns() -> tuple[Column, ...]:
    """Of the people whose labels are merged."""

    def count(title: str, key: str, hint: str) -> Column:
        return Column(
            title, lambda row: getattr(row, key), kind=ValueKind.COUNT, key=key, hint=hint
        )

    return (
        Column(_("Person"), _name, key="name"),
        count(_("New"), "new", _("Labels of a layer of a document that are not here yet")),
        count(_("Replaced"), "replaced", _("Merged before, and changed in the other file since")),
        count(_("Equal"), "equal", _("The same labels are here already")),
        count(_("Not taken"), "conflicts", _("Different here, where they were changed")),
    )


def _name(row: PersonMerge) -> str:
    return _("{name} (new)", name=row.name) if row.is_new else row.name
