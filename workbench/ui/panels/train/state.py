"""State of the Train page: choices for a new run, its data, and the current run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from workbench.base import paths
from workbench.base.errors import SpecError
from workbench.base.events import State
from workbench.base.i18n import N_, _
from workbench.base.options import Option
from workbench.jobs.events import Finished, Started
from workbench.models.spec import ModelInfo
from workbench.operations.models import installed
from workbench.operations.runs import (
    adaptation,
    clusters,
    resume,
    sources,
    teachers,
    train,
    training_data,
)
from workbench.operations.runs.kinds import contract as kinds
from workbench.tasks import spec as tasks
from workbench.training.general import (
    ALSO,
    RUN_ON,
    OtherLayer,
    other_layers,
    other_layers_text,
)
from workbench.training.methods import spec as methods
from workbench.training.methods.spec import MethodInfo
from workbench.training.spec import TrainSpec, conflict, family_options
from workbench.ui.dialogs.batch_state import BATCHES, BatchState
from workbench.ui.panels.train import checks
from workbench.ui.panels.train.checks import CutTexts, Starts
from workbench.ui.project.job_progress import JobProgress, follow, latest_ended, new_live, read_live
from workbench.ui.project.opened import opened

if TYPE_CHECKING:
    from workbench.jobs.events import Event
    from workbench.jobs.queue import Job
    from workbench.operations.runs.clusters import Consent
    from workbench.project.changes import Changes
    from workbench.storage.runs.runs import Run
    from workbench.text.segmenters.base import SegmenterAdvice
    from workbench.training.rates import LayerRates
    from workbench.ui.panel import PanelContext


PLAN = "plan"  # the task that counts the usable documents


class TrainState(State):
    """`task`, `layer`, `model` and `values` are the choices; `plan` is the data they would use.

    `values` holds what differs from the defaults, as text; `settings` what these texts mean.
    """

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context, self.project, self.queue = context, opened(context), context.queue
        self.task, self.layer, self.model = "", "", ""
        self.tasks: tuple[str, ...] = ()
        self.layers: tuple[tuple[str, int], ...] = ()
        self.all_layers: tuple[str, ...] = ()  # that some task can learn, with submitted documents
        self._labels: dict[str, Sequence[str]] = {}  # layer → names of its labels
        self.models: tuple[ModelInfo, ...] = ()
        self.source: ModelInfo | None = None  # a run to start from
        # names of models that do not support the task, with the reason
        self.unfit: Mapping[str, str] = {}
        self.values: dict[str, str] = {}
        self._parsed: dict[str, tuple[str, Option, object]] = {}  # text, for which option, value
        self.seed = 1
        self.errors: dict[str, str] = {}
        self.plan = None
        self.warnings: tuple[str, ...] = ()
        # on texts without spaces, see `choices.WordAdvice`
        self.words: SegmenterAdvice | None = None
        self.check = training_data.NO_CHECK  # of a sample of the texts
        self.unlearned = ""  # layers that can be labelled, but not used for training
        self.live: JobProgress | None = None
        self.waiting = 0
        self.teachers: tuple[str, ...] = ()  # names of the runs that can teach the layer
        self._lives: dict[int, JobProgress] = {}
        self._plan_of = "", ""  # task and layer of `plan`
        self._cuts = CutTexts(context, self.project)
        self._watched, self._stale = True, False
        self.preparing = False  # the training data is being prepared
        self._starts_after_count = False
        self._starts = Starts()
        self.listen(self.project.changed, self._project_changed)
        context.follow(None, self._on_event)
        self._pick_up()
        self.refresh()

    # ---------------------------------------------------------------- choices

    def refresh(self) -> None:
        """Read layers and models again, keep the choices where possible, and compute the data to be
        used.
        """
        self._stale = False
        fitting = training_data.fitting_by_task(
            self.project, [info.id for info in tasks.all_tasks()]
        )
        present = tuple(task for task, pairs in fitting.items() if pairs)
        task = (
            self.task
            if self.task in present
            else max(present, key=lambda item: fitting[item][0][1], default="")
        )
        layers = tuple((layer.name, count) for layer, count in fitting.get(task, ()))
        self._labels = {layer.name: layer.names for layer, _count in fitting.get(task, ())}
        layer = self.layer if self.layer in dict(layers) else (layers[0][0] if layers else "")
        counted = dict(
            pair for id, pairs in fitting.items() if not tasks.info(id).alone for pair in pairs
        )
        all_layers = tuple(layer.name for layer, count in counted.items() if count)
        cards = installed.list(self.context.settings)
        if self.source is not None and Path(self.source.path).exists():
            cards = (*cards, self.source)
        names = [card.name for card in cards if card.usable]
        unfit = checks.unfit(cards, task)
        model = self.model if self.model in names else checks.default_model(cards, unfit)
        # a layer that is only labelled is no remark while another one is trained
        unlearned = "" if present else training_data.unlearned(self.project)
        self.update(
            tasks=present,
            task=task,
            layers=layers,
            layer=layer,
            all_layers=all_layers,
            models=cards,
            model=model,
            unfit=unfit,
            unlearned=unlearned,
            plan=self.plan if task else None,
        )
        self._find_teachers()
        self._read_again()
        self._work_out()

    def _read_again(self) -> None:
        """The settings of another layer, whose labels are others."""
        values, errors = self._read(self.values)
        self.update(values=values, errors=errors)

    @property
    def task_titles(self) -> list[tuple[str, str]]:
        """(id, title) of the tasks to choose from."""
        return [(task.id, _(task.title)) for task in tasks.all_tasks() if task.id in self.tasks]

    def choose_task(self, task: str) -> None:
        self.task, self.layer = task, ""
        self.values, self.errors = self._read(self.values)
        self.refresh()
        self.changed.emit(frozenset({"task", "values", "errors"}))

    def choose_layer(self, layer: str) -> None:
        self.update(layer=layer)
        self._find_teachers()
        others = self._others()
        if layer in [other.layer for other in others]:
            self._set_also([other for other in others if other.layer != layer])
        self._read_again()
        self._work_out()

    @property
    def also(self) -> tuple[tuple[str, bool], ...]:
        """(layer, whether it is trained as well) of the other layers."""
        chosen = {other.layer for other in self._others()}
        if not self.task or tasks.info(self.task).alone:
            return ()
        return tuple((name, name in chosen) for name in self.all_layers if name != self.layer)

    def toggle_also(self, layer: str) -> None:
        """Train on another layer as well, or no longer."""
        before = self._others()
        others = [other for other in before if other.layer not in (layer, self.layer)]
        if layer not in [other.layer for other in before]:
            others.append(OtherLayer(layer))
        self._set_also(others)

    def _set_also(self, others: Sequence[OtherLayer]) -> None:
        values = {name: text for name, text in self.values.items() if name != ALSO.name}
        also = {ALSO.name: other_layers_text(others)} if others else {}
        self.set_values({**values, **also})

    def _others(self) -> tuple[OtherLayer, ...]:
        """() for a text with an error."""
        return other_layers(str(self.settings.get(ALSO.name, "")))

    def choose_model(self, model: str) -> None:
        self.model = model
        self.values, self.errors = self._read(self.values)  # without those of another family
        self.changed.emit(frozenset({"model", "values", "errors"}))
        self._work_out()

    def start_from(self, run: Run) -> None:
        """Choose a run as the model. Raises WorkbenchError if it has none."""
        self.source = sources.of_run(self.project, run)
        self.refresh()
        self.choose_model(self.source.name)

    def set_seed(self, seed: int) -> None:
        before = self._counted_by()
        self.update(seed=seed)
        if self._counted_by() != before:
            self._work_out()

    def set_values(self, values: dict[str, str]) -> None:
        """Set the typed settings; invalid ones show an error at their field and block the run."""
        before = self._counted_by()
        values, errors = self._read(values)
        self.update(values=values, errors=errors)
        if self._counted_by() != before:
            self._work_out()

    def _read(self, texts: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
        """The texts of settings that the task, the method and the model have, and what is wrong.

        Each is parsed; one that was parsed before keeps its value.
        """
        known, self._parsed = self._parsed, {}
        errors: dict[str, str] = {}
        for option in self._options(texts):
            if (name := option.name) not in texts:
                continue
            text, before = texts[name], known.get(name)
            try:
                is_same = before is not None and before[:2] == (text, option)
                value = before[2] if before is not None and is_same else option.parse(text)
                self._parsed[name] = text, option, value
            except SpecError as error:
                errors[name] = error.message
        labels = self._labels.get(self.layer)
        if self.task and not errors and (problem := conflict(self.task, self.settings, labels)):
            errors = dict([problem])
        names = (option.name for option in self._options(texts))
        return {name: texts[name] for name in names if name in texts}, errors

    @property
    def settings(self) -> dict[str, object]:
        """The typed settings as values; those with an error are missing."""
        return {name: value for name, (_text, _option, value) in self._parsed.items()}

    def take(self, spec: TrainSpec) -> None:
        """Use the settings of an earlier run."""
        self.task, self.layer = spec.task, spec.layer
        self.model, self.seed = spec.model_name or spec.model, spec.seed
        texts = {
            name: "auto" if value is None else str(value) for name, value in spec.options.items()
        }
        options = {option.name: option for option in self._options(texts)}
        self._parsed = {
            name: (texts[name], options[name], value)
            for name, value in spec.options.items()
            if name in options
        }
        self.values, self.errors = self._read(texts)
        self.refresh()
        self.changed.emit(frozenset({"task", "layer", "model", "seed", "values"}))

    @property
    def adaptations(self) -> tuple[tuple[str, str], ...]:
        """(id, title) of the objectives that the model can be adapted to the text with."""
        infos = adaptation.fitting(self.card) if self.card is not None else ()
        return tuple((info.id, _(info.title)) for info in infos)

    @property
    def options(self) -> tuple[Option, ...]:
        return self._options(self.values)

    def _options(self, values: Mapping[str, str]) -> tuple[Option, ...]:
        method = values.get("method")
        if not self.task:
            return ()
        return tuple(
            replace(
                option, choices=("", *self.teachers), choice_titles=(N_("None"), *self.teachers)
            )
            if option.name == "teacher" and self.teachers
            else option
            for option in train.options(self.task, method, self.family)
        )

    def _find_teachers(self) -> None:
        info = tasks.info(self.task) if self.task else None
        runs = teachers.offered(self.project, info, self.layer) if info is not None else ()
        self.teachers = tuple(run.name for run in runs)

    @property
    def family(self) -> str:
        return self.card.family if self.card else ""

    @property
    def card(self) -> ModelInfo | None:
        return next((model for model in self.models if model.name == self.model), None)

    @property
    def ready(self) -> bool:
        fits = self.model and self.model not in self.unfit
        chosen = self.task and fits and self.plan and not self.plan.problem
        return bool(chosen) and not (self.errors or self.preparing or self.project.read_only)

    def spec(self) -> TrainSpec:
        """Raises SpecError if a setting has an error."""
        if self.errors:
            raise SpecError(next(iter(self.errors.values())))
        card = self.card
        return TrainSpec(
            self.task,
            self.layer,
            card.path if card else self.model,
            self.model,
            self.seed,
            self.settings,
            allow_pickle=bool(card and card.pickled),
            family=self.family,
        )

    def defaults_text(self) -> str:
        """The automatic settings for this data, and what the method trains."""
        settled = self._settled()
        if settled is None:
            return ""
        return checks.defaults_text(self.project, *settled, self.check)

    def memory_warning(self) -> str:
        """What is said beside the start if memory will be short, else ""."""
        settled = self._settled()
        return checks.memory_warning(*settled, self.check) if settled else ""

    def ask_map(self, show: Callable[[Any], None], fail: Callable[[Exception], None]) -> None:
        """Compute what a run with these choices does with each block, off the main thread."""
        settled = self._settled()
        if settled is None:
            fail(SpecError(_("First choose data and settings that can be trained.")))
            return
        self.context.task(
            "model-map", partial(checks.blocks, *settled, self.check), show, failed=fail
        )

    def layer_rates(self) -> LayerRates | None:
        """Learning rates of each layer over a run with these choices; None if they do not fit."""
        settled = self._settled()
        return checks.layer_rates(*settled, self.check) if settled else None

    @property
    def frozen(self) -> int | None:
        """How many of the lowest levels, the embeddings and then the layers, are always frozen.

        None if the method has no such setting.
        """
        if self.card is None or self.errors or not self.task:
            return None
        return self._method.frozen(self.card.layers, self.settings)

    def freeze(self, levels: int) -> None:
        """Freeze this many of the lowest levels."""
        self.set_values({**self.values, **self._method.freezing(levels)})

    @property
    def _method(self) -> MethodInfo:
        return methods.info(str(self.settings.get("method", methods.DEFAULT)))

    def _settled(self) -> tuple[TrainSpec, training_data.DataPlan, ModelInfo] | None:
        if self.plan is None or self.plan.problem or self.errors or self.card is None:
            return None
        return self.spec(), self.plan, self.card

    def _work_out(self) -> None:
        """Compute the usable data and unknown words off the main thread."""
        self._cuts.cancel()
        task, layer, card = self.task, self.layer, self.card
        if not task:
            self.context.drop(PLAN)
            self._starts_after_count = False
            self.update(plan=None, warnings=(), words=None)
            return
        if self.plan is not None and self._plan_of != (task, layer):
            self.update(plan=None, warnings=(), words=None)  # of other data
        length, limit, seed = self._number("max_length"), self._number("train_limit"), self.seed
        fold = str(self.settings.get("fold", ""))
        spec = None if self.errors else self.spec()
        every_class = self.settings.get("train_sample") == "every_class"

        def work() -> Any:
            plan = training_data.plan(
                self.project,
                task,
                layer or None,
                train_limit=limit,
                fold=fold,
                seed=seed,
                every_class=every_class,
            )
            return plan, *checks.text_check(self.project, plan, card, length, spec)

        def done(counted: Any) -> None:
            plan, check, warnings = counted
            self._plan_of = task, layer
            self.check = check or training_data.NO_CHECK
            self.update(plan=plan, warnings=warnings, words=check and check.words)
            self._start_after_count()
            if check is not None and card is not None:
                show = lambda warnings: self.update(warnings=warnings)  # noqa: E731
                self._cuts.count(card, plan, check, length, show)

        def failed(error: Exception) -> None:
            self._starts_after_count = False
            self.update(plan=None, warnings=(), words=None)
            self.context.fail(error)

        self.context.task(PLAN, work, done, failed=failed)

    @property
    def working_out(self) -> bool:
        """Whether the usable documents are being counted."""
        return self.context.waiting(PLAN)

    def _number(self, name: str) -> int | None:
        """The value of an option that was set; None if automatic or not a valid number."""
        return cast(int | None, self.settings.get(name))

    def _counted_by(self) -> tuple[object, ...]:
        """The settings on which the numbers of documents and the checks of the texts depend."""
        options = list(family_options(self.family))
        if self.task and tasks.info(self.task).windows:  # of which some say what an input is
            options += tasks.info(self.task).options
        own = (self.values.get(option.name) for option in options)
        limit = self._number("train_limit")
        fold = self.settings.get("fold", "")
        sampled = (self.seed, self.settings.get("train_sample")) if limit or fold else None
        return self._number("max_length"), limit, fold, sampled, *own

    # ---------------------------------------------------------------- runs

    @property
    def running(self) -> bool:
        return bool(self.live and self.live.active)

    def needed_consent(self) -> Consent | None:
        """What the user is asked before the start."""
        return clusters.needed_consent(self.project, self.settings.get(RUN_ON))

    def start(self) -> None:
        """Start or queue a run with these choices; errors are shown at the top of the window.

        Does nothing on a second click (see `Starts`).
        """
        if not self.ready:
            return
        spec = self.spec()
        if self._starts.again(spec):
            return
        self.update(preparing=True)

        def start(prepared: train.PreparedTraining) -> None:
            self.update(preparing=False)
            run = self.context.attempt(kinds.start, self.project, self.queue, prepared)
            if run is not None:
                self._starts.begun(spec)
                self._follow(run.id)

        def failed(error: Exception) -> None:
            self.update(preparing=False)
            self.context.fail(error)

        work = partial(train.prepare, self.project, spec, queue=self.queue)
        self.context.task("start", work, start, failed=failed)

    def first_batch(self) -> BatchState:
        """The first batches of a run with the present choices. Assigns splits, as a start does."""
        work = partial(train.first_batches, self.project, self.queue, self.spec(), batches=BATCHES)
        state = BatchState("  ·  ".join((self.model, self.layer)))
        state.compute(self.context, work)
        return state

    def start_soon(self) -> None:
        """Like `start`, after the usable data has been counted."""
        self._starts_after_count = self.working_out
        if not self.working_out:
            self.start()

    def _start_after_count(self) -> None:
        starts, self._starts_after_count = self._starts_after_count, False
        if starts:
            self.start()

    @property
    def can_resume(self) -> bool:
        """Whether the run that is shown ended early and can be continued."""
        if self.live is None or self.live.active or self.live.status == "done":
            return False
        try:
            run = train.run(self.project, self.live.run_id)
        except KeyError:  # it was deleted
            return False
        return not resume.needs_epochs(run) and resume.can_resume(self.project, run)

    def resume(self) -> None:
        """Continue the run that is shown from its state."""
        if self.live is None or not self.can_resume:
            return
        live, run = self.live, train.run(self.project, self.live.run_id)

        def begin(prepared: resume.ResumedTraining) -> None:
            started = self.context.attempt(resume.start, self.project, self.queue, prepared)
            if started is not None and live.status not in ("waiting", "running"):
                live.status, live.message, live.hint, live.details = "waiting", "", "", ""
                self._follow(live.run_id)

        self.context.task("resume", partial(resume.prepare, self.project, run), begin)

    def stop(self) -> None:
        self._end("stop", train.stop)

    def cancel(self) -> None:
        self._end("cancel", train.cancel)

    def _end(self, how: str, act: Callable[..., Any]) -> None:
        if self.live:
            # shown immediately: the worker may take seconds to score and save
            self.live.ending = how
            self.changed.emit(frozenset({"live", "run"}))
            act(self.project, self.queue, self.live.run_id)

    def is_live(self, job: Job) -> bool:
        """Whether a job trains the run that is shown."""
        live = self.live
        return live is not None and job is train.job_of(self.queue, self.project, live.run_id)

    def log_folder(self) -> str:
        return str(self._folder(self.live.run_id)) if self.live else ""

    def _folder(self, run_id: int) -> Path:
        return paths.run_folder(self.project.path, run_id)

    def show_results(self) -> None:
        if self.live:
            self.context.go("results", run=self.live.run_id)

    def _pick_up(self) -> None:
        """Take over runs that were running before this page was first shown."""
        for job in self.queue.jobs:
            about = job.spec.params.get("run") or {}
            if (
                about.get("project") == self.project.uid
                and kinds.of_job(job).fine_tunes
                and job.status in ("waiting", "running")
            ):
                self._replay(job, about["id"])
        if self.live is None:
            self._show_last()

    def _show_last(self) -> None:
        """Show the curves of the latest finished training, from the log that its worker wrote."""
        last = latest_ended(self.project)
        if last is None:
            return
        path = self._folder(last.id) / "events.jsonl"

        def done(live: JobProgress | None) -> None:
            if self.live is None and live is not None:
                self.live = self._lives[last.id] = live
                self.changed.emit(frozenset({"live", "run"}))

        self.context.task("last-run", partial(read_live, last, path), done)

    def _replay(self, job: Job, run_id: int) -> None:
        live = self._live(run_id)
        live.status = job.status
        for event in job.events:
            follow(live, event)
        self.live = live

    def _live(self, run_id: int) -> JobProgress:
        if run_id not in self._lives:
            self._lives[run_id] = new_live(train.run(self.project, run_id))
        return self._lives[run_id]

    def _follow(self, run_id: int) -> None:
        live = self._live(run_id)
        if not self.running:
            self.live = live
        self._count()
        self.changed.emit(frozenset({"live", "run"}))

    def _count(self) -> None:
        self.waiting = sum(life.active for life in self._lives.values()) - bool(
            self.live and self.live.active
        )

    def _on_event(self, job: Job, event: Event) -> None:
        about = job.spec.params.get("run") or {}
        if about.get("project") != self.project.uid or not kinds.of_job(job).fine_tunes:
            return
        try:
            live = self._live(about["id"])
        except KeyError:
            if about["id"] not in self._lives:
                return
            live = self._lives[about["id"]]
        if isinstance(event, Started) and not self.running:
            self.live = live
        if isinstance(event, Finished):
            event = resume.ending(job.spec.params, event)
        follow(live, event)
        whole = isinstance(event, Started | Finished)
        if whole:
            self._next(live, event)
            self._find_teachers()
        if whole or live is self.live:
            self.changed.emit(frozenset({"live", "run"} if whole else {"live"}))

    def _next(self, live: JobProgress, event: Event) -> None:
        """Show a starting run if none, or a finished one, is shown."""
        if isinstance(event, Started) and (self.live is None or not self.live.active):
            self.live = live
        self._count()
        self.context.commands_changed()

    def _project_changed(self, changes: Changes) -> None:
        if any(
            changes.touches(table)
            for table in ("state", "label", "layer", "mark", "span", "document")
        ):
            self._stale = True
            self._cuts.edits += 1
            self.watch(self._watched)

    def watch(self, on: bool) -> None:
        """Set the visibility: a hidden page must not recount all documents after each edit."""
        self._watched = on
        if on and self._stale:
            self.refresh()
