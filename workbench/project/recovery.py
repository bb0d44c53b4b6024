"""What can be read of a damaged project, for a report or a new file."""

from __future__ import annotations

from pathlib import Path

from workbench.base.errors import ProjectError
from workbench.base.watch import QUIET, Watch
from workbench.storage.integrity import recovery
from workbench.storage.integrity.recovery import Recovered

__all__ = ["Recovered", "recover", "recoverable"]


def recover(path: Path, target: Path, *, watch: Watch = QUIET) -> Recovered:
    """Write what can be read of the project at `path` to the new project `target`.

    Raises ProjectError if nothing can be read or `target` exists, ProjectLocked if the project is
    open for writing.
    """
    return recovery.recover(Path(path).absolute(), Path(target).absolute(), watch=watch)


def recoverable(path: Path, *, watch: Watch = QUIET) -> Recovered | None:
    """What `recover` would write; None if it would fail."""
    try:
        return recovery.recover(Path(path).absolute(), None, watch=watch)
    except ProjectError:
        return None
