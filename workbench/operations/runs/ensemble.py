"""Ensembles: runs of one layer whose class probabilities are averaged.

An ensemble is a run without weights that names its members; it predicts with each of them. Howard
and Ruder 2018, section 3.3, average a classifier on a forward and one on a backward language model.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.operations.evaluation import scoring
from workbench.operations.runs import (
    missing,
    new_runs,
    predict,
    results,
    run_folders,
    trained_on,
)
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.kinds.ensemble.info import INFO
from workbench.storage.runs import runs
from workbench.storage.schema.values import now
from workbench.tasks import spec as tasks
from workbench.text.rows import row_id
from workbench.training.results import TrainResult

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue
    from workbench.operations.evaluation.scoring import GoldDocument
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.text.document import Document
    from workbench.text.fields import Prediction

NEEDED = "ClassScores"  # what the task of the members predicts


@dataclass(frozen=True)
class PreparedEnsemble:
    """The members of an ensemble, and its predictions for the documents it is scored on."""

    kind: ClassVar[str] = INFO.id
    members: tuple[Run, ...]
    gold: tuple[GoldDocument, ...]
    predictions: tuple[Prediction, ...]
    name: str = ""

    @property
    def answers(self) -> Iterator[tuple[Document, Prediction]]:
        documents = (item.document for item in self.gold)
        return zip(documents, self.predictions, strict=True)


def command(project: Project, run: Run) -> str:
    """The command line that averages the members again. Raises WorkbenchError without one."""
    names = [word for member in members_of(project, run) for word in ("--run", member.name)]
    return shlex.join(("glossbench", "ensemble", str(project.path), *names))


def unfit(members: Sequence[Run]) -> str:
    """Why these runs cannot be averaged, "" if they can."""
    if len({run.id for run in members}) < max(2, len(members)):
        return _("An ensemble needs at least two different runs.")
    first = members[0]
    for run in members:
        if not kinds.info(run.kind).fine_tunes or run.status not in ("done", "stopped"):
            return _("{name} is not a finished training run.", name=run.name)
        if reason := missing.of_run(run):
            return _("{name} cannot predict: {reason}", name=run.name, reason=reason)
        if NEEDED not in tasks.info(results.task_of(run)).outputs:
            return _("{name} does not predict one class per document.", name=run.name)
        if (results.task_of(run), run.layer_id) != (results.task_of(first), first.layer_id):
            return _(
                "{first} and {other} were trained on different layers.",
                first=first.name,
                other=run.name,
            )
        if trained_on.fold(run) != trained_on.fold(first):  # it would be scored on its own data
            return _(
                "{first} and {other} were trained on different folds.",
                first=first.name,
                other=run.name,
            )
    return ""


def create(
    project: Project,
    queue: Queue,
    members: Sequence[Run],
    *,
    name: str = "",
    watch: Watch = QUIET,
) -> Run:
    """Add the ensemble as a run, evaluated on dev; jobs compute missing predictions of its members.

    Raises WorkbenchError if the runs cannot be averaged.
    """
    new_runs.refuse_read_only(project)
    if reason := unfit(members):
        raise WorkbenchError(reason, hint=_("Choose finished runs of one layer and task."))
    gold = results.scored(project, members[0], "dev")
    documents = [scored.document for scored in gold]
    predictions = _means(project, queue, members, documents, watch)
    prepared = PreparedEnsemble(tuple(members), gold, tuple(predictions), name)
    return kinds.start(project, queue, prepared)


def answers(
    project: Project, queue: Queue, run: Run, documents: Sequence[Document], *, watch: Watch = QUIET
) -> list[Prediction]:
    """The mean predictions of the members, in order; each predicts what it has not predicted yet.

    Raises WorkbenchError if members were deleted.
    """
    return _means(project, queue, members_of(project, run), documents, watch)


def is_one(run: Run) -> bool:
    return kinds.info(run.kind).composed


def names_of(run: Run) -> tuple[str, ...]:
    """The names that the members of an ensemble had when it was made; () for other runs."""
    return tuple(str(member["name"]) for member in run.spec.get("members", ()))


def members_of(project: Project, run: Run) -> tuple[Run, ...]:
    """The runs that an ensemble averages. Raises WorkbenchError if some were deleted."""
    pairs = [(str(member["name"]), _existing(project, member)) for member in run.spec["members"]]
    if not all(known for _name, known in pairs):
        raise _incomplete(run, pairs)
    return tuple(known for _name, known in pairs if known is not None)


def lacking(project: Project, run: Run) -> str:
    """Why an ensemble cannot predict new texts and what to do, in sentences; "" for other runs and
    if it can.
    """
    if not is_one(run):
        return ""
    try:
        for member in members_of(project, run):
            run_folders.existing_model(project, member)
    except WorkbenchError as error:
        return str(error)
    return ""


def _existing(project: Project, member: Mapping[str, Any]) -> Run | None:
    """A run that an ensemble averages; None if it was deleted."""
    try:
        run = runs.get(project.db, int(member["id"]))
    except KeyError:
        return None
    return run if run.uid == member["uid"] else None


def _incomplete(run: Run, pairs: Sequence[tuple[str, Run | None]]) -> WorkbenchError:
    """pairs: (name, run or None if deleted) of every member."""
    left = [known.name for _name, known in pairs if known is not None]
    deleted = [repr(name) for name, known in pairs if known is None]
    message = ngettext(
        "The ensemble {name!r} cannot predict new texts: its run {deleted} was deleted.",
        "The ensemble {name!r} cannot predict new texts: its runs {deleted} were deleted.",
        len(deleted),
    )
    if len(left) > 1:
        hint = _(
            "Its stored predictions and scores are kept. For new ones, create an ensemble of the "
            "remaining runs: {names}."
        )
    elif left:
        hint = _(
            "Its stored predictions and scores are kept. For new ones, use the remaining run "
            "{names}, or train another run and create a new ensemble."
        )
    else:
        hint = _(
            "Its stored predictions and scores are kept. For new ones, train runs and make a new "
            "ensemble."
        )
    return WorkbenchError(
        message.format(name=run.name, deleted=", ".join(deleted)),
        hint=hint.format(names=", ".join(left)),
    )


def mean(answers: Sequence[Prediction]) -> Prediction:
    """The mean probability of each class. Raises WorkbenchError if the classes differ."""
    from workbench.runtime import averaging

    return averaging.mean(answers)


def _means(
    project: Project,
    queue: Queue,
    members: Sequence[Run],
    documents: Sequence[Document],
    watch: Watch,
) -> list[Prediction]:
    """The mean predictions of one member after another, in the order of the documents."""
    tables = []
    for number, member in enumerate(members):
        part = watch.part(number / len(members), (number + 1) / len(members))
        tables.append(predict.predictions(project, queue, member, documents, watch=part))
    ids = [row_id(document) for document in documents]
    return [mean([table[id] for table in tables]) for id in ids]


def start(
    project: Project, queue: Queue, prepared: PreparedEnsemble, *, parent_id: int | None = None
) -> Run:
    """Create the run, see `kinds.start`."""
    members, first = prepared.members, prepared.members[0]
    task = results.task_of(first)
    scored = scoring.evaluate(task, "dev", prepared.gold, prepared.predictions)
    result = TrainResult({"dev": replace(scored, at=now())}, used={"dev": len(prepared.gold)})
    fingerprints = {run.data_fingerprint for run in members}
    return new_runs.finished(
        project,
        _("New ensemble"),
        INFO.id,
        prepared.name or runs.free_name(project.db, f"{task}-ensemble"),
        result,
        prepared.answers,
        layer_id=first.layer_id,
        spec={
            "task": task,
            "layer": first.layer,
            "model_name": " + ".join(run.name for run in members),
            "members": [{"id": run.id, "uid": run.uid, "name": run.name} for run in members],
        },
        data_fingerprint=first.data_fingerprint if len(fingerprints) == 1 else "",
        parent_id=parent_id,
    )
