"""Meter: a thin progress bar. Tile: a number with its title and a hint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFrame, QProgressBar, QVBoxLayout, QWidget

from workbench.ui.style import escaping
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import row

if TYPE_CHECKING:
    from PySide6.QtWidgets import QLabel


class Meter(QProgressBar):
    """A fraction between 0 and 1; None shows indeterminate progress."""

    def __init__(self, share: float | None = 0.0, *, name: str):
        super().__init__()
        self.setTextVisible(False)
        self.setFixedHeight(6)
        self.setAccessibleName(name)
        self.set(share)

    def set(self, share: float | None) -> None:
        if share is None:
            self.setRange(0, 0)
        else:
            self.setRange(0, 1000)
            self.setValue(round(1000 * min(max(share, 0.0), 1.0)))


class Tile(QFrame):
    """A number in large type: title above, hint below.

    `control` replaces the number (a button, for instance).
    """

    def __init__(
        self,
        name: str,
        value: str = "",
        hint: str = "",
        *,
        tip: str = "",
        control: QWidget | None = None,
    ):
        super().__init__()
        self.setProperty("part", "card")
        self._name = words(name, "small", "muted")
        self._value, self._hint = (
            words(value, "title", weight=600),
            words(hint, "caption", "muted", wrap=True),
        )
        self.control = control
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 10, 14, 10)
        layout.setSpacing(2)
        layout.addWidget(self._name)
        layout.addWidget(self._value)
        if control is not None:
            layout.addWidget(row(control, None))
            self._value.hide()
        layout.addWidget(self._hint)
        layout.addStretch(1)
        escaping.set_tip(self, tip)

    def set(self, value: str, hint: str | None = None, name: str | None = None) -> None:
        """Show a number; it replaces the control."""
        self._value.setText(value)
        self._value.setVisible(bool(value) or self.control is None)
        if self.control is not None:
            self.control.setVisible(not value)
        if hint is not None:
            self._hint.setText(hint)
        if name is not None:
            self._name.setText(name)

    def value(self) -> str:
        return self._value.text()


def number(name: str, value: str = "–", hint: str = "") -> tuple[QFrame, QLabel, QLabel]:
    """A small number without a card: (frame, value label, hint label)."""
    from workbench.ui.widgets.layout import column

    figure, unit = words(value, "title", weight=600), words(hint, "small", "muted")
    return (
        column(words(name, "small", "muted"), row(figure, unit, None, gap=6), gap=1),
        figure,
        unit,
    )
