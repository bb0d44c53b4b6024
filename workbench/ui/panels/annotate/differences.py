"""How the prediction under review differs from gold. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from workbench.text import result_view
from workbench.text.document import TEXT
from workbench.text.fields import Relations
from workbench.text.relations import directed
from workbench.text.rows import row_id
from workbench.text.spans import Span, flatten

if TYPE_CHECKING:
    from workbench.operations.annotation.annotate import SpanRow
    from workbench.text.relations import Relation
    from workbench.text.result_view import Answer
    from workbench.ui.panels.annotate.session import DocumentSession


class UnmatchedPrediction(NamedTuple):
    """A predicted span that gold does not have."""

    field: str
    start: int
    end: int
    label: str
    score: float | None
    chain: int | None = None


class Differences(NamedTuple):
    """Differences between prediction and gold.

    chains: predicted chains that gold does not have, each with all of its mentions.
    spans: false positives; missed: ids of gold spans that were not predicted.
    labels: of the document, predicted and not gold; missed_labels: gold and not predicted, in a
    layer with several labels per document. value: the predicted number or text, if gold is another.
    relations: predicted and not gold; missed_relations: ids of gold ones that were not predicted.
    """

    spans: tuple[UnmatchedPrediction, ...] = ()
    missed: frozenset[int] = frozenset()
    labels: tuple[str, ...] = ()
    missed_labels: tuple[str, ...] = ()
    value: float | str | None = None
    chains: tuple[tuple[UnmatchedPrediction, ...], ...] = ()
    relations: tuple[Relation, ...] = ()
    missed_relations: frozenset[int] = frozenset()


def differences(session: DocumentSession) -> Differences:
    """Differences for the open document; empty outside of an error review."""
    if session.predicted is None or session.doc is None:
        return Differences()
    answers, view = session.predicted_answers, result_view.of(session.predicted)
    if view.on_document:
        return _different_labels(session, answers)
    if view.asks:
        return Differences()
    if view.field is Relations:
        return _different_relations(session, answers)
    values = (a.written if a.value is None else a.value for a in answers)
    if (value := next(values, None)) is not None:
        gold_value = session.doc.value(session.run_layer) if session.run_layer is not None else None
        return Differences(value=None if gold_value == value else value)
    names = session.label_of
    mine = [
        row for row in session.spans if row.layer_id == session.run_layer and row.label_id in names
    ]
    gold = {
        (row.field, row.start, row.end, names[row.label_id][1].name): row.id
        for row in mine
        if row.label_id is not None
    }
    answered = {
        (answer.field, answer.start, answer.end, answer.label): answer.score
        for answer in answers
        if answer.start is not None and answer.end is not None
    }
    extra = tuple(
        UnmatchedPrediction(*key, score) for key, score in answered.items() if key not in gold
    )
    if any(answer.chain is not None for answer in answers):
        chain_of = {row.id: row.chain for row in mine}
        missed = frozenset(id for key, id in gold.items() if key not in answered)
        extra, chains = _different_chains({key: chain_of[id] for key, id in gold.items()}, answers)
        return Differences(extra, missed, chains=chains)
    read = _learned(session, mine)
    missed = frozenset(id for key, id in gold.items() if key not in answered and id in read)
    return Differences(extra, missed)


def _different_relations(session: DocumentSession, answers: Sequence[Answer]) -> Differences:
    """A relation is the same if its label and the places of its spans are; without a direction,
    in either order.
    """
    layer = next((layer for layer in session.layers if layer.id == session.run_layer), None)
    if layer is None:
        return Differences()

    def key(label: str, ends: Iterable[Span | SpanRow]) -> tuple[object, ...]:
        places = [(end.field, end.start, end.end) for end in ends]
        return label, *(places if directed(layer, label) else sorted(places))

    predicted = {
        key(relation.label, (relation.from_span, relation.to_span)): relation
        for relation in (answer.relation for answer in answers)
        if relation is not None
    }
    gold = {}
    for row in session.shown_doc.relations:
        ends = [session.span_of.get(id) for id in (row.from_span, row.to_span)]
        known = session.label_of.get(row.label_id) if row.label_id is not None else None
        if row.layer_id == layer.id and known is not None and None not in ends:
            gold[key(known[1].name, (end for end in ends if end is not None))] = row.id
    return Differences(
        relations=tuple(relation for place, relation in predicted.items() if place not in gold),
        missed_relations=frozenset(id for place, id in gold.items() if place not in predicted),
    )


def _different_chains(
    gold: Mapping[tuple[str, int, int, str], int | None], answers: Sequence[Answer]
) -> tuple[tuple[UnmatchedPrediction, ...], tuple[tuple[UnmatchedPrediction, ...], ...]]:
    """Mentions that gold lacks, and the predicted chains that it lacks. gold: with its chain; a
    mention without one is a chain of its own.
    """
    members: dict[object, set[tuple[str, int, int, str]]] = {}
    for key, chain in gold.items():
        members.setdefault(key if chain is None else chain, set()).add(key)
    predicted: dict[int | None, list[UnmatchedPrediction]] = {}
    for item in answers:
        if item.start is not None and item.end is not None:
            mention = UnmatchedPrediction(
                item.field, item.start, item.end, item.label, item.score, item.chain
            )
            predicted.setdefault(item.chain, []).append(mention)
    chains = tuple(
        tuple(chain)
        for chain in predicted.values()
        if {mention[:4] for mention in chain} not in members.values()
    )
    extra = (mention for chain in chains for mention in chain if mention[:4] not in gold)
    return tuple(extra), chains


def _different_labels(session: DocumentSession, answers: Sequence[Answer]) -> Differences:
    predicted = [answer.label for answer in answers]
    names = session.label_of
    several = any(layer.traits.several for layer in session.layers if layer.id == session.run_layer)
    gold = [
        names[mark.label_id][1].name
        for mark in session.shown_doc.marks
        if mark.label_id is not None
        and mark.layer_id == session.run_layer
        and mark.label_id in names
    ]
    return Differences(
        labels=tuple(label for label in predicted if label not in gold),
        missed_labels=tuple(label for label in gold if several and label not in predicted),
    )


def _learned(session: DocumentSession, rows: Sequence[SpanRow]) -> frozenset[int]:
    """Gold spans that the run could predict: non-overlapping ones in the part of the text it
    read.
    """
    spans = [Span(row.start, row.end, "", row.field, None, row.id) for row in rows]
    flat, _left_out = flatten(span for span in spans if span.field == TEXT)
    end = None
    if session.predicted is not None and session.predicted.cut:
        ends = [word.end for word in session.predicted.words]
        end = max((*ends, *(span.end for span in session.predicted.spans)), default=0)
    return frozenset(row_id(span) for span in flat if end is None or span.start < end)
