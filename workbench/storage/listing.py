"""Which documents pass a filter, what a table shows of them, and how many there are of each kind."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.storage import search
from workbench.storage.database import Database
from workbench.storage.values import ids_in, text_out

PREVIEW = 160  # code points of a text that a row shows
_RANK = (
    "case s.state when 'submitted' then 3 when 'draft' then 2 when 'discarded' then 1 else 0 end"
)
_STATES = ("pending", "discarded", "draft", "submitted")  # by rank
_GOLD_STATE = "state s join layer l on l.id = s.layer_id and l.gold = s.annotator_id"


@dataclass(frozen=True)
class Filter:
    """Which documents: all conditions hold at once.

    `text`: full-text search. `split`: train, dev, test or "none". `label_id`: with a mark or span of it; `layer_id`: with any of
    that layer, or, together with `state`, the state in that layer. `state`: pending, draft, submitted, discarded (the highest of a
    document where no layer is named). `texts`: documents with so many texts. `ids`: only these.
    """

    text: str = ""
    split: str | None = None
    label_id: int | None = None
    layer_id: int | None = None
    state: str | None = None
    ids: Sequence[int] | None = None
    texts: int | None = None

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
    state: str  # the highest of its layers
    classes: tuple[tuple[str, str], ...]  # (layer, label)
    span_count: int
    suggestion_count: int  # open ones


@dataclass(frozen=True)
class Counts:
    """`splits` has train, dev, test, none; `states` has each document once, at its highest state."""

    documents: int
    splits: Mapping[str, int] = field(hash=False)
    states: Mapping[str, int] = field(hash=False)
    spans: int
    suggestions: int


def ids(db: Database, wanted: Filter | None = None) -> array:
    """Ids of the documents that pass, in order, as array('q')."""
    statement, values = condition(db, wanted or Filter())
    found = array("q")
    found.extend(
        id
        for (id,) in db.reader()
        .execute(f"select d.id from document d where {statement} order by d.id", values)
        .fetchall()
    )
    return found


def neighbour(db: Database, wanted: Filter, document_id: int, step: int) -> int | None:
    """The next (`step` 1) or previous (-1) id that passes; None at the end."""
    statement, values = condition(db, wanted)
    way, order = (">", "asc") if step > 0 else ("<", "desc")
    query = f"select d.id from document d where {statement} and d.id {way} ? order by d.id {order} limit 1"
    row = db.reader().execute(query, (*values, document_id)).fetchone()
    return row[0] if row else None


def condition(db: Database, wanted: Filter) -> tuple[str, list]:
    """The filter as a condition on `document d`, with its values."""
    parts, values = ["1"], []

    def add(part: str, *more) -> None:
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
    if wanted.state:
        _add_state(add, wanted.state, wanted.layer_id)
    elif wanted.layer_id is not None:
        some = "select document_id from {} where layer_id = ?"
        add(
            f"d.id in ({some.format('mark')} union {some.format('span')})",
            wanted.layer_id,
            wanted.layer_id,
        )
    if wanted.ids is not None:
        add("d.id in (select value from json_each(?))", ids_in(wanted.ids))
    return " and ".join(parts), values


def _add_text(add, text: str) -> None:
    query = search.query(text)
    if query is not None:
        add(
            "d.id in (select document_id from body where id in (select rowid from search where search match ?))",
            query,
        )
    else:  # nothing but signs: look for them as they are
        add("d.id in (select document_id from body where instr(content, ?))", text.strip())


def _add_state(add, state: str, layer_id: int | None) -> None:
    if layer_id is not None:
        gold = f"select s.state from {_GOLD_STATE} where s.document_id = d.id and s.layer_id = ?"
        add(f"ifnull(({gold}), 'pending') = ?", layer_id, state)
        add(
            "d.texts = (select ifnull(json_extract(options, '$.texts'), 1) from layer where id = ?)",
            layer_id,
        )
    else:
        highest = f"select max({_RANK}) from {_GOLD_STATE} where s.document_id = d.id"
        add(f"ifnull(({highest}), 0) = ?", _STATES.index(state))


# ---------------------------------------------------------------- rows of a table


def rows(db: Database, ids: Iterable[int]) -> tuple[DocumentRow, ...]:
    """One row for each id that exists, in the order given."""
    wanted = list(ids)
    some = (ids_in(wanted),)
    read = db.reader().execute
    these = "document_id in (select value from json_each(?))"
    texts: dict[int, str] = {}
    cut = (
        f"case typeof(content) when 'text' then substr(content, 1, {4 * PREVIEW}) else content end"
    )
    for id, content in read(
        f"select document_id, {cut} from body where {these} order by id", some
    ).fetchall():
        texts[id] = f"{texts[id]} ⏐ {text_out(content)}" if id in texts else text_out(content)
    classes: dict[int, list[tuple[str, str]]] = {}
    marks = f"select m.document_id, l.name, b.name from mark m join layer l on l.id = m.layer_id join label b on b.id = m.label_id where m.{these}"
    for id, layer, label in read(f"{marks} order by m.layer_id, m.id", some).fetchall():
        classes.setdefault(id, []).append((layer, label))
    spans = dict(
        read(
            f"select document_id, count(*) from span where {these} group by document_id", some
        ).fetchall()
    )
    open_ones = f"select document_id, count(*) from suggestion where {these} and status = 'open' group by document_id"
    suggestions = dict(read(open_ones, some).fetchall())
    states = dict(
        read(
            f"select s.document_id, max({_RANK}) from {_GOLD_STATE} where s.{these} group by s.document_id",
            some,
        ).fetchall()
    )
    found = {}
    for id, key, split in read(
        "select id, key, split from document where id in (select value from json_each(?))", some
    ).fetchall():
        text = search.snippet(texts.get(id, ""), width=PREVIEW)
        state = _STATES[states.get(id, 0)]
        found[id] = DocumentRow(
            id,
            key,
            text,
            split,
            state,
            tuple(classes.get(id, ())),
            spans.get(id, 0),
            suggestions.get(id, 0),
        )
    return tuple(found[id] for id in wanted if id in found)


def states_in(
    db: Database, ids: Iterable[int], layer_ids: Iterable[int]
) -> Mapping[int, frozenset[str]]:
    """The states of each document in those of the layers that are for documents with so many texts as it has."""
    fitting = "ifnull(json_extract(l.options, '$.texts'), 1) = d.texts"
    gold = "s.document_id = d.id and s.layer_id = l.id and s.annotator_id = l.gold"
    found: dict[int, set[str]] = {}
    query = (
        f"select d.id, ifnull(s.state, 'pending') from document d join layer l on {fitting} left join state s on {gold} "
        "where d.id in (select value from json_each(?)) and l.id in (select value from json_each(?))"
    )
    for id, state in db.reader().execute(query, (ids_in(ids), ids_in(layer_ids))).fetchall():
        found.setdefault(id, set()).add(state)
    return {id: frozenset(states) for id, states in found.items()}


@dataclass(frozen=True)
class LongTexts:
    """Of `documents` to learn from, those (`ids`, in order) that may have more subwords than the room, with all their `characters`."""

    documents: int
    ids: tuple[int, ...]
    characters: int


def long_texts(db: Database, layer_id: int, room: int) -> LongTexts:
    """Submitted documents of the layer but those in test; left out are those whose texts have at most `room` characters, all ASCII."""
    used = (
        "from document d join state s on s.document_id = d.id join layer l on l.id = s.layer_id and l.gold = s.annotator_id"
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


def counts(db: Database) -> Counts:
    read = db.reader().execute
    splits = {"train": 0, "dev": 0, "test": 0, "none": 0}
    for split, count in read("select split, count(*) from document group by split").fetchall():
        name = split or "none"
        splits[name] = splits.get(name, 0) + count
    documents = sum(splits.values())
    states = dict.fromkeys(_STATES, 0)
    highest = f"select max({_RANK}) as rank from {_GOLD_STATE} group by s.document_id"
    for rank, count in read(f"select rank, count(*) from ({highest}) group by rank").fetchall():
        states[_STATES[rank]] = count
    states["pending"] = documents - sum(states[name] for name in _STATES[1:])
    (spans,) = read("select count(*) from span").fetchone()
    (suggestions,) = read("select count(*) from suggestion where status = 'open'").fetchone()
    return Counts(documents, splits, states, spans, suggestions)
