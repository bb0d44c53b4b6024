"""The template of the prompt, and what is wrong with it."""

from __future__ import annotations

from PySide6.QtCore import QTimer

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.ui.panels.prompts.draft import PromptDraft
from workbench.ui.panels.prompts.editor import TemplateEditor
from workbench.ui.panels.prompts.parts import Part
from workbench.ui.panels.prompts.preview_state import PreviewState
from workbench.ui.style import theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import fill as fill_with

PAUSE = 350  # milliseconds after the last key press until the preview is computed
LEAST_HEIGHT = 128  # pixels at 100%
VARIABLES_HELP = _(
    "Variables: text (text_b for pairs; question and choices for multiple choice), label, labels, "
    "letter, letters, descriptions[label], examples (each with the same, its own label and letter)."
)


class TemplateBox(Part):
    def __init__(self, draft: PromptDraft, preview: PreviewState):
        super().__init__()
        self.draft, self.preview, self.states = draft, preview, (draft, preview)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE)
        self._pause.timeout.connect(self.take)
        self.editor = TemplateEditor(_("Template"))
        self.editor.textChanged.connect(self._typed)
        self.editor.setMinimumHeight(theme.px(LEAST_HEIGHT))
        self._go_to = Button(_("Go to line"), small=True, on=self._go_to_line)
        self.fault = Callout("", "bad", self._go_to)
        self.fault.hide()
        variables = words(VARIABLES_HELP, "caption", "muted", wrap=True)
        editor = TitledField(_("Template (Jinja2)"), self.editor, name=_("Template"))
        fill_with(self, (editor, 1), self.fault, variables, gap=8)

    def take(self) -> None:
        """Pass the typed template to the state immediately."""
        self._pause.stop()
        self.draft.change(template=self.editor.source())

    def render_part(self, fields: frozenset[str]) -> None:
        source = self.draft.spec.template
        if concerns(fields, "template") and self.editor.source() != source:
            self._pause.stop()
            self.editor.setPlainText(source)
        if concerns(fields, "template", "problem", "line"):
            self._show_problem()

    def _typed(self) -> None:
        if self.editor.source() != self.draft.spec.template:
            self._pause.start()

    def _show_problem(self) -> None:
        problem, line = self.preview.problem, self.preview.line
        self.fault.set(problem)
        self.editor.mark(line, problem)
        if line:
            self._go_to.set_text(_("Go to line {n}", n=line))
        self._go_to.setVisible(bool(line))

    def _go_to_line(self) -> None:
        if self.preview.line:
            self.editor.go_to(self.preview.line)
