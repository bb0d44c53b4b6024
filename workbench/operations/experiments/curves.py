"""Learning curves: systems trained on growing parts of the training documents of one layer.

The systems are rungs of the ladder. A draw is a random subset of train, shared by all systems, in
which smaller numbers of labels are parts of the larger ones and every class occurs. Dev is fixed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from statistics import fmean
from typing import TYPE_CHECKING, Any

from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.base.records import to_plain
from workbench.base.watch import QUIET, Watch
from workbench.metrics import learning_curve
from workbench.metrics.learning_curve import (
    Advantages,
    Answer,
    Doubt,
    Estimate,
    LearningCurve,
    ReadOff,
)
from workbench.operations.experiments import experiment, ladder
from workbench.operations.experiments.experiment import (
    DONE,
    BandPoint,
    BandSeries,
    Cell,
    ScoreText,
)
from workbench.operations.experiments.ladder import Ladder, LadderSpec
from workbench.operations.runs import training_data
from workbench.operations.runs.training_curves import training_curves
from workbench.storage.runs.runs import Listing
from workbench.tasks import spec as tasks
from workbench.text.columns import Column, ValueKind, record

if TYPE_CHECKING:
    from workbench.project.project import Project

FILE = "curves.json"  # with the last experiment on each layer
SYSTEMS = ("random", "frozen-bert", "bert")  # the usual ones
FIRST = (25, 50)  # numbers of labels, which double up to all of train
MORE = ("…", "...")  # the numbers go on
DRAWS = 3
MOST_DRAWS = 50


@dataclass(frozen=True)
class CurvesSpec(LadderSpec):
    """The description of an experiment. rungs: the systems. seeds: the draws; each is the seed of
    the sample and of the training.

    sizes: numbers of labels, ascending. score: "" for the main one of the task.
    """

    sizes: tuple[int, ...] = ()
    score: str = ""


def last(project: Project, layer: str = "") -> CurvesSpec | None:
    """The last experiment on a layer, on any layer by default; None if there is none."""
    return ladder.stored(project, FILE, CurvesSpec, layer)


def sizes_in(text: str, n: int) -> tuple[int, ...]:
    """`25, 50, 100, …` → numbers of labels up to n, the documents in train; "" for the usual ones.

    Raises SpecError for what is no such list, or for more than there are.
    """
    words = text.replace(",", " ").split()
    goes_on = not words or words[-1] in MORE
    try:
        numbers = sorted({n if word == "all" else int(word) for word in words if word not in MORE})
    except ValueError:
        numbers = [0]
    if any(number < 1 for number in numbers):
        raise SpecError(
            _("{text!r} is no list of numbers of labels.", text=text),
            hint=_("Separate them by commas, such as 25, 50, 100, …; all means all of train."),
        )
    if numbers and numbers[-1] > n:
        raise SpecError(
            ngettext(
                "Train has {n:,} document of this layer, fewer than {most:,}.",
                "Train has {n:,} documents of this layer, fewer than {most:,}.",
                n,
                most=numbers[-1],
            ),
            hint=_("Leave out larger numbers, or end the list with “…” to go up to all of train."),
        )
    return learning_curve.continued(numbers or FIRST, n) if goes_on else tuple(numbers)


class Curves(Ladder):
    """The experiment of a description: groups are systems, series numbers of labels."""

    spec: CurvesSpec
    file = FILE

    def planned(self) -> Sequence[Cell]:
        """Draw after draw, so that an experiment that is paused has whole curves."""
        cells, spec = super().planned(), self.spec
        return [
            _of_size(cell, size)
            for draw in spec.seeds
            for size in spec.sizes
            for cell in cells
            if cell.seed == draw
        ]

    def check(self) -> None:
        super().check()
        n = train_size(self.project, self.spec.task, self.spec.layer)
        sizes_in(", ".join(map(str, self.spec.sizes)), n)

    @property
    def score(self) -> str:
        return self.spec.score or super().score

    @property
    def is_error(self) -> bool:
        """Whether a lower score is better."""
        return tasks.is_error(self.score)

    def cost(self, cell: Cell) -> float:
        return 100.0 + int(cell.series)  # a start and the evaluations cost about 100 documents

    def measure(self, reference: str = "", watch: Watch = QUIET) -> CurvesResult:
        """Curves of the finished runs. Not for the main thread.

        reference: the system that the others are compared with, the first one by default.
        """
        scores: dict[str, dict[int, dict[int, float]]] = {id: {} for id in self.rungs}
        for cell in self.cells:
            score = self.score_of(cell)
            if score is not None and math.isfinite(score):
                scores[cell.group].setdefault(int(cell.series), {})[cell.seed] = score
        fitted = learning_curve.learning_curves(scores, is_error=self.is_error)
        watch.at(0.5)
        base = fitted.get(reference or next(iter(self.rungs)))
        rows = tuple(self._row(id, fitted.get(id), base) for id in self.rungs)
        size = self._most_shared()
        first = next(iter(self.rungs))
        return CurvesResult(rows, self._over_steps(size), reference or first, size)

    def _row(self, id: str, curve: LearningCurve | None, base: LearningCurve | None) -> CurveRow:
        cells = [cell for cell in self.cells if cell.group == id]
        seconds = [cell.run.seconds for cell in cells if cell.run and cell.run.seconds]
        over = None if curve is None or base is None or curve is base else curve.over(base)
        message = next((cell.message for cell in cells if cell.message), "")
        return CurveRow(
            id, cells[0].title, self.input_of(id), curve, over, sum(seconds) or None, message
        )

    def _most_shared(self) -> int:
        """The largest number of labels that all systems with a run have; 0 without a run."""
        done = {(cell.group, cell.series) for cell in self.cells if cell.status == DONE}
        systems = {group for group, _size in done}
        shared = (n for n in self.spec.sizes if all((id, str(n)) in done for id in systems))
        return max(shared, default=0) if systems else 0

    def _over_steps(self, size: int) -> tuple[BandSeries, ...]:
        """The score on dev at each evaluation of the runs with a number of labels; at the steps
        that all draws of a system have.
        """
        done = [cell for cell in self.cells if cell.status == DONE and cell.run is not None]
        series = []
        for id in self.rungs:
            chosen = [cell for cell in done if (cell.group, cell.series) == (id, str(size))]
            lines = [line for cell in chosen if (line := self._evaluated(cell))]
            steps = sorted(set.intersection(*map(set, lines))) if lines else []
            points = [
                BandPoint(step, fmean(values), min(values), max(values))
                for step in steps
                if (values := [line[step] for line in lines])
            ]
            if points:
                series.append(BandSeries(chosen[0].title, id, tuple(points)))
        return tuple(series)

    def _evaluated(self, cell: Cell) -> dict[int, float]:
        """Step → score of a run."""
        curves = None if cell.run is None else training_curves(self.project, cell.run.id)
        if curves is None or self.score not in curves.scores:
            return {}
        return dict(zip(*curves.scores[self.score], strict=True))


def train_size(project: Project, task: str, layer: str) -> int:
    """The documents of train that can be used. Not for the main thread."""
    plan = training_data.plan(project, task, layer)
    if plan.problem:
        raise WorkbenchError(plan.problem)
    return plan.used["train"]


def _of_size(cell: Cell, size: int) -> Cell:
    if cell.spec is None:
        return replace(cell, series=str(size))
    options = {**cell.spec.options, "train_limit": size, "train_sample": "every_class"}
    return replace(
        cell,
        series=str(size),
        spec=replace(cell.spec, options=options),
        name=f"curves-{cell.group}-{size}-{cell.seed}",
        listing=Listing(group=_("Learning curves"), archived=True),
    )


# ---------------------------------------------------------------- results


@dataclass(frozen=True, eq=False)
class CurveRow:
    """A system. over: what it has over the reference, None for the reference itself. seconds: of
    all runs. message: why a run failed, or none can run.
    """

    system: str
    title: str
    source: str
    curve: LearningCurve | None = None
    over: Advantages | None = None
    seconds: float | None = None
    message: str = ""

    def needed(self, target: float) -> ReadOff:
        """The labels needed for a score."""
        return self.curve.labels_for(target) if self.curve else ReadOff(Answer.UNKNOWN)

    @property
    def series(self) -> BandSeries:
        """The measured curve over numbers of labels."""
        curve = self.curve
        points = (
            ()
            if curve is None
            else zip(curve.sizes, curve.mean, curve.low, curve.high, strict=True)
        )
        return BandSeries(
            self.title,
            self.system,
            tuple(BandPoint(int(n), *map(float, values)) for n, *values in points),
        )


@dataclass(frozen=True, eq=False)
class CurvesResult:
    """over_steps: scores during the trainings with `steps_at` labels, the most that all systems
    have. reference: a system.
    """

    rows: tuple[CurveRow, ...]
    over_steps: tuple[BandSeries, ...] = ()
    reference: str = ""
    steps_at: int = 0

    def row(self, system: str) -> CurveRow | None:
        return next((row for row in self.rows if row.system == system), None)

    def steps_for(self, system: str, target: float, *, is_error: bool = False) -> int | None:
        """The first step whose mean score reaches the target; None if none does."""
        for series in self.over_steps:
            if series.kind == system:
                left = takewhile(
                    lambda point: point.mean > target if is_error else point.mean < target,
                    series.points,
                )
                later = series.points[len([*left]) :]
                return later[0].x if later else None
        return None


def best(result: CurvesResult, *, is_error: bool = False) -> str:
    """The system with the best score at its largest number of labels; "" without one."""
    ends = {row.system: float(row.curve.mean[-1]) for row in result.rows if row.curve is not None}
    return (min if is_error else max)(ends, key=lambda id: ends[id], default="")


def usual_target(result: CurvesResult, *, is_error: bool = False) -> float | None:
    """A score that is a little better than the best one measured; None without one."""
    row = result.row(best(result, is_error=is_error))
    if row is None or row.curve is None:
        return None
    end = float(row.curve.mean[-1])
    return 0.9 * end if is_error else min(0.99, math.ceil(100 * end + 1) / 100)


def rounded(n: float) -> int:
    """A number of labels in two digits, as precise as a read-off is."""
    digits = max(0, math.floor(math.log10(max(n, 1))) - 1)
    return int(round(n / 10**digits) * 10**digits)


def needed_text(needed: ReadOff, first: int) -> str:
    """A read-off for a table. first: the smallest measured number."""
    if needed.answer is Answer.NEVER:
        return _("never")
    if needed.answer is Answer.REACHED:
        return _("fewer than {n:,}", n=first)
    if needed.answer is Answer.UNKNOWN or needed.labels is None:
        return _("unknown")
    about = {"n": rounded(needed.labels), "low": rounded(needed.low or 1)}
    if needed.high is None:
        return _("{n:,} (at least {low:,})", **about)
    return _("{n:,} ({low:,} – {high:,})", **about, high=rounded(needed.high))


def reason(row: CurveRow, needed: ReadOff) -> str:
    """Why a read-off is unknown, as a sentence; "" if it is not."""
    curve = row.curve
    if needed.answer is not Answer.UNKNOWN:
        return ""
    if curve is None:
        return row.message or _("No run is finished.")
    if needed.doubt is Doubt.FEW_SIZES:
        return ngettext(
            "A fit needs {least} numbers of labels, there is {n}.",
            "A fit needs {least} numbers of labels, there are {n}.",
            len(curve.sizes),
            least=learning_curve.LEAST_SIZES,
        )
    if needed.doubt is Doubt.FEW_DRAWS:
        return _("An interval needs at least two draws.")
    if needed.doubt is Doubt.FLAT:
        return _("The score does not get better with more labels.")
    if needed.doubt is Doubt.POOR_FIT:
        return _(
            "The power law fits poorly: it misses the means by {points} on average, more than the "
            "draws explain.",
            points=f"{curve.misfit:.3f}" if curve.is_error else f"{100 * curve.misfit:.1f}",
        )
    if needed.doubt is Doubt.NEAR_ASYMPTOTE:
        if needed.low is None:
            return _("The target is at the asymptote.")
        return _(
            "The target is within the interval of the asymptote; if it is ever reached, the labels "
            "needed are {low:,} or more.",
            low=rounded(needed.low),
        )
    return _(
        "The largest measured number of labels would have to grow more than {reach}-fold.",
        reach=learning_curve.REACH,
    )


def verdict(work: Curves, result: CurvesResult, system: str, target: float, have: int) -> str:
    """What a system needs for the target, in one or two sentences. have: documents in train."""
    row = result.row(system)
    if row is None or row.curve is None:
        return _("No run is finished.")
    needed = row.needed(target)
    about = {
        "target": tasks.score_text(work.score, target),
        "system": row.title,
        "n": needed_text(needed, int(row.curve.sizes[0])),
        "have": have,
    }
    if needed.answer is Answer.NEVER:
        sentence = _(
            "The asymptote of {system} is below {target}, which it never reaches.", **about
        )
        if work.is_error:
            sentence = _(
                "The asymptote of {system} is above {target}, which it never reaches.", **about
            )
    elif needed.answer is Answer.UNKNOWN:
        sentence = _(
            "Labels needed for {target} with {system}: unknown. {why}",
            **about,
            why=reason(row, needed),
        )
    else:
        sentence = _("Labels needed for {target} with {system}: {n}; train has {have:,}.", **about)
    cheapest = _cheapest(result, target)
    if cheapest is None or cheapest[0].system == system or needed.answer is Answer.REACHED:
        return sentence
    other, labels = cheapest
    if needed.answer is not Answer.LABELS or needed.labels is None:
        more = _("{other} needs about {n:,}.", other=other.title, n=rounded(labels))
    elif needed.labels - labels >= 1:
        fewer = rounded(needed.labels - labels)
        more = _("{other} needs about {n:,} fewer.", other=other.title, n=fewer)
    else:
        return sentence
    return f"{sentence} {more}"


def _cheapest(result: CurvesResult, target: float) -> tuple[CurveRow, float] | None:
    """The system that needs the fewest labels, and how many."""
    known = [
        (row, needed.labels)
        for row in result.rows
        if (needed := row.needed(target)).answer is Answer.LABELS and needed.labels is not None
    ]
    return min(known, key=lambda pair: pair[1], default=None)


# ---------------------------------------------------------------- tables


def columns(
    work: Curves, result: CurvesResult, target: float | None, score: ScoreText | None = None
) -> tuple[Column, ...]:
    """Of `CurveRow`. target: the score to read off. score: text of one, by default in percent or
    its own unit.
    """
    score_text = score or partial(tasks.score_text, work.score)
    base = result.row(result.reference)
    title = base.title if base is not None else ""

    def text(value: float | None, *, signed: bool = False) -> str | None:
        return None if value is None else score_text(value, signed=signed)

    def of(name: str, key: str, heading: str, hint: str, *, signed: bool = False) -> list[Column]:
        """A property of the curves, with the ends of its interval for programs."""

        def value(row: CurveRow) -> Estimate | None:
            return getattr(row.curve, name) if row.curve is not None else None

        def display(row: CurveRow) -> str | None:
            known = value(row)
            if known is None or known.low is None or known.high is None:
                return None if known is None else text(known.value, signed=signed)
            half = text((known.high - known.low) / 2)
            return f"{text(known.value, signed=signed)} ± {half}"

        return _with_ends(value, display, key, heading, hint)

    def higher(name: str, key: str, heading: str) -> list[Column]:
        """The same over the reference."""

        def value(row: CurveRow) -> Estimate | None:
            return getattr(row.over, name) if row.over is not None else None

        def display(row: CurveRow) -> str | None:
            known = value(row)
            if known is None or known.low is None or known.high is None:
                return None if known is None else text(known.value, signed=True)
            low, high = (text(end, signed=True) for end in (known.low, known.high))
            return f"{text(known.value, signed=True)} ({low} … {high})"

        hint = _("Over {system}, with 95% interval; paired by draw", system=title)
        return _with_ends(value, display, key, heading, hint)

    def labels(name: str) -> Callable[[CurveRow], Any]:
        return lambda row: None if target is None else getattr(row.needed(target), name)

    def labels_text(row: CurveRow) -> str | None:
        if target is None or row.curve is None:
            return None
        return needed_text(row.needed(target), int(row.curve.sizes[0]))

    def law(name: str) -> Callable[[CurveRow], Any]:
        return lambda row: row.curve and row.curve.law and getattr(row.curve.law, name)

    goal = text(target) or ""
    return (
        Column("", lambda row: row.system, key="system"),
        Column(_("System"), lambda row: row.title, key="title"),
        Column(_("Made from"), lambda row: row.source, key="source"),
        *of("start", "start", _("Start"), _("Score at the smallest number of labels")),
        *of(
            "slope",
            "slope",
            _("Slope"),
            _("Score per doubling of the labels, over the first three numbers"),
            signed=True,
        ),
        *of("asymptote", "asymptote", _("Asymptote"), _("Of the fitted power law")),
        Column(
            _("Labels for {target}", target=goal) if goal else _("Labels"),
            labels("labels"),
            kind=ValueKind.COUNT,
            key="labels",
            display=labels_text,
            hint=_("Read off the fitted power law, with 95% interval"),
        ),
        *(Column("", labels(name), key=f"labels_{name}") for name in ("low", "high", "answer")),
        Column("", lambda row: labels("doubt")(row) or "", key="doubt"),
        *higher("start", "higher_start", _("Higher start")),
        *higher("slope", "higher_slope", _("Higher slope")),
        *higher("asymptote", "higher_asymptote", _("Higher asymptote")),
        *(Column("", law(name), key=name) for name in ("a", "b", "c")),
        Column("", lambda row: row.curve and row.curve.misfit, key="misfit"),
        Column(
            _("Steps for {target}", target=goal) if goal else _("Steps"),
            lambda row: (
                None
                if target is None
                else result.steps_for(row.system, target, is_error=work.is_error)
            ),
            kind=ValueKind.COUNT,
            key="steps",
            hint=_("First evaluation that reaches it, with the most labels"),
        ),
        Column(
            _("Minutes"),
            lambda row: row.seconds and row.seconds / 60,
            kind=ValueKind.NUMBER,
            digits=1,
            key="minutes",
            hint=_("Minutes of all runs"),
        ),
        Column("", lambda row: row.message, key="message"),
    )


def _with_ends(
    value: Callable[[CurveRow], Estimate | None],
    display: Callable[[CurveRow], str | None],
    key: str,
    title: str,
    hint: str,
) -> list[Column]:
    def part(name: str) -> Callable[[CurveRow], float | None]:
        def read(row: CurveRow) -> float | None:
            known = value(row)
            return None if known is None else getattr(known, name)

        return read

    return [
        Column(title, part("value"), kind=ValueKind.SHARE, key=key, display=display, hint=hint),
        Column("", part("low"), key=f"{key}_low"),
        Column("", part("high"), key=f"{key}_high"),
    ]


def to_json(work: Curves, result: CurvesResult, target: float | None) -> dict[str, Any]:
    """The experiment for programs; scores are fractions of 1, but for errors."""
    described = columns(work, result, target)
    summaries: Mapping[str, Any] = {row.group: row for row in work.rows}
    return {
        "task": work.task,
        "layer": work.spec.layer,
        "status": work.status,
        "split": work.split,
        "score": work.score,
        "draws": list(work.spec.seeds),
        "sizes": list(work.spec.sizes),
        "settings": work.spec.settings_of(),
        "dev": work.used.get("dev", 0),
        "target": target,
        "reference": result.reference,
        "systems": [
            {
                **record(described, row),
                "options": dict(work.rungs[row.system].rung.options),
                "points": to_plain(row.series.points),
                "results": [
                    {"size": int(size), **experiment.to_json(work, summary)}
                    for size, summary in summaries[row.system].by_series.items()
                ],
            }
            for row in result.rows
        ],
        "steps_at": result.steps_at,
        "over_steps": to_plain(result.over_steps),
    }
