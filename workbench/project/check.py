"""Is a project sound? What `project check` prints."""

from __future__ import annotations

from pathlib import Path

from workbench.project.project import Project
from workbench.storage import integrity


def check(path: Path | str) -> list[str]:
    """Problems of a project file, worst first; empty if it is sound. Raises ProjectError if it cannot be opened at all.

    Opens it read-only, so it works beside a window that has it open, and changes nothing.
    """
    project = Project.open(path, read_only=True)
    try:
        return check_open(project)
    finally:
        project.close()


def check_open(project: Project) -> list[str]:
    """The same for a project that is open."""
    return list(integrity.problems(project.db))
