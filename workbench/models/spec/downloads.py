"""Records the files that Glossbench added to the Hugging Face cache, so that it can delete them.

The cache is shared with other programs. A file in each repository lists the paths that our
downloads created there; only those are ever deleted.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path, PurePosixPath

LIST = ".glossbench.json"
_PARTS = ("blobs", "snapshots", "refs")


def record(repository: Path, created: Iterable[Path]) -> None:
    """Add paths inside the repository to the list of our files."""
    ours = {_name(repository, path) for path in (*recorded(repository), *created)}
    draft = repository / f"{LIST}.{os.getpid()}"
    draft.write_text(json.dumps({"created": sorted(ours)}, indent=1), encoding="utf-8")
    os.replace(draft, repository / LIST)


def recorded(repository: Path) -> tuple[Path, ...]:
    """The paths on the list that exist; () if there is no list."""
    if not (repository / LIST).is_file():
        return ()
    try:
        raw = json.loads((repository / LIST).read_text(encoding="utf-8"))
        names = [name for name in raw["created"] if isinstance(name, str) and _is_inside(name)]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ()
    return tuple(repository / name for name in names if os.path.lexists(repository / name))


def _name(repository: Path, path: Path) -> str:
    return path.relative_to(repository).as_posix()


def _is_inside(name: str) -> bool:
    parts = PurePosixPath(name).parts
    inside = len(parts) > 1 and parts[0] in _PARTS
    return inside and not any(part == ".." or "\\" in part or "\0" in part for part in parts)


def size(repository: Path) -> int:
    """Bytes that `delete` would free."""
    return sum(path.lstat().st_size for path in _deletable(repository))


def delete(repository: Path) -> int:
    """Delete the listed files and the folders that become empty; returns the bytes freed."""
    freed = size(repository)
    for path in _deletable(repository):
        with suppress(OSError):
            path.unlink()
    with suppress(OSError):
        (repository / LIST).unlink()
    folders = [path for path in repository.rglob("*") if path.is_dir() and not path.is_symlink()]
    for folder in sorted(folders, key=lambda path: -len(path.parts)):
        with suppress(OSError):
            folder.rmdir()  # only if it is empty
    with suppress(OSError):
        repository.rmdir()
    return freed


def _deletable(repository: Path) -> list[Path]:
    """Without blobs that files of other programs still link to."""
    ours = set(recorded(repository))
    links = (path for path in (repository / "snapshots").rglob("*") if path.is_symlink())
    needed = {path.resolve() for path in links if path not in ours}
    return [path for path in sorted(ours) if path.is_symlink() or path.resolve() not in needed]
