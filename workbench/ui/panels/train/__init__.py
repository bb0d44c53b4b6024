"""Train: what, from which model, how; the run under way, live."""

from __future__ import annotations

from workbench.base.i18n import _
from workbench.ui.commands import Command
from workbench.ui.panel import Panel


class TrainPanel(Panel):
    """Runs go on in the background whatever page is shown."""

    commands = (
        Command("train.start", _("&Start training"), lambda panel: panel.state.start(), "Run", "Ctrl+R", enabled=lambda panel: panel.state.ready),
        Command("train.stop", _("Stop and &keep best"), lambda panel: panel.state.stop(), "Run", "Ctrl+Shift+K", enabled=lambda panel: panel.state.running),
        Command("train.cancel", _("&Cancel training"), lambda panel: panel.state.cancel(), "Run", enabled=lambda panel: panel.state.running),
    )  # fmt: skip

    def build(self, context):
        from workbench.ui.panels.train.state import TrainState
        from workbench.ui.panels.train.view import TrainView

        state = TrainState(context)
        return state, TrainView(state)

    def shown(self, *, model: str = "", spec=None, **_args) -> None:
        if spec is not None:
            self.state.take(spec)
        elif model:
            self.state.choose_model(model)
        self.state.look()
