"""Annotators, and the sources of annotations."""

from __future__ import annotations

from workbench.base.i18n import _
from workbench.storage.connections import failures
from workbench.storage.connections.database import Database
from workbench.storage.schema.tables import SOURCE_KINDS
from workbench.storage.schema.values import name_in, new_id, now


def own(db: Database) -> tuple[int, str]:
    """Id and name of the project's own annotator. Raises ProjectDamaged if the file names none."""
    id = db.meta_number("annotator")
    row = db.reader().execute("select name from annotator where id = ?", (id,)).fetchone()
    if row is None:
        error = ValueError(_("its annotator {id} is missing", id=id))
        raise failures.damaged(error, db.path)
    return id, row[0]


def rename(db: Database, id: int, name: str) -> None:
    """Rename the project's own annotator. Cannot be undone."""
    db.writer.execute("update annotator set name = ? where id = ?", (name, id))


def add_source(db: Database, kind: str, ref: str = "", annotator_id: int | None = None) -> int:
    """Add a source, one per operation, and return its id. Raises ValueError for an unknown kind."""
    if kind not in SOURCE_KINDS:
        raise ValueError(f"source kind {kind!r} is none of {SOURCE_KINDS}")
    row = (kind, name_in(ref), annotator_id, now())
    inserted = db.writer.execute(
        "insert into source(kind, ref, annotator_id, at) values(?, ?, ?, ?)", row
    )
    return new_id(inserted)
