"""State of the Prompts page: template, prompt, predictions for one text, and the run on dev."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.errors import WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _
from workbench.base.registry import registry
from workbench.jobs.events import Finished
from workbench.operations.annotation import suggest
from workbench.operations.evaluation import quality
from workbench.operations.prompts import prompt, prompt_fill, prompt_models
from workbench.operations.prompts.prompt_fill import PromptPreview
from workbench.operations.prompts.prompt_models import AskableModel, Unavailable
from workbench.operations.runs import results, run_results, train
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.schema import labels
from workbench.prompting.spec import CALIBRATION, PromptSpec
from workbench.tasks import spec as tasks
from workbench.ui.panels.prompts.scorer import Scorer
from workbench.ui.panels.prompts.templates import OWN, Known, known_templates, unused_name
from workbench.ui.project.job_progress import JobProgress, follow
from workbench.ui.project.opened import opened

if TYPE_CHECKING:
    from workbench.base.watch import Watch
    from workbench.jobs.events import Event
    from workbench.jobs.queue import Job
    from workbench.metrics.evaluation import Evaluation
    from workbench.operations.annotation.suggest import Suggested
    from workbench.operations.prompts.prompt import LabelAnswer, PreparedPrompt
    from workbench.project.changes import Changes
    from workbench.storage.runs.runs import Run
    from workbench.text.document import Document
    from workbench.text.labels import Layer
    from workbench.ui.panel import PanelContext

FIGURES = 3  # scores of a run above its table
STARTERS = ("starter-bert", "starter-gpt")
PREVIEW, RENDER, INTERVALS = "preview", "render", "intervals"  # tasks


class PromptsState(State):
    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context, self.project, self.queue = context, opened(context), context.queue
        self.known: tuple[Known, ...] = ()
        self.chosen, self.template = "", ""
        self.layers: tuple[tuple[str, int], ...] = ()
        self.layer, self.model = "", ""
        self.models: tuple[AskableModel, ...] = ()  # of all backends
        self.unavailable: tuple[Unavailable, ...] = ()  # backends of plugins that failed
        self.options: Mapping[str, str] = {}  # of the backend, where they differ from its defaults
        self.shots, self.order, self.seed = 6, "balanced", 1
        self.calibration = CALIBRATION
        self.document, self.label = None, ""
        self.preview: PromptPreview | None = None
        self.problem, self.dev = "", 0
        self.no_document = False  # the project has none for the layer
        self.line: int | None = None  # line of the error in the template, 1-based
        self.answers: tuple[LabelAnswer, ...] = ()
        self.asking, self.preparing = False, False
        self.asked = 0  # number of requests for a text
        self.prepared = 0.0  # share of the run's prompts that are rendered
        self.live: JobProgress | None = None
        self.evaluation: Evaluation | None = None  # of the run, after its end
        self.figures: tuple[str, ...] = ()  # its scores above the table
        self.prior: Mapping[str, float] = {}  # of each label
        self._fillers = prompt_fill.Fillers(self.project)
        self._scorer = Scorer(context)
        self._pending: tuple[str, PromptPreview] | None = None  # model, and request sent to it
        self._unfollow: Callable[[], None] = lambda: None
        self.listen(self.project.changed, self._project_changed)
        self.listen(registry().changed, self._plugins_changed)
        self.refresh()

    def close(self) -> None:
        super().close()
        self._fillers.close()
        self._scorer.close()

    # ---------------------------------------------------------------- choices

    def refresh(self) -> None:
        """Reload layers, models, templates and the document; keep the selection if possible."""
        layers = tuple(
            (layer.name, count) for layer, count in prompt_fill.fitting_layers(self.project)
        )
        offer = prompt_models.offer(self.context.settings)
        layer = _still(self.layer, [name for name, _count in layers])
        model = _still(self.model or STARTERS[0], [choice.key for choice in offer.choices])
        known = known_templates(self.project)
        before = self._backend
        self.update(models=offer.choices, unavailable=offer.unavailable)
        self.update(layers=layers, layer=layer, model=model, known=known)
        if self._backend != before:
            self.update(options={})
        self.update(document=self._document_again())
        if not self.template:
            self._first_template()
        self.update(chosen=self._id_of(self.template))
        self._fill()

    def _document_again(self) -> Document | None:
        """The current document in its present form; None if it was deleted."""
        if self.document is None:
            return None
        try:
            return prompt_fill.document(self.project, self.document.id)
        except KeyError:
            return None

    def _id_of(self, source: str) -> str:
        return next((known.id for known in self.known if known.source == source), OWN)

    def _first_template(self) -> None:
        """The first template that fits the layer."""
        source = prompt.default_template(self._layer())
        self.update(template=source, chosen=self._id_of(source))

    def _layer(self) -> Layer | None:
        layers = labels.layers(self.project)
        return next((layer for layer in layers if layer.name == self.layer), None)

    def choose_template(self, id: str) -> None:
        template = next((known for known in self.known if known.id == id), None)
        if template is not None:
            self.update(template=template.source, chosen=id)
            self._fill()

    def set_template(self, source: str) -> None:
        """Set the edited template."""
        if source != self.template:
            self.update(template=source, chosen=self._id_of(source))
            self._fill()

    def choose_layer(self, layer: str) -> None:
        known = {known.source for known in self.known if known.builtin}
        untouched = self.template in known
        self.update(layer=layer, document=None, label="")
        if untouched:
            self._first_template()
        self._fill()

    def choose_model(self, key: str) -> None:
        """Select another model; options are kept if the backend is the same."""
        before = self._backend
        self.update(model=key)
        if self._backend != before:
            self.update(options={})
        self._fill()

    def set(self, **values: Any) -> None:
        """options, shots, order, seed, calibration."""
        self.update(**values)
        self._fill()

    def show_label(self, label: str) -> None:
        """Show the prompt with another candidate label."""
        self.update(label=label)
        self._fill()

    def step(self, direction: int) -> None:
        """Use another dev document for the preview."""
        ids = self._dev_ids()
        if not ids:
            return
        at = (
            ids.index(self.document.id)
            if self.document is not None and self.document.id in ids
            else 0
        )
        self.update(document=prompt_fill.document(self.project, ids[(at + direction) % len(ids)]))
        self._fill()

    def _dev_ids(self) -> list[int]:
        layer = self._layer()
        return prompt_fill.split_ids(self.project, layer, "dev") if layer is not None else []

    @property
    def choice(self) -> AskableModel | None:
        return next((model for model in self.models if model.key == self.model), None)

    @property
    def _backend(self) -> str:
        return self.choice.backend if self.choice else ""

    @property
    def spec(self) -> PromptSpec:
        choice = self.choice
        of_model: dict[str, Any] = {}
        if choice is not None:
            of_model = {
                "backend": choice.backend,
                "options": dict(self.options),
                "allow_pickle": choice.model.pickled,
            }
        return PromptSpec(
            template=self.template,
            model=choice.model.path if choice else "",
            model_name=choice.model.name if choice else "",
            layer=self.layer,
            shots=self.shots,
            order=self.order,
            seed=self.seed,
            device=self.context.settings.device,
            calibration=self.calibration,
            **of_model,
        )

    @property
    def teaching(self) -> bool:
        """Whether the model is one of the small teaching models included with the application."""
        return self.model in STARTERS

    @property
    def ready(self) -> bool:
        idle = not self.preparing and not self.running
        return bool(
            self.preview and not self.problem and self.dev and idle and not self.project.read_only
        )

    # ---------------------------------------------------------------- rendered prompt

    def _fill(self) -> None:
        """Compute the preview off the main thread."""
        if not self.layer or not self.model:
            self.context.drop(PREVIEW)
            self.update(preview=None, problem="", line=None, dev=0, no_document=False)
            return
        spec, document, label, project = self.spec, self.document, self.label, self.project
        fillers = self._fillers

        def work(watch: Watch) -> Any:
            filler = fillers.filler(spec, watch=watch)
            sample = document or prompt_fill.first_document(project, filler.layer)
            dev = len(prompt_fill.split_ids(project, filler.layer, "dev"))
            preview = prompt_fill.preview(filler, sample, label=label) if sample else None
            return preview, sample, dev

        def failed(error: Exception) -> None:
            if not isinstance(error, WorkbenchError):
                self.context.fail(error)
            self.update(problem=str(error), line=getattr(error, "line", None))
            self.context.commands_changed()

        self.context.task(PREVIEW, work, lambda filled: self._filled(*filled), failed=failed)

    def _filled(self, preview: PromptPreview | None, document: Any, dev: int) -> None:
        self.update(
            preview=preview,
            document=document,
            label=preview.label if preview else "",
            dev=dev,
            problem="",
            line=None,
            no_document=document is None,
        )
        self._show_answers()
        if preview is None:
            return
        # Only the prior is missing, after another choice of calibration.
        if not self.answers and self._scorer.knows(self.spec, preview.prompts):
            self._ask(preview)
        self.context.commands_changed()

    # ---------------------------------------------------------------- one text

    def try_text(self) -> None:
        """Run the prompt on the text of the preview."""
        if self.preview is not None and self.choice is not None and not self.problem:
            self.update(asked=self.asked + 1)
            self._ask(self.preview)

    def _ask(self, preview: PromptPreview) -> None:
        pending = self._pending = self.model, preview

        def answered(error: WorkbenchError | None) -> None:
            if self._pending is pending:
                self._pending = None
            self._show_answers()
            if error is not None:
                self.context.fail(error)

        self._scorer.ask(self.spec, preview, answered)
        self._show_answers()

    def _show_answers(self) -> None:
        """Show cached predictions for the current prompt, if available."""
        preview, pending = self.preview, self._pending
        logprobs = self._scorer.logprobs(self.spec, preview) if preview and self.choice else None
        rows = prompt_fill.ranked(logprobs[0], self.calibration, logprobs[1]) if logprobs else ()
        current = (self.model, preview.prompts) if preview is not None else None
        waits = pending is not None and (pending[0], pending[1].prompts) == current
        answers = self.answers if tuple(rows) == self.answers else tuple(rows)
        self.update(answers=answers, asking=waits and not answers)

    # ---------------------------------------------------------------- the run

    @property
    def running(self) -> bool:
        return bool(self.live and self.live.active)

    def run_on_dev(self) -> None:
        """Render the prompts of dev and start the run; an edited template is saved."""
        if not self.ready:
            return
        self._keep_template()
        spec, project, fillers = self.spec, self.project, self._fillers
        self.update(preparing=True, prepared=0.0)

        def start(prepared: PreparedPrompt) -> None:
            self.update(preparing=False)
            run = self.context.attempt(kinds.start, project, self.queue, prepared)
            if run is not None:
                self.context.drop(INTERVALS)
                self.update(live=JobProgress(run.id, run.name, run.name), evaluation=None)
                self._unfollow()
                self._unfollow = self.context.follow(run, self._on_event)
                self.context.commands_changed()

        def failed(error: Exception) -> None:
            self.update(preparing=False)
            self.context.fail(error)
            self.context.commands_changed()

        self.context.task(
            RENDER,
            partial(prompt.prepare, project, spec, fillers=fillers),
            start,
            failed=failed,
            progress=lambda watch: self.update(prepared=watch.share),
        )

    def _keep_template(self) -> None:
        if self.chosen != OWN:
            return
        name = unused_name(self.known)
        self.context.attempt(lambda: prompt.save(self.project, name, self.template))

    def stop(self) -> None:
        """End the run and keep the predictions so far."""
        if self.live and (job := self._job()):
            self.live.ending = "stop"
            job.stop()
            self.changed.emit(frozenset({"live"}))

    def cancel(self) -> None:
        """End the run, or the rendering of its prompts, and keep nothing."""
        if self.preparing:
            self.context.drop(RENDER)
            self.update(preparing=False)
            self.context.commands_changed()
        elif self.live and (job := self._job()):
            self.live.ending = "cancel"
            job.cancel()
            self.changed.emit(frozenset({"live"}))

    def _job(self) -> Job | None:
        """The job that scores the run that is shown."""
        live = self.live
        return train.job_of(self.queue, self.project, live.run_id) if live is not None else None

    def is_live(self, job: Job) -> bool:
        """Whether a job scores the run that is shown."""
        return job is self._job()

    def _on_event(self, _job: Job, event: Event) -> None:
        if (live := self.live) is None:
            return
        follow(live, event)
        if isinstance(event, Finished):
            self._ended(live)
        self.changed.emit(frozenset({"live"}))

    def _ended(self, live: JobProgress) -> None:
        if live.status in ("done", "stopped"):
            try:
                run = results.run(self.project, live.run_id)
                evaluation = results.evaluate_stored(self.project, run, run.spec["split"])
            except KeyError:
                pass  # the run was stopped before the first prediction, so it no longer exists
            else:
                names = tasks.score_names(evaluation.scores, results.task_of(run))
                prior = run_results.prompted(run).prior or {}
                self.update(evaluation=evaluation, figures=names[:FIGURES], prior=prior)
                self._add_intervals(run, evaluation)
        if live.status == "cancelled":
            self.update(live=None)
        self.context.commands_changed()

    def _add_intervals(self, run: Run, evaluation: Evaluation) -> None:
        """A second for thousands of documents."""

        def measure() -> Evaluation:
            evidence = quality.evidence(self.project, run, evaluation.split)
            return quality.with_intervals(evaluation, evidence)

        self.context.task(INTERVALS, measure, lambda measured: self.update(evaluation=measured))

    def show_results(self) -> None:
        if self.live:
            self.context.go("results", run=self.live.run_id)

    def make_suggestions(self) -> None:
        """Store the run's predictions as suggestions for unlabelled documents."""
        if self.live is None or self.live.active:
            return
        run = results.run(self.project, self.live.run_id)

        def describe(outcome: Suggested) -> None:
            look = partial(self.context.go, "annotate", run=run.id, suggestions=True)
            some = bool(outcome.suggestions)
            self.context.note(
                suggest.describe(outcome), look if some else False, action=_("Show suggestions")
            )

        work = partial(suggest.suggest, self.project, self.queue, run)
        self.context.task("suggest", work, describe)

    # ---------------------------------------------------------------- events

    def _plugins_changed(self) -> None:
        """Backends may have been added, removed or changed."""
        self._fillers.forget_models()
        self._scorer.forget()
        self._pending = None  # it has no answer any more
        self.refresh()

    def _project_changed(self, changes: Changes) -> None:
        if any(changes.touches(table) for table in ("document", "mark", "state", "label")):
            self._fillers.forget_documents()
        # the rest is read when the page is shown again
        if any(changes.touches(table) for table in ("layer", "label", "prompt")):
            self.refresh()


def _still(chosen: str, names: list[str]) -> str:
    """The previous choice if it still exists, else the first; "" if there is none."""
    return chosen if chosen in names else next(iter(names), "")
