"""Validation of the values and records that importers read, independent of the format."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from workbench.base.errors import not_unicode
from workbench.base.i18n import _
from workbench.text.dataset import Record
from workbench.text.document import SPLITS, TEXT, Document
from workbench.text.labels import MAX_NAME_CHARS
from workbench.text.questions import Question
from workbench.text.relations import Relation, layer_of_ends
from workbench.text.spans import Span

STATES = ("draft", "submitted", "discarded")


class Fault(Exception):
    """A record cannot be imported; the text is the reason shown to users. Importers turn it into
    `Skipped`.

    Long quotations from the file are truncated.
    """

    def __init__(self, text: str):
        super().__init__(text if len(text) <= 400 else f"{text[:399]}…")


def show(value: object, length: int = 40) -> str:
    """A value quoted in a message: truncated, on one line."""
    if isinstance(value, dict):
        return _("an object")
    if isinstance(value, list):
        return _("a list")
    if value is None:
        return "null"
    text = repr(value)
    return text if len(text) <= length else text[: length - 1] + "…"


def check(record: Record, lengths: dict[str, int] | None = None) -> dict[str, int]:
    """Raises Fault if a record cannot be stored unchanged; returns the lengths of its texts.

    lengths: as returned for another record of the same document, which is not checked again.
    """
    document = record.document
    lengths = _check_document(document) if lengths is None else lengths
    for layer, state in record.states.items():
        if state not in STATES:
            raise Fault(
                _(
                    "the state of layer {layer!r} is {state}, expected one of {names}",
                    layer=layer,
                    state=show(state),
                    names=", ".join(STATES),
                )
            )
    for labels in record.marks.values():
        for label in labels:
            if not 0 < len(label) <= MAX_NAME_CHARS:
                _check_label(label)
    for spans in record.spans.values():
        for span in spans:
            within = 0 <= span.start <= span.end <= lengths.get(span.field, -1)
            if not within or span.parts or not 0 < len(span.label) <= MAX_NAME_CHARS:
                _check_span(span, lengths)
    for relations in record.relations.values():
        for relation in relations:
            _check_relation(relation, record.spans)
    for questions in record.questions.values():
        for question in questions:
            _check_question(question, lengths[document.texts[0][0]])
    for name, number in record.numbers.items():
        if not math.isfinite(number):
            message = _("the number of the layer {name!r} is {value}, expected a finite number")
            raise Fault(message.format(name=name, value=number))
    for name, content in record.written.items():
        check_text(content, _("the text of the layer {name!r}", name=name))
    return lengths


def _check_document(document: Document) -> dict[str, int]:
    """Check texts, key, split and tokens; returns the lengths of the texts by name."""
    lengths: dict[str, int] = {}
    if not document.texts:
        raise Fault(_("the record has no text"))
    for name, content in document.texts:
        if name != TEXT:
            _check_name(name)
        if not content or not content.isascii() or content.isspace() or "\0" in content:
            message = _("the text") if name == TEXT else _("the text {name!r}", name=name)
            check_text(content, message)
        lengths[name] = len(content)
    if len(document.key) > MAX_NAME_CHARS:
        raise Fault(
            _(
                "the key is too long: {count:,} of at most {most:,} characters",
                count=len(document.key),
                most=MAX_NAME_CHARS,
            )
        )
    if not document.key.isascii() or "\0" in document.key:
        check_text(document.key or "-", _("the key"))
    if document.split is not None and document.split not in SPLITS:
        raise Fault(_("the split is {split!r}, expected train, dev or test", split=document.split))
    for name, offsets in document.tokens.items():
        _check_tokens(name, offsets, lengths)
    return lengths


def _check_name(name: str) -> None:
    """Validate the name of a text within its document."""
    check_text(name, _("the name of a text"))
    if len(name) > MAX_NAME_CHARS:
        raise Fault(
            _(
                "the name of a text is too long: {count:,} of at most {most:,} characters",
                count=len(name),
                most=MAX_NAME_CHARS,
            )
        )


def check_text(content: str, what: str) -> None:
    """Raises Fault if `content` is blank or cannot be stored; `what` names it in the message."""
    if not content or content.isspace():
        raise Fault(_("{what} is empty", what=what))
    if "\0" in content:
        raise Fault(
            _(
                "{what} holds a NUL character at position {value}",
                what=what,
                value=content.index(chr(0)),
            )
        )
    if not content.isascii():
        try:
            content.encode("utf-8")
        except UnicodeEncodeError as error:
            raise Fault(not_unicode(what, error)) from None


def _check_span(span: Span, lengths: Mapping[str, int]) -> None:
    if span.field not in lengths:
        raise Fault(
            _("a span lies in the text {field!r}, which the record does not have", field=span.field)
        )
    length = lengths[span.field]
    if not 0 <= span.start <= span.end <= length:
        raise Fault(
            _(
                "the span {start}–{end} ({label}) does not lie within the text of length {length}",
                start=span.start,
                end=span.end,
                label=span.label,
                length=length,
            )
        )
    if not span.label:
        raise Fault(_("the span {start}–{end} has no label", start=span.start, end=span.end))
    _check_label(span.label)

    _check_parts(span)


def _check_parts(span: Span) -> None:
    """Raises Fault unless the parts of a discontinuous span are in order and make up the span."""
    if not span.parts:
        return
    last = -1
    for start, end in span.parts:
        if not last < start < end:
            raise Fault(
                _(
                    "the parts of the span {start}–{end} are not in order or overlap",
                    start=span.start,
                    end=span.end,
                )
            )
        last = end
    if len(span.parts) < 2 or (span.parts[0][0], last) != (span.start, span.end):
        raise Fault(
            _(
                "the parts of the span {start}–{end} do not make up the span",
                start=span.start,
                end=span.end,
            )
        )


def _check_relation(relation: Relation, spans: Mapping[str, Iterable[Span]]) -> None:
    if not relation.label:
        raise Fault(_("a relation has no label"))
    _check_label(relation.label)
    try:
        layer_of_ends(spans, relation)
    except KeyError:
        raise Fault(
            _(
                "the relation {label} connects spans that the record does not have",
                label=show(relation.label),
            )
        ) from None


def _check_question(question: Question, length: int) -> None:
    check_text(question.text, _("a question"))
    for start, end in question.answers:
        if not 0 <= start < end <= length:
            raise Fault(
                _(
                    "the answer {start}–{end} to {question} does not lie within the text of length "
                    "{length}",
                    start=start,
                    end=end,
                    question=show(question.text),
                    length=length,
                )
            )


def _check_label(label: str) -> None:
    if not label:
        raise Fault(_("a label has no name"))
    if len(label) > MAX_NAME_CHARS:
        raise Fault(
            _(
                "a label is too long: {count:,} of at most {most:,} characters; check that it is "
                "a label",
                count=len(label),
                most=MAX_NAME_CHARS,
            )
        )


def _check_tokens(
    name: str, offsets: Iterable[tuple[int, int]], lengths: Mapping[str, int]
) -> None:
    if name not in lengths:
        raise Fault(
            _("there are tokens for the text {name!r}, which the record does not have", name=name)
        )
    last = 0
    for start, end in offsets:
        if not last <= start <= end <= lengths[name]:
            raise Fault(
                _(
                    "the token {start}–{end} overlaps the previous token or is outside the text of "
                    "length {length}",
                    start=start,
                    end=end,
                    length=lengths[name],
                )
            )
        last = end
