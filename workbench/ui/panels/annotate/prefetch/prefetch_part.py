"""The button that chooses runs for pre-annotation, and what it has done."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QMenu, QWidget

from workbench.base.i18n import _
from workbench.ui.commands import MenuChoice
from workbench.ui.style import escaping
from workbench.ui.widgets.controls.button import icon_button
from workbench.ui.widgets.controls.key_cap import with_key
from workbench.ui.widgets.controls.words import Elided
from workbench.ui.widgets.text import context_menu

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.prefetch.prefetch import PrefetchTool


class PreannotationPart:
    """`button`: with a menu of the runs. `line`: how many of the next documents are predicted."""

    def __init__(self, tool: PrefetchTool, parent: QWidget) -> None:
        self.tool = tool
        self.menu = QMenu(parent)
        self.menu.setAccessibleName(_("Pre-annotate with"))
        self.menu.aboutToShow.connect(self._fill)
        self.button = icon_button("sparkles", _("Pre-annotate"), self.popup, small=True)
        self.line = Elided("", "small", "muted")

    def popup(self) -> None:
        """Open the menu by key."""
        self.menu.popup(self.button.mapToGlobal(self.button.rect().bottomLeft()))

    def _fill(self) -> None:
        choices = self.tool.choices
        if not choices:
            none = _("No run of the selected layers yet. Train one.")
            context_menu.fill(self.menu, (MenuChoice(none, enabled=False),))
            return
        layers = {
            choice.layer: tuple(
                MenuChoice(
                    escaping.menu_text(title),
                    partial(self.tool.choose, choice.layer, run),
                    enabled=run not in choice.refused,
                    on=run == choice.chosen,
                    tip=choice.refused.get(run or 0, ""),
                )
                for run, title in choice.runs
            )
            for choice in choices
        }
        entries: tuple[MenuChoice | None, ...] = (
            next(iter(layers.values()))
            if len(layers) == 1
            else tuple(
                MenuChoice(escaping.menu_text(name), choices=of) for name, of in layers.items()
            )
        )
        if self.tool.failed:
            entries = (*entries, None, MenuChoice(_("&Try again"), self.tool.retry))
        context_menu.fill(self.menu, entries)

    def render(self) -> None:
        tool = self.tool
        visible = tool.can_choose and not tool.session.errors
        self.button.setVisible(visible)
        message = _("Pre-annotate: predict the next documents with a run before they are opened")
        key = ("annotate.ahead", "Ctrl+Shift+Y")
        escaping.set_tip(self.button, with_key(message, tool.context.settings, *key))
        self.line.setVisible(visible and bool(tool.line))
        self.line.setText(tool.line)
        self.line.tip = tool.tip
