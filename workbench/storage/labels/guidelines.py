"""Earlier and present versions of the guidelines of layers. Undoable.

A version is a note that belongs to no document, so that files of all versions have a place for it:
its first line names the layer and who wrote it, the text follows.
"""

from __future__ import annotations

from dataclasses import dataclass

from workbench.storage.connections.database import Database
from workbench.storage.documents.flags import ASSIGNED
from workbench.storage.schema.values import name_in, new_id, new_uid, now

_KIND = "guideline"
_OF_LAYER = "document_id is null and substr(body, 1, ?) = ?"


@dataclass(frozen=True, slots=True)
class StoredGuideline:
    """author: name of a person, "" if it is not known. at: when it was begun."""

    id: int
    uid: str
    author: str
    at: str
    text: str


def versions(db: Database, layer_uid: str) -> tuple[StoredGuideline, ...]:
    """The stored versions of the guideline of a layer, oldest first."""
    rows = db.reader().execute(
        f"select id, uid, body, at from note where {_OF_LAYER} order by id", _of(layer_uid)
    )
    return tuple(_version(*row) for row in rows.fetchall())


def every(db: Database) -> tuple[set[str], ...]:
    """The texts of each layer, also of earlier versions."""
    rows = db.reader().execute("select uid, guideline from layer").fetchall()
    return tuple({text, *(item.text for item in versions(db, uid))} for uid, text in rows)


def add(
    db: Database, layer_uid: str, text: str, author: str, *, at: str = "", uid: str = ""
) -> int:
    """Add a version as the newest one and return its id. uid, at: by default a new one, now."""
    row = uid or new_uid(), _body(layer_uid, author, text), at or now()
    return new_id(db.writer.execute("insert into note(uid, body, at) values(?, ?, ?)", row))


def update(db: Database, id: int, layer_uid: str, text: str, author: str) -> None:
    """Set the text of a version; the time stays."""
    values = _body(layer_uid, author, text), id
    db.writer.execute("update note set body = ? where id = ?", values)


def delete(db: Database, layer_uid: str) -> None:
    """Delete all versions of a layer."""
    db.writer.execute(f"delete from note where {_OF_LAYER}", _of(layer_uid))


def copy_all(db: Database) -> None:
    """Copy the versions of all layers from a project that is attached as `staging`."""
    db.writer.execute(
        "insert into main.note(uid, body, at) select uid, body, at from staging.note"
        f" where {_OF_LAYER} order by id",
        (len(_KIND) + 1, f"{_KIND} "),
    )


def handed_out(db: Database) -> tuple[str, str]:
    """When this file was written, and when documents were last handed out from it, or "".

    Versions from before are in other files too, so they must not change any more.
    """
    (last,) = (
        db.reader()
        .execute("select max(at) from flag where substr(name, 1, ?) = ?", (len(ASSIGNED), ASSIGNED))
        .fetchone()
    )
    return str(db.meta("created", "")), last or ""


def _of(layer_uid: str) -> tuple[int, str]:
    start = f"{_KIND} {layer_uid} "
    return len(start), start


def _body(layer_uid: str, author: str, text: str) -> str:
    return name_in(f"{_KIND} {layer_uid} {' '.join(author.split())}\n{text}")


def _version(id: int, uid: str, body: str, at: str) -> StoredGuideline:
    head, _line, text = body.partition("\n")
    return StoredGuideline(id, uid, head.split(" ", 2)[2], at, text)
