"""Prompts and their versions. Undoable."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.storage.connections.database import Database
from workbench.storage.schema.values import new_id, new_uid, now


@dataclass(frozen=True)
class PromptVersion:
    id: int
    prompt_id: int
    number: int  # 1, 2, … within its prompt
    body: str
    parent_id: int | None
    at: str


@dataclass(frozen=True)
class StoredPrompt:
    id: int
    uid: str
    name: str
    versions: tuple[PromptVersion, ...] = ()  # oldest first

    @property
    def body(self) -> str:
        return self.versions[-1].body if self.versions else ""


def all(db: Database) -> tuple[StoredPrompt, ...]:
    """All prompts with their versions, by name."""
    versions: dict[int, list[PromptVersion]] = {}
    columns = "id, prompt_id, number, body, parent_id, at"
    for row in (
        db.reader()
        .execute(f"select {columns} from prompt_version order by prompt_id, number")
        .fetchall()
    ):
        versions.setdefault(row[1], []).append(PromptVersion(*row))
    rows = db.reader().execute("select id, uid, name from prompt order by name, id").fetchall()
    return tuple(StoredPrompt(id, uid, name, tuple(versions.get(id, ()))) for id, uid, name in rows)


def get(db: Database, id: int) -> StoredPrompt:
    """Raises KeyError if there is no such prompt."""
    for prompt in all(db):
        if prompt.id == id:
            return prompt
    raise KeyError(id)


def by_name(db: Database, name: str) -> StoredPrompt | None:
    return next((prompt for prompt in all(db) if prompt.name == name), None)


def add(db: Database, name: str, body: str) -> StoredPrompt:
    """Add a prompt with `body` as version 1."""
    inserted = db.writer.execute("insert into prompt(uid, name) values(?, ?)", (new_uid(), name))
    id = new_id(inserted)
    add_version(db, id, body)
    return get(db, id)


def add_version(db: Database, prompt_id: int, body: str) -> PromptVersion:
    """Add a version and return it. If `body` is unchanged, returns the latest version.

    Raises KeyError if there is no such prompt.
    """
    versions = get(db, prompt_id).versions
    latest = versions[-1] if versions else None
    if latest and latest.body == body:
        return latest
    number, parent_id = (latest.number + 1, latest.id) if latest else (1, None)
    row = (prompt_id, number, body, parent_id, now())
    inserted = db.writer.execute(
        "insert into prompt_version(prompt_id, number, body, parent_id, at) values(?, ?, ?, ?, ?)",
        row,
    )
    return PromptVersion(new_id(inserted), *row)
