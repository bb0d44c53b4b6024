"""Project copies: backups before risky operations and copies to share.

Run folders are not copied.
"""

from __future__ import annotations

from pathlib import Path

from workbench.project.project import Project
from workbench.storage import backup


def save_copy(project: Project, target: Path) -> Path:
    """Write the current state of the project to a new file. The project can be edited meanwhile.
    Raises ProjectError if `target` exists.
    """
    return backup.copy(project.db.reader(), Path(target).absolute())
