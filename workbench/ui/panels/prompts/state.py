"""State of the Prompts page: the prompt that is edited, and the parts that show or run it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.base.events import State
from workbench.base.registry import registry
from workbench.ui.panels.prompts.answer_state import AnswerState
from workbench.ui.panels.prompts.answers_state import AnswersState
from workbench.ui.panels.prompts.draft import PromptDraft
from workbench.ui.panels.prompts.examples_state import ExamplesState
from workbench.ui.panels.prompts.free_text_state import FreeTextState
from workbench.ui.panels.prompts.grid_state import GridState
from workbench.ui.panels.prompts.model_state import ModelState
from workbench.ui.panels.prompts.preview_state import PreviewState
from workbench.ui.panels.prompts.prompt_state import PromptState
from workbench.ui.panels.prompts.run_state import RunState

if TYPE_CHECKING:
    from workbench.base.errors import WorkbenchError
    from workbench.project.changes import Changes
    from workbench.prompting.spec import PromptSpec
    from workbench.ui.panel import PanelContext
    from workbench.ui.project.unsaved import UnsavedText

TABS = ("preview", "answers", "grid", "free-text")


class PromptsState(State):
    """The parts see `draft` and what else they need, not the page. tab: one of TABS."""

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context = context
        self.draft = PromptDraft(context)
        self.project = self.draft.project
        self.models = ModelState(self.draft)
        self.prompt = PromptState(self.draft, self.models.found)
        self.answer = AnswerState(self.draft, self.models)
        self.preview = PreviewState(self.draft, self.models)
        self.examples = ExamplesState(self.draft, self.preview)
        self.run = RunState(self.draft, self.preview, self.prompt.keep)
        self.answers = AnswersState(self.draft, self.edit)
        self.grid = GridState(self.draft, self.models, self.prompt.keep, self.show_answers)
        self.free_text = FreeTextState(self.draft, self.models)
        self.tab = TABS[0]
        self.listen(self.run.changed, self._run_changed)
        self.listen(self.draft.changed, self._draft_changed)
        self.listen(self.project.changed, self._project_changed)
        self.listen(registry().changed, self._plugins_changed)
        self.refresh()
        self.run.show_unfinished()

    @property
    def parts(self) -> tuple[State, ...]:
        boxes = (self.draft, self.prompt, self.models, self.answer, self.preview, self.examples)
        return (*boxes, self.run, self.answers, self.grid, self.free_text)

    def close(self) -> None:
        super().close()
        for part in self.parts:
            part.close()

    def store_texts(self) -> WorkbenchError | None:
        """See `ui.project.unsaved`."""
        return self.prompt.store_texts()

    def unsaved_texts(self) -> tuple[UnsavedText, ...]:
        return self.prompt.unsaved_texts()

    def refresh(self) -> None:
        """Reload layers, models, templates and the document; keep the selection if possible."""
        settings = {**self.draft.load_layers(), **self.models.load()}
        settings |= self.prompt.load(settings.get("layer", self.draft.spec.layer))
        self.preview.reload_document()
        self.examples.load()
        self._read(self.tab)
        if not self.draft.change(**settings):
            self.preview.fill()

    def show(self, tab: str) -> None:
        if tab != self.tab:
            self._read(tab)
        self.update(tab=tab)

    def _read(self, tab: str) -> None:
        """Read the runs again that a tab shows."""
        if tab == "answers":
            self.answers.refresh()
        elif tab == "grid":
            self.grid.refresh()

    def show_answers(self, first: int, second: int | None) -> None:
        """Show the answers of two runs; Back returns to what is shown now."""
        self.context.remember_place()
        self.update(tab="answers")
        self.answers.show_pair(first, second)

    @property
    def place(self) -> dict[str, Any]:
        """What `restore` shows again: the tab, and the answers."""
        return {"tab": self.tab, "answers": self.answers.place}

    def restore(self, place: Mapping[str, Any]) -> None:
        if place["tab"] == "answers":
            self.update(tab="answers")
            self.answers.show_pair(**place["answers"])
        else:
            self.show(place["tab"])

    def edit(self, spec: PromptSpec) -> None:
        """Edit the settings of a run, on the layer that is selected."""
        spec = replace(spec, layer=self.draft.spec.layer, name="")
        self.show("preview")
        self.draft.load(spec)
        self.refresh()  # its model may be gone

    def _draft_changed(self, fields: frozenset[str]) -> None:
        if "layer" in fields:
            self._read(self.tab)

    def _run_changed(self, fields: frozenset[str]) -> None:
        """The answers of a run that has ended are the first ones to look at."""
        if "figures" in fields:
            self.prompt.read_runs()
        if "figures" in fields and self.run.live is not None:
            self.answers.refresh(self.run.live.run_id)

    def _plugins_changed(self) -> None:
        """Backends may have been added, removed or changed."""
        self.preview.forget_models()
        self.refresh()

    def _project_changed(self, changes: Changes) -> None:
        if any(changes.touches(table) for table in ("document", "mark", "state", "label")):
            self.preview.forget_documents()
        # the rest is read when the page is shown again
        if any(changes.touches(table) for table in ("layer", "label", "prompt", "prompt_version")):
            self.refresh()
