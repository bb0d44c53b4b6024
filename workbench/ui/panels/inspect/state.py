"""State of the Inspect page: a model, a text, and an inspector's result for both."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _
from workbench.base.registry import registry
from workbench.operations.annotation import annotate
from workbench.operations.inspecting import (
    examine,
    inspect,
    inspect_files,
    inspect_host,
    retained_samples,
)
from workbench.operations.inspecting.inspect import InspectableModel, InspectorChoice
from workbench.operations.inspecting.retained_samples import KeptSample
from workbench.text.columns import write_delimited
from workbench.text.document import QUESTIONS
from workbench.ui.panels.inspect.corpus import PageDocuments
from workbench.ui.panels.inspect.examined import Examined
from workbench.ui.panels.inspect.inspector_state import InspectorState
from workbench.ui.panels.inspect.samples import samples
from workbench.ui.project.opened import opened

if TYPE_CHECKING:
    from workbench.inspection.spec import Inspection
    from workbench.project.changes import Changes
    from workbench.storage.documents.documents import DocumentRow
    from workbench.storage.runs.runs import Run
    from workbench.text.document import Document
    from workbench.ui.panel import PanelContext


FOLLOWED = 100_000  # selected documents that are followed, as many as a map has points


class InspectState(State):
    """`choice` is the model, `document` the text (`document_id` is None for a typed one).

    offers: every inspector, with whether it supports the model. view, second: ids of those in the
    left and the right pane, "" if there is none; pane: 0 or 1, the active one, whose state is
    `current`. compared: the page of another model for the same text, in the right pane. gold: of
    the run's layer, None for a typed text. labels: the current labels of the run's layer, by name.
    chosen_token: its index in the text; chosen_head: layer and head of the attention, from 1.
    chosen_documents: ids of those selected in a view of the documents.
    """

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context, self.project = context, opened(context)
        self.choice: InspectableModel | None = None
        self.document: Document | None = None
        self.choices: tuple[InspectableModel, ...] = ()
        self.refused: tuple[tuple[Run, str], ...] = ()  # ensembles without some of their runs
        self.offers: tuple[InspectorChoice, ...] = ()
        self.document_id: int | None = None
        self.view, self.second, self.pane = "", "", 0
        self.compared: InspectState | None = None
        self.gold: inspect.DocumentGold | None = None
        self.labels: Mapping[str, Any] = {}
        self.status, self.fault, self.fault_details = "asleep", "", ""
        self.chosen_token: int | None = None
        self.chosen_head: tuple[int, int] | None = None
        self.chosen_documents: tuple[int, ...] = self.project.selection
        self.selected = 0  # a number that changes when another page selects documents
        self.corpus = PageDocuments(self)
        self._chosen_view = ""  # chosen by the user: kept for every model that supports it
        self._shown: dict[str, InspectorState] = {}
        self._inspector = inspect_host.InspectorHost(
            dispatch=context.dispatch,
            spare=context.queue.spare,
            device=context.settings.device,
            weights=context.settings.weights,
        )
        self.listen(self._inspector.changed, self._host_changed)
        self.listen(self.project.changed, self._project_changed)
        self.listen(self.project.selected, self._on_selected)
        self.listen(registry().changed, self._plugins_changed)

    def close(self) -> None:
        super().close()
        if self.compared is not None:
            self.compared.close()
        for item in self._shown.values():
            item.close()
        self._inspector.close()

    # ---------------------------------------------------------------- the model

    def refresh(self) -> None:
        """Read runs and models again; select the latest finished run if nothing is selected."""
        choices = inspect.choices(self.project, self.context.settings)
        keys = [choice.key for choice in choices]
        self.update(choices=choices, refused=inspect.refused(self.project))
        if self.choice is None or self.choice.key not in keys:
            if choices:
                self.choose(choices[0].key)
            else:
                self.update(choice=None, offers=(), view="")

    def choose(self, key: str) -> None:
        """Select another model and run it on the same text."""
        choice = self._choice_of(key)
        if choice is None or choice == self.choice:
            return
        self._inspector.open(choice)
        offers = inspect.offers(choice)
        fitting = [offer.id for offer in offers if not offer.refused]
        view = self._chosen_view if self._chosen_view in fitting else inspect.first(offers)
        self._forget(model=True)
        second = self.second if self.second in fitting and self.second != view else ""
        self.update(choice=choice, offers=offers, view=view, second=second, fault="")
        self.update(labels=self._labels(choice), pane=self.pane if self.has_two else 0)
        if self.compared is not None and self.compared.choice not in self.comparable:
            self.compare_with("")
        if self.document is None or self.document.form != choice.texts:
            self._begin()
        else:
            self.update(gold=self._gold(), chosen_token=None)
            self.ask()

    def _choice_of(self, key: str) -> InspectableModel | None:
        return next((choice for choice in self.choices if choice.key == key), None)

    def choose_run(self, run_id: int) -> None:
        """Select a run; a message says why an ensemble cannot be inspected."""
        self.choose(f"run {run_id}")
        for run, reason in self.refused:
            if run.id == run_id:
                self.context.fail(WorkbenchError(reason))

    def choose_model(self, model: str) -> None:
        """Select a pretrained model by name or folder."""
        names = {
            name: choice.key
            for choice in self.choices
            if choice.run is None
            for name in (choice.folder, choice.key.removeprefix("model "))
        }
        self.choose(names.get(model, ""))

    @property
    def texts(self) -> int:
        """Number of texts in an input of the model."""
        return self.choice.texts if self.choice else 1

    @property
    def asks(self) -> bool:
        """The model answers questions about a text."""
        return self.choice is not None and self.choice.asks

    @property
    def form(self) -> int:
        """The form of the documents that the model reads: QUESTIONS with questions, else that of
        its texts.
        """
        return QUESTIONS if self.asks else self.texts

    # ---------------------------------------------------------------- the text

    def _begin(self) -> None:
        """The initial text: the document selected on another page, else the first dev document for
        a run, else any suitable one, else an example.
        """
        document = self.corpus.selected_document()
        if document is None and self.choice is not None:
            document = inspect.first_of_dev(self.project, self.choice)
        if document is not None:
            self._take(document, document.id)
        else:
            sample = samples(self.form)[0]
            self.type_text(sample.text, sample.second)

    def type_text(self, text: str, text_b: str | None = None) -> None:
        """Use a text that is not in a project; with choices, `text_b` holds one per line."""
        second = None if self.texts == 1 and not self.asks else text_b or ""
        question = self.document.question if self.document is not None else ""
        self._take(inspect.typed(text, second, form=self.form, question=question), None)

    def pick(self, document_id: int) -> None:
        """Select a document of the project."""
        try:
            self._take(inspect.document(self.project, document_id), document_id)
            self.project.select((document_id,), self)
        except KeyError:
            self.context.fail(WorkbenchError(_("This document is no longer in the project.")))

    def _on_selected(self, origin: object) -> None:
        if origin is not self and len(self.project.selection) <= FOLLOWED:
            self.update(chosen_documents=self.project.selection, selected=self.selected + 1)

    def step(self, direction: int) -> None:
        """The next (+1) or previous (-1) document of the project."""
        neighbour = annotate.neighbour(self.project, self.document_id, direction)
        while (
            neighbour is not None and inspect.document(self.project, neighbour).form != self.texts
        ):
            neighbour = annotate.neighbour(self.project, neighbour, direction)
        if neighbour is not None:
            self.pick(neighbour)

    def find(self, text: str) -> tuple[DocumentRow, ...]:
        """Documents to choose from."""
        return inspect.find(self.project, text, texts=self.texts)

    def _take(self, document: Document, document_id: int | None) -> None:
        self._forget()
        self.update(document=document, document_id=document_id, chosen_token=None)
        self.update(gold=self._gold())
        self.context.commands_changed()
        if self.compared is not None:
            self.compared.take(document, document_id)
        self.ask()

    def take(self, document: Document, document_id: int | None) -> None:
        """Use the text of another page."""
        self._take(document, document_id)

    # ---------------------------------------------------------------- views

    @property
    def current(self) -> InspectorState | None:
        """The state of the inspector in the active pane."""
        if self.pane == 1 and self.compared is not None:
            return self.compared.current
        id = self.second if self.pane == 1 and self.second else self.view
        return self.of(id) if id else None

    def of(self, id: str) -> InspectorState:
        """The state of an inspector, which is passed to its view."""
        if id not in self._shown:
            self._shown[id] = (Examined if examine.examined(id) else InspectorState)(self, id)
        return self._shown[id]

    def show(self, view: str) -> None:
        """Switch the active pane to an inspector; it is run unless its result is available."""
        if self._fits(view):
            self._chosen_view = view
            if self.pane == 1 and self.second and self.compared is None:
                self._open(view=self.view, second=view)
            else:
                self._open(view=view, second=self.second)

    def show_beside(self, view: str) -> None:
        """Show an inspector in the other pane."""
        if not self._fits(view):
            return
        if self.compared is not None:
            self.compare_with("")
        if self.pane == 1 and self.second:
            self._open(view=view, second=self.second)
        else:
            self._open(view=self.view, second=view)

    def _open(self, *, view: str, second: str) -> None:
        """Set the inspectors of both panes; one that is in both stays in the left one."""
        second = "" if second == view else second
        self.update(view=view, second=second, pane=self.pane if second or self.compared else 0)
        for id in filter(None, (view, second)):
            state = self.of(id)
            if (state.answer is None or state.error) and not state.asking:
                state.ask()  # an error of before may be gone
            else:
                state.resume()
        if self.compared is not None:
            self.compared.show(view)

    def _fits(self, view: str) -> bool:
        return any(offer.id == view and not offer.refused for offer in self.offers)

    @property
    def has_two(self) -> bool:
        """Whether both panes show something."""
        return bool(self.second) or self.compared is not None

    def activate(self, pane: int) -> None:
        """Make a pane the active one; without a second pane it is always the left one."""
        if pane == 0 or self.has_two:
            self.update(pane=pane)

    def close_second(self) -> None:
        """Close the right pane, and end a comparison."""
        if self.compared is not None:
            self.compare_with("")
        self.update(second="", pane=0)

    # ---------------------------------------------------------------- two models

    @property
    def comparable(self) -> tuple[InspectableModel, ...]:
        """Models that read as many texts as the current one."""
        return tuple(
            choice
            for choice in self.choices
            if choice != self.choice and choice.texts == self.texts
        )

    def compare_with(self, key: str) -> None:
        """Show the same view of another model in the right pane; "" ends the comparison."""
        before, compared = self.compared, None
        choice = next((choice for choice in self.comparable if choice.key == key), None)
        if choice is not None:
            compared = InspectState(self.context)
            compared.begin_beside(self, choice)
        self.update(compared=compared, pane=self.pane if compared or self.second else 0)
        if before is not None:
            before.close()

    def begin_beside(self, page: InspectState, choice: InspectableModel) -> None:
        """Take model, text and view for a comparison with another page."""
        self.update(choices=page.choices, document=page.document, document_id=page.document_id)
        self._chosen_view = page.view
        self.choose(choice.key)

    # ---------------------------------------------------------------- requests

    @property
    def can_ask(self) -> bool:
        return self.choice is not None and self.document is not None and not self.asking

    def ask(self) -> None:
        """Run the inspectors in the panes on the current text, again if they have a result."""
        self.update(fault="")
        for id in filter(None, (self.view, self.second)):
            self.of(id).ask()

    def ask_host(
        self,
        state: InspectorState,
        options: Mapping[str, Any],
        done: Callable[[Inspection], None],
        failed: Callable[[Exception], None],
    ) -> None:
        """Send a request of an inspector to the process with the model, as the task `state`."""
        if self.document is not None:
            ask = partial(self._inspector.ask, state.id, self.document, timeout=math.inf)
            work = partial(ask, options=options)
            self.context.task(state, work, done, failed=failed)

    def choose_token(self, number: int | None) -> None:
        """Select a token of the text in every view."""
        self.update(chosen_token=number)

    def choose_head(self, layer: int, head: int) -> None:
        """Select an attention head in every view, both from 1."""
        self.update(chosen_head=(layer, head))

    def compare(self, spans: Sequence[Any]) -> tuple[Any, ...]:
        """Compare gold and predicted spans; () without gold."""
        return inspect.compare(self.gold, spans) if self.gold is not None else ()

    def _forget(self, *, model: bool = False) -> None:
        for item in self._shown.values():
            item.forget(model=model)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about the current result."""
        return self.warnings_of(self.current) if self.current is not None else ()

    def warnings_of(self, state: InspectorState) -> tuple[str, ...]:
        """Warnings about a result."""
        answer = state.answer
        if answer is None or self.document is None or self.choice is None:
            return ()
        warnings = [
            inspect.unknown_warning(answer, self.choice.title),
            inspect.token_warning(self.choice, self.document),
        ]
        if answer.cut:
            warnings.append(
                _("The text exceeds the model's maximum length; the end was truncated.")
            )
        return tuple(item for item in warnings if item)

    @property
    def error(self) -> str:
        """Why there is no result."""
        return self.fault or (self.current.error if self.current is not None else "")

    @property
    def asking(self) -> bool:
        return self.current is not None and self.current.asking

    @property
    def loading(self) -> bool:
        return self.current is not None and self.loading_of(self.current)

    def loading_of(self, state: InspectorState) -> bool:
        """Whether a result waits for the model to be loaded."""
        return state.asking and self.status in ("asleep", "starting")

    def correct(self) -> None:
        """Open the document in Annotate."""
        if self.document_id is not None:
            self.context.go("annotate", document=self.document_id)

    # ---------------------------------------------------------------- files and samples

    def save(self, write: Callable[[], object], path: Path) -> None:
        """Write a file of a view, and show a message, with a text that `write` returns."""
        try:
            lacks = write()
        except OSError as error:
            message = _("Cannot write {path}: {why}.")
            self.context.fail(
                WorkbenchError(message.format(path=path, why=error.strerror or error))
            )
        else:
            saved = _("Saved {path}", path=path)
            self.context.note(f"{saved}. {lacks}" if isinstance(lacks, str) and lacks else saved)

    def save_matrix(self, path: Path, values: Any, names: Sequence[str]) -> None:
        """Save a matrix (T, T) with row and column names as CSV, or without names as .npy."""
        self.save(lambda: inspect_files.write_matrix(path, values, names), path)

    def save_rows(self, path: Path, rows: Sequence[Sequence[object]]) -> None:
        """Save rows as CSV."""
        self.save(lambda: write_delimited(path, rows), path)

    def save_result(self, path: Path, result: Any) -> None:
        """Save a result as JSON."""
        self.save(lambda: inspect_files.write_json(path, result), path)

    def kept_samples(self) -> tuple[KeptSample, ...]:
        """Samples of language models that were kept, of all projects."""
        return retained_samples.kept()

    def keep_sample(self, text: str, settings: Mapping[str, Any]) -> None:
        """Keep a continuation of the current text with its settings."""
        if self.document is None or self.choice is None:
            return
        sample = KeptSample(self.document.text, text, self.choice.title, settings)
        self._change_kept(lambda: retained_samples.keep(sample))

    def drop_sample(self, sample: KeptSample) -> None:
        self._change_kept(lambda: retained_samples.drop(sample))

    def _change_kept(self, change: Callable[[], None]) -> None:
        try:
            change()
        except OSError as error:
            message = _("The samples cannot be saved: {why}.")
            self.context.fail(WorkbenchError(message.format(why=error.strerror or error)))

    # ---------------------------------------------------------------- events

    def _labels(self, choice: InspectableModel) -> Mapping[str, Any]:
        layer = inspect.layer(self.project, choice)
        return {label.name: label for label in layer.labels} if layer else {}

    def _gold(self) -> inspect.DocumentGold | None:
        if self.document_id is None or self.choice is None:
            return None
        try:
            return inspect.gold(self.project, self.choice, self.document_id)
        except KeyError:
            return None  # the document was deleted

    def _host_changed(self, status: str) -> None:
        if status in ("failed", "crashed"):
            for item in self._shown.values():
                item.failed(self._inspector.message)
            fault, details = self._inspector.message, self._inspector.details
            self.update(status=status, fault=fault, fault_details=details)
        elif status in ("starting", "ready"):
            self.update(status=status, fault="", fault_details="")
        else:
            self.update(status=status)

    def _plugins_changed(self) -> None:
        """Inspectors and models were added, removed or changed.

        The process with the model is replaced, as it knows the previous ones.
        """
        key = self.choice.key if self.choice is not None else ""
        self.compare_with("")
        for item in self._shown.values():
            item.close()
        self._shown.clear()
        self._inspector.close()
        self.update(choice=None, offers=(), view="", second="", pane=0)
        self.choices = inspect.choices(self.project, self.context.settings)
        self.choose(key)
        self.refresh()

    def _project_changed(self, changes: Changes) -> None:
        if changes.touches("run"):
            self.refresh()
        if any(changes.touches(name) for name in ("span", "mark", "label")):
            for item in self._shown.values():
                item.labels_changed()
        if changes.touches("label") and self.choice is not None:
            self.update(labels=self._labels(self.choice), gold=self._gold())
        elif self.document_id is not None and any(
            changes.touches(literal, self.document_id)
            for literal in ("span", "mark", "state", "document")
        ):
            self.update(gold=self._gold())
