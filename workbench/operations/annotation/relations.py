"""Relations between spans, chains of coreferent spans, spans in several parts.

Every call is one undo step. Deleting a span deletes its relations.
"""

from __future__ import annotations

from typing import NamedTuple

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.operations.annotation.annotate import start_draft
from workbench.operations.annotation.relation_rules import arrow
from workbench.operations.schema import label_changes
from workbench.project.project import Project
from workbench.storage.annotation import annotations as annotation_rows
from workbench.storage.annotation import relations as store
from workbench.storage.annotation.annotations import SpanRow
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.text.labels import Layer
from workbench.text.relations import allowed, directed, span_layer
from workbench.text.rows import row_id
from workbench.text.spans import Span, joined


class Ends(NamedTuple):
    """The two spans of a relation."""

    from_span: SpanRow
    to_span: SpanRow


def add_relation(
    project: Project, from_span: int, to_span: int, label_id: int, *, origin: object = None
) -> int:
    """Connect two spans; returns the id of the relation. An identical one is not added again,
    without a direction neither the other way round.

    Raises WorkbenchError if the rules of the layer do not allow it.
    """
    layer, label = label_changes.place_of(project, label_id)
    ends = _ends(project, from_span, to_span)
    _check(project, layer, label.name, ends)
    document = ends.from_span.document_id
    with project.edit(_("Add {label}", label=label.name), origin=origin):
        id = store.add_relation(
            project.db, document, row_id(layer), label_id, from_span, to_span,
            annotator_id=project.gold(row_id(layer)), source_id=project.source("person"),
        )  # fmt: skip
        start_draft(project, document, row_id(layer))
    return id


def take_relation(
    project: Project,
    document_id: int,
    layer: Layer,
    label_id: int,
    ends: tuple[Span, Span],
    *,
    source_id: int,
    score: float | None = None,
) -> None:
    """Make a predicted relation gold. A span that the document lacks is added to the layer that the
    relations connect, with its label or the first one. Part of an edit.

    Raises WorkbenchError if the layer names no spans, or its rules do not allow the relation.
    """
    of = _connected(project, layer)
    known = {label.name: row_id(label) for label in of.labels}
    span_ids = []
    for span in ends:
        label = known.get(span.label, next(iter(known.values()), None))
        rows = [
            row
            for row in annotation_rows.spans(project.db, document_id)
            if (row.layer_id, row.field, row.start, row.end)
            == (of.id, span.field, span.start, span.end)
        ]
        if rows:
            span_ids.append(min(rows, key=lambda row: row.label_id != label).id)
            continue
        span_ids.append(
            annotation_rows.add_span(
                project.db, document_id, row_id(of), label, span.start, span.end, field=span.field,
                annotator_id=project.gold(row_id(of)), source_id=source_id,
            )
        )  # fmt: skip
        start_draft(project, document_id, row_id(of))
    name = label_changes.place_of(project, label_id)[1].name
    _check(project, layer, name, _ends(project, *span_ids))
    store.add_relation(
        project.db, document_id, row_id(layer), label_id, *span_ids,
        annotator_id=project.gold(row_id(layer)), source_id=source_id, score=score,
    )  # fmt: skip


def delete_gold(
    project: Project, document_id: int, layer: Layer, label_id: int | None, ends: tuple[Span, Span]
) -> bool:
    """Delete the relations of a layer with this label between two places. Part of an edit.

    Returns whether there were any.
    """
    spans = {row.id: (row.start, row.end) for row in annotation_rows.spans(project.db, document_id)}
    places = [(span.start, span.end) for span in ends]
    names = {label.id: label.name for label in layer.labels}
    ways = [places] if directed(layer, names.get(label_id, "")) else [places, places[::-1]]
    rows = [
        row.id
        for row in store.relations(project.db, document_id)
        if (row.layer_id, row.label_id) == (layer.id, label_id)
        and [spans.get(row.from_span), spans.get(row.to_span)] in ways
    ]
    for id in rows:
        store.delete_relation(project.db, id)
    return bool(rows)


def relabel_relation(
    project: Project, relation_id: int, label_id: int, *, origin: object = None
) -> None:
    """Give a relation another label of its layer. Raises WorkbenchError as `add_relation`."""
    row = store.relation(project.db, relation_id)
    layer, label = label_changes.place_of(project, label_id)
    if layer.id != row.layer_id:
        raise WorkbenchError(
            _("{label} belongs to a different layer than the relation.", label=label.name)
        )
    if row.label_id == label_id:
        return
    _check(project, layer, label.name, _ends(project, row.from_span, row.to_span))
    with project.edit(_("Change label to {label}", label=label.name), origin=origin):
        store.update_relation(
            project.db, relation_id, label_id=label_id, source_id=project.source("person")
        )
        start_draft(project, row.document_id, row.layer_id)


def reverse_relation(project: Project, relation_id: int, *, origin: object = None) -> None:
    """Exchange both ends of a relation. Raises WorkbenchError as `add_relation`."""
    row = store.relation(project.db, relation_id)
    if row.label_id is not None:
        layer, label = label_changes.place_of(project, row.label_id)
        _check(project, layer, label.name, _ends(project, row.to_span, row.from_span))
    with project.edit(_("Reverse relation"), origin=origin):
        store.update_relation(
            project.db, relation_id, reverse=True, source_id=project.source("person")
        )
        start_draft(project, row.document_id, row.layer_id)


def delete_relation(project: Project, relation_id: int, *, origin: object = None) -> None:
    """A draft without any annotation left in the layer becomes pending."""
    row = store.relation(project.db, relation_id)
    with project.edit(_("Delete relation"), origin=origin):
        store.delete_relation(project.db, relation_id)
        start_draft(project, row.document_id, row.layer_id)
        annotation_rows.reset_untouched(
            project.db, [row.document_id], row.layer_id, project.gold(row.layer_id)
        )


def _ends(project: Project, from_span: int, to_span: int) -> Ends:
    try:
        spans = [annotation_rows.span(project.db, id) for id in (from_span, to_span)]
    except KeyError:
        raise WorkbenchError(_("This span has been deleted.")) from None
    return Ends(*spans)


def _check(project: Project, layer: Layer, label: str, ends: Ends) -> None:
    """Raises WorkbenchError if a relation with this label may not connect the spans."""
    span_row, other = ends
    if span_row.id == other.id:
        raise WorkbenchError(
            _("A relation connects two spans."), hint=_("Choose another span as its target.")
        )
    of = _connected(project, layer)
    if span_row.document_id != other.document_id or {span_row.layer_id, other.layer_id} != {of.id}:
        raise WorkbenchError(
            _("{layer} connects spans of the layer {spans}.", layer=layer.name, spans=of.name)
        )
    names = {row_id(each): each.name for each in of.labels}
    from_label, to_label = (names.get(span.label_id or 0, "") for span in ends)
    if not allowed(layer, label, from_label, to_label):
        raise WorkbenchError(
            _(
                "{label} may not connect {pair}.",
                label=label,
                pair=arrow(layer, label, from_label, to_label),
            ),
            hint=_("Allowed pairs are listed under Rules on the Labels page."),
        )


def _connected(project: Project, layer: Layer) -> Layer:
    """The layer whose spans a relation layer connects. Raises WorkbenchError without one."""
    of = labels.layer_by_name(project.db, span_layer(layer))
    if of is None:
        raise WorkbenchError(
            _("The layer {layer} does not specify which spans it connects.", layer=layer.name),
            hint=_("Choose their layer under Rules on the Labels page."),
        )
    return of


# ---------------------------------------------------------------- chains


def merge_chains(project: Project, span_id: int, other_id: int, *, origin: object = None) -> int:
    """Put all spans of the chain of `span_id` into the chain of `other_id`; returns its number."""
    spans = _mentions(project, span_id, other_id)
    with project.edit(_("Merge chains"), origin=origin):
        span, other = spans.from_span, spans.to_span
        chain = _chain_of(project, other)
        moved = [span.id]
        if span.chain is not None:
            who = project.gold(span.layer_id)
            moved = store.in_chain(
                project.db, span.document_id, span.layer_id, span.chain, annotator_id=who
            )
        _put(project, moved, chain, span)
    return chain


def move_to_chain(project: Project, span_id: int, other_id: int, *, origin: object = None) -> int:
    """Put one span into the chain of another; returns its number."""
    spans = _mentions(project, span_id, other_id)
    with project.edit(_("Move to another chain"), origin=origin):
        chain = _chain_of(project, spans.to_span)
        _put(project, [span_id], chain, spans.from_span)
    return chain


def split_off(project: Project, span_id: int, *, origin: object = None) -> int:
    """Put a span into a chain of its own; returns the number of the chain."""
    span = annotation_rows.span(project.db, span_id)
    with project.edit(_("Split off into a new chain"), origin=origin):
        chain = store.free_chain(project.db, span.document_id, span.layer_id)
        _put(project, [span_id], chain, span)
    return chain


def _put(project: Project, span_ids: list[int], chain: int, span: SpanRow) -> None:
    store.set_chain(project.db, span_ids, chain, source_id=project.source("person"))
    start_draft(project, span.document_id, span.layer_id)


def _chain_of(project: Project, span: SpanRow) -> int:
    """The number of its chain; a span without one starts a new chain."""
    if span.chain is not None:
        return span.chain
    chain = store.free_chain(project.db, span.document_id, span.layer_id)
    _put(project, [span.id], chain, span)
    return chain


def _mentions(project: Project, span_id: int, other_id: int) -> Ends:
    """Raises WorkbenchError unless both are different spans of one layer of chains."""
    ends = _ends(project, span_id, other_id)
    span, other = ends
    layer = labels.layer(project.db, span.layer_id)
    if (
        span.id == other.id
        or not layer.traits.in_chains
        or (span.document_id, span.layer_id) != (other.document_id, other.layer_id)
    ):
        raise WorkbenchError(_("Choose another span of the same layer of chains."))
    return ends


# ---------------------------------------------------------------- spans in several parts


def add_part(
    project: Project, span_id: int, start: int, end: int, *, origin: object = None
) -> None:
    """Add code points [start, end) to a span as another part; parts that touch are joined.

    Raises WorkbenchError if they lie outside the text.
    """
    span = annotation_rows.span(project.db, span_id)
    length = len(documents.get(project.db, span.document_id).content(span.field))
    if not 0 <= start < end <= length:
        message = _("Span {start}–{end} is outside the text of length {length}.")
        raise WorkbenchError(message.format(start=start, end=end, length=length))
    _set_ranges(project, span, joined([*span.ranges, (start, end)]), _("Add part"), origin)


def remove_part(project: Project, span_id: int, position: int, *, origin: object = None) -> None:
    """Remove the part at a position from a span in several parts."""
    span = annotation_rows.span(project.db, span_id)
    left = [(start, end) for start, end in span.ranges if not start <= position < end]
    if left:
        _set_ranges(project, span, tuple(left), _("Remove part"), origin)


def _set_ranges(
    project: Project,
    span: SpanRow,
    ranges: tuple[tuple[int, int], ...],
    title: str,
    origin: object,
) -> None:
    if ranges == span.ranges:
        return
    with project.edit(title, origin=origin):
        annotation_rows.update_span(
            project.db, span.id, start=ranges[0][0], end=ranges[-1][1],
            parts=ranges if len(ranges) > 1 else (), source_id=project.source("person"),
        )  # fmt: skip
        start_draft(project, span.document_id, span.layer_id)
