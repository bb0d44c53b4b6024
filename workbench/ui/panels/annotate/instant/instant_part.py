"""The instant model below the queue: whether it is on, what it has learned, and its actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFrame, QVBoxLayout

from workbench.base.i18n import _
from workbench.ui.style import escaping
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.key_cap import follow_tip
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import line, row

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.instant.instant import InstantTool


class InstantPart(QFrame):
    """Hidden where no selected layer can be learned."""

    def __init__(self, tool: InstantTool) -> None:
        super().__init__()
        self.tool = tool
        self._state = words("", "small", "muted")
        self._line = words("", "small", "muted", wrap=True)
        self._switch = Button("", small=True, on=tool.toggle)
        key = ("annotate.instant", "Ctrl+Shift+D")
        follow_tip(self._switch, "", tool.context.settings, *key)
        self._curve = Button(
            _("Learning curve"), "activity", "quiet", small=True, on=self.show_learning
        )
        self._keep = Button(
            _("Keep suggestions"),
            kind="quiet",
            small=True,
            on=tool.keep,
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

    def show_learning(self) -> None:
        """Open the dialog with the learning curves."""
        from workbench.ui.panels.annotate.instant.learning_dialog import LearningDialog

        LearningDialog(self.window(), self.tool).exec()

    def compact(self, compact: bool) -> None:
        """In a low window with large text, show what it has learned only as a tooltip."""
        self._lines.setHidden(compact)

    def render(self) -> None:
        tool = self.tool
        self.setVisible(tool.can_toggle and not tool.session.errors)
        is_on = tool.model is not None
        self._state.setText(_("on") if is_on else _("off"))
        self._line.setText(tool.line)
        escaping.set_tip(self._state, tool.line)
        self._switch.set_text(_("Turn off") if is_on else _("Turn on"))
        self._switch.setVisible(is_on or not tool.session.project.read_only)
        self._curve.setVisible(is_on)
        self._keep.setVisible(tool.can_keep)
