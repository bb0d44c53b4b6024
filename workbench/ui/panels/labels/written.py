"""Guidelines that are being written, kept until they are stored. No Qt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.operations.schema import labels
from workbench.ui.project.unsaved import UnsavedText

if TYPE_CHECKING:
    from workbench.ui.panels.labels.state import LabelsState


class Guidelines:
    """`written`: layer id → text that is not stored yet."""

    def __init__(self, state: LabelsState) -> None:
        self._state = state
        self.written: dict[int, str] = {}

    def of(self, layer_id: int, stored: str) -> str:
        """The guideline of a layer, also if it could not be stored."""
        return self.written.get(layer_id, stored)

    def store(self) -> WorkbenchError | None:
        """See `ui.project.unsaved`."""
        failed = None
        stored = {row.id: row.layer.guideline for row in self._state.layers}
        for layer_id, text in list(self.written.items()):
            try:
                if stored.get(layer_id, text) != text:  # else the layer was deleted meanwhile
                    labels.set_guideline(self._state.project, layer_id, text, origin=self._state)
            except WorkbenchError as error:
                failed = error
            else:
                self.written.pop(layer_id, None)
        return failed

    def unsaved(self) -> tuple[UnsavedText, ...]:
        names = {row.id: row.layer.name for row in self._state.layers}
        place = _("guideline of layer {layer}")
        return tuple(
            UnsavedText(place.format(layer=names[id]), text)
            for id, text in self.written.items()
            if id in names
        )
