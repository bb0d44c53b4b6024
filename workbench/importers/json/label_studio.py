"""Label Studio's JSON export: tasks with the annotations of several people, see `completed_by`.

The flat JSON-MIN export is read by the importer of JSON objects, see `doccano`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _, ngettext
from workbench.base.untrusted import leads_out
from workbench.importers.base import (
    CURATED,
    RELATIONS,
    Fault,
    Guess,
    Item,
    Options,
    Remark,
    Row,
    Skipped,
    Table,
    TableRow,
    check,
    label_name,
    person_name,
    show,
    span_offsets,
    split_name,
    unique_spans,
)
from workbench.importers.fields import roles
from workbench.importers.json import jsonl
from workbench.importers.offsets import Counting, Offsets, Quote
from workbench.importers.record_checks import STATES as LABELLED_STATES
from workbench.importers.source import Source
from workbench.text.dataset import Record
from workbench.text.document import CHOICE, QUESTION, TEXT, TEXT_B, Document
from workbench.text.labels import MARKS, RELATION, SPANS
from workbench.text.relations import Relation
from workbench.text.spans import Span

Region = tuple[str, Span]  # its layer, and what it covers
# of an annotation: span, class, or "" for what is not imported; and the result
Results = list[tuple[str, Mapping[str, Any]]]
OWN = "glossbench_states"  # of an annotation: the state of each layer of Glossbench
_SPANS = ("labels", "hypertextlabels")  # types of results that are spans
_KINDS = {**dict.fromkeys(_SPANS, SPANS), "choices": MARKS}
_FIELDS = ("text", "content", "sentence", "document", "body", "title", "html", "dialogue")
_MEDIA_FIELD = re.compile(r"image|img|audio|video|pdf|photo|url|path", re.I)
_MEDIA = ("://", "data:", "/data/", "s3:", "gs:")
_MEDIA_NAME = re.compile(  # of a file that is no text
    r"\.(?:jpe?g|png|gif|webp|bmp|tiff?|svg|mp3|wav|ogg|m4a|flac|mp4|avi|mov|webm|mkv|pdf)$", re.I
)
_TEXT_NAME = re.compile(r"\.(?:te?xt|md|html?)$", re.I)
_UPLOADED = re.compile(r"^[0-9a-f]{8}-")
_MEDIA_ENDINGS = (".jpg", ".jpeg", ".png", ".gif", ".webp", ".mp3", ".wav", ".mp4", ".pdf", ".flac")


class LabelStudioImporter:
    def sniff(self, head: str, name: str) -> Guess:
        first = jsonl.first_object(head)
        keys = set(first) or set(jsonl.keys_in(head))
        results = {"annotations", "predictions", "completions"} & keys
        if not results or "data" not in keys or not isinstance(first.get("data", {}), dict):
            return Guess(0.0)
        return Guess(0.95, _("JSON with tasks and annotations, as Label Studio exports it"))

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        form = _Form.of(source, options)
        rows = []
        for line, task in islice(jsonl.values(source), limit):
            if isinstance(task, dict) and isinstance(task.get("data"), dict):
                text = task["data"].get(form.text)
                labels = ", ".join(_preview_labels(task, form))
                rows.append(TableRow(line, (text if isinstance(text, str) else "", labels)))
        return Table(
            (form.text, _("labels")),
            tuple(rows),
            (),
            _("tasks of Label Studio; the text is in the field {field!r}", field=form.text),
        )

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        form = _Form.of(source, options)
        left: Counter[str] = Counter()
        for line, task in jsonl.values(source):
            try:
                rows = _rows(line, task, form, left)
                lengths = None  # of the texts, which all rows share
                for row in rows:
                    lengths = check(row.record, lengths)
                yield from rows
            except Fault as fault:
                yield Skipped(line, str(fault))
        yield from (Remark(message) for message in form.offsets.remarks(source.name))
        yield from (Remark(message) for message in _remarks(source.name, left))


# ---------------------------------------------------------------- the form of a file


@dataclass(frozen=True)
class _Form:
    """`text`: the field of the data with the text. `layers`: by name of a control and its kind.
    `markup`: whether the texts are HTML. `folder`: where the texts are, if the data have only their
    addresses. people: id → name of those who completed annotations.
    """

    text: str
    layers: dict[tuple[str, str], str] = field(default_factory=dict)
    relation_layer: str = RELATIONS
    markup: bool = False
    folder: Path | None = None
    people: dict[str, str] = field(default_factory=dict)
    offsets: Offsets = field(default_factory=Offsets)

    @classmethod
    def of(cls, source: Source, options: Options) -> _Form:
        """Read all tasks: every control must be known before the first task is imported."""
        chosen = _chosen_field(options, source.name)
        sizes: Counter[str] = Counter()
        controls: dict[str, dict[str, None]] = {SPANS: {}, MARKS: {}}
        tasks = 0
        types: set[str] = set()
        links: Counter[str] = Counter()  # by field: values that may be files of text
        are_texts = False  # whether one is by its name
        people: dict[str, tuple[str, str]] = {}  # id → name and email
        for _line, task in jsonl.values(source, checked=False):
            if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
                continue
            tasks += 1
            for name, value in task["data"].items():
                if isinstance(value, str) and not _is_media(str(name), value):
                    sizes[str(name)] += len(value)
                elif isinstance(value, str) and not _MEDIA_NAME.search(value.strip()):
                    links[str(name)] += 1
                    are_texts |= _TEXT_NAME.search(value.strip()) is not None
            annotations = _annotations(task)
            for entry in annotations:
                who = entry.get("completed_by")
                if who and not (type(who) is int and str(who) in people):
                    people.update([_person(entry)])
            for kind, result in chain.from_iterable(map(_results, annotations)):
                types.add(str(result.get("type")))
                if kind:
                    controls[kind][str(result.get("from_name", ""))] = None
        if not sizes and links and not chosen and (are_texts or types & {*_SPANS}):
            chosen = links.most_common(1)[0][0]
        if tasks and not sizes and not chosen:
            raise ImportFailed(
                _(
                    "{name} holds Label Studio annotations of images, audio or video.",
                    name=source.name,
                ),
                hint=_("Only annotations of text can be imported."),
            )
        usual = next((name for name in _FIELDS if name in sizes), None)
        text = chosen or usual or (max(sizes, key=sizes.__getitem__) if sizes else TEXT)
        markup = "hypertextlabels" in types
        layers = _layers(controls, options)
        folder = source.path.parent if links[text] and not sizes[text] else None
        return cls(text, layers, options.relation_layer, markup, folder, _names_of(people))


def _chosen_field(options: Options, file: str) -> str:
    mapped = roles.parse(options.mapping)
    if other := [role.text for role in mapped if role.kind != "text"]:
        raise ImportFailed(
            _(
                "{file}: a field of Label Studio's tasks cannot be {names}.",
                file=file,
                names=", ".join(other),
            ),
            hint=_("Use text=FIELD; labels are taken from the annotations."),
        )
    return mapped[0].column if mapped else ""


def _layers(controls: dict[str, dict[str, None]], options: Options) -> dict[tuple[str, str], str]:
    """The only control of its kind goes to the usual layer, several get one each."""
    layers = {}
    for kind, names in controls.items():
        usual = options.span_layer if kind == SPANS else options.class_layer
        for name in names:
            layers[kind, name] = usual if len(names) == 1 or not name else name
    return layers


def _is_media(name: str, value: str) -> bool:
    short = value.strip().lower()
    if len(short) > 2_000 or " " in short:
        return False
    if _MEDIA_FIELD.search(name):
        return True
    return short.startswith(_MEDIA) or "://" in short[:12] or short.endswith(_MEDIA_ENDINGS)


# ---------------------------------------------------------------- tasks


def _annotations(task: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    entries = task.get("annotations", task.get("completions"))
    return (
        [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    )


def _person(annotation: Mapping[str, Any]) -> tuple[str, tuple[str, str]]:
    """The id of who completed an annotation → name and email; what cannot be read has no name.

    `completed_by` is a number, or an object with id, email, first_name and last_name.
    """
    who = annotation["completed_by"]
    try:
        if not isinstance(who, dict):
            return str(who), (person_name(who), "")
        parts = [who.get(part) for part in ("first_name", "last_name", "email", "username", "id")]
        first, last, email, username, id = (
            str(part).strip() if _is_named(part) else "" for part in parts
        )
        name = " ".join(filter(None, (first, last))) or email or username or person_name(parts[-1])
        return id or email or username or name, (name, email or id)
    except Fault:  # reported with its task
        return "", ("", "")


def _is_named(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _names_of(people: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Id → name; the address, or else the id, distinguishes people with the same name."""
    shared = Counter(name for name, _email in people.values())
    names = {}
    for id, (name, email) in people.items():
        with suppress(Fault):  # reported with its task
            names[id] = person_name(f"{name} ({email or id})" if shared[name] > 1 else name)
    return names


def _versions(
    task: Mapping[str, Any], form: _Form, left: Counter[str]
) -> list[tuple[str, Mapping[str, Any] | None]]:
    """(person, annotation): one of each person, and the ground truth of several as curated labels.

    Of the annotations without a person only one is used, and it only if no other has one. Raises
    Fault.
    """
    people: dict[str, list[Mapping[str, Any]]] = {}
    for annotation in _annotations(task):
        who = annotation.get("completed_by")
        id = str(who) if type(who) is int else _person(annotation)[0] if who else ""
        people.setdefault(form.people.get(id) or person_name(who), []).append(annotation)
    unnamed = people.pop("", [])
    if not people:
        left["several"] += len(_done(unnamed)) > 1
        return [("", _chosen(unnamed))]
    left["unnamed"] += bool(unnamed)
    left["again"] += any(len(_done(entries)) > 1 for entries in people.values())
    versions = {name: _chosen(entries) or entries[0] for name, entries in people.items()}
    truth = [entry for entry in versions.values() if entry.get("ground_truth")]
    if truth and len(versions) > 1:
        versions.setdefault(CURATED, truth[0])
    return list(versions.items())


def _done(annotations: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [annotation for annotation in annotations if not annotation.get("was_cancelled")]


def _chosen(annotations: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The annotation that is used: the ground truth, else the first that was not cancelled."""
    done = _done(annotations)
    return next(
        (mapping for mapping in done if mapping.get("ground_truth")), done[0] if done else None
    )


def _results(annotation: Mapping[str, Any] | None) -> Results:
    results = annotation.get("result") if annotation else None
    if not isinstance(results, list):
        return []
    return [(_kind(result), result) for result in results if isinstance(result, dict)]


def _kind(result: Mapping[str, Any]) -> str:
    if not isinstance(result.get("value"), dict):
        return ""
    return _KINDS.get(str(result.get("type")), "")


def _rows(line: int, task: object, form: _Form, left: Counter[str]) -> list[Row]:
    """One row for each person; `left` counts what they cannot hold."""
    if isinstance(task, Fault):
        raise task
    if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
        raise Fault(_("expected a task with data, found {value}", value=show(task)))
    data = task["data"]
    if not isinstance(data.get(form.text), str):
        raise Fault(_("the data have no text in the field {field!r}", field=form.text))
    versions = _versions(task, form, left)
    text = _linked_text(data[form.text], form)
    results = [_results(annotation) for _name, annotation in versions]
    quotes = [quote for some in results for quote in _quotes(some)]
    counting = form.offsets.counting(text, quotes, markup=form.markup)
    document = _document(task, {**data, form.text: counting.text}, form)
    left["predictions"] += bool(task.get("predictions"))
    rows = []
    for (name, annotation), some in zip(versions, results, strict=True):
        was_cancelled = annotation is None or bool(annotation.get("was_cancelled"))
        used = [] if was_cancelled else some
        marks, spans, regions = _labels(used, counting, form, left)
        related = _relations(used, regions, left)
        relations = {form.relation_layer: related} if related else {}
        states = _states(task, annotation, marks, form) | dict.fromkeys(relations, "submitted")
        rows.append(Row(line, Record(document, states, marks, spans, relations=relations), name))
    return rows


def _linked_text(value: str, form: _Form) -> str:
    """The text of a task, from the file beside if the task has its address. Raises Fault."""
    if form.folder is None:
        return value
    address = urlsplit(value.strip())
    local = parse_qs(address.query).get("d", [""])[0]  # /data/local-files/?d=folder/name
    name = (local or unquote(address.path)).rpartition("/")[2] or value.strip()
    # Label Studio puts eight digits and a hyphen before the names of uploaded files
    for candidate in dict.fromkeys((name, _UPLOADED.sub("", name))):
        path = form.folder / candidate
        if candidate and leads_out(path, form.folder):
            message = _("the text is in {name}, a link that leads out of the folder of the export")
            raise Fault(message.format(name=candidate))
        if candidate and path.is_file():
            return Source(path).text()
    raise Fault(
        _(
            "the text is not in the task but in the file {name} ({address}); put it beside the "
            "export, or export the tasks with their texts",
            name=name,
            address=show(value, 60),
        )
    )


def _places(value: Mapping[str, Any]) -> tuple[object, object]:
    """Start and end of a span in the whole text. Raises Fault."""
    places = value.get("globalOffsets") if "globalOffsets" in value else value
    if not isinstance(places, dict):
        raise Fault(_("a span is {value}", value=show(places)))
    return places.get("start"), places.get("end")


def _quotes(results: Results) -> Iterator[Quote | None]:
    for kind, result in results:
        if kind == SPANS:
            yield Quote.of(*_places(result["value"]), result["value"].get("text"))


def _relations(
    results: Results, regions: Mapping[str, Region], left: Counter[str]
) -> tuple[Relation, ...]:
    """Relations between regions of one layer; without a label they are "related"."""
    relations: dict[Relation, None] = {}
    for _kind, result in results:
        if result.get("type") != RELATION.id:
            continue
        ends = [regions.get(str(result.get(name))) for name in ("from_id", "to_id")]
        pair, other = ends if result.get("direction") != "left" else ends[::-1]
        if pair is None or other is None or pair[0] != other[0]:
            left[RELATION.id] += 1
            continue
        for name in result.get("labels") or ("related",):
            relations[Relation(label_name(name), pair[1], other[1])] = None
    return tuple(relations)


def _labels(
    results: Results, counting: Counting, form: _Form, left: Counter[str]
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[Span, ...]], dict[str, Region]]:
    """Classes and spans by layer, and the spans by the ids of their regions."""
    regions: dict[str, Region] = {}
    marks: dict[str, dict[str, None]] = {}
    spans: dict[str, list[Span]] = {}
    for kind, result in results:
        if not kind and result.get("type") == RELATION.id:
            continue
        if not kind:
            left[str(result.get("type") or "?")[:40]] += 1
            continue
        layer = form.layers[kind, str(result.get("from_name", ""))]
        value = result["value"]
        names = _names(value.get(str(result["type"])))
        if kind == MARKS:
            marks.setdefault(layer, {}).update(dict.fromkeys(names))
        else:
            start, end = _placed(value, counting)
            spans.setdefault(layer, []).extend(Span(start, end, name) for name in names)
            regions[str(result.get("id", ""))] = layer, Span(start, end, names[0])
    return (
        {layer: tuple(names) for layer, names in marks.items()},
        {layer: unique_spans(layer_spans) for layer, layer_spans in spans.items()},
        regions,
    )


def _placed(value: Mapping[str, Any], counting: Counting) -> tuple[int, int]:
    """The offsets of a span; one that is placed by its element only, where its text is. Raises
    Fault.
    """
    start, end = _places(value)
    covered = value.get("text")
    if isinstance(start, str) and isinstance(covered, str) and covered:
        if counting.text.count(covered) == 1:
            at = counting.text.index(covered)
            return at, at + len(covered)
        raise Fault(
            _(
                "the place of {text} is given by its element ({path}) only",
                text=show(covered),
                path=show(start),
            )
        )
    return counting.span(*span_offsets(start, end))


def _names(value: object) -> list[str]:
    if not isinstance(value, list) or not value:
        raise Fault(_("the labels are {value}, expected a list", value=show(value)))
    return [label_name(item) for item in value]


def _states(
    task: Mapping[str, Any], chosen: Mapping[str, Any] | None, marks: Mapping[str, Any], form: _Form
) -> dict[str, str]:
    """Submitted with spans (also none) or with a class; cancelled annotations are discarded.

    Glossbench's own export says which layers were labelled: Label Studio submits whole tasks.
    """
    own = (chosen or next(iter(_annotations(task)), {})).get(OWN)
    cancelled = chosen is None or chosen.get("was_cancelled")
    if isinstance(own, dict):
        layers = {name: layer for (_kind, name), layer in form.layers.items()}
        return {
            layer: own[name] for name, layer in layers.items() if own.get(name) in LABELLED_STATES
        }
    if cancelled:
        return dict.fromkeys(form.layers.values(), "discarded") if _annotations(task) else {}
    span_layers = [layer for (kind, _name), layer in form.layers.items() if kind == SPANS]
    return dict.fromkeys((*span_layers, *marks), "submitted")


def _document(task: Mapping[str, Any], data: Mapping[str, Any], form: _Form) -> Document:
    meta = dict(task["meta"]) if isinstance(task.get("meta"), dict) else {}
    meta.update(
        {str(name): value for name, value in data.items() if name != form.text and value != ""}
    )
    texts = _texts(data, form.text, meta)
    group = meta.pop("group", None)
    if group is not None and not isinstance(group, str | int):
        meta["group"], group = group, None
    key = task.get("id")
    known = key is not None and not isinstance(key, (dict, list, bool))
    split = meta.get("split")
    try:
        known_split = split_name(split)
    except Fault:  # some other field of that name: it stays in the metadata
        known_split = None
    if known_split:
        del meta["split"]
    named = None if group in (None, "") else str(group)
    return Document(str(key) if known else "", texts, known_split, named, meta)


def _texts(
    data: Mapping[str, Any], field: str, meta: dict[str, Any]
) -> tuple[tuple[str, str], ...]:
    """The texts of a document. Second texts and choices, which our own export writes as data, are
    taken out of the metadata.
    """
    first = (TEXT, data[field])
    if field != TEXT:
        return (first,)
    choices = [f"{CHOICE}{n}" for n in range(1, len(data) + 1)]
    choices = [name for name in choices if isinstance(data.get(name), str)]
    names = [QUESTION, *choices] if choices else [TEXT_B]
    more = [(name, meta.pop(name)) for name in names if isinstance(meta.get(name), str)]
    return (first, *more)


def _preview_labels(task: Mapping[str, Any], form: _Form) -> Iterable[str]:
    """The labels of a task as a preview lists them."""
    for kind, result in _results(_chosen(_annotations(task))):
        names = result["value"].get(str(result["type"])) if kind else None
        yield from map(str, names if isinstance(names, list) else ())


def _remarks(name: str, left: Counter[str]) -> Iterator[str]:
    if n := left.pop("several", 0):
        yield ngettext(
            "{name}: {n:,} task has several annotations; the ground truth or the first was used.",
            "{name}: {n:,} tasks have several annotations; the ground truth or the first was used.",
            n,
            name=name,
        )
    if n := left.pop("again", 0):
        yield ngettext(
            "{name}: {n:,} task has several annotations by one person; the first was used.",
            "{name}: {n:,} tasks have several annotations by one person; the first was used.",
            n,
            name=name,
        )
    if n := left.pop("unnamed", 0):
        yield ngettext(
            "{name}: {n:,} task has an annotation that names no person; it was not imported.",
            "{name}: {n:,} tasks have annotations that name no person; they were not imported.",
            n,
            name=name,
        )
    if n := left.pop("predictions", 0):
        yield ngettext(
            "{name}: {n:,} task has predictions, which were not imported.",
            "{name}: {n:,} tasks have predictions, which were not imported.",
            n,
            name=name,
        )
    if kinds := {kind: n for kind, n in left.items() if n}:
        listed = ", ".join(f"{kind} ({n:,})" for kind, n in sorted(kinds.items()))
        yield _(
            "{name}: not imported, because they are neither spans nor classes of a text: {kinds}.",
            name=name,
            kinds=listed,
        )
