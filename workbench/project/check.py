"""Damage in a project file, as `project check` reports it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from workbench.base import checksums, paths
from workbench.base.i18n import _
from workbench.project.project import Project
from workbench.storage.connections.database import Database
from workbench.storage.integrity import integrity


def weights(path: Path | str) -> list[str]:
    """Files of the models of the runs that are not as they were saved; runs without checksums are
    not examined.
    """
    runs = paths.runs_folder(Path(path))
    return [
        _(
            "{folder}: {name} is damaged, changed or missing",
            folder=file.parent.relative_to(runs.parent),
            name=name,
        )
        for file in sorted(runs.glob(f"*/*/{checksums.FILE}"))
        for name in checksums.changed(file.parent)
    ]


def check(path: Path | str) -> list[str]:
    """Problems of a project file, most severe first; empty if there are none.

    Opens the file read-only, so it works while a window has it open. Makes no changes.
    Raises ProjectError if SQLite cannot read the file at all or its main tables are missing.
    """
    with closing(Database.open(Path(path), read_only=True)) as db:
        return list(integrity.problems(db))


def contents(path: Path | str) -> list[str]:
    """As above, without what a merge does not read: search index, table of states."""
    with closing(Database.open(Path(path), read_only=True)) as db:
        return list(integrity.problems(db, contents=True))


def check_open(project: Project) -> list[str]:
    """As above, for an open project."""
    return list(integrity.problems(project.db))
