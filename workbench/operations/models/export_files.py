"""The files of an export: where they may be written, and how they take the place of old ones."""

from __future__ import annotations

import io
import os
import re
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from workbench.base.errors import ExportFailed
from workbench.base.i18n import _, ngettext
from workbench.storage.connections.header import is_project

if TYPE_CHECKING:
    from workbench.exporters.data.base import ExportPlan, File, FolderExporter
    from workbench.project.project import Project
    from workbench.text.dataset import Record

MAX_NAME_BYTES = 200  # bytes of a file name without its suffix; file systems allow 255 with it
_NOT_IN_NAMES = re.compile(r'[\x00-\x1f<>:"/\\|?*\ud800-\udfff]+')
_HALVES = re.compile("[\ud800-\udfff]")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.I)  # on Windows


def target(path: Path, project: Project | None = None, *, is_folder: bool = False) -> Path:
    """The target path with links resolved. Raises ExportFailed if it must not be replaced.

    is_folder: a folder is written; it must be new or empty.
    """
    try:
        there = path.resolve()
        if is_folder:
            _check_folder(there)
            return there
        if there.is_dir():
            raise ExportFailed(
                _("{path} is a folder.", path=path), hint=_("Choose a file name in it.")
            )
        # for example /dev/null, which would be replaced by a file
        if there.exists() and not there.is_file():
            raise ExportFailed(
                _("{path} is a pipe or a device, not a file.", path=path),
                hint=_("Choose a file name."),
            )
        own = project is not None and there.exists() and there.samefile(project.path)
        if own or (there.exists() and is_project(there)):
            raise ExportFailed(_("{path} is a project.", path=path), hint=_("Choose another name."))
        if not there.parent.is_dir():
            raise ExportFailed(
                _("There is no folder {path}.", path=there.parent),
                hint=_("Create the folder first."),
            )
    except (OSError, RuntimeError) as error:  # RuntimeError: circular links
        reason = getattr(error, "strerror", None) or str(error)
        hint = _("Check that the folder exists and that you may write to it.")
        raise ExportFailed(
            _("{path} could not be written: {reason}.", path=path, reason=reason), hint=hint
        ) from error
    return there


def _check_folder(path: Path) -> None:
    if path.is_dir():
        if any(path.iterdir()):
            raise ExportFailed(
                _("{path} is not empty.", path=path),
                hint=_("Choose a new or an empty folder; the format has files for each document."),
            )
    elif path.exists():
        raise ExportFailed(
            _("{path} is a file.", path=path),
            hint=_("Choose a folder; the format has files for each document."),
        )


class UnicodeFile(io.TextIOWrapper):
    """A file in UTF-8. Halves of surrogate pairs, which no encoding of Unicode has but texts of
    older projects may, are escaped in JSON; elsewhere U+FFFD takes their place.

    replaced: number of characters that U+FFFD took the place of.
    """

    def __init__(self, path: Path, *, is_json: bool = False) -> None:
        super().__init__(path.open("wb"), encoding="utf-8", newline="")
        self._is_json = is_json
        self.replaced = 0

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except UnicodeEncodeError:
            if self._is_json:  # in strings only
                valid = text.encode("utf-8", "backslashreplace").decode("utf-8")
            else:
                valid, n = _HALVES.subn("\ufffd", text)
                self.replaced += n
            super().write(valid)
            return len(text)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside `path`, which takes its place at the end.

    If an exception ends the block, `path` is unchanged. Raises ExportFailed for an OSError.
    """
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        yield draft
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(draft, path)
    except OSError as error:
        raise _failed(path, error) from error
    finally:
        draft.unlink(missing_ok=True)


def write_file(
    path: Path, write: Callable[[TextIO], int], plan: ExportPlan, *, is_json: bool = False
) -> int:
    """Call `write(file)` on a temporary file beside the target, then replace the target with it.

    is_json: all that is not ASCII stands in strings of JSON. Returns what `write` returns. Raises
    ExportFailed if the file cannot be written; the target is then unchanged.
    """
    with replacing(path) as draft, UnicodeFile(draft, is_json=is_json) as file:
        count = write(file)
    plan.count(_replaced, file.replaced)
    return count


def write_folder(
    path: Path, exporter: FolderExporter, records: Iterable[Record], plan: ExportPlan
) -> int:
    """Write a folder with the files of each document; returns the number of documents.

    The folder appears when all files are written. Raises ExportFailed.
    """
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.tmp")
    names: dict[str, str] = {}
    written: list[Path] = []
    count = 0
    try:
        draft.mkdir()
        for record in records:
            name = file_name(record.document.key, names)
            files = exporter.files(record, name, plan)
            if files:
                plan.count(_renamed, int(name != record.document.key))
                count += 1
            _write_all(draft, files, written, plan)
        _write_all(draft, exporter.shared(plan), written, plan)
        if path.is_dir():
            path.rmdir()
        os.replace(draft, path)
        written.clear()
    except OSError as error:
        raise _failed(path, error) from error
    finally:
        for file in written:  # nothing but what was written here is deleted
            file.unlink(missing_ok=True)
        if draft.is_dir():
            draft.rmdir()
    return count


def _write_all(folder: Path, files: Iterable[File], written: list[Path], plan: ExportPlan) -> None:
    for name, text in files:
        written.append(folder / name)
        with UnicodeFile(folder / name) as file:
            file.write(text)
        plan.count(_replaced, file.replaced)


def file_name(key: str, taken: dict[str, str]) -> str:
    """A name for the files of a document that every system allows, unique without regard to case.

    taken: names in lower case → keys; the new one is added.
    """
    short = _NOT_IN_NAMES.sub("_", key).strip(" .") or "document"
    short = short.encode("utf-8")[:MAX_NAME_BYTES].decode("utf-8", "ignore")
    short = f"_{short}" if _RESERVED.match(short) else short
    name, again = short, 2
    while name.casefold() in taken:
        name, again = f"{short}-{again}", again + 1
    taken[name.casefold()] = key
    return name


def _replaced(n: int) -> str:
    return ngettext(
        "{n} character that is no valid Unicode (half of a surrogate pair) was replaced by \ufffd.",
        "{n} characters that are no valid Unicode (halves of surrogate pairs) were replaced by "
        "\ufffd.",
        n,
    )


def _renamed(n: int) -> str:
    return ngettext(
        "{n} document is named differently, as its key is not unique or not a file name.",
        "{n} documents are named differently, as their keys are not unique or not file names.",
        n,
    )


def _failed(path: Path, error: OSError) -> ExportFailed:
    reason = error.strerror or str(error)
    full = getattr(error, "errno", 0) == 28
    hint = (
        _("Free up disk space, then try again.")
        if full
        else _("Check that the folder exists and that you may write to it.")
    )
    return ExportFailed(
        _("{path} could not be written: {reason}.", path=path, reason=reason), hint=hint
    )
