"""Export: a run's model as folders for other programs, checked against the original model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _
from workbench.ui.commands import Command
from workbench.ui.panel import Panel

if TYPE_CHECKING:
    from workbench.ui.panel import PanelContext
    from workbench.ui.panels.export.state import ExportState
    from workbench.ui.panels.export.view import ExportView


class ExportPanel(Panel):
    state: ExportState
    view: ExportView

    commands = (
        Command(
            "export.start",
            _("&Export model"),
            lambda p: p.state.start(),
            "Run",
            "Ctrl+Return",
            enabled=lambda p: p.state.ready,
            group="export",
        ),
        Command(
            "export.folder",
            _("Open exported &folder"),
            lambda p: p.view.checks.open_folder(),
            "Run",
            enabled=lambda p: bool(p.state.result),
            group="export",
        ),
        Command(
            "export.code",
            _("&Copy loading code"),
            lambda p: p.view.checks.copy_code(),
            "Run",
            enabled=lambda p: bool(p.state.result),
            group="export",
        ),
    )

    def build(self, context: PanelContext) -> tuple[ExportState, Callable[[], ExportView]]:
        from workbench.ui.panels.export.state import ExportState
        from workbench.ui.panels.export.view import ExportView

        state = ExportState(context)
        return state, lambda: ExportView(state)

    def shown(self, *, run: int | None = None, **_args: Any) -> None:
        self.state.refresh()
        if run is not None:
            self.state.choose(run)
