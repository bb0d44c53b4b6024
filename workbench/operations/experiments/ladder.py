"""The ladder experiment: rungs × decoders × seeds as ordinary runs, one after another.

Finished runs with the same settings on the same data are used again, so that an experiment that
was interrupted continues where it ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.events import Signal
from workbench.base.i18n import _
from workbench.jobs.events import Finished, Output, Started
from workbench.operations.application.background import Background, here
from workbench.operations.experiments.ladder_rungs import Available, available, check_parts
from workbench.operations.experiments.ladder_spec import LadderSpec, keep
from workbench.operations.models import installed
from workbench.operations.runs import train
from workbench.operations.runs.kinds import contract as kinds
from workbench.storage.labels import labels
from workbench.storage.runs import runs
from workbench.tasks import spec as tasks
from workbench.training.spec import TrainSpec, parse_settings
from workbench.training.spec import options as settings_of

if TYPE_CHECKING:
    from workbench.base.settings import Settings
    from workbench.jobs.events import Event
    from workbench.jobs.queue import Job, Queue
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run

DECODER = "decoder"  # the setting of tasks that decode sequences
DECODERS = ("crf", "greedy")
MISSING, WAITING, RUNNING, DONE, FAILED = "missing", "waiting", "running", "done", "failed"


@dataclass
class Cell:
    """One run of the experiment, trained or to be trained.

    status: missing, waiting, running, done or failed. reused: the run is of an earlier experiment.
    """

    rung: Available
    decoder: str
    seed: int
    spec: TrainSpec | None
    status: str = WAITING
    run: Run | None = None
    reused: bool = False
    fraction: float | None = None
    message: str = ""


def decoders(task: str) -> tuple[str, ...]:
    """The decoders that the experiment compares: none for tasks that do not decode."""
    choices = [option.choices for option in tasks.info(task).options if option.name == DECODER]
    supported = tuple(decoder for decoder in DECODERS if choices and decoder in choices[0])
    return supported or ("",)


def task_of(project: Project, layer: str) -> str:
    """The task that learns a layer. Raises SpecError if there is none or no such layer."""
    known = labels.layer_by_name(project.db, layer)
    fitting = tasks.fitting(known) if known is not None else ()
    if fitting:
        return fitting[0].id
    names = [layer.name for layer in labels.layers(project.db) if tasks.fitting(layer)]
    message = _("The project has no layer {name!r}.")
    if known is not None:
        message = _("No task can learn layer {name}.")
    raise SpecError(
        message.format(name=layer),
        hint=_("Layers that can be learned: {names}.").format(names=", ".join(names) or _("none")),
    )


def split_settings(
    settings: Mapping[str, str],
) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """`KEY=VALUE` and `RUNG.KEY=VALUE` → settings of all rungs, and of each rung."""
    of_rungs: dict[str, dict[str, str]] = {}
    for name, value in settings.items():
        rung, dot, key = name.partition(".")
        if dot:
            of_rungs.setdefault(rung, {})[key] = value
    return {name: value for name, value in settings.items() if "." not in name}, of_rungs


# ---------------------------------------------------------------- cells


def cells(project: Project, spec: LadderSpec, settings: Settings | None = None) -> tuple[Cell, ...]:
    """Every run of the experiment with what is known of it; finished ones have their run.

    Of runs on several versions of the data, those with the data of the latest run count. Raises
    SpecError for settings that no rung has, or with wrong values.
    """
    planned = _planned(spec, settings)
    keys = {_key(cell.spec) for cell in planned if cell.spec is not None}
    finished = _finished(project)
    if matching := [run for key, run in finished if key in keys]:
        _reuse(planned, finished, matching[-1].data_fingerprint)
    return planned


def _planned(spec: LadderSpec, settings: Settings | None) -> tuple[Cell, ...]:
    check_parts(spec.parts)
    cards = installed.list(settings)
    rungs = [available(rung, cards, spec.parts) for rung in spec.rungs]
    _check_settings(spec, rungs)
    options = {rung.rung.id: _options(spec, rung) for rung in rungs}
    return tuple(
        _cell(spec, rung, options[rung.rung.id], decoder, seed)
        for decoder in spec.decoders
        for rung in rungs
        for seed in spec.seeds
    )


def _check_settings(spec: LadderSpec, rungs: Sequence[Available]) -> None:
    ids = [rung.rung.id for rung in rungs]
    if unknown := [name for name in spec.of_rungs if name not in ids]:
        raise SpecError(
            _("The experiment has no rung {name!r}.").format(name=unknown[0]),
            hint=_("Rungs: {names}.").format(names=", ".join(ids)),
        )
    known = {name for rung in rungs if rung.card for name in _names(spec, rung)}
    if unknown := [name for name in spec.settings if known and name not in known]:
        raise SpecError(
            _("No rung has the setting {name!r}.").format(name=unknown[0]),
            hint=_("Known: {known}.").format(known=", ".join(sorted(known))),
        )


def _names(spec: LadderSpec, rung: Available) -> set[str]:
    """The settings that a rung has, besides those that the experiment varies."""
    own = {**rung.rung.options, **spec.of_rungs.get(rung.rung.id, {})}
    family = rung.card.family if rung.card else ""
    method = own.get("method") or spec.settings.get("method")
    return {option.name for option in settings_of(spec.task, method, family=family)}


def _options(spec: LadderSpec, rung: Available) -> dict[str, object]:
    """The settings of a rung as values; {} for one that cannot be trained. Raises SpecError."""
    if rung.card is None or installed.unfit(rung.card, spec.task):
        return {}
    names = _names(spec, rung)
    texts = {
        **rung.rung.usually,
        **{name: value for name, value in spec.settings.items() if name in names},
        **rung.rung.options,
        **spec.of_rungs.get(rung.rung.id, {}),
    }
    return parse_settings(spec.task, texts, rung.card.family)


def _cell(
    spec: LadderSpec, rung: Available, options: Mapping[str, object], decoder: str, seed: int
) -> Cell:
    if rung.card is None:
        return Cell(rung, decoder, seed, None, MISSING, message=rung.missing)
    if reason := installed.unfit(rung.card, spec.task):
        return Cell(rung, decoder, seed, None, MISSING, message=reason)
    card = rung.card
    train_spec = TrainSpec(
        spec.task,
        spec.layer,
        card.path,
        card.name,
        seed,
        {**options, **({DECODER: decoder} if decoder else {})},
        allow_pickle=card.pickled,
        family=card.family,
    )
    return Cell(rung, decoder, seed, train_spec)


def _key(spec: TrainSpec) -> tuple[str, ...]:
    """A key that is equal for runs with equal settings, whatever their names and the folders of
    their models.
    """
    options = sorted(spec.all_options.items(), key=lambda pair: pair[0])
    parts = (spec.task, spec.layer, spec.model_name, spec.seed, options)
    return tuple(map(str, parts))


def _finished(project: Project) -> list[tuple[tuple[str, ...], Run]]:
    """The finished trainings, oldest first."""
    pairs = []
    for run in runs.all(project.db):
        if kinds.info(run.kind).fine_tunes and run.status == DONE:
            with suppress(WorkbenchError, KeyError):  # settings that this version does not have
                pairs.append((_key(replace(train.spec_of(run), layer=run.layer)), run))
    return pairs


def _reuse(
    planned: Sequence[Cell], finished: Sequence[tuple[tuple[str, ...], Run]], data: str
) -> None:
    """Give cells the finished runs on this data, the latest of equal ones."""
    known = {key: run for key, run in finished if run.data_fingerprint == data}
    for cell in planned:
        run = known.get(_key(cell.spec)) if cell.spec is not None else None
        if cell.run is None and run is not None:
            cell.status, cell.run, cell.reused = DONE, run, True


# ---------------------------------------------------------------- running


class Ladder:
    """Trains the cells of an experiment one after another; `changed()` is emitted at each step.

    status: ready, running, pausing (after the current run), paused or done. error: why it could not
    start, or was paused. `background` runs the preparation of each run.
    """

    def __init__(
        self,
        project: Project,
        queue: Queue,
        spec: LadderSpec,
        *,
        background: Background = here,
        settings: Settings | None = None,
    ):
        self.project, self.queue, self.spec, self._background = project, queue, spec, background
        self.changed = Signal("ladder")
        self.cells = cells(project, spec, settings)
        self.status, self.error = "ready", ""
        self._fingerprint: str | None = None
        self._cell: Cell | None = None  # that is prepared or trained
        self._run_id: int | None = None
        self._drop = queue.changed.connect(self._heard)

    def close(self) -> None:
        """Stop listening; the current run continues."""
        self._drop()

    @property
    def active(self) -> bool:
        return self.status in ("running", "pausing")

    @property
    def job(self) -> Job | None:
        """The job of the current run."""
        return train.job_of(self.queue, self.project, self._run_id) if self._run_id else None

    def start(self) -> None:
        """Check the data, then train what is not finished; also after a pause."""
        if self.active:
            return
        self.status, self.error, self._fingerprint = "running", "", None
        keep(self.project, self.spec)
        for cell in self.cells:
            if cell.status == FAILED:
                cell.status, cell.message, cell.run = WAITING, "", None
        self.changed.emit()
        limits = {cell.spec.option("train_limit") for cell in self.cells if cell.spec is not None}
        limit = limits.pop() if len(limits) == 1 else None  # else some rungs have one of their own

        def plan() -> train.Plan:
            return train.plan(
                self.project,
                self.spec.task,
                self.spec.layer,
                train_limit=limit,
            )

        self._background(plan, self._planned)

    def _planned(self, plan: Any, error: Exception | None) -> None:
        if error is None and plan.problem:
            error = WorkbenchError(plan.problem)
        if error is not None:
            self._end("paused", str(error))
            return
        self._next()

    def pause(self) -> None:
        """End after the current run."""
        if self.active:
            self.status = "pausing"
            self.changed.emit()

    def cancel(self) -> None:
        """Cancel the current run and start no other; finished runs stay."""
        self.pause()
        if job := self.job:
            job.cancel()

    def _next(self) -> None:
        waiting = [cell for cell in self.cells if cell.status == WAITING]
        if self._fingerprint is None:  # a finished cell fixes the data only if it is still current
            waiting = [cell for cell in self.cells if cell.spec is not None]
        if self.status == "pausing" or not waiting:
            self._end("paused" if waiting and self.status == "pausing" else "done")
            return
        cell = self._cell = waiting[0]
        spec = cell.spec
        if spec is None:
            raise RuntimeError("a missing rung is not trained")
        self.changed.emit()
        prepare: Callable[[], Any] = lambda: train.prepare(self.project, spec)  # noqa: E731
        self._background(prepare, lambda prepared, error: self._prepared(cell, prepared, error))

    def _prepared(self, cell: Cell, prepared: Any, error: Exception | None) -> None:
        if error is None and not self._on_same_data(prepared.data.fingerprint):
            return
        if error is None and cell.status == DONE:  # it was only needed to read the data
            self._next()
            return
        if error is None and self.status == "pausing":
            self._end("paused")
            return
        try:
            if error is not None:
                raise error
            cell.run = train.begin(self.project, self.queue, self._titled(cell, prepared))
        except WorkbenchError as problem:
            self._fingerprint = self._fingerprint or ""
            cell.status, cell.message = FAILED, str(problem)
            self._next()
            return
        self._run_id, cell.status, cell.fraction = cell.run.id, RUNNING, None
        self.changed.emit()

    def _on_same_data(self, fingerprint: str) -> bool:
        """Whether the experiment can continue; the first run fixes its data."""
        if not self._fingerprint:
            self._fingerprint = fingerprint
            for cell in self.cells:
                if cell.run is not None and cell.run.data_fingerprint != fingerprint:
                    cell.status, cell.run, cell.reused = WAITING, None, False
            _reuse(self.cells, _finished(self.project), fingerprint)
        if fingerprint == self._fingerprint:
            return True
        message = _("Documents or labels were changed. Start again to train every rung on them.")
        self._end("paused", message)
        return False

    def _titled(self, cell: Cell, prepared: train.PreparedTraining) -> train.PreparedTraining:
        words = (cell.rung.rung.id, cell.decoder, str(cell.seed))
        stem = "-".join(("ladder", *filter(None, words)))
        name = runs.free_name(self.project.db, stem)
        return replace(prepared, spec=replace(prepared.spec, name=name))

    def _end(self, status: str, error: str = "") -> None:
        self.status, self.error, self._cell, self._run_id = status, error, None, None
        self.changed.emit()

    def _heard(self, job: Job, event: Event) -> None:
        about = job.spec.params.get("run") or {}
        mine = kinds.of_job(job).queued and about.get("project") == self.project.uid
        cell = self._cell
        if cell is None or not mine or about.get("id") != self._run_id:
            return
        if isinstance(event, Output) and event.payload.get("kind") == "step":
            cell.fraction = event.payload["step"] / max(1, event.payload["total"])
            self.changed.emit()
        elif isinstance(event, Started):
            self.changed.emit()
        elif isinstance(event, Finished):
            self._ended(cell, event)

    def _ended(self, cell: Cell, event: Finished) -> None:
        self._cell, run_id, self._run_id = None, self._run_id, None
        cell.fraction = None
        if event.status == "cancelled":
            cell.status, cell.run = WAITING, None
            self.status = "pausing"
        else:
            cell.run = runs.get(self.project.db, run_id) if run_id else None
            is_done = cell.run is not None and cell.run.status == DONE
            cell.status = DONE if is_done else FAILED
            cell.message = "" if is_done else _why(cell.run, event)
        self._next()


def _why(run: Run | None, event: Finished) -> str:
    if run is not None and run.status == "stopped":
        return _("It was stopped early.")
    failure = run.failure if run is not None else None
    message, hint = (failure.message, failure.hint) if failure else (event.message, event.hint)
    return " ".join(filter(None, (message, hint)))
