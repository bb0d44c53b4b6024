"""What the prompt answers, and how a reply becomes a prediction."""

from __future__ import annotations

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.ui.panels.prompts.draft import PromptDraft
from workbench.ui.panels.prompts.parts import Part
from workbench.ui.panels.prompts.prompt_state import PromptState
from workbench.ui.style import escaping, formats
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.layout import TurningRow
from workbench.ui.widgets.layout import fill as fill_with

CALIBRATIONS = [
    ("content-free", _("Content-free")),
    ("pmi", _("PMI")),
    ("none", _("None")),
]
CALIBRATION_HELP = _(
    "Models prefer some labels regardless of the text. Calibration divides the probability of "
    "a label by its prior, its probability without the text. Content-free: the mean over the "
    "texts “N/A”, a mask token and the empty text (Zhao et al. 2021). PMI: pointwise mutual "
    "information, for whole labels and an empty text (Holtzman et al. 2021)."
)


class AnswerBox(Part):
    def __init__(self, draft: PromptDraft, prompt: PromptState):
        super().__init__()
        self.draft, self.states = draft, (draft,)
        self._layer, self._calibration = combo(name=_("Layer")), combo(CALIBRATIONS)
        self._layer.activated.connect(lambda _i: prompt.choose_layer(self._layer.currentData()))
        self._calibration.activated.connect(
            lambda _i: draft.change(calibration=self._calibration.currentData())
        )
        escaping.set_tip(self._calibration, CALIBRATION_HELP)
        calibration = TitledField(_("Calibration"), self._calibration, name=_("Calibration"))
        layer = TitledField(_("Layer"), self._layer)
        fill_with(self, TurningRow((layer, 1), (calibration, 1), gap=10))

    def render_part(self, fields: frozenset[str]) -> None:
        if concerns(fields, "layers", "layer"):
            title = _("{name} ({n} submitted)")
            layers = [
                (name, title.format(name=name, n=formats.count(n))) for name, n in self.draft.layers
            ]
            fill(self._layer, layers, self.draft.spec.layer)
        if concerns(fields, "calibration"):
            fill(self._calibration, CALIBRATIONS, self.draft.spec.calibration)
