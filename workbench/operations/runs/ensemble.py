"""Ensembles: runs of one layer whose class probabilities are averaged.

An ensemble is a run without weights that names its members; it predicts with each of them. Howard
and Ruder 2018, section 3.3, average a classifier on a forward and one on a backward language model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.operations.application.background import Background, here
from workbench.operations.evaluation import scoring
from workbench.operations.runs import missing, predict, results, run_folders, run_results
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.kinds.ensemble.info import INFO
from workbench.operations.runs.predict import Begun, Then
from workbench.storage.runs import runs
from workbench.storage.schema.values import now
from workbench.tasks import spec as tasks
from workbench.text.rows import row_id
from workbench.training.results import TrainResult

if TYPE_CHECKING:
    from workbench.jobs.queue import Job, Queue
    from workbench.operations.evaluation.scoring import Scored
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.text.document import Document
    from workbench.text.fields import Prediction

NEEDED = "ClassScores"  # what the task of the members predicts


def unfit(members: Sequence[Run]) -> str:
    """Why these runs cannot be averaged, "" if they can."""
    if len({run.id for run in members}) < max(2, len(members)):
        return _("An ensemble needs at least two different runs.")
    first = members[0]
    for run in members:
        if not kinds.info(run.kind).fine_tunes or run.status not in ("done", "stopped"):
            return _("{name} is not a finished training run.").format(name=run.name)
        if reason := missing.of_run(run):
            return _("{name} cannot predict: {reason}").format(name=run.name, reason=reason)
        if NEEDED not in tasks.info(results.task_of(run)).outputs:
            return _("{name} does not predict one class per document.").format(name=run.name)
        if (results.task_of(run), run.layer_id) != (results.task_of(first), first.layer_id):
            return _("{first} and {other} were trained on different layers.").format(
                first=first.name, other=run.name
            )
    return ""


def create(
    project: Project,
    queue: Queue,
    members: Sequence[Run],
    then: Then,
    *,
    name: str = "",
    background: Background = here,
) -> Job | None:
    """Add the ensemble as a run, evaluated on dev: `then(Run, None)` or `then(None, error)`.

    Returns the job that computes missing predictions of the first member, if one is known already.
    Raises WorkbenchError if the runs cannot be averaged.
    """
    if project.read_only:
        raise WorkbenchError(_("The project is open read-only."), hint=project.read_only_reason)
    if reason := unfit(members):
        raise WorkbenchError(reason, hint=_("Choose finished runs of one layer and task."))
    started: list[Job | None] = []

    def read(found: Any, error: Exception | None) -> None:
        if error is not None:
            return then(None, error)

        def keep(answers: Mapping[int, Prediction] | None, error: Exception | None) -> None:
            if answers is None:
                return then(None, error)
            given = answers
            background(lambda: _add(project, members, name, found, given), then)

        asked = [item.document for item in found]
        started.append(_ask(project, queue, members, asked, keep, background))

    background(lambda: results.scored(project, members[0], "dev"), read)
    return started[0] if started else None


def ensure(
    project: Project,
    queue: Queue,
    run: Run,
    found: Sequence[Document],
    then: Then,
    *,
    background: Background = here,
    begun: Begun | None = None,
) -> Job | None:
    """As `predict.ensure`, for an ensemble: each member predicts what it has not predicted yet."""
    started: list[Job | None] = []

    def prepared(result: Any, error: Exception | None) -> None:
        if error is not None:
            return then(None, error)
        have, missing, members = result
        if not missing:
            return then(have, None)

        def keep(answers: Mapping[int, Prediction] | None, error: Exception | None) -> None:
            if answers is None:
                return then(None, error)
            given = [answers[row_id(item)] for item in missing]
            background(lambda: {**have, **predict.kept(project, run, missing, given)}, then)

        started.append(_ask(project, queue, members, missing, keep, background, begun))

    def read() -> tuple[dict[int, Prediction], list[Document], tuple[Run, ...]]:
        have = predict.stored(project, run, found)
        missing = [document for document in found if document.id not in have]
        return have, missing, members_of(project, run) if missing else ()

    background(read, prepared)
    return started[0] if started else None


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
        found = runs.get(project.db, int(member["id"]))
    except KeyError:
        return None
    return found if found.uid == member["uid"] else None


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


def _ask(
    project: Project,
    queue: Queue,
    members: Sequence[Run],
    found: Sequence[Document],
    then: Then,
    background: Background,
    begun: Begun | None = None,
) -> Job | None:
    """The mean predictions by document id, from one member after another."""
    tables: list[Mapping[int, Prediction]] = []
    started: list[Job | None] = []

    def answered(answers: Mapping[int, Prediction] | None, error: Exception | None) -> None:
        if answers is None:
            return then(None, error)
        tables.append(answers)
        if len(tables) < len(members):
            return ask(members[len(tables)])
        ids = [row_id(document) for document in found]
        background(lambda: {id: mean([table[id] for table in tables]) for id in ids}, then)

    def ask(member: Run) -> None:
        job = predict.ensure(
            project, queue, member, found, answered, background=background, begun=begun
        )
        started.append(job)

    ask(members[0])
    return started[0] if started else None


def _add(
    project: Project,
    members: Sequence[Run],
    name: str,
    found: Sequence[Scored],
    answers: Mapping[int, Prediction],
) -> Run:
    task, first = results.task_of(members[0]), members[0]
    given = [answers[row_id(scored.document)] for scored in found]
    scored = scoring.evaluate(task, "dev", found, given)
    result = TrainResult({"dev": replace(scored, at=now())}, used={"dev": len(found)})
    same = {run.data_fingerprint for run in members}
    spec = {
        "task": task,
        "layer": first.layer,
        "model_name": " + ".join(run.name for run in members),
        "members": [{"id": run.id, "uid": run.uid, "name": run.name} for run in members],
    }
    with project.write(_("New ensemble")):
        run = run_folders.add_run(
            project,
            name or runs.free_name(project.db, f"{task}-ensemble"),
            INFO.id,
            layer_id=first.layer_id,
            spec=spec,
            status="done",
            **run_results.columns(result),
            data_fingerprint=first.data_fingerprint if len(same) == 1 else "",
        )
        rows = [
            (row_id(scored.document), scored.document.text_hash, answer.to_json())
            for scored, answer in zip(found, given, strict=True)
        ]
        runs.save_predictions(project.db, run.id, rows)
    return run
