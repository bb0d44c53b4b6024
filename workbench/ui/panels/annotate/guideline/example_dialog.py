"""Add to the guideline: the label, whether it is an example of it, and a remark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLineEdit, QWidget

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.controls.field import TitledField, chosen_value, combo
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.layout import row

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.guideline.guideline import Case, GuidelineTool
    from workbench.ui.panels.annotate.session import SpanTarget

MOST = 240  # characters of the words that are shown


class ExampleDialog(Dialog):
    """Stays open if the words are an example already. Ctrl+Enter adds."""

    def __init__(
        self,
        parent: QWidget,
        tool: GuidelineTool,
        target: SpanTarget | None,
        *,
        case: Case | None = None,
        positive: bool = True,
    ) -> None:
        hint = _("An example is a line of the guideline, below the heading of its label.")
        super().__init__(parent, _("Add to the guideline"), hint, width=480)
        self._tool, self._positive = tool, positive
        self._cases = tool.cases(target)
        several = len({each.layer.name for each in self._cases}) > 1
        names = [
            (at, f"{each.label.name} ({each.layer.name})" if several else each.label.name)
            for at, each in enumerate(self._cases)
        ]
        chosen = next((at for at, each in enumerate(self._cases) if each == case), 0)
        self.label = combo(names, value=chosen, name=_("Label"))
        self.sign = Segments(
            (True, _("Example")),
            (False, _("Counterexample")),
            value=positive,
            name=_("Kind of example"),
        )
        self.sign.chosen.connect(self._set_sign)
        excerpt = tool.excerpt(target)
        excerpt = excerpt if len(excerpt) <= MOST else f"{excerpt[:MOST]}…"
        self.remark = QLineEdit(" ".join(tool.remark.split()))
        self.remark.setPlaceholderText(_("Optional: why it is one"))
        self.put(
            words(f"“{excerpt}”", wrap=True),
            row((TitledField(_("Label"), self.label), 1), self.sign, gap=12),
            TitledField(_("Remark"), self.remark),
        )
        add = Button(_("Add"), "plus", "primary", on=self.add)
        add.setDefault(True)
        self.end(None, Button(_("Cancel"), on=self.reject), add)
        self.label.setFocus()

    def _set_sign(self, positive: object) -> None:
        self._positive = bool(positive)

    def add(self) -> None:
        case = self._cases[chosen_value(self.label)]
        try:
            self._tool.add(case, positive=self._positive, remark=self.remark.text())
        except WorkbenchError as error:
            self.fault(str(error))
        else:
            self.accept()
