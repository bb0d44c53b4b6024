"""State of the experiments on the Train page: choices of a ladder, and its runs."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _, ngettext
from workbench.jobs.events import Finished
from workbench.operations.experiments import ladder, ladder_report, ladder_spec
from workbench.operations.experiments.ladder import Ladder
from workbench.operations.experiments.ladder_rungs import PARTS, RUNGS, Rung, available, own
from workbench.operations.experiments.ladder_spec import LadderSpec
from workbench.operations.models import installed as models
from workbench.operations.runs import train, training_data
from workbench.tasks import spec as tasks
from workbench.training.methods.spec import all_methods
from workbench.training.spec import all_options
from workbench.ui.project.job_progress import JobProgress
from workbench.ui.project.opened import opened
from workbench.ui.style.run_text import is_error, score_text, score_title

if TYPE_CHECKING:
    from workbench.base.options import Option
    from workbench.jobs.events import Event
    from workbench.jobs.queue import Job
    from workbench.models.spec import ModelInfo
    from workbench.operations.experiments.ladder import LadderCell
    from workbench.operations.experiments.ladder_report import RungRow
    from workbench.storage.runs.runs import Run
    from workbench.text.columns import Column
    from workbench.ui.panel import PanelContext


TASK = "experiment"  # prepares the next run
# status of the experiment → status and ending that are shown
STATUS = {"running": ("running", ""), "pausing": ("running", "pause"), "paused": ("paused", "")}


@dataclass(frozen=True)
class RungSetting:
    """A training option of all rungs, or of one. value: as typed, "" for the default."""

    name: str
    value: str = ""
    rung: str = ""  # its id, "" for all


class LadderState(State):
    """`layer`, `seeds` (as typed), `settings` and `chosen` (ids of rungs) are the choices.

    `own`: rungs of the user, which are all trained. `parts`: part of the rungs → model that
    replaces the default one. `left_out`: decoders that are not compared. `rung_error`: why the
    rung of the user could not be added.
    `shown`: whether experiments are shown in place of runs. `work` is the experiment with these
    choices, None if they do not fit, with the reason in `error`.
    """

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context, self.project = context, opened(context)
        self.shown = False
        self.layers: tuple[tuple[str, int], ...] = ()
        self.layer, self.seeds = "", "1, 2, 3"
        self.settings: tuple[RungSetting, ...] = ()
        self.chosen = frozenset(rung.id for rung in RUNGS if rung.usual)
        self.own: tuple[Rung, ...] = ()
        self.parts: dict[str, str] = {}
        self.left_out: frozenset[str] = frozenset()
        self.rung_error = ""
        self._cards: tuple[ModelInfo, ...] = ()
        self.missing: dict[str, str] = {}  # rung → why it cannot be trained
        self.work: Ladder | None = None
        self.error = ""

    def show(self, on: bool) -> None:
        """Show experiments or runs."""
        if on and not self.shown:
            self.refresh()
        self.update(shown=on)

    def refresh(self) -> None:
        """Read layers and models again; the choices are kept where possible."""
        if self.active:
            return
        ids = [info.id for info in tasks.all_tasks()]
        counts = {
            layer.name: count
            for fitting in training_data.fitting_by_task(self.project, ids).values()
            for layer, count in fitting
        }
        layers = tuple(sorted(counts.items(), key=lambda pair: -pair[1]))
        earlier = None if self.layer in counts else ladder_spec.last(self.project)
        if earlier is not None and earlier.layer in counts:
            self._take(earlier)
        layer = self.layer if self.layer in counts else next(iter(layers), ("", 0))[0]
        self._cards = models.list(self.context.settings)
        self.update(layers=layers, layer=layer)
        self._plan()

    def _take(self, spec: LadderSpec) -> None:
        """Choose what an earlier experiment chose."""
        known = {rung.id for rung in RUNGS}
        compared = ladder.decoders(spec.task)
        self.update(
            layer=spec.layer,
            seeds=", ".join(map(str, spec.seeds)),
            settings=_settings(spec),
            chosen=frozenset(rung.id for rung in spec.rungs if rung.id in known),
            own=tuple(rung for rung in spec.rungs if rung.id not in known),
            parts=dict(spec.parts),
            left_out=frozenset(compared) - frozenset(spec.decoders),
        )

    def choose(self, **choices: Any) -> None:
        """Set `layer`, `seeds`, `settings` or `chosen`; not while runs are trained.

        Another layer brings the choices of the last experiment on it.
        """
        if not self.active:
            layer = choices.get("layer", self.layer)
            earlier = ladder_spec.last(self.project, layer) if layer != self.layer else None
            if earlier is not None:
                self._take(earlier)
            self.update(**choices)
            if "layer" in choices:
                known = {option.name for option in self.options}
                fitting = (item for item in self.settings if item.name in known)
                self.update(settings=tuple(fitting))
            self._plan()

    def toggle(self, rung: str) -> None:
        """Add or remove a rung; one of the user's own is forgotten."""
        others = tuple(item for item in self.own if item.id != rung)
        if others != self.own:
            self.choose(own=others)
        else:
            self.choose(chosen=self.chosen ^ {rung})

    def toggle_decoder(self, decoder: str) -> None:
        self.choose(left_out=self.left_out ^ {decoder})

    def use(self, part: str, model: str) -> None:
        """Replace a model of the rungs; "" for the default."""
        parts = {name: text for name, text in self.parts.items() if name != part}
        self.choose(parts={**parts, part: model} if model else parts)

    # ---------------------------------------------------------------- settings and own rungs

    @property
    def options(self) -> tuple[Option, ...]:
        """The training options that can be set."""
        task = ladder.task_of(self.project, self.layer) if self.layer else None
        return tuple(all_options(task))

    @property
    def shown_rungs(self) -> tuple[tuple[str, str], ...]:
        """(id, title) of the rungs of the experiment, for which an option can be set."""
        return tuple((rung, title) for rung, title in self.rungs if rung in self.trained)

    def add_setting(self, name: str) -> None:
        """Add an option with its default, for all rungs."""
        option = next(option for option in self.options if option.name == name)
        value = "" if option.default is None else str(option.default)
        self.choose(settings=(*self.settings, RungSetting(name, value)))

    def change_setting(self, at: int, **values: str) -> None:
        """Change `value` or `rung` of a setting."""
        changed = replace(self.settings[at], **values)
        self.choose(settings=(*self.settings[:at], changed, *self.settings[at + 1 :]))

    def drop_setting(self, at: int) -> None:
        self.choose(settings=(*self.settings[:at], *self.settings[at + 1 :]))

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models that a rung can use."""
        return tuple(card.name for card in self._cards if card.usable)

    @property
    def methods(self) -> tuple[tuple[str, str], ...]:
        """(id, title) of the training methods."""
        return tuple((method.id, _(method.title)) for method in all_methods())

    def add_rung(self, title: str, model: str, method: str) -> bool:
        """Add a custom configuration. Returns whether it could be added."""
        try:
            rung = own(title, model, {"method": method})
            if rung.id in {rung.id for rung in (*RUNGS, *self.own)}:
                raise SpecError(_("There is a rung {title!r} already.", title=rung.title))
        except SpecError as error:
            self.update(rung_error=f"{error.message} {error.hint}".strip())
            return False
        self.rung_error = ""
        self.choose(own=(*self.own, rung))
        return True

    @property
    def decoders(self) -> tuple[tuple[str, str, bool], ...]:
        """(id, title, whether it is compared) of the decoders of the task; () if it has none."""
        if not self.layer:
            return ()
        task = ladder.task_of(self.project, self.layer)
        names = [name for name in ladder.decoders(task) if name]
        return tuple(
            (name, ladder_report.decoder_title(task, name), name not in self.left_out)
            for name in names
        )

    @property
    def part_choices(self) -> tuple[tuple[str, str, str, tuple[str, ...]], ...]:
        """(part, title, default model, models to choose from) of the models of the rungs."""
        usable = tuple(card for card in self._cards if card.usable)
        family = {card.name: card.family for card in usable}
        choices = []
        for part in PARTS.values():
            default = next((name for name in part.models if name in family), "")
            part_family = part.family or family.get(default, "")
            names = tuple(card.name for card in usable if card.family == part_family)
            if len(names) > 1:
                choices.append((part.name, _(part.title), default, names))
        return tuple(choices)

    def _plan(self) -> None:
        """Find the runs of the experiment with the present choices."""
        states = [available(rung, self._cards, self.parts) for rung in (*RUNGS, *self.own)]
        self.missing = {state.rung.id: state.missing for state in states if state.missing}
        self.work, self.error = None, ""
        try:
            self.work = Ladder(self.project, self._spec(), settings=self.context.settings)
            self.work.changed.connect(lambda: self.changed.emit(frozenset({"work"})))
        except WorkbenchError as error:
            self.error = str(error)
        self.changed.emit(frozenset({"work", "error"}))

    def _spec(self) -> LadderSpec:
        if not self.layer:
            raise WorkbenchError(_("The project has no layer that can be learned."))
        rungs = (*(rung for rung in RUNGS if rung.id in self.chosen), *self.own)
        if not rungs:
            raise WorkbenchError(_("Choose at least one rung."))
        task = ladder.task_of(self.project, self.layer)
        common, of_rungs = ladder.split_settings(self._texts())
        known = ladder.decoders(task)
        compared = tuple(name for name in known if name not in self.left_out)
        return LadderSpec(
            task,
            self.layer,
            rungs,
            _seeds(self.seeds),
            compared or known,
            common,
            of_rungs,
            self.parts,
        )

    def _texts(self) -> dict[str, str]:
        """`KEY` or `RUNG.KEY` → value, of the settings whose rung is trained."""
        used = {"", *self.trained}
        return {
            f"{item.rung}.{item.name}" if item.rung else item.name: item.value
            for item in self.settings
            if item.value and item.rung in used
        }

    # ---------------------------------------------------------------- the experiment

    @property
    def active(self) -> bool:
        return self.work is not None and self.work.active

    @property
    def cells(self) -> tuple[LadderCell, ...]:
        return self.work.cells if self.work else ()

    @property
    def rows(self) -> tuple[RungRow, ...]:
        return ladder_report.rows(self.work.spec, self.work.cells) if self.work else ()

    @property
    def columns(self) -> tuple[Column, ...]:
        """Of the rows; () if the choices do not fit."""
        return ladder_report.columns(self.work.spec, self.score_text) if self.work else ()

    @property
    def rungs(self) -> tuple[tuple[str, str], ...]:
        """(id, title) of the rungs to choose from."""
        return tuple((rung.id, _(rung.title)) for rung in (*RUNGS, *self.own))

    @property
    def trained(self) -> frozenset[str]:
        """Ids of the rungs of the experiment."""
        return self.chosen | {rung.id for rung in self.own}

    @property
    def score_name(self) -> str:
        """The main score of the task."""
        return tasks.info(self.work.spec.task).main if self.work else ""

    @property
    def score_title(self) -> str:
        """Name of the main score, and of the split."""
        title = _("{score} on dev", score=score_title(self.score_name))
        if not is_error(self.score_name):
            return title
        return _("{score}, lower is better", score=title)

    def score_text(self, value: float | None, *, signed: bool = False) -> str:
        """A main score in percent, an error in its own unit; signed: a gain."""
        return score_text(self.score_name, value, signed=signed)

    @property
    def seconds_left(self) -> float | None:
        return ladder_report.seconds_left(self.cells)

    @property
    def live(self) -> JobProgress:
        """The runs of the experiment as one job."""
        planned = [cell for cell in self.cells if cell.spec is not None]
        done = sum(cell.status == ladder.DONE for cell in planned)
        n = len(planned)
        title = ngettext("{done} of {n} run done", "{done} of {n} runs done", n, done=done)
        status, ending = STATUS.get(self.work.status if self.work else "", ("", ""))
        left = self.seconds_left if done < n else None
        live = JobProgress(0, "", title if n else "", status=status, ending=ending)
        live.step, live.total, live.seconds_left = done, n, left or 0.0
        failed = [
            _(
                "{rung}, seed {seed}: {message}",
                rung=_(cell.rung.rung.title),
                seed=cell.seed,
                message=cell.message,
            )
            for cell in self.cells
            if cell.status == ladder.FAILED
        ]
        error = self.error or (self.work.error if self.work else "")
        live.message = "\n".join(filter(None, (error, *failed[:3])))
        return live

    def is_live(self, job: Job) -> bool:
        """Whether a job trains the current run."""
        run = next((cell.run for cell in self.cells if cell.status == ladder.RUNNING), None)
        return run is not None and job is train.job_of(self.context.queue, self.project, run.id)

    @property
    def documents(self) -> int:
        """Number of dev documents that the finished runs were scored on."""
        return ladder_report.used(self.cells).get("dev", 0)

    def decoder_title(self, decoder: str) -> str:
        return ladder_report.decoder_title(self.work.spec.task, decoder) if self.work else ""

    def score(self, cell: LadderCell) -> float | None:
        """The main score of a finished run on dev."""
        return ladder_report.score_of(cell)

    @property
    def can_start(self) -> bool:
        is_open = any(cell.status in (ladder.WAITING, ladder.FAILED) for cell in self.cells)
        return is_open and not self.active and not self.project.read_only

    def start(self) -> None:
        if self.work is None or not self.can_start:
            return
        ladder = self.work
        ladder.start()

        def failed(error: Exception) -> None:
            ladder.end("paused", str(error))
            self._report(error)

        self.context.task(TASK, ladder.check, lambda _none: self._train_next(ladder), failed=failed)

    def _train_next(self, ladder: Ladder) -> None:
        """Prepare and start the next run, if there is one."""
        cell = ladder.next()
        if cell is None or cell.spec is None:
            return

        def prepared(training: train.PreparedTraining) -> None:
            run = ladder.begin(self.context.queue, training)
            if run is None:
                self._train_next(ladder)
            else:
                self._follow(ladder, run)

        def failed(error: Exception) -> None:
            ladder.fail(error)
            self._report(error)
            self._train_next(ladder)

        work = partial(train.prepare, self.project, cell.spec)
        self.context.task(TASK, work, prepared, failed=failed)

    def _follow(self, ladder: Ladder, run: Run) -> None:
        def on_event(_job: Job, event: Event) -> None:
            ladder.on_event(event)
            if isinstance(event, Finished):
                drop()
                self._train_next(ladder)

        drop = self.context.follow(run, on_event)

    def _report(self, error: Exception) -> None:
        """Errors for the user are shown in the experiment, others are uncaught ones."""
        if not isinstance(error, WorkbenchError):
            self.context.fail(error)

    def pause(self) -> None:
        if self.work is not None:
            self.work.pause()

    def cancel(self) -> None:
        if self.work is not None:
            self.work.cancel(self.context.queue)

    def open_run(self, cell: LadderCell | None) -> None:
        """Show the run of a cell on the Results page."""
        if cell is not None and cell.run is not None:
            self.context.go("results", run=cell.run.id)

    def save(self, path: Path) -> None:
        """Write the results as JSON; errors are shown at the top of the window."""
        if self.work is None:
            return
        work = self.work
        report = ladder_report.report(work.spec, work.cells, status=work.status)
        text = json.dumps(report, ensure_ascii=False, indent=1)
        try:
            path.write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            message = _("{file} cannot be written: {error}.")
            reason = error.strerror or error
            self.context.fail(WorkbenchError(message.format(file=path, error=reason)))


def _settings(spec: LadderSpec) -> tuple[RungSetting, ...]:
    """The settings of an experiment, those of all rungs first; unknown options are left out."""
    known = {option.name for option in all_options(spec.task)}
    common = [RungSetting(name, value) for name, value in spec.settings.items()]
    of_rungs = [
        RungSetting(name, value, rung)
        for rung, values in spec.of_rungs.items()
        for name, value in values.items()
    ]
    return tuple(item for item in (*common, *of_rungs) if item.name in known)


def _seeds(text: str) -> tuple[int, ...]:
    try:
        seeds = tuple(dict.fromkeys(int(part) for part in text.split(",") if part.strip()))
    except ValueError:
        seeds = ()
    if not seeds:
        raise WorkbenchError(_("Seeds are whole numbers separated by commas, such as 1, 2, 3."))
    return seeds
