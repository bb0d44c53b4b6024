"""Filters of documents, their rows in tables, and counts."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

from workbench.storage.annotation import states
from workbench.storage.annotation.provenance import Origin
from workbench.storage.connections.database import Database
from workbench.storage.documents import flags, notes
from workbench.storage.labels import labels
from workbench.storage.queries import columns, conditions, queue, search, state_keys, text_search
from workbench.storage.queries.columns import SortOrder
from workbench.storage.schema.values import ids_in, text_out
from workbench.text.labels import LABEL_TABLES, WITH_LABEL
from workbench.text.queries.query import Query

EVERY = "1"  # the condition that all documents meet
MAX_SINGLE_LOOKUPS = 5_000  # documents that are looked up one by one
_LIMITS = ("min(document_id)", "max(document_id)", "count(*)")
PREVIEW = 160  # code points of the text in a row
SEARCHED = 4_000  # code points of each text that are searched for the match shown in a row
_THESE = "document_id in (select value from json_each(?))"
_GOLD = "annotator_id = (select gold from layer l where l.id = layer_id)"
_IN_LAYERS = "layer_id in (select value from json_each(?))"


@dataclass(frozen=True)
class Filter:
    """Conditions on documents, all of which must hold.

    `text`: full-text search, or part of the key or of a question. `split`: train, dev, test or
    "none". `label_id`: has an annotation with this label or a sublabel of it.
    `layer_id`: has an annotation in this layer or, together with `state`, has that state in this
    layer. `state`: pending, draft, submitted or discarded; without `layer_id`, `states.overall` of
    all layers. `texts`: number of texts. `ids`: only these.

    `queued`: `states.overall` of `queue_layers`, or `queue.TO_DO`. `suggested`: has an open
    suggestion in `queue_layers`. `sources`: imported from one of these sources.
    `origin`: has a label or an open suggestion from it. `query`: its conditions; states and
    suggestions without a layer are those of `queue_layers`, or of all layers if there are none.
    """

    text: str = ""
    split: str | None = None
    label_id: int | None = None
    layer_id: int | None = None
    state: str | None = None
    ids: Sequence[int] | None = None
    texts: int | None = None
    queue_layers: Sequence[int] = ()
    queued: str | None = None
    suggested: bool = False
    sources: Sequence[int] | None = None
    origin: Origin | None = None
    query: Query = Query()

    @property
    def empty(self) -> bool:
        """Whether there are no conditions, so that all documents match."""
        return self == Filter()


class LoadedDocument(NamedTuple):
    """What is not read again for the row of a loaded document: texts, and spans in the layers."""

    texts: tuple[str, ...]
    spans: int


@dataclass(frozen=True)
class DocumentRow:
    """A row of the table of documents."""

    id: int
    key: str
    text: str  # one line of at most PREVIEW code points, "…" where text is omitted
    split: str | None
    state: str  # `states.overall` of the layers shown; "" if none of them applies
    classes: tuple[tuple[str, str], ...]  # (layer, label)
    span_count: int
    suggestion_count: int  # open ones
    length: int = 0  # code points of all texts
    flags: tuple[str, ...] = ()  # of the document and its spans
    note: str = ""  # those on the document and its spans, on one line
    cells: tuple[object, ...] = ()  # values of the columns asked for: text, a number or None


@dataclass(frozen=True)
class DocumentCounts:
    """Counts of documents, spans and open suggestions.

    `splits` has the keys train, dev, test and none. `states` counts documents by `states.overall`;
    `outside` counts documents to which none of the layers applies.
    """

    documents: int
    splits: Mapping[str, int] = field(hash=False)
    states: Mapping[str, int] = field(hash=False)
    outside: int
    spans: int
    suggestions: int


def ids(
    db: Database,
    filter: Filter | None = None,
    order: SortOrder | None = None,
    layer_ids: Sequence[int] | None = None,
) -> array[int]:
    """Ids of the documents that match, as array('q'), in `order`, by default by id.

    `layer_ids`: the layers whose labels and states are sorted by; all layers by default.
    """
    filter = filter or Filter()
    if order is None and filter == Filter(text=filter.text) and filter.text.strip():
        matches = text_search.matches(db, filter.text)
        if matches is not None:
            return matches
    statement, values = condition(db, filter)
    if order is None and statement == EVERY:
        return _every_id(db)
    if order is None and statement == queue.HAS_KEY:
        return array("q", sorted(text_search.numbers(db, queue.WITH_KEY, values)))
    join, by = columns.clause(order, layer_ids)
    query = f"select d.id as id from document d {join} where {statement} order by {by}"
    return array("q", text_search.numbers(db, query, values))


def _every_id(db: Database) -> array[int]:
    """The ids of all documents; without gaps they need not be read."""
    table = "state_key"  # has a row for each document, and far shorter ones
    limits = ", ".join(f"(select {_limit} from {table})" for _limit in _LIMITS)
    first, last, count = db.reader().execute(f"select {limits}").fetchone()
    if count and last - first + 1 == count:
        return array("q", range(first, last + 1))
    query = f"select document_id as id from {table} order by document_id"
    return array("q", text_search.numbers(db, query, []))


def first_ids(db: Database, filter: Filter) -> array[int]:
    """Some ids of those that match the text and everything else in `filter`, in order.

    Usually the first ones; maybe none. Takes some hundredths of a second for any number of
    documents, unless the other conditions take longer.
    """
    matches = text_search.first_matches(db, filter.text)
    rest = replace(filter, text="")
    if rest == Filter() or not matches:
        return matches
    if filter.ids is not None:
        known = set(filter.ids)
        matches = array("q", [id for id in matches if id in known])
    return ids(db, replace(rest, ids=matches))


def narrowed(filter: Filter, before: Filter, matches: Sequence[int]) -> Filter:
    """`filter`, restricted to what `before` has found if it can only match some of that."""
    if len(matches) > MAX_SINGLE_LOOKUPS or not text_search.narrows(filter.text, before.text):
        return filter
    return replace(filter, ids=matches) if replace(before, text=filter.text) == filter else filter


def count(db: Database, filter: Filter) -> int:
    """Number of documents that match."""
    statement, values = condition(db, filter)
    table = "state_key" if statement == EVERY else "document"  # the first has shorter rows
    query = f"select count(*) from {table} d where {statement}"
    number: int = db.reader().execute(query, values).fetchone()[0]
    return number


def neighbour(db: Database, filter: Filter, document_id: int, step: int) -> int | None:
    """The next (`step` 1) or previous (`step` -1) id that matches, or None."""
    statement, values = condition(db, filter)
    comparison, order = (">", "asc") if step > 0 else ("<", "desc")
    query = (
        f"select d.id from document d where {statement} and d.id {comparison} ? order by d.id "
        f"{order} limit 1"
    )
    row = db.reader().execute(query, (*values, document_id)).fetchone()
    return row[0] if row else None


def condition(db: Database, filter: Filter) -> tuple[str, list[object]]:
    """The filter as an SQL condition on `document d`, and its parameters."""
    parts, values = [EVERY], list[object]()

    def add(part: str, *more: object) -> None:
        parts.append(part)
        values.extend(more)

    _add_document(add, db, filter)
    _add_labels(add, db, filter)
    _add_queue(add, db, filter)
    if filter.query.nodes:
        layers = filter.queue_layers or _layers(db, None)
        part, more = conditions.condition(db, filter.query, layers)
        add(part, *more)
    if filter.ids is not None:
        add("d.id in (select value from json_each(?))", ids_in(filter.ids))
    return " and ".join(parts[1:] or parts), values


def _add_document(add: queue.Add, db: Database, filter: Filter) -> None:
    """Conditions on the text, the split and the number of texts."""
    if filter.text.strip():
        few = filter.ids is not None and len(filter.ids) <= MAX_SINGLE_LOOKUPS
        text_search.add_text(add, filter.text, ids_in(filter.ids or ()) if few else "")
    if filter.split == "none":
        add("d.split is null")
    elif filter.split:
        add("d.split = ?", filter.split)
    if filter.texts is not None:
        forms = {state_keys.parsed(key)[0] for key in state_keys.distinct(db.reader())}
        if forms != {filter.texts}:
            add("d.texts = ?", filter.texts)


def _add_labels(add: queue.Add, db: Database, filter: Filter) -> None:
    """Conditions on a label, and on the annotation or the state of a layer."""
    if filter.label_id is not None:
        group = ids_in([filter.label_id, *labels.sublabels(db, [filter.label_id])])
        in_group = "label_id in (select value from json_each(?))"
        labelled = [f"select document_id from {item} where {in_group}" for item in WITH_LABEL]
        add(f"d.id in ({' union '.join(labelled)})", *[group] * len(labelled))
    if filter.state:
        layers = None if filter.layer_id is None else [filter.layer_id]
        queue.add_state(add, queue.state_matches(db, filter.state, layers))
    elif filter.layer_id is not None:
        annotated = [
            f"select document_id from {label_table} where layer_id = ?"
            for label_table in LABEL_TABLES
        ]
        add(f"d.id in ({' union '.join(annotated)})", *[filter.layer_id] * len(annotated))


def _add_queue(add: queue.Add, db: Database, filter: Filter) -> None:
    """Conditions on the work state, on open suggestions, and on where documents come from."""
    if filter.queued:
        queue.add_state(add, queue.state_matches(db, filter.queued, filter.queue_layers))
    if filter.suggested:
        queue.add_suggested(add, filter.queue_layers)
    if filter.sources is not None:
        add(
            "d.batch_source_id in (select value from json_each(?))",
            ids_in(filter.sources),
        )
    if filter.origin is not None:
        queue.add_origin(add, filter.origin)


# ---------------------------------------------------------------- rows of a table


def rows(
    db: Database,
    ids: Iterable[int],
    layer_ids: Sequence[int] | None = None,
    *,
    found_by: str = "",
    more: Sequence[str] = (),
    known: Mapping[int, LoadedDocument] = MappingProxyType({}),
) -> tuple[DocumentRow, ...]:
    """Rows of the given documents, in this order; ids that do not exist are omitted.

    Labels, states and counts are those of the layers `layer_ids`, by default of all. The text is
    shown from its start, or around the first match of a word of `found_by`. `more`: further columns
    (`columns`) for `cells`.
    """
    document_ids, layers = list(ids), _layers(db, layer_ids)
    unknown = [id for id in document_ids if id not in known]
    length = SEARCHED if found_by.strip() else 4 * PREVIEW
    texts = _beginnings(db, (ids_in(unknown),), length)
    texts.update((id, _joined(item.texts, length)) for id, item in known.items())
    classes = _classes(db, document_ids, layers)
    spans = {id: item.spans for id, item in known.items()}
    spans.update(_counts(db, "span", unknown, layers, f"{_GOLD} and "))
    suggestions = _counts(db, "suggestion", document_ids, layers, "status = 'open' and ")
    in_layers = states.of_documents(db, document_ids, layers)
    cells = columns.cells(db, document_ids, more)
    flagged, noted = _flags_and_notes(db, document_ids)
    rows = {}
    query = (
        "select id, key, split, length from document where id in (select value from json_each(?))"
    )
    for id, key, split, length in db.reader().execute(query, (ids_in(document_ids),)).fetchall():
        rows[id] = DocumentRow(
            id,
            key,
            search.snippet(texts.get(id, ""), found_by, width=PREVIEW),
            split,
            states.overall(in_layers.get(id, ())),
            tuple(classes.get(id, ())),
            spans.get(id, 0),
            suggestions.get(id, 0),
            length,
            tuple(flagged.get(id, ())),
            " · ".join(noted.get(id, ())),
            cells.get(id, ()),
        )
    return tuple(rows[id] for id in document_ids if id in rows)


def _classes(
    db: Database, ids: Sequence[int], layers: Sequence[int]
) -> dict[int, list[tuple[str, str]]]:
    """Document id → (layer, label) of each class, by name."""
    marks = (
        "select m.document_id, l.name, b.name from mark m"
        " join layer l on l.id = m.layer_id and l.gold = m.annotator_id"
        f" join label b on b.id = m.label_id where m.{_THESE} and m.{_IN_LAYERS}"
        " order by m.layer_id, m.id"
    )
    classes: dict[int, list[tuple[str, str]]] = {}
    for id, layer, label in db.reader().execute(marks, (ids_in(ids), ids_in(layers))).fetchall():
        classes.setdefault(id, []).append((layer, label))
    return classes


def _counts(
    db: Database, table: str, ids: Sequence[int], layers: Sequence[int], also: str = ""
) -> dict[int, int]:
    """Document id → number of rows of a table in the layers."""
    count = (
        f"select document_id, count(*) from {table} where {also}{_THESE} and {_IN_LAYERS}"
        " group by document_id"
    )
    return dict(db.reader().execute(count, (ids_in(ids), ids_in(layers))).fetchall())


def _flags_and_notes(
    db: Database, ids: Sequence[int]
) -> tuple[dict[int, dict[str, None]], dict[int, list[str]]]:
    """Document id → names of its flags in order, each once; and its notes, each in one line."""
    flagged, noted = dict[int, dict[str, None]](), dict[int, list[str]]()
    for flag in flags.of_documents(db, ids):
        flagged.setdefault(flag.document_id, {})[flag.name] = None
    for note in notes.of_documents(db, ids):
        noted.setdefault(note.document_id, []).append(" ".join(note.body.split()))
    return flagged, noted


def _beginnings(db: Database, these: tuple[str], length: int) -> dict[int, str]:
    """Map document id → the first `length` code points of each of its texts, joined by "⏐"."""
    cut = f"case typeof(content) when 'text' then substr(content, 1, {length}) else content end"
    texts: dict[int, list[str]] = {}
    for id, content in (
        db.reader()
        .execute(f"select document_id, {cut} from body where {_THESE} order by id", these)
        .fetchall()
    ):
        texts.setdefault(id, []).append(text_out(content))
    return {id: _joined(each, length) for id, each in texts.items()}


def _joined(texts: Sequence[str], length: int) -> str:
    return " ⏐ ".join(text[:length] for text in texts)


@dataclass(frozen=True)
class LongTexts:
    """Training documents that may be longer than the maximum sequence length.

    `documents`: number of training documents. `ids`: those that may be too long, in order.
    `characters`: their total length in code points.
    """

    documents: int
    ids: tuple[int, ...]
    characters: int


def long_texts(db: Database, layer_id: int, room: int) -> LongTexts:
    """Training documents of the layer (submitted, not in test) that may have over `room` subwords.

    ASCII texts of at most `room` characters are omitted: a character is at most one subword.
    """
    used = (
        "from document d join state s on s.document_id = d.id join layer l on l.id = "
        "s.layer_id and l.gold = s.annotator_id"
        " where l.id = ? and s.state = 'submitted' and d.split is not 'test'"
    )
    # A text with lone surrogates is stored as a blob, whose length in characters is unknown to SQL.
    wide = "typeof(b.content) = 'blob' or length(cast(b.content as blob)) != length(b.content)"
    long = (
        f"(d.length > ? or exists (select 1 from body b where b.document_id = d.id and ({wide})))"
    )
    read = db.reader().execute
    rows = read(
        f"select d.id, d.length {used} and {long} order by d.id", (layer_id, room)
    ).fetchall()
    (count,) = read(f"select count(*) {used}", (layer_id,)).fetchone()
    return LongTexts(count, tuple(id for id, _ in rows), sum(length for _, length in rows))


def any_at_all(db: Database) -> bool:
    """Whether the project has any documents."""
    return bool(db.reader().execute("select exists(select 1 from document)").fetchone()[0])


def counts(db: Database, layer_ids: Sequence[int] | None = None) -> DocumentCounts:
    """Counts of the project; states, spans and suggestions in the layers, by default in all."""
    read, chosen = db.reader().execute, _layers(db, layer_ids)
    splits = {"train": 0, "dev": 0, "test": 0, "none": 0}
    for split, count in read("select split, count(*) from document group by split").fetchall():
        name = split or "none"
        splits[name] = splits.get(name, 0) + count
    by_state = states.counts(db, chosen)
    in_layers = (ids_in(chosen),)
    (spans,) = read(f"select count(*) from span where {_IN_LAYERS}", in_layers).fetchone()
    (suggestions,) = read(
        f"select count(*) from suggestion where status = 'open' and {_IN_LAYERS}", in_layers
    ).fetchone()
    return DocumentCounts(
        sum(splits.values()), splits, by_state.states, by_state.outside, spans, suggestions
    )


def _layers(db: Database, layer_ids: Sequence[int] | None) -> list[int]:
    """The given layer ids; all layers if None."""
    if layer_ids is not None:
        return list(layer_ids)
    return [id for (id,) in db.reader().execute("select id from layer").fetchall()]
