"""The data of a run, frozen: documents and labels of one layer as a file that never changes, stored once per content."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.errors import ProjectError
from workbench.storage import documents
from workbench.text import dataset
from workbench.text.labels import Layer

if TYPE_CHECKING:
    from workbench.project.project import Project


@dataclass(frozen=True)
class Snapshot:
    """`path` is a file of the own format with document ids; `fingerprint` is that of its content without them."""

    path: Path
    fingerprint: str


def write(project: Project, layer: Layer, ids: Sequence[int]) -> Snapshot:
    """Freeze these documents with what is gold for `layer`, in `<name>.runs/data`. Equal content is written once.

    Raises ProjectError if the folder cannot be written.
    """
    folder = project.runs_folder / "data"
    draft = folder / f"draft.{os.getpid()}.{id(layer)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        name, fingerprint = _write(project, layer, ids, draft)
        path = folder / f"{name}.jsonl"
        os.replace(draft, path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise ProjectError(f"{folder} cannot be written: {error.strerror or error}.", hint="Is the disk full or write-protected?") from error
    return Snapshot(path, fingerprint)


def _write(project: Project, layer: Layer, ids: Sequence[int], draft: Path) -> tuple[str, str]:
    """Both digests in one pass. The file is named by its bytes, ids included: a run names its documents by them."""
    whole, content = hashlib.blake2b(digest_size=16), hashlib.blake2b(digest_size=16)
    (head,) = dataset.lines((layer,), ())
    with open(draft, "wb") as file:
        _put(file, head, whole)
        _digest(content, head)
        for record in documents.records(project.db, layers=(layer.name,), ids=ids):
            _put(file, dataset.dumps(dataset.record_to_json(record, ids=True)), whole)
            _digest(content, dataset.dumps(dataset.record_to_json(record)))
    return whole.hexdigest(), content.hexdigest()


def _put(file, line: str, digest) -> None:
    raw = line.encode("utf-8", "surrogatepass") + b"\n"
    file.write(raw)
    digest.update(raw)


def _digest(digest, line: str) -> None:
    digest.update(line.encode("utf-8", "surrogatepass") + b"\n")
