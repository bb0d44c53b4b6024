"""The exact prompt for one document of dev, and the predictions for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.base.errors import WorkbenchError
from workbench.base.events import State
from workbench.operations.prompts import prompt_fill, prompt_reading
from workbench.operations.prompts.prompt_examples import NotComputed
from workbench.operations.prompts.prompt_fill import PromptPreview
from workbench.ui.panels.prompts.scorer import Scorer

if TYPE_CHECKING:
    from workbench.base.watch import Watch
    from workbench.operations.prompts.prompt import LabelAnswer
    from workbench.text.document import Document
    from workbench.ui.panels.prompts.draft import PromptDraft
    from workbench.ui.panels.prompts.model_state import ModelState

PREVIEW = "preview"  # task


class PreviewState(State):
    """problem, line: what is wrong with the template, and where (1-based). dev: number of documents
    that a run answers. no_document: the project has none for the layer. answers: the predictions
    for the document, asking: while they are computed, asked: number of requests.
    replies: what the model wrote for the document, in a form whose answers it writes; read: what
    that says. not_computed: the selection of examples lacks vectors or uncertainties.
    """

    def __init__(self, draft: PromptDraft, models: ModelState) -> None:
        super().__init__()
        self.draft, self.context, self.project = draft, draft.context, draft.project
        self._models = models
        self.document: Document | None = None
        self.label = ""
        self.prompt: PromptPreview | None = None
        self.problem, self.dev = "", 0
        self.no_document = self.not_computed = False
        self.line: int | None = None
        self.answers: tuple[LabelAnswer, ...] = ()
        self.asking, self.asked = False, 0
        self.replies: tuple[str, ...] = ()
        self.read = ""
        self.fillers = prompt_fill.Fillers(
            self.project, queue=self.context.queue, settings=self.context.settings
        )
        self._scorer = Scorer(self.context)
        self._pending: tuple[str, PromptPreview] | None = None  # model, and request sent to it
        self.listen(draft.changed, self._draft_changed)

    def close(self) -> None:
        super().close()
        self.fillers.close()
        self._scorer.close()

    @property
    def ready(self) -> bool:
        """Whether the prompt can be run on dev."""
        fits = self.prompt is not None and not self.problem and not self._models.problem
        return bool(fits and self.dev and not self.project.read_only)

    # ---------------------------------------------------------------- the document

    def show_label(self, label: str) -> None:
        """Show the prompt with another candidate label."""
        self.update(label=label)
        self.fill()

    def step(self, direction: int) -> None:
        """Use another dev document for the preview."""
        layer = self.draft.layer
        ids = prompt_fill.split_ids(self.project, layer, "dev") if layer is not None else []
        if not ids:
            return
        shown = self.document
        at = ids.index(shown.id) if shown is not None and shown.id in ids else 0
        self.update(document=prompt_fill.document(self.project, ids[(at + direction) % len(ids)]))
        self.fill()

    def reload_document(self) -> None:
        """Take the document in its present form, none if it was deleted."""
        self.update(document=self._document_again())

    def forget_documents(self) -> None:
        self.fillers.forget_documents()

    def forget_models(self) -> None:
        """The backends have changed: models are loaded again."""
        self.fillers.forget_models()
        self._scorer.forget()
        self._pending = None  # it has no answer any more

    def _document_again(self) -> Document | None:
        if self.document is None or self.document.id is None:
            return None
        try:
            return prompt_fill.document(self.project, self.document.id)
        except KeyError:
            return None

    def _draft_changed(self, fields: frozenset[str]) -> None:
        if "layer" in fields:
            self.update(document=None, label="")
        if "spec" in fields:
            self.fill()

    # ---------------------------------------------------------------- rendered prompt

    def fill(self) -> None:
        """Compute the preview off the main thread."""
        spec, document, label, project = self.draft.spec, self.document, self.label, self.project
        if not spec.layer or not spec.model:
            self.context.drop(PREVIEW)
            self.update(prompt=None, problem="", line=None, dev=0, no_document=False)
            return
        fillers = self.fillers
        self.update(not_computed=False)

        def work(watch: Watch) -> Any:
            filler = fillers.filler(spec, watch=watch, compute=False)
            sample = document or prompt_fill.first_document(project, filler.layer)
            dev = len(prompt_fill.split_ids(project, filler.layer, "dev"))
            preview = prompt_fill.preview(filler, sample, label=label) if sample else None
            return preview, sample, dev

        def failed(error: Exception) -> None:
            if isinstance(error, NotComputed):
                self.update(prompt=None, problem="", line=None, not_computed=True)
                self.context.commands_changed()
                return
            if not isinstance(error, WorkbenchError):
                self.context.fail(error)
            self.update(problem=str(error), line=getattr(error, "line", None))
            self.context.commands_changed()

        self.context.task(PREVIEW, work, lambda filled: self._filled(*filled), failed=failed)

    def _filled(self, preview: PromptPreview | None, document: Any, dev: int) -> None:
        self.update(
            prompt=preview,
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
        if not self.answers and self._scorer.knows(self.draft.spec, preview.prompts):
            self._ask(preview)
        self.context.commands_changed()

    # ---------------------------------------------------------------- predictions

    def try_text(self) -> None:
        """Run the prompt on the text of the preview."""
        if self.prompt is not None and not self.problem:
            self.update(asked=self.asked + 1)
            self._ask(self.prompt)

    def _ask(self, preview: PromptPreview) -> None:
        pending = self._pending = self._model, preview

        def answered(error: WorkbenchError | None) -> None:
            if self._pending is pending:
                self._pending = None
            self._show_answers()
            if error is not None:
                self.context.fail(error)

        self._scorer.ask(self.draft.spec, preview, answered)
        self._show_answers()

    @property
    def _model(self) -> str:
        return f"{self.draft.spec.backend} {self.draft.spec.model}"

    def _show_answers(self) -> None:
        """Show cached predictions for the current prompt, if available."""
        spec, preview, pending = self.draft.spec, self.prompt, self._pending
        logprobs = self._scorer.logprobs(spec, preview) if preview and spec.model else None
        rows: Sequence[LabelAnswer] = ()
        if logprobs is not None and (layer := self.draft.layer) is not None:
            words = prompt_reading.words_of(layer, spec)
            rows = prompt_fill.ranked(logprobs[0], spec.calibration, logprobs[1], words)
        replies = self._scorer.replies(spec, preview) if preview and spec.model else ()
        self.update(
            replies=tuple(str(reply["text"]) for reply in replies), read=self._read(replies)
        )
        current = (self._model, preview.prompts) if preview is not None else None
        waits = pending is not None and (pending[0], pending[1].prompts) == current
        answers = self.answers if tuple(rows) == self.answers else tuple(rows)
        self.update(answers=answers, asking=waits and not answers and not replies)

    def _read(self, replies: Sequence[Mapping[str, Any]]) -> str:
        """What is read from replies about the document, "" without any."""
        document, layer = self.document, self.draft.layer
        if not replies or document is None or layer is None:
            return ""
        prediction = prompt_reading.read_one(layer, self.draft.spec, document, replies)
        return prompt_reading.summary(document, prediction) if prediction is not None else ""
