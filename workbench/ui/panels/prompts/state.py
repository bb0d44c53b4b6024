"""What the Prompts page shows: a template, the exact prompt it makes, answers to one text, and the run over dev."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.errors import WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _
from workbench.jobs.events import Finished, Output, Started
from workbench.jobs.spec import JobSpec
from workbench.models.spec import ModelInfo
from workbench.operations import models, prompt, results, suggest
from workbench.operations.prompt import Preview, PromptSpec

STARTERS = ("starter-bert", "starter-gpt")
OWN = "own"  # the template as edited, which is none of the list


@dataclass(frozen=True)
class Known:
    """A template to choose: `id` of a built-in, or "saved NAME"."""

    id: str
    title: str
    source: str


@dataclass(frozen=True)
class AnswerRow:
    """`score`: mean log-probability of the label's subwords; `share` of all labels, 0 to 1."""

    label: str
    score: float
    share: float
    subwords: int


@dataclass
class Live:
    """The run under way or the last one. `share` done, None while the model loads."""

    run_id: int
    name: str
    status: str = "waiting"
    done: int = 0
    total: int = 0
    seconds_left: float | None = None
    message: str = ""

    @property
    def active(self) -> bool:
        return self.status in ("waiting", "running")

    @property
    def share(self) -> float | None:
        return self.done / self.total if self.total else None


class PromptsState(State):
    def __init__(self, context):
        super().__init__()
        self.context, self.project, self.queue = context, context.project, context.queue
        self.known: tuple[Known, ...] = ()
        self.chosen, self.template = "", ""
        self.layers: tuple[tuple[str, int], ...] = ()
        self.layer, self.model = "", ""
        self.models: tuple[ModelInfo, ...] = ()
        self.shots, self.order, self.seed = 6, "balanced", 1
        self.document, self.label = None, ""
        self.preview: Preview | None = None
        self.problem, self.dev = "", 0
        self.answers: tuple[AnswerRow, ...] = ()
        self.asking, self.preparing = False, False
        self.live: Live | None = None
        self.evaluation = None
        self._asked = 0
        self._scorer = None
        self._scorer_model = ""
        self.listen(self.queue.changed, self._heard)
        self.listen(self.project.changed, self._project_changed)
        self.look()

    def close(self) -> None:
        super().close()
        self._close_scorer()

    # ---------------------------------------------------------------- choices

    def look(self) -> None:
        """Read layers, models and templates again; what is chosen stays where it still is."""
        layers = tuple((layer.name, count) for layer, count in prompt.fitting_layers(self.project))
        cards = prompt.language_models(models.list(self.context.settings))
        names = [one.name for one in cards]
        layer = self.layer if self.layer in dict(layers) else (layers[0][0] if layers else "")
        model = (
            self.model
            if self.model in names
            else ("starter-bert" if "starter-bert" in names else names[0] if names else "")
        )
        saved = tuple(
            Known(f"saved {one.name}", one.name, one.body) for one in prompt.saved(self.project)
        )
        known = (*(Known(one.id, _(one.title), one.source) for one in prompt.templates()), *saved)
        self.update(layers=layers, models=cards, layer=layer, model=model, known=known)
        if not self.template:
            self._first_template()
        self.update(chosen=next((one.id for one in known if one.source == self.template), OWN))
        self._fill()

    def _first_template(self) -> None:
        """One that works for the layer."""
        source = prompt.default_template(self._layer())
        self.update(
            template=source,
            chosen=next((one.id for one in self.known if one.source == source), OWN),
        )

    def _layer(self):
        return next(
            (
                layer
                for layer, _count in prompt.fitting_layers(self.project)
                if layer.name == self.layer
            ),
            None,
        )

    def choose_template(self, id: str) -> None:
        found = next((one for one in self.known if one.id == id), None)
        if found is not None:
            self.update(template=found.source, chosen=id)
            self._fill()

    def set_template(self, source: str) -> None:
        """The template as edited."""
        if source != self.template:
            chosen = next((one.id for one in self.known if one.source == source), OWN)
            self.update(template=source, chosen=chosen)
            self._fill()

    def choose_layer(self, layer: str) -> None:
        known = {one.source for one in self.known if not one.id.startswith("saved ")}
        untouched = self.template in known
        self.update(layer=layer, document=None, label="")
        if untouched:
            self._first_template()
        self._fill()

    def set(self, **values) -> None:
        """model, shots, order, seed."""
        self.update(**values)
        self._fill()

    def show_label(self, label: str) -> None:
        """Show the prompt with another candidate."""
        self.update(label=label)
        self._fill()

    def step(self, direction: int) -> None:
        """Another document of dev for the preview."""
        ids = self._dev_ids()
        if not ids:
            return
        at = (
            ids.index(self.document.id)
            if self.document is not None and self.document.id in ids
            else 0
        )
        self.update(document=prompt.document(self.project, ids[(at + direction) % len(ids)]))
        self._fill()

    def _dev_ids(self) -> list[int]:
        layer = self._layer()
        return prompt.split_ids(self.project, layer, "dev") if layer is not None else []

    @property
    def card(self) -> ModelInfo | None:
        return next((one for one in self.models if one.name == self.model), None)

    @property
    def spec(self) -> PromptSpec:
        card = self.card
        path, pickled = (card.path, card.pickled) if card else ("", False)
        device = self.context.settings.device
        return PromptSpec(
            self.template,
            path,
            self.model,
            self.layer,
            self.shots,
            self.order,
            self.seed,
            "",
            device,
            pickled,
        )

    @property
    def teaching(self) -> bool:
        """Whether the model is one of the small ones that ship with the application."""
        return self.model in STARTERS

    @property
    def ready(self) -> bool:
        idle = not self.preparing and not self.running
        return bool(
            self.preview and not self.problem and self.dev and idle and not self.project.read_only
        )

    # ---------------------------------------------------------------- the exact prompt

    def _fill(self) -> None:
        """Work the preview out off the main thread; only the latest counts."""
        self._asked += 1
        asked = self._asked
        self.update(answers=())
        if not self.layer or not self.model:
            self.update(preview=None, problem="", dev=0)
            return
        spec, document, label, project = self.spec, self.document, self.label, self.project

        def work():
            filler = prompt.Filler(project, spec)
            shown = document or prompt.first_document(project, filler.layer)
            dev = len(prompt.split_ids(project, filler.layer, "dev"))
            return prompt.preview(project, spec, shown, label=label, filler=filler), shown, dev

        def done(found):
            if asked == self._asked:
                preview, shown, dev = found
                self.update(
                    preview=preview, document=shown, label=preview.label, dev=dev, problem=""
                )
                self.context.commands_changed()

        def failed(error):
            if asked != self._asked:
                return
            if not isinstance(error, WorkbenchError):
                self.context.fail(error)
            self.update(problem=str(error))
            self.context.commands_changed()

        self.context.run(work, done, failed)

    # ---------------------------------------------------------------- one text

    def try_text(self) -> None:
        """Ask the model about the text of the preview."""
        if self.preview is None or self.card is None or self.problem:
            return
        from workbench.jobs.host import Host

        card = self.card
        if self._scorer is None or self._scorer_model != card.path:
            self._close_scorer()
            params = {
                "model": card.path,
                "device": self.context.settings.device,
                "allow_pickle": card.pickled,
            }
            spec = JobSpec(prompt.SCORER, params, title=card.name)
            self._scorer, self._scorer_model = (
                Host(spec, dispatch=self.context.dispatch, spare=self.queue.spare),
                card.path,
            )
        asked, request = (
            self.preview,
            {"prompts": {label: list(parts) for label, parts in self.preview.prompts.items()}},
        )
        self.update(asking=True, answers=())
        self._scorer.ask("score", request, lambda found, error: self._answered(asked, found, error))

    def _answered(self, asked: Preview, found, error: WorkbenchError | None) -> None:
        self.update(asking=False)
        if error is not None:
            self.context.fail(error)
        elif asked is self.preview:
            self.update(answers=tuple(AnswerRow(*row) for row in prompt.ranked(found["logprobs"])))

    def _close_scorer(self) -> None:
        if self._scorer is not None:
            self._scorer.close()
            self._scorer = None

    # ---------------------------------------------------------------- the run

    @property
    def running(self) -> bool:
        return bool(self.live and self.live.active)

    def run_on_dev(self) -> None:
        """Fill the prompts of dev and start; a template that was edited is kept in the project."""
        if not self.ready:
            return
        self._keep_template()
        spec, project = self.spec, self.project
        self.update(preparing=True)

        def started(prepared):
            self.update(preparing=False)
            run = self.context.attempt(prompt.start, project, self.queue, prepared)
            if run is not None:
                self.update(live=Live(run.id, run.name, total=0), evaluation=None)
                self.context.commands_changed()

        def failed(error):
            self.update(preparing=False)
            self.context.fail(error)

        self.context.run(lambda: prompt.prepare(project, spec), started, failed)

    def _keep_template(self) -> None:
        if self.chosen != OWN:
            return
        names = {one.title for one in self.known}
        number = 1
        while (name := _("My prompt {n}").format(n=number)) in names:
            number += 1
        self.context.attempt(lambda: prompt.save(self.project, name, self.template))

    def stop(self) -> None:
        """End the run with the answers so far."""
        if self.live and (job := self._job()):
            job.stop()

    def cancel(self) -> None:
        if self.live and (job := self._job()):
            job.cancel()

    def _job(self):
        for job in self.queue.jobs:
            if self._is_ours(job) and job.spec.params["run"]["id"] == self.live.run_id:
                return job
        return None

    def _is_ours(self, job) -> bool:
        about = job.spec.params.get("run") or {}
        return about.get("project") == self.project.uid and about.get("purpose") == "prompt"

    def _heard(self, job, event) -> None:
        if (
            self.live is None
            or not self._is_ours(job)
            or job.spec.params["run"]["id"] != self.live.run_id
        ):
            return
        live = self.live
        if isinstance(event, Started):
            live.status = "running"
        elif isinstance(event, Output) and event.payload.get("kind") == "progress":
            live.done, live.total, live.seconds_left = (
                event.payload["done"],
                event.payload["total"],
                event.payload.get("seconds_left"),
            )
        elif isinstance(event, Finished):
            live.status, live.message = event.status, f"{event.message} {event.hint}".strip()
            self._ended(live)
        self.changed.emit(frozenset({"live"}))

    def _ended(self, live: Live) -> None:
        if live.status in ("done", "stopped"):
            try:
                self.update(
                    evaluation=prompt.evaluation(
                        self.project, results.run(self.project, live.run_id)
                    )
                )
            except KeyError:
                pass  # nothing was answered before the stop, so the run is gone
        if live.status == "cancelled":
            self.update(live=None)
        self.context.commands_changed()

    def show_results(self) -> None:
        if self.live:
            self.context.go("results", run=self.live.run_id)

    def make_suggestions(self) -> None:
        """Put the prompt's answers beside the documents that nobody has labelled."""
        if self.live is None or self.live.active:
            return
        run = results.run(self.project, self.live.run_id)

        def told(outcome, error):
            if error is not None:
                self.context.fail(error)
            else:
                self.context.note(
                    _("{n} suggestions for {m} documents from {run}.").format(
                        n=outcome.suggestions, m=outcome.documents, run=outcome.run
                    )
                )

        self.context.attempt(suggest.suggest, self.project, self.queue, run, told)

    # ---------------------------------------------------------------- news

    def _project_changed(self, changes) -> None:
        if any(
            changes.touches(table) for table in ("layer", "label", "prompt")
        ):  # the rest is read when the page is shown again
            self.look()
