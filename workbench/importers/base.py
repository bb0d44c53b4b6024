"""The importer contract, and what importers of all formats use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from workbench.base import deprecation
from workbench.base.i18n import _
from workbench.importers.offsets import Offsets, Quote
from workbench.importers.record_checks import STATES as STATES
from workbench.importers.record_checks import Fault as Fault
from workbench.importers.record_checks import check as check
from workbench.importers.record_checks import check_text as check_text
from workbench.importers.record_checks import show as show
from workbench.text.dataset import Record
from workbench.text.document import SPLITS, TEXT, TEXT_B
from workbench.text.labels import CURATED as CURATED
from workbench.text.labels import Layer, LayerKind
from workbench.text.spans import Span

if TYPE_CHECKING:
    from workbench.importers.source import Source

# default layer names for formats that name none
CLASS, SPANS, PAIRS, TAGS = "class", "spans", "pairs", "tags"
RELATIONS, CHAINS = "relations", "coreference"
MAX_PERSON_CHARS = 100
SPLIT_WORDS = {
    "training": "train",
    "validation": "dev",
    "valid": "dev",
    "val": "dev",
    "development": "dev",
    "testing": "test",
    "eval": "dev",
}


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

    `record.document.key` is "" if the file contains none. person: whose labels they are, "" if the
    file does not say so. Records with equal keys and texts by several people are one document.
    """

    line: int
    record: Record
    person: str = ""


@dataclass(frozen=True, slots=True)
class Hint:
    """The kind of a layer of spans or classes in the file, where it is not the usual one."""

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

    `mapping` holds (role, column) pairs, see `roles`. `settings`: name → value of every option that
    the importer declares (`Importer.options`).
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
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class TableRow:
    """A preview row and the 1-based line of the file on which it starts.

    name: what is shown instead of the line, where lines say nothing, such as the id of an element.
    """

    line: int
    cells: tuple[str, ...]
    name: str = ""


@dataclass(frozen=True)
class Table:
    """The first rows of a file as the import dialog shows them.

    `mapping`: the (role, column) pairs in use. `spans`: for columns of tags the number of spans in
    the part of the file that was examined. `examined`: a sentence on that part, "" for the whole
    file.
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

    `read` streams and never raises for an invalid record. An importer with settings of its own has
    an attribute `options`, a tuple of `Option`: fields of the import dialog, and `--set` on the
    command line. `preview` and `read` find their values in `options.settings`. An attribute
    `all_layers` that is True says that who labelled a document has seen all layers of the files.
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


def span_offsets(start: object, end: object) -> tuple[int, int]:
    """Both offsets of a span. Raises Fault."""
    if type(start) is int and type(end) is int:
        return start, end
    return (
        offset(start, _("the start of a span is {value}, expected a whole number")),
        offset(end, _("the end of a span is {value}, expected a whole number")),
    )


if not TYPE_CHECKING:
    __getattr__ = deprecation.former(__name__, span_borders="span_offsets")


def placed_span(text: str, start: object, end: object, covered: object) -> tuple[int, int]:
    """The offsets of a span in code points. Raises Fault if it does not cover the text `covered`.

    Offsets that are counted otherwise are converted, see `offsets`. `covered` is no string where
    the file does not say what the span covers.
    """
    first, last = span_offsets(start, end)
    quote = Quote.of(first, last, covered)
    return Offsets().counting(text, [quote], fixed=True).span(first, last)


def person_name(value: object) -> str:
    """The name of an annotator: a string, or a number of the tool; "" for none. Raises Fault."""
    if value is None or value == "":
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"annotator {value}"
    if not isinstance(value, str):
        message = _("the annotator is {value}, expected a name or a number")
        raise Fault(message.format(value=show(value)))
    check_text(value, _("the name of the annotator"))
    name = " ".join(value.split())
    if len(name) > MAX_PERSON_CHARS or not name.isprintable():
        message = _(
            "the annotator is {value}, expected a name of up to {most} printable characters"
        )
        raise Fault(message.format(value=show(name), most=MAX_PERSON_CHARS))
    return name


def label_name(value: object) -> str:
    """The name of a label: a non-empty string; numbers and booleans are converted. Raises Fault."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if is_number(value):
        return str(value)
    if not isinstance(value, str):
        raise Fault(_("a label is {value}, expected a string", value=show(value)))
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
        raise Fault(_("the split is {value}, expected train, dev or test", value=show(value)))
    return word


# ---------------------------------------------------------------- building


def unique_spans(spans: list[Span]) -> tuple[Span, ...]:
    """The spans in order, without duplicates."""
    return tuple(spans) if len(spans) < 2 else tuple(dict.fromkeys(spans))


def add_spans(
    spans_by_layer: dict[str, tuple[Span, ...]], layer: str, spans: Iterable[Span]
) -> None:
    """Add the spans of another column to those of a layer, without duplicates."""
    spans_by_layer[layer] = unique_spans([*spans_by_layer.get(layer, ()), *spans])


def texts_of(text: str, text_b: str | None = None) -> tuple[tuple[str, str], ...]:
    return ((TEXT, text),) if text_b is None else ((TEXT, text), (TEXT_B, text_b))
