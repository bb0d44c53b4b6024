"""Labelling a document: classes, spans, states, each call one undo step; and the queue."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import replace

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.operations.annotation.document_view import DocumentView, layers_for
from workbench.operations.schema.labels import add_labels
from workbench.project.project import Project
from workbench.storage.annotation import annotations as annotation_rows
from workbench.storage.annotation import relations as relation_rows
from workbench.storage.annotation import states as storage_states
from workbench.storage.annotation.annotations import MarkRow, SpanRow
from workbench.storage.annotation.document_values import WrittenRow
from workbench.storage.annotation.relations import RelationRow
from workbench.storage.annotation.suggestions import NewSuggestion, SuggestionRow
from workbench.storage.documents import bulk, documents
from workbench.storage.labels import labels
from workbench.storage.queries import listing, unfinished
from workbench.storage.queries import queue as storage_queue
from workbench.storage.queries.listing import DocumentRow, Filter, LoadedDocument
from workbench.storage.queries.queue import TO_DO, SourceFile
from workbench.text.document import Document, choice_names
from workbench.text.labels import MARKS, SPANS, Layer
from workbench.text.rows import row_id

__all__ = [
    "TO_DO", "DocumentRow", "Filter", "MarkRow", "NewSuggestion", "RelationRow", "SourceFile",
    "SpanRow", "SuggestionRow", "WrittenRow",
]  # fmt: skip


# ---------------------------------------------------------------- spans


def add_span(
    project: Project,
    document_id: int,
    start: int,
    end: int,
    label_id: int,
    *,
    field: str = "text",
    chain: int | None = None,
    document: Document | None = None,
    origin: object = None,
) -> int:
    """Label code points [start, end) of one text; returns the span id. An identical span is not
    added again. In a layer of chains it joins `chain`, by default a new one. `document`: the
    document if it is loaded already.

    Raises WorkbenchError if the offsets are outside the text or the layer does not apply to the
    document.
    """
    document = document or documents.get(project.db, document_id)
    layer, label = _layer_and_label(project, label_id)
    check_layer(document, layer, SPANS)
    _check_offsets(document, field, start, end)
    with project.edit(_("Add {label}", label=label), origin=origin):
        who = project.gold(row_id(layer))
        make_room(project, document_id, layer, start, end, field)
        id = annotation_rows.add_span(
            project.db,
            document_id,
            row_id(layer),
            label_id,
            start,
            end,
            field=field,
            annotator_id=who,
            source_id=project.source("person"),
            chain=_chain(project, document_id, layer, chain),
        )
        start_draft(project, document_id, row_id(layer))
    return id


def _chain(project: Project, document_id: int, layer: Layer, chain: int | None) -> int | None:
    """The chain of a new span: the given one, else a new one; None outside of layers of chains."""
    if not layer.traits.in_chains:
        return None
    return chain or relation_rows.free_chain(project.db, document_id, row_id(layer))


def relabel_span(project: Project, span_id: int, label_id: int, *, origin: object = None) -> None:
    """Change the label of a span to another label of its layer.

    Raises WorkbenchError if the label belongs to another layer.
    """
    span = annotation_rows.span(project.db, span_id)
    layer, label = _layer_and_label(project, label_id)
    if layer.id != span.layer_id:
        raise WorkbenchError(_("{label} belongs to a different layer than the span.", label=label))
    if span.label_id == label_id:
        return
    with project.edit(_("Change label to {label}", label=label), origin=origin):
        annotation_rows.update_span(
            project.db, span_id, label_id=label_id, source_id=project.source("person")
        )
        start_draft(project, span.document_id, layer.id)


def resize_span(
    project: Project, span_id: int, start: int, end: int, *, origin: object = None
) -> None:
    """Change the offsets of a span. Raises WorkbenchError if they are outside the text."""
    span = annotation_rows.span(project.db, span_id)
    if (start, end) == (span.start, span.end):
        return
    _check_offsets(documents.get(project.db, span.document_id), span.field, start, end)
    with project.edit(_("Move span boundary"), origin=origin):
        annotation_rows.update_span(
            project.db, span_id, start=start, end=end, source_id=project.source("person"),
            parts=_between(span.parts, start, end),
        )  # fmt: skip
        start_draft(project, span.document_id, span.layer_id)


def _between(
    parts: tuple[tuple[int, int], ...], start: int, end: int
) -> tuple[tuple[int, int], ...]:
    """The parts of a span whose boundaries have moved to `start` and `end`."""
    overlapping = [part for part in parts if part[1] > start and part[0] < end]
    if len(overlapping) < 2:
        return ()
    return (start, overlapping[0][1]), *overlapping[1:-1], (overlapping[-1][0], end)


def delete_span(project: Project, span_id: int, *, origin: object = None) -> None:
    """A draft without any annotation left in the layer becomes pending."""
    span = annotation_rows.span(project.db, span_id)
    with project.edit(_("Delete span"), origin=origin):
        touched = relation_rows.makers_of(project.db, span_id)
        annotation_rows.delete_span(project.db, span_id)
        start_draft(project, span.document_id, span.layer_id)
        for layer_id, who in ((span.layer_id, project.gold(span.layer_id)), *touched):
            annotation_rows.reset_untouched(project.db, [span.document_id], layer_id, who)
        reopen_empty(project, span.document_id, span.layer_id)


def _check_offsets(document: Document, field: str, start: int, end: int) -> None:
    try:
        length = len(document.content(field))
    except KeyError:
        raise WorkbenchError(
            _("{key} has no text {field!r}.", key=document.key, field=field)
        ) from None
    if not 0 <= start < end <= length:
        message = _("Span {start}–{end} is outside the text of length {length}.")
        raise WorkbenchError(message.format(start=start, end=end, length=length))


# ---------------------------------------------------------------- classes


def set_class(project: Project, document_id: int, label_id: int, *, origin: object = None) -> None:
    """Set the class of the document, replacing the current one; in a multi-label layer, add it.

    Raises WorkbenchError if the layer has no classes or the label is not one of the choices.
    """
    document = documents.get(project.db, document_id)
    layer, label = _layer_and_label(project, label_id)
    check_layer(document, layer, MARKS)
    if layer.traits.in_choices and label not in choice_names(len(document.choices)):
        message = _("{label} is not among the choices of {key} ({n} in total).")
        raise WorkbenchError(message.format(key=document.key, n=len(document.choices), label=label))
    with project.edit(_("Set class {label}", label=label), origin=origin):
        who, source = project.gold(row_id(layer)), project.source("person")
        before = annotation_rows.marks(project.db, document_id)
        annotation_rows.set_mark(
            project.db,
            document_id,
            row_id(layer),
            label_id,
            annotator_id=who,
            source_id=source,
            many=layer.traits.several,
        )
        if annotation_rows.marks(project.db, document_id) != before:
            start_draft(project, document_id, row_id(layer))


def choose(
    project: Project, document_id: int, layer_id: int, number: int, *, origin: object = None
) -> None:
    """Make a choice, 1 for the first, the right one of its document."""
    layer = labels.layer(project.db, layer_id)
    name = str(number)
    with project.edit(_("Choose {number}", number=name), origin=origin):
        if name not in layer.names:
            add_labels(project, layer_id, choice_names(number)[len(layer.labels) :], origin=origin)
            layer = labels.layer(project.db, layer_id)
        set_class(project, document_id, row_id(layer.label(name)), origin=origin)


def clear_class(
    project: Project,
    document_id: int,
    layer_id: int,
    label_id: int | None = None,
    *,
    origin: object = None,
) -> None:
    """Remove a class, by default all classes of the layer.

    A submitted document without a class becomes a draft, as it cannot be used for training. A draft
    without any annotation left in the layer becomes pending.
    """
    db, who = project.db, project.gold(layer_id)
    with project.edit(_("Clear class"), origin=origin):
        annotation_rows.clear_mark(db, document_id, layer_id, who, label_id)
        annotation_rows.reset_untouched(db, [document_id], layer_id, who)
        reopen_empty(project, document_id, layer_id)


# ---------------------------------------------------------------- states


def submit(
    project: Project, document_id: int, layer_ids: Iterable[int], *, origin: object = None
) -> tuple[str, ...]:
    """Submit the document in these layers only. Returns warnings: layers that lack a label stay
    drafts.

    Layers that do not apply to the document are skipped.
    """
    document = documents.get(project.db, document_id)
    chosen_ids = set(layer_ids)
    warnings = []
    with project.edit(_("Submit {key}", key=document.key), origin=origin):
        for layer in layers_for(project, document):
            if layer.id not in chosen_ids:
                continue
            missing = not layer.traits.empty_is_answer and not _labels_in(
                project, document_id, layer
            )
            if missing:
                warnings.append(without_label(layer))
            annotation_rows.set_state(
                project.db,
                [document_id],
                row_id(layer),
                project.gold(row_id(layer)),
                "draft" if missing else "submitted",
            )
    return tuple(warnings)


def discard(
    project: Project, document_id: int, layer_ids: Iterable[int], *, origin: object = None
) -> None:
    """Mark the document as discarded in these layers: not to be labelled, not used for training."""
    _set_states(project, document_id, layer_ids, "discarded", _("Discard {key}"), origin)


def reopen(
    project: Project, document_id: int, layer_ids: Iterable[int], *, origin: object = None
) -> None:
    """Set the state back to draft, so that the document is in the queue again."""
    _set_states(project, document_id, layer_ids, "draft", _("Reopen {key}"), origin)


def _set_states(
    project: Project,
    document_id: int,
    layer_ids: Iterable[int],
    state: str,
    title: str,
    origin: object,
) -> None:
    document = documents.get(project.db, document_id)
    chosen_ids = set(layer_ids)
    with project.edit(title.format(key=document.key), origin=origin):
        for layer in layers_for(project, document):
            if layer.id in chosen_ids:
                annotation_rows.set_state(
                    project.db, [document_id], row_id(layer), project.gold(row_id(layer)), state
                )


def start_draft(project: Project, document_id: int, layer_id: int) -> None:
    """Labels are changed: pending and discarded become draft; submitted stays submitted.

    Raises WorkbenchError if the labels of the layer are read-only.
    """
    labels.require_editable(project.db, layer_id)
    annotation_rows.start_draft(project.db, document_id, layer_id, project.gold(layer_id))


def without_label(layer: Layer) -> str:
    """The warning for a layer in which the document has no label although one is required."""
    return _(layer.traits.missing, layer=layer.name)


def _labels_in(project: Project, document_id: int, layer: Layer) -> bool:
    """Whether the document has a label in the layer."""
    return not bulk.without_label(
        project.db, [document_id], row_id(layer), project.gold(row_id(layer))
    )


def reopen_empty(project: Project, document_id: int, layer_id: int) -> None:
    """A submitted document without a label becomes a draft if the layer requires one."""
    db, who = project.db, project.gold(layer_id)
    layer = labels.layer(db, layer_id)
    if layer.traits.empty_is_answer or _labels_in(project, document_id, layer):
        return
    if annotation_rows.state(db, document_id, layer_id, who) == "submitted":
        annotation_rows.set_state(db, [document_id], layer_id, who, "draft")


# ---------------------------------------------------------------- suggestions


def make_room(
    project: Project, document_id: int, layer: Layer, start: int, end: int, field: str
) -> None:
    """Remove the old label in layers with one label per position, before a new one is added."""
    if not layer.traits.several:
        id = row_id(layer)
        annotation_rows.delete_overlapping(
            project.db, document_id, id, start, end, field, annotator_id=project.gold(id)
        )


def _layer_and_label(project: Project, label_id: int) -> tuple[Layer, str]:
    try:
        layer_id, label = labels.label(project.db, label_id)
    except KeyError:
        raise WorkbenchError(_("This label has been deleted.")) from None
    return labels.layer(project.db, layer_id), label.name


def check_layer(document: Document, layer: Layer, part: str) -> None:
    """`part` is the annotation type that the layer must hold, MARKS or SPANS.

    Raises WorkbenchError if it holds another, or is for documents with another number of texts.
    """
    if layer.traits.record != part:
        raise WorkbenchError(
            _(
                "The layer {layer!r} holds other annotations: {kind}.",
                layer=layer.name,
                kind=_(layer.traits.title),
            )
        )
    if layer.texts != document.form:
        message = ngettext(
            "The layer {layer!r} is for documents with {n} text; {key} has {m}.",
            "The layer {layer!r} is for documents with {n} texts; {key} has {m}.",
            layer.texts,
        )
        raise WorkbenchError(
            message.format(layer=layer.name, n=layer.texts, key=document.key, m=document.form)
        )


# ---------------------------------------------------------------- the queue


def queue(project: Project, where: Filter | None = None) -> array[int]:
    """Ids of the documents in the queue, in order."""
    return documents.ids(project.db, where or Filter())


def queue_size(project: Project, where: Filter) -> int:
    """Number of documents in the queue."""
    return listing.count(project.db, where)


def source_files(project: Project) -> tuple[SourceFile, ...]:
    """The files that the documents were imported from."""
    return storage_queue.source_files(project.db)


def queue_page(
    project: Project,
    ids: Sequence[int],
    layer_ids: Sequence[int],
    *,
    shown: DocumentView | None = None,
) -> tuple[DocumentRow, ...]:
    """Labels and states of these documents in these layers, as shown in the queue.

    A document to which none of the layers applies is pending. `shown`: the open document, whose
    text and spans are not read again.
    """
    known = {}
    if shown is not None:
        counts = shown.spans.of_layers
        texts = tuple(content for _field, content in shown.document.texts)
        known[row_id(shown.document)] = LoadedDocument(texts, sum(counts[id] for id in layer_ids))
    rows = documents.rows(project.db, ids, layer_ids, known=known)
    return tuple(replace(row, state=row.state or "pending") for row in rows)


def overall(states: Iterable[str]) -> str:
    """The combined state of a document in several layers (`storage.annotation.states.overall`).

    Pending if there are none.
    """
    return storage_states.overall(states) or "pending"


def neighbour(
    project: Project, document_id: int | None, step: int, where: Filter | None = None
) -> int | None:
    """The next (`step` 1) or previous (-1) document that passes the filter; None at the end."""
    if document_id is None:
        document_id = 0 if step > 0 else 1 << 62
    return listing.neighbour(project.db, where or Filter(), document_id, step)


def next_unlabelled(
    project: Project,
    document_id: int | None,
    layer_ids: Sequence[int],
    where: Filter | None = None,
) -> int | None:
    """The next document that passes `where` and is unfinished in one of the layers.

    Continues at the start; None if all documents are finished.
    """
    return unfinished.next_unlabelled(project.db, document_id, layer_ids, filter=where)


def any_finished(project: Project, layer_ids: Sequence[int]) -> bool:
    """Whether a document is submitted or discarded in one of these layers."""
    counts = [storage_states.counts(project.db, [layer_id]).states for layer_id in layer_ids]
    return any(each["submitted"] or each["discarded"] for each in counts)


def open_count(project: Project, layer_ids: Sequence[int]) -> int:
    """Number of documents that are unfinished in these layers."""
    return unfinished.open_count(project.db, layer_ids)
