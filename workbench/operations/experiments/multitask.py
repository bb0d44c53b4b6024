"""Multi-task learning compared with training each layer alone, and with tuning it again afterwards
(Liu et al. 2019, MT-DNN, tables 2 and 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _
from workbench.metrics.gain import gain
from workbench.operations.experiments import experiment
from workbench.operations.experiments.experiment import DONE, Cell, Experiment, Row, ScoreText
from workbench.operations.runs import sources, train
from workbench.operations.runs.kinds.train.info import INFO
from workbench.storage.runs.runs import Listing
from workbench.tasks import spec as tasks
from workbench.text.columns import Column, ValueKind
from workbench.training.general import ALSO, SELECT_OVER, TASK_ALPHA
from workbench.training.spec import TrainSpec

if TYPE_CHECKING:
    from workbench.jobs.events import Finished
    from workbench.project.project import Project

ALONE, TOGETHER, TUNED = "alone", "together", "tuned"
OF_SEVERAL = (ALSO.name, TASK_ALPHA.name, SELECT_OVER.name)  # settings of several layers


@dataclass(frozen=True)
class Treatment:
    """How a layer is trained."""

    id: str
    title: str


TREATMENTS = (
    Treatment(ALONE, N_("alone")),
    Treatment(TOGETHER, N_("together")),
    Treatment(TUNED, N_("together, then alone")),
)


class Multitask(Experiment):
    """Groups are the treatments of each layer; those of one task alone have the settings of the run
    without its other layers.

    target: the settings of a run on several layers. Raises SpecError for one on a single layer.
    """

    def __init__(self, project: Project, target: TrainSpec, seeds: Sequence[int] = (1, 2, 3)):
        self.target = train.with_tasks(project, target)
        self.seeds, self.layer = tuple(seeds), target.layer
        if not self.target.others:
            raise SpecError(
                _("{name} is trained on one layer only.", name=target.name or target.layer),
                hint=_("Choose a run on several layers, see the setting “Also train on”."),
            )
        self.parts = (
            self.target,
            *(self.target.of_other(n) for n in range(len(self.target.others))),
        )
        super().__init__(project, self._first_cells(), task=target.task)
        if cells := self.more():
            self.cells = (*self.cells, *cells)
            self._reuse()

    def _first_cells(self) -> list[Cell]:
        cells = [
            self._cell(part, ALONE, seed, _alone(part))
            for part in self.parts
            for seed in self.seeds
        ]
        together = [self._cell(p, TOGETHER, seed, p) for seed in self.seeds for p in self.parts]
        return [*cells, *together]

    def _cell(self, part: TrainSpec, treatment: str, seed: int, spec: TrainSpec) -> Cell:
        title = _title(part.layer, treatment)
        name = _("{layer}, seed {seed}", layer=title, seed=seed)
        listing = Listing(_("Multi-task of {run}", run=self.target.name), archived=True)
        own = replace(spec, seed=seed, name="", with_test=False)
        group = f"{treatment}-{part.layer}"
        return Cell(group, title, treatment, seed, INFO.id, own, name, listing=listing)

    @property
    def total(self) -> int:
        return len(self.parts) * len(self.seeds) * len(TREATMENTS)

    @property
    def complete(self) -> bool:
        return len(self.cells) == self.total

    def more(self) -> Sequence[Cell]:
        """The layers that are tuned from the models that were trained together."""
        together = [cell for cell in self.cells if cell.series == TOGETHER]
        if self.complete or any(cell.status != DONE for cell in together):
            return ()
        cells = []
        for cell in together:
            if cell.run is not None:
                model = sources.of_run(self.project, cell.run)
                spec = replace(_alone(cell.spec), model=model.path, model_name=model.name)
                cells.append(self._cell(cell.spec, TUNED, cell.seed, spec))
        return cells

    def _ended(self, cell: Cell, event: Finished) -> None:
        super()._ended(cell, event)
        if cell.series != TOGETHER:
            return
        # those tuned from an earlier run begin with other weights
        self.cells = tuple(cell for cell in self.cells if cell.series != TUNED)
        self._reuse(self._data)  # the same job has trained the other layers

    # ---------------------------------------------------------------- results

    def score_of(self, cell: Cell) -> float | None:
        """The main score of the task of its layer."""
        if cell.run is None or cell.status != DONE:
            return None
        value: float | None = cell.run.scores.get(self.split, {}).get(_main(cell))
        return value

    @property
    def rows(self) -> tuple[Row, ...]:
        """By layer, each treatment."""
        by_group: dict[str, list[Cell]] = {}
        for cell in self.cells:
            by_group.setdefault(cell.group, []).append(cell)
        groups = [f"{item.id}-{part.layer}" for part in self.parts for item in TREATMENTS]
        return tuple(
            Row(group, cells[0].title, {"": self._summary(cells)})
            for group in groups
            if (cells := by_group.get(group))
        )

    def delta(self, row: Row) -> float | None:
        """Gain of a mean over that of the layer alone; None for the layer alone itself."""
        cell = row.first.cells[0]
        alone = f"{ALONE}-{cell.spec.layer}"
        before = next(item.first.mean for item in self.rows if item.group == alone)
        if cell.series == ALONE:
            return None
        change = gain(row.first.mean, before, is_error=tasks.is_error(_main(cell)))
        return change.absolute if change else None

    def columns(self, text: ScoreText | None = None) -> tuple[Column, ...]:
        """Of the rows; each score is shown as that of its task."""
        return (
            Column(_("Layer"), lambda row: row.title),
            Column(_("Score"), lambda row: tasks.score_title(_main(row.first.cells[0]))),
            Column(_("Mean"), kind=ValueKind.SHARE, display=_mean),
            Column(
                _("Over alone"),
                kind=ValueKind.SHARE,
                display=lambda row: _signed(row, self.delta(row)),
            ),
            experiment.minutes_column(),
        )

    @property
    def reading(self) -> str:
        """How the table is read."""
        return _(
            "Alone: a model for each layer. Together: one encoder for all layers, and a head for "
            "each. Together, then alone: that encoder is fine-tuned on each layer again (Liu et "
            "al. 2019)."
        )

    def report(self) -> dict[str, Any]:
        """The experiment in machine-readable form; scores are fractions of 1, but for errors."""
        return {
            "status": self.status,
            "split": self.split,
            "model": self.target.model_name or self.target.model,
            "seeds": list(self.seeds),
            "rows": [
                {
                    "layer": row.first.cells[0].spec.layer,
                    "task": row.first.cells[0].spec.task,
                    "treatment": row.first.cells[0].series,
                    "title": row.title,
                    "score": _main(row.first.cells[0]),
                    "over_alone": self.delta(row),
                    **experiment.to_json(self, row.first),
                }
                for row in self.rows
            ],
        }


def _title(layer: str, treatment: str) -> str:
    titles = {item.id: _(item.title) for item in TREATMENTS}
    return _("{layer} {treatment}", layer=layer, treatment=titles[treatment])


def _alone(spec: TrainSpec) -> TrainSpec:
    options = {name: value for name, value in spec.options.items() if name not in OF_SEVERAL}
    return replace(spec, options=options)


def _main(cell: Cell) -> str:
    return tasks.info(cell.spec.task).main


def _mean(row: Row) -> str | None:
    main = _main(row.first.cells[0])
    if row.first.mean is None:
        return None
    mean = tasks.score_text(main, row.first.mean)
    return mean if row.first.sd is None else f"{mean} ± {tasks.score_text(main, row.first.sd)}"


def _signed(row: Row, value: float | None) -> str | None:
    if value is None:
        return None
    return tasks.score_text(_main(row.first.cells[0]), value, signed=True)
