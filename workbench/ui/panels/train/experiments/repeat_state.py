"""State of Seeds and folds: systems that are trained repeatedly, their runs and intervals."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.operations.evaluation import folds
from workbench.operations.experiments import repeat
from workbench.operations.experiments.repeat import Repeat, RepeatSpec, System
from workbench.operations.runs import teachers
from workbench.ui.project.experiment_state import ExperimentState, seeds_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.operations.experiments.experiment import Row
    from workbench.storage.runs.runs import Run
    from workbench.training.spec import TrainSpec
    from workbench.ui.panel import PanelContext

FOLDS = (0, 3, 5, 10)  # offered; 0: the splits as they are
LABELS = "repeat-label-errors"  # key of the task


class RepeatState(ExperimentState):
    """`systems`, `seeds` (as typed), `folds` and `teacher`, the name of a run, are the choices."""

    work: Repeat | None

    def __init__(self, context: PanelContext) -> None:
        super().__init__(context)
        self.systems: tuple[System, ...] = ()
        self.seeds, self.folds, self.teacher = "1, 2, 3", 0, ""
        self.runs: tuple[Run, ...] = ()  # whose settings can be added

    def refresh(self) -> None:
        """Read the runs again; at first, continue the last experiment."""
        if self.active:
            return
        self.update(runs=repeat.offered(self.project))
        last = None if self.systems else repeat.last(self.project)
        if last is not None:
            seeds = ", ".join(map(str, last.seeds))
            choices = {"seeds": seeds, "folds": last.folds, "teacher": last.teacher}
            self.update(systems=last.systems, **choices)
        self._plan()

    def take(self, spec: TrainSpec) -> None:
        """Begin with the settings of a run, or of a run that is not yet started."""
        title = spec.name or spec.model_name or spec.model
        self.choose(systems=(System(title, spec),))

    def choose(self, **choices: Any) -> None:
        """Set `systems`, `seeds`, `folds` or `teacher`; not while runs are trained."""
        if not self.active:
            self.update(**choices)
            self._plan()

    def add(self, run: Run) -> None:
        """Compare the settings of a run as well."""
        system = self.context.attempt(repeat.system_of, run)
        if system is not None:
            self.choose(systems=(*self.systems, system))

    def drop(self, system: System) -> None:
        self.choose(systems=tuple(item for item in self.systems if item is not system))

    @property
    def addable(self) -> tuple[Run, ...]:
        """Runs that can be compared with the systems, newest first."""
        used = {system.title for system in self.systems}
        first = self.systems[0].spec if self.systems else None
        return tuple(
            run
            for run in self.runs
            if run.name not in used
            and (first is None or (run.spec.get("task"), run.layer) == (first.task, first.layer))
        )

    def _plan(self) -> None:
        self.plan(self._made)

    def _made(self) -> Repeat:
        if not (self.systems or self.runs):
            raise WorkbenchError(_("Train a model first: its settings are then repeated here."))
        choices = self.systems, seeds_of(self.seeds), self.folds, self.teacher
        return Repeat(self.project, RepeatSpec(*choices))

    @property
    def teachers(self) -> tuple[Run, ...]:
        """Runs that can teach the systems, newest first."""
        if not self.systems:
            return ()
        spec = self.systems[0].spec
        return teachers.offered(self.project, spec.info, spec.layer)

    @property
    def run_titles(self) -> Sequence[str]:
        """Of the runs of a system, in their order."""
        return repeat.repeat_titles(self.work.spec) if self.work else ()

    # ---------------------------------------------------------------- label errors

    def out_of_fold(self, row: Row) -> tuple[Run, ...]:
        """The runs on all folds of a system with one seed; () if some are missing."""
        return self.work.folds_of(row) if self.work else ()

    @property
    def can_find_label_errors(self) -> bool:
        return bool(self.rows) and bool(self.out_of_fold(self.rows[0]))

    def find_label_errors(self) -> None:
        """Rank the gold labels by the out-of-fold predictions of the first system."""
        if self.work is None or not self.can_find_label_errors:
            return
        layer, name = self.work.layer, self.out_of_fold(self.rows[0])[0].name
        measure = partial(folds.measure, self.project, self.context.queue, layer, model=name)
        show = partial(self.context.go, "results", label_errors=layer)
        self.context.task(LABELS, measure, lambda _measured: show())
