"""Fields of a person: name, initials and colour."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QLineEdit

from workbench.base.i18n import _
from workbench.ui.style import theme
from workbench.ui.widgets.controls.field import TitledField
from workbench.ui.widgets.controls.swatches import Swatches
from workbench.ui.widgets.layout import fill, fixed, row

LONGEST_NAME, LONGEST_INITIALS = 80, 4  # characters


class PersonFields(QFrame):
    """`changed` is emitted when one of the values has changed, `entered` on Enter in a field."""

    changed = Signal()
    entered = Signal()

    def __init__(self, name: str = "", initials: str = "", colour: str = "") -> None:
        super().__init__()
        self._colour = colour
        self.name, self.initials, self.swatches = QLineEdit(name), QLineEdit(initials), Swatches()
        self.name.setMaxLength(LONGEST_NAME)
        self.name.setPlaceholderText(_("Your name"))
        self.initials.setMaxLength(LONGEST_INITIALS)
        self.initials.setPlaceholderText(_("Automatic"))
        self.swatches.set(colour)
        self._name = TitledField(_("Name"), self.name)
        initials_field = TitledField(_("Initials"), fixed(self.initials, theme.px(96)))
        colours = TitledField(_("Colour"), self.swatches)
        fill(self, row((self._name, 1), initials_field, gap=12), colours, gap=10)
        self.name.textChanged.connect(self._edited)
        self.initials.textChanged.connect(self._edited)
        self.swatches.picked.connect(self._pick)
        for line in (self.name, self.initials):
            line.returnPressed.connect(self.entered.emit)

    @property
    def values(self) -> dict[str, str]:
        """name, initials and colour."""
        initials = self.initials.text().strip()
        return {"name": self.name.text(), "initials": initials, "colour": self._colour}

    def set_error(self, message: str) -> None:
        """Show an error in the name."""
        self._name.set_error(message)

    def _edited(self) -> None:
        self._name.set_error("")
        self.changed.emit()

    def _pick(self, colour: str) -> None:
        self._colour = colour
        self.swatches.set(colour)
        self.changed.emit()
