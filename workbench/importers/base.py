"""The importer contract, and validation of records that is independent of the format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from workbench.base.i18n import _
from workbench.text.dataset import Record
from workbench.text.document import SPLITS, TEXT, TEXT_B
from workbench.text.labels import LONGEST_NAME, Layer, LayerKind
from workbench.text.questions import Question
from workbench.text.relations import Relation, layer_of_ends
from workbench.text.spans import Span

if TYPE_CHECKING:
    from workbench.importers.source import Source

# default layer names for formats that name none
CLASS, SPANS, PAIRS, TAGS = "class", "spans", "pairs", "tags"
RELATIONS, CHAINS = "relations", "coreference"
STATES = ("draft", "submitted", "discarded")
SPLIT_WORDS = {
    "training": "train",
    "validation": "dev",
    "valid": "dev",
    "val": "dev",
    "development": "dev",
    "testing": "test",
    "eval": "dev",
}


class Fault(Exception):
    """A record cannot be imported; the text is the reason shown to users. Importers turn it into
    `Skipped`.

    Long quotations from the file are truncated.
    """

    def __init__(self, text: str):
        super().__init__(text if len(text) <= 400 else f"{text[:399]}…")


@dataclass(frozen=True, slots=True)
class Skipped:
    """A skipped record: 1-based line of the file, and the reason."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Remark:
    """A note for the user that did not cause anything to be skipped."""

    message: str


@dataclass(frozen=True, slots=True)
class Row:
    """A record and the 1-based line it starts on.

    `record.document.key` is "" if the file contains none.
    """

    line: int
    record: Record


@dataclass(frozen=True, slots=True)
class Hint:
    """The kind of a layer whose labels the file has, where it is not the usual one."""

    layer: str
    kind: LayerKind


Item = Row | Skipped | Remark | Layer | Hint


@dataclass(frozen=True)
class Guess:
    """Confidence of an importer that a file is in its format, 0 to 1, and the reason."""

    confidence: float
    why: str = ""


@dataclass(frozen=True)
class Options:
    """Settings the user can change. "" and None mean: detect.

    `mapping` holds (role, column) pairs, see `roles`.
    """

    delimiter: str = ""
    mapping: tuple[tuple[str, str], ...] = ()
    header: bool | None = None
    class_layer: str = CLASS
    span_layer: str = SPANS
    pair_layer: str = PAIRS
    tag_layer: str = TAGS
    relation_layer: str = RELATIONS
    chain_layer: str = CHAINS


@dataclass(frozen=True, slots=True)
class TableRow:
    """A preview row and the 1-based line of the file on which it starts."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """The first rows of a file as the import dialog shows them.

    `mapping`: the (role, column) pairs in use. `spans`: for columns of tags the number of spans in
    the part of the file that was examined, which `examined` describes ("" for the whole file).
    `warnings`: sentences on what this mapping leaves out.
    """

    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    mapping: tuple[tuple[str, str], ...] = ()
    why: str = ""
    delimiter: str = ""
    spans: Mapping[str, int] = field(default_factory=dict, hash=False)
    examined: str = ""
    warnings: tuple[str, ...] = ()


class Importer(Protocol):
    """A file format. Instances hold no state;

    `read` streams and never raises for an invalid record.
    """

    def sniff(self, head: str, name: str) -> Guess:
        """`head`: the first characters of the file, decoded; `name`: its file name."""
        ...

    def preview(self, source: Source, options: Options, limit: int) -> Table: ...

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        """Layers (as soon as they are known), rows, skipped records and notes, in file order.

        Raises ImportFailed if the file cannot be read at all.
        """
        ...


# ---------------------------------------------------------------- checks of values


def is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def offset(value: object, message: str) -> int:
    """A position as an int. Raises Fault with the sentence `message`, which names the `{value}`."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise Fault(message.format(value=show(value)))
    return value


def span_borders(start: object, end: object) -> tuple[int, int]:
    """Both offsets of a span. Raises Fault."""
    if type(start) is int and type(end) is int:
        return start, end
    return (
        offset(start, _("the start of a span is {value}, expected a whole number")),
        offset(end, _("the end of a span is {value}, expected a whole number")),
    )


def placed_span(text: str, start: object, end: object, covered: object) -> tuple[int, int]:
    """The offsets of a span in code points. Raises Fault if it does not cover the text `covered`.

    Tools written in JavaScript count UTF-16 units, two for an emoji: such offsets are converted.
    `covered` is no string where the file does not say what the span covers.
    """
    first, last = span_borders(start, end)
    if not isinstance(covered, str) or text[first:last] == covered:
        return first, last
    if 0 <= first <= last and not text.isascii():
        units = text.encode("utf-16-le", "surrogatepass")
        before = units[: 2 * first].decode("utf-16-le", "replace")
        inside = units[2 * first : 2 * last].decode("utf-16-le", "replace")
        if inside == covered:
            return len(before), len(before) + len(inside)
    if text[first:last].split() == covered.split() and text[first:last].strip():
        return first, last  # the tool has normalized the white space of the quoted text
    raise Fault(
        _("the span {start}–{end} covers {found}, but the file says {covered}").format(
            start=first, end=last, found=show(text[first:last]), covered=show(covered)
        )
    )


def label_name(value: object) -> str:
    """The name of a label: a non-empty string; numbers and booleans are converted. Raises Fault."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if is_number(value):
        return str(value)
    if not isinstance(value, str):
        raise Fault(_("a label is {value}, expected a string").format(value=show(value)))
    if not value.strip():
        raise Fault(_("a label has no name"))
    return value


def split_name(value: object) -> str | None:
    """train, dev or test; None for an empty value. Common synonyms are accepted. Raises Fault."""
    if value is None or value in ("", "-"):
        return None
    word = str(value).strip().lower()
    word = SPLIT_WORDS.get(word, word)
    if word not in SPLITS:
        raise Fault(
            _("the split is {value}, expected train, dev or test").format(value=show(value))
        )
    return word


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


# ---------------------------------------------------------------- checks of whole records


def check(record: Record) -> None:
    """Raises Fault if a record cannot be stored unchanged."""
    document = record.document
    lengths: dict[str, int] = {}
    if not document.texts:
        raise Fault(_("the record has no text"))
    for name, content in document.texts:
        if name != TEXT:
            _check_name(name)
        if not content or not content.isascii() or content.isspace() or "\0" in content:
            message = _("the text") if name == TEXT else _("the text {name!r}").format(name=name)
            check_text(content, message)
        lengths[name] = len(content)
    if len(document.key) > LONGEST_NAME:
        raise Fault(
            _("the key is too long: {count:,} of at most {most:,} characters").format(
                count=len(document.key), most=LONGEST_NAME
            )
        )
    if not document.key.isascii() or "\0" in document.key:
        check_text(document.key or "-", _("the key"))
    if document.split is not None and document.split not in SPLITS:
        raise Fault(
            _("the split is {split!r}, expected train, dev or test").format(split=document.split)
        )
    for name, borders in document.tokens.items():
        _check_tokens(name, borders, lengths)
    for layer, state in record.states.items():
        if state not in STATES:
            raise Fault(
                _("the state of layer {layer!r} is {state}, expected one of {names}").format(
                    layer=layer, state=show(state), names=", ".join(STATES)
                )
            )
    for labels in record.marks.values():
        for label in labels:
            _check_label(label)
    for spans in record.spans.values():
        for span in spans:
            _check_span(span, lengths)
    for relations in record.relations.values():
        for relation in relations:
            _check_relation(relation, record.spans)
    for questions in record.questions.values():
        for question in questions:
            _check_question(question, lengths[document.texts[0][0]])
    for name, content in record.written.items():
        check_text(content, _("the text of the layer {name!r}").format(name=name))


def _check_name(name: str) -> None:
    """Validate the name of a text within its document."""
    check_text(name, _("the name of a text"))
    if len(name) > LONGEST_NAME:
        raise Fault(
            _("the name of a text is too long: {count:,} of at most {most:,} characters").format(
                count=len(name), most=LONGEST_NAME
            )
        )


def check_text(content: str, what: str) -> None:
    """Raises Fault if `content` is blank or cannot be stored; `what` names it in the message."""
    if not content or content.isspace():
        raise Fault(_("{what} is empty").format(what=what))
    if "\0" in content:
        raise Fault(
            _("{what} holds a NUL character at position {value}").format(
                what=what, value=content.index(chr(0))
            )
        )
    if not content.isascii():
        try:
            content.encode("utf-8")
        except UnicodeEncodeError as error:
            code = ord(content[error.start])
            if 0xDC80 <= code <= 0xDCFF:
                raise Fault(
                    _(
                        "{what} holds the byte 0x{code:02X} at position {start}, which is not UTF-8"
                    ).format(what=what, code=code - 0xDC00, start=error.start)
                ) from None
            raise Fault(
                _("{what} holds half a surrogate pair (U+{code:04X}) at position {start}").format(
                    what=what, code=code, start=error.start
                )
            ) from None


def _check_span(span: Span, lengths: Mapping[str, int]) -> None:
    if span.field not in lengths:
        raise Fault(
            _("a span lies in the text {field!r}, which the record does not have").format(
                field=span.field
            )
        )
    length = lengths[span.field]
    if not 0 <= span.start <= span.end <= length:
        raise Fault(
            _(
                "the span {start}–{end} ({label}) does not lie within the text of length {length}"
            ).format(start=span.start, end=span.end, label=span.label, length=length)
        )
    if not span.label:
        raise Fault(_("the span {start}–{end} has no label").format(start=span.start, end=span.end))
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
                _("the parts of the span {start}–{end} are not in order or overlap").format(
                    start=span.start, end=span.end
                )
            )
        last = end
    if len(span.parts) < 2 or (span.parts[0][0], last) != (span.start, span.end):
        raise Fault(
            _("the parts of the span {start}–{end} do not make up the span").format(
                start=span.start, end=span.end
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
            _("the relation {label} connects spans that the record does not have").format(
                label=show(relation.label)
            )
        ) from None


def _check_question(question: Question, length: int) -> None:
    check_text(question.text, _("a question"))
    for start, end in question.answers:
        if not 0 <= start < end <= length:
            raise Fault(
                _(
                    "the answer {start}–{end} to {question} does not lie within the text of length "
                    "{length}"
                ).format(start=start, end=end, question=show(question.text), length=length)
            )


def _check_label(label: str) -> None:
    if len(label) > LONGEST_NAME:
        raise Fault(
            _(
                "a label is too long: {count:,} of at most {most:,} characters; check that it is "
                "a label"
            ).format(count=len(label), most=LONGEST_NAME)
        )


def _check_tokens(
    name: str, borders: Iterable[tuple[int, int]], lengths: Mapping[str, int]
) -> None:
    if name not in lengths:
        raise Fault(
            _("there are tokens for the text {name!r}, which the record does not have").format(
                name=name
            )
        )
    last = 0
    for start, end in borders:
        if not last <= start <= end <= lengths[name]:
            raise Fault(
                _(
                    "the token {start}–{end} overlaps the previous token or is outside the text of "
                    "length {length}"
                ).format(start=start, end=end, length=lengths[name])
            )
        last = end


# ---------------------------------------------------------------- building


def unique_spans(spans: list[Span]) -> tuple[Span, ...]:
    """The spans in order, without duplicates."""
    return tuple(spans) if len(spans) < 2 else tuple(dict.fromkeys(spans))


def add_spans(found: dict[str, tuple[Span, ...]], layer: str, spans: Iterable[Span]) -> None:
    """Add the spans of another column to those of a layer, without duplicates."""
    found[layer] = unique_spans([*found.get(layer, ()), *spans])


def texts_of(text: str, text_b: str | None = None) -> tuple[tuple[str, str], ...]:
    return ((TEXT, text),) if text_b is None else ((TEXT, text), (TEXT_B, text_b))
