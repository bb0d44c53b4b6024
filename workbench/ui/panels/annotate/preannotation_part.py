"""Below the order of the queue: which run pre-annotates the next documents, and how far it is."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QMenu, QWidget

from workbench.base.i18n import _
from workbench.ui.commands import Choice
from workbench.ui.style import escaping
from workbench.ui.widgets import context_menu
from workbench.ui.widgets.button import icon_button
from workbench.ui.widgets.key_cap import with_key
from workbench.ui.widgets.words import Elided

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.actions import AnnotateActions


class PreannotationPart:
    """`button`: with a menu of the runs. `line`: how many of the next documents are predicted."""

    def __init__(self, state: AnnotateActions, parent: QWidget) -> None:
        self.state = state
        self.menu = QMenu(parent)
        self.menu.setAccessibleName(_("Pre-annotate with"))
        self.menu.aboutToShow.connect(self._fill)
        self.button = icon_button("sparkles", _("Pre-annotate"), self.popup, small=True)
        self.line = Elided("", "small", "muted")

    def popup(self) -> None:
        """Open the menu by key."""
        self.menu.popup(self.button.mapToGlobal(self.button.rect().bottomLeft()))

    def _fill(self) -> None:
        choices = self.state.ahead_choices
        if not choices:
            none = _("No run of the selected layers yet. Train one.")
            context_menu.fill(self.menu, (Choice(none, enabled=False),))
            return
        layers = {
            choice.layer: tuple(
                Choice(
                    escaping.menu_text(title),
                    partial(self.state.choose_ahead, choice.layer, run),
                    enabled=run not in choice.refused,
                    on=run == choice.chosen,
                    tip=choice.refused.get(run or 0, ""),
                )
                for run, title in choice.runs
            )
            for choice in choices
        }
        found: tuple[Choice | None, ...] = (
            next(iter(layers.values()))
            if len(layers) == 1
            else tuple(Choice(escaping.menu_text(name), choices=of) for name, of in layers.items())
        )
        if self.state.ahead_failed:
            found = (*found, None, Choice(_("&Try again"), self.state.retry_ahead))
        context_menu.fill(self.menu, found)

    def render(self) -> None:
        state = self.state
        shown = state.can_ahead and not state.errors
        self.button.setVisible(shown)
        message = _("Pre-annotate: predict the next documents with a run before they are opened")
        key = ("annotate.ahead", "Ctrl+Shift+Y")
        escaping.set_tip(self.button, with_key(message, state.context.settings, *key))
        self.line.setVisible(shown and bool(state.ahead_line))
        self.line.setText(state.ahead_line)
        self.line.tip = state.ahead_tip
