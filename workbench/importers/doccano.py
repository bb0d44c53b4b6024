"""doccano's JSON lines and JSON, and any other JSON whose fields can be guessed or are mapped.

Labels may be `[start, end, label]` triples, `{start_offset, end_offset, label}` objects, strings
(classes), or `cats`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _, ngettext
from workbench.importers import jsonl, roles
from workbench.importers.base import (
    Fault,
    Guess,
    Hint,
    Item,
    Options,
    Remark,
    Row,
    Skipped,
    Table,
    TableRow,
    add_spans,
    check,
    is_number,
    label_name,
    placed_span,
    show,
    span_offsets,
    split_name,
    texts_of,
)
from workbench.importers.doccano_relations import with_relations
from workbench.importers.document_values import add_values, of_single_text
from workbench.importers.multiple_choice import MultipleChoiceImporter
from workbench.importers.source import Source
from workbench.importers.squad import SquadImporter
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.spans import Span

_TEXT = ("text", "data", "column_data", "text_a", "premise", "sentence1", "sentence_A",
         "sentence", "content")  # fmt: skip
_TEXT_B = ("text_b", "hypothesis", "sentence2", "sentence_B")
_LABELS = ("label", "labels", "entities", "annotations", "column_label", "gold_label",
           "entailment_judgment", "entailment_label")  # fmt: skip
_QUIET = ("relations", "Comments", "comments", "annotation_approver", "_input_hash", "_task_hash")
# What Label Studio's JSON-MIN adds to the fields of the data and of the labels.
_LABEL_STUDIO = ("annotator", "annotation_id", "created_at", "updated_at", "lead_time")


class DoccanoImporter:
    def sniff(self, head: str, name: str) -> Guess:
        first = jsonl.first_object(head)
        if not first:
            like = jsonl.opens(head) or name.lower().endswith((".json", ".jsonl"))
            return Guess(0.3, _("it looks like JSON")) if like else Guess(0.0)
        if _is_label_studio(first):
            return Guess(0.85, _("JSON with one annotation each, as Label Studio's JSON-MIN"))
        text = next((key for key in _TEXT if key in first), None)
        label = next((key for key in (*_LABELS, "cats") if key in first), None)
        if text and label:
            return Guess(
                0.8,
                _("JSON with {text!r} and {label!r}, as doccano writes it").format(
                    text=text, label=label
                ),
            )
        return Guess(
            0.5 if text else 0.35,
            _("JSON with {names}").format(names=", ".join(map(repr, list(first)[:4]))),
        )

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        if roles.chooses(options.mapping):
            return MultipleChoiceImporter().preview(source, options, limit)
        if roles.asks(options.mapping):
            return SquadImporter().preview(source, options, limit)
        columns: dict[str, None] = {}
        found = [
            (line, value)
            for line, value in islice(jsonl.values(source), limit)
            if isinstance(value, dict)
        ]
        objects = [value for _line, value in found]
        _fields(objects, source.name)
        for value in objects:
            columns.update(dict.fromkeys(map(str, value)))
        rows = tuple(
            TableRow(line, tuple(_cell(value.get(column, "")) for column in columns))
            for line, value in found
        )
        return Table(
            tuple(columns),
            rows,
            options.mapping or _guess(objects, options),
            _("fields of the JSON objects"),
        )

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        if roles.chooses(options.mapping):
            yield from MultipleChoiceImporter().read(source, options)
            return
        if roles.asks(options.mapping):
            yield from SquadImporter().read(source, options)
            return
        mapped = roles.parse(options.mapping)
        sample = [
            value for _, value in islice(jsonl.values(source), 200) if isinstance(value, dict)
        ]
        known = _fields(sample, source.name)
        if mapped:
            roles.check_columns(mapped, known, source.name)
        else:
            mapped = roles.parse(_guess(sample, options))
        if sample and not any(role.kind == "text" for role in mapped):
            _require_text(known, dict(_guess(sample, options)), source.name)
        mapped = roles.with_text(
            mapped, _guess(sample, options) or (("text", "text"),), source.name
        )
        yield from (Hint(*pair) for pair in roles.hinted(mapped))
        lists = _Lists({role.column for role in mapped if role.kind == "label"})
        for line, value in jsonl.values(source):
            try:
                record = _record(value, mapped, options)
                if not options.mapping:
                    record = of_single_text(record, options)
                record = with_relations(record, value, options)
                check(record)
                lists.add(value if isinstance(value, dict) else {})
                yield Row(line, record)
            except Fault as fault:
                yield Skipped(line, str(fault))
        yield from lists.remarks(source.name)


def _cell(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else jsonl.dumps(value)


# ---------------------------------------------------------------- which field is what


def _fields(sample: list[dict[str, Any]], file: str) -> list[str]:
    """The field names of the first records.

    Raises ImportFailed if there are too many for records.
    """
    found = list(dict.fromkeys(str(key) for value in sample for key in value))
    if len(found) > roles.MOST_COLUMNS:
        raise ImportFailed(
            _(
                "The first records of {file} have too many different fields: {count:,} of at "
                "most {most:,}."
            ).format(file=file, count=len(found), most=roles.MOST_COLUMNS),
            hint=_(
                "Check whether the file is one object that contains all records by name. "
                "A list of records is expected."
            ),
        )
    return found


def _require_text(known: list[str], guessed: dict[str, str], file: str) -> None:
    if "text" not in guessed:
        names = ", ".join(name[:40] for name in known[:12]) or _("none")
        raise ImportFailed(
            _("No field of the JSON objects in {file} contains a text.").format(file=file),
            hint=_("Their fields: {names}. A text is a string, in a field like “text”.").format(
                names=names
            ),
        )


def _guess(sample: list[dict[str, Any]], options: Options) -> tuple[tuple[str, str], ...]:
    """(role, field) pairs from the first records."""
    keys = dict.fromkeys(str(key) for value in sample for key in value)
    found: list[tuple[str, str]] = []
    text = next((key for key in _TEXT if key in keys), None)
    text_b = next((key for key in _TEXT_B if key in keys), None)
    text = text or _longest(sample)
    found += [("text", text)] if text else []
    found += [("text_b", text_b)] if text_b else []
    found += [(name, name) for name in ("id", "split", "group") if name in keys]
    classes = options.pair_layer if text_b else options.class_layer
    for key in _LABELS:
        if key in keys and (kind := _kind([value.get(key) for value in sample])):
            role = f"spans:{options.span_layer}" if kind == "spans" else f"label:{classes}"
            # records with relations may have their spans in another field than those without
            found += [(role, key)] if kind == "spans" or role not in dict(found) else []
    if "cats" in keys and f"label:{classes}" not in dict(found):
        found.append((f"label:{classes}", "cats"))
    found += _label_studio_roles(sample, found, options)
    used = {column for _, column in found}
    fields = {key: [value.get(key) for value in sample] for key in keys if key not in used}
    found += roles.scores(fields)
    used = {column for _, column in found}
    quiet = (*_QUIET, *_LABEL_STUDIO) if _is_label_studio(keys) else _QUIET
    left = [key for key in keys if key not in used and key not in quiet]
    found += roles.metadata(key for key in left if key not in ("meta", "metadata", "cats"))
    return tuple(found)


def _is_label_studio(keys: Iterable[str]) -> bool:
    return {"annotation_id", "lead_time"} <= set(keys) or {"annotation_id", "annotator"} <= set(
        keys
    )


def _label_studio_roles(
    sample: list[dict[str, Any]], found: list[tuple[str, str]], options: Options
) -> list[tuple[str, str]]:
    """Roles of further fields that hold spans or choices, in a layer of their own each."""
    if not _is_label_studio(key for value in sample for key in value):
        return []
    used = {column for _role, column in found}
    roles_: list[tuple[str, str]] = []
    for key in dict.fromkeys(str(key) for value in sample for key in value):
        values = [value.get(key) for value in sample]
        first = next((value for value in values if value), None)
        is_spans = isinstance(first, list) and isinstance(first[0], dict) and "labels" in first[0]
        if key in used or not (is_spans or (isinstance(first, dict) and "choices" in first)):
            continue
        kind, layer = ("spans", options.span_layer) if is_spans else ("label", options.class_layer)
        taken = {role for role, _column in (*found, *roles_)}
        roles_.append((f"{kind}:{key}" if f"{kind}:{layer}" in taken else f"{kind}:{layer}", key))
    return roles_


def _longest(sample: list[dict[str, Any]]) -> str | None:
    """The field with the longest strings, None where no field holds strings."""
    sizes: dict[str, int] = {}
    for value in sample:
        for key, content in value.items():
            if isinstance(content, str) and str(key) not in ("id", "split", "group"):
                sizes[str(key)] = sizes.get(str(key), 0) + len(content)
    return max(sizes, key=sizes.__getitem__) if sizes else None


def _kind(values: list[object]) -> str:
    """`spans` or `classes`, by the first value that is not empty; only empty lists are spans."""
    for value in values:
        if isinstance(value, (list, dict)) and value:
            item = next(iter(value)) if isinstance(value, list) else None
            return "spans" if isinstance(item, (list, dict)) else "classes"
        if isinstance(value, (str, bool, int, float)) and value != "":
            return "classes"
    return "spans" if any(isinstance(value, list) for value in values) else ""


# ---------------------------------------------------------------- one record


@dataclass
class _Lists:
    """Lists of classes: an empty one may mean "none of them" or "not labelled yet"."""

    columns: set[str]
    some: bool = False
    empty: int = 0

    def add(self, value: Mapping[str, Any]) -> None:
        for column in self.columns:
            if isinstance(found := value.get(column), list):
                self.some = self.some or bool(found)
                self.empty += not found

    def remarks(self, file: str) -> Iterator[Remark]:
        if self.some and self.empty:
            message = ngettext(
                "{file}: {n:,} document has an empty list of classes and counts as not labelled. "
                "If none of the classes applies to it, set its state to submitted on the Data "
                "page.",
                "{file}: {n:,} documents have an empty list of classes and count as not labelled. "
                "If none of the classes applies to them, set their state to submitted on the Data "
                "page.",
                self.empty,
            )
            yield Remark(message.format(file=file, n=self.empty))


@dataclass
class _Parts:
    spans: dict[str, tuple[Span, ...]]
    marks: dict[str, tuple[str, ...]]
    states: dict[str, str]
    text: str


def _record(value: object, mapped: tuple[roles.Role, ...], options: Options) -> Record:
    if isinstance(value, Fault):
        raise value
    if not isinstance(value, dict):
        raise Fault(_("expected an object with a text, found {value}").format(value=show(value)))
    by_kind = {role.kind: role.column for role in mapped if role.kind in roles.PLAIN}
    text = _text(value, by_kind["text"])
    second = by_kind.get("text_b")
    if second is not None and value.get(second) in (None, ""):
        second = None  # a single text among pairs
    text_b = _text(value, second) if second is not None else None
    parts = _Parts({}, {}, {}, text)
    meta: dict[str, object] = {}
    for role in mapped:
        if role.kind == "meta" and value.get(role.column) not in (None, ""):
            meta[role.name] = value[role.column]
        elif (role.kind in (*roles.CLASSES, roles.CHAINS) or role.in_text) and role.column in value:
            _labels(value[role.column], role, parts, options)
    for name in ("meta", "metadata"):
        if isinstance(extra := value.get(name), dict):
            meta = {**extra, **meta}
    document = Document(
        _key(value.get(by_kind.get("id", "id"))),
        texts_of(text, text_b),
        split_name(value[by_kind["split"]]) if by_kind.get("split") in value else None,
        _group(value[by_kind["group"]]) if by_kind.get("group") in value else None,
        meta,
    )
    cells = ((role, value.get(role.column)) for role in mapped)
    numbers, written = add_values(cells, parts.states)
    return Record(
        document, parts.states, parts.marks, parts.spans, numbers=numbers, written=written
    )


def _text(value: Mapping[str, Any], column: str) -> str:
    if column not in value:
        raise Fault(_("the record has no {column!r}").format(column=column))
    text = value[column]
    if not isinstance(text, str):
        raise Fault(
            _("{column!r} is {value}, expected a string").format(column=column, value=show(text))
        )
    return text


def _key(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise Fault(_("the id is {value}, expected a string or a number").format(value=show(value)))
    return str(value)


def _group(value: object) -> str | None:
    return None if value in (None, "") else str(value)


def _labels(value: object, role: roles.Role, parts: _Parts, options: Options) -> None:
    """Spans or classes, by what the value is: one file may hold both."""
    if value is None or value == "":
        return
    if isinstance(value, str):  # the usual class, without the checks below
        name = role.name if role.kind in roles.CLASSES else options.class_layer
        parts.marks[name] = (label_name(value),)
        parts.states[name] = "submitted"
        return
    if isinstance(value, dict) and isinstance(value.get("choices"), list):  # of Label Studio
        value = value["choices"]
    elif isinstance(value, dict):  # {"positive": 1.0, "negative": 0.0}
        if not all(is_number(score) or isinstance(score, bool) for score in value.values()):
            raise Fault(
                _("the labels are {value}, expected a list or a score for each class").format(
                    value=show(value)
                )
            )
        value = [name for name, score in value.items() if score >= 0.5]
    if not isinstance(value, list):
        value = [value]
    if any(isinstance(item, (list, dict)) for item in value) or (
        not value and role.kind not in roles.CLASSES
    ):
        name = role.name if role.kind not in roles.CLASSES else options.span_layer
        add_spans(parts.spans, name, [span for raw in value for span in _spans(raw, parts.text)])
        parts.states[name] = "submitted"
    elif value or role.kind == roles.LABELS:
        name = role.name if role.kind in roles.CLASSES else options.class_layer
        parts.marks[name] = tuple(dict.fromkeys(label_name(item) for item in value))
        parts.states[name] = "submitted"


def _spans(raw: object, text: str) -> list[Span]:
    """One span, or one for each label of a region of Label Studio."""
    if isinstance(raw, dict) and "label" not in raw and isinstance(raw.get("labels"), list):
        start, end = placed_span(text, raw.get("start"), raw.get("end"), raw.get("text"))
        return [Span(start, end, label_name(label)) for label in raw["labels"]]
    return [_span(raw)]


def _span(raw: object) -> Span:
    if isinstance(raw, dict):
        start, end = (
            raw.get("start_offset", raw.get("start")),
            raw.get("end_offset", raw.get("end")),
        )
        label = raw.get("label")
    elif isinstance(raw, list) and len(raw) == 3:
        start, end, label = raw
    else:
        raise Fault(_("a label is {raw}, expected [start, end, label]").format(raw=show(raw)))
    return Span(*span_offsets(start, end), label_name(label))
