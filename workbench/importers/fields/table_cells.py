"""Cells of a table that hold several labels, spans or tags, as values; and columns of them."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from workbench.base.i18n import _
from workbench.importers.base import Fault, label_name, show, span_offsets
from workbench.importers.joining import join
from workbench.importers.offsets import Counting, Offsets, Quote
from workbench.text.document import TEXT
from workbench.text.labels import TIE
from workbench.text.spans import Span

SIGN = ";"  # between labels
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_NUMBER = r"-?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?"
_ITEM = re.compile(rf"{_QUOTED}|{_NUMBER}|True|False|None|nan", re.S)
_NUMPY = re.compile(rf"\[\s*(?:{_ITEM.pattern})(?:\s+(?:{_ITEM.pattern}))*\s*\]", re.S)
_ARRAY = re.compile(r"(?:np\.|numpy\.)?(?:array|list)\((.*?)(?:,\s*dtype=[\w.'<>\" ]+)?\)", re.S)
_MISSING = re.compile(r"\bnan\b(?=\s*[,\]}])")  # as a value of Python's text of a list
_HASH = "#"  # between labels in tables of doccano
_DOCCANO = ({"id", "text", "label"}, {"id", "data", "label"}, {"id", "text", "label", "comments"})
_PLURAL = ("labels", "classes", "categories", "topics")
_LABEL = ("labels", "label", "entity", "entity_group", "tag", "type", "choices")  # of an object
_GENERAL = ("spans", "entities", "label", "labels", "annotation", "annotations", "ner")


def value_of(cell: str) -> object:
    """The list or object in a cell, as JSON, as Python writes it (in tables of pandas), or as numpy
    does: without commas.

    None if it holds neither.
    """
    cell = cell.strip()
    if match := _ARRAY.fullmatch(cell):
        cell = match[1].strip()
    if cell[:1] not in ("[", "{"):
        return None
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        pass
    # Python joins strings without a comma between them, so that numpy's come first
    if _NUMPY.fullmatch(cell):
        cell = f"[{', '.join(match[0] for match in _ITEM.finditer(cell))}]"
    literal = _literal(cell)
    return _literal(_MISSING.sub("None", cell)) if literal is None else literal


def _literal(text: str) -> object:
    """The value of a literal of Python; None if the text is not one."""
    try:
        with warnings.catch_warnings(action="ignore"):  # of backslashes in texts
            return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


# ---------------------------------------------------------------- classes


def labels(cell: str) -> tuple[str, ...]:
    """The labels of a cell: a list, an object with `choices`, or names between semicolons or #.

    Raises Fault.
    """
    value = value_of(cell)
    if isinstance(value, Mapping):
        value = value.get("choices", value.get("labels"))
    if isinstance(value, list):
        return tuple(dict.fromkeys(label_name(item) for item in value))
    parts = [part.strip() for part in cell.split(SIGN)]
    if len(parts) == 1 and all(part.strip() for part in cell.split(_HASH)):
        parts = [part.strip() for part in cell.split(_HASH)]
    return tuple(dict.fromkeys(part for part in parts if part))


def are_several(cells: Iterable[str], column: str, columns: Sequence[str]) -> bool:
    """Whether the cells of a column of classes hold several: lists, objects with `choices`, names
    between semicolons in a column `labels`, or joined by #.

    columns: of the table; doccano joins the labels of a document in its tables.
    """
    filled = [cell for cell in cells if cell.strip()]
    values = [value_of(cell) for cell in filled]
    if any(map(_is_object, values)) or (filled and all(map(_is_list, values))):
        return True
    if column.strip().lower() in _PLURAL and any(SIGN in cell for cell in filled):
        return True
    if {name.strip().lower() for name in columns} not in _DOCCANO:
        return False
    joined = [cell.split(_HASH) for cell in filled if _HASH in cell]
    return bool(joined) and all(part.strip() for parts in joined for part in parts)


def _is_object(value: object) -> bool:
    """A selection of several choices, as in tables of Label Studio."""
    return isinstance(value, Mapping) and _is_list(value.get("choices"))


def _is_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


# ---------------------------------------------------------------- spans


def spans(cell: str, text: str = "", offsets: Offsets | None = None) -> tuple[Span, ...]:
    """The spans of a cell: a list of [start, end, label], as in Glossbench's own format, or of
    objects with `start`, `end` and `label` or `labels`, as in tables of Label Studio.

    text: the text of the document, in which objects may quote what they cover. offsets: of the
    file. Raises Fault.
    """
    raw = value_of(cell)
    if not isinstance(raw, list):
        raise Fault(
            _("the spans {cell!r} are not a JSON list of [start, end, label]", cell=cell[:40])
        )
    quotes = [
        Quote.of(item.get("start"), item.get("end"), item.get("text"))
        for item in raw
        if isinstance(item, Mapping)
    ]
    counting = (offsets or Offsets()).counting(text, quotes, fixed=True)
    unique: dict[Span, None] = {}
    for item in raw:
        for span in _spans(item, counting, cell):
            unique[span] = None
    return tuple(unique)


def _spans(item: object, counting: Counting, cell: str) -> Iterable[Span]:
    if isinstance(item, Mapping) and "start" in item and "end" in item:
        start, end = counting.span(*span_offsets(item["start"], item["end"]))
        names = next((item[name] for name in _LABEL if name in item), None)
        return [
            Span(start, end, label_name(name))
            for name in (names if isinstance(names, list) else [names])
        ]
    if isinstance(item, list | tuple) and len(item) >= 3:
        start, end, label, *rest = item
        more: Mapping[str, Any] = rest.pop() if rest and isinstance(rest[-1], Mapping) else {}
        if not rest or (len(rest) == 1 and isinstance(rest[0], str)):
            return [_placed(start, end, label, rest[0] if rest else TEXT, more, cell)]
    raise Fault(_("the spans {cell!r} are not a JSON list of [start, end, label]", cell=cell[:40]))


def _placed(
    start: object, end: object, label: object, field: str, more: Mapping[str, Any], cell: str
) -> Span:
    chain = more.get("chain")
    if chain is not None and (isinstance(chain, bool) or not isinstance(chain, int)):
        raise Fault(_("the chain of a span is {value}, expected a number", value=show(chain)))
    try:
        parts = tuple(span_offsets(*part) for part in more.get("parts", ()))
    except TypeError:
        raise Fault(
            _("the parts of a span in {cell} are not a list of [start, end]", cell=show(cell))
        ) from None
    return Span(*span_offsets(start, end), label_name(label), field, parts=parts, chain=chain)


def are_spans(cells: Iterable[str]) -> bool:
    """Whether every cell with a value has a list of spans, and one of them is not empty."""
    return are_lists_of_spans([value_of(cell) for cell in cells if cell.strip()])


def are_lists_of_spans(values: Iterable[object]) -> bool:
    """Whether every value is a list of spans, and one of them is not empty."""
    some = [value for value in values if value is not None]
    return any(some) and all(
        isinstance(value, list) and all(map(_is_span, value)) for value in some
    )


def _is_span(item: object) -> bool:
    if isinstance(item, Mapping):
        start, end = item.get("start"), item.get("end")
        named = any(name in item for name in _LABEL)
    elif isinstance(item, list | tuple) and len(item) >= 3:
        start, end = item[0], item[1]
        named = isinstance(item[2], str)
    else:
        return False
    numbers = all(isinstance(at, int) and not isinstance(at, bool) for at in (start, end))
    return numbers and named


def span_layer(column: str, usual: str) -> str:
    """The name of the layer of a column of spans: its own, unless it says only what they are."""
    name = " ".join(column.split())
    return usual if not name or name.lower() in _GENERAL else name


# ---------------------------------------------------------------- tags


def list_of(cell: str) -> list[object] | None:
    """The list in a cell; None for anything else."""
    value = value_of(cell)
    return value if isinstance(value, list) else None


def tokens(text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """A cell of tokens: a list, or words separated by single spaces."""
    listed = value_of(text)
    if (
        isinstance(listed, list)
        and listed
        and all(isinstance(item, str) and item for item in listed)
    ):
        return join(listed)
    offsets, position = [], 0
    for word in text.split(" "):
        if word:
            offsets.append((position, position + len(word)))
        position += len(word) + 1
    return text, tuple(offsets)


def tags(cell: str) -> list[object]:
    """The tags of a cell: a list, or words. Raises Fault."""
    if cell.startswith("["):
        value = value_of(cell)
        if not isinstance(value, list):
            raise Fault(_("the tags {cell!r} cannot be read", cell=cell[:40]))
        return value
    return list(cell.split())


def are_tags(cells: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether every cell has a tag with a scheme prefix, or O, for each word of its text."""
    pairs = [
        (_words(cell), len(tokens(text)[1]))
        for cell, text in zip(cells, texts, strict=False)
        if cell.strip()
    ]
    named = [tag for words, _count in pairs for tag in words]
    return (
        any(count > 1 for _tags, count in pairs)
        and all(len(words) == count for words, count in pairs)
        and any(tag[1:2] == "-" for tag in named)
        and all(tag == "O" or tag[1:2] == "-" for tag in named)
    )


def _words(cell: str) -> list[str]:
    value = value_of(cell)
    return [str(item) for item in value] if isinstance(value, list) else cell.split()


# ---------------------------------------------------------------- choices


def choice(cell: str, choices: Sequence[str], *, ties: bool = False) -> tuple[str, ...]:
    """The label of the right choice: its number, from 1, or its text. ties: TIE is none of them.
    Raises Fault.
    """
    word = cell.strip()
    if ties and word == TIE and TIE not in choices:
        return ()
    if word.isdecimal() and word.isascii() and 1 <= int(word) <= len(choices):
        return (str(int(word)),)
    if word in choices:
        return (str(choices.index(word) + 1),)
    raise Fault(
        _(
            "the answer {value} is not among the choices ({n} in total)",
            value=show(cell),
            n=len(choices),
        )
    )
