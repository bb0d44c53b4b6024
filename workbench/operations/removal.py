"""Remove documents for good: from the project, its history, its versions, the files of runs and
caches. Nothing of it can be undone.

Not reached: exported files, copies elsewhere, what models have learned, and blocks of the disk that
the system has not overwritten yet.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from workbench.base import paths
from workbench.base.errors import ProjectError, WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.project import backup
from workbench.project.backup import Version
from workbench.project.project import Project
from workbench.storage import removal, runs
from workbench.storage.removal import Found
from workbench.text.document import text_hash

CACHES = ("indexes", "features", "lengths", "examined")  # computed again when they are needed


@dataclass(frozen=True)
class Preview:
    """What `remove` would do. `versions`: those that lose the documents; `deleted_versions`: those
    that are deleted, because they are damaged or of an older format. `files`: of runs. `runs`:
    names of runs with predictions for the documents. `cache_bytes`: of emptied caches.
    """

    found: Found
    versions: tuple[Version, ...]
    deleted_versions: tuple[Version, ...]
    files: tuple[Path, ...]
    runs: tuple[str, ...]
    cache_bytes: int


@dataclass(frozen=True)
class Removed:
    """`versions`, `files`: how many were changed or deleted. `left`: what could not be changed."""

    documents: int
    versions: int
    files: int
    left: tuple[str, ...]


@dataclass(frozen=True)
class Told:
    """A preview as sentences: what would be removed, and what not."""

    told: tuple[str, ...]
    warning: str


@dataclass(frozen=True)
class _Wanted:
    """The documents: ids in the project, uids as a JSON array, hashes of their texts."""

    ids: frozenset[int]
    uids: str
    hashes: frozenset[str]


def _wanted(project: Project, ids: Sequence[int]) -> _Wanted:
    uids = removal.uids(project.db, ids)
    return _Wanted(
        frozenset(uids),
        json.dumps(sorted(uids.values())),
        removal.text_hashes(project.db, ids),
    )


# ---------------------------------------------------------------- preview


def preview(project: Project, ids: Sequence[int], *, watch: Watch = QUIET) -> Preview:
    """What would be removed, everywhere. Takes a while with large files of runs."""
    wanted = _wanted(project, ids)
    found = removal.found(project.db, ids)
    cleaned, deleted = _versions(project, wanted)
    watch.at(0.2)
    files = tuple(
        path
        for (path,) in watch.part(0.2, 1.0).over(_run_files(project), 1)
        if any(True for _line in _lines_of(path, project, wanted))
    )
    predicted = [run for run in runs.all(project.db) if _predicted(project, run.id, wanted.ids)]
    return Preview(
        found,
        cleaned,
        deleted,
        files,
        tuple(run.name for run in predicted),
        sum(file.stat().st_size for file in _cached()),
    )


def _predicted(project: Project, run_id: int, ids: frozenset[int]) -> bool:
    return bool(runs.payloads(project.db, run_id, ids))


def told(found: Preview) -> tuple[str, ...]:
    """The preview as sentences."""
    sentences = [
        ngettext("{n:,} document", "{n:,} documents", found.found.documents),
        ngettext(
            "{n:,} label, suggestion, note or flag",
            "{n:,} labels, suggestions, notes and flags",
            found.found.labels,
        ),
        ngettext("{n:,} prediction", "{n:,} predictions", found.found.predictions),
        ngettext(
            "{n:,} change in the history", "{n:,} changes in the history", found.found.history
        ),
        ngettext("{n:,} version loses them", "{n:,} versions lose them", len(found.versions)),
        ngettext(
            "{n:,} version is deleted, as it is damaged or of an older format",
            "{n:,} versions are deleted, as they are damaged or of an older format",
            len(found.deleted_versions),
        ),
        ngettext("{n:,} file of runs", "{n:,} files of runs", len(found.files)),
    ]
    f, more = found.found, (found.versions, found.deleted_versions, found.files)
    counts = (f.documents, f.labels, f.predictions, f.history, *map(len, more))
    listed = [sentence.format(n=n) for sentence, n in zip(sentences, counts, strict=True) if n]
    if found.cache_bytes:
        megabytes = _("Caches of computed vectors ({n:,} MB) are emptied")
        listed.append(megabytes.format(n=max(1, found.cache_bytes >> 20)))
    return tuple(listed)


def look(project: Project, ids: Sequence[int]) -> Told:
    found = preview(project, ids)
    return Told(told(found), warning(found))


def warning(found: Preview) -> str:
    """What is not removed."""
    kept = _("Exported files and copies in other folders are not changed.")
    if not found.runs:
        return kept
    names = ", ".join(found.runs)
    models = _("Models keep what they have learned; these runs know the documents: {names}.")
    return f"{kept} {models.format(names=names)}"


# ---------------------------------------------------------------- removing


def remove(project: Project, ids: Sequence[int], *, watch: Watch = QUIET) -> Removed:
    """Remove documents for good. Not within an edit.

    First the versions and files are changed, then the project, so that it can be done again if it
    is interrupted. Raises ProjectError if the project is read-only or a disk is full.
    """
    if project.read_only:
        raise ProjectError(
            _("{name} is open read-only: {reason}.").format(
                name=project.path.name, reason=project.read_only_reason
            )
        )
    wanted = _wanted(project, ids)
    left: list[str] = []
    versions = _clean_versions(project, wanted, left, watch.part(0.0, 0.3))
    files = 0
    for (path,) in watch.part(0.3, 0.5).over(_run_files(project), 1):
        files += _clean_file(path, project, wanted, left)
    for file in _cached():
        with suppress(OSError):
            file.unlink()
    documents = project.remove_documents(sorted(wanted.ids), watch=watch.part(0.5, 1.0))
    return Removed(documents, versions, files, tuple(left))


def summary(done: Removed) -> str:
    """What `remove` did, as sentences."""
    words = ngettext(
        "{n:,} document removed for good.", "{n:,} documents removed for good.", done.documents
    )
    told: str = words.format(n=done.documents)
    if not done.left:
        return told
    left = _("These files could not be changed: {files}").format(files="; ".join(done.left))
    return f"{told} {left}"


def _versions(project: Project, wanted: _Wanted) -> tuple[tuple[Version, ...], tuple[Version, ...]]:
    """(versions that have the documents, versions that must be deleted)."""
    cleaned, deleted = list[Version](), list[Version]()
    for version in backup.versions(project.path):
        try:
            there, current = removal.in_file(version.path, wanted.uids)
        except WorkbenchError:
            deleted.append(version)
            continue
        if there:
            (cleaned if current else deleted).append(version)
    return tuple(cleaned), tuple(deleted)


def _clean_versions(project: Project, wanted: _Wanted, left: list[str], watch: Watch) -> int:
    cleaned, deleted = _versions(project, wanted)
    done = 0
    for (version,) in watch.over((*cleaned, *deleted), 1):
        try:
            if version in deleted:
                backup.delete(version)
            else:
                with closing(Project.open(version.path)) as old:
                    old.remove_documents(removal.ids_of(old.db, wanted.uids))
            done += 1
        except WorkbenchError as error:
            left.append(str(error))
    for draft in paths.versions_folder(project.path).glob(".*.part*"):
        with suppress(OSError):
            draft.unlink()
    return done


# ---------------------------------------------------------------- files of runs


def _run_files(project: Project) -> list[Path]:
    """Files beside the project with a JSON object per line: data, predictions, queue, errors."""
    return sorted(path for path in project.runs_folder.rglob("*.jsonl") if path.is_file())


def _lines_of(path: Path, project: Project, wanted: _Wanted) -> Iterator[int]:
    """Numbers of the lines that are about the documents."""
    own = _is_own(path, project)
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file):
                if _is_about(line, wanted, own):
                    yield number
    except OSError:
        return


def _is_own(path: Path, project: Project) -> bool:
    """Whether ids in the file are those of this project, not of an earlier one of its name."""
    first = path.relative_to(project.runs_folder).parts[0]
    return not first.isdigit() or int(first) in {run.id for run in runs.all(project.db)}


def _is_about(line: bytes, wanted: _Wanted, own: bool) -> bool:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return False
    if not isinstance(row, dict):
        return False
    texts = row.get("texts")
    if isinstance(texts, Mapping):
        named = tuple((str(field), str(text)) for field, text in texts.items())
        return text_hash(named) in wanted.hashes
    if row.get("text_hash") in wanted.hashes:
        return True
    return own and any(row.get(key) in wanted.ids for key in ("document_id", "document", "id"))


def _clean_file(path: Path, project: Project, wanted: _Wanted, left: list[str]) -> int:
    """Write the file again without those lines; 1 if there were any."""
    gone = frozenset(_lines_of(path, project, wanted))
    if not gone:
        return 0
    draft = path.with_name(f".{path.name}.part")
    try:
        with path.open("rb") as old, draft.open("wb") as new:
            for number, line in enumerate(old):
                if number not in gone:
                    new.write(line)
        shutil.copymode(path, draft)
        os.replace(draft, path)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        left.append(f"{path}: {error.strerror or error}")
        return 0
    return 1


def _cached() -> Iterator[Path]:
    """Files with vectors, lengths and lines of the documents of any project."""
    for name in CACHES:
        for path in (paths.cache_folder() / name).rglob("*"):
            if path.is_file():
                yield path
