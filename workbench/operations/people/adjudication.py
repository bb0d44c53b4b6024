"""Adjudication: decide where people differ, and write the result as the person “gold”.

A decision is a flag of its document. What everybody says is written with the first decision of a
document; where nobody differs, by `begin`. The labels of the people themselves never change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from dataclasses import field as attribute
from typing import TYPE_CHECKING

from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.operations.annotation import annotate
from workbench.operations.people import cases, people
from workbench.operations.people.cases import (
    BOTH,
    DISCUSS,
    EDITED,
    NEITHER,
    Case,
    CaseReading,
    Difference,
    Reader,
    Take,
)
from workbench.operations.people.differences import KINDS, TITLES, Kind, Mark, Version
from workbench.operations.people.equal_cases import alike, may_be_alike, signature
from workbench.operations.people.gold import GoldWriter
from workbench.operations.people.people import GOLD_UID as GOLD_UID
from workbench.storage.annotation import people as store
from workbench.storage.annotation import versions as stored
from workbench.storage.documents import documents, flags
from workbench.storage.labels import labels
from workbench.storage.schema.values import name_in
from workbench.text.labels import Layer
from workbench.text.relations import span_layer
from workbench.text.rows import row_id
from workbench.text.sentences import SENTENCE, joined_over, unit_at, units_of

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.storage.annotation.people import Person
    from workbench.text.document import Document

__all__ = [
    "BOTH", "EDITED", "KINDS", "NEITHER", "TITLES", "Difference", "Kind", "Mark", "Take",
]  # fmt: skip

TAKE_TITLES: Mapping[str, str] = {
    BOTH: N_("both"),
    NEITHER: N_("neither"),
    EDITED: N_("edited"),
}
PAGE = 500  # documents read at once
PREVIEW = 120  # code points of a text in a list
LONGEST_NOTE = 2000  # code points


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence of the text `field`, in code points; spans are never cut. agreed: what starts in
    it; differences: numbers of those of the sheet that start in it.
    """

    start: int
    end: int
    agreed: tuple[Mark, ...]
    differences: tuple[int, ...]
    field: str


@dataclass(frozen=True)
class Sheet:
    """A document with the versions of all people.

    submitted: when each of them submitted it last in these layers (ISO 8601, UTC), "" for those
    who did not. lines: of all texts, in order. agreed and differences: also of the whole document.
    done: nothing is open, and gold is submitted.
    """

    document: Document
    annotators: tuple[Person, ...]
    layers: tuple[Layer, ...]
    submitted: tuple[str, ...]
    lines: tuple[Line, ...]
    agreed: tuple[Mark, ...]
    differences: tuple[Difference, ...]
    done: bool
    case: CaseReading | None = attribute(default=None, compare=False, repr=False)

    @property
    def open(self) -> int:
        return sum(difference.taken is None for difference in self.differences)

    def find(self, key: str) -> Difference | None:
        """The difference with this key; None if it is gone."""
        return next((item for item in self.differences if item.key == key), None)

    def after(self, difference: Difference, take: Take | None) -> Sheet | None:
        """The sheet after a decision; None if that takes reading it again: relations follow the
        spans that they connect, and the last decision may complete a document.
        """
        if self.open < 2 and take is not None:
            return None
        if any(layer.traits.between_spans for layer in self.layers):
            return None
        differences = tuple(
            replace(item, taken=take) if item.key == difference.key else item
            for item in self.differences
        )
        return replace(self, differences=differences, done=False)

    def take_title(self, take: Take | None) -> str:
        """A decision for display: a name, or what else was taken; "" for an open one."""
        if take is None:
            return ""
        return self.annotators[take].name if isinstance(take, int) else _(TAKE_TITLES[take])

    def take_named(self, name: str) -> Take:
        """The name of a person, or of another decision. Raises SpecError for another name."""
        for at, person in enumerate(self.annotators):
            if person.name == name:
                return at
        if name == BOTH:
            return BOTH
        if name == NEITHER:
            return NEITHER
        if name == EDITED:
            return EDITED
        raise SpecError(
            _("{name!r} is neither a person nor a decision.", name=name),
            hint=_(
                "People: {names}. Decisions: both, neither, edited, open.",
                names=", ".join(person.name for person in self.annotators),
            ),
        )

    def to_json(self) -> dict[str, object]:
        """As `adjudicate show --json` prints it."""
        return {
            "key": self.document.key,
            "annotators": [
                {"name": person.name, "submitted": at or None}
                for person, at in zip(self.annotators, self.submitted, strict=True)
            ],
            "done": self.done,
            "agreed": [self._mark_to_json(mark) for mark in self.agreed],
            "differences": [
                {
                    "layer": item.layer.name,
                    "kind": item.kind,
                    "start": item.start,
                    "end": item.end,
                    "versions": [
                        None if version is None else [self._mark_to_json(m) for m in version]
                        for version in item.versions
                    ],
                    "taken": self.annotators[item.taken].name
                    if isinstance(item.taken, int)
                    else item.taken,
                    "note": item.note,
                }
                for item in self.differences
            ],
        }

    def _mark_to_json(self, mark: Mark) -> dict[str, object]:
        layer = next(layer.name for layer in self.layers if layer.id == mark.layer_id)
        values = {"label": mark.label, "start": mark.start, "end": mark.end, "text": mark.text}
        return {"layer": layer, **values}


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document with differences. kinds: kind → open ones. discussed: differences with a note."""

    document_id: int
    key: str
    text: str
    open: int
    total: int
    kinds: Mapping[Kind, int]
    discussed: int
    submitted: bool


@dataclass(frozen=True)
class Overview:
    """Documents with differences, or whose gold is a draft. layers, kinds: name → (decided, total).
    agreed: documents on which nobody differs and which are not gold yet, so that `begin` would take
    them.
    """

    rows: tuple[DocumentRow, ...]
    layers: Mapping[str, tuple[int, int]]
    kinds: Mapping[str, tuple[int, int]]
    agreed: int

    @property
    def decided(self) -> int:
        return sum(decided for decided, _total in self.layers.values())

    @property
    def total(self) -> int:
        return sum(total for _decided, total in self.layers.values())

    def to_json(self) -> dict[str, object]:
        """As `adjudicate list --json` prints it."""
        return {
            "documents": [
                {name: value for name, value in asdict(row).items() if name != "document_id"}
                for row in self.rows
            ],
            "layers": _counts_to_json(self.layers),
            "kinds": _counts_to_json(self.kinds),
            "agreed": self.agreed,
        }


def _counts_to_json(counts: Mapping[str, tuple[int, int]]) -> list[dict[str, object]]:
    return [
        {"name": name, "decided": decided, "total": total}
        for name, (decided, total) in counts.items()
    ]


# ---------------------------------------------------------------- who and what


def participants(project: Project) -> tuple[Person, ...]:
    """All people who submitted a document, without gold."""
    counts, gold = store.submitted_documents(project.db), gold_person(project)
    return tuple(
        person
        for person in people.every(project)
        if counts.get(person.id) and (gold is None or person.id != gold.id)
    )


def layers_of(project: Project, persons: Sequence[Person]) -> tuple[Layer, ...]:
    """The layers in which these people submitted documents."""
    ids, counts = {person.id for person in persons}, store.submitted(project.db)
    labelled = {layer for (layer, person), count in counts.items() if count and person in ids}
    return tuple(layer for layer in labels.layers(project.db) if layer.id in labelled)


def gold_person(project: Project) -> Person | None:
    """The person whose labels are the result; None before the first `begin`."""
    return next((person for person in people.every(project) if person.uid == GOLD_UID), None)


def _reader(project: Project, persons: Sequence[Person], layers: Sequence[Layer]) -> Reader:
    project.db.require_all()
    gold = gold_person(project)
    if len(persons) < 2 or len({person.id for person in persons}) < len(persons):
        raise SpecError(_("Adjudication needs at least two people, each of them once."))
    if gold is not None and any(person.id == gold.id for person in persons):
        raise SpecError(
            _("{name} is the result of adjudication.", name=gold.name),
            hint=_("Choose the people who labelled the documents."),
        )
    if not layers:
        raise SpecError(_("None of these people has submitted a document."))
    return Reader(project, persons, layers)


# ---------------------------------------------------------------- overview


def overview(
    project: Project,
    persons: Sequence[Person],
    layers: Sequence[Layer],
    *,
    watch: Watch = QUIET,
) -> Overview:
    """The documents in which the people differ, or whose gold is a draft, and how many decisions
    are left.

    Not for the main thread. Raises SpecError for fewer than two people, Cancelled through `watch`.
    """
    reader = _reader(project, persons, layers)
    gold = _gold_states(project, reader)
    of_layers: Counter[str] = Counter()
    of_kinds: Counter[str] = Counter()
    decided: Counter[str] = Counter()
    rows, agreed = [], 0
    for surveyed in _survey(reader, watch.part(0.0, 0.9)):
        agreed += bool(_agreed(reader, surveyed, gold))
        every = surveyed.differences
        for item in every:
            of_layers[item.layer.name] += 1
            of_kinds[item.kind] += 1
            for name in (f"layer {item.layer.name}", item.kind):
                decided[name] += item.taken is not None
        if every or _is_draft(surveyed, gold):
            rows.append(_row(surveyed, gold))
    return Overview(
        _with_texts(project, rows),
        {name: (decided[f"layer {name}"], total) for name, total in of_layers.items()},
        {kind: (decided[kind], of_kinds[kind]) for kind in KINDS if kind in of_kinds},
        agreed,
    )


@dataclass(frozen=True, slots=True)
class _Surveyed:
    """A document that people submitted; case: None if they cannot differ, as no layer was submitted
    by two of them, or all labels are equal.
    """

    document_id: int
    states: Sequence[stored.StateRow]
    case: Case | None

    @property
    def differences(self) -> tuple[Difference, ...]:
        return tuple(self.case.differences) if self.case is not None else ()


def _survey(reader: Reader, watch: Watch) -> Iterator[_Surveyed]:
    states = reader.states()
    for page in watch.over(sorted(states), PAGE):
        shared = [id for id in page if _is_shared(states[id])]
        by_id = {case.document_id: case for case in reader.cases(shared, states, differing=True)}
        for id in page:
            yield _Surveyed(id, states[id], by_id.get(id))


def _is_shared(rows: Iterable[stored.StateRow]) -> bool:
    """Whether two people submitted the same layer of a document."""
    counts = Counter(row.layer_id for row in rows if row.state == "submitted")
    return max(counts.values(), default=0) > 1


GoldStates = Mapping[int, Mapping[int, str]]  # document → layer → state


def _gold_states(project: Project, reader: Reader, ids: Iterable[int] | None = None) -> GoldStates:
    states: dict[int, dict[int, str]] = {}
    gold = gold_person(project)
    who = [] if gold is None else [gold.id]
    for row in stored.states(project.db, map(row_id, reader.layers), who, ids):
        states.setdefault(row.document_id, {})[row.layer_id] = row.state
    return states


def _is_submitted(case: Case, gold: GoldStates) -> bool:
    """Whether gold is submitted in all layers that anybody submitted."""
    states = gold.get(case.document_id, {})
    labelled = (number for number, of in case.layers.items() if of.labelled)
    return all(states.get(number) == "submitted" for number in labelled)


def _is_draft(surveyed: _Surveyed, gold: GoldStates) -> bool:
    """Whether gold is a draft in a layer that somebody submitted."""
    states = gold.get(surveyed.document_id, {})
    own = (row for row in surveyed.states if row.state == "submitted")
    return any(states.get(row.layer_id) == "draft" for row in own)


def _row(surveyed: _Surveyed, gold: GoldStates) -> DocumentRow:
    """Without key and text."""
    every = surveyed.differences
    remaining = Counter(item.kind for item in every if item.taken is None)
    return DocumentRow(
        surveyed.document_id,
        "",
        "",
        remaining.total(),
        len(every),
        dict(remaining),
        sum(bool(item.note) for item in every),
        surveyed.case is not None and _is_submitted(surveyed.case, gold),
    )


@dataclass(frozen=True, slots=True)
class _Agreed:
    """What becomes gold of a document. copied: versions (document, layer, person) as they are;
    written: layers with relations whose spans others labelled, or are gold already.
    """

    copied: Sequence[tuple[int, int, int]] = ()
    written: Sequence[int] = ()


def _agreed(reader: Reader, surveyed: _Surveyed, gold: GoldStates) -> list[_Agreed]:
    """Layers in which gold has nothing yet and nobody differs. Relations go with the spans that
    they connect.
    """
    order = {person.id: at for at, person in enumerate(reader.people)}
    versions: dict[int, list[stored.StateRow]] = {}
    for row in sorted(
        surveyed.states, key=lambda row: (row.state != "submitted", order[row.annotator_id])
    ):
        if row.state in ("submitted", "discarded"):
            versions.setdefault(row.layer_id, []).append(row)
    differing = {row_id(difference.layer) for difference in surveyed.differences}
    begun = gold.get(surveyed.document_id, {})
    agreed = []
    for group in reader.groups:
        numbers = [row_id(layer) for layer in group if row_id(layer) in versions]
        takes = {number: versions[number][0] for number in numbers if number not in begun}
        if differing.intersection(numbers) or not takes:
            continue
        if len(takes) == len(numbers) and all(
            _has_spans(reader, row, versions) for row in takes.values()
        ):
            rows = takes.values()
            agreed.append(_Agreed([(r.document_id, r.layer_id, r.annotator_id) for r in rows]))
        elif all(begun.get(number, "submitted") == "submitted" for number in numbers):
            written = [number for number, row in takes.items() if row.state == "submitted"]
            agreed += [_Agreed(written=written)] if written else []
    return agreed


def _has_spans(
    reader: Reader, row: stored.StateRow, versions: Mapping[int, Sequence[stored.StateRow]]
) -> bool:
    """Whether who labelled relations also submitted the spans that they connect."""
    spans = reader.spans_of(row.layer_id)
    return spans is None or any(
        other.annotator_id == row.annotator_id for other in versions.get(spans, ())
    )


def _with_texts(project: Project, rows: Iterable[DocumentRow]) -> tuple[DocumentRow, ...]:
    by_id = {row.document_id: row for row in rows}
    named = []
    for record in documents.records(project.db, layers=(), ids=by_id):
        document = record.document
        text = " ".join(document.text[: 2 * PREVIEW].split())[:PREVIEW]
        named.append(replace(by_id[row_id(document)], key=document.key, text=text))
    return tuple(named)


def differences(
    project: Project,
    persons: Sequence[Person],
    layers: Sequence[Layer],
    *,
    open_only: bool = True,
    watch: Watch = QUIET,
) -> tuple[Difference, ...]:
    """The differences of all documents, by kind, so that equal cases follow each other.

    Not for the main thread. Raises as `overview`.
    """
    every = each_difference(project, persons, layers, watch=watch.part(0.0, 0.9))
    chosen = [item for item in every if item.taken is None or not open_only]
    return tuple(sorted(with_words(project, chosen), key=_order))


def each_difference(
    project: Project,
    persons: Sequence[Person],
    layers: Sequence[Layer],
    *,
    watch: Watch = QUIET,
) -> Iterator[Difference]:
    """The differences of all documents, without the words of their marks.

    Not for the main thread. Raises as `overview`.
    """
    for surveyed in _survey(_reader(project, persons, layers), watch):
        yield from surveyed.differences


def _order(item: Difference) -> tuple[object, ...]:
    return KINDS.index(item.kind), repr(signature(item)), item.document_id, item.order


def versions(
    project: Project, layer: Layer, persons: Sequence[Person], *, watch: Watch = QUIET
) -> Iterator[tuple[int, tuple[Version, ...]]]:
    """Document and versions, of all documents that at least two people submitted in a layer.

    Raises as `overview`.
    """
    reader = _reader(project, persons, [layer])
    states = reader.states()
    for page in watch.over([id for id in sorted(states) if _is_shared(states[id])], PAGE):
        for case in reader.cases(page, states):
            every = case.layers[row_id(layer)].versions
            if sum(version is not None for version in every) > 1:
                yield case.document_id, every


def with_words(project: Project, chosen: Iterable[Difference]) -> list[Difference]:
    """The differences with the words of their marks, by document."""
    by_document: dict[int, list[Difference]] = {}
    for difference in chosen:
        by_document.setdefault(difference.document_id, []).append(difference)
    return [
        cases.difference_with_words(difference, record.document)
        for record in documents.records(project.db, layers=(), ids=by_document)
        for difference in by_document[row_id(record.document)]
    ]


# ---------------------------------------------------------------- a document


def document_named(project: Project, key: str) -> int:
    """The id of the document with this key. Raises SpecError if there is none."""
    document = documents.by_key(project.db, key)
    if document is None:
        raise SpecError(_("No document has the key {key!r}.", key=key))
    return row_id(document)


def sheet(
    project: Project, document_id: int, persons: Sequence[Person], layers: Sequence[Layer]
) -> Sheet:
    """A document with all versions. Raises KeyError if there is no such document."""
    reader = _reader(project, persons, layers)
    document = documents.get(project.db, document_id)
    states = reader.states([document_id])
    read = reader.read(document_id, states)
    case = read.case
    texts = dict(document.texts)
    agreed = [
        cases.with_words(_shown(mark, of), texts)
        for of in case.layers.values()
        for mark in of.agreed
    ]
    every = sorted(case.differences, key=lambda difference: difference.order)
    worded = tuple(cases.difference_with_words(item, document) for item in every)
    gold = _gold_states(project, reader, [document_id])
    return Sheet(
        document,
        reader.people,
        reader.layers,
        tuple(_submitted_at(states.get(document_id, ()), person) for person in persons),
        tuple(_lines(document, agreed, worded)),
        tuple(agreed),
        worded,
        _is_submitted(case, gold) and all(item.taken is not None for item in worded),
        read,
    )


def _shown(mark: Mark, of: cases.LayerCase) -> Mark:
    try:
        return cases.resolved(mark, of) or mark
    except cases.Undecided:
        return mark


def _submitted_at(rows: Iterable[stored.StateRow], person: Person) -> str:
    own = (r.at for r in rows if r.annotator_id == person.id and r.state == "submitted")
    return max(own, default="")


def _lines(
    document: Document, agreed: Sequence[Mark], every: Sequence[Difference]
) -> Iterator[Line]:
    spans = [mark for mark in agreed if mark.start is not None and mark.ends is None]
    for field in document.fields:
        ranges = [mark.offsets for mark in spans if mark.field == field]
        ranges += [
            (item.start, item.end)
            for item in every
            if item.field == field and item.start is not None and item.end is not None
            and not item.layer.traits.between_spans and not item.layer.traits.in_chains
        ]  # fmt: skip
        length = len(document.content(field))
        units = joined_over(units_of(document, SENTENCE, field), ranges) or ((0, length),)
        inside: list[list[Mark]] = [[] for _unit in units]
        numbers: list[list[int]] = [[] for _unit in units]
        for mark in agreed:
            if mark.field == field and mark.start is not None:
                inside[unit_at(units, mark.start)].append(mark)
        for number, item in enumerate(every):
            if item.field == field and item.start is not None:
                numbers[unit_at(units, item.start)].append(number)
        for (start, end), marks, some in zip(units, inside, numbers, strict=True):
            yield Line(start, end, tuple(marks), tuple(some), field)


# ---------------------------------------------------------------- begin and decide


def begin(
    project: Project,
    persons: Sequence[Person],
    layers: Sequence[Layer],
    *,
    origin: object = None,
    watch: Watch = QUIET,
) -> int:
    """Make “gold” the gold of the layers, in one undo step; returns how many documents were taken.

    Layers of documents in which nobody differs, or which only one submitted, become gold as they
    are; those with relations whose spans are not gold as drafts, without these relations. What gold
    has already is not changed, so it can be called again after a merge. Not for the main thread.
    Raises as `overview`.
    """
    reader = _reader(project, persons, layers)
    states = _gold_states(project, reader)
    versions: list[tuple[int, int, int]] = []
    written: dict[int, list[int]] = {}
    for surveyed in _survey(reader, watch.part(0.0, 0.4)):
        for agreed in _agreed(reader, surveyed, states):
            versions += agreed.copied
            if agreed.written:
                written.setdefault(surveyed.document_id, []).extend(agreed.written)
    gold = gold_person(project) or people.add_gold(project)
    title = _("Begin adjudication")
    with project.edit(title, origin=origin, bulk=True, watch=watch.part(0.8, 1.0)):
        for layer in reader.layers:
            if project.gold(row_id(layer)) != gold.id:
                labels.update_layer(project.db, row_id(layer), gold=gold.id)
        if versions:
            source = project.source("person")
            part = watch.part(0.4, 0.6)
            stored.copy(project.db, versions, annotator_id=gold.id, source_id=source, watch=part)
        _write_agreed(project, reader, written, watch.part(0.6, 0.8))
    return len({*written, *(document for document, _layer, _person in versions)})


def _write_agreed(
    project: Project, reader: Reader, written: Mapping[int, Sequence[int]], watch: Watch
) -> None:
    """Submit layers of documents; as drafts where relations have to be left out. Within an edit."""
    if not written:
        return
    writer = _writer(project, reader)
    for page in watch.over(sorted(written), PAGE):
        for case in reader.cases(page, reader.states(page)):
            numbers = written[case.document_id]
            writer.start(case, numbers)
            if not writer.left_out(case):
                annotate.submit(project, case.document_id, numbers)


def _writer(project: Project, reader: Reader, layers: Iterable[Layer] | None = None) -> GoldWriter:
    """layers: as of GoldWriter. Raises SpecError unless gold of the layers is the result of
    adjudication.
    """
    gold = gold_person(project)
    for layer in reader.layers:
        if gold is None or project.gold(row_id(layer)) != gold.id:
            raise SpecError(
                _("Gold of {layer} is not the result of adjudication.", layer=layer.name),
                hint=_("Begin adjudication first."),
            )
    if gold is None:
        raise SpecError(_("None of these people has submitted a document."))
    return GoldWriter(project, reader, gold, reader.layers if layers is None else layers)


def _with_relations(project: Project, reader: Reader) -> Reader:
    """The reader with all relations of gold that connect its spans: they follow decisions."""
    gold, names = gold_person(project), {layer.name for layer in reader.layers}
    more = [
        layer
        for layer in labels.layers(project.db)
        if layer not in reader.layers
        and layer.traits.between_spans
        and span_layer(layer) in names
        and gold is not None
        and project.gold(row_id(layer)) == gold.id
    ]
    return Reader(project, reader.people, [*reader.layers, *more]) if more else reader


def decide(
    project: Project, sheet: Sheet, difference: Difference, take: Take, *, origin: object = None
) -> tuple[str, ...]:
    """Make what is taken gold, in one undo step. EDITED leaves gold at the place as it is, for
    editing. Returns warnings: relations that were deleted, since their spans are not gold now.

    Raises WorkbenchError if the labels have changed since the sheet was read, or the decision is
    not possible; SpecError before `begin`, and for relations whose spans are open.
    """
    title = _("Adjudicate {layer}", layer=difference.layer.name)
    return _decide_one(project, sheet, difference, take, title, origin)


def undo_decision(
    project: Project, sheet: Sheet, difference: Difference, *, origin: object = None
) -> tuple[str, ...]:
    """Open a difference again: its labels are taken out of gold, in one undo step. Returns warnings
    and raises as `decide`.
    """
    title = _("Reopen difference in {layer}", layer=difference.layer.name)
    return _decide_one(project, sheet, difference, None, title, origin)


def decide_alike(
    project: Project,
    sheet: Sheet,
    differences: Sequence[Difference],
    take: Take,
    *,
    origin: object = None,
    watch: Watch = QUIET,
) -> tuple[str, ...]:
    """Decide differences of any documents in the same way, in one undo step.

    sheet: of any of them. Returns warnings and raises as `decide`; then nothing is decided.
    Cancelled through `watch`.
    """
    if take == EDITED:
        raise SpecError(_("Labels can be edited in one document at a time."))
    n = len(differences)
    title = ngettext("Adjudicate {n} case alike", "Adjudicate {n} cases alike", n)
    decisions = [(difference, take) for difference in differences]
    reader = _reader(project, sheet.annotators, sheet.layers)
    _decided, warnings = _decide(project, reader, decisions, title, origin, watch)
    return warnings


def decide_each(
    project: Project,
    persons: Sequence[Person],
    layers: Sequence[Layer],
    decisions: Sequence[tuple[Difference, Take]],
    *,
    origin: object = None,
    watch: Watch = QUIET,
) -> tuple[int, tuple[str, ...]]:
    """Decide differences of any documents, in one undo step. Returns how many were decided, and
    warnings as `decide`: relations whose spans are open, or not gold, are left open.

    Raises as `decide`; then nothing is decided. Cancelled through `watch`.
    """
    n = len(decisions)
    title = ngettext("Adjudicate {n} difference", "Adjudicate {n} differences", n)
    ordered = sorted(decisions, key=lambda pair: pair[0].order)  # relations after their spans
    reader = _reader(project, persons, layers)
    return _decide(project, reader, ordered, title, origin, watch, may_skip=True)


def _decide_one(
    project: Project,
    sheet: Sheet,
    difference: Difference,
    take: Take | None,
    title: str,
    origin: object,
) -> tuple[str, ...]:
    reader = _with_relations(project, _reader(project, sheet.annotators, sheet.layers))
    id = difference.document_id
    former = sheet.case if row_id(sheet.document) == id else None
    case = reader.read(id, reader.states([id]), former).case
    with project.edit(title, origin=origin):
        writer = _writer(project, reader, sheet.layers)
        writer.take(case, case.find(difference.key), take)
    return writer.warnings


def _decide(
    project: Project,
    reader: Reader,
    decisions: Iterable[tuple[Difference, Take | None]],
    title: str,
    origin: object,
    watch: Watch,
    *,
    may_skip: bool = False,
) -> tuple[int, tuple[str, ...]]:
    """Returns how many were decided, and warnings. may_skip: leave out relations that cannot be
    decided yet.
    """
    by_document: dict[int, list[tuple[Difference, Take | None]]] = {}
    for difference, take in decisions:
        by_document.setdefault(difference.document_id, []).append((difference, take))
    whole, decided = _with_relations(project, reader), 0
    ids, states = sorted(by_document), whole.states(by_document)
    with project.edit(title, origin=origin, watch=watch.part(0.9, 1.0)):
        writer = _writer(project, whole, reader.layers)
        for page in watch.part(0.0, 0.9).over(ids, PAGE):
            for case in whole.cases(page, states):
                keys = {difference.key for difference in case.differences}
                for difference, take in by_document[case.document_id]:
                    key = difference.key
                    if key in keys and all(item.key != key for item in case.differences):
                        decided += 1  # relations that are equal since the decision on their spans
                        continue
                    try:
                        writer.take(case, case.find(key), take)
                    except SpecError:
                        if not may_skip:
                            raise
                    else:
                        decided += 1
    return decided, writer.warnings


def discuss(project: Project, difference: Difference, text: str, *, origin: object = None) -> None:
    """Note on a difference what is to be discussed; "" removes the note."""
    text, id = " ".join(text.split())[:LONGEST_NOTE], difference.document_id
    before = cases.remarks(project, DISCUSS, [id]).get(id, {})
    if text == next((before[key] for key in difference.keys if key in before), ""):
        return
    with project.edit(_("Note on a difference"), origin=origin):
        cases.delete_remarks(project, DISCUSS, difference)
        if text:
            name = f"{DISCUSS}{difference.key} {name_in(text)}"
            flags.add(project.db, id, name, project.annotator_id)


def submit(project: Project, sheet: Sheet, *, origin: object = None) -> tuple[str, ...]:
    """Submit a document as gold. Returns warnings: layers that lack a label stay drafts, relations
    whose spans are not gold are left out, gold is a former decision on which people agree now.

    Raises SpecError while a difference is open.
    """
    ids = [row_id(sheet.document)]
    title = _("Submit {key} as gold", key=sheet.document.key)
    reader = _reader(project, sheet.annotators, sheet.layers)
    with project.edit(title, origin=origin):
        outdated = any(True for _id in _outdated(project, reader, ids))
        warnings = tuple(_submit(project, reader, ids, QUIET))
    return (*warnings, _agree_now()) if outdated else warnings


def _agree_now() -> str:
    return _("People agree now on what was decided, but gold is not what they say.")


def submit_decided(
    project: Project,
    persons: Sequence[Person],
    layers: Sequence[Layer],
    *,
    ids: Sequence[int] | None = None,
    origin: object = None,
    watch: Watch = QUIET,
) -> tuple[int, tuple[str, ...]]:
    """Submit documents as gold, in one undo step; returns their number, and warnings as `submit`.

    ids: by default those of the overview without an open difference, except where people agree now
    on what was decided, and gold is not what they say. Not for the main thread. Raises SpecError if
    one of `ids` has an open difference.
    """
    reader, chosen = _reader(project, persons, layers), ids is not None
    if ids is None:
        rows = overview(project, persons, layers, watch=watch.part(0.0, 0.5)).rows
        ids = [row.document_id for row in rows if not row.open and not row.submitted]
    title = ngettext("Submit {n} document as gold", "Submit {n} documents as gold", len(ids))
    with project.edit(title, origin=origin, watch=watch.part(0.9, 1.0)):
        outdated = set(_outdated(project, reader, ids))
        if not chosen:
            ids = [id for id in ids if id not in outdated]
        warnings = list(_submit(project, reader, ids, watch.part(0.5, 0.9)))
    if outdated and chosen:
        warnings.append(_agree_now())
    elif n := len(outdated):
        warnings.append(
            ngettext(
                "{n} document was not submitted: people agree now on what was decided, but gold is"
                " not what they say. Check and submit it.",
                "{n} documents were not submitted: people agree now on what was decided, but gold"
                " is not what they say. Check and submit each of them.",
                n,
            )
        )
    return len(ids), tuple(dict.fromkeys(warnings))


def _outdated(project: Project, reader: Reader, ids: Sequence[int]) -> Iterator[int]:
    """The documents in which people agree now on what was decided, but gold is not what they say.
    Within an edit.
    """
    writer = _writer(project, reader)
    for page in QUIET.over(ids, PAGE):
        decisions = cases.remarks(project, cases.DECIDED, page)
        decided = [id for id in page if id in decisions]
        for case in reader.cases(decided, reader.states(decided)):
            keys = {key for difference in case.differences for key in difference.keys}
            if not keys.issuperset(decisions[case.document_id]) and writer.is_outdated(case):
                yield case.document_id


def _submit(project: Project, reader: Reader, ids: Sequence[int], watch: Watch) -> Iterator[str]:
    """Within an edit; yields warnings."""
    writer = _writer(project, reader)
    for page in watch.over(ids, PAGE):
        for case in reader.cases(page, reader.states(page)):
            if n := sum(difference.taken is None for difference in case.differences):
                raise _is_open(documents.get(project.db, case.document_id).key, n)
            writer.start(case)
            writer.complete(case)
            labelled = [number for number, of in case.layers.items() if of.labelled]
            yield from annotate.submit(project, case.document_id, labelled)
            if left_out := writer.left_out(case):
                yield ngettext(
                    "{n} relation was left out: its spans are not gold.",
                    "{n} relations were left out: their spans are not gold.",
                    left_out,
                )


def _is_open(key: str, n: int) -> SpecError:
    message = ngettext(
        "{n} difference of {key} is open.", "{n} differences of {key} are open.", n, key=key
    )
    return SpecError(message, hint=_("Decide each of them first."))


def keys(project: Project, every: Iterable[Difference]) -> dict[int, str]:
    """The keys of the documents of differences, by id."""
    ids = {difference.document_id for difference in every}
    records = documents.records(project.db, layers=(), ids=ids)
    return {row_id(record.document): record.document.key for record in records}


# ---------------------------------------------------------------- equal cases


def equal_cases(
    project: Project,
    difference: Difference,
    persons: Sequence[Person],
    layers: Sequence[Layer],
    *,
    watch: Watch = QUIET,
) -> tuple[Difference, ...]:
    """Other open differences of the same layer, labels and kind, those with the same words first.

    Of boundaries, also the words at the edge, or their word class, must be equal. difference: with
    the words of its marks, as in a sheet. Not for the main thread. Raises as `overview`.
    """
    reader = _reader(project, persons, layers)
    like = [
        item
        for surveyed in _survey(reader, watch)
        for item in surveyed.differences
        if may_be_alike(item, difference)
    ]
    return alike(difference, with_words(project, like))
