"""Arguments of predicates: one marked text for each predicate, tags of its words. numpy only.

Source: Shi and Lin 2019, Simple BERT Models for Relation Extraction and Semantic Role Labeling,
section 3; the predicate is marked in the text as in `runtime.marked`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from workbench.runtime import decoding, marked
from workbench.runtime.inputs import EncodedInput, Prepared, Preparer, numbered
from workbench.text.document import TEXT, Document
from workbench.text.relations import Relation
from workbench.text.spans import Span

WHOLE = Span(0, 0, "")  # marked in a document without a predicate


def predicates(document: Document, labels: Collection[str]) -> list[Span]:
    """The input spans that are predicates: those with one of the labels, without labels all."""
    spans = (
        Span(span.start, span.end, span.label)
        for span in document.input_spans
        if span.field == TEXT and span.start < span.end and (not labels or span.label in labels)
    )
    return list(dict.fromkeys(spans))


def parts(document: Document, labels: Collection[str], context: int) -> list[marked.MarkedText]:
    """The marked text of each predicate; without any, the beginning of the document."""
    spans = predicates(document, labels) or [WHOLE]
    return [marked.marked(document, [span], context) for span in spans]


def prepare(
    preparer: Preparer,
    documents: Sequence[Document],
    max_length: int,
    *,
    labels: Collection[str],
    context: int,
) -> Prepared:
    """One input for each predicate of a document, at least one."""
    rows = [
        (number, place, part)
        for number, document in enumerate(documents)
        for place, part in enumerate(parts(document, labels, context))
    ]
    prepared = preparer.whole([part.document for _number, _place, part in rows], max_length)
    return numbered(prepared, documents, [row[:2] for row in rows])


def positions(encoded: EncodedInput, part: marked.MarkedText) -> np.ndarray:
    """The first token of each word of a marked text, int (W,), -1 if it was truncated."""
    starts, ends = encoded.offsets[:, 0], encoded.offsets[:, 1]
    tokens = np.flatnonzero((encoded.text == 0) & (ends > starts))
    if not len(tokens):
        return np.full(len(part.words), -1)
    places = np.array([start for start, _end in part.words], int).reshape(-1)
    at = np.searchsorted(ends[tokens], places, "right")
    inside = at < len(tokens)
    result: np.ndarray = np.where(inside, tokens[np.minimum(at, len(tokens) - 1)], -1)
    return result


def decode(
    document: Document,
    spans: Sequence[Span],
    marked_parts: Sequence[marked.MarkedText],
    inputs: Sequence[EncodedInput],
    logits: Sequence[np.ndarray],
    tags: Sequence[str],
    argument: str,
) -> tuple[Relation, ...]:
    """Relations from each predicate to its arguments, the valid tags of highest probability.

    logits: (T, L) of each input. argument: the label of a span that is not among the input spans.
    """
    known = {(span.start, span.end): span.label for span in document.input_spans}
    relations = []
    for predicate, part, encoded, scores in zip(spans, marked_parts, inputs, logits, strict=True):
        at = positions(encoded, part)
        words = [offsets for offsets, place in zip(part.sources, at, strict=True) if place >= 0]
        if not words:
            continue
        shares = decoding.softmax(scores[at[at >= 0]])
        chosen = decoding.decide(shares, tags)
        best = shares[np.arange(len(chosen)), chosen]
        tagged = decoding.words_and_spans(document.text, words, chosen, best, tags)
        for span in tagged.spans:
            label = known.get((span.start, span.end), argument)
            relations.append(
                Relation(span.label, predicate, Span(span.start, span.end, label), span.score)
            )
    return tuple(relations)


def usual_label(relations: Iterable[Relation]) -> str:
    """The most frequent label of arguments, "" without any."""
    counts: Mapping[str, int] = {}
    for relation in relations:
        label = relation.to_span.label
        counts = {**counts, label: counts.get(label, 0) + 1}
    return min(counts, key=lambda label: (-counts[label], label), default="")
