"""The teacher of a training: which runs can teach a layer, and what the training reads of one.

Runs that were trained here, and ensembles of them, are read by the worker, which computes their
probabilities; what other runs predict (prompts, baselines) is asked of them before the start.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.errors import ProjectError, SpecError
from workbench.base.i18n import _, ngettext
from workbench.base.records import json_text
from workbench.base.watch import QUIET, Watch
from workbench.operations.runs import missing, predict, trained_on
from workbench.operations.runs.kinds import contract as kinds
from workbench.project import snapshot
from workbench.storage.documents import bulk, documents
from workbench.storage.runs import runs
from workbench.tasks.spec import PER_ITEM
from workbench.text.rows import row_id
from workbench.training.spec import Teaching, TrainSpec, limited

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.tasks.spec import TaskInfo
    from workbench.text.document import Document
    from workbench.text.labels import Layer


def offered(project: Project, task: TaskInfo, layer: str) -> tuple[Run, ...]:
    """The runs that can teach a layer, newest first."""
    known = sorted(runs.all(project.db), key=lambda run: -run.id)
    return tuple(run for run in known if not run.listing.archived and not _unfit(run, task, layer))


def find(project: Project, spec: TrainSpec, layer: Layer) -> Run | None:
    """The teacher that the settings name, None without one. Raises SpecError if it cannot teach the
    layer.
    """
    name = str(spec.option("teacher")).strip()
    if not name:
        return None
    run = runs.by_name(project.db, name)
    if run is None:
        raise SpecError(
            _("There is no run {name!r} that could be the teacher.", name=name),
            hint=_("`glossbench runs list` lists the runs."),
        )
    reason = _unfit(run, spec.info, layer.name)
    if not reason and _is_model(run) and trained_on.fold(run) != spec.option("fold"):
        reason = _("it was trained on other folds")  # it knows documents of dev
    if reason:
        raise SpecError(
            _("Run {name!r} cannot be the teacher: {reason}.", name=name, reason=reason),
            hint=_("Choose a finished run of the same task and layer."),
        )
    return run


def _unfit(run: Run, task: TaskInfo, layer: str) -> str:
    """Why a run cannot teach a layer, "" if it can."""
    if run.status not in ("done", "stopped"):
        return _("it is not finished")
    if missing.of_run(run) or run.spec.get("task") != task.id or run.layer != layer:
        return _("it predicts another layer or task")
    if not task.taught:
        return _("distillation is defined for document classes and for tags of words")
    if task.taught != PER_ITEM and not (_is_model(run) or kinds.info(run.kind).composed):
        return _("it gives no probability of each tag")
    return ""


def _is_model(run: Run) -> bool:
    return kinds.info(run.kind).fine_tunes


def teaching(
    project: Project,
    queue: Queue | None,
    teacher: Run,
    layer: Layer,
    labelled: Sequence[int],
    unlabelled: Sequence[int],
    *,
    watch: Watch = QUIET,
) -> Teaching:
    """What a training reads of its teacher. labelled, unlabelled: ids of documents.

    queue: of the jobs of a teacher that has not predicted all of them. Raises WorkbenchError if it
    cannot, Cancelled or JobFailed.
    """
    path = ""
    if unlabelled:
        path = str(snapshot.write(project, layer.name, {"unlabelled": unlabelled}).path)
    kind = kinds.of(teacher)
    parts = kind.parts(project, teacher) or (teacher,)
    if all(map(_is_model, parts)):
        folders = (str(kinds.of(part).model(project, part)) for part in parts)
        return Teaching(tuple(folders), unlabelled=path)
    ids = sorted({*labelled, *unlabelled})
    texts = [record.document for record in documents.records(project.db, layers=(), ids=ids)]
    answers = _answers(project, queue, teacher, texts, watch)
    return Teaching(predictions=str(answers), unlabelled=path)


def unlabelled_ids(project: Project, spec: TrainSpec, layer: Layer) -> list[int]:
    """Documents that are neither submitted nor discarded in the layer, sampled with the seed; none
    of dev or test, nor with a text of them.
    """
    most = int(spec.option("unlabelled"))
    if not most or not spec.option("teacher"):
        return []
    done = {
        id
        for state in ("submitted", "discarded")
        for id in documents.ids(project.db, documents.Filter(layer_id=layer.id, state=state))
    }
    rows = {id: (split, text) for id, split, _group, text in bulk.split_keys(project.db)}
    held_out = {text for split, text in rows.values() if split in ("dev", "test")}
    fitting = documents.ids(project.db, documents.Filter(texts=layer.texts))
    ids = [id for id in fitting if id not in done and rows[id][1] not in held_out]
    return limited(ids, most, spec.seed)


def _answers(
    project: Project, queue: Queue | None, teacher: Run, texts: Sequence[Document], watch: Watch
) -> Path:
    """A file with what the teacher predicts, beside the snapshots, named by its content."""
    if queue is None or not kinds.info(teacher.kind).predicts:
        answers = predict.stored(project, teacher, texts)
        if lacking := len(texts) - len(answers):
            raise SpecError(
                ngettext(
                    "The teacher {name!r} has no prediction of {n:,} document.",
                    "The teacher {name!r} has no predictions of {n:,} documents.",
                    lacking,
                    name=teacher.name,
                ),
                hint=_("Predict the documents with it first, or choose another teacher."),
            )
    else:
        answers = predict.predictions(project, queue, teacher, texts, watch=watch)
    folder = project.runs_folder / "data"
    draft = folder / f".{os.getpid()}.soft.part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open(draft, "w", encoding="utf-8") as file:
            for text in texts:
                line = {"document_id": text.id, "prediction": answers[row_id(text)].to_json()}
                file.write(json_text(line) + "\n")
        digest = hashlib.blake2b(draft.read_bytes(), digest_size=16).hexdigest()
        path = folder / f"{digest}.answers.jsonl"
        os.replace(draft, path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise ProjectError(
            _("{folder} cannot be written ({strerror}).", folder=folder, strerror=error.strerror),
            hint=_("Check the free disk space and your write permission."),
        ) from error
    return path
