"""Deletes many documents: journal, checksums and indexes are updated for a chunk at a time."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.base.watch import QUIET, Watch
from workbench.storage.database import Database
from workbench.storage.tables import JOURNALED
from workbench.storage.values import ids_in
from workbench.storage.without_triggers import without_triggers

CHUNK = 1_000  # documents per statement; an operation can be cancelled in between
_THESE = "in (select value from json_each(?))"
_OF_DOCUMENT = tuple(table for table, columns in JOURNALED.items() if "document_id" in columns)
_UNINDEXED = (
    "insert into search(search, rowid, content) select 'delete', id, seg(content) from body"
    f" where document_id {_THESE}"
)


def delete(db: Database, ids: Iterable[int], *, watch: Watch = QUIET) -> int:
    """Delete documents with their texts and annotations; returns the number deleted."""
    conn, wanted = db.writer, sorted(set(ids))
    if len(wanted) <= CHUNK:
        return conn.execute(f"delete from document where id {_THESE}", (ids_in(wanted),)).rowcount
    (others,) = conn.execute(
        f"select exists(select 1 from document where id not {_THESE})", (ids_in(wanted),)
    ).fetchone()
    deleted = 0
    tables = ("document", *_OF_DOCUMENT)
    with without_triggers(conn, "delete", tables, ("search_drop",)):
        if not others:
            conn.execute("insert into search(search) values('delete-all')")
        for chunk in watch.over(wanted, CHUNK):
            deleted += _delete(db, ids_in(chunk), indexed=bool(others))
    return deleted


def _delete(db: Database, these: str, *, indexed: bool) -> int:
    """`these`: document ids as JSON; `indexed`: whether the full-text index still has them."""
    conn = db.writer
    columns = {"document": "id", **dict.fromkeys(_OF_DOCUMENT, "document_id")}
    db.journal.record_deletion(columns, these)
    if indexed:
        conn.execute(_UNINDEXED, (these,))
    conn.execute(f"delete from checksum where name = 'document' and owner {_THESE}", (these,))
    conn.execute(f"delete from state_key where document_id {_THESE}", (these,))
    for table in reversed(_OF_DOCUMENT):
        conn.execute(f"delete from {table} where document_id {_THESE}", (these,))
    return conn.execute(f"delete from document where id {_THESE}", (these,)).rowcount
