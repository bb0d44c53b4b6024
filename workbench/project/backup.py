"""Copies of a project before a risk, or for someone else. The weights beside it are not copied."""

from __future__ import annotations

from pathlib import Path

from workbench.project.project import Project
from workbench.storage import backup


def save_copy(project: Project, target: Path) -> Path:
    """Write the project as it is now into a new file; the project may go on being edited. Raises ProjectError if `target` exists."""
    return backup.copy(project.db.reader(), Path(target).absolute())
