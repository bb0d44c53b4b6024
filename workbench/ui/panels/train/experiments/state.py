"""State of the experiments on the Train page: which one is shown, and the state of each. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from workbench.base.events import State
from workbench.base.i18n import N_
from workbench.ui.panels.train.experiments.curves_state import CurvesState
from workbench.ui.panels.train.experiments.ladder_state import LadderState
from workbench.ui.panels.train.experiments.layers_state import LayersState
from workbench.ui.panels.train.experiments.repeat_state import RepeatState
from workbench.ui.panels.train.experiments.search_state import SearchState

if TYPE_CHECKING:
    from workbench.training.spec import TrainSpec
    from workbench.ui.panel import PanelContext
    from workbench.ui.project.experiment_state import ExperimentState

LADDER, SEARCH, CURVES = "ladder", "search", "curves"
REPEAT, LAYERS = "repeat", "layers"
# in the order of the page
TITLES = {
    LADDER: N_("Ladder"),
    SEARCH: N_("Search"),
    CURVES: N_("Learning curves"),
    REPEAT: N_("Seeds and folds"),
    LAYERS: N_("Layers"),
}
STATES: Mapping[str, Callable[[PanelContext], ExperimentState]] = {
    LADDER: LadderState,
    SEARCH: SearchState,
    CURVES: CurvesState,
    REPEAT: RepeatState,
    LAYERS: LayersState,
}


class Experiments(State):
    """`shown`: whether experiments are shown in place of runs; `current`: the id of one."""

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context = context
        self.shown, self.current = False, LADDER
        self._parts: dict[str, ExperimentState] = {}

    def part(self, id: str) -> ExperimentState:
        """The state of an experiment; created on first use."""
        if id not in self._parts:
            self._parts[id] = STATES[id](self.context)
            self._parts[id].others = tuple(TITLES)
        return self._parts[id]

    def show(self, on: bool, id: str = "", spec: TrainSpec | None = None) -> None:
        """Show an experiment, by default the last one, or runs. spec: settings to begin with."""
        current = id or self.current
        if on and not (self.shown and current == self.current):
            self.part(current).refresh()
        if spec is not None:
            self.part(current).take(spec)
        self.update(shown=on, current=current)

    def refresh(self) -> None:
        """Read again what the one that is shown depends on."""
        self.part(self.current).refresh()

    def close(self) -> None:
        for part in self._parts.values():
            part.close()
        super().close()
