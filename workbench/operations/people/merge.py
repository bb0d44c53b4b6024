"""Merge the labels of another project file into this one, with a preview.

Documents are matched by their identity, else by key and text, else by text. Labels of each person
stay theirs; what a person labelled here is never overwritten. Everything is one undo step.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.errors import ProjectError, SpecError
from workbench.base.i18n import _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.operations.people import people as operations
from workbench.operations.schema import guideline
from workbench.operations.schema.label_keys import command_keys, may_be_key, used_keys
from workbench.project import backup
from workbench.project.check import contents
from workbench.project.project import Project
from workbench.storage.annotation import people, provenance
from workbench.storage.connections import header
from workbench.storage.connections.database import Database
from workbench.storage.labels import guidelines, labels
from workbench.storage.staging import copy_staged, differing_versions, other_project
from workbench.storage.staging.other_project import NEW, Matches
from workbench.text.labels import READ_ONLY
from workbench.text.relations import directed, pairs, span_layer, with_rules
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.storage.annotation.people import Person
    from workbench.storage.staging.differing_versions import Differing
    from workbench.text.labels import Label, Layer


@dataclass(frozen=True)
class Choices:
    """What to do where the files differ; names of the other file → names of this one.

    people: of the same person under two names. labels: (layer, label) → label. add: whether
    documents that are not here are added. splits: whether these keep their splits.
    """

    people: Mapping[str, str] = field(default_factory=dict, hash=False)
    labels: Mapping[tuple[str, str], str] = field(default_factory=dict, hash=False)
    add: bool = True
    splits: bool = True


@dataclass(frozen=True, slots=True)
class PersonMerge:
    """Labels of a person, as numbers of versions: one is a layer of a document.

    new: not here yet. replaced: merged before and changed there since. equal: the same here.
    conflicts: different, and changed here or later here, so that it stays as it is here.
    """

    name: str
    is_new: bool
    new: int = 0
    replaced: int = 0
    equal: int = 0
    conflicts: int = 0

    @property
    def total(self) -> int:
        return self.new + self.replaced + self.equal + self.conflicts


@dataclass(frozen=True)
class MergePreview:
    """What a merge does.

    documents: how documents are matched: "uid", "key", "text", "new". changed: keys of documents
    whose text differs here; their labels are not taken. layers: new layers. labels: (layer, label)
    that are not here and will be added. renamed: new layers whose name another layer has here,
    with their new names. guidelines: layers whose guideline was changed there, and whether it was
    changed here as well. lost: relations that are left out, as a span is not here. deleted:
    relations here, of a span that the newer version of another person does not have. remarks: notes
    and flags that are not here. removed: sets of labels that were merged before and removed there
    since; they are among the replaced ones, and removed here. missing: those that are not in the
    other file any more, whose history does not tell why; they stay.
    """

    documents: Mapping[str, int] = field(hash=False)
    changed: tuple[str, ...]
    people: tuple[PersonMerge, ...]
    layers: tuple[str, ...]
    labels: tuple[tuple[str, str], ...]
    renamed: tuple[tuple[str, str], ...]
    guidelines: tuple[tuple[str, bool], ...] = ()
    lost: int = 0
    deleted: int = 0
    remarks: int = 0
    removed: int = 0
    missing: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether the merge would change nothing."""
        added = self.documents[NEW] + sum(row.new + row.replaced for row in self.people)
        return not (added or self.layers or self.labels or self.guidelines or self.remarks)

    def to_json(self) -> dict[str, object]:
        return {
            "documents": dict(self.documents),
            "changed": list(self.changed),
            "people": [asdict(row) for row in self.people],
            "layers": list(self.layers),
            "labels": [{"layer": layer, "label": label} for layer, label in self.labels],
            "renamed": [{"layer": old, "new": new} for old, new in self.renamed],
            "guidelines": [{"layer": name, "both": both} for name, both in self.guidelines],
            "lost": self.lost,
            "deleted": self.deleted,
            "remarks": self.remarks,
            "removed": self.removed,
            "missing": self.missing,
        }


def sentences(merged: MergePreview) -> Iterator[str]:
    """What a preview or a merge says beside its table of people."""
    counts = merged.documents
    here = sum(counts.values()) - counts[NEW]
    yield ngettext("{n:,} document is here already", "{n:,} documents are here already", here)
    yield ngettext("{n:,} new document", "{n:,} new documents", counts[NEW])
    yield from remarks(merged)


def remarks(merged: MergePreview) -> Iterator[str]:
    """What is left out, and what a merge adds besides documents and their labels."""
    if n := len(merged.changed):
        yield ngettext(
            "The text of {n:,} document differs here; its labels are left out: {keys}",
            "The texts of {n:,} documents differ here; their labels are left out: {keys}",
            n,
            keys=_shortened(merged.changed),
        )
    if n := merged.lost:
        yield ngettext(
            "{n:,} relation is left out, because a span that it connects is no longer here",
            "{n:,} relations are left out, because spans that they connect are no longer here",
            n,
        )
    if n := merged.deleted:
        yield ngettext(
            "{n:,} relation is deleted, because a span that it connects is not in the newer labels",
            "{n:,} relations are deleted, because spans that they connect are not in the newer"
            " labels",
            n,
        )
    if n := merged.removed:
        yield ngettext(
            "{n:,} label set was removed in the other file, and is removed here",
            "{n:,} label sets were removed in the other file, and are removed here",
            n,
        )
    if n := merged.missing:
        yield ngettext(
            "{n:,} label set that was merged before is not in the file; it is left unchanged",
            "{n:,} label sets that were merged before are not in the file; they are left unchanged",
            n,
        )
    if n := merged.remarks:
        yield ngettext("{n:,} new note or flag", "{n:,} new notes and flags", n)
    if merged.layers:
        yield _("New layers: {names}", names=_shortened(merged.layers))
    for old, new in merged.renamed:
        yield _("Another layer here is called {old}; the new one becomes {new}.", old=old, new=new)
    if merged.labels:
        names = _shortened([f"{layer}/{label}" for layer, label in merged.labels])
        yield _("New labels: {names}", names=names)
    if changed := [name for name, both in merged.guidelines if not both]:
        yield _("The guideline was changed there: {names}", names=_shortened(changed))
    if changed := [name for name, both in merged.guidelines if both]:
        yield _(
            "The guideline was changed here and there; both changes are in it: {names}",
            names=_shortened(changed),
        )


def _shortened(names: Sequence[str], most: int = 10) -> str:
    listed = ", ".join(names[:most])
    return listed if len(names) <= most else f"{listed}, …"


def preview(
    project: Project, path: Path, choices: Choices | None = None, *, watch: Watch = QUIET
) -> MergePreview:
    """What `merge` would do; changes nothing. Not for the main thread. Raises as `merge`."""
    with _opened(project, path, watch.part(0.0, 0.5)) as other:
        plan = _Plan(project, other, choices or Choices())
        with copy_staged.attached(project.db, other.path):
            return plan.measured(plan.assumed(), path.name, watch.part(0.5, 1.0))


def merge(
    project: Project,
    path: Path,
    choices: Choices | None = None,
    *,
    origin: object = None,
    watch: Watch = QUIET,
) -> MergePreview:
    """Merge another project file in one undo step; returns what was done.

    The other file is copied and checked first. Not for the main thread. Raises ProjectError if it
    cannot be read, is damaged or is this project itself; SpecError for names that do not exist;
    Cancelled through `watch`: then nothing is changed.
    """
    with _opened(project, path, watch.part(0.0, 0.3)) as other:
        plan = _Plan(project, other, choices or Choices())
        with copy_staged.attached(project.db, other.path):
            title = _("Merge {name}", name=path.name)
            try:
                with project.edit(title, origin=origin, bulk=True, watch=watch.part(0.8, 1.0)):
                    ids = plan.added(path.name)
                    merged = plan.measured(ids, path.name, watch.part(0.3, 0.5))
                    plan.take_guidelines(path.name)
                    plan.copy(path.name, watch.part(0.5, 0.8))
                    if merged.is_empty:
                        raise _NothingToMerge
            except _NothingToMerge:
                pass  # nor is there a step to undo
    return merged


class _NothingToMerge(Exception):
    """Rolls back the edit, which has only added its sources."""


@contextmanager
def _opened(project: Project, path: Path, watch: Watch) -> Iterator[Project]:
    """A checked copy of the other file, which may be open elsewhere or of an older version."""
    # What a killed process leaves is deleted by name, see `backup.delete_abandoned`.
    draft = project.path.with_name(f".{project.path.name}.{os.getpid()}.part.merge")
    with suppress(OSError):  # of a missing file: opening it says so
        if path.samefile(project.path):
            raise ProjectError(
                _("{path} is this project.", path=path),
                hint=_("Choose the file of another person."),
            )
    try:
        with closing(Project.open(path, read_only=True)) as other:
            if reason := header.why_newer(header.examine(path)):
                raise ProjectError(
                    _("{path} cannot be merged: {reason}.", path=path, reason=reason),
                    hint=_("Update Glossbench. Nothing was merged."),
                )
            if other.uid == project.uid:
                raise ProjectError(
                    _("{path} is a copy of this project.", path=path),
                    hint=_("Give people files written by “project hand-out”, and merge those."),
                )
            backup.save_copy(other, draft, watch=watch.part(0.0, 0.5))
        problems = contents(draft)
        if problems:
            raise ProjectError(
                _("{path} is damaged: {problem}", path=path, problem=problems[0]),
                hint=_("Nothing was merged. Try `glossbench project recover`."),
            )
        watch.at(0.9)
        with closing(Project(Database.open(draft))) as copy:  # the copy keeps an unnamed person
            yield copy
    finally:
        for end in ("", "-wal", "-shm", "-journal"):
            Path(f"{draft}{end}").unlink(missing_ok=True)
        draft.with_suffix(".lock").unlink(missing_ok=True)


@dataclass(frozen=True)
class _Ids:
    """Ids there → ids here; below zero for what is not here yet."""

    layers: Mapping[int, int]
    labels: Mapping[int, int]
    people: Mapping[int, tuple[int, int]]


class _Plan:
    """How layers, labels and people of the other file correspond to those here."""

    def __init__(self, project: Project, other: Project, choices: Choices):
        self.project, self.other, self.choices = project, other, choices
        self.here = labels.layers(project.db)
        self.pairs = self._pairs(labels.layers(other.db))
        who = people.labelling(other.db, read_only=False)
        every = [(person, self._person(person)) for person in people.every(other.db)]
        writers = {*who, other.annotator_id}
        self.people = [
            (there, here)
            for there, here in every
            if there.id in who or (here is not None and there.id in writers)
        ]
        self.own = [here.id for there, here in every if here and there.id in writers]
        # whose labels were only handed out: the relations of others connect their spans
        context = people.labelling(other.db) - who
        self.context = {
            there.id: (here.id, 0) for there, here in every if here and there.id in context
        }
        self._check_choices()

    # ------------------------------------------------------------ correspondence

    def _pairs(self, others: Sequence[Layer]) -> list[tuple[Layer, Layer | None]]:
        """Layers there and here: the same uid, else the same name; no two are one. What is
        read-only there is no new layer.
        """
        by_uid = {(layer.uid, layer.kind): layer for layer in self.here}
        same = {row_id(other): by_uid.get((other.uid, other.kind)) for other in others}
        taken = {layer.uid for layer in same.values() if layer}
        by_name = {
            (layer.name, layer.texts, layer.kind): layer
            for layer in self.here
            if layer.uid not in taken
        }
        paired = [
            (other, same[row_id(other)] or by_name.get((other.name, other.texts, other.kind)))
            for other in others
        ]
        return [pair for pair in paired if pair[1] or not pair[0].options.get(READ_ONLY)]

    def _labels(self, other: Layer, here: Layer) -> list[tuple[Label, Label | None]]:
        """Labels there and here: chosen, else the same uid, else the same name; no two are one
        unless chosen.
        """
        by_name = {label.name: label for label in here.labels}
        by_uid = {label.uid: label for label in here.labels}
        chosen = {
            row_id(label): by_name[self.choices.labels[other.name, label.name]]
            for label in other.labels
            if (other.name, label.name) in self.choices.labels
        }
        same = {
            row_id(label): by_uid[label.uid]
            for label in other.labels
            if label.uid in by_uid and row_id(label) not in chosen
        }
        taken = {label.uid for label in same.values()}
        free = {name: label for name, label in by_name.items() if label.uid not in taken}
        known = {row_id(label): free.get(label.name) for label in other.labels}
        known |= same | chosen
        return [(label, known[row_id(label)]) for label in other.labels]

    def _person(self, other: Person) -> Person | None:
        every = operations.every(self.project)
        if other.name in self.choices.people:
            return operations.named(self.project, self.choices.people[other.name])
        return next((person for person in every if person.uid == other.uid), None)

    def _check_choices(self) -> None:
        names = {person.name for person, _here in self.people}
        for id, count in Counter(here.id for _person, here in self.people if here).items():
            if count > 1:
                several = [there.name for there, here in self.people if here and here.id == id]
                raise SpecError(
                    _(
                        "{names} of the other file would be one person here.",
                        names=_shortened(several),
                    ),
                    hint=_("Choose one of them; their labels are of the same documents."),
                )
        for name in self.choices.people:
            if name not in names:
                raise SpecError(_("Nobody in the other file is called {name!r}.", name=name))
        for (layer, label), new in self.choices.labels.items():
            here = next((here for other, here in self.pairs if other.name == layer), None)
            if here is None or new not in here.names:
                raise SpecError(
                    _("Layer {layer} has no label {label!r}.", layer=layer, label=new),
                    hint=_("It is named for the label {label!r} of the other file.", label=label),
                )

    # ------------------------------------------------------------ ids

    def assumed(self) -> _Ids:
        """For a preview: what is not here yet has ids below zero."""
        layer_ids, label_ids = {}, {}
        for other, here in self.pairs:
            layer_ids[row_id(other)] = -row_id(other) if here is None else row_id(here)
            for label in other.labels:
                label_ids[row_id(label)] = -row_id(label)
            for label, known in self._labels(other, here) if here else ():
                if known:
                    label_ids[row_id(label)] = row_id(known)
        persons = {other.id: (here.id if here else -other.id, 0) for other, here in self.people}
        return _Ids(layer_ids, label_ids, self.context | persons)

    def added(self, name: str) -> _Ids:
        """Within the edit: add the layers, labels and people that are not here."""
        db = self.project.db
        layer_ids: dict[int, int] = {}
        label_ids: dict[int, int] = {}
        here_of: dict[str, Layer] = {}
        # relations last: their options name the layer and the labels of their spans
        for other, here in sorted(self.pairs, key=lambda pair: pair[0].traits.between_spans):
            if here is None:
                layer_ids[row_id(other)] = self._add_layer(other, here_of)
                here = labels.layer(db, layer_ids[row_id(other)])
                for version in guidelines.versions(self.other.db, other.uid):
                    text, author = version.text, version.author
                    guidelines.add(db, here.uid, text, author, at=version.at)
            layer_ids[row_id(other)] = row_id(here)
            label_ids |= self._add_labels(other, here)
            here_of[other.name] = labels.layer(db, row_id(here))
        persons = dict(self.context)
        for person, present in self.people:
            id = present.id if present else self._add_person(person)
            persons[person.id] = id, provenance.add_source(db, "merge", name, id)
        return _Ids(layer_ids, label_ids, persons)

    def _add_layer(self, other: Layer, here_of: Mapping[str, Layer]) -> int:
        """here_of: name of a layer there → the one here."""
        options = dict(other.options)
        if (spans := here_of.get(span_layer(other))) is not None:
            of = next(layer for layer, _here in self.pairs if layer.name == span_layer(other))
            names = {label.name: here.name for label, here in self._labels(of, spans) if here}
            options = with_rules(
                other,
                spans=spans.name,
                undirected=[name for name in other.names if not directed(other, name)],
                pairs={
                    name: [(names.get(a, a), names.get(b, b)) for a, b in pairs(other, name)]
                    for name in other.names
                },
            )
        return labels.add_layer(
            self.project.db,
            operations.free_name(
                other.name, {layer.name for layer in labels.layers(self.project.db)}
            ),
            other.kind,
            texts=other.texts,
            guideline=other.guideline,
            options=options,
            uid=self._new_uid(other.uid, {layer.uid for layer in self.here}),
            gold=self.project.annotator_id,
        )

    def _add_labels(self, other: Layer, here: Layer) -> dict[int, int]:
        """Add the labels that are not here, with the keys that are free; ids there → here."""
        db, uids = self.project.db, {item.uid for one in self.here for item in one.labels}
        ids: dict[int, int] = {}
        names: dict[str, str] = {}
        new: list[Label] = []
        used = {*used_keys(self.project, here), *command_keys()}
        for label, known in self._labels(other, here):
            if known is not None:
                ids[row_id(label)], names[label.name] = row_id(known), known.name
                continue
            name = operations.free_name(label.name, {*here.names, *names.values()})
            key = label.key if may_be_key(label.key, used) else ""
            used.add(key)
            ids[row_id(label)] = labels.add_label(
                db,
                row_id(here),
                name,
                colour=label.colour,
                key=key,
                description=label.description,
                uid=self._new_uid(label.uid, uids),
            )
            names[label.name] = name
            new.append(label)
        labels.group_labels(
            db,
            [
                replace(item, name=names[item.name], parent=names.get(item.parent, ""))
                for item in new
            ],
            {names[label.name]: ids[row_id(label)] for label in other.labels},
        )
        return ids

    def _add_person(self, person: Person) -> int:
        taken = {other.name for other in operations.every(self.project)}
        looks = {"initials": person.initials, "colour": person.colour}
        return people.add(
            self.project.db, operations.free_name(person.name, taken), uid=person.uid, **looks
        )

    @staticmethod
    def _new_uid(uid: str, taken: set[str]) -> str:
        """The uid of the other file, so that a second merge finds it again; "" if it is taken."""
        return "" if uid in taken else uid

    # ------------------------------------------------------------ what is done

    def measured(self, ids: _Ids, name: str, watch: Watch) -> MergePreview:
        """Fill the tables of what is copied, and count it. name: of the other file."""
        db = self.project.db
        other_project.prepare(db, ids.layers, ids.labels, ids.people)
        matches = other_project.match(db, add=self.choices.add)
        watch.at(0.3)
        other_project.find_versions(db)
        other_project.leave_out_context(db, mentions=operations.is_handed_out(self.other))
        missing = other_project.find_removed(db, self.own)
        equal, conflicts, removed = self._leave_out(watch.part(0.5, 1.0))
        other_project.map_spans(db)
        counts: Counter[int] = Counter()
        replaced: Counter[int] = Counter()
        for (_layer, person), (new, again) in other_project.counts(db).items():
            counts[person] += new
            replaced[person] += again
        rows = [
            PersonMerge(
                person.name if here is None else here.name,
                here is None,
                counts[ids.people[person.id][0]],
                replaced[ids.people[person.id][0]] - equal[ids.people[person.id][0], True],
                equal[ids.people[person.id][0], False] + equal[ids.people[person.id][0], True],
                conflicts[ids.people[person.id][0]],
            )
            for person, here in self.people
        ]
        return replace(
            self._described(matches, tuple(row for row in rows if row.is_new or row.total)),
            guidelines=self._changed(name),
            lost=other_project.lost_relations(db),
            deleted=other_project.deleted_relations(db),
            remarks=other_project.remarks(db),
            removed=removed,
            missing=missing,
        )

    def _guidelines(self, name: str) -> Iterator[tuple[Layer, Layer, str]]:
        """Layers there and here, and the guideline that the one here gets."""
        for other, here in self.pairs:
            if here is not None:
                mine, theirs = (
                    [item.text for item in guidelines.versions(project.db, layer.uid)]
                    for project, layer in ((self.project, here), (self.other, other))
                )
                yield other, here, guideline.merged(here, mine, other, theirs, name)

    def _changed(self, name: str) -> tuple[tuple[str, bool], ...]:
        return tuple(
            (here.name, text != other.guideline)
            for other, here, text in self._guidelines(name)
            if text != here.guideline
        )

    def take_guidelines(self, name: str) -> None:
        """Within the edit: the changes of guidelines, with their versions."""
        for other, here, text in self._guidelines(name):
            if text != here.guideline:
                theirs = guidelines.versions(self.other.db, other.uid)
                guideline.take(self.project, here, theirs, text)

    def _leave_out(self, watch: Watch) -> tuple[Counter[tuple[int, bool]], Counter[int], int]:
        """Versions that are equal or kept are not copied.

        All versions of a person in a document go together, as relations refer to spans. Returns
        the numbers of equal versions by person, and whether they are copied again all the same,
        those of versions that stay as they are here, and how many were removed there.
        """
        units: dict[tuple[int, int], list[Differing]] = {}
        for version in differing_versions.differing(self.project.db, watch=watch):
            unit = version.document_id, version.annotator_id
            units.setdefault(unit, []).append(version)
        replaced = [
            unit
            for unit, versions in units.items()
            if any(version.newer for version in versions)
            and all(version.merged and not version.older for version in versions)
        ]
        equal = Counter(other_project.leave_out(self.project.db, replaced))
        conflicts: Counter[int] = Counter()
        again = set(replaced)
        for unit, versions in units.items():
            equal[unit[1], unit in again] -= len(versions)
            if unit not in again:
                conflicts[unit[1]] += len(versions)
        removed = sum(version.removed for unit in replaced for version in units[unit])
        return equal, conflicts, removed

    def _described(self, matches: Matches, rows: tuple[PersonMerge, ...]) -> MergePreview:
        names = {layer.name for layer in self.here}
        new_labels = [
            (layer.name, label.name)
            for layer, here in self.pairs
            if here is not None
            for label, known in self._labels(layer, here)
            if known is None
        ]
        new = [layer.name for layer, here in self.pairs if here is None]
        renamed = [(name, operations.free_name(name, names)) for name in new if name in names]
        return MergePreview(
            dict(matches.counts),
            matches.changed,
            rows,
            tuple(name for name in new if name not in names),
            tuple(new_labels),
            tuple(renamed),
        )

    def copy(self, name: str, watch: Watch) -> None:
        db = self.project.db
        taken = other_project.taken_keys(db)
        free = copy_staged.free_keys(db, list(taken.values()), "document")
        keys = dict(zip(taken, free.values(), strict=True))
        other_project.copy(
            db,
            source_id=provenance.add_source(db, "merge", name),
            keys=keys,
            splits=self.choices.splits,
            watch=watch,
        )
        other_project.copy_remarks(db)
