"""Remove documents permanently: from the project, its history, its versions, the files of runs and
caches. Nothing of it can be undone.

Not reached: exported files, copies elsewhere, what models have learned, and blocks of the disk that
the system has not overwritten yet.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from workbench.base import paths
from workbench.base.errors import ProjectBusy, ProjectError, WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.base.sizes import size
from workbench.base.watch import QUIET, Watch
from workbench.operations.documents.redaction import Redactor, paragraphs
from workbench.operations.runs.trained_on import adapted_on, training_ids
from workbench.project import backup
from workbench.project.backup import Version
from workbench.project.project import Project
from workbench.storage.annotation import patterns
from workbench.storage.connections import backup as drafts
from workbench.storage.documents import removal
from workbench.storage.documents.removal import DocumentTraces
from workbench.storage.queries import saved_filters
from workbench.storage.runs import runs
from workbench.storage.runs.runs import Run
from workbench.text.document import text_hash
from workbench.text.queries.patterns import WORDS, Pattern

_WORD = re.compile(r"\w{3,}")
_OPTIONAL = re.compile(r"\\.|\w[?*{]")  # of a regular expression
_KEY = re.compile(r"\b[A-Za-z]+(?=[.:<>=])")  # of a query
CACHES = ("indexes", "features", "lengths", "examined")  # computed again when they are needed


@dataclass(frozen=True)
class RemovalPreview:
    """What `remove` would do. `versions`: those that lose the documents; `deleted_versions`: those
    that are deleted, because they are damaged or of an older format. `files`: of runs. `runs`:
    names of runs with predictions for the documents, or that learned from them. `cache_bytes`: of
    emptied caches. `models`: files of models that contain text of the documents. `mentions`: texts
    of others that do: notes, prompts, word lists, filters, guidelines. `patterns`, `filters`: those
    with a word that no other document contains, by title and name.
    """

    found: DocumentTraces
    versions: tuple[Version, ...]
    deleted_versions: tuple[Version, ...]
    files: tuple[Path, ...]
    runs: tuple[str, ...]
    cache_bytes: int
    models: tuple[Path, ...] = ()
    mentions: int = 0
    patterns: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()


@dataclass(frozen=True)
class Removed:
    """`versions`, `files`: how many were changed or deleted. `left`: what could not be changed."""

    documents: int
    versions: int
    files: int
    left: tuple[str, ...]


@dataclass(frozen=True)
class RemovalSummary:
    """A preview as sentences: what would be removed, and what not."""

    message: tuple[str, ...]
    warning: str


def _wanted(project: Project, ids: Sequence[int]) -> RemovalTargets:
    uids = removal.uids(project.db, ids)
    texts = removal.texts(project.db, ids)
    return RemovalTargets(
        frozenset(uids),
        json.dumps(sorted(uids.values())),
        removal.text_hashes(project.db, ids),
        frozenset(line.encode("utf-8", "replace") for text in texts for line in paragraphs(text)),
        Redactor(texts),
    )


# ---------------------------------------------------------------- preview


def preview(project: Project, ids: Sequence[int], *, watch: Watch = QUIET) -> RemovalPreview:
    """What would be removed, everywhere. Takes a while with large files of runs."""
    removing = _wanted(project, ids)
    counts = removal.found(project.db, ids)
    cleaned, deleted = _versions(project, removing)
    watch.at(0.2)
    files = tuple(
        path
        for (path,) in watch.part(0.2, 1.0).over(run_files(project), 1)
        if is_affected(path, project, removing)
    )
    models = tuple(path for path in model_files(project) if has_text(path, removing))
    adapted = {path.name for path in files if is_plain_text(path)}
    return RemovalPreview(
        counts,
        cleaned,
        deleted,
        files,
        tuple(run.name for run in runs.all(project.db) if _knows(project, run, removing, adapted)),
        sum(file.stat().st_size for file in _cached()),
        models,
        removal.mentions(project.db, ids, removing.redactor.words),
        *_with_own_words(project, ids),
    )


def _with_own_words(
    project: Project, ids: Sequence[int]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The patterns and the saved filters with a word of the documents that no other contains."""
    own = {word.casefold() for text in removal.texts(project.db, ids) for word in _words(text)}

    @cache
    def leaves(word: str) -> bool:
        return word.casefold() in own and not removal.stays(project.db, ids, word)

    named = (
        ((pattern.title, _literal(pattern)) for pattern in patterns.all(project.db)),
        ((filter_.name, _KEY.sub(" ", filter_.query)) for filter_ in saved_filters.all(project.db)),
    )
    names = [[name for name, text in rows if any(map(leaves, _words(text)))] for rows in named]
    return tuple(names[0]), tuple(names[1])


def _literal(pattern: Pattern) -> str:
    """The pattern without escapes and optional letters of a regular expression."""
    return pattern.body if pattern.kind == WORDS else _OPTIONAL.sub(" ", pattern.body)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text))


def _knows(project: Project, run: Run, removing: RemovalTargets, adapted: Container[str]) -> bool:
    """Whether a run has predictions for the documents, or learned from them."""
    if runs.predicts(project.db, run.id, removing.ids):
        return True
    return (
        not removing.ids.isdisjoint(training_ids(project, run))
        or adapted_on(project, run) in adapted
    )


def describe(preview: RemovalPreview) -> tuple[str, ...]:
    """The preview as sentences."""
    sentences = [
        ngettext("{n:,} document", "{n:,} documents", preview.found.documents),
        ngettext(
            "{n:,} label, suggestion, note or flag",
            "{n:,} labels, suggestions, notes and flags",
            preview.found.labels,
        ),
        ngettext("{n:,} prediction", "{n:,} predictions", preview.found.predictions),
        ngettext(
            "{n:,} change in the history", "{n:,} changes in the history", preview.found.history
        ),
        ngettext("{n:,} version loses them", "{n:,} versions lose them", len(preview.versions)),
        ngettext(
            "{n:,} version is deleted, as it is damaged or of an older format",
            "{n:,} versions are deleted, as they are damaged or of an older format",
            len(preview.deleted_versions),
        ),
        ngettext("{n:,} file of runs", "{n:,} files of runs", len(preview.files)),
    ]
    f, more = preview.found, (preview.versions, preview.deleted_versions, preview.files)
    counts = (f.documents, f.labels, f.predictions, f.history, *map(len, more))
    listed = [sentence.format(n=n) for sentence, n in zip(sentences, counts, strict=True) if n]
    if preview.cache_bytes:
        caches = _(
            "Caches of computed vectors ({size}) are emptied", size=size(preview.cache_bytes)
        )
        listed.append(caches)
    return tuple(listed)


def described(project: Project, ids: Sequence[int]) -> RemovalSummary:
    affected = preview(project, ids)
    return RemovalSummary(describe(affected), warning(affected))


def warning(preview: RemovalPreview) -> str:
    """What is not removed."""
    message = [_("Exported files and copies in other folders are not changed.")]
    if preview.runs:
        models = _(
            "Models keep what they have learned, including words in their vocabularies. Runs "
            "trained on the documents: {names}.",
            names=", ".join(preview.runs),
        )
        message.append(models)
    if preview.models:
        files = _(
            "These model files contain text of the documents and are kept: {files}.",
            files=", ".join(map(str, preview.models)),
        )
        message.append(files)
    if preview.mentions:
        mentions = ngettext(
            "{n:,} note, prompt, word list, filter or guideline contains text of the "
            "documents and is kept.",
            "{n:,} notes, prompts, word lists, filters or guidelines contain text of the "
            "documents and are kept.",
            preview.mentions,
        )
        message.append(mentions)
    if preview.patterns:
        sentence = _("These patterns contain words of the documents and are kept: {names}.")
        message.append(sentence.format(names=", ".join(preview.patterns)))
    if preview.filters:
        sentence = _("These saved filters contain words of the documents and are kept: {names}.")
        message.append(sentence.format(names=", ".join(preview.filters)))
    return " ".join(message)


# ---------------------------------------------------------------- removing


def remove(project: Project, ids: Sequence[int], *, watch: Watch = QUIET) -> Removed:
    """Remove documents permanently. Not within an edit.

    First the versions and files are changed, then the project, so that it can be done again if it
    is interrupted. Raises ProjectError if the project is read-only or a disk is full, ProjectBusy
    while a run of the project is not finished.
    """
    if project.read_only:
        raise ProjectError(
            _(
                "{name} is open read-only: {reason}.",
                name=project.path.name,
                reason=project.read_only_reason,
            )
        )
    if runs.any_unfinished(project.db):
        raise ProjectBusy(
            _("A run of the project is not finished."),
            hint=_("Wait for it or cancel it, then remove the documents."),
        )
    removing = _wanted(project, ids)
    drafts.delete_abandoned(project.path.parent)
    left: list[str] = []
    versions = _clean_versions(project, removing, left, watch.part(0.0, 0.3))
    files = 0
    for (path,) in watch.part(0.3, 0.5).over(run_files(project), 1):
        files += clean(path, project, removing, left)
    for file in _cached():
        with suppress(OSError):
            file.unlink()
    documents = project.remove_documents(
        sorted(removing.ids), redact=removing.redactor.words, watch=watch.part(0.5, 1.0)
    )
    return Removed(documents, versions, files, tuple(left))


def summary(done: Removed) -> str:
    """What `remove` did, as sentences."""
    message = ngettext(
        "{n:,} document permanently removed.",
        "{n:,} documents permanently removed.",
        done.documents,
    )
    if not done.left:
        return message
    left = _("These files could not be changed: {files}", files="; ".join(done.left))
    return f"{message} {left}"


def _versions(
    project: Project, removing: RemovalTargets
) -> tuple[tuple[Version, ...], tuple[Version, ...]]:
    """(versions that have the documents, versions that must be deleted)."""
    cleaned, deleted = list[Version](), list[Version]()
    for version in backup.versions(project.path):
        try:
            there, current = removal.in_file(version.path, removing.uids)
        except WorkbenchError:
            deleted.append(version)
            continue
        if there:
            (cleaned if current else deleted).append(version)
    return tuple(cleaned), tuple(deleted)


def _clean_versions(
    project: Project, removing: RemovalTargets, left: list[str], watch: Watch
) -> int:
    cleaned, deleted = _versions(project, removing)
    done = 0
    for (version,) in watch.over((*cleaned, *deleted), 1):
        try:
            if version in deleted:
                backup.delete(version)
            else:
                with closing(Project.open(version.path)) as old:
                    of_old = removal.ids_of(old.db, removing.uids)
                    old.remove_documents(of_old, redact=removing.redactor.words)
            done += 1
        except WorkbenchError as error:
            left.append(str(error))
    for draft in paths.versions_folder(project.path).glob(".*.part*"):
        with suppress(OSError):
            draft.unlink()
    return done


def _cached() -> Iterator[Path]:
    """Files with vectors, lengths and lines of the documents of any project."""
    for name in CACHES:
        for path in (paths.cache_folder() / name).rglob("*"):
            if path.is_file():
                yield path


DATA = "data"  # the folder of snapshots and texts
MODEL = "model"  # begins the names of folders with weights
READABLE = (".jsonl", ".json", ".txt", ".csv", ".tsv", ".md", ".log", ".toml")


@dataclass(frozen=True)
class RemovalTargets:
    """The documents: ids in the project, uids as a JSON array, hashes of their texts, their
    paragraphs, and what finds their texts in other data.
    """

    ids: frozenset[int]
    uids: str
    hashes: frozenset[str]
    lines: frozenset[bytes]
    redactor: Redactor


def run_files(project: Project) -> list[Path]:
    """Files of runs that may contain texts: data, predictions, prompts, logs, results."""
    return sorted(path for path in _readable(project) if not _is_of_model(path, project))


def model_files(project: Project) -> list[Path]:
    """Vocabularies, cards and settings of the models of runs."""
    return sorted(path for path in _readable(project) if _is_of_model(path, project))


def _readable(project: Project) -> Iterator[Path]:
    for path in project.runs_folder.rglob("*"):
        if path.suffix in READABLE and path.is_file() and not path.is_symlink():
            yield path


def _is_of_model(path: Path, project: Project) -> bool:
    folders = path.relative_to(project.runs_folder).parts[:-1]
    return any(folder.startswith(MODEL) for folder in folders)


def is_plain_text(path: Path) -> bool:
    """Whether it is a text for adaptation: one paragraph per line."""
    return path.suffix == ".txt" and path.parent.name == DATA


def has_text(path: Path, texts: RemovalTargets) -> bool:
    try:
        with path.open("rb") as file:
            return any(texts.redactor(line) is not line for line in file)
    except OSError:
        return False


def is_affected(path: Path, project: Project, texts: RemovalTargets) -> bool:
    """Whether `clean` would change the file."""
    try:
        return any(line is not cleaned for line, cleaned in _lines(path, project, texts))
    except OSError:
        return False


def clean(path: Path, project: Project, texts: RemovalTargets, left: list[str]) -> int:
    """Write the file again without the documents; 1 if it has any, 0 otherwise."""
    if not is_affected(path, project, texts):
        return 0
    draft = path.with_name(f".{path.name}.part")
    try:
        with draft.open("wb") as new:
            new.writelines(cleaned for _line, cleaned in _lines(path, project, texts))
        shutil.copymode(path, draft)
        os.replace(draft, path)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        left.append(f"{path}: {error.strerror or error}")
        return 0
    return 1


def _lines(path: Path, project: Project, removing: RemovalTargets) -> Iterator[tuple[bytes, bytes]]:
    """(line, what is kept of it): the same object, b"" or the line with marks."""
    objects, plain = path.suffix == ".jsonl", is_plain_text(path)
    data = path.parent.name == DATA
    own = objects and _is_own(path, project)
    with path.open("rb") as file:
        for line in file:
            if plain:
                yield line, b"" if line.strip() in removing.lines else line
            elif objects and _is_about(line, removing, own):
                yield line, b""
            else:
                yield line, line if data else removing.redactor(line)


def _is_own(path: Path, project: Project) -> bool:
    """Whether ids in the file are those of this project, not of an earlier one of its name."""
    first = path.relative_to(project.runs_folder).parts[0]
    return not first.isdigit() or int(first) in {run.id for run in runs.all(project.db)}


def _is_about(line: bytes, removing: RemovalTargets, own: bool) -> bool:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return False
    if not isinstance(row, dict):
        return False
    texts = row.get("texts")
    if isinstance(texts, Mapping):
        named = tuple((str(field), str(text)) for field, text in texts.items())
        return text_hash(named) in removing.hashes
    if row.get("text_hash") in removing.hashes:
        return True
    return own and any(row.get(key) in removing.ids for key in ("document_id", "document", "id"))
