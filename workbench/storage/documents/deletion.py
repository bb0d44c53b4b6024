"""Deletes many documents: journal, checksums and indexes are updated for a chunk at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext

from workbench.base.watch import QUIET, Watch
from workbench.storage.connections.database import Database
from workbench.storage.schema import foreign_keys
from workbench.storage.schema.tables import JOURNALED
from workbench.storage.schema.values import ids_in
from workbench.storage.schema.without_triggers import without_triggers

CHUNK = 1_000  # documents per statement; an operation can be cancelled in between
_THESE = "in (select value from json_each(?))"
_OF_DOCUMENT = tuple(table for table, columns in JOURNALED.items() if "document_id" in columns)
_COLUMNS = {"document": "id", **dict.fromkeys(_OF_DOCUMENT, "document_id")}
_MAY_BE_NULL = {table: JOURNALED[table]["document_id"].null for table in _OF_DOCUMENT}
_UNINDEXED = (
    "insert into search(search, rowid, content) select 'delete', id, seg(content) from body"
    f" where document_id {_THESE}"
)


@contextmanager
def prepared(db: Database, count: int) -> Iterator[None]:
    """Enter it before an edit that deletes `count` documents; many are deleted faster then."""
    with foreign_keys.unchecked(db) if count > CHUNK else nullcontext():
        yield


def delete(db: Database, ids: Iterable[int], *, watch: Watch = QUIET) -> int:
    """Delete documents with their texts and annotations; returns the number deleted."""
    conn, gone = db.writer, sorted(set(ids))
    checked = foreign_keys.checked(conn)
    if len(gone) <= CHUNK and checked:
        return conn.execute(f"delete from document where id {_THESE}", (ids_in(gone),)).rowcount
    (others,) = conn.execute(
        f"select exists(select 1 from document where id not {_THESE})", (ids_in(gone),)
    ).fetchone()
    with without_triggers(conn, "delete", ("document", *_OF_DOCUMENT), ("search_drop",)):
        if others or checked:
            return _delete_some(db, gone, watch, indexed=bool(others))
        return _delete_all(db, gone, watch)


def _delete_all(db: Database, ids: Sequence[int], watch: Watch) -> int:
    """Journal all documents, then empty their tables, which takes no time per row."""
    conn = db.writer
    for chunk in watch.over(ids, CHUNK):
        db.journal.record_deletion(_COLUMNS, ids_in(chunk))
    (deleted,) = conn.execute("select count(*) from document").fetchone()
    conn.execute("insert into search(search) values('delete-all')")
    conn.execute("delete from checksum where name = 'document' and owner > 0")
    conn.execute("delete from state_key")
    for table in reversed(_OF_DOCUMENT):
        rest = " where document_id is not null" if _MAY_BE_NULL[table] else ""
        conn.execute(f"delete from {table}{rest}")
    conn.execute("delete from document")
    return int(deleted)


def _delete_some(db: Database, ids: Sequence[int], watch: Watch, *, indexed: bool) -> int:
    """`indexed`: whether other documents stay in the full-text index."""
    deleted = 0
    if not indexed:
        db.writer.execute("insert into search(search) values('delete-all')")
    for chunk in watch.over(ids, CHUNK):
        deleted += _delete(db, ids_in(chunk), indexed=indexed)
    return deleted


def _delete(db: Database, these: str, *, indexed: bool) -> int:
    """`these`: document ids as JSON; `indexed`: whether the full-text index still has them."""
    conn = db.writer
    db.journal.record_deletion(_COLUMNS, these)
    if indexed:
        conn.execute(_UNINDEXED, (these,))
    conn.execute(f"delete from checksum where name = 'document' and owner {_THESE}", (these,))
    conn.execute(f"delete from state_key where document_id {_THESE}", (these,))
    for table in reversed(_OF_DOCUMENT):
        conn.execute(f"delete from {table} where document_id {_THESE}", (these,))
    return conn.execute(f"delete from document where id {_THESE}", (these,)).rowcount
