"""Checksums of the contents of a project, stored in the file and updated with every change.

One number for each document (the document, its texts, tokens, labels, states and suggestions), each
run (with its predictions), each history step (with the values it would restore) and each small
table. A number is the sum of the hashes of its rows, so an update computes only the hashes of the
row before and after the change. `integrity` recomputes the sums and reports differences: the file
was changed by another program or damaged.

Temporary triggers of the writer update the numbers; rows that a bulk step adds are summed at its
end, and the history at the end of each step. The content of texts is covered by
`document.text_hash`. Real numbers are hashed with 12 decimal places, because their text
representation differs between versions of SQLite. The hash is not cryptographic: it does not
protect against deliberate changes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from zlib import crc32

from workbench.base.watch import QUIET, Watch
from workbench.storage.journal.history import DROPPED
from workbench.storage.schema.tables import JOURNALED, TABLES, ColumnRules, of_version

HASH_BITS = 40  # eight million hashes fit in SQLite's 63 bits
SUM_MASK = (1 << 62) - 1
# Rows and documents per statement; the operation can be cancelled between two statements.
CHUNK_ROWS = 5_000
DOCUMENTS = 1_000

_OWNERS: Mapping[str, tuple[str, str]] = {
    "label": ("layer", "layer_id"),
    "layer": ("layer", "id"),
    "prompt": ("prompt", "id"),
    "prompt_version": ("prompt", "prompt_id"),
    "run": ("run", "id"),
    "prediction": ("run", "run_id"),
    "document": ("document", "id"),
    "source": ("source", ""),
    "saved_filter": ("saved_filter", ""),
    "pattern": ("pattern", ""),
    "annotator": ("annotator", ""),
    "meta": ("meta", ""),
}


def row_hash(data: bytes) -> int:
    """The CRC squared, so that the sum changes if two rows exchange their values."""
    crc = crc32(data)
    return (crc * crc ^ crc << 7) & ((1 << HASH_BITS) - 1)


def register(conn: sqlite3.Connection) -> None:
    """Register the SQL functions that the triggers and queries of this module use."""
    conn.create_function("row_hash", 1, row_hash, deterministic=True)
    conn.create_function("crc", 1, crc32, deterministic=True)


# ---------------------------------------------------------------- expressions


def owner(table: str, row: str = "") -> tuple[str, str]:
    """Name of the entry, and an SQL expression for its owner: an id, or 0 for a whole table."""
    name, column = _OWNERS.get(table, ("document", "document_id"))
    return name, f"ifnull({row}{column}, 0)" if column else "0"


def hash_of(table: str, row: str = "") -> str:
    """An SQL expression for the hash of a row of `table`; `row` is a prefix such as "new."."""
    return _row_hash(table, [f'{row}"{name}"' for name in TABLES[table]])


def _row_hash(table: str, places: Sequence[str]) -> str:
    """As `hash_of`, with the columns of the row at `places`."""
    values = [f"'{table}'"]
    for (name, column), place in zip(TABLES[table].items(), places, strict=True):
        if (table, name) != ("body", "content"):
            values += _value(column, place)
    return _hash(values)


def _hash(values: list[str]) -> str:
    return f"row_hash(cast(printf('{'%Q,' * len(values)}', {', '.join(values)}) as blob))"


def _value(column: ColumnRules, name: str) -> tuple[str, ...]:
    """SQL that formats a value. Where printf would stop at NUL or fail (blobs), the CRC is used."""
    if column.storage == "real":
        return (f"cast({name} * 1000000000000 as integer)",)
    if column.storage == "integer" or column.exact:
        return (name,)
    known = [f"when {name} is null then 0"]  # the CRC of '', without a call of Python
    if column.common:
        known.append(f"when {name} = '{column.common}' then {crc32(column.common.encode())}")
    return f"typeof({name})", f"case {' '.join(known)} else crc(cast({name} as blob)) end"


_HEAD = ("tbl", "seq", "step_id", "op", "rid", "doc")
_PART = (1 << 28) - 1  # so that a product of two parts fits in SQLite's 63 bits
_PLACE_HASH = (
    f"((seq * 31 + step_id * 17 + 7) & {_PART}) * ((rid * 131 + ifnull(doc, -1) * 1009 + 13)"
    f" & {_PART}) & {(1 << HASH_BITS) - 1}"
)
_CONTENT = f"c{list(JOURNALED['body']).index('content')}"
_CONTENT_HASH = f"case tbl when 'body' then crc(cast({_CONTENT} as blob)) else 0 end"
DELETED_HASH = f"({_PLACE_HASH}) + {_CONTENT_HASH}"
"""SQL of what JOURNAL_HASH adds to the hash that a deleted row of a document had in its table."""


def _journal_hash(version: int) -> str:
    """SQL of the hash of a journal row; its values are formatted as in the table they belong to.

    The hash of a deleted row of a document contains the one that it had in its table, so that the
    checksum of a deletion is computed from those of the documents. Not before version 6.
    """
    changed, deleted = [], []
    for table, columns in JOURNALED.items():
        places = [f"c{place}" for place in range(len(columns))]
        stored = [
            _value(column, place) for column, place in zip(columns.values(), places, strict=True)
        ]
        values = [*_HEAD, *(text for pair in stored for text in pair)]
        changed.append(f"when '{table}' then {_hash(values)}")
        if owner(table)[0] == "document":
            deleted.append(f"when '{table}' then {_row_hash(table, places)} + {DELETED_HASH}")
    ranges = f"case when op in ('delete', 'range') then {_hash([*_HEAD, 'c0'])}"
    every = f"case tbl {' '.join(changed)} else 0 end"
    if version < SUMMED:
        return f"{ranges} else {every} end"
    rows = f"case when op = 'insert' then case tbl {' '.join(deleted)} else {every} end"
    return f"{ranges} else {rows} else {every} end end"


SUMMED = 6  # the first version of the file in which deletions have the sums of their documents
JOURNAL_HASH = _journal_hash(SUMMED)


# ---------------------------------------------------------------- keeping them


def triggers() -> Iterator[str]:
    """SQL of the temporary triggers of the writer. Requires `journal_high`.

    Rows above `journal_high` were added in a bulk step; `add_rows` sums them at its end.
    """
    for table in TABLES:
        if table != "journal_step":
            yield from _table_triggers(table)
    yield (
        "create temp trigger checksum_journal_step_delete after delete on main.journal_step begin"
        " delete from checksum where name = 'step' and owner = old.id; end"
    )


def _table_triggers(table: str) -> Iterator[str]:
    name, of_new = owner(table, "new.")
    _name, of_old = owner(table, "old.")
    _name, column = _OWNERS.get(table, ("document", "document_id"))
    before, after = hash_of(table, "old."), hash_of(table, "new.")
    there = f"where name = '{name}' and owner = {of_old}"
    add = (
        f"insert into checksum values('{name}', {of_new}, {after}) on conflict(name, owner)"
        f" do update set value = (value + excluded.value) & {SUM_MASK}"
    )
    subtract = f"update checksum set value = (value - {before}) & {SUM_MASK} {there}"
    change = f"update checksum set value = (value - {before} + {after}) & {SUM_MASK} {there}"
    head, main = f"create temp trigger checksum_{table}", f"on main.{table}"
    yield f"{head}_insert after insert {main} {_when(table, 'new')} begin {add}; end"
    moves = column not in ("", "id")
    if table != "body":  # never updated
        same = f"old.{column} is new.{column}" if moves else ""
        yield f"{head}_update after update {main} {_when(table, 'old', same)} begin {change}; end"
        if moves:  # to another owner
            other = _when(table, "old", f"old.{column} is not new.{column}")
            yield (
                f"{head}_move after update of {column} {main} {other} begin {subtract}; {add}; end"
            )
    # Deleting an owner deletes its rows; their triggers then find no entry to update.
    act = f"delete from checksum {there}" if column == "id" else subtract
    yield f"{head}_delete before delete {main} {_when(table, 'old')} begin {act}; end"


def _when(table: str, row: str, condition: str = "") -> str:
    parts = [condition] if condition else []
    if table in JOURNALED:
        parts.append(f"{row}.id <= (select high from journal_high where tbl = '{table}')")
    return f"when {' and '.join(parts)}" if parts else ""


def add_rows(
    conn: sqlite3.Connection, ranges: Mapping[str, tuple[int, int]], *, watch: Watch = QUIET
) -> None:
    """Add rows that were inserted without triggers; ranges: table → first and last id.

    A new document has no other rows than new ones, so its entry is written once.
    """
    new = ranges.get("document", (0, -1))
    others = [table for table in ranges if table != "document"]
    _add_documents(conn, *new, watch=watch.part(0.0, 0.8))
    rest = watch.part(0.8, 1.0)
    for place, table in enumerate(others):
        part = rest.part(place / len(others), (place + 1) / len(others))
        known = owner(table)[0] == "document"
        _add_others(conn, table, *ranges[table], new if known else (0, -1), watch=part)


_OF_DOCUMENTS = " union all ".join(
    f"select {owner(table)[1]} as item, {hash_of(table)} as hash from {table}"
    f" where {'id' if table == 'document' else 'document_id'} between ?1 and ?2"
    for table in JOURNALED
    if owner(table)[0] == "document"
)


def _add_documents(conn: sqlite3.Connection, first: int, last: int, *, watch: Watch) -> None:
    for start in range(first, last + 1, DOCUMENTS):
        watch.at((start - first) / (last - first + 1))
        conn.execute(
            f"insert or replace into checksum select 'document', item, sum(hash) & {SUM_MASK}"
            f" from ({_OF_DOCUMENTS}) group by item",
            (start, min(start + DOCUMENTS - 1, last)),
        )


def _add_others(
    conn: sqlite3.Connection,
    table: str,
    first: int,
    last: int,
    new: tuple[int, int],
    *,
    watch: Watch,
) -> None:
    """Add rows of other owners than the documents `new` (first and last id)."""
    for start in range(first, last + 1, CHUNK_ROWS):
        watch.at((start - first) / (last - first + 1))
        where = f"id between {start} and {min(start + CHUNK_ROWS - 1, last)}"
        if new[0] <= new[1]:
            where += f" and ifnull(document_id, 0) not between {new[0]} and {new[1]}"
        _add(conn, table, where)


def of_documents(conn: sqlite3.Connection, these: str) -> int:
    """The sum of the checksums of documents (ids as a JSON array)."""
    sums: list[tuple[int]] = conn.execute(
        "select value from checksum where name = 'document'"
        " and owner in (select value from json_each(?))",
        (these,),
    ).fetchall()
    return sum(value for (value,) in sums) & SUM_MASK


def forget_documents(conn: sqlite3.Connection, first: int, last: int) -> None:
    """Delete the entries of documents that will be deleted, which triggers then need not update."""
    conn.execute(
        "delete from checksum where name = 'document' and owner between ? and ?", (first, last)
    )


def _add(conn: sqlite3.Connection, table: str, where: str) -> None:
    name, of = owner(table)
    conn.execute(
        f"insert into checksum select '{name}', {of} as item, sum({hash_of(table)}) & {SUM_MASK}"
        f" from {table} where {where} group by item"
        f" on conflict(name, owner) do update set value = (value + excluded.value) & {SUM_MASK}"
    )


def seal_step(conn: sqlite3.Connection, step: int, rows: int) -> None:
    """Store the checksum of a history step; `rows` is the sum of JOURNAL_HASH over its rows."""
    conn.execute(
        f"insert or replace into checksum select 'step', id, ({hash_of('journal_step')} + ?)"
        f" & {SUM_MASK} from journal_step where id = ?",
        (rows & SUM_MASK, step),
    )


def rebuild(conn: sqlite3.Connection) -> None:
    """Compute all checksums, for a file that was just created or upgraded."""
    register(conn)
    conn.execute("delete from checksum")
    for statement in _everything(TABLES, SUMMED):
        conn.execute(f"insert into checksum {statement}")


# ---------------------------------------------------------------- comparing them


def differences(conn: sqlite3.Connection) -> list[tuple[str, int]]:
    """(name, owner) of every entry whose checksum differs from its rows."""
    register(conn)
    differing: list[tuple[str, int]] = []
    stored = {
        (name, of): value
        for name, of, value in conn.execute("select name, owner, value from checksum").fetchall()
    }
    (version,) = conn.execute("pragma user_version").fetchone()
    for statement in _everything(of_version(version), version):
        for name, of, value in conn.execute(statement).fetchall():
            if stored.pop((name, of), 0) != value:
                differing.append((name, of))
    return [*differing, *(key for key, value in stored.items() if value)]


def _everything(tables: Iterable[str], version: int) -> Iterator[str]:
    """Queries of (name, owner, value) of all expected entries of a file of this version."""
    grouped: dict[str, list[str]] = {}
    for table in tables:
        if table != "journal_step":
            name, of = owner(table)
            part = f"select {of} as item, {hash_of(table)} as hash from {table}"
            grouped.setdefault(name, []).append(part)
    there = f"undone != {DROPPED}"
    grouped["step"] = [
        f"select id as item, {hash_of('journal_step')} as hash from journal_step where {there}",
        f"select step_id as item, {_journal_hash(version)} as hash from journal_row"
        f" where step_id in (select id from journal_step where {there})",
    ]
    for name, parts in grouped.items():
        yield (
            f"select '{name}', item, sum(hash) & {SUM_MASK} from ({' union all '.join(parts)})"
            " group by item"
        )
