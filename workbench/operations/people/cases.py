"""What several people say of the same documents: their labels, differences and decisions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.operations.people import differences as compared
from workbench.operations.people.differences import Kind, Mark, Version
from workbench.storage.annotation import versions as stored
from workbench.storage.documents import flags
from workbench.storage.documents.flags import REVIEWS
from workbench.storage.labels import labels
from workbench.storage.schema.values import parts_out
from workbench.text.labels import ANSWERS, RELATIONS, SPANS, TABLES, Layer
from workbench.text.relations import directed, span_layer
from workbench.text.rows import row_id
from workbench.text.spans import TEXT

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.storage.annotation.people import Person
    from workbench.text.document import Document

Take = int | Literal["both", "neither", "edited"]  # a number: the version of that person
BOTH: Literal["both"] = "both"
NEITHER: Literal["neither"] = "neither"
EDITED: Literal["edited"] = "edited"
DECIDED = f"{REVIEWS}adjudicated "  # start of the name of a flag: key, space, what was taken
DISCUSS = f"{REVIEWS}discuss "  # start of the name of a flag: key, space, the note


_Place = tuple[int, ...]  # document, layer, annotator
_Stored = tuple[str, int, tuple[Any, ...]]  # table, id, values of `stored.rows`


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference between versions of a layer of a document.

    key: equal in other files, and as long as the same people say the same. former_key: of the same
    difference in files of earlier versions, "" if it was not another. start, end: code points
    of the text `field` that the versions cover, None for labels of the whole document. versions:
    one per person, None for a person who did not submit the layer. note: what is to be discussed.
    """

    key: str
    document_id: int
    layer: Layer
    kind: Kind
    start: int | None
    end: int | None
    versions: tuple[Version, ...]
    taken: Take | None = None
    note: str = ""
    field: str = TEXT
    former_key: str = ""

    @property
    def keys(self) -> tuple[str, ...]:
        """Those under which decisions and notes may be stored."""
        return (self.key, self.former_key) if self.former_key else (self.key,)

    def marks(self, take: Take) -> tuple[Mark, ...]:
        """The labels that a decision makes gold. Raises WorkbenchError if it is not possible."""
        if take not in self.takes:
            raise WorkbenchError(
                _(
                    "{take} is not possible for this difference in {layer}.",
                    take=take if isinstance(take, str) else take + 1,
                    layer=self.layer.name,
                )
            )
        if take == EDITED:
            return ()
        if isinstance(take, int):
            return self.versions[take] or ()
        if self.layer.traits.in_chains:
            join = compared.both_chains if take == BOTH else compared.common_chains
            return join(self.versions)
        if take == NEITHER:
            return ()
        return self.every_mark

    @property
    def takes(self) -> tuple[Take, ...]:
        """The decisions that are possible: versions that there are, and those of the layer."""
        traits = self.layer.traits
        own: list[Take] = [at for at, version in enumerate(self.versions) if version is not None]
        if traits.asks:
            answered = [version for version in self.versions if version]
            is_null = any(mark.start is None for version in answered for mark in version)
            return *own, *(() if is_null else (BOTH,)), *self._if_missed, EDITED
        if traits.several:
            return *own, BOTH, NEITHER, EDITED
        if traits.in_text or traits.empty_is_answer:
            return *own, NEITHER, EDITED
        return *own, EDITED

    @property
    def title(self) -> str:
        """The kind, for display."""
        return _(compared.TITLES[self.kind])

    @property
    def every_mark(self) -> tuple[Mark, ...]:
        """Those of all versions, each once."""
        return tuple(dict.fromkeys(mark for version in self.versions for mark in version or ()))

    @property
    def _if_missed(self) -> tuple[Take, ...]:
        return (NEITHER,) if any(version == () for version in self.versions) else ()

    @property
    def order(self) -> tuple[object, ...]:
        """Sort key within a document: classes and values, then by place, then relations."""
        between = self.layer.traits.between_spans
        return between, self.start is not None, self.field, self.start or 0, row_id(self.layer)


@dataclass(slots=True)
class LayerCase:
    """A layer of a document: what is agreed, and the differences; spans: of a relation layer, the
    case of the layer whose spans it connects.
    """

    layer: Layer
    versions: tuple[Version, ...]
    agreed: tuple[Mark, ...]
    differences: tuple[Difference, ...]
    spans: LayerCase | None = None

    @property
    def labelled(self) -> bool:
        """Whether anybody submitted it."""
        return any(version is not None for version in self.versions)

    def decided(self, besides: str = "") -> list[Mark]:
        """What is agreed, and what was taken; besides: the key of a difference to leave out."""
        taken = [
            difference.marks(difference.taken)
            for difference in self.differences
            if difference.taken is not None and difference.key != besides
        ]
        return [*self.agreed, *(mark for marks in taken for mark in marks)]


class Undecided(Exception):
    """A relation connects a span on which people differ, and which is not decided."""


@dataclass(slots=True)
class Case:
    """A document: its layers by id, spans before the relations that connect them."""

    document_id: int
    layers: dict[int, LayerCase]

    @property
    def differences(self) -> Iterator[Difference]:
        for case in self.layers.values():
            yield from case.differences

    def find(self, key: str) -> Difference:
        """Raises WorkbenchError if the labels have changed since."""
        for difference in self.differences:
            if difference.key == key:
                return difference
        raise WorkbenchError(
            _("The labels of this document have changed: the difference is gone."),
            hint=_("Open the document again."),
        )


@dataclass(frozen=True, slots=True)
class CaseReading:
    """A case with what it was read from. It is not to be changed."""

    case: Case
    source: object


def with_spans(project: Project, layers: Sequence[Layer]) -> tuple[Layer, ...]:
    """The layers, and those whose spans their relations connect; relations last."""
    names = {layer.name for layer in layers}
    names |= {span_layer(layer) for layer in layers if layer.traits.between_spans}
    every = [layer for layer in labels.layers(project.db) if layer.name in names]
    return tuple(sorted(every, key=lambda layer: layer.traits.between_spans))


class Reader:
    """Reads the labels of people in layers, which include the spans of relations."""

    def __init__(self, project: Project, people: Sequence[Person], layers: Sequence[Layer]):
        self.project, self.people = project, tuple(people)
        self.layers = with_spans(project, layers)
        self._names = {
            row_id(label): label.name
            for layer in labels.layers(project.db)
            for label in layer.labels
        }
        self._number = {person.id: at for at, person in enumerate(people)}
        self._directed = {
            (row_id(layer), name): directed(layer, name)
            for layer in self.layers
            if layer.traits.between_spans
            for name in layer.names
        }
        self._spans_of = {
            row_id(layer): next(
                (row_id(of) for of in self.layers if of.name == span_layer(layer)), None
            )
            for layer in self.layers
            if layer.traits.between_spans
        }

    def spans_of(self, layer_id: int) -> int | None:
        """The layer whose spans the relations of a layer connect; None for other layers."""
        return self._spans_of.get(layer_id)

    @property
    def groups(self) -> list[list[Layer]]:
        """The layers: those whose relations connect the spans of one together with it."""
        groups: dict[int, list[Layer]] = {}
        for layer in self.layers:
            groups.setdefault(self.spans_of(row_id(layer)) or row_id(layer), []).append(layer)
        return list(groups.values())

    # ------------------------------------------------------------ rows

    def states(self, ids: Iterable[int] | None = None) -> dict[int, list[stored.StateRow]]:
        """Document → when people submitted or discarded it in the layers."""
        rows: dict[int, list[stored.StateRow]] = {}
        layer_ids, people = map(row_id, self.layers), self._number
        for row in stored.states(self.project.db, layer_ids, people, ids):
            rows.setdefault(row.document_id, []).append(row)
        return rows

    def marks(self, ids: Iterable[int], people: Iterable[int]) -> dict[_Place, list[Mark]]:
        """(document, layer, annotator) → labels, without the words that they cover."""
        return self._marks(self._rows(ids, people))

    def _rows(self, ids: Iterable[int], people: Iterable[int]) -> dict[_Place, list[_Stored]]:
        chosen, every, who = list(ids), list(map(row_id, self.layers)), list(people)
        rows: dict[_Place, list[_Stored]] = {}
        for table in dict.fromkeys(layer.traits.table for layer in self.layers):
            for row in stored.rows(self.project.db, table, chosen, every, who):
                rows.setdefault(row[1:4], []).append((table, row[0], row[4:]))
        return rows

    def _marks(self, rows: Mapping[_Place, Sequence[_Stored]]) -> dict[_Place, list[Mark]]:
        return {
            place: [
                mark
                for table, id, values in own
                if (mark := self._mark(table, id, place[1], values)) is not None
            ]
            for place, own in rows.items()
        }

    def _mark(self, table: str, id: int, layer: int, values: Sequence[Any]) -> Mark | None:
        """The label of a row (`stored.rows`); None for an open question."""
        if table == TABLES[SPANS]:
            return self._span(id, layer, *values)
        if table == TABLES[RELATIONS]:
            return self._relation(id, layer, *values)
        if table == TABLES[ANSWERS]:
            return _answer(id, layer, *values)
        label, value = values
        if label is None:
            return Mark(layer, "", text=f"{value:g}", value=value, id=id)
        return Mark(layer, self._names[label], text=self._names[label], id=id)

    def _span(
        self,
        id: int,
        layer: int,
        label: int | None,
        field: str,
        start: int,
        end: int,
        parts: str | None,
        chain: int | None = None,
    ) -> Mark:
        name, ranges = self._names.get(label or 0, ""), parts_out(parts)
        return Mark(layer, name, start, end, field=field, parts=ranges, chain=chain, id=id)

    def _relation(self, id: int, layer: int, label: int | None, *ends: Any) -> Mark:
        of, name = self._spans_of.get(layer) or 0, self._names.get(label or 0, "")
        first, second = self._span(0, of, *ends[:5]), self._span(0, of, *ends[5:])
        has_direction = self._directed.get((layer, name), True)
        return _relation(layer, name, (first, second), id, has_direction=has_direction)

    # ------------------------------------------------------------ cases

    def cases(
        self,
        ids: Sequence[int],
        states: Mapping[int, Sequence[stored.StateRow]],
        *,
        differing: bool = False,
    ) -> list[Case]:
        """The documents, as far as anybody submitted them, with the decisions.

        differing: without most of those on which nobody differs.
        """
        rows = self._rows(ids, self._number)
        if differing:
            ids = [id for id in ids if _may_differ(rows, states.get(id, ()))]
            chosen = set(ids)
            rows = {place: own for place, own in rows.items() if place[0] in chosen}
        marks = self._marks(rows)
        decisions = remarks(self.project, DECIDED, ids)
        notes = remarks(self.project, DISCUSS, ids)
        return [
            self._case(id, states.get(id, ()), marks, decisions.get(id, {}), notes.get(id, {}))
            for id in ids
        ]

    def case(self, document_id: int) -> Case:
        return self.read(document_id, self.states([document_id])).case

    def read(
        self,
        document_id: int,
        states: Mapping[int, Sequence[stored.StateRow]],
        former: CaseReading | None = None,
    ) -> CaseReading:
        """A document. former: what was read before, whose comparison is still valid if nobody has
        changed a label since.
        """
        rows, own = self._rows([document_id], self._number), states.get(document_id, ())
        source = self.layers, self.people, own, rows
        decisions = remarks(self.project, DECIDED, [document_id]).get(document_id, {})
        notes = remarks(self.project, DISCUSS, [document_id]).get(document_id, {})
        if former is not None and former.source == source and not self._spans_of:
            case = Case(document_id, {})
            for number, of in former.case.layers.items():
                every = tuple(self._decided(item, decisions, notes) for item in of.differences)
                case.layers[number] = replace(of, differences=every)
        else:
            case = self._case(document_id, own, self._marks(rows), decisions, notes)
        return CaseReading(case, source)

    def _decided(
        self, item: Difference, decisions: Mapping[str, str], notes: Mapping[str, str]
    ) -> Difference:
        key, former = item.key, item.former_key
        name, note = _entry(decisions, key, former), _entry(notes, key, former)
        taken = self._take(name) if name else None
        if (taken, note) == (item.taken, item.note):
            return item
        return replace(item, taken=taken, note=note)

    def _case(
        self,
        id: int,
        states: Iterable[stored.StateRow],
        marks: Mapping[_Place, Sequence[Mark]],
        decisions: Mapping[str, str],
        notes: Mapping[str, str],
    ) -> Case:
        submitted = {(row.layer_id, row.annotator_id) for row in states if row.state == "submitted"}
        case = Case(id, {})
        for layer in self.layers:
            number = row_id(layer)
            versions: tuple[Version, ...] = tuple(
                tuple(marks.get((id, number, person.id), ()))
                if (number, person.id) in submitted
                else None
                for person in self.people
            )
            aligned = compared.align(layer, versions)
            every = (
                self._difference(id, layer, raw, decisions, notes) for raw in aligned.differences
            )
            spans = case.layers.get(self._spans_of.get(number) or 0)
            of = LayerCase(layer, versions, aligned.agreed, tuple(every), spans)
            if spans is not None:
                _take_equal_relations(of)
            case.layers[number] = of
        return case

    def _difference(
        self,
        id: int,
        layer: Layer,
        raw: compared.Disagreement,
        decisions: Mapping[str, str],
        notes: Mapping[str, str],
    ) -> Difference:
        uids = [person.uid for person in self.people]
        number = self._spans_of.get(row_id(layer))
        spans = next((of for of in self.layers if of.id == number), None)
        key = compared.key_of(layer, raw, uids, spans)
        former = "" if spans is None else compared.key_of(layer, raw, uids)
        placed = [m for v in raw.versions for m in v or () if m.start is not None]
        start = min((mark.offsets[0] for mark in placed), default=None)
        end = max((mark.offsets[1] for mark in placed), default=None)
        field = placed[0].field if placed else TEXT
        taken, note = self._take(_entry(decisions, key, former)), _entry(notes, key, former)
        return Difference(
            key, id, layer, raw.kind, start, end, raw.versions, taken, note, field, former
        )

    def _take(self, name: str) -> Take | None:
        if name == BOTH:
            return BOTH
        if name == NEITHER:
            return NEITHER
        if name == EDITED:
            return EDITED
        return next((at for at, person in enumerate(self.people) if person.uid == name), None)

    def take_name(self, take: Take) -> str:
        """As `_take` reads it."""
        return self.people[take].uid if isinstance(take, int) else take


def _may_differ(
    rows: Mapping[_Place, Sequence[_Stored]], states: Iterable[stored.StateRow]
) -> bool:
    """Whether the rows of those who submitted a layer of a document are not the same."""
    first: dict[int, set[tuple[object, ...]]] = {}
    for row in states:
        if row.state == "submitted":
            own = rows.get((row.document_id, row.layer_id, row.annotator_id), ())
            values = {values for _table, _id, values in own}
            if first.setdefault(row.layer_id, values) != values:
                return True
    return False


def _answer(
    id: int,
    layer: int,
    question: str,
    field: str,
    start: int | None,
    end: int | None,
    text: str | None,
    is_null: int,
    attrs: str | None,
) -> Mark | None:
    if text is not None:
        return Mark(layer, "", text=text, value=text, id=id)
    if start is None and not is_null:
        return None  # an open question
    return Mark(layer, question, start, end, field=field, value=attrs or "", id=id)


def _entry(by_key: Mapping[str, str], key: str, former: str) -> str:
    return by_key.get(key) or by_key.get(former, "")


def remarks(project: Project, prefix: str, ids: Sequence[int]) -> dict[int, dict[str, str]]:
    """Document → key of a difference → the rest of the name of its newest flag."""
    rows: dict[int, dict[str, str]] = {}
    for flag in flags.starting_with(project.db, prefix, ids=ids):
        key, _space, rest = flag.name.removeprefix(prefix).partition(" ")
        rows.setdefault(flag.document_id, {})[key] = rest
    return rows


def delete_remarks(project: Project, prefix: str, difference: Difference) -> None:
    """Delete the flags of a difference whose names start with this. Within an edit."""
    for key in difference.keys:
        rows = flags.starting_with(project.db, f"{prefix}{key} ", difference.document_id)
        flags.delete(project.db, [flag.id for flag in rows])


def relation(layer: Layer, label: str, ends: tuple[Mark, Mark]) -> Mark:
    """A relation, which covers the text from its first to its last span. Those of a relation
    without a direction are put in order.
    """
    return _relation(row_id(layer), label, ends, has_direction=directed(layer, label))


def _relation(
    layer: int, label: str, ends: tuple[Mark, Mark], id: int | None = None, *, has_direction: bool
) -> Mark:
    first, second = ends if has_direction else sorted(ends, key=lambda end: end.place)
    places = [first.offsets, second.offsets] if first.field == second.field else [first.offsets]
    start, end = min(start for start, _end in places), max(end for _start, end in places)
    return Mark(layer, label, start, end, field=first.field, ends=(first, second), id=id)


# ---------------------------------------------------------------- relations between decided spans


def resolved(mark: Mark, of: LayerCase, gold: Sequence[Mark] = ()) -> Mark | None:
    """The relation between those spans that gold has, after the decisions on its two spans.

    None if gold has no such span. of: the layer of the relation. gold: the spans of gold, for
    places that were edited. Raises Undecided if a decision on a span is missing.
    """
    if mark.ends is None or of.spans is None:
        return mark
    first, second = (_resolved_end(end, of.spans, gold) for end in mark.ends)
    if first is None or second is None or first == second:
        return None
    return relation(of.layer, mark.label, (first, second))


def _resolved_end(end: Mark, case: LayerCase, gold: Sequence[Mark]) -> Mark | None:
    if end in case.agreed:
        return end
    difference = next((item for item in case.differences if end in item.every_mark), None)
    if difference is None:  # who labelled the relations did not submit the spans
        same = [mark for mark in (*gold, *case.decided()) if mark.ranges == end.ranges]
        return next((mark for mark in same if mark.label == end.label), same[0] if same else None)
    if difference.taken is None or (difference.taken == EDITED and not gold):
        raise Undecided
    if difference.taken == EDITED:
        chosen: Sequence[Mark] = [mark for mark in gold if mark not in case.agreed]
    else:
        chosen = difference.marks(difference.taken)
    return nearest(end, chosen)


def nearest(end: Mark, chosen: Sequence[Mark]) -> Mark | None:
    """The span that is in the place of another: the equal one, else that which overlaps it most."""
    best = max(
        chosen,
        key=lambda mark: (
            mark == end,
            compared.shared_chars(mark, end),
            mark.label == end.label,
        ),  # fmt: skip
        default=None,
    )
    return best if best is not None and compared.shared_chars(best, end) else None


def _take_equal_relations(case: LayerCase) -> None:
    """Relations whose ends differed agree once decisions on their spans have made them equal."""
    agreed, differences = list(case.agreed), []
    for difference in case.differences:
        try:
            equal = difference.taken is None and {
                frozenset(resolved(mark, case) for mark in version or ())
                for version in difference.versions
                if version is not None
            }
        except Undecided:
            equal = False
        if equal and len(equal) == 1 and None not in next(iter(equal)):
            agreed += next(iter(version for version in difference.versions if version))
        else:
            differences.append(difference)
    case.agreed, case.differences = tuple(agreed), tuple(differences)


# ---------------------------------------------------------------- words


def with_words(mark: Mark, texts: Mapping[str, str]) -> Mark:
    """The mark with the words that it covers; texts: field → text."""
    if mark.ends is not None:
        first, second = (with_words(end, texts) for end in mark.ends)
        return replace(
            mark, text=f"{first.text} – {mark.label} → {second.text}", ends=(first, second)
        )
    if mark.start is None:
        return mark if mark.text else replace(mark, text="–")
    text = texts.get(mark.field, "")
    words = " … ".join(text[start:end] for start, end in mark.ranges[1])
    return replace(mark, text=words)


def difference_with_words(difference: Difference, document: Document) -> Difference:
    """The difference with the words that its marks cover."""
    texts = dict(document.texts)
    versions = tuple(
        None if version is None else tuple(with_words(mark, texts) for mark in version)
        for version in difference.versions
    )
    return replace(difference, versions=versions)
