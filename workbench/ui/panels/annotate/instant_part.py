"""The instant model at the bottom of the queue: on or off, what it has learned, its curve."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFrame, QVBoxLayout

from workbench.base.i18n import _
from workbench.ui.style import escaping
from workbench.ui.widgets.button import Button
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.key_cap import follow_tip
from workbench.ui.widgets.layout import line, row
from workbench.ui.widgets.words import words

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.actions import AnnotateActions


class InstantPart(QFrame):
    """Hidden where no selected layer can be learned."""

    def __init__(self, state: AnnotateActions, show_learning: Callable[[], None]) -> None:
        super().__init__()
        self.state = state
        self._state = words("", "small", "muted")
        self._line = words("", "small", "muted", wrap=True)
        self._switch = Button("", small=True, on=state.toggle_instant)
        key = ("annotate.instant", "Ctrl+Shift+D")
        follow_tip(self._switch, "", state.context.settings, *key)
        self._curve = Button(_("Learning curve"), "activity", "quiet", small=True, on=show_learning)
        self._keep = Button(
            _("Keep suggestions"),
            kind="quiet",
            small=True,
            on=state.keep_instant,
            tip=_("Store its suggestions for all unfinished documents (one undo step)"),
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(line())
        title = words(_("Instant model"), "small", weight=600)
        layout.addWidget(row(title, None, self._state, margins=(14, 2, 14, 0)))
        self._lines = row((self._line, 1), margins=(14, 0, 14, 0))
        layout.addWidget(self._lines)
        layout.addWidget(
            row((flow(self._switch, self._curve, self._keep, gap=4), 1), margins=(14, 0, 14, 10))
        )

    def compact(self, compact: bool) -> None:
        """In a low window with large text, show what it has learned only as a tooltip."""
        self._lines.setHidden(compact)

    def render(self) -> None:
        state = self.state
        self.setVisible(state.can_instant and not state.errors)
        is_on = state.instant is not None
        self._state.setText(_("on") if is_on else _("off"))
        self._line.setText(state.instant_line)
        escaping.set_tip(self._state, state.instant_line)
        self._switch.set_text(_("Turn off") if is_on else _("Turn on"))
        self._switch.setVisible(is_on or not state.project.read_only)
        self._curve.setVisible(is_on)
        self._keep.setVisible(state.can_keep_instant)
