"""Recent projects: shown on the Welcome page and under File ▸ Open recent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.base import paths
from workbench.ui.style.formats import when


@dataclass(frozen=True)
class Recent:
    """`when` is the modification time of the file as text; "" if it is missing."""

    path: str
    name: str
    folder: str
    when: str
    missing: bool


def projects(names: Sequence[str]) -> tuple[Recent, ...]:
    """What is known about these files, in their order."""
    return tuple(_recent(name) for name in names)


def _recent(name: str) -> Recent:
    path = Path(name)
    try:
        changed = path.stat().st_mtime
    except OSError:
        return Recent(name, path.stem, short(path), "", True)
    return Recent(name, path.stem, short(path), when(changed), False)


def short(path: Path) -> str:
    """The path with the home folder abbreviated as ~."""
    home = paths.documents_folder().parent
    for base in (Path.home(), home):
        if path.is_relative_to(base):
            return f"~/{path.relative_to(base).as_posix()}"
    return str(path)
