"""Which documents pass a filter, their table rows, and statistics."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.storage import ordering, queue, search, states
from workbench.storage.database import Database
from workbench.storage.ordering import Order
from workbench.storage.values import ids_in, text_out

PREVIEW = 160  # code points of a text that a row shows
SEARCHED = 4_000  # code points of a text in which a row looks for what was searched
_GOLD_STATE = "state s join layer l on l.id = s.layer_id and l.gold = s.annotator_id"
_THESE = "document_id in (select value from json_each(?))"
_IN_LAYERS = "layer_id in (select value from json_each(?))"


@dataclass(frozen=True)
class Filter:
    """Which documents: all conditions hold at once.

    `text`: full-text search, or a part of the key. `split`: train, dev, test or "none". `label_id`:
    with a mark or span of it; `layer_id`: with any of that layer, or, together with `state`, the
    state in that layer. `state`: pending, draft, submitted or discarded, in all layers taken
    together where no layer is named. `texts`: documents with so many texts. `ids`: only these.

    `queued`: with this state in the layers of `queue_layers` taken together, or `queue.TO_DO`;
    `suggested`: with an open suggestion in them. `sources`: imported by one of these.
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

    @property
    def empty(self) -> bool:
        return self == Filter()


@dataclass(frozen=True)
class DocumentRow:
    """What a table shows of a document."""

    id: int
    key: str
    text: str  # at most PREVIEW code points, and "…" where more follow; on one line
    split: str | None
    state: str  # in the layers shown, taken together (`states.overall`); "" if none is for it
    classes: tuple[tuple[str, str], ...]  # (layer, label)
    span_count: int
    suggestion_count: int  # open ones
    length: int = 0  # code points of all texts


@dataclass(frozen=True)
class Counts:
    """`splits` has train, dev, test, none; `states` each document once (`states.overall`).

    `outside`: documents that none of the layers is for, which have no state.
    """

    documents: int
    splits: Mapping[str, int] = field(hash=False)
    states: Mapping[str, int] = field(hash=False)
    outside: int
    spans: int
    suggestions: int


def ids(
    db: Database,
    wanted: Filter | None = None,
    order: Order | None = None,
    layer_ids: Sequence[int] | None = None,
) -> array[int]:
    """Ids of the documents that pass, as array('q'); without `order` as they came in.

    An order by labels or states is that of these layers, by default of all.
    """
    statement, values = condition(db, wanted or Filter())
    join, by = ordering.clause(order, layer_ids)
    query = f"select d.id from document d {join} where {statement} order by {by}"
    return array("q", [id for (id,) in db.reader().execute(query, values).fetchall()])


def count(db: Database, wanted: Filter) -> int:
    """How many documents pass."""
    statement, values = condition(db, wanted)
    query = f"select count(*) from document d where {statement}"
    found: int = db.reader().execute(query, values).fetchone()[0]
    return found


def neighbour(db: Database, wanted: Filter, document_id: int, step: int) -> int | None:
    """The next (`step` 1) or previous (-1) id that passes; None at the end."""
    statement, values = condition(db, wanted)
    way, order = (">", "asc") if step > 0 else ("<", "desc")
    query = (
        f"select d.id from document d where {statement} and d.id {way} ? order by d.id "
        f"{order} limit 1"
    )
    row = db.reader().execute(query, (*values, document_id)).fetchone()
    return row[0] if row else None


def condition(db: Database, wanted: Filter) -> tuple[str, list[object]]:
    """The filter as a condition on `document d`, with its values."""
    parts, values = ["1"], list[object]()

    def add(part: str, *more: object) -> None:
        parts.append(part)
        values.extend(more)

    if wanted.text.strip():
        _add_text(add, wanted.text)
    if wanted.split == "none":
        add("d.split is null")
    elif wanted.split:
        add("d.split = ?", wanted.split)
    if wanted.texts is not None:
        add("d.texts = ?", wanted.texts)
    if wanted.label_id is not None:
        some = "select document_id from {} where label_id = ?"
        add(
            f"d.id in ({some.format('mark')} union {some.format('span')})",
            wanted.label_id,
            wanted.label_id,
        )
    if wanted.layer_id is None:
        if wanted.state:
            queue.add_state(add, wanted.state, _layers(db, None))
    elif wanted.state:
        _add_state(add, wanted.state, wanted.layer_id)
    else:
        some = "select document_id from {} where layer_id = ?"
        add(
            f"d.id in ({some.format('mark')} union {some.format('span')})",
            wanted.layer_id,
            wanted.layer_id,
        )
    if wanted.queued:
        queue.add_state(add, wanted.queued, wanted.queue_layers)
    if wanted.suggested:
        queue.add_suggested(add, wanted.queue_layers)
    if wanted.sources is not None:
        add(
            "d.batch_source_id in (select value from json_each(?))",
            ids_in(wanted.sources),
        )
    if wanted.ids is not None:
        add("d.id in (select value from json_each(?))", ids_in(wanted.ids))
    return " and ".join(parts), values


def _add_text(add: queue.Add, text: str) -> None:
    """Documents whose texts contain the words, or whose key contains the input, ignoring case."""
    query = search.query(text)
    if query is not None:
        texts = "id in (select rowid from search where search match ?)"
    else:  # nothing but signs: look for them as they are
        texts, query = "instr(content, ?)", text.strip()
    part = re.sub(r"([%_\\])", r"\\\1", text.strip())
    add(
        f"d.id in (select document_id from body where {texts}"
        " union select id from document where key like ? escape '\\')",
        query,
        f"%{part}%",
    )


def _add_state(add: queue.Add, state: str, layer_id: int) -> None:
    gold = f"select s.state from {_GOLD_STATE} where s.document_id = d.id and s.layer_id = ?"
    add(f"ifnull(({gold}), 'pending') = ?", layer_id, state)
    add(
        "d.texts = (select ifnull(json_extract(options, '$.texts'), 1) from layer where id = ?)",
        layer_id,
    )


# ---------------------------------------------------------------- rows of a table


def rows(
    db: Database,
    ids: Iterable[int],
    layer_ids: Sequence[int] | None = None,
    *,
    found_by: str = "",
) -> tuple[DocumentRow, ...]:
    """One row for each id that exists, in the order given; labels and states of these layers.

    All layers by default. The text is shown from its start, or around the first word of `found_by`
    if it is near the start.
    """
    wanted, layers = list(ids), _layers(db, layer_ids)
    some, shown = (ids_in(wanted),), (ids_in(wanted), ids_in(layers))
    read = db.reader().execute
    texts = _first_words(db, some, SEARCHED if found_by.strip() else 4 * PREVIEW)
    classes: dict[int, list[tuple[str, str]]] = {}
    marks = (
        "select m.document_id, l.name, b.name from mark m join layer l on l.id = m.layer_id"
        f" join label b on b.id = m.label_id where m.{_THESE} and m.{_IN_LAYERS}"
    )
    for id, layer, label in read(f"{marks} order by m.layer_id, m.id", shown).fetchall():
        classes.setdefault(id, []).append((layer, label))
    count = "select document_id, count(*) from {} where {} and {} group by document_id"
    spans = dict(read(count.format("span", _THESE, _IN_LAYERS), shown).fetchall())
    proposed = count.format("suggestion", f"status = 'open' and {_THESE}", _IN_LAYERS)
    suggestions = dict(read(proposed, shown).fetchall())
    in_layers = states.of_documents(db, wanted, layers)
    found = {}
    for id, key, split, length in read(
        "select id, key, split, length from document where id in (select value from json_each(?))",
        some,
    ).fetchall():
        found[id] = DocumentRow(
            id,
            key,
            search.snippet(texts.get(id, ""), found_by, width=PREVIEW),
            split,
            states.overall(in_layers.get(id, ())),
            tuple(classes.get(id, ())),
            spans.get(id, 0),
            suggestions.get(id, 0),
            length,
        )
    return tuple(found[id] for id in wanted if id in found)


def _first_words(db: Database, some: tuple[str], characters: int) -> dict[int, str]:
    """The beginning of the texts of each document, so many characters of each text."""
    cut = f"case typeof(content) when 'text' then substr(content, 1, {characters}) else content end"
    texts: dict[int, str] = {}
    for id, content in (
        db.reader()
        .execute(f"select document_id, {cut} from body where {_THESE} order by id", some)
        .fetchall()
    ):
        texts[id] = f"{texts[id]} ⏐ {text_out(content)}" if id in texts else text_out(content)
    return texts


@dataclass(frozen=True)
class LongTexts:
    """Of `documents` training documents, those (`ids`, in order) that may have more subwords than
    allowed, with their total number of `characters`.
    """

    documents: int
    ids: tuple[int, ...]
    characters: int


def long_texts(db: Database, layer_id: int, room: int) -> LongTexts:
    """Submitted documents of the layer, except those in test.

    Documents with at most `room` characters, all of them ASCII, are omitted.
    """
    used = (
        "from document d join state s on s.document_id = d.id join layer l on l.id = "
        "s.layer_id and l.gold = s.annotator_id"
        " where l.id = ? and s.state = 'submitted' and d.split is not 'test'"
    )
    # Text that UTF-8 cannot hold is kept as a blob; its length in characters is not known here.
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
    return bool(db.reader().execute("select exists(select 1 from document)").fetchone()[0])


def counts(db: Database, layer_ids: Sequence[int] | None = None) -> Counts:
    """Of the whole project; states, spans and suggestions in these layers, by default in all."""
    read, chosen = db.reader().execute, _layers(db, layer_ids)
    splits = {"train": 0, "dev": 0, "test": 0, "none": 0}
    for split, count in read("select split, count(*) from document group by split").fetchall():
        name = split or "none"
        splits[name] = splits.get(name, 0) + count
    found = states.counts(db, chosen)
    some = (ids_in(chosen),)
    (spans,) = read(f"select count(*) from span where {_IN_LAYERS}", some).fetchone()
    (open_ones,) = read(
        f"select count(*) from suggestion where status = 'open' and {_IN_LAYERS}", some
    ).fetchone()
    return Counts(sum(splits.values()), splits, found.states, found.outside, spans, open_ones)


def _layers(db: Database, layer_ids: Sequence[int] | None) -> list[int]:
    """The layers given, all of them for None."""
    if layer_ids is not None:
        return list(layer_ids)
    return [id for (id,) in db.reader().execute("select id from layer").fetchall()]
