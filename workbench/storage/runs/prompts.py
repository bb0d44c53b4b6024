"""Prompts and their versions. Undoable."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.storage.connections.database import Database
from workbench.storage.schema.values import new_id, new_uid, now


@dataclass(frozen=True)
class PromptVersion:
    id: int
    prompt_id: int
    number: int  # 1, 2, … within its prompt
    body: str  # the template
    parent_id: int | None
    at: str
    spec: Mapping[str, Any] = field(default_factory=dict, hash=False)  # all other settings


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
    stored = "select 1 from pragma_table_info('prompt_version') where name = 'spec'"
    is_old = not db.reader().execute(stored).fetchone()  # a file that is opened read-only
    spec = "'{}'" if is_old else "spec"
    columns = f"id, prompt_id, number, body, parent_id, at, {spec}"
    for row in (
        db.reader()
        .execute(f"select {columns} from prompt_version order by prompt_id, number")
        .fetchall()
    ):
        *fields, spec = row
        version = PromptVersion(*(*fields, json.loads(spec)))
        versions.setdefault(version.prompt_id, []).append(version)
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


def add(db: Database, name: str, body: str, spec: Mapping[str, Any] | None = None) -> StoredPrompt:
    """Add a prompt with `body` and `spec` as version 1."""
    inserted = db.writer.execute("insert into prompt(uid, name) values(?, ?)", (new_uid(), name))
    id = new_id(inserted)
    add_version(db, id, body, spec)
    return get(db, id)


def add_version(
    db: Database, prompt_id: int, body: str, spec: Mapping[str, Any] | None = None
) -> PromptVersion:
    """Add a version and return it. If nothing has changed, returns the latest version.

    Raises KeyError if there is no such prompt.
    """
    versions = get(db, prompt_id).versions
    latest = versions[-1] if versions else None
    spec = dict(spec or {})
    if latest and latest.body == body and latest.spec == spec:
        return latest
    number, parent_id = (latest.number + 1, latest.id) if latest else (1, None)
    row = (prompt_id, number, body, parent_id, now())
    inserted = db.writer.execute(
        "insert into prompt_version(prompt_id, number, body, parent_id, at, spec)"
        " values(?, ?, ?, ?, ?, ?)",
        (*row, json.dumps(spec, ensure_ascii=False, sort_keys=True)),
    )
    return PromptVersion(new_id(inserted), *row, spec=spec)


def rename(db: Database, id: int, name: str) -> None:
    db.writer.execute("update prompt set name = ? where id = ?", (name, id))


def delete(db: Database, id: int) -> None:
    """Delete a prompt with its versions."""
    db.writer.execute("delete from prompt where id = ?", (id,))
