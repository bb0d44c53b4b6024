"""State of Layers: how transferable those of an encoder are, which ones a task reads, and layers of
labels that are trained together; each about one run.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import N_, _
from workbench.operations.experiments import repeat
from workbench.operations.experiments.layers import LayerWeights, Transfer, transfer_spec
from workbench.operations.experiments.multitask import Multitask
from workbench.operations.models import installed as models
from workbench.operations.runs import train
from workbench.ui.project.experiment_state import ExperimentState, seeds_of

if TYPE_CHECKING:
    from workbench.storage.runs.runs import Run
    from workbench.training.spec import TrainSpec
    from workbench.ui.panel import PanelContext

TRANSFER, WEIGHTS, MULTITASK = "transfer", "weights", "multitask"
KINDS = {
    TRANSFER: N_("Transferability"),
    WEIGHTS: N_("Layer weights"),
    MULTITASK: N_("Multi-task"),
}


class LayersState(ExperimentState):
    """`kind`: of KINDS; `run`: name of the target; `source`: name of a model or run, "" for the
    model of the target; `seeds` (as typed).
    """

    work: Transfer | LayerWeights | Multitask | None

    def __init__(self, context: PanelContext) -> None:
        super().__init__(context)
        self.kind, self.run, self.source, self.seeds = TRANSFER, "", "", "1, 2, 3"
        self.runs: tuple[Run, ...] = ()
        self.models: tuple[str, ...] = ()

    def refresh(self) -> None:
        if self.active:
            return
        runs = tuple(run for run in repeat.offered(self.project) if run.status == "done")
        cards = models.list(self.context.settings)
        usable = tuple(card.name for card in cards if card.usable and card.layers)
        self.update(runs=runs, models=usable)
        self._plan()

    def take(self, spec: TrainSpec) -> None:
        """Begin with a run."""
        if spec.name in [run.name for run in self.runs]:
            self.choose(run=spec.name)

    def choose(self, **choices: Any) -> None:
        """Set `kind`, `run`, `source` or `seeds`; not while runs are trained."""
        if not self.active:
            self.update(**choices)
            self._plan()

    @property
    def targets(self) -> tuple[Run, ...]:
        """The runs that the experiment can be about."""
        if self.kind != MULTITASK:
            return self.runs
        return tuple(run for run in self.runs if train.trained_with(self.project, run))

    @property
    def score_title(self) -> str:
        if self.kind == MULTITASK:
            return _("Main score of each layer on dev")
        return super().score_title

    @property
    def sources(self) -> tuple[str, ...]:
        """Models and runs that can be the source."""
        return (*self.models, *(run.name for run in self.runs if run.name != self.run))

    @property
    def transfer(self) -> Transfer | None:
        """The experiment, if it copies levels."""
        return self.work if isinstance(self.work, Transfer) else None

    def _plan(self) -> None:
        names = [run.name for run in self.targets]
        self.update(run=self.run if self.run in names else next(iter(names), ""))
        self.plan(self._made)

    def _made(self) -> Transfer | LayerWeights | Multitask:
        target = next((run for run in self.runs if run.name == self.run), None)
        if target is None and self.kind == MULTITASK:
            raise WorkbenchError(
                _("Train several layers together first: choose them at “Also train on”.")
            )
        if target is None:
            raise WorkbenchError(_("Train a model first: its layers are then measured here."))
        seeds = seeds_of(self.seeds)
        if self.kind == TRANSFER:
            return Transfer(
                self.project, transfer_spec(self.project, target, self.source, seeds=seeds)
            )
        settings = replace(repeat.system_of(target).spec, name=target.name)
        if self.kind == MULTITASK:
            return Multitask(self.project, settings, seeds)
        return LayerWeights(self.project, settings, seeds)
