"""Records (a document with its labels) and datasets as frozen values; read and write as JSONL.

The file is the application's own format, used for export, import and the snapshot of a run: the
first line holds the layers, every further line one document. Lines end at U+000A only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _
from workbench.text import questions as asked
from workbench.text import remarks
from workbench.text.document import TEXT, Document
from workbench.text.labels import Label, Layer
from workbench.text.questions import Question
from workbench.text.relations import Relation, directed
from workbench.text.remarks import DocumentRemark
from workbench.text.spans import Span

FORMAT_VERSION = 1
_OBJECTS = frozenset(
    "texts tokens meta states marks spans relations questions numbers written".split()
)  # parts of a line that are objects


@dataclass(frozen=True, slots=True)
class Record:
    """A document with its labels from people (or from one import), by layer name.

    A layer that `states` gives as submitted, without a span, is a true negative; a layer that is
    not in `states` is pending.
    """

    document: Document
    states: Mapping[str, str] = field(
        default_factory=dict, hash=False
    )  # layer → draft, submitted, discarded
    marks: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)  # layer → labels
    spans: Mapping[str, tuple[Span, ...]] = field(default_factory=dict, hash=False)  # layer → spans
    relations: Mapping[str, tuple[Relation, ...]] = field(default_factory=dict, hash=False)
    questions: Mapping[str, tuple[Question, ...]] = field(
        default_factory=dict, hash=False
    )  # layer → questions with answers
    numbers: Mapping[str, float] = field(default_factory=dict, hash=False)  # layer → number
    written: Mapping[str, str] = field(default_factory=dict, hash=False)  # layer → written text
    remarks: tuple[DocumentRemark, ...] = ()  # notes and flags, which no model sees

    @property
    def span_count(self) -> int:
        """The number of spans in all layers."""
        return sum(map(len, self.spans.values()))


@dataclass(frozen=True, slots=True)
class Dataset:
    layers: tuple[Layer, ...]
    records: tuple[Record, ...]

    def layer(self, name: str) -> Layer:
        """Raises KeyError if there is no such layer."""
        for item in self.layers:
            if item.name == name:
                return item
        raise KeyError(name)

    def by_split(self, split: str) -> tuple[Record, ...]:
        return tuple(record for record in self.records if record.document.split == split)

    def fingerprint(self) -> str:
        """32 hex digits over the content, without database ids; equal content, equal result."""
        digest = hashlib.blake2b(digest_size=16)
        for line in lines(self.layers, self.records, ids=False):
            digest.update(line.encode("utf-8", "surrogatepass") + b"\n")
        return digest.hexdigest()


def gold_fingerprint(items: Iterable[tuple[str, object]]) -> str:
    """32 hex digits over the (text hash, gold) pairs that were scored, in any order.

    gold is any JSON value.
    """
    rows = sorted(
        json.dumps([text, gold], ensure_ascii=True, sort_keys=True) for text, gold in items
    )
    return hashlib.blake2b("\n".join(rows).encode(), digest_size=16).hexdigest()


# ---------------------------------------------------------------- JSON


def layer_to_json(layer: Layer) -> dict[str, object]:
    labels = [
        {
            "name": label.name,
            "colour": label.colour,
            "key": label.key,
            "description": label.description,
        }
        | ({"parent": label.parent} if label.parent else {})
        for label in layer.labels
    ]
    return {
        "name": layer.name,
        "kind": layer.kind,
        "texts": layer.texts,
        "guideline": layer.guideline,
        "options": dict(layer.options),
        "labels": labels,
    }


def layer_from_json(raw: Mapping[str, Any]) -> Layer:
    labels = tuple(
        Label(
            str(item["name"]),
            str(item.get("colour", "")),
            str(item.get("key", "")),
            str(item.get("description", "")),
            position,
            parent=str(item.get("parent") or ""),
        )
        for position, item in enumerate(raw.get("labels", ()))
    )
    return Layer(
        str(raw["name"]),
        str(raw["kind"]),
        labels,
        int(raw.get("texts", 1)),
        str(raw.get("guideline", "")),
        dict(raw.get("options") or {}),
    )


def record_to_json(record: Record, *, ids: bool = False) -> dict[str, object]:
    """One line of the application's own format.

    Empty parts are left out; marks and spans are sorted, so equal content gives equal lines.
    """
    document = record.document
    raw: dict[str, Any] = {"key": document.key, "texts": dict(document.texts)}
    if ids and document.id is not None:
        raw["id"] = document.id
    if document.tokens:
        raw["tokens"] = {
            name: [list(pair) for pair in offsets] for name, offsets in document.tokens.items()
        }
    for name in ("group", "split"):
        if getattr(document, name) is not None:
            raw[name] = getattr(document, name)
    raw |= _labels_to_json(record)
    if document.questions and "questions" not in raw:
        raw["asked"] = list(document.questions)
    if document.input_spans:
        raw["input_spans"] = list(map(span_to_json, document.input_spans))
    for name, values in (("numbers", record.numbers), ("written", record.written)):
        if values:
            raw[name] = dict(sorted(values.items()))
    if document.meta:
        raw["meta"] = dict(document.meta)
    if record.remarks:
        raw["remarks"] = remarks.to_json(record.remarks)
    return raw


def _labels_to_json(record: Record) -> dict[str, Any]:
    """States, classes, spans, relations and questions with their answers."""
    raw: dict[str, Any] = {}
    if record.states:
        raw["states"] = dict(sorted(record.states.items()))
    if marks := {name: sorted(labels) for name, labels in sorted(record.marks.items()) if labels}:
        raw["marks"] = marks
    if spans := {
        name: [span_to_json(span) for span in sorted(entries, key=_order)]
        for name, entries in sorted(record.spans.items())
        if entries
    }:
        raw["spans"] = spans
    if relations := {
        name: [_relation_to_json(relation) for relation in sorted(entries, key=_relation_order)]
        for name, entries in sorted(record.relations.items())
        if entries
    }:
        raw["relations"] = relations
    if questions := {
        name: list(map(asked.to_json, entries))
        for name, entries in sorted(record.questions.items())
        if entries
    }:
        raw["questions"] = questions
    return raw


def record_from_json(raw: Mapping[str, Any]) -> Record:
    """Raises KeyError, TypeError or ValueError for an invalid line; does not check offsets."""
    if type(raw) is not dict and not isinstance(raw, Mapping):
        raise TypeError(_("a document is {kind}, expected an object", kind=type(raw).__name__))
    for name, part in raw.items():
        if type(part) is not dict and name in _OBJECTS and not isinstance(part, Mapping):
            raise TypeError(
                _("{name} is {kind}, expected an object", name=name, kind=type(part).__name__)
            )
    get = raw.get  # most parts are absent; a comprehension over nothing takes half a microsecond
    texts = tuple([(str(name), _text(content)) for name, content in raw["texts"].items()])
    tokens = _tokens_from_json(part) if (part := get("tokens")) else {}
    marks, spans, relations = get("marks"), get("spans"), get("relations")
    numbers, written, noted = get("numbers"), get("written"), get("remarks", ())
    questions = _questions_from_json(part) if (part := get("questions")) else {}
    texts_asked = asked.texts_of(questions) if questions else ()
    document = Document(
        str(raw["key"]),
        texts,
        get("split"),
        get("group"),
        dict(get("meta") or ()),
        tokens,
        get("id"),
        texts_asked or tuple(map(str, get("asked", ()))),
        tuple(map(_span_from_json, get("input_spans", ()))),
    )
    return Record(
        document,
        dict(get("states") or ()),
        {name: tuple(map(str, labels)) for name, labels in marks.items()} if marks else {},
        {name: tuple(map(_span_from_json, some)) for name, some in spans.items()} if spans else {},
        {name: tuple(map(_relation_from_json, some)) for name, some in relations.items()}
        if relations
        else {},
        questions,
        {name: float(value) for name, value in numbers.items()} if numbers else {},
        {name: _text(value) for name, value in written.items()} if written else {},
        remarks.from_json(noted) if noted != () else (),
    )


def _tokens_from_json(raw: Mapping[str, Any]) -> dict[str, tuple[tuple[int, int], ...]]:
    return {name: tuple([(int(a), int(b)) for a, b in pairs]) for name, pairs in raw.items()}


def _questions_from_json(raw: Mapping[str, Any]) -> dict[str, tuple[Question, ...]]:
    return {str(name): tuple(map(asked.from_json, some)) for name, some in raw.items()}


def _text(content: object) -> str:
    if not isinstance(content, str):
        raise TypeError(_("a text is {kind}, expected a string", kind=type(content).__name__))
    return content


def _order(span: Span) -> tuple[object, ...]:
    return span.field, span.start, span.end, span.label, span.parts, span.chain or 0


def _relation_order(relation: Relation) -> tuple[object, ...]:
    return _order(relation.from_span), _order(relation.to_span), relation.label


def span_to_json(span: Span) -> list[object]:
    """[start, end, label], then the text if it is not the first, then {parts, chain} if any."""
    raw: list[object] = [span.start, span.end, span.label]
    if span.field != TEXT:
        raw.append(span.field)
    more: dict[str, object] = {}
    if span.parts:
        more["parts"] = [list(part) for part in span.parts]
    if span.chain is not None:
        more["chain"] = span.chain
    return [*raw, more] if more else raw


def _span_from_json(raw: list[Any]) -> Span:
    if len(raw) == 3:
        return Span(int(raw[0]), int(raw[1]), str(raw[2]))
    start, end, label, *rest = raw
    more = rest.pop() if rest and isinstance(rest[-1], Mapping) else {}
    chain = more.get("chain")
    return Span(
        int(start),
        int(end),
        str(label),
        str(rest[0]) if rest else TEXT,
        parts=tuple((int(a), int(b)) for a, b in more.get("parts", ())),
        chain=None if chain is None else int(chain),
    )


def _with_directions(record: Record, layers: Iterable[Layer]) -> Record:
    """The record whose relations tell whether their label has a direction."""
    relations = {
        layer.name: tuple(
            replace(relation, directed=directed(layer, relation.label))
            for relation in record.relations[layer.name]
        )
        for layer in layers
        if layer.name in record.relations
    }
    return replace(record, relations={**record.relations, **relations})


def _relation_to_json(relation: Relation) -> list[object]:
    """[label, from, to]; both ends are spans without their chain."""
    ends = (replace(span, chain=None) for span in (relation.from_span, relation.to_span))
    return [relation.label, *map(span_to_json, ends)]


def _relation_from_json(raw: list[Any]) -> Relation:
    label, from_span, to_span = raw
    return Relation(str(label), _span_from_json(from_span), _span_from_json(to_span))


def dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


def lines(
    layers: Iterable[Layer], records: Iterable[Record], *, ids: bool = False
) -> Iterator[str]:
    """The file line by line, without line endings."""
    yield dumps(
        {"glossbench": FORMAT_VERSION, "layers": [layer_to_json(layer) for layer in layers]}
    )
    for record in records:
        yield dumps(record_to_json(record, ids=ids))


def write(
    path: Path, layers: Iterable[Layer], records: Iterable[Record], *, ids: bool = False
) -> None:
    """Write the application's own format as UTF-8. Lone surrogates are preserved."""
    with open(path, "w", encoding="utf-8", errors="surrogatepass", newline="\n") as file:
        for line in lines(layers, records, ids=ids):
            file.write(line + "\n")


def read(path: Path | str) -> Dataset:
    """Read a whole file of the application's own format, as this program wrote it.

    Raises ImportFailed naming the line. The importer tolerates more.
    """
    with open(path, encoding="utf-8", errors="surrogatepass", newline="\n") as file:
        try:
            layers = tuple(layer_from_json(load) for load in json.loads(next(file))["layers"])
        except (StopIteration, ValueError, KeyError, TypeError) as error:
            raise ImportFailed(
                _("{path}, line 1: the layers cannot be read ({error!r}).", path=path, error=error)
            ) from error
        records = []
        for number, line in enumerate(file, 2):
            try:
                record = record_from_json(json.loads(line))
                records.append(_with_directions(record, layers) if record.relations else record)
            except (ValueError, KeyError, TypeError) as error:
                raise ImportFailed(
                    _(
                        "{path}, line {number}: not a document in Glossbench format ({error!r}).",
                        path=path,
                        number=number,
                        error=error,
                    )
                ) from error
    return Dataset(layers, tuple(records))
