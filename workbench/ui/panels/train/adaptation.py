"""Adapt to my text, then fine-tune: the first stage of a run, among the choices."""

from __future__ import annotations

from PySide6.QtWidgets import QCheckBox, QFrame, QLineEdit, QVBoxLayout

from workbench.base.i18n import _
from workbench.ui.panels.train.state import TrainState
from workbench.ui.style import escaping
from workbench.ui.widgets.field import Field, combo, fill
from workbench.ui.widgets.layout import row

USUAL = "1"  # epochs when the stage is switched on


class Adaptation(QFrame):
    """A check box; while it is on, the epochs and the objective of the language model."""

    def __init__(self, state: TrainState):
        super().__init__()
        self.state = state
        self.check = QCheckBox(_("Adapt to my text, then fine-tune"))
        self.check.clicked.connect(lambda on: self._set({"adapt_epochs": USUAL} if on else {}))
        self._epochs, self._objective = QLineEdit(), combo()
        self._epochs.textEdited.connect(lambda _text: self._set(self.values()))
        self._objective.activated.connect(lambda _at: self._set(self.values()))
        self._epochs_field = Field(_("Epochs of adaptation"), self._epochs)
        self._fields = row(
            (self._epochs_field, 2), (Field(_("Objective"), self._objective), 3), gap=12
        )
        self._fields.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(self.check)
        layout.addWidget(self._fields)

    def values(self) -> dict[str, str]:
        """Settings that differ from the defaults."""
        if not self.check.isChecked() or not self.check.isEnabled():
            return {}
        chosen = self._objective.currentData()
        values = {"adapt_epochs": self._epochs.text().strip() or USUAL}
        return {**values, "adapt_objective": str(chosen)} if chosen else values

    def _set(self, own: dict[str, str]) -> None:
        others = {
            name: value
            for name, value in self.state.values.items()
            if name not in ("adapt_epochs", "adapt_objective")
        }
        self.state.set_values({**others, **own})

    def render(self) -> None:
        state, values = self.state, self.state.values
        known = state.adaptations
        on = values.get("adapt_epochs", "0") not in ("", "0")
        self.check.setEnabled(bool(known))
        self.check.setChecked(on and bool(known))
        message = _(
            "First trains the language model on all texts of the project, labelled or not, except "
            "those of test."
        )
        missing = _("This model is not a language model, so it cannot be adapted.")
        escaping.set_tip(self.check, message if known else missing)
        self._fields.setVisible(on and bool(known))
        if not on:
            return
        if self._epochs.text().strip() != values["adapt_epochs"]:
            self._epochs.setText(values["adapt_epochs"])
        self._epochs_field.set_error(state.errors.get("adapt_epochs", ""))
        usual = ("", _("Automatic"))
        fill(self._objective, (usual, *known), values.get("adapt_objective", ""))
