"""Prompts: a few-shot prompt, shown exactly as the model receives it and evaluated like a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _
from workbench.ui.commands import Command
from workbench.ui.panel import Panel

if TYPE_CHECKING:
    from workbench.ui.panel import PanelContext
    from workbench.ui.panels.prompts.state import PromptsState
    from workbench.ui.panels.prompts.view import PromptsView


class PromptsPanel(Panel):
    """A run on dev continues in the background while other pages are shown."""

    state: PromptsState
    view: PromptsView

    shows_predictions = True
    commands = (
        Command(
            "prompts.run",
            _("&Run on dev"),
            lambda panel: panel.view.run_on_dev(),
            "Run",
            ("Ctrl+R", "Ctrl+Return"),
            enabled=lambda panel: panel.state.run.ready,
        ),
        Command(
            "prompts.try",
            _("&Try on this text"),
            lambda panel: panel.view.try_text(),
            "Run",
            "F5",
            enabled=lambda panel: panel.state.preview.prompt is not None,
        ),
        Command(
            "prompts.next",
            _("&Next text"),
            lambda panel: panel.state.preview.step(1),
            "Run",
            "Ctrl+Right",
            enabled=lambda panel: panel.state.preview.dev > 1,
        ),
        Command(
            "prompts.previous",
            _("&Previous text"),
            lambda panel: panel.state.preview.step(-1),
            "Run",
            "Ctrl+Left",
            enabled=lambda panel: panel.state.preview.dev > 1,
        ),
        Command(
            "prompts.stop",
            _("&Stop prompt run"),
            lambda panel: panel.state.run.stop(),
            "Run",
            enabled=lambda panel: panel.state.run.running,
        ),
    )

    def build(self, context: PanelContext) -> tuple[PromptsState, Callable[[], PromptsView]]:
        from workbench.ui.panels.prompts.state import PromptsState
        from workbench.ui.panels.prompts.view import PromptsView

        state = PromptsState(context)
        return state, lambda: PromptsView(state)

    _new = True  # the state has just loaded the project

    def shown(
        self, place: Mapping[str, Any] | None = None, example: int | None = None, **_args: Any
    ) -> None:
        if not self._new:
            self.state.refresh()
        self._new = False
        if place is not None:
            self.state.restore(place)
        if example is not None:
            self.state.show("preview")
            self.state.examples.use(example)

    def place(self) -> dict[str, Any]:
        return {"place": self.state.place}
