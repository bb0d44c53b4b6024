"""The question for how many epochs a training that has ended is continued."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from workbench.base.i18n import _, ngettext
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField
from workbench.ui.widgets.controls.spin import SpinBox
from workbench.ui.widgets.dialog import Dialog


class MoreEpochs(Dialog):
    """How many epochs a training that has ended is continued for."""

    def __init__(self, parent: QWidget, name: str, trained: int, most: int) -> None:
        """name: of the run. trained: how many epochs are done, of at most `most`."""
        title = _("Continue “{name}”", name=name)
        hint = ngettext(
            "{n} epoch is trained. The run continues in its own row, with the labels that it began "
            "with; its scores are replaced.",
            "{n} epochs are trained. The run continues in its own row, with the labels that it "
            "began with; its scores are replaced.",
            trained,
        )
        super().__init__(parent, title, hint, width=440)
        self._epochs = SpinBox(min(trained + 1, most), most)
        self._epochs.setValue(min(2 * trained, most))
        about = _("The learning rate follows the schedule of this number from here on.")
        self.put(TitledField(_("Epochs of the whole training"), self._epochs, about))
        back = Button(_("Go back"), on=self.reject)
        self.end(None, back, Button(_("Continue"), "play", "primary", on=self.accept))
        self._epochs.setFocus()

    @property
    def epochs(self) -> int:
        return self._epochs.value()
