"""What the prompt answers, and how a reply becomes a prediction."""

from __future__ import annotations

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.ui.panels.prompts.answer_state import AnswerState
from workbench.ui.panels.prompts.parts import Part
from workbench.ui.panels.prompts.prompt_state import PromptState
from workbench.ui.style import escaping, formats
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.controls.form import Form
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import TurningRow, column, layout_of
from workbench.ui.widgets.layout import fill as fill_with

CALIBRATIONS = [
    ("content-free", _("Content-free")),
    ("pmi", _("PMI")),
    ("batch", _("Batch")),
    ("none", _("None")),
]
CALIBRATION_HELP = _(
    "Models prefer some labels regardless of the text. Calibration divides the probability of "
    "a label by its prior. Content-free: the mean probability without the text, over the "
    "texts “N/A”, a mask token and the empty text (Zhao et al. 2021). PMI: pointwise mutual "
    "information, for whole labels and an empty text (Holtzman et al. 2021). Batch: the mean "
    "probability over the documents of the run (Zhou et al. 2024)."
)
COLUMNS = 2


class AnswerBox(Part):
    """The layer and the form of the answer; below it the settings that the form has. Those of
    decoding are folded at first.
    """

    def __init__(self, state: AnswerState, prompt: PromptState):
        super().__init__()
        draft = state.draft
        self.state, self.draft, self.states = state, draft, (draft, state)
        self._layer, self._calibration = combo(name=_("Layer")), combo(CALIBRATIONS)
        self._layer.activated.connect(lambda _i: prompt.choose_layer(self._layer.currentData()))
        self._form = combo(name=_("What counts as an answer"))
        self._form.activated.connect(lambda _i: state.choose(self._form.currentData()))
        self._calibration.activated.connect(
            lambda _i: draft.change(calibration=self._calibration.currentData())
        )
        escaping.set_tip(self._calibration, CALIBRATION_HELP)
        self._calibrated = TitledField(_("Calibration"), self._calibration, name=_("Calibration"))
        form = TitledField(_("What counts as an answer"), self._form)
        self._hint = words("", "caption", "muted", wrap=True)
        layer = TitledField(_("Layer"), self._layer)
        self.settings = Form(())
        self._below = column(self.settings)
        self._fold = Button(_("Decoding"), "chevron-right", "quiet", small=True, on=self._unfold)
        self.decoding = Form(state.DECODING, columns=COLUMNS)
        self.decoding.changed.connect(lambda _name: self._decode())
        self.decoding.hide()
        self.problem = Callout("", "warn")
        fill_with(
            self,
            TurningRow((layer, 1), (form, 2), gap=10),
            self._hint,
            self._calibrated,
            self._below,
            self._fold,
            self.decoding,
            self.problem,
            gap=8,
        )

    def render_part(self, fields: frozenset[str]) -> None:
        draft, spec = self.draft, self.draft.spec
        if concerns(fields, "layers", "layer"):
            title = _("{name} ({n} submitted)")
            layers = [
                (name, title.format(name=name, n=formats.count(n))) for name, n in draft.layers
            ]
            fill(self._layer, layers, spec.layer)
        if concerns(fields, "calibration"):
            fill(self._calibration, CALIBRATIONS, spec.calibration)
        if concerns(fields, "choice"):
            self._show_form()
        if concerns(fields, "options", "values", "fault"):
            self._show_settings()
        if concerns(fields, "decoding"):
            self._show_decoding()

    def _show_form(self) -> None:
        """A form that the model cannot do is disabled."""
        choice = self.state.choice
        fill(self._form, choice.titles.items(), choice.chosen, refused=choice.refused)
        self._hint.setText(choice.hint)
        self._calibrated.setVisible(not choice.generated)
        self._fold.setVisible(choice.generated)
        if not choice.generated:
            self._unfold(False)
        self.problem.set(choice.problem)

    def _show_settings(self) -> None:
        """Fields for the settings that the form has, rebuilt when these change."""
        state = self.state
        if tuple(option.name for option in state.options) != self.settings.names():
            layout_of(self._below).removeWidget(self.settings)
            self.settings.deleteLater()
            self.settings = Form(state.options, columns=COLUMNS)
            self.settings.changed.connect(lambda _name: state.set_values(_texts(self.settings)))
            layout_of(self._below).addWidget(self.settings)
            self._below.setVisible(bool(state.options))
            self.settings.set_values(state.values)
        elif any(_text(state.values[name]) != text for name, text in _texts(self.settings).items()):
            self.settings.set_values(state.values)
        self.settings.set_errors({"pattern": state.fault})

    def _show_decoding(self) -> None:
        entered = self.decoding.values()
        options = {option.name: option.default for option in self.state.DECODING}
        changed = {
            name: _text(value)
            for name, value in self.state.decoding.items()
            if value != options[name]
        }
        if entered != changed:
            self.decoding.set_values(self.state.decoding)

    def _unfold(self, shown: bool | None = None) -> None:
        shown = self.decoding.isHidden() if shown is None else shown
        self.decoding.setVisible(shown)
        self._fold.set_icon("chevron-down" if shown else "chevron-right")

    def _decode(self) -> None:
        self.decoding.set_errors(self.state.set_decoding(_texts(self.decoding)))


def _texts(form: Form) -> dict[str, str]:
    return {name: form.text(name) for name in form.names()}


def _text(value: object) -> str:
    """A value as a form writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return formats.typed(value) if isinstance(value, float) else str(value)
