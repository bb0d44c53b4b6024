"""Shows what a job is waiting for, with a button to run it first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QFrame, QHBoxLayout

from workbench.base.i18n import _
from workbench.ui.project.queue_position import QueuePosition
from workbench.ui.style import escaping, theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.words import IconLabel, words

WIDEST = 220  # maximum width of the name of the job waited for, pixels at 100%


class WaitLine(QFrame):
    """Hidden while the job of `waits` is not waiting."""

    def __init__(self, waits: QueuePosition):
        super().__init__()
        self._waits = waits
        self._message = words("", "small", "muted")
        self._first = first_button(waits.run_first)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        for part in (IconLabel("clock", "muted", 15), self._message, self._first):
            layout.addWidget(part)
        waits.listen(waits.changed, lambda _fields: self._show())
        self.destroyed.connect(lambda *_gone: waits.close())
        self._show()

    def text(self) -> str:
        return "" if self.isHidden() else self._message.text()

    def _show(self) -> None:
        message = waiting_for(self._waits.behind)
        self._message.setText(message)
        escaping.set_tip(self._message, self._waits.behind)
        self._first.setVisible(self._waits.can_run_first)
        self.setVisible(bool(message))


def first_button(act: Callable[..., Any]) -> Button:
    return Button(
        _("Run first"),
        small=True,
        on=act,
        tip=_(
            "Start before other jobs. A prediction starts immediately, in parallel with the "
            "running job."
        ),
    )


def waiting_for(name: str) -> str:
    """The message, with a long name elided in the middle; "" for no name."""
    metrics = QFontMetrics(theme.font("small"))
    elided = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, theme.px(WIDEST))
    return _("Waiting for {name}", name=elided) if name else ""
