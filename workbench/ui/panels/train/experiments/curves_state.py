"""State of the learning curves on the Train page: choices, runs, and what is read off. No Qt."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.operations.experiments import curves
from workbench.operations.experiments.curves import Curves, CurvesSpec
from workbench.operations.experiments.experiment import DONE
from workbench.operations.experiments.ladder_rungs import named
from workbench.tasks import spec as tasks
from workbench.text import columns
from workbench.ui.panels.train.experiments.ladder_state import LadderState
from workbench.ui.style import formats

if TYPE_CHECKING:
    from workbench.metrics.learning_curve import ReadOff
    from workbench.operations.experiments.curves import CurveRow, CurvesResult
    from workbench.operations.experiments.ladder import LadderSpec
    from workbench.operations.experiments.ladder_rungs import Rung
    from workbench.ui.panel import PanelContext

PLAN, MEASURE = "curves-plan", "curves-measure"  # tasks
LABELS, STEPS = "labels", "steps"  # what the curves are over
FEW = ("random", "frozen-bert", "bert", "adapted")  # systems that are always offered
MORE_DRAWS, MOST_DRAWS = 5, curves.MOST_DRAWS
SHIFT = 0.01  # of the target by an arrow key, as a fraction of one or of an error


class CurvesState(LadderState):
    """`sizes` (as typed), `draws` and `score` are choices of the runs.

    system, target, reference: what is read off, for which score, and compared with what; "" and
    None for what the scores suggest. axis: LABELS or STEPS. have: documents of the layer in train,
    0 until they are counted. result: of the finished runs, None until it is computed.
    """

    work: Curves | None

    def __init__(self, context: PanelContext) -> None:
        super().__init__(context)
        self.rungs = named((), curves.SYSTEMS)
        self.sizes, self.draws, self.score = "", curves.DRAWS, ""
        self.system, self.reference, self.axis = "", "", LABELS
        self.target: float | None = None
        self.have = 0
        self.result: CurvesResult | None = None
        self._measured: tuple[Any, ...] = ()  # what `result` is of
        self._starts = False  # as soon as the runs are planned

    def last(self, layer: str = "") -> CurvesSpec | None:
        return curves.last(self.project, layer)

    def adopt(self, spec: LadderSpec) -> None:
        super().adopt(spec)
        if isinstance(spec, CurvesSpec):
            sizes = ", ".join(map(str, spec.sizes))
            self.update(sizes=sizes, draws=len(spec.seeds), score=spec.score)

    def choose(self, **choices: Any) -> None:
        if "layer" in choices and choices["layer"] != self.layer and not self.active:
            self.update(sizes="", score="", target=None, system="", reference="")
        super().choose(**choices)

    @property
    def all_rungs(self) -> str:
        return _("All systems")

    @property
    def number_of_rungs(self) -> str:
        return _("Systems: {n} of {total}", n=len(self.rungs), total=len(self.offered))

    @property
    def few(self) -> tuple[Rung, ...]:
        """The chosen systems and those that are usual, in their order."""
        chosen = (rung for rung in self.offered if rung in self.rungs or rung.id in FEW)
        return tuple(chosen)

    @property
    def scores(self) -> tuple[tuple[str, str], ...]:
        """(name, title) of the scores of the task, the main one first."""
        if self.work is None:
            return ()
        info = tasks.info(self.work.task)
        names = dict.fromkeys((info.main, *(score.name for score in info.scores)))
        return tuple((name, tasks.score_title(name)) for name in names)

    # ---------------------------------------------------------------- which runs

    def make(self) -> None:
        """Count the documents and find the runs, off the main thread."""
        self.context.drop(MEASURE)
        try:
            spec = super().spec()
        except WorkbenchError as error:
            self.update(work=None, result=None, error=str(error))
            return
        self.context.task(
            PLAN,
            partial(self._planned, spec, self.sizes, self.draws, self.score),
            self._take_plan,
            failed=self._refuse,
        )

    def _planned(self, spec: LadderSpec, sizes: str, draws: int, score: str) -> tuple[int, Curves]:
        have = curves.train_size(self.project, spec.task, spec.layer)
        known = {item.name for item in tasks.info(spec.task).scores}
        chosen = CurvesSpec(
            spec.task,
            spec.layer,
            spec.rungs,
            tuple(range(1, draws + 1)),
            settings=spec.settings,
            parts=spec.parts,
            sizes=curves.sizes_in(sizes, have),
            score=score if score in known else "",
        )
        return have, Curves(self.project, chosen, settings=self.context.settings)

    def _take_plan(self, planned: tuple[int, Curves]) -> None:
        have, work = planned
        sizes = ", ".join(map(str, work.spec.sizes))
        self.update(have=have, sizes=sizes)
        self.plan(lambda: work)
        work.changed.connect(self._stepped)
        self._measure()
        if self._starts:
            self._starts = False
            self.start()

    def _refuse(self, error: Exception) -> None:
        self._starts = False
        if not isinstance(error, WorkbenchError):
            self.context.fail(error)
        hint = error.hint if isinstance(error, WorkbenchError) else ""
        self.update(work=None, result=None, error=f"{error} {hint}".strip())

    def add_draws(self) -> None:
        """More random parts of train, and their runs."""
        if not self.active and self.work is not None:
            self._starts = True
            self.choose(draws=min(self.draws + MORE_DRAWS, MOST_DRAWS))

    # ---------------------------------------------------------------- results

    def _stepped(self) -> None:
        if self._state_of_runs() != self._measured:
            self._measure()

    def _state_of_runs(self) -> tuple[Any, ...]:
        done = sum(cell.status == DONE for cell in self.cells)
        return self.work, done, self.reference

    def _measure(self) -> None:
        """Curves and fits, off the main thread."""
        if self.work is None:
            return
        self._measured = self._state_of_runs()
        reference = self.reference if self.reference in self.work.rungs else ""
        work = partial(self.work.measure, reference)
        self.context.task(MEASURE, work, lambda result: self.update(result=result))

    def show(self, **view: Any) -> None:
        """Set `system`, `reference`, `target` or `axis`."""
        self.update(**view)
        if "reference" in view:
            self._measure()

    @property
    def is_error(self) -> bool:
        """Whether a lower score is better."""
        return self.work is not None and self.work.is_error

    @property
    def goal(self) -> float | None:
        """The target, by default a little more than the best score."""
        if self.target is not None or self.result is None:
            return self.target
        return curves.usual_target(self.result, is_error=self.is_error)

    def shift(self, by: int) -> None:
        """Move the target by points; an error by hundredths of itself."""
        goal = self.goal
        if goal is None:
            return
        if self.is_error:
            self.show(target=goal * (1 + SHIFT * by))
        else:
            self.show(target=min(1.0, max(0.0, round(goal + SHIFT * by, 4))))

    @property
    def read(self) -> CurveRow | None:
        """The system that is read off, by default the best one."""
        if self.result is None:
            return None
        best = curves.best(self.result, is_error=self.is_error)
        chosen = self.result.row(self.system)
        return chosen if chosen is not None and chosen.curve is not None else self.result.row(best)

    @property
    def sentence(self) -> str:
        """What the chosen system needs; "" without a finished run."""
        row, goal = self.read, self.goal
        if self.work is None or self.result is None or row is None or goal is None:
            return ""
        return curves.verdict(self.work, self.result, row.system, goal, self.have)

    def needed(self, row: CurveRow) -> tuple[ReadOff, str] | None:
        """The labels that a system needs for the target, also as text; None without a curve."""
        if self.goal is None or row.curve is None:
            return None
        needed = row.needed(self.goal)
        return needed, curves.needed_text(needed, int(row.curve.sizes[0]))

    def reason(self, row: CurveRow) -> str:
        """Why the labels of a system are unknown, "" if they are not."""
        return "" if self.goal is None else curves.reason(row, row.needed(self.goal))

    @property
    def reasons(self) -> str:
        """Why labels of systems are unknown, a line each."""
        if self.result is None:
            return ""
        lines = [
            _("{title}: {message}", title=row.title, message=why)
            for row in self.result.rows
            if row.curve is not None and (why := self.reason(row))
        ]
        return "\n".join(lines)

    @property
    def columns_of_curves(self) -> dict[str, columns.Column]:
        if self.work is None or self.result is None:
            return {}
        described = curves.columns(self.work, self.result, self.goal, self.score_text)
        return columns.by_key(described)

    def size_text(self, cells: Any) -> str:
        """The mean score of a system at a number of labels, or how far its draws are."""
        known = [cell for cell in cells if cell.status == DONE]
        running = next((cell for cell in cells if cell.run and cell.status == "running"), None)
        if running is not None:
            return self.cell_text(running)
        if known and len(known) == len(cells):
            scores = [self.work.score_of(cell) or 0.0 for cell in known] if self.work else [0.0]
            return self.score_text(sum(scores) / len(scores))
        return _("{done} of {n}", done=len(known), n=len(cells)) if known else "–"

    # ---------------------------------------------------------------- actions

    def save_table(self, path: Path) -> None:
        """As JSON with the runs, as Markdown or as CSV, by the suffix. Raises WorkbenchError."""
        if self.work is None or self.result is None:
            return
        described = curves.columns(self.work, self.result, self.goal)
        suffix = path.suffix.lower()
        if suffix == ".json":
            self.save(path, curves.to_json(self.work, self.result, self.goal))
            return
        try:
            if suffix == ".md":
                text = columns.markdown(described, self.result.rows)
                path.write_text(text + "\n", encoding="utf-8")
            else:
                columns.write_delimited(path, columns.cells(described, self.result.rows))
        except OSError as error:
            message = _("{file} cannot be written: {error}.", file=path, error=error.strerror)
            raise WorkbenchError(message) from None

    @property
    def group(self) -> str:
        """The group of the runs in Results, "" before the first."""
        listed = (cell.run.listing.group for cell in self.cells if cell.run is not None)
        return next((group for group in listed if group), "")

    def show_runs(self) -> None:
        """List the runs on the Results page; they are archived."""
        self.context.go("results", group=self.group)

    def open_point(self, system: str, size: int) -> None:
        """Show the first run of a point on the Results page."""
        cells = (cell for cell in self.cells if (cell.group, cell.series) == (system, str(size)))
        self.open_run(next((cell for cell in cells if cell.run is not None), None))

    def adapt(self) -> None:
        """Open pretraining, to adapt the model to the unlabelled texts."""
        self.context.go("train", pretrain=True)

    @property
    def took(self) -> str:
        """The time of all runs as text; "" without one."""
        seconds = [cell.run.seconds for cell in self.cells if cell.run and cell.run.seconds]
        return _("took {time}", time=formats.duration(sum(seconds))) if seconds else ""

    @property
    def about_plot(self) -> str:
        """Documents of dev, and what the band is."""
        n = self.work.used.get("dev", 0) if self.work is not None else 0
        draws = ngettext(
            "mean and range over {n} draw", "mean and range over {n} draws", self.draws
        )
        documents = ngettext("{n} document of dev", "{n} documents of dev", n)
        return f"{documents}, {draws}" if n else draws
