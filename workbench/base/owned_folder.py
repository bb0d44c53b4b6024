"""Folders that Glossbench writes, replaces and deletes, recognised by a marker file inside.

A folder without the marker was not written by Glossbench: it is never deleted, renamed or replaced.
Only the process that writes a folder calls `replace`, `recover` and `remove`; a reader calls
`current`, which changes nothing on disk.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _

MARKER = ".glossbench"
DRAFT = ".new"


def create(folder: Path) -> None:
    """Make a new folder that carries the marker. Raises FileExistsError if anything is there."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir()
    message = _("Glossbench wrote this folder and may replace or delete it.")
    (folder / MARKER).write_text(message + "\n", encoding="utf-8")


def is_owned(folder: Path) -> bool:
    """Whether it is a real folder, not a link to one, with the marker inside."""
    return folder.is_dir() and not folder.is_symlink() and (folder / MARKER).is_file()


def remove(folder: Path) -> bool:
    """Delete a folder that carries the marker; returns False, and leaves it, if it does not.

    The marker goes last, so an interrupted removal can be repeated. Errors are ignored.
    """
    if not is_owned(folder):
        return False
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        elif entry.name != MARKER:
            with suppress(OSError):
                entry.unlink()
    with suppress(OSError):
        (folder / MARKER).unlink()
        folder.rmdir()
    return not folder.exists()


# ---------------------------------------------------------------- replacing


def check(target: Path) -> None:
    """Raises WorkbenchError if `replace` would overwrite a folder or file without the marker."""
    for path in (target, _draft(target), _old(target)):
        if os.path.lexists(path) and not is_owned(path):
            raise WorkbenchError(
                _("{path} already exists and was not written by Glossbench.", path=path),
                hint=_("Move it elsewhere, or choose another folder."),
            )


def replace(target: Path, fill: Callable[[Path], None]) -> None:
    """Let `fill` write a new folder, then replace `target` with it.

    The earlier version stays if anything fails. Raises WorkbenchError, before `fill` is called, if
    a folder in the way is not ours.
    """
    check(target)
    recover(target)
    draft, old = _draft(target), _old(target)
    create(draft)
    try:
        fill(draft)
        for file in draft.rglob("*"):
            _sync(file)
    except BaseException:
        remove(draft)
        raise
    if not target.exists():
        os.replace(draft, target)
        return
    os.replace(target, old)
    try:
        os.replace(draft, target)
    except OSError:
        os.replace(old, target)
        remove(draft)
        raise
    remove(old)


def recover(target: Path) -> None:
    """Restore the old version after a crash of its writer, and delete a partial one."""
    draft, old = _draft(target), _old(target)
    if is_owned(old) and not target.exists():
        os.replace(old, target)
    remove(old)
    remove(draft)


def current(target: Path) -> Path:
    """The path of the complete version: `target`, or `.old` after a crash in `replace`."""
    old = _old(target)
    return old if is_owned(old) and not target.exists() else target


def target(draft: Path) -> Path:
    """The folder that `replace` puts a draft in the place of; any other folder itself."""
    return draft.with_name(draft.name.removesuffix(DRAFT))


def _draft(target: Path) -> Path:
    return target.with_name(target.name + DRAFT)


def _old(target: Path) -> Path:
    return target.with_name(f"{target.name}.old")


def _sync(path: Path) -> None:
    if path.is_file():
        with open(path, "rb+") as file:
            os.fsync(file.fileno())
