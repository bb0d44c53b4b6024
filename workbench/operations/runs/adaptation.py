"""Adapting a language model to the texts of a project before a training, in one run.

The run's worker first trains the model on the texts, with an objective of pretraining, then
fine-tunes the adapted model (Howard and Ruder 2018; Gururangan et al. 2020). `train.start` does
both if the setting `adapt_epochs` is above 0.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import ProjectError, SpecError
from workbench.base.i18n import _
from workbench.operations.transfer import plain_text
from workbench.pretraining.spec import ObjectiveInfo, objectives, usual_objective
from workbench.pretraining.spec import objective as objective_info
from workbench.storage.documents import documents

if TYPE_CHECKING:
    from workbench.models.spec import ModelInfo
    from workbench.project.project import Project
    from workbench.text.document import Document
    from workbench.training.spec import TrainSpec

TARGET = "workbench.pretraining.adapt:run"


@dataclass(frozen=True)
class TextFiles:
    """Files with plain text.

    path: of the documents of train and of those without a split, labelled or not; held_out: of
    those of dev, which measure the adaptation. documents, held_out_documents: their numbers.
    Documents of test, and others with the same text, are in neither.
    """

    path: Path
    held_out: Path
    documents: int
    held_out_documents: int

    def to_json(self) -> dict[str, Any]:
        return {name: str(value) if isinstance(value, Path) else value
                for name, value in asdict(self).items()}  # fmt: skip


def is_wanted(spec: TrainSpec) -> bool:
    return bool(spec.option("adapt_epochs"))


def fitting(model: ModelInfo) -> tuple[ObjectiveInfo, ...]:
    """The objectives that a model can be adapted with, () if it is no language model."""
    return tuple(info for info in objectives() if info.fits(model))


def check(spec: TrainSpec, model: ModelInfo) -> ObjectiveInfo | None:
    """The objective of the adaptation, None if there is no adaptation.

    Raises SpecError if the model cannot be trained with it, or with none.
    """
    if not is_wanted(spec):
        return None
    if spec.option("init") == "random":
        raise SpecError(
            _(
                "Random weights are not adapted: adapt_epochs is {epochs} and init is random.",
                epochs=spec.option("adapt_epochs"),
            ),
            hint=_("Set one of them back to its default."),
        )
    if name := spec.option("adapt_objective"):
        info = objective_info(name)
        info.check(model)
        return info
    usual = usual_objective(model)
    if usual is None:
        raise SpecError(
            _(
                "{model} cannot be adapted to a text: it is not a language model.",
                model=spec.model_name or model.name,
            ),
            hint=_("Set adapt_epochs to 0, or choose a language model."),
        )
    return usual


def write_texts(project: Project) -> TextFiles:
    """Write the texts for an adaptation beside the snapshots of the project. Run it in a thread.

    Raises ProjectError if the folder cannot be written, SpecError if there is no text.
    """
    folder = project.runs_folder / "data"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held_back = {document.text_hash for document in _of(project, ("test",))}
        path, count = _written(folder, _others(_of(project, (None, "train")), held_back))
        held_out, held_out_count = _written(folder, _others(_of(project, ("dev",)), held_back))
    except OSError as error:
        raise ProjectError(
            _("{folder} cannot be written ({strerror}).", folder=folder, strerror=error.strerror),
            hint=_("Check the free disk space and your write permission."),
        ) from error
    if not count:
        raise SpecError(
            _("There is no text to adapt the model to: every document is in dev or test."),
            hint=_("Import more text, or set adapt_epochs to 0."),
        )
    return TextFiles(path, held_out, count, held_out_count)


def _of(project: Project, splits: Collection[str | None]) -> Iterator[Document]:
    """The documents of some splits; None is the split of those without one."""
    for record in documents.records(project.db, layers=()):
        if record.document.split in splits:
            yield record.document


def _others(texts: Iterator[Document], held_back: set[str]) -> Iterator[Document]:
    return (document for document in texts if document.text_hash not in held_back)


def _written(folder: Path, texts: Iterator[Document]) -> tuple[Path, int]:
    """A file that is named by its content, and its number of documents."""
    draft = folder / f".{os.getpid()}.text.part"
    try:
        count = plain_text.write(draft, texts)
        with open(draft, "rb") as file:
            digest = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
        path = folder / f"{digest}.txt"
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    return path, count
