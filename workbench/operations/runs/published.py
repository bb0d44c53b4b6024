"""Published models as runs: a classifier or tagger that predicts as it is, on a layer.

Such a run has no weights of its own; it predicts with the model in its place. It is evaluated,
compared and used for suggestions like a run that was trained here.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from workbench.base import paths, settings
from workbench.base.errors import ModelError, WorkbenchError
from workbench.base.i18n import _
from workbench.base.records import json_text
from workbench.base.watch import QUIET, Watch
from workbench.models.spec import DESCRIPTION, card, published, unusable
from workbench.operations.evaluation import scoring
from workbench.operations.runs import new_runs, predict
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.kinds.published.info import INFO
from workbench.storage.labels import labels
from workbench.storage.runs import runs
from workbench.storage.schema.values import now
from workbench.tasks import spec as tasks
from workbench.training.results import TrainResult

OTHER = "other_task"  # in the spec of a run that reads the model for a task not its own

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue
    from workbench.models.spec import ModelInfo
    from workbench.operations.evaluation.scoring import GoldDocument
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.text.document import Document
    from workbench.text.fields import Prediction
    from workbench.text.labels import Layer


@dataclass(frozen=True)
class PreparedModel:
    """A published model for a layer, with its predictions for the documents it is scored on.

    is_other: the task is not the model's own.
    """

    kind: ClassVar[str] = INFO.id
    card: ModelInfo
    layer: Layer
    gold: tuple[GoldDocument, ...]
    predictions: tuple[Prediction, ...]
    name: str = ""
    is_other: bool = False

    @property
    def answers(self) -> Iterator[tuple[Document, Prediction]]:
        documents = (item.document for item in self.gold)
        return zip(documents, self.predictions, strict=True)


def layers(project: Project, card: ModelInfo) -> tuple[Layer, ...]:
    """The layers of the project that a model predicts; () for a model without a task.

    First those of its task, then those of a task with the same outputs that reads another number of
    texts: config.json of many models does not say that they read pairs.
    """
    if not card.task or not card.usable:
        return ()
    every = labels.layers(project.db)
    return tuple(
        layer for task in _tasks(card) for layer in every if tasks.fits(tasks.info(task), layer)
    )


def _tasks(card: ModelInfo) -> tuple[str, ...]:
    """The task of the model, then the one that the user may choose instead."""
    others = [tasks.info(card.task).for_pairs]
    if _place(card) in settings.load().model_tasks:
        others += [task.id for task in tasks.all_tasks() if task.for_pairs == card.task]
    return (card.task, *filter(None, others))


def reads_pairs_for(card: ModelInfo, layer: Layer) -> bool:
    """Whether a run on the layer makes a model of single texts read pairs."""
    return layer.texts == 2 and not tasks.info(card.task).fits(layer)


def _place(card: ModelInfo) -> str:
    return str(Path(card.path).absolute())


def _task_for(card: ModelInfo, layer: Layer) -> str:
    """The task that a run on the layer reads the model for."""
    fitting = (task for task in _tasks(card) if tasks.fits(tasks.info(task), layer))
    return next(fitting, card.task)


def layer_named(project: Project, card: ModelInfo, name: str = "") -> Layer:
    """The layer with this name, or the only one of its task. Raises WorkbenchError."""
    own = tasks.info(card.task).fits
    fitting = layers(project, card)
    matches = [layer for layer in fitting if (layer.name == name if name else own(layer))]
    if len(matches) == 1:
        return matches[0]
    known = ", ".join(layer.name for layer in fitting) or _("none")
    raise WorkbenchError(
        _(
            "{model} predicts {predicted}; it needs one layer for them.",
            model=card.name,
            predicted=_(tasks.info(card.task).predicts),
        ),
        hint=_("Layers of this kind: {known}.", known=known),
    )


def create(
    project: Project,
    queue: Queue,
    card: ModelInfo,
    layer: Layer,
    *,
    name: str = "",
    watch: Watch = QUIET,
) -> Run:
    """Add the model as a run, evaluated on dev: a job predicts its documents.

    Raises WorkbenchError if the project cannot be changed.
    """
    new_runs.refuse_read_only(project)
    task, path = _task_for(card, layer), Path(card.path)
    if is_other := task != card.task:
        card, path = replace(card, task=task), folder(path, task)
    scored = scoring.scored_documents(project, tasks.info(task), layer, "dev")
    answers: Sequence[Prediction] = ()
    if scored:
        answers, _cost = predict.answers(
            queue,
            path,
            [item.document for item in scored],
            title=_("Predict with {name}", name=card.name),
            project=project.path,
            allow_pickle=card.pickled,
            watch=watch,
        )
    prepared = PreparedModel(card, layer, scored, tuple(answers), name, is_other)
    return kinds.start(project, queue, prepared)


def _scored(
    card: ModelInfo, gold: Sequence[GoldDocument], predictions: Sequence[Prediction]
) -> TrainResult:
    """The result of a model on dev, without scores if nothing was predicted."""
    if not gold:
        return TrainResult(parameters=card.parameters)
    scored = scoring.evaluate(card.task, "dev", gold, predictions)
    return TrainResult(
        {"dev": replace(scored, at=now())}, used={"dev": len(gold)}, parameters=card.parameters
    )


def start(
    project: Project, queue: Queue, prepared: PreparedModel, *, parent_id: int | None = None
) -> Run:
    """Create the run, see `kinds.start`."""
    card, layer = prepared.card, prepared.layer
    return new_runs.finished(
        project,
        _("Add a published model"),
        INFO.id,
        prepared.name or runs.free_name(project.db, card.name),
        _scored(card, prepared.gold, prepared.predictions),
        prepared.answers,
        layer_id=layer.id,
        spec={
            "task": card.task,
            "layer": layer.name,
            "model": card.path,
            "model_name": card.name,
            "allow_pickle": card.pickled,
            "licence": card.licence,
            **({OTHER: True} if prepared.is_other else {}),
        },
        parent_id=parent_id,
    )


def model_of(run: Run) -> Path:
    """The model that a run predicts with. Raises ModelError if it is no longer in its place.

    For another task than its own, a folder of links to its files that names the task.
    """
    path = Path(str(run.spec["model"]))
    if not path.exists():
        raise ModelError(
            _(
                "The model of run {name!r} is missing: there is no {path}.",
                name=run.name,
                path=path,
            ),
            hint=_("Add the model again, or restore its folder."),
        )
    return folder(path, run.spec["task"]) if run.spec.get(OTHER) else path


def folder(model: Path, task: str) -> Path:
    """The folder in which a model is read for a task; made, or brought up to date.

    It is in the cache, so it may be deleted at any time. Raises ModelError if the model is none
    that is trained for a task, OSError if the cache cannot be written.
    """
    model = model.absolute()
    name = hashlib.sha256(f"{task} {model}".encode()).hexdigest()[:24]
    view = paths.cache_folder() / "published" / name
    view.mkdir(parents=True, exist_ok=True)
    files = {file.name: file for file in model.iterdir() if file.is_file()}
    for old in view.iterdir():
        if old.name != DESCRIPTION and not _is_same(old, files.get(old.name)):
            old.unlink()
    for own, file in files.items():
        if own != DESCRIPTION and not os.path.lexists(view / own):
            _link(file.resolve(), view / own)
    if (description := published(model)) is None:
        raise unusable(card(model, allow_pickle=True))
    text = json_text({**description, "task": task}, indent=1)
    if not _holds(view / DESCRIPTION, text):
        (view / DESCRIPTION).write_text(text, encoding="utf-8")
    return view


def _holds(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


def _is_same(link: Path, file: Path | None) -> bool:
    """Whether it stands for the file: a link, or a copy with the same size and time."""
    if file is None or not link.exists():
        return False
    own, original = link.stat(), file.stat()
    same = (own.st_size, own.st_mtime_ns) == (original.st_size, original.st_mtime_ns)
    return link.samefile(file) or same


def _link(file: Path, link: Path) -> None:
    """A symbolic link; where the system allows none, a hard link, else a copy."""
    for make in (os.symlink, os.link, shutil.copy2):
        try:
            make(file, link)
            return
        except OSError:
            if make is shutil.copy2:
                raise
