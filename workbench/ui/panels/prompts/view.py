"""The Prompts page: the boxes of the prompt on the left; preview, answers and grid on the right."""

from __future__ import annotations

from typing import cast

from PySide6.QtWidgets import QFrame, QTabBar, QWidget

from workbench.base.events import ALL, concerns
from workbench.base.i18n import N_, _
from workbench.ui.panel import View
from workbench.ui.panels.prompts.actions_box import ActionsBox
from workbench.ui.panels.prompts.answer_box import AnswerBox
from workbench.ui.panels.prompts.answers_tab import AnswersTab
from workbench.ui.panels.prompts.examples_box import ExamplesBox
from workbench.ui.panels.prompts.free_text_tab import FreeTextTab
from workbench.ui.panels.prompts.grid_tab import GridTab
from workbench.ui.panels.prompts.model_box import ModelBox
from workbench.ui.panels.prompts.parts import Part, Tab
from workbench.ui.panels.prompts.preview_tab import PreviewTab
from workbench.ui.panels.prompts.prompt_box import PromptBox
from workbench.ui.panels.prompts.server_dialogs import may_send
from workbench.ui.panels.prompts.state import TABS, PromptsState
from workbench.ui.panels.prompts.template_box import TemplateBox
from workbench.ui.panels.prompts.words_box import WordsBox
from workbench.ui.style import formats
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.header import PageHeader
from workbench.ui.widgets.later import LaterStack
from workbench.ui.widgets.layout import column, layout_of, row, scrolled
from workbench.ui.widgets.layout import fill as fill_with

NO_LAYER, NO_MODEL, PAGE = range(3)
BOXES, SIDE = (5, 7), (3, 10)  # widths of left and right: with the boxes, with the side of a tab
TITLES = {
    "preview": N_("Preview"),
    "answers": N_("Answers"),
    "grid": N_("Grid"),
    "free-text": N_("Free text"),
}


class PromptsView(View):
    state: PromptsState

    def __init__(self, state: PromptsState, parent: QWidget | None = None):
        super().__init__(state, parent)
        self._suggest = Button(
            _("Create suggestions"),
            "sparkles",
            on=self._make_suggestions,
            tip=_("Suggest labels for unlabelled documents, from prompt A or the last run"),
        )
        self._parts: list[Part] = []
        self.page = row((self._left(), 1), (self._right(), 1), gap=0)
        self._stack = LaterStack(self._no_layer, self._no_model, lambda: self.page)
        self._stack.setCurrentIndex(PAGE)
        hint = _("Write a prompt, choose examples and a model, and evaluate it like a run")
        header = PageHeader(_("Prompts"), hint, self._suggest)
        fill_with(self, header, (self._stack, 1), gap=0)
        parts = (state.draft, state.prompt, state.models, state.preview, state.run, state.answers)
        for of_page in parts:
            self.shows(of_page, self._render_page)
        for counted in (state.answers, state.grid):
            self.shows(counted, self._show_titles)
        self.first = self.template.editor

    # ---------------------------------------------------------------- empty states

    def _no_layer(self) -> EmptyState:
        labels = Button(
            _("Go to Labels"), "tags", "primary", on=lambda: self.state.context.go("labels")
        )
        hint = _("A prompt predicts the labels of a layer. Add a layer, or import labelled data.")
        return EmptyState("message-square-quote", _("No layer to predict"), hint, labels)

    def _no_model(self) -> QWidget:
        """Leads to Models, below the backends of plugins that failed."""
        models = Button(
            _("Go to Models"), "boxes", "primary", on=lambda: self.state.context.go("models")
        )
        hint = _("A prompt needs a masked or causal language model. Add one on the Models page.")
        empty = EmptyState("message-square-quote", _("No language model"), hint, models)
        self.failed = Callout("", "warn")
        return column(self.failed, (empty, 1), margins=(20, 14, 20, 16))

    # ---------------------------------------------------------------- left: the prompt

    def _left(self) -> QFrame:
        """The boxes above the actions; a tab may show a side of its own in their place."""
        state = self.state
        self.template = TemplateBox(state.draft, state.preview)
        self.model = ModelBox(state.draft, state.models)
        self.prompt, self.words = PromptBox(state.prompt), WordsBox(state.draft)
        boxes: tuple[Part, ...] = (
            self.prompt,
            self.template,
            self.words,
            ExamplesBox(state.draft, state.examples, state.preview),
            AnswerBox(state.answer, state.prompt),
            self.model,
        )
        actions = ActionsBox(
            state.preview,
            state.run,
            state.grid,
            self.run_on_dev,
            self.try_text,
            self.add_to_grid,
        )
        self._settings = boxes[2:]  # disabled for an earlier version that is shown as it was
        for part in (*boxes, actions):
            self._add(part)
        above = column(
            *((box, 1 if box is self.template else 0) for box in boxes),
            gap=14,
            margins=(20, 14, 20, 10),
        )
        below = column(actions, margins=(20, 6, 20, 16))
        self._boxes = column((scrolled(above, upright=True), 1), below, gap=0)
        self._sides = column((self._boxes, 1), gap=0, part="surface")
        return self._sides

    def _add(self, part: Part) -> None:
        self._parts.append(part)
        for of_part in part.states:
            self.shows(of_part, part.render_part)

    # ---------------------------------------------------------------- right: the tabs

    def _right(self) -> QFrame:
        state = self.state
        self._bar = QTabBar()
        self._bar.setDrawBase(False)
        self._bar.setExpanding(False)
        self._bar.setAccessibleName(_("Parts of the page"))
        for name in TABS:
            self._bar.addTab(_(TITLES[name]))
        # The prompt itself is named "Preview"; two controls of one name confuse screen readers.
        self._bar.setAccessibleTabName(0, _("Prompt as the model receives it"))
        self._bar.currentChanged.connect(lambda at: state.show(TABS[at]))
        self._tabs = LaterStack(
            lambda: PreviewTab(state.preview, state.run, self.try_text),
            lambda: AnswersTab(state.answers),
            lambda: GridTab(state.grid, self._example),
            lambda: FreeTextTab(state.free_text),
            made=self._tab_made,
        )
        self._head = row((self._bar, 1), gap=8)
        return column(self._head, (self._tabs, 1), gap=10, margins=(16, 8, 20, 16))

    def tab(self, name: str) -> Tab:
        """A tab, created when it is first needed."""
        return cast(Tab, self._tabs.widget(TABS.index(name)))

    def _tab_made(self, number: int) -> None:
        tab = self.tab(TABS[number])
        if tab.side is not None:
            layout_of(self._sides).addWidget(tab.side, 1)
        if tab.buttons is not None:
            layout_of(self._head).addWidget(tab.buttons)
        self._add(tab)
        tab.render_part(ALL)

    def _show_tab(self, name: str) -> None:
        number = TABS.index(name)
        blocked = self._bar.blockSignals(True)
        self._bar.setCurrentIndex(number)
        self._bar.blockSignals(blocked)
        self._tabs.setCurrentIndex(number)
        shown = self.tab(name)
        for tab in map(self.tab, (TABS[number] for number in self._tabs.made())):
            if tab.side is not None:
                tab.side.setVisible(tab is shown)
            if tab.buttons is not None:
                tab.buttons.setVisible(tab is shown)
        self._boxes.setVisible(shown.side is None)
        for at, stretch in enumerate(BOXES if shown.side is None else SIDE):
            layout_of(self.page).setStretch(at, stretch)

    def _show_titles(self, _fields: frozenset[str]) -> None:
        """The tabs, with the numbers of answers and of rows of the grid."""
        answers = self.state.answers.comparison
        counts = {"answers": len(answers.rows) if answers is not None else 0}
        counts["grid"] = len(self.state.grid.spec.prompts)
        for name, n in counts.items():
            title = _(TITLES[name])
            if n:
                title = _("{title}  {n}", title=title, n=formats.count(n))
            self._bar.setTabText(TABS.index(name), title)

    # ---------------------------------------------------------------- actions

    def run_on_dev(self) -> None:
        self.template.take()
        if self._may_send():
            self.state.run.run_on_dev()

    @property
    def _suggesting(self) -> int | None:
        """The run whose answers are shown, None on other tabs."""
        return self.state.answers.first if self.state.tab == "answers" else None

    def _make_suggestions(self) -> None:
        self.state.run.make_suggestions(self._suggesting)

    def add_to_grid(self) -> None:
        self.template.take()
        self.state.grid.add()
        self.state.show("grid")

    def try_text(self) -> None:
        self.template.take()
        if self._may_send():
            self.state.preview.try_text()

    def _may_send(self) -> bool:
        """Asks once per project and address before texts leave the computer."""
        spec, example = self.state.draft.spec, self._example()
        return may_send(self.window(), self.state.project, spec.backend, spec.model, example)

    def _example(self) -> str:
        """The prompt of the preview."""
        prompt = self.state.preview.prompt
        return prompt.text if prompt is not None else ""

    # ---------------------------------------------------------------- showing

    def render(self, fields: frozenset[str]) -> None:
        if concerns(fields, "tab"):
            self._show_tab(self.state.tab)
            self._render_page(fields)
        if fields is ALL:
            self._render_page(ALL)
            for part in self._parts:
                part.render_part(ALL)

    def _render_page(self, fields: frozenset[str]) -> None:
        if concerns(fields, "layers", "models", "unavailable"):
            self._show_page()
        if concerns(fields, "read_only"):
            self.template.set_read_only(self.state.prompt.read_only)
            for box in self._settings:
                box.setEnabled(not self.state.prompt.read_only)
        can_suggest = self._suggesting is not None or self.state.run.suggests
        self._suggest.setEnabled(can_suggest and not self.state.draft.project.read_only)

    def _show_page(self) -> None:
        layers, models = self.state.draft.layers, self.state.models
        page = NO_LAYER if not layers else NO_MODEL if not models.models else PAGE
        self._stack.setCurrentIndex(page)
        if page == NO_MODEL:
            message = _("{backend}: failed. {reason}")
            reasons = [
                message.format(backend=failed.title, reason=failed.reason)
                for failed in models.unavailable
            ]
            self.failed.set("\n".join(reasons))
