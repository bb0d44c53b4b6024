"""The ladder experiment: rungs × decoders × seeds as ordinary runs, one after another.

Finished runs with the same settings on the same data are used again, so that an experiment that
was interrupted continues where it ended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.events import Signal
from workbench.base.i18n import _
from workbench.jobs.events import Finished, Output, Started
from workbench.operations.experiments.ladder_rungs import Available, available, check_parts
from workbench.operations.experiments.ladder_spec import LadderSpec, keep
from workbench.operations.models import installed
from workbench.operations.runs import train, training_data
from workbench.operations.runs.kinds import contract as kinds
from workbench.storage.labels import labels
from workbench.storage.runs import runs
from workbench.tasks import spec as tasks
from workbench.training.spec import TrainSpec, parse_settings
from workbench.training.spec import options as settings_of

if TYPE_CHECKING:
    from workbench.base.settings import Settings
    from workbench.jobs.events import Event
    from workbench.jobs.queue import Queue
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run

EVERY = 0.2  # seconds between two looks at the progress of a run
DECODER = "decoder"  # the setting of tasks that decode sequences
DECODERS = ("crf", "greedy")
MISSING, WAITING, RUNNING, DONE, FAILED = "missing", "waiting", "running", "done", "failed"


@dataclass
class LadderCell:
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
        hint=_("Layers that can be learned: {names}.", names=", ".join(names) or _("none")),
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


def cells(
    project: Project, spec: LadderSpec, settings: Settings | None = None
) -> tuple[LadderCell, ...]:
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


def _planned(spec: LadderSpec, settings: Settings | None) -> tuple[LadderCell, ...]:
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
            _("The experiment has no rung {name!r}.", name=unknown[0]),
            hint=_("Rungs: {names}.", names=", ".join(ids)),
        )
    known = {name for rung in rungs if rung.card for name in _names(spec, rung)}
    if unknown := [name for name in spec.settings if known and name not in known]:
        raise SpecError(
            _("No rung has the setting {name!r}.", name=unknown[0]),
            hint=_("Known: {known}.", known=", ".join(sorted(known))),
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
) -> LadderCell:
    if rung.card is None:
        return LadderCell(rung, decoder, seed, None, MISSING, message=rung.missing)
    if reason := installed.unfit(rung.card, spec.task):
        return LadderCell(rung, decoder, seed, None, MISSING, message=reason)
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
    return LadderCell(rung, decoder, seed, train_spec)


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
    planned: Sequence[LadderCell], finished: Sequence[tuple[tuple[str, ...], Run]], data: str
) -> None:
    """Give cells the finished runs on this data, the latest of equal ones."""
    known = {key: run for key, run in finished if run.data_fingerprint == data}
    for cell in planned:
        run = known.get(_key(cell.spec)) if cell.spec is not None else None
        if cell.run is None and run is not None:
            cell.status, cell.run, cell.reused = DONE, run, True


# ---------------------------------------------------------------- running


class Ladder:
    """The cells of an experiment, trained one after another; `changed()` is emitted at each step.

    status: ready, running, pausing (after the current run), paused or done. error: why it could not
    start, or was paused. Between two runs the caller prepares the next one, off the main thread in
    a window:

        cell = ladder.next()
        run = ladder.begin(queue, train.prepare(project, cell.spec))
        ladder.on_event(event)  # for each event of the run, after it was recorded

    `run` does this for callers that may block.
    """

    def __init__(self, project: Project, spec: LadderSpec, *, settings: Settings | None = None):
        self.project, self.spec = project, spec
        self.changed = Signal("ladder")
        self.cells = cells(project, spec, settings)
        self.status, self.error = "ready", ""
        self._fingerprint: str | None = None
        self._cell: LadderCell | None = None  # that is prepared or trained

    @property
    def active(self) -> bool:
        return self.status in ("running", "pausing")

    def start(self) -> None:
        """From now on, train what is not finished; also after a pause. `check` the data next."""
        self.status, self.error, self._fingerprint = "running", "", None
        keep(self.project, self.spec)
        for cell in self.cells:
            if cell.status == FAILED:
                cell.status, cell.message, cell.run = WAITING, "", None
        self.changed.emit()

    def check(self) -> None:
        """Raises WorkbenchError if there are not enough documents. Not for the main thread."""
        limits = {cell.spec.option("train_limit") for cell in self.cells if cell.spec is not None}
        limit = limits.pop() if len(limits) == 1 else None  # else some rungs have one of their own
        plan = training_data.plan(self.project, self.spec.task, self.spec.layer, train_limit=limit)
        if plan.problem:
            raise WorkbenchError(plan.problem)

    def next(self) -> LadderCell | None:
        """The cell to prepare; None if the experiment has ended or is paused."""
        if not self.active:
            return None
        waiting = [cell for cell in self.cells if cell.status == WAITING]
        if self._fingerprint is None:  # a finished cell fixes the data only if it is still current
            waiting = [cell for cell in self.cells if cell.spec is not None]
        if self.status == "pausing" or not waiting:
            self.end("paused" if waiting and self.status == "pausing" else "done")
            return None
        self._cell = waiting[0]
        self.changed.emit()
        return self._cell

    def begin(self, queue: Queue, prepared: train.PreparedTraining) -> Run | None:
        """Start the run of the cell that was prepared; None if there is nothing to wait for."""
        cell = self._cell
        if cell is None or not self._is_on_same_data(prepared.data.fingerprint):
            return None
        if cell.status == DONE:  # it was only needed to read the data
            return None
        if self.status == "pausing":
            self.end("paused")
            return None
        try:
            cell.run = kinds.start(self.project, queue, self._titled(cell, prepared))
        except WorkbenchError as error:
            self.fail(error)
            return None
        cell.status, cell.fraction = RUNNING, None
        self.changed.emit()
        return cell.run

    def fail(self, error: Exception) -> None:
        """The cell could not be prepared or started."""
        if self._cell is not None:
            self._fingerprint = self._fingerprint or ""
            self._cell.status, self._cell.message = FAILED, str(error)

    def pause(self) -> None:
        """End after the current run."""
        if self.active:
            self.status = "pausing"
            self.changed.emit()

    def cancel(self, queue: Queue) -> None:
        """Cancel the current run and start no other; finished runs stay."""
        self.pause()
        if self._cell is not None and self._cell.run is not None:
            train.cancel(self.project, queue, self._cell.run.id)

    def end(self, status: str, error: str = "") -> None:
        self.status, self.error, self._cell = status, error, None
        self.changed.emit()

    def on_event(self, event: Event) -> None:
        """Take an event of the current run, after it was recorded."""
        cell = self._cell
        if cell is None:
            return
        if isinstance(event, Output) and event.payload.get("kind") == "step":
            self.at(event.payload["step"] / max(1, event.payload["total"]))
        elif isinstance(event, Started):
            self.changed.emit()
        elif isinstance(event, Finished):
            self._ended(cell, event)

    def at(self, fraction: float | None) -> None:
        """How much of the current run is done."""
        if self._cell is not None:
            self._cell.fraction = fraction
            self.changed.emit()

    def _is_on_same_data(self, fingerprint: str) -> bool:
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
        self.end("paused", message)
        return False

    def _titled(self, cell: LadderCell, prepared: train.PreparedTraining) -> train.PreparedTraining:
        words = (cell.rung.rung.id, cell.decoder, str(cell.seed))
        stem = "-".join(("ladder", *filter(None, words)))
        name = runs.free_name(self.project.db, stem)
        return replace(prepared, spec=replace(prepared.spec, name=name))

    def _ended(self, cell: LadderCell, event: Finished) -> None:
        self._cell, cell.fraction = None, None
        if event.status == "cancelled":
            cell.status, cell.run = WAITING, None
            self.status = "pausing"
            return
        if cell.run is not None:
            cell.run = runs.get(self.project.db, cell.run.id)
        is_done = cell.run is not None and cell.run.status == DONE
        cell.status = DONE if is_done else FAILED
        cell.message = "" if is_done else _why(cell.run, event)


def run(ladder: Ladder, queue: Queue) -> None:
    """Train the cells, without an event loop. What fails is in `ladder.error` and its cells."""
    ladder.start()
    try:
        ladder.check()
    except WorkbenchError as error:
        ladder.end("paused", str(error))
    while (cell := ladder.next()) is not None and cell.spec is not None:
        try:
            prepared = train.prepare(ladder.project, cell.spec)
        except WorkbenchError as error:
            ladder.fail(error)
            continue
        if (started := ladder.begin(queue, prepared)) is not None:
            _wait(ladder, queue, started)


def _wait(ladder: Ladder, queue: Queue, started: Run) -> None:
    job = train.job_of(queue, ladder.project, started.id)
    if job is None:
        return
    while not queue.wait(job, EVERY):
        ladder.at(job.fraction)
    ladder.on_event(Finished(job.status, job.result, job.message, job.hint))


def _why(run: Run | None, event: Finished) -> str:
    if run is not None and run.status == "stopped":
        return _("It was stopped early.")
    failure = run.failure if run is not None else None
    message, hint = (failure.message, failure.hint) if failure else (event.message, event.hint)
    return " ".join(filter(None, (message, hint)))
