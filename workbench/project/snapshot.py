"""Immutable snapshot of the training data: documents and labels as one JSONL file per distinct
content.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.errors import ProjectError
from workbench.base.i18n import _
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.text.dataset import dumps, lines, record_to_json
from workbench.text.labels import Layer

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class Snapshot:
    """`path`: a file that `text.dataset.read` reads, each document with its `id`.
    `fingerprint`: hash of the content without ids.
    """

    path: Path
    fingerprint: str
    splits: Mapping[str, tuple[int, ...]] = field(hash=False)  # split → document ids


def write(project: Project, layer_name: str, splits: Mapping[str, Sequence[int]]) -> Snapshot:
    """Write these documents with their gold labels in one layer to
    `<name>.runs/data/<fingerprint>.jsonl`.

    Raises ProjectError if the folder cannot be written. Reads one page of documents at a time.
    """
    layer = labels.layer_by_name(project.db, layer_name)
    if layer is None:
        raise ProjectError(
            _("There is no layer {layer_name!r}.", layer_name=layer_name),
            hint=_("Nothing was written."),
        )
    document_ids = sorted({id for ids in splits.values() for id in ids})
    folder = project.runs_folder / "data"
    draft = folder / f".{os.getpid()}.part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _not_written(folder, error) from error
    try:
        fingerprint, with_ids = _write(project, draft, layer, document_ids)
        path = _place(folder, fingerprint, with_ids)
        os.replace(draft, path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise _not_written(folder, error) from error
    return Snapshot(path, fingerprint, {name: tuple(ids) for name, ids in splits.items()})


def _not_written(folder: Path, error: OSError) -> ProjectError:
    return ProjectError(
        _("{folder} cannot be written ({strerror}).", folder=folder, strerror=error.strerror),
        hint=_("Check the free disk space and your write permission."),
    )


def _write(project: Project, draft: Path, layer: Layer, ids: Sequence[int]) -> tuple[str, str]:
    """Fingerprints of the content, without and with ids."""
    content, exact = hashlib.blake2b(digest_size=16), hashlib.blake2b(digest_size=16)
    with open(draft, "wb") as file:
        for head in lines([layer], ()):
            encoded = head.encode("utf-8", "surrogatepass") + b"\n"
            file.write(encoded)
            content.update(encoded)
        for record in documents.records(project.db, layers=[layer.name], ids=ids):
            raw = record_to_json(record)
            content.update(dumps(raw).encode("utf-8", "surrogatepass") + b"\n")
            encoded = (
                dumps({**raw, "id": record.document.id}).encode("utf-8", "surrogatepass") + b"\n"
            )
            exact.update(encoded)
            file.write(encoded)
    return content.hexdigest(), exact.hexdigest()


def _place(folder: Path, fingerprint: str, with_ids: str) -> Path:
    """A separate file for equal content under other ids (deleted and imported again): the ids of an
    existing run never change.
    """
    path = folder / f"{fingerprint}.jsonl"
    if not path.exists() or _digest_of_ids(path) == with_ids:
        return path
    return folder / f"{fingerprint}-{with_ids[:8]}.jsonl"


def _digest_of_ids(path: Path) -> str:
    digest = hashlib.blake2b(digest_size=16)
    with open(path, "rb") as file:
        next(file, None)
        for line in file:
            digest.update(line)
    return digest.hexdigest()
