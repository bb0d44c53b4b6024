"""The template of the prompt, and what is wrong with it."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QCheckBox, QLineEdit

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.ui.panels.prompts.draft import PromptDraft
from workbench.ui.panels.prompts.editor import TemplateEditor
from workbench.ui.panels.prompts.parts import Part
from workbench.ui.panels.prompts.preview_state import PreviewState
from workbench.ui.style import escaping, theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import fill as fill_with
from workbench.ui.widgets.layout import row

PAUSE = 350  # milliseconds after the last key press until the preview is computed
CHAT_HELP = _(
    "With the chat template of the model. A template without {% system %}, {% user %} and "
    "{% assistant %} is one message of the user."
)
LEAST_HEIGHT = 128  # pixels at 100%
VARIABLES_HELP = _(
    "Variables: text (text_b for pairs; question; choices), meta.KEY, label or answer (written by "
    "the model), labels, letter, letters, words[label], descriptions[label], instruction, examples "
    "(each with the same, its label, answer, labels, spans, number). {% system %}, {% user %} and "
    "{% assistant %} begin the messages of a conversation."
)


class TemplateBox(Part):
    def __init__(self, draft: PromptDraft, preview: PreviewState):
        super().__init__()
        self.draft, self.preview, self.states = draft, preview, (draft, preview)
        draft.take = self.take
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
        self._variables = words(VARIABLES_HELP, "caption", "muted", wrap=True, select=True)
        self._variables.hide()
        self._fold = Button(_("Variables"), "chevron-right", "quiet", small=True, on=self._unfold)
        editor = TitledField(_("Template (Jinja2)"), self.editor, name=_("Template"))
        self.instruction = QLineEdit()
        self.instruction.setPlaceholderText(_("That of the template"))
        self.instruction.textEdited.connect(lambda _text: self._pause.start())
        self._instruction = TitledField(_("Instruction"), self.instruction)
        self.chat = QCheckBox(_("Send as a conversation"))
        escaping.set_tip(self.chat, CHAT_HELP)
        self.chat.toggled.connect(lambda on: draft.change(chat=on))
        below = row(self._fold, None, self.chat)
        fill_with(self, self._instruction, (editor, 1), self.fault, below, self._variables, gap=6)

    def _unfold(self) -> None:
        shown = self._variables.isHidden()
        self._variables.setVisible(shown)
        self._fold.set_icon("chevron-down" if shown else "chevron-right")

    def take(self) -> None:
        """Pass the typed template to the state immediately."""
        self._pause.stop()
        if not self.editor.isReadOnly():
            typed = self.instruction.text()
            self.draft.change(template=self.editor.source(), instruction=typed)

    def set_read_only(self, on: bool) -> None:
        """Show the template of an earlier version, which can be copied but not changed."""
        self.editor.setReadOnly(on)
        self.instruction.setReadOnly(on)
        self.chat.setEnabled(not on)

    def render_part(self, fields: frozenset[str]) -> None:
        source, spec = self.draft.spec.template, self.draft.spec
        if concerns(fields, "instruction") and self.instruction.text() != spec.instruction:
            self.instruction.setText(spec.instruction)
        if concerns(fields, "instruction", "template"):
            uses = bool(spec.instruction) or "instruction" in source
            self._instruction.setVisible(uses)
        if concerns(fields, "chat") and self.chat.isChecked() != spec.chat:
            self.chat.setChecked(spec.chat)
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
