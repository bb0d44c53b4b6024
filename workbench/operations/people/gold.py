"""Writes decisions of an adjudication as labels of the person “gold”. Within an edit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.base.errors import SpecError
from workbench.base.i18n import _, ngettext
from workbench.operations.people import cases
from workbench.operations.people.cases import (
    DECIDED,
    EDITED,
    Case,
    Difference,
    LayerCase,
    Reader,
    Take,
    Undecided,
)
from workbench.operations.people.differences import Mark, content, partition
from workbench.storage.annotation import annotations as annotation_rows
from workbench.storage.annotation import answers, relations
from workbench.storage.annotation import versions as stored
from workbench.storage.documents import flags
from workbench.storage.schema.values import json_out
from workbench.storage.staging.record_writer import RecordWriter
from workbench.text import labels as kinds
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.labels import Layer
from workbench.text.questions import Question
from workbench.text.relations import Relation
from workbench.text.rows import row_id
from workbench.text.spans import Span

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.storage.annotation.people import Person

_NOWHERE = Document("", ())  # only the labels of a record are written


class GoldWriter:
    """Created inside an edit.

    layers: those that are adjudicated. Others of the reader only follow decisions on their spans,
    if they are gold already.
    """

    def __init__(self, project: Project, reader: Reader, gold: Person, layers: Iterable[Layer]):
        self._project, self._db = project, project.db
        self._reader, self._gold = reader, gold.id
        self._layers = set(map(row_id, layers))
        self._source: int | None = None
        self._writer: RecordWriter | None = None
        self._lost = 0  # relations that were deleted with spans

    @property
    def warnings(self) -> tuple[str, ...]:
        """What decisions have deleted besides the labels of the differences."""
        if not self._lost:
            return ()
        return (
            ngettext(
                "{n} relation was deleted with its span.",
                "{n} relations were deleted with their spans.",
                self._lost,
            ),
        )

    # ------------------------------------------------------------ decisions

    def take(self, case: Case, difference: Difference, take: Take | None) -> None:
        """Write a decision; None: it is open again. Raises SpecError for a relation whose spans
        are open, or are not gold.
        """
        self.start(case)
        layer = difference.layer
        between = self._relation_cases(case, layer)
        if between:
            begun = self._layers | self._begun(case)
            between = [of for of in between if row_id(of.layer) in begun]
        before = [self._expected(case, of) for of in between]
        present = [set(self._marks(case, of.layer)) for of in between]
        moved: Mapping[Mark, Mark] = {}
        if take != EDITED:
            chosen = () if take is None else difference.marks(take)
            moved = self._replace(case, difference, chosen)
        elif layer.traits.asks:
            self._keep_question(case, difference)
        self._decide(case, difference, take)
        if between:
            now = self._reader.case(case.document_id)
            case.layers = now.layers
            for of, expected, rows in zip(between, before, present, strict=True):
                self._follow(case, case.layers[row_id(of.layer)], expected, rows, moved)
        self._draft(case, layer, reopen=take is None)

    def start(self, case: Case, layers: Iterable[int] | None = None) -> None:
        """Write what is agreed in the layers in which gold has nothing yet, as drafts; layers: by
        default all that are adjudicated.
        """
        left = set(self._layers if layers is None else layers) - self._begun(case)
        for number, of in case.layers.items():
            if of.labelled and number in left:
                self._add(case, of.layer, self._resolved(case, of, of.agreed))
                self._draft(case, of.layer)

    def complete(self, case: Case) -> None:
        """Write agreed relations of drafts whose spans are gold since they were edited."""
        for of in self._drafts(case):
            if of.spans is not None:
                edited = [mark for mark in of.agreed if _is_unresolved(mark, of)]
                rows = self._marks(case, of.layer)
                ends = self._resolved(case, of, edited)
                self._add(case, of.layer, [mark for mark in ends if mark not in rows])

    def is_outdated(self, case: Case) -> bool:
        """Whether a draft without differences is not what everybody says."""
        for of in self._drafts(case):
            if of.labelled and not of.differences:
                agreed = self._resolved(case, of, of.agreed)
                gold = self._marks(case, of.layer)
                if content(of.layer, tuple(gold)) != content(of.layer, tuple(agreed)):
                    return True
        return False

    def _drafts(self, case: Case) -> list[LayerCase]:
        states = stored.states(self._db, self._layers, [self._gold], [case.document_id])
        drafts = {row.layer_id for row in states if row.state == "draft"}
        return [of for number, of in case.layers.items() if number in drafts]

    def _begun(self, case: Case) -> set[int]:
        """The layers in which gold has labels, or a state: also those that were discarded."""
        states = stored.states(self._db, case.layers, [self._gold], [case.document_id])
        marks = self._reader.marks([case.document_id], [self._gold])
        return {row.layer_id for row in states} | {layer for _id, layer, _person in marks}

    def left_out(self, case: Case) -> int:
        """Number of agreed relations that cannot be gold, as their spans are not."""
        return sum(
            end is None
            for of in case.layers.values()
            if of.spans is not None
            for end in self._ends(case, of, of.agreed).values()
        )

    # ------------------------------------------------------------ rows

    def _marks(self, case: Case, layer: Layer) -> list[Mark]:
        """The labels of gold in a layer."""
        rows = self._reader.marks([case.document_id], [self._gold])
        return rows.get((case.document_id, row_id(layer), self._gold), [])

    def _replace(
        self, case: Case, difference: Difference, chosen: Sequence[Mark]
    ) -> Mapping[Mark, Mark]:
        """Returns the spans of gold that others have replaced, with those."""
        layer, of = difference.layer, case.layers[row_id(difference.layer)]
        if layer.traits.asks:
            self._answer(case, difference, chosen)
            return {}
        gold, every = self._marks(case, layer), list(difference.every_mark)
        target = set(chosen)
        if of.spans is not None:
            chosen, every = self._checked(case, of, chosen), self._resolved(case, of, every)
            target = {*chosen, *self._resolved(case, of, of.decided(difference.key))}
        if layer.traits.in_chains:
            gone = [mark for mark in gold if self._is_of(mark, difference, of, every)]
            target, added = set(), list(chosen)
        elif layer.traits.several or layer.traits.in_text:
            gone = [mark for mark in gold if self._is_of(mark, difference, of, every)]
            added = [mark for mark in chosen if mark not in gold]
        else:
            gone, added = gold, [mark for mark in chosen if mark not in gold]
        gone = [mark for mark in gone if mark not in target]
        if gone and layer.traits.table == kinds.TABLES[kinds.SPANS]:
            self._add(case, layer, added)
            return self._replace_spans(case, layer, gone, chosen)
        self._delete(layer, gone)
        self._add(case, layer, added)
        return {}

    def _replace_spans(
        self, case: Case, layer: Layer, gone: Sequence[Mark], chosen: Sequence[Mark]
    ) -> Mapping[Mark, Mark]:
        """Delete spans of gold. What others have on them, such as relations, goes to the chosen
        span in the same place, which gold has already.
        """
        ids = {mark.id for mark in gone}
        left = [mark for mark in self._marks(case, layer) if mark.id not in ids and mark in chosen]
        moved = [(mark, cases.nearest(mark, left)) for mark in gone]
        self._lost += stored.replace_spans(
            self._db,
            {row_id(mark): None if to is None else row_id(to) for mark, to in moved},
            annotator_id=self._gold,
            layer_ids=[row_id(of.layer) for of in self._relation_cases(case, layer)],
        )
        return {mark: to for mark, to in moved if to is not None}

    @staticmethod
    def _is_of(mark: Mark, difference: Difference, of: LayerCase, every: Iterable[Mark]) -> bool:
        """Whether a label of gold came from a difference: a version, or what replaced it."""
        if mark in every:
            return True
        if difference.taken != EDITED or mark in of.agreed:
            return False
        others = [item for item in of.differences if item.key != difference.key]
        if any(mark in item.every_mark for item in others):
            return False
        if mark.start is None:  # a label of the document: of the last difference that was edited
            return all(item.taken != EDITED for item in others)
        return _overlap(difference, mark)

    def _delete(self, layer: Layer, marks: Iterable[Mark]) -> None:
        ids = [mark.id for mark in marks if mark.id is not None]
        if ids:
            stored.delete(self._db, layer.traits.table, ids)

    def _add(self, case: Case, layer: Layer, marks: Sequence[Mark]) -> None:
        if not marks:
            return
        if self._writer is None:
            self._writer = RecordWriter(self._db, self._source_id(), self._gold)
        record = self._record(case, layer, marks)
        self._writer.write_labels([(case.document_id, record)])

    def _source_id(self) -> int:
        if self._source is None:
            self._source = self._project.source("person")
        return self._source

    def _record(self, case: Case, layer: Layer, marks: Sequence[Mark]) -> Record:
        name, part = layer.name, layer.traits.record
        if part == kinds.MARKS:
            return Record(_NOWHERE, marks={name: tuple(mark.label for mark in marks)})
        if part == kinds.NUMBERS:
            return Record(_NOWHERE, numbers={name: float(marks[0].value or 0)})
        if part == kinds.WRITTEN:
            return Record(_NOWHERE, written={name: str(marks[0].value)})
        if part == kinds.ANSWERS:
            return Record(_NOWHERE, questions={name: tuple(questions_of(marks))})
        if part == kinds.RELATIONS:
            return Record(_NOWHERE, relations={name: tuple(map(_relation, marks))})
        spans: Iterable[Span] = map(_span, marks)
        if layer.traits.in_chains:
            spans = self._in_new_chains(case, layer, marks)
        return Record(_NOWHERE, spans={name: tuple(spans)})

    def _in_new_chains(self, case: Case, layer: Layer, marks: Sequence[Mark]) -> Iterable[Span]:
        free = relations.free_chain(self._db, case.document_id, row_id(layer))
        chains = sorted(partition(marks), key=lambda chain: min(mark.place for mark in chain))
        for number, chain in enumerate(chains, free):
            for mark in sorted(chain, key=lambda mark: mark.place):
                yield replace(_span(mark), chain=number)

    def _decide(self, case: Case, difference: Difference, take: Take | None) -> None:
        """Remember the decision as a flag of the document."""
        cases.delete_remarks(self._project, DECIDED, difference)
        if take is not None:
            name = f"{DECIDED}{difference.key} {self._reader.take_name(take)}"
            flags.add(self._db, case.document_id, name, self._project.annotator_id)
        of = case.layers[row_id(difference.layer)]
        of.differences = tuple(
            replace(item, taken=take) if item.key == difference.key else item
            for item in of.differences
        )

    def _draft(self, case: Case, layer: Layer, *, reopen: bool = False) -> None:
        """The layer is begun; reopen: also if it was submitted."""
        where = self._db, case.document_id, row_id(layer), self._gold
        if annotation_rows.state(*where) != "submitted" or reopen:
            annotation_rows.set_state(
                self._db, [case.document_id], row_id(layer), self._gold, "draft"
            )

    # ------------------------------------------------------------ answers

    def _question(self, case: Case, difference: Difference) -> answers.AskedQuestion | None:
        text, attrs = next((mark.label, mark.value) for mark in difference.every_mark)
        for row in answers.asked(self._db, case.document_id):
            entries = dict(row.question.attrs)
            if (row.layer_id, row.question.text, entries) == (
                row_id(difference.layer), text, json_out(str(attrs or "") or None),
            ):  # fmt: skip
                return row
        return None

    def _answer(self, case: Case, difference: Difference, chosen: Sequence[Mark]) -> None:
        """Give the question of a difference these answers; without any, it is no question."""
        row = self._question(case, difference)
        if not chosen:
            if row is not None:
                answers.delete_question(self._db, row)
        elif row is None:
            self._add(case, difference.layer, chosen)
        else:
            (question,) = questions_of(chosen)
            answers.set_answers(
                self._db, row, question, annotator_id=self._gold, source_id=self._source_id()
            )

    def _keep_question(self, case: Case, difference: Difference) -> None:
        """A question that is to be edited is there, open."""
        if self._question(case, difference) is None:
            (question,) = questions_of(difference.every_mark[:1])
            answers.add_question(
                self._db, case.document_id, row_id(difference.layer),
                replace(question, answers=(), is_null=False),
                annotator_id=self._gold, source_id=self._source_id(),
            )  # fmt: skip

    # ------------------------------------------------------------ relations

    @staticmethod
    def _relation_cases(case: Case, layer: Layer) -> list[LayerCase]:
        """The layers whose relations connect the spans of a layer."""
        spans = case.layers.get(row_id(layer))
        return [of for of in case.layers.values() if of.spans is spans is not None]

    def _spans(self, case: Case, of: LayerCase) -> list[Mark]:
        return self._marks(case, of.spans.layer) if of.spans is not None else []

    def _resolved(self, case: Case, of: LayerCase, marks: Iterable[Mark]) -> list[Mark]:
        """The marks as they are written: relations between spans of gold. Others are left out."""
        if of.spans is None:
            return list(marks)
        ends = dict.fromkeys(self._ends(case, of, marks).values())
        return [mark for mark in ends if mark is not None]

    def _ends(self, case: Case, of: LayerCase, marks: Iterable[Mark]) -> dict[Mark, Mark | None]:
        gold, ends = self._spans(case, of), dict[Mark, Mark | None]()
        for mark in marks:
            try:
                ends[mark] = self._in_gold(of, cases.resolved(mark, of, gold), gold)
            except Undecided:
                ends[mark] = None
        return ends

    @staticmethod
    def _in_gold(of: LayerCase, mark: Mark | None, gold: Sequence[Mark]) -> Mark | None:
        """The relation between the spans of gold at its places; None if one is not there."""
        if mark is None or mark.ends is None:
            return mark
        ends: list[Mark | None] = []
        for end in mark.ends:
            same = [span for span in gold if span.ranges == end.ranges]
            ends.append(next((span for span in same if span.label == end.label), None))
            if ends[-1] is None and same:
                ends[-1] = same[0]
        if ends[0] is None or ends[1] is None or ends[0] == ends[1]:
            return None
        return cases.relation(of.layer, mark.label, (ends[0], ends[1]))

    def _checked(self, case: Case, of: LayerCase, marks: Sequence[Mark]) -> list[Mark]:
        gold = self._spans(case, of)
        checked = []
        for mark in marks:
            try:
                relation = self._in_gold(of, cases.resolved(mark, of, gold), gold)
            except Undecided:
                raise SpecError(
                    _("People differ on the spans of this relation, which are not decided yet."),
                    hint=_("Decide the spans first."),
                ) from None
            if relation is None:
                raise SpecError(
                    _("A span of this relation is not gold."),
                    hint=_("Take its span first, or leave the relation out."),
                )
            checked.append(relation)
        return list(dict.fromkeys(checked))

    def _expected(self, case: Case, of: LayerCase) -> dict[Mark, Mark | None]:
        """The agreed and the decided relations of a layer, as they are written."""
        return self._ends(case, of, of.decided())

    def _follow(
        self,
        case: Case,
        of: LayerCase,
        before: Mapping[Mark, Mark | None],
        present: Iterable[Mark],
        moved: Mapping[Mark, Mark],
    ) -> None:
        """Connect the relations of a layer to the spans that are gold now. Decisions whose spans
        are not gold any more are open again.

        before: relations of people and of gold; present: all of gold. moved: spans of gold, and
        those that have replaced them.
        """
        now = self._expected(case, of)
        former = {mark for mark in before.values() if mark is not None}
        rows = self._marks(case, of.layer)
        expected = {mark for mark in now.values() if mark is not None}
        self._delete(of.layer, [m for m in rows if m in former and m not in expected])
        missing = [
            mark
            for mark in dict.fromkeys(now.values())
            if mark is not None and mark not in rows and (mark in present or mark not in former)
        ]
        gone = [mark for mark in present if mark not in former and mark not in rows]
        gold = self._spans(case, of)
        by_hand = {
            mark: self._in_gold(of, _connecting(mark, moved), gold)
            for mark in sorted(gone, key=lambda mark: mark.place)
        }
        again = [mark for mark in by_hand.values() if mark is not None and mark not in rows]
        missing += [mark for mark in dict.fromkeys(again) if mark not in missing]
        self._add(case, of.layer, missing)
        lost = [mark for mark, end in by_hand.items() if end is None]
        self._lost += len(lost)
        for difference in of.differences:
            if difference.taken == EDITED:
                is_open = any(_overlap(difference, mark) for mark in lost)
            else:
                is_open = difference.taken is not None and any(
                    now.get(mark) is None for mark in difference.marks(difference.taken)
                )
            if is_open:
                self._decide(case, difference, None)
                self._draft(case, of.layer, reopen=True)


def _connecting(mark: Mark, moved: Mapping[Mark, Mark]) -> Mark:
    """A relation with the spans that have replaced its own."""
    if mark.ends is None:
        return mark
    first, second = (moved.get(end, end) for end in mark.ends)
    return replace(mark, ends=(first, second))


def _is_unresolved(mark: Mark, of: LayerCase) -> bool:
    """Whether the decisions alone do not tell which spans of gold a relation connects."""
    try:
        return cases.resolved(mark, of) is None
    except Undecided:
        return True


def _overlap(difference: Difference, mark: Mark) -> bool:
    start, end = mark.offsets
    inside = start < (difference.end or 0) and (difference.start or 0) < end
    return inside and mark.field == difference.field


def questions_of(marks: Iterable[Mark]) -> Iterable[Question]:
    """The questions of answers, in order."""
    by_question: dict[tuple[str, object], list[Mark]] = {}
    for mark in marks:
        by_question.setdefault((mark.label, mark.value), []).append(mark)
    for (text, attrs), own in by_question.items():
        answered = tuple(mark.offsets for mark in own if mark.start is not None)
        yield Question(text, answered, not answered, json_out(str(attrs or "") or None))


def _span(mark: Mark) -> Span:
    start, end = mark.offsets
    return Span(start, end, mark.label, mark.field, parts=mark.parts, chain=mark.chain)


def _relation(mark: Mark) -> Relation:
    """Raises ValueError for a mark without ends."""
    if mark.ends is None:
        raise ValueError(f"{mark.label!r} connects nothing")
    first, second = map(_span, mark.ends)
    return Relation(mark.label, first, second)
