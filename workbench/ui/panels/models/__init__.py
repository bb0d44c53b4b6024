"""Models: pretrained models for training and inspection, and how to add more."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _
from workbench.ui.commands import Command
from workbench.ui.panel import Panel

if TYPE_CHECKING:
    from workbench.ui.panel import PanelContext
    from workbench.ui.panels.models.state import ModelsState
    from workbench.ui.panels.models.view import ModelsView


class ModelsPanel(Panel):
    state: ModelsState
    view: ModelsView

    needs_project = False
    commands = (
        Command(
            "models.add",
            _("Add &model from folder…"),
            lambda panel: panel.view.ask_folder(),
            "File",
            group="models",
            anywhere=True,
        ),
        Command(
            "models.download",
            _("Do&wnload model by id…"),
            lambda panel: panel.view.ask_id(),
            "File",
            group="models",
            anywhere=True,
        ),
        Command(
            "models.tokenizers",
            _("&Tokenizers…"),
            lambda panel: panel.view.ask_tokenizers(),
            "View",
            group="models",
        ),
        Command(
            "models.again",
            _("Rescan models"),
            lambda panel: panel.state.refresh(),
            "View",
            "F5",
            group="models",
        ),
    )

    def build(self, context: PanelContext) -> tuple[ModelsState, Callable[[], ModelsView]]:
        from workbench.ui.panels.models.state import ModelsState
        from workbench.ui.panels.models.view import ModelsView

        state = ModelsState(context)
        return state, lambda: ModelsView(state)

    def shown(self, *, model: str = "", **_args: Any) -> None:
        if model:
            self.state.show_model(model)
        else:
            self.state.refresh()
