"""Damage in a project file, as `project check` reports it."""

from __future__ import annotations

from pathlib import Path

from workbench.project.project import Project
from workbench.storage import integrity
from workbench.storage.database import Database


def check(path: Path | str) -> list[str]:
    """Problems of a project file, most severe first; empty if there are none.

    Opens the file read-only, so it works while a window has it open. Makes no changes.
    Raises ProjectError if SQLite cannot read the file at all or its main tables are missing.
    """
    db = Database.open(Path(path), read_only=True)
    try:
        return list(integrity.problems(db))
    finally:
        db.close()


def check_open(project: Project) -> list[str]:
    """As above, for an open project."""
    return list(integrity.problems(project.db))
