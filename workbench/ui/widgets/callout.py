"""Callout and warning: one sentence with an icon on a soft ground; never a dialog for a remark."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from workbench.base.i18n import _
from workbench.ui.widgets.button import icon_button
from workbench.ui.widgets.words import IconLabel, set_tone, words

ICONS = {"accent": "info", "good": "circle-check", "warn": "triangle-alert", "bad": "circle-x"}


class Callout(QFrame):
    """`tone`: accent (a remark), good, warn, bad. Actions stand at the right; `closable` adds a cross."""

    def __init__(self, text: str = "", tone: str = "accent", *actions: QWidget, icon: str = "", closable: bool = False):
        super().__init__()
        self.setProperty("part", "callout")
        self.setProperty("tone", tone)
        self._own_icon = icon
        self._icon = IconLabel(icon or ICONS[tone], tone, 16)
        self._words = words(text, "small", wrap=True, select=True)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 9, 12, 9)
        layout.setSpacing(9)
        layout.addWidget(self._icon)
        layout.addWidget(self._words, 1)
        for action in actions:
            layout.addWidget(action)
        if closable:
            layout.addWidget(icon_button("x", _("Close message"), self.hide, small=True))

    def set(self, text: str, tone: str = "") -> None:
        """Change the sentence; an empty one hides the callout."""
        self._words.setText(text)
        if tone:
            set_tone(self, tone)
            self._icon.set(self._own_icon or ICONS[tone], tone)
        self.setVisible(bool(text))

    def text(self) -> str:
        return self._words.text()
