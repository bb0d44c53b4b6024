"""State of pretraining on the Train page: model, objective, text, settings, and the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import SpecError
from workbench.base.events import State
from workbench.base.i18n import _
from workbench.base.options import Option, complete
from workbench.jobs.events import Finished, Started
from workbench.models.spec import ModelInfo, NewModel, new_models
from workbench.operations.models import installed
from workbench.operations.models import new_models as operations
from workbench.operations.models.new_models import TextSize, TextSource
from workbench.operations.models.pretrain import TARGET
from workbench.operations.runs import resume, train
from workbench.pretraining.spec import GENERAL, PretrainSpec, objective, objectives, usual_objective
from workbench.pretraining.texts import ENDINGS
from workbench.training.vectors import spec as vectors
from workbench.ui.dialogs.batch_state import BATCHES, BatchState
from workbench.ui.panels.train.checks import Starts
from workbench.ui.panels.train.pairs_state import TOP, PairsState
from workbench.ui.project.job_progress import JobProgress, follow_pretraining, new_pretraining
from workbench.ui.project.opened import opened

if TYPE_CHECKING:
    from workbench.jobs.events import Event
    from workbench.jobs.queue import Job
    from workbench.project.changes import Changes
    from workbench.storage.runs.runs import Run
    from workbench.training.states import StateHeader
    from workbench.ui.panel import PanelContext

PROJECT, FILES = "project", "files"  # sources of text
FILE_PATTERNS = tuple(f"*{ending}" for ending in ENDINGS)
UNSPLIT = "none"  # documents without a split, in `splits`
SIZE = "size"  # the task that measures the text
VECTORS = "vectors"  # the choice of new word vectors, beside names of models
TARGETS = (TARGET, vectors.TARGET)


class PretrainState(State):
    """`model` (a name, a new model or VECTORS), `objective` (or a method of word vectors), `name`,
    `seed` and `values` are the choices; `values` holds what differs from the defaults, as text.
    `source`, `splits`, `words` and `files` are those of the text.

    `shown`: whether pretraining is shown in place of fine-tuning. `size`: of the chosen text, None
    while it is measured; `problem`: why it cannot be used. `preparing`: the text is being written.
    """

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context, self.project, self.queue = context, opened(context), context.queue
        self.shown = False
        self.source = PROJECT
        self.splits: frozenset[str] = frozenset(("train", UNSPLIT))
        self.words = ""
        self.files: tuple[str, ...] = ()
        self.size: TextSize | None = None
        self.problem = ""
        self.preparing = False
        self.cards: tuple[ModelInfo, ...] = ()
        self.model = ""
        self.objective = ""
        self.values: dict[str, str] = {}
        self.errors: dict[str, str] = {}
        self.seed = 1
        self.name = ""
        self._own_name = False  # the name was typed, so that it stays
        self.live: JobProgress | None = None
        self._lives: dict[int, JobProgress] = {}
        self._starts = Starts()
        self.listen(self.project.changed, self._project_changed)
        context.follow(None, self._on_event)
        for job in self.queue.jobs:
            if job.spec.target in TARGETS:
                self._replay(job)

    def show(self, on: bool) -> None:
        """Show pretraining or something else."""
        if on and not self.shown:
            self.refresh()
        self.update(shown=on)

    def refresh(self) -> None:
        """Read the models again and measure the text; choices are kept where possible."""
        every = installed.list(self.context.settings)
        cards = tuple(card for card in every if card.usable and not card.is_bare)
        self.update(cards=cards)
        known = (*(card.name for card in cards), *(new.name for new in new_models()), VECTORS)
        if self.model not in known:
            fitting = (card.name for card in cards if self._fitting(card))
            self.model = next(fitting, VECTORS)
        self.choose_model(self.model)
        self.measure()

    # ---------------------------------------------------------------- model and objective

    @property
    def new_names(self) -> tuple[tuple[str, str], ...]:
        """(value, architecture) of the models that can be created."""
        return tuple((new.name, new.architecture) for new in new_models())

    @property
    def unfit(self) -> dict[str, str]:
        """Names of models without weights for any objective, with the reason."""
        return {
            card.name: _(
                "{model} ({family}) has no weights that a pretraining objective uses.",
                model=card.name,
                family=card.architecture,
            )
            for card in self.cards
            if not self._fitting(card)
        }

    def _fitting(self, card: ModelInfo) -> list[str]:
        return [info.id for info in objectives() if info.fits(card)]

    @property
    def created(self) -> NewModel | None:
        return next((new for new in new_models() if new.name == self.model), None)

    @property
    def card(self) -> ModelInfo | None:
        """The chosen model; None for word vectors."""
        if self.created is not None:
            return self.created.card()
        return next((card for card in self.cards if card.name == self.model), None)

    @property
    def is_vectors(self) -> bool:
        return self.model == VECTORS

    @property
    def objective_titles(self) -> tuple[tuple[str, str], ...]:
        """(id, title) of all objectives, then of the methods of word vectors."""
        titles = tuple((info.id, _(info.title)) for info in objectives())
        return (*titles, *((id, _(title)) for id, title in vectors.METHODS.items()))

    @property
    def refused(self) -> dict[str, str]:
        """Objectives that the model does not support, with the reason."""
        if self.card is None:
            text = _("Word vectors have methods of their own.")
            return dict.fromkeys((info.id for info in objectives()), text)
        own = _("Only for new word vectors.")
        reasons = dict.fromkeys(vectors.METHODS, own)
        for info in objectives():
            try:
                info.check(self.card)
            except SpecError as error:
                reasons[info.id] = error.message
        return reasons

    @property
    def definition(self) -> str:
        """What the chosen objective is."""
        known = {info.id: info for info in objectives()}
        return _(known[self.objective].definition) if self.objective in known else ""

    def choose_model(self, model: str) -> None:
        self.model = model
        refused = self.refused
        ids = [id for id, _title in self.objective_titles if id not in refused]
        if self.objective in refused or not self.objective:
            usual = usual_objective(self.card) if self.card is not None else None
            self.objective = usual.id if usual is not None else next(iter(ids), "")
        self._settle()
        self.changed.emit(frozenset({"model"}))

    def choose_objective(self, objective: str) -> None:
        self.objective = objective
        self._settle()

    def _settle(self) -> None:
        """Drop settings that the choices do not have, and name the model after them."""
        names = {option.name for option in self.options}
        self.values = {name: text for name, text in self.values.items() if name in names}
        if not self._own_name:
            stem = self.objective if self.is_vectors else self.model.rpartition(":")[2]
            mark = "" if self.created or self.is_vectors else "-adapted"
            self.name = operations.free_name(f"{stem}{mark}".rpartition("/")[2])
        self._check()
        self.changed.emit(frozenset({"objective", "values", "name"}))

    # ---------------------------------------------------------------- text

    @property
    def text_source(self) -> TextSource:
        if self.source == FILES:
            return TextSource(files=self.files)
        splits = tuple(None if split == UNSPLIT else split for split in sorted(self.splits))
        return TextSource((), splits, self.words, ("dev",))

    def choose_source(self, source: str) -> None:
        self.update(source=source)
        self.measure()

    def set_split(self, split: str, on: bool) -> None:
        self.update(splits=self.splits | {split} if on else self.splits - {split})
        self.measure()

    def set_words(self, words: str) -> None:
        """Use only documents that contain these words."""
        if words != self.words:
            self.update(words=words)
            self.measure()

    def add_files(self, paths: list[str]) -> None:
        self.update(files=tuple(dict.fromkeys((*self.files, *paths))))
        self.measure()

    def clear_files(self) -> None:
        self.update(files=())
        self.measure()

    def measure(self) -> None:
        """Count documents or bytes off the main thread."""
        source = self.text_source
        if self.source == FILES and not source.files:
            self.context.drop(SIZE)
            self.update(size=None, problem=_("Add files or folders with text."))
            return
        self.update(size=None, problem="")

        def done(size: TextSize) -> None:
            empty = not (size.documents or size.files)
            self.update(
                size=size, problem=_("No document of the project matches.") if empty else ""
            )

        work = partial(operations.measure, self.project, source)
        self.context.task(SIZE, work, done, failed=lambda error: self.update(problem=str(error)))

    def _project_changed(self, changes: Changes) -> None:
        if self.shown and self.source == PROJECT and changes.touches("document"):
            self.measure()

    # ---------------------------------------------------------------- settings

    @property
    def sizes(self) -> tuple[Option, ...]:
        """The sizes of a new model."""
        return tuple(option for option in self._own if option.group == "main")

    @property
    def _own(self) -> tuple[Option, ...]:
        return self.created.creation.options if self.created is not None else ()

    @property
    def options(self) -> tuple[Option, ...]:
        """All settings: those of a new model, of the objective, and general ones."""
        if self.is_vectors:
            return vectors.options(self.objective) if self.objective in vectors.METHODS else ()
        if not self.objective:
            return ()
        excluded = () if self.created is None else ("init",)  # a new model has no other weights
        general = tuple(option for option in GENERAL if option.name not in excluded)
        return (*self._own, *objective(self.objective).options, *general)

    def set_values(self, values: Mapping[str, str]) -> None:
        """Set the typed settings; invalid ones show an error at their field and block the run."""
        names = {option.name for option in self.options}
        self.values = {name: text for name, text in values.items() if name in names}
        self._check()
        self.changed.emit(frozenset({"values"}))

    def set_name(self, name: str) -> None:
        self._own_name = bool(name)
        self.name = name
        self._check()
        self.changed.emit(frozenset({"name_error"}))

    def set_seed(self, seed: int) -> None:
        self.update(seed=seed)

    def _check(self) -> None:
        errors = {}
        for option in self.options:
            if option.name in self.values:
                try:
                    option.parse(self.values[option.name])
                except SpecError as error:
                    errors[option.name] = error.message
        try:
            operations.check_name(self.name)
        except SpecError as error:
            errors["name"] = error.message
        self.update(errors=errors)

    # ---------------------------------------------------------------- the run

    @property
    def ready(self) -> bool:
        """Whether a run with these choices can be started."""
        chosen = self.objective and self.objective not in self.refused
        return bool(chosen and self.size and not (self.problem or self.errors or self.preparing))

    def spec(self) -> PretrainSpec:
        """The settings; the texts are added once they are written.

        Raises SpecError without a model, or if a value is not allowed.
        """
        card = self.card
        if card is None:
            raise SpecError(_("Choose a model."))
        values = complete(self.options, self.values, owner=card.name)
        chosen = {name: values[name] for name in self.values}
        return PretrainSpec(self.objective, card.path, (), (), self.seed, chosen, card.pickled)

    def start(self) -> None:
        """Write the text, then start or queue the run; errors are shown at the top.

        Does nothing on a second click (see `Starts`).
        """
        if not self.ready or self._starts.again(self._choices):
            return
        source, name = self.text_source, self.name
        if self.is_vectors:
            method, options, seed = self.objective, dict(self.values), self.seed
            self._start_after(
                partial(operations.write_joined, self.project, source),
                lambda written: operations.start_vectors(
                    self.queue, written, name, method=method, options=options, seed=seed
                ),
            )
        else:
            self._start_after(
                partial(operations.prepare, self.project, self.spec(), source, name),
                lambda work: operations.start(self.queue, work, self.project),
            )

    def _start_after(self, write: Callable[..., Any], start: Callable[[Any], Job]) -> None:
        """Write the text off the main thread, then start with it."""
        self.update(preparing=True)

        def written(text: Any) -> None:
            self.update(preparing=False)
            if (job := self.context.attempt(start, text)) is not None:
                self._started(job)

        def failed(error: Exception) -> None:
            self.update(preparing=False)
            self.context.fail(error)

        self.context.task("start-pretraining", write, written, failed=failed)

    def first_batch(self) -> BatchState:
        """The first batches of a run with the present choices."""
        titles = dict(self.objective_titles)
        state = BatchState("  ·  ".join((self.model, titles[self.objective])))
        texts = self.text_source
        work = partial(operations.first_batches, self.project, self.queue, self.spec(), texts)
        state.compute(self.context, partial(work, batches=BATCHES))
        return state

    def batch_of_run(self) -> BatchState:
        """The first batches of the run that is shown, from its own settings and text.

        Raises SpecError if no run is shown.
        """
        job, live = self.job, self.live
        if job is None or live is None:
            raise SpecError(_("No runs yet"))
        state = BatchState(
            "  ·  ".join((live.title, live.name)), fingerprint=job.result.get("fingerprint", "")
        )
        work = partial(operations.first_batches_of_run, self.project, self.queue, job)
        state.compute(self.context, partial(work, batches=BATCHES))
        return state

    @property
    def has_pairs(self) -> bool:
        """Whether the objective is trained on a table of co-occurrences."""
        return self.objective == vectors.COUNTED

    def pairs(self) -> PairsState:
        """The table of co-occurrences of the text, with the present settings."""
        options = dict(self.values)
        state = PairsState(vectors.settings(self.objective, options))
        texts = self.text_source
        work = partial(operations.co_occurrences, self.project, self.queue, texts, options)
        state.compute(self.context, partial(work, top=TOP))
        return state

    @property
    def _choices(self) -> tuple[object, ...]:
        """What two runs have in common if their names alone differ."""
        return self.model, self.objective, self.seed, dict(self.values), self.text_source

    def _started(self, job: Job) -> None:
        self._own_name = False
        self._settle()
        self._starts.begun(self._choices)
        if not self.running:
            self.live = self._live(job)
        self.changed.emit(frozenset({"live", "run"}))

    @property
    def running(self) -> bool:
        return bool(self.live and self.live.active)

    @property
    def job(self) -> Job | None:
        """The job of the run that is shown."""
        return next((job for job in self.queue.jobs if self.is_live(job)), None)

    def is_live(self, job: Job) -> bool:
        """Whether a job is that of the run that is shown."""
        return self.live is not None and job.id == self.live.run_id

    def stop(self) -> None:
        self._end("stop")

    def cancel(self) -> None:
        self._end("cancel")

    def _end(self, how: str) -> None:
        job = self.job
        if job is not None and self.live is not None:
            self.live.ending = how
            self.changed.emit(frozenset({"live", "run"}))
            job.stop() if how == "stop" else job.cancel()

    @property
    def run(self) -> Run | None:
        """The run that is shown, None if it is none of the project."""
        about = (self.job.spec.params.get("run") or {}) if self.job is not None else {}
        try:
            return train.run(self.project, about["id"])
        except KeyError:  # without a project that can be written, or deleted
            return None

    most_epochs = resume.MOST_EPOCHS

    @property
    def resumed_state(self) -> StateHeader | None:
        """What the run that is shown would continue from."""
        run = None if self.running or self.project.read_only else self.run
        return resume.state(self.project, run) if run is not None else None

    @property
    def needs_epochs(self) -> bool:
        """Whether the run has ended as planned: only more epochs are left to train."""
        return self.run is not None and resume.needs_epochs(self.run)

    def resume(self, epochs: int | None = None) -> None:
        """Continue the run that is shown from its state. epochs: of the whole training."""
        run = self.run
        if run is None or self.resumed_state is None:
            return

        def begin(prepared: resume.ResumedTraining) -> None:
            started = self.context.attempt(resume.start, self.project, self.queue, prepared)
            if started is None:
                return
            job = train.job_of(self.queue, self.project, started.id)
            if job is not None:
                self._replay(job)
                self.changed.emit(frozenset({"live", "run"}))

        work = partial(resume.prepare, self.project, run, epochs=epochs)
        self.context.task("resume", work, begin)

    def choose_again(self) -> None:
        """Choose the model of the run that is shown, with its objective, for another run.

        Weights are kept; the states of the optimizer and the schedule start again.
        """
        if (job := self.job) is None:
            return
        self.refresh()
        card = next((card for card in self.cards if card.path == _output(job)), None)
        if card is not None:
            self.objective = job.spec.params["spec"]["objective"]
            self.choose_model(card.name)

    def show_results(self) -> None:
        """Show the new model on the Models page."""
        if (job := self.job) is not None:
            self.context.go("models", model=_output(job))

    def log_folder(self) -> str:
        return str(self.job.folder) if self.job is not None else ""

    def _live(self, job: Job) -> JobProgress:
        if job.id not in self._lives:
            self._lives[job.id] = new_pretraining(job)
        return self._lives[job.id]

    def _replay(self, job: Job) -> None:
        live = self._live(job)
        live.status = job.status
        for event in job.events:
            follow_pretraining(live, event)
        self.live = live

    def _on_event(self, job: Job, event: Event) -> None:
        if job.spec.target not in TARGETS:
            return
        live = self._live(job)
        if isinstance(event, Started) and not self.running:
            self.live = live
        follow_pretraining(live, event)
        if isinstance(event, Finished) and event.status in ("done", "stopped"):
            self._finished(job)
        if live is self.live:
            whole = isinstance(event, Started | Finished)
            self.changed.emit(frozenset({"live", "run"} if whole else {"live"}))

    def _finished(self, job: Job) -> None:
        """The new model is listed: it can be chosen here too."""
        path = _output(job)
        self.context.note(
            _("{name} can now be used.", name=Path(path).name),
            lambda: self.context.go("train", model=Path(path).name),
            action=_("Fine-tune"),
        )
        if self.shown:
            self.refresh()


def _output(job: Job) -> str:
    """The path of the model that a job writes."""
    params: Mapping[str, Any] = job.spec.params
    return str(params.get("out") or params.get("output", ""))
