"""Documents of a test set that a run was trained on: their scores say little about new texts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base import paths
from workbench.base.errors import WorkbenchError
from workbench.operations.runs.kinds import contract as kinds
from workbench.storage.documents import documents
from workbench.text import dataset
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.tasks.spec import Gold, TaskInfo
    from workbench.text.dataset import Record
    from workbench.text.document import Document


@dataclass(frozen=True, slots=True)
class TrainedOn:
    """A document that was in the training data of a run, itself or with another equal text.

    moved: it was there itself, so its split has changed since.
    """

    document_id: int
    key: str
    moved: bool


class TrainingTexts:
    """Reads the texts of a project once for any number of runs. Not for the main thread."""

    def __init__(self, project: Project):
        self._project = project

    @cached_property
    def _hashes(self) -> dict[int, str]:
        """Texts of documents never change, so that they are those of any earlier training."""
        return dict(documents.text_hashes(self._project.db))

    def among(self, run: Run, split: str, documents: Sequence[Document]) -> tuple[TrainedOn, ...]:
        """The documents of a split that the run was trained on, in their order; () for the training
        data itself, and for a run whose training documents are not known.
        """
        ids = training_ids(self._project, run) if split != "train" else frozenset()
        if not ids:
            return ()
        texts = {self._hashes[id] for id in ids if id in self._hashes}
        texts |= _deleted_texts(self._project, run, ids - self._hashes.keys())
        return tuple(
            TrainedOn(row_id(document), document.key, document.id in ids)
            for document in documents
            if document.id in ids or self._hashes.get(row_id(document)) in texts
        )


def training_ids(project: Project, run: Run) -> frozenset[int]:
    """Ids of the documents that a run learned from."""
    if kinds.info(run.kind).composed:
        return frozenset().union(
            *(training_ids(project, member) for member in _members(project, run))
        )
    return _ids(project, run, "train")


def own_dev(project: Project, run: Run) -> frozenset[int] | None:
    """Ids of the documents of the fold that a run was scored on as dev; None for a run on the dev
    split of the project.
    """
    return _ids(project, run, "dev") if fold(run) else None


def fold(run: Run) -> str:
    """The fold that a run was trained without, as in its settings; "" for train and dev."""
    return str((run.spec.get("options") or {}).get("fold", ""))


def _ids(project: Project, run: Run, split: str) -> frozenset[int]:
    raw = _job(project, run)
    ids = raw.get("splits", {}).get(split, ()) if isinstance(raw, dict) else ()
    return frozenset(int(id) for id in ids)


def gold(project: Project, run: Run, info: TaskInfo) -> dict[int, Gold]:
    """Gold labels of the documents of a run at its start, by id; {} if its data are missing."""
    return {
        row_id(record.document): known
        for record in _records(project, run)
        if (known := info.gold(record, run.layer)) is not None
    }


def adapted_on(project: Project, run: Run) -> str:
    """Name of the file with the texts that the model was adapted to; "" without adaptation."""
    raw = _job(project, run)
    texts = raw.get("texts") if isinstance(raw, dict) else None
    return Path(str(texts.get("path", ""))).name if isinstance(texts, dict) else ""


def _members(project: Project, run: Run) -> Iterable[Run]:
    try:
        return kinds.of(run).parts(project, run)
    except WorkbenchError:
        return ()  # one of them was deleted


def _job(project: Project, run: Run) -> object:
    """The parameters of the job that trained a run; None if its folder is missing."""
    try:
        text = (paths.run_folder(project.path, run.id) / "job.json").read_text(encoding="utf-8")
        return json.loads(text)["params"]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _deleted_texts(project: Project, run: Run, ids: frozenset[int]) -> set[str]:
    """Hashes of training texts that are no longer in the project, from the data of the run."""
    records = _records(project, run) if ids else ()
    return {record.document.text_hash for record in records if record.document.id in ids}


def _records(project: Project, run: Run) -> Sequence[Record]:
    """The documents and labels that a run was started with; () if they are missing."""
    raw = _job(project, run)
    if not isinstance(raw, dict):
        return ()
    path = project.runs_folder / "data" / Path(str(raw.get("data", ""))).name
    try:
        return tuple(dataset.read(path).records)
    except (OSError, WorkbenchError):
        return ()
