"""Labels: layers, their labels, and the guideline of each layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _
from workbench.ui.commands import Command
from workbench.ui.panel import Panel
from workbench.ui.shell.window_commands import can_write

if TYPE_CHECKING:
    from workbench.ui.panel import PanelContext
    from workbench.ui.panels.labels.state import LabelsState
    from workbench.ui.panels.labels.view import LabelsView


class LabelsPanel(Panel):
    state: LabelsState
    view: LabelsView

    commands = (
        Command(
            "labels.layer",
            _("Add &layer…"),
            lambda panel: panel.view.ask_layer(),
            "Labels",
            enabled=lambda panel: panel.state.editable,
            group="schema",
            anywhere=True,
            possible=can_write,
        ),
        Command(
            "labels.add",
            _("&Add label"),
            lambda panel: panel.view.ask_label(),
            "Labels",
            "Ctrl+Shift+L",
            enabled=lambda panel: panel.state.can_add,
            group="schema",
        ),
        Command(
            "labels.up",
            _("Move label &up"),
            lambda panel: panel.state.groups.move(-1),
            "Labels",
            "Alt+Up",
            enabled=lambda panel: panel.state.groups.can_move(-1),
            group="schema",
        ),
        Command(
            "labels.down",
            _("Move label &down"),
            lambda panel: panel.state.groups.move(1),
            "Labels",
            "Alt+Down",
            enabled=lambda panel: panel.state.groups.can_move(1),
            group="schema",
        ),
        Command(
            "labels.indent",
            _("Make sublabel of the label above"),
            lambda panel: panel.state.groups.indent(),
            "Labels",
            "Ctrl+]",
            enabled=lambda panel: panel.state.groups.parent_above is not None,
            group="schema",
        ),
        Command(
            "labels.outdent",
            _("Remove from the parent label"),
            lambda panel: panel.state.groups.outdent(),
            "Labels",
            "Ctrl+[",
            enabled=lambda panel: panel.state.groups.can_outdent,
            group="schema",
        ),
        Command(
            "labels.merge",
            _("Merge labels…"),
            lambda panel: panel.view.ask_change("merge"),
            "Labels",
            enabled=lambda panel: panel.state.can_merge,
            group="schema",
        ),
        Command(
            "labels.split",
            _("Split label…"),
            lambda panel: panel.view.ask_change("split"),
            "Labels",
            enabled=lambda panel: panel.state.can_split,
            group="schema",
        ),
        Command(
            "labels.relocate",
            _("Move to another layer…"),
            lambda panel: panel.view.ask_change("move"),
            "Labels",
            enabled=lambda panel: panel.state.can_relocate,
            group="schema",
        ),
        Command("labels.edit", _("Edit cell"), keys="F2", shown_only=True),
        Command("labels.delete", _("Delete label"), keys="Delete", shown_only=True),
    )

    def build(self, context: PanelContext) -> tuple[LabelsState, Callable[[], LabelsView]]:
        from workbench.ui.panels.labels.state import LabelsState
        from workbench.ui.panels.labels.view import LabelsView

        state = LabelsState(context)
        return state, lambda: LabelsView(state)

    def shown(self, *, layer: int | None = None, **_args: Any) -> None:
        self.state.refresh()
        if layer is not None:
            self.state.choose_layer(layer)

    def close(self) -> None:
        self.view.save_guideline()
        super().close()
