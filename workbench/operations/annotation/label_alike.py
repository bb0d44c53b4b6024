"""Labels of one document copied to its duplicates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.operations.annotation import suggestion_edits
from workbench.operations.documents.duplicates import DuplicateGroup
from workbench.operations.schema import labels as schema
from workbench.storage.annotation.suggestions import NewSuggestion
from workbench.storage.documents import documents
from workbench.storage.staging.record_writer import replace_labels
from workbench.text.dataset import Record
from workbench.text.labels import ANSWERS, RELATIONS, SPANS
from workbench.text.rows import row_id
from workbench.text.similar.carrying import Carrying

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.text.labels import Layer
    from workbench.text.spans import Span

REF = "duplicates"  # of the source of copied labels
PAGE = 100  # groups between two reports of progress
_FIELDS = {ANSWERS: "questions"}  # part of a Record → its name, where they differ


@dataclass
class Copied:
    """documents: number of those that got labels. lost: spans, relations and answers whose text
    is not in the other document; it is a draft in their layer.
    """

    documents: int = 0
    labels: int = 0
    lost: int = 0


@dataclass
class _Part:
    """What a document gets: a record with the copied labels, and the ids of their layers."""

    record: Record
    layers: list[int] = field(default_factory=list)


def _members(project: Project, groups: Sequence[DuplicateGroup]) -> Iterator[list[Record]]:
    """The records of each group, without documents that no longer exist."""
    ids = [id for group in groups for id in group.ids]
    records = {row_id(record.document): record for record in documents.records(project.db, ids=ids)}
    for group in groups:
        yield [records[id] for id in group.ids if id in records]


def label_alike(
    project: Project,
    groups: Sequence[DuplicateGroup],
    *,
    source: int | None = None,
    suggest: bool = False,
    overwrite: bool = False,
    origin: object = None,
    watch: Watch = QUIET,
) -> Copied:
    """Copy the labels of one document of each group to the others, as one undo step.

    Copied are the layers in which that document is submitted: `source`, or the one that is
    submitted in most layers. A span is copied if its text is the same in the other document.
    suggest: as suggestions, of classes, spans and numbers. overwrite: also replace labels of
    documents that are not pending in a layer.
    """
    copied = Copied()
    layers = {layer.name: layer for layer in schema.layers(project)}
    suggestions: list[NewSuggestion] = []
    title = ngettext(
        "Copy labels in {n:,} group of duplicates", "Copy labels in {n:,} groups of duplicates",
        len(groups))  # fmt: skip
    with project.edit(title, origin=origin, watch=watch.part(0.9, 1.0)):
        made_by = 0
        for page in watch.part(0.0, 0.9).over(groups, PAGE):
            parts: dict[int, _Part] = {}
            for members in _members(project, page):
                parts |= _copies(members, source, layers, copied, overwrite or suggest)
            copied.documents += len(parts)
            if suggest:
                for id, part in parts.items():
                    suggestions += _suggestions(id, part.record, layers)
            elif parts:  # a source alone would be a step that changes nothing
                made_by = made_by or project.source("rule", REF, annotator=False)
                replace_labels(
                    project.db,
                    [(id, part.record, part.layers) for id, part in parts.items()],
                    source_id=made_by,
                )
        if suggestions:
            copied.labels = suggestion_edits.add_suggestions(
                project, None, suggestions, kind="rule", ref=REF
            )
            copied.documents = len({suggestion.document_id for suggestion in suggestions})
    return copied


def _copies(
    members: Sequence[Record],
    source: int | None,
    layers: Mapping[str, Layer],
    copied: Copied,
    overwrite: bool,
) -> dict[int, _Part]:
    """Document → what it gets from the best or the given document of its group."""
    first = max(
        members,
        key=lambda member: (
            row_id(member.document) == source,
            len(_submitted(member)),
            -row_id(member.document),
        ),
    )
    parts = {}
    for member in members:
        if member is first:
            continue
        part = _copy(first, member, layers, copied, overwrite)
        if part.layers:
            parts[row_id(member.document)] = part
    return parts


def _submitted(record: Record) -> list[str]:
    return [name for name, state in record.states.items() if state == "submitted"]


def _copy(
    first: Record, member: Record, layers: Mapping[str, Layer], copied: Copied, overwrite: bool
) -> _Part:
    part = _Part(Record(member.document))
    target, states = _Target(first, member), dict[str, str]()
    values: dict[str, dict[str, object]] = defaultdict(dict)
    # Spans before relations, which refer to them.
    order = sorted(_submitted(first), key=lambda name: layers[name].traits.record == RELATIONS)
    for name in order:
        layer = layers[name]
        if layer.texts != member.document.form:
            continue
        if name in member.states and not overwrite:
            continue
        known = _of(first, layer.traits.record).get(name)
        value, lost = target.take(layer, known)
        if value and layer.traits.record == RELATIONS:
            value, missing = _between(value, _places(member, part.layers, values[SPANS], layers))
            lost += missing
        same = _plain(value) == _plain(_of(member, layer.traits.record).get(name))
        if same and not lost and member.states.get(name) == "submitted":
            continue
        states[name] = "draft" if lost else "submitted"
        if value:
            values[_FIELDS.get(layer.traits.record, layer.traits.record)][name] = value
            copied.labels += len(value) if isinstance(value, tuple) else 1
        copied.lost += lost
        part.layers.append(row_id(layer))
    part.record = replace(part.record, states=states, **values)  # type: ignore[arg-type]  # by name
    return part


def _of(record: Record, part: str) -> Mapping[str, object]:
    values: Mapping[str, object] = getattr(record, _FIELDS.get(part, part))
    return values


def _plain(value: object) -> object:
    """Spans and relations by what does not differ between two documents."""
    if not isinstance(value, tuple):
        return value
    return sorted((getattr(item, "place", item) for item in value), key=repr)


def _places(
    member: Record,
    replaced: Sequence[int],
    copied: Mapping[str, Any],
    layers: Mapping[str, Layer],
) -> set[object]:
    """The places of the spans that a document will have."""
    remaining = [
        spans for name, spans in member.spans.items() if row_id(layers[name]) not in replaced
    ]
    return {span.place for spans in (*remaining, *copied.values()) for span in spans}


def _between(value: Any, places: set[object]) -> tuple[object, int]:
    """The relations whose spans are there, and how many are not."""
    relations = list(value)
    inside = tuple(
        item for item in relations if {item.from_span.place, item.to_span.place} <= places
    )
    return inside or None, len(relations) - len(inside)


class _Target:
    """Carries the labels of one document over to another."""

    def __init__(self, first: Record, member: Record):
        self.first, self.member = first.document, member.document
        self.equal = first.document.texts == member.document.texts
        self._by_field: dict[str, Carrying] = {}

    def take(self, layer: Layer, value: Any) -> tuple[object, int]:
        """The value for the other document, and how many of its parts are lost."""
        record = layer.traits.record
        if record == SPANS:
            spans = [self.span(item) for item in value or ()]
            copied = tuple(replace(span, score=None) for span in spans if span is not None)
            return copied or None, len(spans) - len(copied)
        if self.equal or value is None:
            return value, 0
        if record == RELATIONS:
            return self._relations(value)
        if record == ANSWERS:
            return self._questions(value)
        # The choices of a similar document may have another order.
        return (None, 1) if layer.traits.in_choices else (value, 0)

    def span(self, span: Span) -> Span | None:
        if self.equal:
            return replace(span, id=None)
        if span.field not in self.member.fields:
            return None
        return self._carrying(span.field).span(span)

    def _carrying(self, name: str) -> Carrying:
        if name not in self._by_field:
            self._by_field[name] = Carrying(self.first.content(name), self.member.content(name))
        return self._by_field[name]

    def _relations(self, value: Any) -> tuple[object, int]:
        relations = []
        for item in value:
            ends = self.span(item.from_span), self.span(item.to_span)
            if all(ends):
                relations.append(
                    replace(item, from_span=ends[0], to_span=ends[1], score=None, id=None)
                )
        return tuple(relations) or None, len(value) - len(relations)

    def _questions(self, value: Any) -> tuple[object, int]:
        questions, lost = [], 0
        carrying = self._carrying(self.first.fields[0])
        for item in value:
            moved = [carrying.range(*answer) for answer in item.answers]
            answers = tuple(answer for answer in moved if answer is not None)
            lost += len(moved) - len(answers)
            questions.append(replace(item, answers=answers))
        return tuple(questions), lost


def _suggestions(id: int, record: Record, layers: Mapping[str, Layer]) -> Iterator[NewSuggestion]:
    for name, classes in record.marks.items():
        layer = layers[name]
        for label in classes:
            yield NewSuggestion(id, row_id(layer), layer.label(label).id)
    for name, number in record.numbers.items():
        yield NewSuggestion(id, row_id(layers[name]), None, value=number)
    for name, spans in record.spans.items():
        layer = layers[name]
        for span in spans:
            if not span.parts:
                what = row_id(layer), layer.label(span.label).id
                yield NewSuggestion(id, *what, span.start, span.end, span.field)


def describe(copied: Copied) -> str:
    """What was copied, as sentences."""
    n = copied.documents
    if not n:
        return _("Nothing to copy: the duplicates lack no labels of a submitted document.")
    words = ngettext(
        "{n:,} document got the labels of its duplicate.",
        "{n:,} documents got the labels of their duplicates.",
        n,
    )
    if copied.lost:
        more = ngettext(
            "{n:,} label could not be aligned with the other text; its document is a draft.",
            "{n:,} labels could not be aligned with the other text; their documents are drafts.",
            copied.lost,
        )
        words = _("{first} {second}", first=words, second=more)
    return words
