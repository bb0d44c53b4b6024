"""All that Annotate shows of a document, read at once and kept up to date after edits."""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

from workbench.base.ordered_rows import OrderedRows
from workbench.project.changes import Changes
from workbench.project.project import Project
from workbench.storage.annotation import annotations as annotation_rows
from workbench.storage.annotation import answers, document_values
from workbench.storage.annotation import relations as relation_rows
from workbench.storage.annotation import suggestions as proposals
from workbench.storage.annotation.annotations import MarkRow, SpanRow
from workbench.storage.annotation.answers import AskedQuestion
from workbench.storage.annotation.document_values import WrittenRow
from workbench.storage.annotation.relations import RelationRow
from workbench.storage.annotation.suggestions import SuggestionRow
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.text.document import Document
from workbench.text.labels import Layer
from workbench.text.rows import row_id


class SpanRows(OrderedRows[SpanRow]):
    """Spans in text order; longer ones first."""

    @staticmethod
    def order(row: SpanRow) -> tuple[str, int, int, int]:
        return row.field, row.start, -row.end, row.id

    @cached_property
    def of_layers(self) -> Counter[int]:
        """Number of spans of each layer that has any."""
        return Counter(row.layer_id for row in self)

    def exchanged(self, gone: Iterable[int], come: Iterable[SpanRow]) -> Self:
        rows = super().exchanged(gone, come)
        counts = self.of_layers.copy()
        counts.subtract(row.layer_id for row in rows.change.gone)
        counts.update(row.layer_id for row in rows.change.come)
        rows.__dict__["of_layers"] = +counts  # without zeros
        return rows


@dataclass(frozen=True)
class DocumentView:
    """All data that Annotate shows for a document.

    `states`: layer id → state, for every applicable layer.
    """

    document: Document
    layers: tuple[Layer, ...]
    marks: tuple[MarkRow, ...]
    spans: SpanRows
    suggestions: tuple[SuggestionRow, ...]
    states: Mapping[int, str] = field(hash=False)
    questions: tuple[AskedQuestion, ...] = field(default=(), hash=False)
    written: tuple[WrittenRow, ...] = ()
    relations: tuple[RelationRow, ...] = ()

    @property
    def labelled(self) -> frozenset[int]:
        """Ids of the layers in which the document has a label or an answered question."""
        ids = {row.layer_id for row in self.marks}
        ids |= {row.layer_id for row in self.written}
        ids |= {row.layer_id for row in self.relations}
        ids |= {row.layer_id for row in self.questions if not row.question.is_open}
        return frozenset(ids | self.spans.of_layers.keys())

    def value(self, layer_id: int) -> float | str | None:
        """The number or the written text that the document has in a layer."""
        texts = [row.text for row in self.written if row.layer_id == layer_id]
        numbers = [row.value for row in self.marks if row.layer_id == layer_id]
        return texts[0] if texts else numbers[0] if numbers else None


def view(project: Project, document_id: int) -> DocumentView:
    """Raises KeyError if the document was deleted."""
    db = project.db
    document = documents.get(db, document_id)
    mine = layers_for(project, document)
    states = annotation_rows.states(db, document_id)
    return DocumentView(
        document,
        mine,
        annotation_rows.marks(db, document_id),
        SpanRows(annotation_rows.spans(db, document_id)),
        proposals.suggestions(db, document_id),
        {id: states.get(id, "pending") for id in map(row_id, mine)},
        answers.asked(db, document_id),
        document_values.written(db, document_id),
        relation_rows.relations(db, document_id),
    )


def refreshed(project: Project, doc: DocumentView, changes: Changes) -> DocumentView:
    """The view updated after `changes`. Only changed spans are read; the others stay the same
    objects.

    Raises KeyError if the document was deleted.
    """
    id = row_id(doc.document)
    few = (
        changes.rows is not None
        and not changes.touches("layer")
        and not changes.touches("label")
        and not changes.touches("document", id)
    )
    if not few:
        return view(project, id)
    db = project.db
    spans = (
        _mended(project, doc, changes.rows["span"])
        if changes.rows is not None and changes.touches("span", id)
        else doc.spans
    )
    marks = annotation_rows.marks(db, id) if changes.touches("mark", id) else doc.marks
    open_ones = (
        {"suggestion", "span", "mark", "answer"} if doc.suggestions else {"suggestion"}
    )  # suggestions equal to gold are hidden
    suggestions = (
        proposals.suggestions(db, id)
        if any(changes.touches(table, id) for table in open_ones)
        else doc.suggestions
    )
    states = annotation_rows.states(db, id) if changes.touches("state", id) else doc.states
    document, questions = doc.document, doc.questions
    if changes.touches("answer", id):
        document, questions = documents.get(db, id), answers.asked(db, id)
    return DocumentView(
        document,
        doc.layers,
        marks,
        spans,
        suggestions,
        {layer: states.get(layer, "pending") for layer in map(row_id, doc.layers)},
        questions,
        document_values.written(db, id) if changes.touches("answer", id) else doc.written,
        _mended_relations(project, doc, changes.rows["relation"])
        if changes.rows is not None and changes.touches("relation", id)
        else doc.relations,
    )


def _mended_relations(
    project: Project, view: DocumentView, ids: Iterable[int]
) -> tuple[RelationRow, ...]:
    changed = set(ids)
    relations = [row for row in view.relations if row.id not in changed]
    for id in changed:
        try:
            row = relation_rows.relation(project.db, id)
        except KeyError:
            continue  # deleted
        if row.document_id == view.document.id:
            insort(relations, row, key=lambda item: item.order)
    return tuple(relations)


def _mended(project: Project, view: DocumentView, ids: Iterable[int]) -> SpanRows:
    changed, come = set(ids), []
    for id in changed:
        try:
            row = annotation_rows.span(project.db, id)
        except KeyError:
            continue  # deleted
        if row.document_id == view.document.id:
            come.append(row)
    return view.spans.exchanged(changed, come)


def layers_for(project: Project, document: Document) -> tuple[Layer, ...]:
    """The layers that apply to a document: those for its number of texts."""
    return tuple(layer for layer in labels.layers(project.db) if layer.texts == document.form)
