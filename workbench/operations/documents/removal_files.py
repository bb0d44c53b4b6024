"""Files of runs, beside the project, that contain documents which are removed permanently.

Data, predictions and errors have one JSON object per line, texts for adaptation one paragraph. In
prompts, logs and results, texts are replaced by a mark. Files of models are not changed.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from workbench.operations.documents.redaction import Redactor
from workbench.project.project import Project
from workbench.storage.runs import runs
from workbench.text.document import text_hash

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
