"""Advice on texts without spaces between words, with the segmenter that finds their words."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QVBoxLayout

from workbench.base.i18n import _
from workbench.text.segmenters.base import DEFAULT, OPTION
from workbench.ui.panels.train.state import TrainState
from workbench.ui.widgets.button import Button
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.layout import row


class WordAdvice(QFrame):
    """Shown while no segmenter is chosen; its button chooses one that is installed."""

    def __init__(self, state: TrainState):
        super().__init__()
        self.state = state
        self._message = Callout(tone="warn")
        self.choose = Button(small=True, on=self._choose)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self._message)
        layout.addWidget(row(self.choose, None))

    def render(self) -> None:
        advice = self.state.words
        is_chosen = self.state.values.get(OPTION, DEFAULT) != DEFAULT
        self._message.set(advice.message if advice is not None else "")
        self.setVisible(advice is not None and not is_chosen)
        remedy = advice.remedy if advice is not None else ""
        self.choose.set_text(_("Use {segmenter}").format(segmenter=remedy))
        self.choose.setVisible(bool(remedy))

    def _choose(self) -> None:
        if (advice := self.state.words) is not None:
            self.state.set_values({**self.state.values, OPTION: advice.remedy})
