"""What the boxes and tabs of the Prompts page have in common."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QFrame, QWidget

from workbench.base.events import State
from workbench.base.i18n import _
from workbench.ui.widgets.controls.spin import SpinBox


class Part(QFrame):
    """A box on the left or a tab on the right. It sees the states that it is made with, not the
    page; `render_part` gets the fields of `states` that have changed, ALL at first.
    """

    states: tuple[State, ...] = ()

    def render_part(self, fields: frozenset[str]) -> None:
        """Show these fields of the states."""
        raise NotImplementedError


class Tab(Part):
    """side: what is shown on the left in place of the boxes, None to keep them. buttons: what is
    shown beside the tabs.
    """

    side: QWidget | None = None
    buttons: QWidget | None = None


class SampleBox(SpinBox):
    """The number of documents that are asked about, 0 for all. `changed` gets what a user sets."""

    def __init__(self, changed: Callable[[int], object]):
        super().__init__(0, 1_000_000)
        self.setSpecialValueText(_("all"))
        self.setKeyboardTracking(False)
        self.setAccessibleName(_("Documents of dev"))
        self.valueChanged.connect(changed)

    def show_sample(self, documents: int) -> None:
        blocked = self.blockSignals(True)
        self.setValue(documents)
        self.blockSignals(blocked)
