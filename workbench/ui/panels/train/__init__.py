"""Train: task, model and options of a new run; live progress of the current one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _
from workbench.base.registry import registry
from workbench.ui.commands import Command
from workbench.ui.panel import Panel
from workbench.ui.shell.window_commands import can_write, has_documents

if TYPE_CHECKING:
    from workbench.storage.runs.runs import Run
    from workbench.training.spec import TrainSpec
    from workbench.ui.panel import PanelContext
    from workbench.ui.panels.train.experiments.state import Experiments
    from workbench.ui.panels.train.pretrain_state import PretrainState
    from workbench.ui.panels.train.state import TrainState
    from workbench.ui.panels.train.view import TrainView
    from workbench.ui.shell.window import Window


def _can_start(panel: TrainPanel) -> bool:
    return panel.state.ready or panel.state.working_out


def _start(panel: TrainPanel) -> None:
    from workbench.ui.dialogs import consent

    if consent.may_run(panel.state.needed_consent()):
        panel.state.start_soon()


def _may_start(window: Window) -> bool:
    """Whether there is any training data, before the page has computed the details."""
    project = window.app.project
    if project is None or not can_write(window) or not has_documents(window):
        return False
    from workbench.operations.runs import training_data
    from workbench.tasks import spec as tasks

    by_task = training_data.fitting_by_task(project, [task.id for task in tasks.all_tasks()])
    return any(count for layers in by_task.values() for _layer, count in layers)


class TrainPanel(Panel):
    """Runs continue in the background while other pages are shown."""

    state: TrainState
    pretrain: PretrainState
    experiments: Experiments
    view: TrainView

    shows_predictions = True
    commands = (
        Command(
            "train.start",
            lambda panel: (
                _("&Queue another run") if panel and panel.state.running else _("&Start training")
            ),
            _start,
            "Run",
            "Ctrl+R",
            name=_("Start training"),
            enabled=_can_start,
            anywhere=True,
            possible=_may_start,
        ),
        Command(
            "train.repeat",
            _("Repeat with seeds or &folds…"),
            lambda panel: panel.repeat(),
            "Run",
            enabled=lambda panel: panel.state.ready,
        ),
        Command(
            "train.stop",
            _("Stop and &keep best"),
            lambda panel: panel.state.stop(),
            "Run",
            "Ctrl+Shift+K",
            enabled=lambda panel: panel.state.running,
        ),
        Command(
            "train.cancel",
            _("&Cancel training"),
            lambda panel: panel.state.cancel(),
            "Run",
            enabled=lambda panel: panel.state.running,
        ),
    )

    def build(self, context: PanelContext) -> tuple[TrainState, Callable[[], TrainView]]:
        from workbench.ui.panels.train.experiments.state import Experiments
        from workbench.ui.panels.train.pretrain_state import PretrainState
        from workbench.ui.panels.train.state import TrainState
        from workbench.ui.panels.train.view import TrainView

        state = TrainState(context)
        self.pretrain = PretrainState(context)
        self.experiments = Experiments(context)
        state.listen(registry().changed, self._plugins_changed)
        return state, lambda: TrainView(state, self.pretrain, self.experiments)

    def shown(
        self,
        *,
        model: str = "",
        spec: TrainSpec | None = None,
        experiment: str = "",
        pretrain: bool = False,
        source: Run | None = None,
        **_args: Any,
    ) -> None:
        if spec is not None or model or experiment or source is not None:
            self.pretrain.show(False)
            self.experiments.show(bool(experiment), experiment, spec if experiment else None)
        elif self.experiments.shown and not pretrain:
            self.experiments.refresh()  # labels and runs may have changed on other pages
        if pretrain:
            self.experiments.show(False)
            self.pretrain.show(True)
        if spec is not None and not experiment:
            self.state.take(spec)
        elif source is not None:
            self.state.context.attempt(self.state.start_from, source)
        elif model:
            self.state.choose_model(model)
        self.state.refresh()

    def repeat(self) -> None:
        """Show the experiment that trains the present settings with several seeds, or on folds."""
        if self.state.ready:
            self.shown(experiment="repeat", spec=self.state.spec())

    def _plugins_changed(self) -> None:
        """Read tasks, models, methods and objectives again."""
        if self.state.values.get("method", "") not in ("", *registry().ids("method")):
            self.state.set_values({})
        for part in (self.pretrain, self.experiments):
            if part.shown:
                part.refresh()
        self.state.refresh()

    def close(self) -> None:
        self.pretrain.close()
        self.experiments.close()
        super().close()
