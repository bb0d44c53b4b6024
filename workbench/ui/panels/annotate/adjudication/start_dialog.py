"""Labels ▸ Adjudicate: who is compared, and in which layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QCheckBox, QVBoxLayout, QWidget

from workbench.base.i18n import _
from workbench.ui.style import escaping
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.layout import clear

if TYPE_CHECKING:
    from workbench.storage.annotation.people import Person
    from workbench.text.labels import Layer
    from workbench.ui.panels.annotate.adjudication.adjudication import AdjudicationTool


class StartDialog(Dialog):
    def __init__(self, parent: QWidget, tool: AdjudicationTool) -> None:
        hint = _(
            "The documents are shown with the labels of these people side by side. Labels on which "
            "all of them agree become gold without a decision, and so do layers that only one of "
            "them has labelled. The labels of the people themselves never change."
        )
        super().__init__(parent, _("Adjudicate"), hint, width=520)
        self._tool = tool
        self.people = _Choices(tool.participants(), [person.id for person in tool.people])
        self.layers = _Choices((), [])
        self._layers_title = words(_("Layers"), weight=600)
        self.put(words(_("People"), weight=600), self.people, self._layers_title, self.layers)
        self._start = Button(_("Adjudicate"), kind="primary", on=self._begin)
        self._start.setDefault(True)
        self.end(None, Button(_("Cancel"), on=self.reject), self._start)
        for box in self.people.boxes:
            box.toggled.connect(self._people_chosen)
        self._people_chosen()
        if self.people.boxes:
            self.people.boxes[0].setFocus()

    def _people_chosen(self, _on: bool = False) -> None:
        """Offer the layers that these people have labelled."""
        layers = self._tool.layers_of(self.people.chosen())
        on = [layer.id for layer in self._tool.layers if layer in layers]
        self.layers.set(layers, on)
        for box in self.layers.boxes:
            box.toggled.connect(self._check)
        self._layers_title.setVisible(bool(layers))
        self._check()

    def _check(self, _on: bool = False) -> None:
        few = len(self.people.chosen()) < 2
        self._start.setEnabled(not few and bool(self.layers.chosen()))
        self.fault(
            _("Adjudication needs two people who have submitted documents.") if few else "", "warn"
        )

    def _begin(self) -> None:
        self._tool.start(self.people.chosen(), self.layers.chosen())
        self.accept()


class _Choices(QWidget):
    """A check box for each person or layer; all are checked unless `on` has the ids of some."""

    def __init__(self, items: Sequence[Person] | Sequence[Layer], on: Sequence[int | None]) -> None:
        super().__init__()
        self.boxes: list[QCheckBox] = []
        self._items: Sequence[Person] | Sequence[Layer] = ()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4)
        self.set(items, on)

    def set(self, items: Sequence[Person] | Sequence[Layer], on: Sequence[int | None]) -> None:
        clear(self._column)
        self._items, self.boxes = items, []
        for item in items:
            box = QCheckBox(escaping.menu_text(item.name))
            box.setChecked(not on or item.id in on)
            self.boxes.append(box)
            self._column.addWidget(box)

    def chosen(self) -> list[Any]:
        return [item for item, box in zip(self._items, self.boxes, strict=True) if box.isChecked()]
