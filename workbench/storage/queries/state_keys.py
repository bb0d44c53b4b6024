"""A derived table: the states of each document in one short key, so that filters are lookups.

The key is the number of texts, followed by the id of each layer in which the gold annotator set a
state other than pending, in ascending order, and a letter for the state: "1 3s 7d" is a document
with one text, submitted in layer 3 and a draft in layer 7. Even a project of a million documents
has only some dozens of different keys; `by_key` summarizes each of them once for the layers in
question, and the index on (key, document) does the rest. Layers are not part of the table, so that
adding a layer changes no row.

Temporary triggers of the writer update the table; rows that a bulk step adds are summed at its end
(`add_rows`). `problem` compares it with the states.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence

from workbench.base.watch import QUIET, Watch

TABLES = (
    "create table state_key(document_id integer primary key, key text not null)",
    "create index state_key_key on state_key(key)",
)
LETTERS = {"d": "draft", "s": "submitted", "x": "discarded"}
CHUNK_DOCUMENTS = (
    5_000  # documents per statement; the operation can be cancelled between two statements
)

_LETTER = "case s.state when 'draft' then 'd' when 'submitted' then 's' else 'x' end"


def _key(document: str) -> str:
    """SQL for the key of a document, whose id and number of texts are `document`.id and .texts."""
    # SQLite keeps the order of a subquery below group_concat; the index of states has it anyway.
    return (
        f"{document}.texts || ifnull((select group_concat(part, '') from (select ' ' || s.layer_id"
        f" || {_LETTER} as part from state s join layer l on l.id = s.layer_id"
        f" and l.gold = s.annotator_id where s.document_id = {document}.id"
        " and s.state != 'pending' order by s.layer_id)), '')"
    )


_ALL = f"select d.id as document_id, {_key('d')} as key from document d"
_UPDATE = (
    f"update state_key set key = (select {_key('d')} from document d"
    " where d.id = state_key.document_id)"
)


# ---------------------------------------------------------------- keeping the table


def create(execute: Callable[[str], object]) -> None:
    """Create the table and fill it."""
    for statement in TABLES:
        execute(statement)
    execute(f"insert into state_key {_ALL}")


def rebuild(conn: sqlite3.Connection) -> None:
    """Compute the whole table again."""
    conn.execute("delete from state_key")
    conn.execute(f"insert into state_key {_ALL}")


def view(conn: sqlite3.Connection) -> None:
    """Stand in for the table in a file of an older version that is opened read-only."""
    conn.execute(f"create temp view state_key as {_ALL}")


def triggers() -> Iterator[str]:
    """SQL of the temporary triggers of the writer. Requires `journal_high`, as in `checksums`."""
    head = "create temp trigger state_key_"
    high = "when new.id <= (select high from journal_high where tbl = '{}')"
    yield (
        f"{head}document_insert after insert on main.document {high.format('document')} begin"
        f" insert or replace into state_key values(new.id, {_key('new')}); end"
    )
    # before the rows of the document, whose triggers then find no entry to update
    yield (
        f"{head}document_delete before delete on main.document begin"
        " delete from state_key where document_id = old.id; end"
    )
    for event, row, when in (
        ("insert", "new", high.format("state")),
        ("update", "new", ""),
        ("delete", "old", ""),
    ):
        yield (
            f"{head}state_{event} after {event} on main.state {when} begin"
            f" {_UPDATE} where document_id = {row}.document_id; end"
        )
    yield (
        f"{head}layer_gold after update of gold on main.layer when old.gold is not new.gold begin"
        f" {_UPDATE} where document_id in (select document_id from state where layer_id = new.id);"
        " end"
    )


def add_rows(
    conn: sqlite3.Connection,
    ranges: Mapping[str, tuple[int, int]],
    *,
    watch: Watch = QUIET,
) -> None:
    """Add documents and states that were inserted without triggers; `ranges`: table → ids."""
    new = ranges.get("document", (1 << 62, 0))
    for start in range(new[0], new[1] + 1, CHUNK_DOCUMENTS):
        watch.at((start - new[0]) / (new[1] - new[0] + 1))
        ids = start, min(start + CHUNK_DOCUMENTS - 1, new[1])
        conn.execute(f"insert into state_key {_ALL} where d.id between ? and ?", ids)
    first, last = ranges.get("state", (1, 0))
    for start in range(first, last + 1, CHUNK_DOCUMENTS):
        watch.at((start - first) / (last - first + 1))
        conn.execute(
            f"{_UPDATE} where document_id in (select document_id from state where id between ?"
            " and ? and document_id < ?)",
            (start, min(start + CHUNK_DOCUMENTS - 1, last), new[0]),
        )


def forget_documents(conn: sqlite3.Connection, first: int, last: int) -> None:
    """Delete the entries of documents that will be deleted, as in `checksums`."""
    conn.execute("delete from state_key where document_id between ? and ?", (first, last))


def is_right(conn: sqlite3.Connection) -> bool:
    """Whether the table agrees with the documents and their states."""
    missing = f"{_ALL} except select document_id, key from state_key"
    extra = f"select document_id, key from state_key except {_ALL}"
    differ = f"select 1 from ({missing}) union all select 1 from ({extra})"
    return not conn.execute(f"select exists({differ})").fetchone()[0]


# ---------------------------------------------------------------- reading it

_DISTINCT = (
    "with recursive k(key) as (select min(key) from state_key union all"
    " select (select min(key) from state_key where key > k.key) from k where k.key is not null)"
    " select key from k where key is not null"
)


def parsed(key: str) -> tuple[int, dict[int, str]]:
    """(number of texts, layer id → state) of a key."""
    texts, *parts = key.split(" ")
    return int(texts), {int(part[:-1]): LETTERS[part[-1]] for part in parts}


def distinct(conn: sqlite3.Connection) -> list[str]:
    """The different keys; each takes one lookup in the index."""
    return [key for (key,) in conn.execute(_DISTINCT).fetchall()]


def numbers(conn: sqlite3.Connection) -> dict[str, int]:
    """Number of documents by key."""
    return dict(conn.execute("select key, count(*) from state_key group by key").fetchall())


def layer_texts(conn: sqlite3.Connection, layer_ids: Sequence[int] | None) -> dict[int, int]:
    """Layer id → the number of texts of the documents that it applies to; None: all layers."""
    rows = conn.execute(
        "select id, ifnull(json_extract(options, '$.texts'), 1) from layer order by id"
    )
    chosen = None if layer_ids is None else set(layer_ids)
    return {id: texts for id, texts in rows.fetchall() if chosen is None or id in chosen}


def in_layers(key: str, texts_of: Mapping[int, int]) -> list[str]:
    """The states that a key gives in those of the layers (`layer_texts`) that apply."""
    texts, states = parsed(key)
    return [states.get(id, "pending") for id, number in texts_of.items() if number == texts]
