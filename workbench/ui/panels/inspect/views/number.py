"""The predicted number beside gold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.style import formats
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import card, layout_of, row

if TYPE_CHECKING:
    from workbench.ui.panels.inspect.inspector_state import InspectorState


class NumberView(InspectorView):
    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._value = words("", "heading", weight=600)
        self._gold = words("", "ui", "muted", wrap=True)
        title = words(_("Predicted number"), weight=600)
        layout_of(self).addWidget(card(row(title, None), self._value, self._gold, None, gap=8))

    def clear(self) -> None:
        self._value.setText("")
        self._gold.setText("")

    def show_result(self, result: Any) -> None:
        self._value.setText(formats.decimal(result.value, 3))
        gold = self.page.gold.number if self.page.gold is not None else None
        if gold is None:
            self._gold.setText(_("No gold to compare with"))
            return
        message = _("Gold: {gold}. Difference: {difference}.")
        difference = formats.decimal(result.value - gold, 3, signed=True)
        self._gold.setText(message.format(gold=formats.significant(gold), difference=difference))
