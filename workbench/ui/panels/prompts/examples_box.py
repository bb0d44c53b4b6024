"""The examples in the prompt: how many, and how they are selected."""

from __future__ import annotations

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.ui.panels.prompts.draft import PromptDraft
from workbench.ui.panels.prompts.parts import Part
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.controls.spin import SpinBox
from workbench.ui.widgets.layout import TurningRow, row
from workbench.ui.widgets.layout import fill as fill_with

ORDERS = [("balanced", _("balanced")), ("random", _("random"))]


class ExamplesBox(Part):
    def __init__(self, draft: PromptDraft):
        super().__init__()
        self.draft, self.states = draft, (draft,)
        self._order = combo(ORDERS)
        self._order.activated.connect(lambda _i: draft.change(order=self._order.currentData()))
        self._shots, self._seed = SpinBox(0, 64), SpinBox(0, 99_999)
        for box in (self._shots, self._seed):
            box.setKeyboardTracking(False)
        self._shots.valueChanged.connect(lambda value: draft.change(shots=value))
        self._seed.valueChanged.connect(lambda value: draft.change(seed=value))
        number = row(
            (TitledField(_("Examples"), self._shots), 2),
            (TitledField(_("Seed"), self._seed), 2),
            gap=10,
        )
        sampling = TitledField(_("Sampling"), self._order, name=_("Sampling"))
        fill_with(self, TurningRow((sampling, 3), (number, 4), gap=10))

    def render_part(self, fields: frozenset[str]) -> None:
        if not concerns(fields, "shots", "order", "seed"):
            return
        spec = self.draft.spec
        for box, value in ((self._shots, spec.shots), (self._seed, spec.seed)):
            blocked = box.blockSignals(True)
            box.setValue(value)
            box.blockSignals(blocked)
        fill(self._order, ORDERS, spec.order)
