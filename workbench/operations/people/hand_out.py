"""Split documents among people, and write a project file for each of them."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base import paths
from workbench.base.errors import ProjectError, SpecError
from workbench.base.i18n import _
from workbench.base.watch import QUIET, Watch
from workbench.operations.documents import queries
from workbench.operations.people import people as operations
from workbench.project.project import Project
from workbench.storage.annotation import people as store
from workbench.storage.connections import backup
from workbench.storage.connections.lock import lock_path
from workbench.storage.documents import documents as stored
from workbench.storage.documents import flags
from workbench.storage.documents.flags import ASSIGNED
from workbench.storage.labels import labels
from workbench.storage.staging import copy_staged, other_project
from workbench.text.labels import READ_ONLY
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.operations.people.people import Person

_LONGEST = 40  # characters of a person's name in that of a file


@dataclass(frozen=True, slots=True)
class Overlap:
    """A share of the documents, 0 to 1, that several people label; people: how many, 0 for all."""

    share: float
    people: int = 0


def assigned(project: Project) -> dict[str, list[int]]:
    """The uid of each person → the documents that were handed out to them, ascending."""
    ids_of: dict[str, list[int]] = {}
    for flag in flags.starting_with(project.db, ASSIGNED):
        ids_of.setdefault(flag.name.removeprefix(ASSIGNED), []).append(flag.document_id)
    return {uid: sorted(set(ids)) for uid, ids in ids_of.items()}


def documents(project: Project, ids: Iterable[int] | None = None) -> list[int]:
    """All documents, or those of `ids` that there are, ascending."""
    every = stored.splits(project.db)
    return sorted(every if ids is None else set(ids) & every.keys())


def groups(project: Project, ids: Iterable[int], key: str) -> dict[int, str]:
    """Document → the value of an entry of its metadata; documents without it are left out.

    Raises SpecError if no document has the entry.
    """
    values = {
        row_id(record.document): str(record.document.meta[key])
        for record in stored.records(project.db, layers=(), ids=ids)
        if key in record.document.meta
    }
    if not values:
        raise SpecError(_("No document has the metadata {key!r}.", key=key))
    return values


def assign(
    ids: Sequence[int],
    people: Sequence[str],
    overlaps: Iterable[Overlap] = (),
    *,
    seed: int = 1,
    groups: Mapping[int, str] | None = None,
) -> dict[str, list[int]]:
    """Person → documents, drawn at random: equal seeds give equal parts.

    Every document goes to one person, but for the shares that several label; each person gets as
    many as the others, within one. groups: document → value; the documents of one value go to
    the same people. Raises SpecError if shares exceed 1, or need more people than there are.
    """
    if not people or len(set(people)) != len(people):
        raise SpecError(_("Choose people, each of them once."))
    overlaps = sorted(overlaps, key=lambda overlap: overlap.people or len(people), reverse=True)
    if sum(overlap.share for overlap in overlaps) > 1 + 1e-9 or any(
        not 0 <= overlap.share <= 1 for overlap in overlaps
    ):
        raise SpecError(_("The shares of shared documents exceed 100%."))
    if any(overlap.people > len(people) for overlap in overlaps):
        raise SpecError(_("More people are to share documents than there are."))
    units: dict[object, list[int]] = {}
    for id in ids:
        units.setdefault(("group", groups[id]) if groups and id in groups else id, []).append(id)
    every = list(units.values())
    random.Random(seed).shuffle(every)
    parts: dict[str, list[int]] = {person: [] for person in people}
    counts = _shares(sum(map(len, every)), overlaps)
    for unit in every:
        level = next((at for at, (count, _n) in enumerate(counts) if count > 0), None)
        several = 1 if level is None else counts[level][1] or len(people)
        if level is not None:
            counts[level] = counts[level][0] - len(unit), counts[level][1]
        order = sorted(people, key=lambda person: (len(parts[person]), people.index(person)))
        for person in order[:several]:
            parts[person] += unit
    return {person: sorted(part) for person, part in parts.items()}


@dataclass(frozen=True, slots=True)
class Unit:
    """Documents that the same people get: one, or those of one value of the metadata."""

    name: str
    ids: tuple[int, ...]
    people: frozenset[int]


@dataclass(frozen=True)
class Plan:
    """Who is to get which documents. people: ids of persons. left_out: documents that are assigned
    already, and are not assigned again.
    """

    people: tuple[int, ...]
    units: tuple[Unit, ...]
    left_out: int = 0

    @cached_property
    def parts(self) -> dict[int, list[int]]:
        """Person → documents, ascending; without people who get none."""
        parts: dict[int, list[int]] = {person: [] for person in self.people}
        for unit in self.units:
            for person in unit.people:
                parts[person] += unit.ids
        return {person: sorted(ids) for person, ids in parts.items() if ids}

    @cached_property
    def shared(self) -> Counter[tuple[int, int]]:
        """Two people, in the order of `people` → number of documents that both get."""
        counts: Counter[tuple[int, int]] = Counter()
        for unit in self.units:
            for pair in combinations([id for id in self.people if id in unit.people], 2):
                counts[pair] += len(unit.ids)
        return counts

    @cached_property
    def by_number(self) -> Counter[int]:
        """Number of people → documents that so many people get."""
        counts: Counter[int] = Counter()
        for unit in self.units:
            counts[len(unit.people)] += len(unit.ids)
        return counts


def plan(
    project: Project,
    people: Sequence[int],
    overlaps: Iterable[Overlap] = (),
    *,
    where: str = "",
    ids: Iterable[int] | None = None,
    seed: int = 1,
    field: str = "",
    again: bool = False,
    by_hand: Mapping[str, frozenset[int]] | None = None,
) -> Plan:
    """Split documents among people at random. Not for the main thread.

    where: a query; ids: only these documents. field: documents with one value in this metadata
    field go to the same people. again: also documents that are assigned already. by_hand: name of
    a unit → its people in place of those drawn. Raises as `assign` and `groups`, and QueryError.
    """
    chosen = documents(project, queries.matching(project, where) if where.strip() else None)
    if ids is not None:
        chosen = sorted(set(chosen) & set(ids))
    before = {id for part in assigned(project).values() for id in part}
    fresh = chosen if again else [id for id in chosen if id not in before]
    values = groups(project, fresh, field) if field else {}
    drawn = assign(fresh, [str(id) for id in people], overlaps, seed=seed, groups=values)
    of: dict[int, set[int]] = {id: set() for id in fresh}
    for person, part in drawn.items():
        for id in part:
            of[id].add(int(person))
    names = {**stored.keys(project.db, fresh), **values}
    together: dict[tuple[str, bool], list[int]] = {}
    for id in fresh:
        together.setdefault((names[id], id in values), []).append(id)
    units = []
    for (name, _grouped), members in together.items():
        who = (by_hand or {}).get(name)
        who = frozenset(of[members[0]]) if who is None else who & frozenset(people)
        units.append(Unit(name, tuple(members), who))
    return Plan(tuple(people), tuple(units), len(chosen) - len(fresh))


def _shares(total: int, overlaps: Iterable[Overlap]) -> list[tuple[int, int]]:
    """(documents, people) of each overlap."""
    return [(round(overlap.share * total), overlap.people) for overlap in overlaps]


def file_name(project: Project, person: Person) -> str:
    """The suggested name of the file for a person."""
    name = "".join(char if char.isalnum() or char in " -_" else "_" for char in person.name)
    name = name.strip()[:_LONGEST]
    if name != person.name:  # another name may become the same
        name = f"{name}-{person.uid[:4]}"
    return f"{project.name}-{name}{paths.PROJECT_SUFFIX}"


def hand_out(
    project: Project,
    parts: Mapping[int, Sequence[int]],
    files: Mapping[int, Path],
    *,
    test_labels: bool = True,
    blind: bool = False,
    context: Sequence[int] = (),
    origin: object = None,
    watch: Watch = QUIET,
) -> None:
    """Write a project file for each person: documents, layers, guidelines and their own labels.

    Questions about the documents are copied without the answers of others. parts: id of the
    person → documents. files: id → a new file. test_labels: with labels of documents of the test
    split. blind: with blind mode on. context: ids of layers whose gold labels are included, even
    for the test split; they are read-only in the files and are ignored by a merge. For a layer of
    chains, the mentions are included as editable labels, each in a chain of its own. Runs,
    prompts, suggestions and all other labels of others are left out. The project remembers who has
    which documents, as an undo step. Raises ProjectError if a file exists, SpecError for context of
    relations, Cancelled through `watch`: then nothing is written.
    """
    every = {person.id: person for person in store.every(project.db)}
    for path in files.values():
        if Path(path).exists():
            raise ProjectError(
                _("{path} exists already.", path=path), hint=_("Choose another folder.")
            )
    if len({Path(path).absolute() for path in files.values()}) < len(files):
        raise ProjectError(_("Each person needs a file of their own."))
    missing = {id for ids in parts.values() for id in ids} - stored.splits(project.db).keys()
    if missing:
        raise SpecError(_("The project has no document {id}.", id=min(missing)))
    for layer in labels.layers(project.db):
        if layer.id in context and layer.traits.between_spans:
            raise SpecError(
                _("{layer} holds relations: choose the layer of their spans.", layer=layer.name)
            )
    drafts = {id: _draft_of(Path(files[id])) for id in parts}
    written: list[Path] = []
    try:
        for at, (id, ids) in enumerate(parts.items()):
            part = watch.part(at / len(parts), (at + 1) / len(parts))
            backup.delete_abandoned(drafts[id].parent)
            _write(project, every[id], ids, drafts[id], test_labels, blind, context, part)
        with project.edit(_("Hand out documents"), origin=origin, bulk=True):
            known = assigned(project)
            for id, ids in parts.items():
                before = set(known.get(every[id].uid, ()))
                for document in ids:
                    if document not in before:
                        name = ASSIGNED + every[id].uid
                        flags.add(project.db, document, name, project.annotator_id)
            for id, draft in drafts.items():
                backup.publish(draft, Path(files[id]))
                written.append(Path(files[id]))
    except BaseException:
        for path in written:
            path.unlink(missing_ok=True)
        raise
    finally:
        for draft in drafts.values():
            for path in (
                *(Path(f"{draft}{end}") for end in ("", "-wal", "-shm")),
                lock_path(draft),
            ):
                path.unlink(missing_ok=True)


def _draft_of(path: Path) -> Path:
    """Where a file is written until it is complete; `backup.delete_abandoned` knows the name."""
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def _write(
    project: Project,
    person: Person,
    ids: Sequence[int],
    path: Path,
    test_labels: bool,
    blind: bool,
    context: Sequence[int],
    watch: Watch,
) -> None:
    gold = labels.gold(project.db)
    context_of = {id: gold[id] for id in context if gold[id] != person.id}
    chains = [id for id in context_of if labels.layer(project.db, id).traits.in_chains]
    mentions = {id: context_of.pop(id) for id in chains}
    new = Project.create(path)
    try:
        with new.write():
            store.become(new.db, new.annotator_id, person)
            persons = {person.id: new.annotator_id} | {
                lead.id: store.add(new.db, lead.name, uid=lead.uid, colour=lead.colour)
                for lead in store.every(project.db)
                if lead.id in context_of.values()
            }
            operations.set_blind(new, blind)
            new.db.set_meta(operations.HANDED_OUT, 1)
        with (
            copy_staged.attached(new.db, project.path),
            new.edit(_("Hand out documents"), bulk=True, watch=watch.part(0.8, 1.0)),
        ):
            other_project.copy_schema(new.db, new.annotator_id)
            source = new.source("import", project.name)
            same = other_project.schema_ids(new.db)
            mapped = {there: (here, source) for there, here in persons.items()}
            other_project.prepare(new.db, *same, mapped)
            other_project.choose(new.db, ids)
            other_project.find_versions(new.db)
            other_project.leave_out_others(new.db, person.id, context_of)
            if not test_labels:
                other_project.leave_out_split(new.db, "test", person.id)
            other_project.map_spans(new.db)
            other_project.copy(new.db, source_id=source, keys={}, watch=watch.part(0.0, 0.8))
            other_project.copy_questions(new.db, new.annotator_id, source)
            for layer_id, lead_id in mentions.items():
                other_project.copy_mentions(
                    new.db, layer_id, lead_id, new.annotator_id, source_id=source
                )
            for layer_id, lead_id in context_of.items():
                _make_read_only(new, layer_id, persons[lead_id])
    finally:
        new.close()


def _make_read_only(new: Project, layer_id: int, gold: int) -> None:
    """Show the labels of this person in a layer; its documents need no work."""
    layer = labels.layer(new.db, layer_id)
    labels.update_layer(new.db, layer_id, gold=gold, options={**layer.options, READ_ONLY: True})
    if layer.traits.empty_is_answer:
        other_project.submit_all(new.db, layer_id, gold)
