"""doccano's JSON lines and JSON, and any other JSON whose fields can be guessed or are mapped.

Labels may be `[start, end, label]` triples, `{start_offset, end_offset, label}` objects, strings
(classes), `cats`, lists of tags for lists of tokens, or indicators (0 and 1) of classes. Records
may be pairs of a text and its annotations, as spaCy has them, and records of Argilla 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _, ngettext
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
    person_name,
    show,
    span_offsets,
    split_name,
    texts_of,
)
from workbench.importers.converted import Converted
from workbench.importers.fields import class_names, list_fields, roles, table_cells
from workbench.importers.fields.document_values import add_values, of_single_text
from workbench.importers.json import jsonl
from workbench.importers.json.multiple_choice import MultipleChoiceImporter
from workbench.importers.json.squad import SquadImporter
from workbench.importers.offsets import Counting, Offsets, Quote
from workbench.importers.source import Source
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document
from workbench.text.labels import TAG, Layer
from workbench.text.relations import Relation
from workbench.text.spans import Span

_TEXT = ("text", "data", "column_data", "text_a", "premise", "sentence1", "sentence_A",
         "sentence", "content")  # fmt: skip
_TEXT_B = ("text_b", "hypothesis", "sentence2", "sentence_B")
_LABELS = ("label", "labels", "entities", "annotations", "annotation", "column_label",
           "gold_label", "entailment_judgment", "entailment_label")  # fmt: skip
_QUIET = ("relations", "Comments", "comments", "annotation_approver", "_input_hash", "_task_hash")
_ARGILLA = ("prediction", "prediction_agent", "annotation_agent", "explanation", "vectors",
            "inputs", "metrics", "event_timestamp", "search_keywords", "multi_label",
            "status")  # fmt: skip
_RECORDS = ("data", "records", "rows", "examples", "instances", "items")
# What Label Studio's JSON-MIN adds to the fields of the data and of the labels.
_LABEL_STUDIO = ("annotator", "annotation_id", "created_at", "updated_at", "lead_time")


class DoccanoImporter:
    options = (list_fields.NAMES,)

    def sniff(self, head: str, name: str) -> Guess:
        if _as_object(jsonl.first_value(head)) is not None:
            return Guess(0.9, _("JSON with pairs of a text and its annotations, as spaCy has them"))
        first = jsonl.first_object(head)
        if not first:
            like = jsonl.opens(head) or name.lower().endswith((".json", ".jsonl"))
            return Guess(0.3, _("it looks like JSON")) if like else Guess(0.0)
        if _is_label_studio(first):
            return Guess(0.85, _("JSON with one annotation each, as Label Studio's JSON-MIN"))
        words, tags = list_fields.tokens_and_tags({key: [value] for key, value in first.items()})
        if tags:
            return Guess(
                0.92,
                _(
                    "JSON with lists of tokens ({tokens!r}) and tags ({tags!r})",
                    tokens=words,
                    tags=tags[0],
                ),
            )
        text = next((key for key in _TEXT if key in first), None)
        label = next((key for key in (*_LABELS, "cats") if key in first), None)
        if text and label:
            return Guess(
                0.8,
                _("JSON with {text!r} and {label!r}, as doccano writes it", text=text, label=label),
            )
        return Guess(
            0.5 if text else 0.35,
            _("JSON with {names}", names=", ".join(map(repr, list(first)[:4]))),
        )

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        if roles.chooses(options.mapping):
            return MultipleChoiceImporter().preview(source, options, limit)
        if roles.asks(options.mapping):
            return SquadImporter().preview(source, options, limit)
        columns: dict[str, None] = {}
        numbered = [
            (line, value)
            for line, value in islice(_values(source, options), limit)
            if isinstance(value, dict)
        ]
        objects = [value for _line, value in numbered]
        _fields(objects, source.name)
        for value in objects:
            columns.update(dict.fromkeys(map(str, value)))
        rows = tuple(
            TableRow(line, tuple(_cell(value.get(column, "")) for column in columns))
            for line, value in numbered
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
            value for _, value in islice(_values(source, options), 200) if isinstance(value, dict)
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
        form = _Form.of(mapped, sample, options)
        form.feed(value for _line, value in (_values(source, options) if form.tags.columns else ()))
        yield from form.layers()
        lists = _Lists({role.column for role in mapped if role.kind == "label"} - {*form.vectors})
        who = next((role.column for role in mapped if role.kind == roles.PERSON), "")
        for line, value in _values(source, options):
            try:
                rows = []
                for person, its in _by_person(value, who):
                    record = _record(its, form, options)
                    if not options.mapping:
                        record = of_single_text(record, options)
                    record = with_relations(record, its, options)
                    check(record)
                    rows.append(Row(line, record, person))
                lists.add(value if isinstance(value, dict) else {})
                yield from rows
            except Fault as fault:
                yield Skipped(line, str(fault))
        if named := sorted({*_named(source, options)} & {role.column for role in mapped}):
            message = _("{file}: the names of the classes of {columns} were taken from {info}.")
            columns = ", ".join(named)
            yield Remark(message.format(file=source.name, columns=columns, info=class_names.INFO))
        yield from form.remarks(source.name)
        yield from lists.remarks(source.name)


def _cell(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else jsonl.dumps(value)


def _named(source: Source, options: Options) -> dict[str, class_names.Decode]:
    """What gives numbers of classes their names: a description of the data set beside the file."""
    if isinstance(source, Converted) or list_fields.names_in(options.settings):
        return {}
    return class_names.beside(source.path)


def _values(source: Source, options: Options) -> Iterator[tuple[int, object]]:
    """(1-based line, record), with the names of classes that a description of the data set has."""
    named = _named(source, options)
    for line, value in _read(source):
        yield line, class_names.decoded(value, named) if named and type(value) is dict else value


def _read(source: Source) -> Iterator[tuple[int, object]]:
    """(1-based line, record), as objects: see `_as_object`."""
    for line, value in jsonl.values(source):
        pairs = (
            value.get("annotations") if isinstance(value, dict) and "text" not in value else None
        )
        if isinstance(pairs, list) and any(_as_object(pair) is not None for pair in pairs):
            for pair in filter(None, pairs):  # one list for all texts, with null for those without
                yield line, _as_object(pair) or pair
        elif (record := _as_object(value)) is not None:
            yield line, record
        elif records := _records_in(value):
            yield from ((line, record) for record in records)
        else:
            yield line, _with_inputs(value) if isinstance(value, dict) else value


def _records_in(value: object) -> list[object]:
    """The records in an object that says something of all of them: {"version": 1, "data": […]}."""
    if not isinstance(value, dict) or any(isinstance(value.get(name), str) for name in _TEXT):
        return []
    lists = [its for name in _RECORDS if isinstance(its := value.get(name), list) and its]
    records = lists[0] if len(lists) == 1 else []
    texts = (isinstance(item, dict) and any(name in item for name in _TEXT) for item in records)
    return records if all(texts) else []


def _as_object(value: object) -> dict[str, Any] | None:
    """The object of a pair of a text and its annotations: `[text, {"entities": […]}]`.

    Groups of spans (`"spans": {"sc": […]}`) become fields. None for anything else.
    """
    if not (isinstance(value, list) and len(value) == 2):
        return None
    text, parts = value
    if not isinstance(text, str) or not isinstance(parts, dict) or "text" in parts:
        return None
    groups = parts.get("spans")
    if isinstance(groups, dict):
        parts = {name: part for name, part in parts.items() if name != "spans"}
        parts |= {name: spans for name, spans in groups.items() if name not in parts}
    return {"text": text, **parts}


def _with_inputs(value: dict[str, Any]) -> dict[str, Any]:
    """A record of Argilla 1 for classes of texts, with its text in a field of its own."""
    inputs = value.get("inputs")
    if value.get("text") is not None or "annotation" not in value:
        return value
    if isinstance(inputs, dict) and len(inputs) > 0:
        inputs = inputs.get("text", next(iter(inputs.values())))
    return {**value, "text": inputs} if isinstance(inputs, str) else value


# ---------------------------------------------------------------- which field is what


def _fields(sample: list[dict[str, Any]], file: str) -> list[str]:
    """The field names of the first records.

    Raises ImportFailed if there are too many for records.
    """
    names = list(dict.fromkeys(str(key) for value in sample for key in value))
    if len(names) > roles.MAX_COLUMNS:
        raise ImportFailed(
            _(
                "The first records of {file} have too many different fields: {count:,} of at "
                "most {most:,}.",
                file=file,
                count=len(names),
                most=roles.MAX_COLUMNS,
            ),
            hint=_(
                "Check whether the file is one object that contains all records by name. "
                "A list of records is expected."
            ),
        )
    return names


def _require_text(known: list[str], guessed: dict[str, str], file: str) -> None:
    if "text" not in guessed:
        names = ", ".join(name[:40] for name in known[:12]) or _("none")
        raise ImportFailed(
            _("No field of the records in {file} contains a text.", file=file),
            hint=_(
                "Their fields: {names}. A text is a string, in a field like “text”.", names=names
            ),
        )


def _guess(sample: list[dict[str, Any]], options: Options) -> tuple[tuple[str, str], ...]:
    """(role, field) pairs from the first records."""
    keys = dict.fromkeys(str(key) for value in sample for key in value)
    all_fields = {key: [value.get(key) for value in sample] for key in keys}
    mapping: list[tuple[str, str]] = []
    text = next((key for key in _TEXT if key in keys and not _is_listed(all_fields[key])), None)
    text_b = next((key for key in _TEXT_B if key in keys), None)
    words, tags = list_fields.tokens_and_tags(all_fields, text or "")
    words = words or list_fields.tokens_alone(all_fields, text or "")
    text = text or words or _longest(sample)
    mapping += [("text", text)] if text else []
    mapping += [(roles.TOKENS, words)] if words and words != text else []
    mapping += [("text_b", text_b)] if text_b else []
    mapping += [(name, name) for name in ("id", "split", "group") if name in keys]
    layers = list_fields.layers_of(
        all_fields, tags, span_layer=options.span_layer, tag_layer=options.tag_layer
    )
    mapping += [(f"{roles.TAG}:{layer}", column) for column, layer in layers.items()]
    classes = options.pair_layer if text_b else options.class_layer
    used = {column for _role, column in mapping}
    for key in _LABELS:
        if key in keys and key not in used and (kind := _kind(all_fields[key])):
            role = f"spans:{options.span_layer}" if kind == "spans" else f"label:{classes}"
            if kind == "classes" and list_fields.vector_length(all_fields[key]):
                role = f"{roles.LABELS}:{classes}"
            # records with relations may have their spans in another field than those without
            mapping += [(role, key)] if kind == "spans" or role not in dict(mapping) else []
    if "cats" in keys and f"label:{classes}" not in dict(mapping):
        mapping.append((f"label:{classes}", "cats"))
    used = {column for _, column in mapping}
    fields = {key: values for key, values in all_fields.items() if key not in used}
    mapping += _choice_roles(fields, mapping, options)
    mapping += _span_roles(fields, mapping)
    used = {column for _, column in mapping}
    fields = {key: values for key, values in all_fields.items() if key not in used}
    if not any(
        role.partition(":")[0] in (*roles.CLASSES, *roles.IN_TEXT) for role, _its in mapping
    ):
        indicators = list_fields.indicator_columns(fields)
        mapping += [(f"{roles.LABELS}:{classes}", column) for column in indicators]
    mapping += roles.scores(fields)
    if _is_label_studio(keys) and "annotator" in keys:
        mapping.append((roles.PERSON, "annotator"))
    else:
        mapping += roles.people(fields, all_fields.get(text or "", ()))
    used = {column for _, column in mapping}
    quiet = (*_QUIET, *_LABEL_STUDIO) if _is_label_studio(keys) else _QUIET
    quiet = (*quiet, *_ARGILLA) if _is_argilla(keys) else quiet
    left = [key for key in keys if key not in used and key not in quiet]
    mapping += roles.metadata(key for key in left if key not in ("meta", "metadata", "cats"))
    return tuple(mapping)


def _is_listed(values: Sequence[object]) -> bool:
    return any(isinstance(value, list) for value in values)


def _is_argilla(keys: Iterable[str]) -> bool:
    return {"annotation", "prediction"} <= set(keys)


def _is_label_studio(keys: Iterable[str]) -> bool:
    keys = set(keys)
    return {"annotation_id", "lead_time"} <= keys or {"annotation_id", "annotator"} <= keys


def _choice_roles(
    fields: Mapping[str, Sequence[object]], mapping: Sequence[tuple[str, str]], options: Options
) -> list[tuple[str, str]]:
    """Roles of the fields that hold choices or regions of Label Studio: several groups of choices
    have a layer each.
    """
    groups = {name: kind for name, values in fields.items() if (kind := _group_of(values))}
    several = {kind: [*groups.values()].count(kind) > 1 for kind in groups.values()}
    usual = {"label": options.class_layer, "spans": options.span_layer}
    taken = {role for role, _column in mapping}
    roles_ = []
    for name, kind in groups.items():
        layer = usual[kind]
        own = (several[kind] and kind == "label") or f"{kind}:{layer}" in taken
        roles_.append((f"{kind}:{name}" if own else f"{kind}:{layer}", name))
        taken.add(roles_[-1][0])
    return roles_


def _group_of(values: Sequence[object]) -> str:
    """`label` for choices, `spans` for regions with labels, both of Label Studio; else ""."""
    if any(isinstance(value, dict) and isinstance(value.get("choices"), list) for value in values):
        return "label"
    first = next((value for value in values if value), None)
    is_regions = isinstance(first, list) and isinstance(first[0], dict) and "labels" in first[0]
    return "spans" if is_regions else ""


def _span_roles(
    fields: Mapping[str, Sequence[object]], mapping: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Roles of the other fields that hold lists of spans, in a layer of their own each."""
    used = {column for _role, column in mapping}
    return [
        (f"spans:{name}", name)
        for name, values in fields.items()
        if name not in used and name not in _QUIET and table_cells.are_lists_of_spans(values)
    ]


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
            if isinstance(items := value.get(column), list):
                self.some = self.some or bool(items)
                self.empty += not items

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
                file=file,
            )
            yield Remark(message)


@dataclass
class _Parts:
    spans: dict[str, tuple[Span, ...]]
    marks: dict[str, tuple[str, ...]]
    states: dict[str, str]
    counting: Counting


@dataclass
class _Form:
    """What is the same for all records. vectors: fields of lists of indicators → their length.
    indicators: fields with an indicator of a class each. blank: fields → values for no class.
    replaced: texts that were replaced by their tokens.
    """

    mapped: tuple[roles.Role, ...]
    tags: list_fields.Tags
    names: tuple[str, ...]
    vectors: dict[str, int] = field(default_factory=dict)
    indicators: frozenset[str] = frozenset()
    blank: dict[str, frozenset[str]] = field(default_factory=dict)
    replaced: int = 0
    predicted: int = 0
    offsets: Offsets = field(default_factory=Offsets)

    @classmethod
    def of(
        cls, mapped: tuple[roles.Role, ...], sample: Sequence[Mapping[str, Any]], options: Options
    ) -> _Form:
        names = list_fields.names_in(options.settings)
        tags = [(role.column, role.name) for role in mapped if role.is_tag]
        fields = {role.column: [value.get(role.column) for value in sample] for role in mapped}
        lengths = {
            role.column: list_fields.vector_length(fields[role.column])
            for role in mapped
            if role.kind in roles.CLASSES
        }
        vectors = {column: length for column, length in lengths.items() if length}
        indicators = list_fields.shared_indicators(roles.several(mapped), fields)
        texts = 1 + any(role.kind == "text_b" for role in mapped)
        blank = {
            role.column: list_fields.unlabelled(fields[role.column], texts)
            for role in mapped
            if role.kind == "label"
        }
        return cls(mapped, list_fields.Tags(tags, names), names, vectors, indicators, blank)

    @cached_property
    def in_text(self) -> tuple[str, ...]:
        """The fields that may have spans."""
        kinds = (*roles.IN_TEXT, *roles.CLASSES)
        return tuple(role.column for role in self.mapped if role.kind in kinds)

    @cached_property
    def class_names(self) -> tuple[str, ...]:
        """The names of numbered classes; with tags, the names are those of tags."""
        return () if self.tags.columns else self.names

    def feed(self, values: Iterable[object]) -> None:
        """Read the tags of all records: they decide on the scheme."""
        for value in values:
            if isinstance(value, dict):
                for column in self.tags.columns:
                    self.tags.feed(column, value.get(column))

    def layers(self) -> Iterator[Hint | Layer]:
        """The kinds of the layers, as far as the roles say them."""
        yield from (Hint(*pair) for pair in roles.hinted(self.mapped))
        yield from (Hint(name, TAG) for name in self.tags.tag_layers())
        texts = 1 + any(role.kind == "text_b" for role in self.mapped)
        classes = [(role.name, role.column) for role in self.mapped if role.kind in roles.CLASSES]
        yield from list_fields.indicated_layers(
            classes, self.vectors, self.indicators, self.names, texts
        )

    def remarks(self, file: str) -> Iterator[Remark]:
        for message in self.tags.remarks(file):
            yield Remark(message)
        for column, length in self.vectors.items() if not self.names else ():
            yield Remark(list_fields.vector_remark(file, column, length))
        if self.replaced:
            yield Remark(list_fields.replaced_remark(file, self.replaced))
        for message in self.offsets.remarks(file):
            yield Remark(message)
        if self.predicted:
            message = ngettext(
                "{name}: {n:,} record has predictions, which were not imported.",
                "{name}: {n:,} records have predictions, which were not imported.",
                self.predicted,
            )
            yield Remark(message.format(name=file, n=self.predicted))


def _record(value: object, form: _Form, options: Options) -> Record:
    if isinstance(value, Fault):
        raise value
    if not isinstance(value, dict):
        raise Fault(_("expected an object with a text, found {value}", value=show(value)))
    mapped = form.mapped
    by_kind = {role.kind: role.column for role in mapped if role.kind in roles.PLAIN}
    text, tokens = _text_and_tokens(value, by_kind, form)
    second = by_kind.get("text_b")
    if second is not None and value.get(second) in (None, ""):
        second = None  # a single text among pairs
    text_b = _text(value, second) if second is not None else None
    quotes = _quotes(value, form.in_text)
    counting = form.offsets.counting(text, quotes, fixed=bool(tokens) or text_b is not None)
    text = counting.text
    parts = _Parts({}, {}, {}, counting)
    meta: dict[str, object] = {}
    for role in mapped:
        if role.kind == "meta" and value.get(role.column) not in (None, ""):
            meta[role.name] = value[role.column]
        elif role.is_tag and tokens and value.get(role.column) is not None:
            tagged = form.tags.spans(role.column, value[role.column], tokens)
            add_spans(parts.spans, role.name, tagged)
            parts.states[role.name] = "submitted"
        elif role.column in form.indicators or role.column in form.vectors:
            _indicated(value.get(role.column), role, parts, form)
        elif (role.kind in (*roles.CLASSES, roles.CHAINS) or role.in_text) and role.column in value:
            _labels(value[role.column], role, parts, options, form)
    for name in ("meta", "metadata"):
        if isinstance(extra := value.get(name), dict):
            meta = {**extra, **meta}
    document = Document(
        _key(value.get(by_kind.get("id", "id"))),
        texts_of(text, text_b),
        split_name(value[by_kind["split"]]) if by_kind.get("split") in value else None,
        _group(value[by_kind["group"]]) if by_kind.get("group") in value else None,
        meta,
        {TEXT: tokens} if tokens else {},
    )
    if "annotation" in value and _is_argilla(value):
        form.predicted += value.get("prediction") is not None
        if value.get("status") == "Discarded":
            layers = parts.states or {options.class_layer: ""}
            parts = replace(parts, states=dict.fromkeys(layers, "discarded"))
    cells = ((role, value.get(role.column)) for role in mapped)
    numbers, written = add_values(cells, parts.states)
    return Record(
        document, parts.states, parts.marks, parts.spans, numbers=numbers, written=written
    )


def _by_person(value: object, column: str) -> Iterator[tuple[str, object]]:
    """Whose labels a record has, and the record, for each person.

    column: the field with the name, "" for none. Else each label may have a number (`user`), as
    doccano wrote it before version 1.3. Raises Fault.
    """
    if not isinstance(value, dict):
        yield "", value
        return
    people: dict[str, None] = {}
    for name in (*_LABELS, "relations") if not column else ():
        listed = value.get(name)
        for label in listed if isinstance(listed, list) else ():
            if type(label) is dict and label.get("user") is not None:
                people[person_name(label["user"])] = None
    if not people:
        yield person_name(value.get(column)) if column else "", value
    for person in people:
        its = {name: _of_person(part, person) for name, part in value.items()}
        yield person, its


def _of_person(part: object, person: str) -> object:
    """A list of labels, without those of other people."""
    if not isinstance(part, list):
        return part
    return [
        label
        for label in part
        if type(label) is not dict or person_name(label.get("user")) in ("", person)
    ]


def _text_and_tokens(
    value: Mapping[str, Any], columns: Mapping[str, str], form: _Form
) -> tuple[str, list_fields.Offsets]:
    """The text and its tokens; without a text, or if they do not occur in it, those make the text.

    Raises Fault.
    """
    column = columns["text"]
    if isinstance(value.get(column), list):
        return list_fields.joined(value[column], column)
    text = _text(value, column)
    words = columns.get(roles.TOKENS)
    if words is None or value.get(words) is None:
        return text, ()
    tokens = list_fields.place_tokens(list_fields.tokens_of(value[words], words), text)
    if tokens is not None:
        return text, tokens
    form.replaced += 1
    return list_fields.joined(value[words], words)


def _indicated(value: object, role: roles.Role, parts: _Parts, form: _Form) -> None:
    """Add the classes that are set; none of them is an answer, too."""
    if role.column in form.vectors:
        if value is None:
            return
        length = form.vectors[role.column]
        names = list_fields.classes_of_vector(value, length, form.names)
    else:
        is_on = list_fields.is_on(value, role.column)
        if is_on is None:
            return
        names = (role.column,) if is_on else ()
    parts.marks[role.name] = tuple(dict.fromkeys((*parts.marks.get(role.name, ()), *names)))
    parts.states[role.name] = "submitted"


def _text(value: Mapping[str, Any], column: str) -> str:
    if column not in value:
        raise Fault(_("the record has no {column!r}", column=column))
    text = value[column]
    if not isinstance(text, str):
        raise Fault(_("{column!r} is {value}, expected a string", column=column, value=show(text)))
    return text


def _key(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise Fault(_("the id is {value}, expected a string or a number", value=show(value)))
    return str(value)


def _group(value: object) -> str | None:
    return None if value in (None, "") else str(value)


def _labels(value: object, role: roles.Role, parts: _Parts, options: Options, form: _Form) -> None:
    """Spans or classes, by what the value is: one file may hold both."""
    if value is None or value == "":
        return
    if list_fields.is_unlabelled(value, form.blank.get(role.column, frozenset())):
        return
    if isinstance(value, str):  # the usual class, without the checks below
        name = role.name if role.kind in roles.CLASSES else options.class_layer
        label = list_fields.class_name(value, form.class_names)
        parts.marks[name] = _together(parts.marks.get(name, ()), (label,), role)
        parts.states[name] = "submitted"
        return
    if isinstance(value, dict) and isinstance(value.get("choices"), list):  # of Label Studio
        value = value["choices"]
    elif isinstance(value, dict):  # {"positive": 1.0, "negative": 0.0}
        if not all(is_number(score) or isinstance(score, bool) for score in value.values()):
            raise Fault(
                _(
                    "the labels are {value}, expected a list or a score for each class",
                    value=show(value),
                )
            )
        value = [name for name, score in value.items() if score >= 0.5]
    if not isinstance(value, list):
        value = [value]
    if any(isinstance(item, (list, dict)) for item in value) or (
        not value and role.kind not in roles.CLASSES
    ):
        name = role.name if role.kind not in roles.CLASSES else options.span_layer
        add_spans(
            parts.spans, name, [span for raw in value for span in _spans(raw, parts.counting)]
        )
        parts.states[name] = "submitted"
    elif value or role.kind == roles.LABELS:
        name = role.name if role.kind in roles.CLASSES else options.class_layer
        class_names = (list_fields.class_name(item, form.class_names) for item in value)
        names = tuple(dict.fromkeys(class_names))
        parts.marks[name] = _together(parts.marks.get(name, ()), names, role)
        parts.states[name] = "submitted"


def _together(before: tuple[str, ...], names: tuple[str, ...], role: roles.Role) -> tuple[str, ...]:
    """The classes of a field, with those of other fields of the same role `labels`."""
    return tuple(dict.fromkeys((*before, *names))) if role.kind == roles.LABELS else names


def _quotes(value: Mapping[str, Any], columns: Iterable[str]) -> Iterator[Quote | None]:
    """What the objects of spans in some fields say that they cover."""
    for column in columns:
        listed = value.get(column)
        for raw in listed if isinstance(listed, list) else ():
            if type(raw) is dict:
                yield Quote.of(*_ends(raw), raw.get("text"))


def _ends(raw: Mapping[str, Any]) -> tuple[object, object]:
    return raw.get("start_offset", raw.get("start")), raw.get("end_offset", raw.get("end"))


def _spans(raw: object, counting: Counting) -> list[Span]:
    """One span, or one for each label of a region of Label Studio."""
    if isinstance(raw, dict) and "label" not in raw and isinstance(raw.get("labels"), list):
        start, end = counting.span(*span_offsets(raw.get("start"), raw.get("end")))
        return [Span(start, end, label_name(label)) for label in raw["labels"]]
    span = _span(raw)
    if counting.is_usual:
        return [span]
    start, end = counting.span(span.start, span.end)
    return [
        span if start == span.start and end == span.end else replace(span, start=start, end=end)
    ]


def _span(raw: object) -> Span:
    if isinstance(raw, dict):
        start, end = _ends(raw)
        label = raw.get("label")
    elif isinstance(raw, list) and len(raw) in (3, 4):
        start, end, label = raw[:3]
        if isinstance(start, str) and type(end) is int and type(label) is int:  # of Argilla
            start, end, label = end, label, start
        if len(raw) == 4 and not is_number(raw[3]):  # a score
            raise Fault(_("a label is {raw}, expected [start, end, label]", raw=show(raw)))
    else:
        raise Fault(_("a label is {raw}, expected [start, end, label]", raw=show(raw)))
    return Span(*span_offsets(start, end), label_name(label))


def with_relations(record: Record, value: object, options: Options) -> Record:
    """The record with its relations, if the line has any. Raises Fault."""
    raw = value.get("relations") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not raw:
        return record
    if not isinstance(raw, list):
        raise Fault(_("the relations are {value}, expected a list", value=show(raw)))
    by_id = _by_id(value)
    relations = tuple(dict.fromkeys(_relation(item, by_id) for item in raw))
    name = options.relation_layer
    return replace(
        record,
        relations={**record.relations, name: relations},
        states={**record.states, name: "submitted"},
    )


def _by_id(value: Mapping[str, Any]) -> dict[str, Span]:
    spans = {}
    for name in ("entities", "label", "labels"):
        raw = value.get(name)
        for item in raw if isinstance(raw, list) else ():
            if isinstance(item, dict) and "id" in item:
                start, end = span_offsets(
                    item.get("start_offset", item.get("start")),
                    item.get("end_offset", item.get("end")),
                )
                spans[str(item["id"])] = Span(start, end, label_name(item.get("label")))
    return spans


def _relation(item: object, by_id: Mapping[str, Span]) -> Relation:
    if not isinstance(item, dict):
        raise Fault(_("a relation is {value}, expected an object", value=show(item)))
    ends = [by_id.get(str(item.get(name))) for name in ("from_id", "to_id")]
    if ends[0] is None or ends[1] is None:
        raise Fault(
            _(
                "a relation names the entities {one} and {other}; one is missing",
                one=show(item.get("from_id")),
                other=show(item.get("to_id")),
            )
        )
    return Relation(label_name(item.get("type", item.get("label"))), ends[0], ends[1])
