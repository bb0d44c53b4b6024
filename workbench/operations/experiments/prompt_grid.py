"""A grid of prompts: prompts × models × examples × shots × seeds, as runs of one queue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from statistics import fmean
from typing import TYPE_CHECKING, Any

from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.base.records import JsonRecord
from workbench.base.terms import term
from workbench.base.watch import QUIET, Watch
from workbench.metrics.paired import PairedDifference
from workbench.operations.evaluation import pairs, quality
from workbench.operations.experiments import experiment
from workbench.operations.experiments.experiment import (
    DONE,
    MISSING,
    BandPoint,
    BandSeries,
    Cell,
    Experiment,
    Summary,
)
from workbench.operations.people import ceiling as ceilings
from workbench.operations.people.ceiling import Ceiling
from workbench.operations.prompts import prompt, prompt_models, prompt_reading
from workbench.operations.runs import results, run_results
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.kinds.prompt.info import INFO
from workbench.prompting.answers import forms
from workbench.prompting.results import PromptCost, cost
from workbench.prompting.spec import SCORED, PromptSpec
from workbench.storage.labels import labels
from workbench.storage.runs import runs
from workbench.tasks import spec as tasks
from workbench.text.columns import Column, ValueKind
from workbench.text.document import CHOICES

if TYPE_CHECKING:
    from workbench.base.settings import Settings
    from workbench.jobs.queue import Queue
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.tasks.spec import TaskInfo

FILE = "prompt_grid.json"  # with the last grid on each layer
DRAWN = ("balanced", "random")  # selections of examples that depend on the seed
PROMPT, FINE_TUNED = "prompt", "fine-tuned"


@dataclass(frozen=True)
class GridSpec(JsonRecord):
    """The description of a grid. prompts: one for each row, with the seed of the first cell.

    sample: documents of dev that each run is asked about, 0 for all.
    """

    layer: str
    prompts: tuple[PromptSpec, ...] = ()
    seeds: tuple[int, ...] = (1, 2, 3)
    sample: int = 0

    def with_rows(self, prompts: Iterable[PromptSpec]) -> GridSpec:
        """With further rows, each once; a row of no examples needs no selection of them."""
        known = {_group(prompt): prompt for prompt in self.prompts}
        for added in prompts:
            known.setdefault(_group(added), added)
        return replace(self, prompts=tuple(known.values()))


def combined(
    prompts: Sequence[PromptSpec],
    models: Sequence[Mapping[str, Any]],
    selections: Sequence[str],
    shots: Sequence[int],
) -> list[PromptSpec]:
    """Every prompt with every model, selection and number of examples. models: the fields of a
    prompt that name one, as `model_fields` gives them.
    """
    return [
        replace(asked, **model, order=selection, shots=n)
        for asked, model, selection, n in product(prompts, models, selections, shots)
    ]


def model_fields(backend: str, name: str, settings: Settings | None = None) -> dict[str, Any]:
    """The fields of a prompt for a model. Raises WorkbenchError if there is none of that name."""
    model = prompt_models.find(backend, name, settings)
    return {
        "backend": backend,
        "model": model.path,
        "model_name": model.name,
        "allow_pickle": model.pickled,
    }


def keep(project: Project, spec: GridSpec) -> None:
    """Store a started grid as the last one on its layer."""
    experiment.keep(project, FILE, spec.layer, spec.to_json())


def last(project: Project, layer: str = "") -> GridSpec | None:
    """The last grid on a layer, on any layer by default; None if there is none."""
    _name, record = experiment.last(project, FILE, layer)
    try:
        return GridSpec.from_json(record)
    except (WorkbenchError, KeyError, TypeError, ValueError, AttributeError):
        return None  # none, or of another version


# ---------------------------------------------------------------- cells


class PromptGrid(Experiment):
    """The experiment of a description: groups are its rows. Raises SpecError without such a layer.

    Cells that can not run have the reason in `message`.
    """

    def __init__(self, project: Project, spec: GridSpec, *, settings: Settings | None = None):
        self.spec = spec
        layer = labels.layer_by_name(project.db, spec.layer)
        info = prompt_reading.task_of(layer) if layer is not None else None
        if info is None:
            raise SpecError(_("A prompt cannot answer a layer {name!r}.", name=spec.layer))
        cells = [
            cell
            for row in spec.prompts
            for cell in _cells(spec, row, _why_not(row, info, settings))
        ]
        super().__init__(project, cells, task=info.id)

    def check(self) -> None:
        keep(self.project, self.spec)

    def _prepare(self, cell: Cell, queue: Queue) -> kinds.PreparedOnData:
        """The run of a cell, or what is missing of one that was cancelled or killed."""
        prepared = super()._prepare(cell, queue)
        kind = kinds.named(INFO.id)
        identity = kind.identity(cell.spec)
        for run in reversed(runs.all(self.project.db)):
            if (
                run.kind == INFO.id
                and run.spec.get("fingerprint") == prepared.fingerprint
                and prompt.can_resume(self.project, run)
                and kind.identity(kind.settings(run)) == identity
            ):
                return prompt.prepare_resume(self.project, run)
        return prepared

    # ------------------------------------------------------------ results

    @property
    def grid_rows(self) -> tuple[GridRow, ...]:
        """The rows in their order, without intervals; fast."""
        return tuple(self._row(row.group, row.first) for row in self.rows)

    def measure(self, watch: Watch = QUIET) -> GridResult:
        """The rows with intervals, the plot and the verdict. Not for the main thread."""
        rows: list[GridRow] = []
        for row in self.grid_rows:
            watch.at(0.6 * len(rows) / len(self.rows))
            rows.append(replace(row, interval=experiment.mean_interval(self, row.runs)))
        trained = fine_tuned(self.project, rows)
        series = (*_prompt_series(rows), *_trained_series(trained, self))
        first = next((run for row in rows for run in row.runs), None)
        return GridResult(
            tuple(rows),
            series,
            verdict(self, rows, trained, watch.part(0.6, 1.0)),
            None if first is None else ceilings.of_run(self.project, first),
        )

    def _row(self, group: str, summary: Summary) -> GridRow:
        spec = next(row for row in self.spec.prompts if _group(row) == group)
        return GridRow(group, spec, summary, _cost(summary.cells), is_error=self.is_error)

    @property
    def is_error(self) -> bool:
        """Whether a lower score is better."""
        return tasks.is_error(self.score)


def _group(spec: PromptSpec) -> str:
    """Equal for prompts that differ in the seed only."""
    plain = replace(spec, seed=0, sample=0)
    if not spec.shots:
        plain = replace(plain, order=DRAWN[0], arrangement="fixed")
    return kinds.named(INFO.id).identity(plain)


def _cells(spec: GridSpec, row: PromptSpec, reason: str) -> list[Cell]:
    """One for each seed, one alone where the seed changes nothing. reason: why none can run."""
    group = _group(row)
    is_drawn = bool(row.shots) and (row.order in DRAWN or row.arrangement == "shuffled")
    is_drawn |= row.answer.form != SCORED and row.decoding.temperature > 0
    cells = []
    for seed in spec.seeds if is_drawn else spec.seeds[:1]:
        decoding = replace(row.decoding, seed=seed)
        seeded = replace(row, layer=spec.layer, seed=seed, decoding=decoding, sample=spec.sample)
        cell = Cell(group, title(row), "", seed, INFO.id, seeded, _run_name(seeded))
        cells.append(replace(cell, spec=None, status=MISSING, message=reason) if reason else cell)
    return cells


def _why_not(spec: PromptSpec, info: TaskInfo, settings: Settings | None) -> str:
    """Why a prompt cannot be asked, "" if it can."""
    try:
        model = prompt_models.of_spec(spec, settings)
        form = forms.get(spec.answer.form)
    except WorkbenchError as error:
        return str(error)
    reason = forms.unfit(
        form,
        prompt_reading.output_of(info),
        model.can,
        choices=info.texts == CHOICES,
        chat=spec.chat,
        constrained=spec.answer.constrained,
    )
    needs = form.needs(chat=spec.chat, constrained=spec.answer.constrained)
    own = (why for ability, why in model.cannot.items() if ability in needs - model.can)
    return reason and next(own, reason)


def _run_name(spec: PromptSpec) -> str:
    words = (prompt_title(spec), spec.model_name, f"{spec.shots}", spec.order if spec.shots else "")
    return "-".join(filter(None, (*words, str(spec.seed))))


def prompt_title(spec: PromptSpec) -> str:
    """The name of a prompt with its version."""
    name = spec.prompt_name or spec.name or _("prompt")
    return f"{name}@{spec.prompt_version}" if spec.prompt_version else name


def title(spec: PromptSpec) -> str:
    """A row of the grid, for display."""
    about = {"prompt": prompt_title(spec), "model": spec.model_name or spec.model}
    if not spec.shots:
        return _("{prompt} with {model} and no examples", **about)
    return ngettext(
        "{prompt} with {model} and {n} example ({selection})",
        "{prompt} with {model} and {n} examples ({selection})",
        spec.shots,
        selection=term(spec.order),
        **about,
    )


# ---------------------------------------------------------------- results


@dataclass(frozen=True)
class RowCost(PromptCost):
    """What a row costs for 1,000 documents, and means over its runs.

    n: answered documents of a run. no_answer: those from whose reply nothing can be read; failed:
    requests answered by an error; left_out: examples per document that did not fit.
    """

    n: int = 0
    no_answer: float = 0.0
    failed: float = 0.0
    left_out: float = 0.0


@dataclass(frozen=True)
class GridRow:
    """A prompt with its model and examples, over seeds.

    spec: of its first cell. interval: 95% bootstrap over documents of the mean over seeds, None
    until it is measured.
    """

    group: str
    spec: PromptSpec
    summary: Summary
    cost: RowCost = RowCost()
    interval: tuple[float, float] | None = None
    is_error: bool = False

    @property
    def title(self) -> str:
        return title(self.spec)

    @property
    def cells(self) -> Sequence[Cell]:
        return self.summary.cells

    @property
    def runs(self) -> list[Run]:
        """The finished runs, by seed."""
        return [cell.run for cell in self.cells if cell.run is not None and cell.status == DONE]

    @property
    def middle(self) -> Run | None:
        """The run with the median score, the lower one of two: it stands for the row in tests."""
        done = [
            cell
            for cell in self.cells
            if cell.run is not None and cell.repeat in self.summary.scores
        ]
        ranked = sorted(done, key=lambda cell: self.summary.scores[cell.repeat])
        return ranked[(len(ranked) - 1) // 2].run if ranked else None

    @property
    def status(self) -> str:
        """The state that is furthest from done."""
        order = (experiment.RUNNING, experiment.FAILED, experiment.WAITING, MISSING, DONE)
        states = {cell.status for cell in self.cells}
        return next(state for state in order if state in states)

    @property
    def message(self) -> str:
        """Why a cell cannot run, or failed; "" if none did."""
        return next((cell.message for cell in self.cells if cell.message), "")


@dataclass(frozen=True)
class Verdict:
    """What is best now, and whether fine-tuning beats it, by a fixed rule; see `verdict`.

    best: None without a finished row. other: what it is compared with: a fine-tuned run, by name,
    or without one the next row; "" for none. difference: of the best row minus the other. p: of the
    paired test; n: documents that both predicted.
    """

    sentence: str
    best: GridRow | None = None
    other: str = ""
    is_trained: bool = False
    difference: PairedDifference | None = None
    p: float | None = None
    n: int = 0


@dataclass(frozen=True)
class GridResult:
    """ceiling: what people score against each other, None if no document is labelled by two."""

    rows: tuple[GridRow, ...]
    series: tuple[BandSeries, ...] = ()
    verdict: Verdict = field(default_factory=lambda: Verdict(""))
    ceiling: Ceiling | None = None


def columns(score: str) -> tuple[Column, ...]:
    """Of `GridRow`. score: the name of the score, for its unit."""

    def text(value: float | None) -> str | None:
        return None if value is None else tasks.score_text(score, value)

    def mean(row: GridRow) -> str | None:
        if row.summary.sd is None:
            return text(row.summary.mean)
        return f"{text(row.summary.mean)} ± {text(row.summary.sd)}"

    def bound(at: int) -> dict[str, Any]:
        return {
            "display": lambda row: text(row.interval[at] if row.interval else None),
            "kind": ValueKind.SHARE,
        }

    def number(title: str, name: str, digits: int, hint: str = "") -> Column:
        def value(row: GridRow) -> float | None:
            known: float | None = getattr(row.cost, name)
            return known if row.runs else None

        return Column(title, value, kind=ValueKind.NUMBER, digits=digits, hint=hint, key=name)

    return (
        Column(_("Prompt"), lambda row: prompt_title(row.spec), key="prompt"),
        Column(_("Model"), lambda row: row.spec.model_name or row.spec.model, key="model"),
        Column(_("Shots"), lambda row: row.spec.shots, kind=ValueKind.COUNT, key="shots"),
        Column(
            _("Examples"),
            lambda row: row.spec.order if row.spec.shots else None,
            kind=ValueKind.TERM,
            key="examples",
        ),
        Column("", lambda row: row.status, key="status"),
        Column("", lambda row: row.message, key="message"),
        Column(
            _("Score"),
            lambda row: row.summary.mean,
            display=mean,
            kind=ValueKind.SHARE,
            key="mean",
        ),
        Column("", lambda row: row.summary.sd, key="sd"),
        Column(_("Low"), lambda row: (row.interval or (None,))[0], **bound(0), key="low"),
        Column(_("High"), lambda row: (row.interval or (None,))[-1], **bound(1), key="high"),
        Column(_("Seeds"), lambda row: len(row.runs), kind=ValueKind.COUNT, key="seeds"),
        Column(
            _("n"),
            lambda row: row.cost.n if row.runs else None,
            kind=ValueKind.COUNT,
            key="n",
        ),
        number(_("No answer"), "no_answer", 0, _("Documents from whose reply nothing can be read")),
        number(_("Left out"), "left_out", 1, _("Examples per document that did not fit")),
        number(_("s / 1,000"), "seconds", 1, _("Seconds for 1,000 documents")),
        number(_("Tokens in / 1,000"), "prompt_tokens", 0),
        number(_("Tokens out / 1,000"), "reply_tokens", 0),
        number(_("Price / 1,000"), "price", 4),
    )


def _cost(cells: Sequence[Cell]) -> RowCost:
    finished = [cell.run for cell in cells if cell.run is not None and cell.status == DONE]
    outcomes = [run_results.prompted(run) for run in finished]
    n, count = sum(outcome.n for outcome in outcomes), len(outcomes)
    if not n:
        return RowCost()
    return RowCost(
        **vars(cost(outcomes, run_results.prices(finished[0]))),
        n=round(n / count),
        no_answer=sum(sum(outcome.no_answer.values()) for outcome in outcomes) / count,
        failed=sum(outcome.failed for outcome in outcomes) / count,
        left_out=sum(outcome.dropped for outcome in outcomes) / n,
    )


# ---------------------------------------------------------------- fine-tuned runs, plot


def fine_tuned(project: Project, rows: Sequence[GridRow]) -> list[Run]:
    """The finished fine-tuned runs whose predictions compare with those of the rows."""
    first = next((run for row in rows for run in row.runs), None)
    if first is None:
        return []
    ours = tasks.info(results.task_of(first))
    return [
        run
        for run in runs.all(project.db)
        if kinds.info(run.kind).fine_tunes
        and run.status == DONE
        and run.layer_id == first.layer_id
        and results.has_task(run)
        and tasks.comparable(ours, tasks.info(results.task_of(run)))
    ]


def _prompt_series(rows: Sequence[GridRow]) -> list[BandSeries]:
    """A line for each prompt, model and selection; that of no examples begins all selections."""
    lines: dict[tuple[str, str, str], list[GridRow]] = {}
    for row in rows:
        if row.summary.mean is not None:
            model = row.spec.model_name or row.spec.model
            selections = {row.spec.order}
            if not row.spec.shots:
                selections |= {
                    other.spec.order
                    for other in rows
                    if other.spec.shots
                    and prompt_title(other.spec) == prompt_title(row.spec)
                    and (other.spec.model_name or other.spec.model) == model
                }
            for selection in sorted(selections):
                key = (prompt_title(row.spec), model, selection)
                lines.setdefault(key, []).append(row)
    return [
        BandSeries(
            _(
                "{prompt} with {model} ({selection})",
                prompt=name,
                model=model,
                selection=term(selection),
            ),
            PROMPT,
            tuple(
                BandPoint(row.spec.shots, row.summary.mean or 0.0, *(row.summary.band or (0, 0)))
                for row in sorted(line, key=lambda row: row.spec.shots)
            ),
        )
        for (name, model, selection), line in lines.items()
    ]


def _trained_series(trained: Sequence[Run], grid: PromptGrid) -> list[BandSeries]:
    """The learning curve of each fine-tuned model: runs by their number of training documents."""
    lines: dict[str, dict[int, list[float]]] = {}
    for run in trained:
        score = run.scores.get(grid.split, {}).get(grid.score)
        n = run_results.trained(run).used.get("train")
        if score is not None and n:
            lines.setdefault(kinds.model_name(run), {}).setdefault(n, []).append(score)
    return [
        BandSeries(
            _("{model}, fine-tuned", model=model),
            FINE_TUNED,
            tuple(
                BandPoint(n, fmean(scores), min(scores), max(scores))
                for n, scores in sorted(points.items())
            ),
        )
        for model, points in lines.items()
    ]


# ---------------------------------------------------------------- verdict


def verdict(
    grid: PromptGrid, rows: Sequence[GridRow], trained: Sequence[Run], watch: Watch = QUIET
) -> Verdict:
    """By a fixed rule: the row with the best mean, of equal ones the first, is best now. Its run
    with the median score is compared with the best fine-tuned run of the layer on the documents
    that both predicted; without one, with that of the next row. Fine-tuning beats it, or not, if
    the paired test decides (p < 0.05); otherwise no difference is shown.
    """
    ranked = [row for row in rows if row.summary.mean is not None]
    ranked.sort(key=lambda row: row.summary.mean or 0.0, reverse=not grid.is_error)
    if not ranked:
        return Verdict(_("No row of the grid has been run yet."))
    best = ranked[0]
    scored = [run for run in trained if grid.score in run.scores.get(grid.split, {})]
    scored.sort(key=lambda run: run.scores[grid.split][grid.score], reverse=not grid.is_error)
    row_after = ranked[1] if len(ranked) > 1 else None
    other = scored[0] if scored else row_after.middle if row_after else None
    about: dict[str, Any] = {
        "prompt": best.title,
        "score": tasks.score_text(grid.score, best.summary.mean or 0.0),
        "cost": best.cost.text,
    }
    if other is None or best.middle is None:
        sentence = _(
            "{prompt} is best now ({score}; {cost} per 1,000 documents); there is nothing to "
            "compare it with yet.",
            **about,
        )
        return Verdict(sentence, best)
    tested = _tested(grid, best.middle, other, watch)
    name = other.name if scored else row_after.title if row_after else ""
    if tested is None:
        sentence = _(
            "{prompt} is best now ({score}; {cost} per 1,000 documents); it shares no document "
            "with {other}, so they cannot be compared.",
            **about,
            other=name,
        )
        return Verdict(sentence, best, name, bool(scored))
    difference, p, n = tested
    about |= {
        "other": name,
        "labels": run_results.trained(other).used.get("train", 0) if scored else 0,
        "difference": tasks.score_text(grid.score, abs(difference.value or 0.0)),
        "low": tasks.score_text(grid.score, difference.low or 0.0, signed=True).replace("-", "−"),
        "high": tasks.score_text(grid.score, difference.high or 0.0, signed=True).replace("-", "−"),
        "p": "< 0.001" if p is not None and p < 0.001 else f"= {p or 0:.3f}",
    }
    if scored:
        sentence = _sentence(grid, difference, p, about)
    else:  # the median runs may be in another order than the means
        ahead = ((difference.value or 0.0) > 0) is not grid.is_error
        sentence = _sentence_of_prompts(p if ahead else None, about)
    return Verdict(sentence, best, name, bool(scored), difference, p, n)


def _sentence(
    grid: PromptGrid, difference: PairedDifference, p: float | None, about: Mapping[str, Any]
) -> str:
    """About the best prompt and a fine-tuned run. difference: of the prompt minus the other."""
    n = about["labels"]
    if p is None or p >= pairs.DECIDED:
        return ngettext(
            "The best prompt is {prompt} ({score}; {cost} per 1,000 documents); it does not differ "
            "significantly from {other}, fine-tuned on {n:,} label (95% interval of the difference "
            "{low} to {high}, p {p}).",
            "The best prompt is {prompt} ({score}; {cost} per 1,000 documents); it does not differ "
            "significantly from {other}, fine-tuned on {n:,} labels (95% interval of the "
            "difference {low} to {high}, p {p}).",
            n,
            **about,
        )
    if ((difference.value or 0.0) > 0) is not grid.is_error:
        return ngettext(
            "{prompt} is best now ({score}; {cost} per 1,000 documents): {difference} better than "
            "{other}, fine-tuned on {n:,} label (95% interval {low} to {high}, p {p}).",
            "{prompt} is best now ({score}; {cost} per 1,000 documents): {difference} better than "
            "{other}, fine-tuned on {n:,} labels (95% interval {low} to {high}, p {p}).",
            n,
            **about,
        )
    return ngettext(
        "{other}, fine-tuned on {n:,} label, is {difference} better than the best prompt, {prompt} "
        "({score}; {cost} per 1,000 documents; 95% interval of the difference {low} to {high}, "
        "p {p}).",
        "{other}, fine-tuned on {n:,} labels, is {difference} better than the best prompt, "
        "{prompt} ({score}; {cost} per 1,000 documents; 95% interval of the difference {low} to "
        "{high}, p {p}).",
        n,
        **about,
    )


def _sentence_of_prompts(p: float | None, about: Mapping[str, Any]) -> str:
    """Without a fine-tuned run. p: None if the test shows nothing for the best row."""
    if p is not None and p < pairs.DECIDED:
        return _(
            "{prompt} is best now ({score}; {cost} per 1,000 documents): {difference} better than "
            "the next, {other} (95% interval {low} to {high}, p {p}); no run was fine-tuned on "
            "this layer.",
            **about,
        )
    return _(
        "{prompt} is best now ({score}; {cost} per 1,000 documents), but does not differ "
        "significantly from the next, {other} (95% interval {low} to {high}, p {p}); no run was "
        "fine-tuned on this layer.",
        **about,
    )


def _tested(
    grid: PromptGrid, first: Run, second: Run, watch: Watch
) -> tuple[PairedDifference, float | None, int] | None:
    """(difference of the score, p, documents); None if no document has predictions of both."""
    info = tasks.info(grid.task).compared()
    ours, theirs = (
        quality.evidence(grid.project, run, grid.split, info) for run in (first, second)
    )
    shared = {item.id for item in ours.documents} & {item.id for item in theirs.documents}
    if not shared:
        return None
    ours, theirs = (quality.of_documents(item, shared) for item in (ours, theirs))
    left, right = (pairs.system(run, item) for run, item in ((first, ours), (second, theirs)))
    pair = pairs.pair(left, right, info.main, info.main, watch)
    decisive = next(
        (test for test in pair.tests if test.test == pairs.RANDOMISATION), pair.tests[-1]
    )
    a, b = (system.scores[info.main].value for system in (left, right))
    value = None if a is None or b is None else a - b
    return pair.differences.get(info.main, PairedDifference(value)), decisive.p, len(ours)


# ---------------------------------------------------------------- for programs


def to_json(grid: PromptGrid, result: GridResult) -> dict[str, Any]:
    """Scores are fractions of 1, but for errors."""
    from workbench.base.records import to_plain
    from workbench.text.columns import record

    best = result.verdict.best
    return {
        "layer": grid.spec.layer,
        "task": grid.task,
        "split": grid.split,
        "score": grid.score,
        "status": grid.status,
        "seeds": list(grid.spec.seeds),
        "sample": grid.spec.sample,
        "rows": [
            {
                **record(columns(grid.score), row),
                "runs": experiment.to_json(grid, row.summary)["runs"],
            }
            for row in result.rows
        ],
        "series": to_plain(result.series),
        "ceiling": None if result.ceiling is None else result.ceiling.to_json(),
        "verdict": {
            "sentence": result.verdict.sentence,
            "best": best.title if best else None,
            "other": result.verdict.other,
            "fine_tuned": result.verdict.is_trained,
            "difference": to_plain(result.verdict.difference),
            "p": result.verdict.p,
            "n": result.verdict.n,
        },
    }
