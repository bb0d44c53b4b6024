"""The board: every run, prompt and baseline of a layer on one test set, with costs.

Everything is computed from stored predictions against the current gold labels; no model is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.metrics.definitions import is_ratio
from workbench.metrics.evaluation import Evaluation, Intervals, Measured
from workbench.metrics.gain import Gain, gain
from workbench.metrics.report import intervals
from workbench.operations.documents import queries
from workbench.operations.evaluation import quality, scoring
from workbench.operations.people import ceiling as ceilings
from workbench.operations.people.ceiling import Ceiling
from workbench.operations.runs import missing, predict, results, trained_on
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.run_results import outcome, prices
from workbench.operations.runs.trained_on import TrainedOn, TrainingTexts
from workbench.prompting.results import PromptCost, PromptResult, cost
from workbench.storage.labels import labels
from workbench.tasks import spec as tasks
from workbench.text.rows import row_id
from workbench.training.results import TrainResult

if TYPE_CHECKING:
    from workbench.metrics.resampling import Statistic
    from workbench.operations.evaluation.quality import Evidence
    from workbench.operations.evaluation.scoring import GoldDocument
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.tasks.spec import TaskInfo

FINISHED = ("done", "stopped")
Rankings = dict[int, "Statistic"]  # by run id


@dataclass(frozen=True)
class BoardEntry:
    """A run on the board.

    made_from: the model and what else tells it from similar runs. evaluation: without scores by
    label; None unless it was scored on the test set of the board. problem: why it was not.
    changed: documents or gold differ from those that the run itself reported its scores on.
    seconds: training time, None for systems that are not trained. bytes: of the weights.
    cpu: seconds of CPU time per 1,000 documents. cost: of the answers to a prompt. None: not known.
    trained_on: the documents of the test set that were in its training data.
    """

    run: Run
    made_from: str
    evaluation: Evaluation | None
    problem: str = ""
    changed: bool = False
    seconds: float | None = None
    parameters: int | None = None
    bytes: int | None = None
    cpu: float | None = None
    cost: PromptCost | None = None
    trained_on: tuple[TrainedOn, ...] = ()

    @cached_property
    def scores(self) -> Mapping[str, Measured]:
        """Every score with its interval; {} if there is no evaluation."""
        return self.evaluation.measures if self.evaluation is not None else {}

    def value(self, score: str) -> float | None:
        return self.scores[score].value if score in self.scores else None

    def gain(self, over: BoardEntry, score: str) -> Gain | None:
        """Gain of a score over that of another entry; None if one of them has none, or for a ratio,
        of which neither more nor less is better.
        """
        if is_ratio(score):
            return None
        return gain(self.value(score), over.value(score), is_error=tasks.is_error(score))


@dataclass(frozen=True)
class Board:
    """entries: scored on the same n documents, best main score first; others: on another test set.

    score: the main score, definition: what counts as correct. names: of all scores, main first.
    where: the query that the n documents match, "" for the whole split. ceiling: what people score
    against each other, None if no document is labelled by two.
    """

    layer: str
    split: str
    n: int
    fingerprint: str
    score: str
    definition: str
    names: tuple[str, ...]
    entries: tuple[BoardEntry, ...]
    others: tuple[BoardEntry, ...]
    where: str = ""
    ceiling: Ceiling | None = None

    @property
    def intervals(self) -> Intervals | None:
        """Intervals of an entry, for their method: of a bootstrap if there are any; else None."""
        evaluations = (entry.evaluation for entry in self.entries)
        some = [each.intervals for each in evaluations if each is not None and each.intervals]
        return max(some, key=lambda each: each.rounds, default=None)

    def named(self, run: str) -> BoardEntry:
        """The scored entry of a run. Raises WorkbenchError if there is none of this name."""
        for entry in self.entries:
            if entry.run.name == run:
                return entry
        raise WorkbenchError(
            _("No run {name!r} was scored on these documents.", name=run),
            hint=_(
                "Choose from: {known}.",
                known=", ".join(entry.run.name for entry in self.entries) or _("none"),
            ),
        )

    def sorted_by(self, score: str) -> tuple[BoardEntry, ...]:
        """The entries by another score, best first; those without it come last."""
        sign = 1 if tasks.is_error(score) else -1
        key = lambda item: (item.value(score) is None, sign * (item.value(score) or 0.0))  # noqa: E731
        return tuple(sorted(self.entries, key=key))


def layers_with_runs(project: Project) -> tuple[str, ...]:
    """The layers that have a finished run, that of the newest run first."""
    names = dict.fromkeys(run.layer for run in results.all_runs(project) if _counts(run))
    return tuple(name for name in names if name)


def board(
    project: Project,
    layer: str = "",
    split: str = "dev",
    *,
    archived: bool = False,
    where: str = "",
    later: Rankings | None = None,
    watch: Watch = QUIET,
) -> Board:
    """Every finished run of a layer, by default that of the newest run. Run it in a thread.

    archived: archived runs as well. where: a query, only the documents that match it. later: takes
    the runs whose rankings `with_rankings` is to resample; without it, that is done at once. Raises
    WorkbenchError if there is no such layer, QueryError.
    """
    layer = _chosen_layer(project, layer)
    chosen = [
        run
        for run in results.all_runs(project)
        if run.layer == layer and _counts(run) and (archived or not run.listing.archived)
    ]
    if not chosen:
        return Board(layer, split, 0, "", "", "", (), (), ())
    scorable = [run for run in chosen if not missing.of_run(run)]
    if not scorable:
        return Board(layer, split, 0, "", "", "", (), (), _unknown(project, chosen))
    first = _most_frequent(scorable)
    info = tasks.info(results.task_of(first)).compared()
    documents = results.scored(project, first, split, info)
    if where.strip():
        ids = frozenset(
            queries.matching(project, where, [row_id(scored.document) for scored in documents])
        )
        documents = tuple(scored for scored in documents if scored.document.id in ids)
    fingerprint = scoring.fingerprint(documents)
    is_whole = not where.strip()
    score = partial(_evaluation, fingerprint=fingerprint, later=later)
    every = list(
        _entries(project, chosen, info, split, documents, score, is_whole=is_whole, watch=watch)
    )
    entries = [entry for entry in every if not entry.problem]
    others = [entry for entry in every if entry.problem]
    names = dict.fromkeys(name for entry in entries for name in entry.scores)
    unsorted = Board(
        layer, split, len(documents), fingerprint, info.main, info.definition,
        tasks.score_names(names, info.id), tuple(entries), tuple(others), where.strip(),
        ceilings.ceiling(project, results.layer_of(project, first), info),
    )  # fmt: skip
    return replace(unsorted, entries=unsorted.sorted_by(info.main))


def _chosen_layer(project: Project, layer: str) -> str:
    """The layer, by default that of the newest run. Raises WorkbenchError if there is none."""
    known = [item.name for item in labels.layers(project.db)]
    layer = layer or next(iter(layers_with_runs(project)), "")
    if layer not in known:
        raise WorkbenchError(
            _("The project has no layer {name!r}.", name=layer)
            if layer
            else _("The project has no finished run."),
            hint=_("Layers: {known}.", known=", ".join(known)),
        )
    return layer


def _entries(
    project: Project,
    chosen: Sequence[Run],
    info: TaskInfo,
    split: str,
    documents: Sequence[GoldDocument],
    score: Callable[[Run, Evidence], Evaluation],
    *,
    is_whole: bool,
    watch: Watch,
) -> Iterator[BoardEntry]:
    """The entry of each run on `found`. is_whole: these are all documents of the split."""
    texts, own = TrainingTexts(project), _OwnTestSets(project, split)
    for at, run in enumerate(chosen):
        watch.at(at / len(chosen))
        entry = _entry(project, run, info, split, documents, score)
        if entry.problem:
            yield entry
            continue
        if is_whole:
            entry = replace(entry, changed=own.changed(run))
        trained_on = texts.among(run, split, [scored.document for scored in documents])
        yield replace(entry, trained_on=trained_on)


def _unknown(project: Project, chosen: Iterable[Run]) -> tuple[BoardEntry, ...]:
    """Runs whose tasks are all missing."""
    return tuple(_with_costs(project, run, None, missing.of_run(run)) for run in chosen)


def _counts(run: Run) -> bool:
    return run.status in FINISHED and "task" in run.spec and not trained_on.fold(run)


def _most_frequent(chosen: Sequence[Run]) -> Run:
    """The newest run of the question that most runs answer."""
    infos = [tasks.info(results.task_of(run)) for run in chosen]
    counted = [sum(tasks.comparable(info, other) for other in infos) for info in infos]
    return chosen[counted.index(max(counted))]


class _OwnTestSets:
    """Tells whether documents or gold, as the task of a run learns it, differ from those that the
    run reported its scores on. Gold is read once for each task.
    """

    def __init__(self, project: Project, split: str):
        self._project, self._split = project, split
        self._fingerprints: dict[str, str] = {}

    def changed(self, run: Run) -> bool:
        before = results.original(run, self._split)
        if before is None or not before.is_complete:
            return False
        task = results.task_of(run)
        if task not in self._fingerprints:
            documents = results.scored(self._project, run, self._split)
            self._fingerprints[task] = scoring.fingerprint(documents)
        return before.fingerprint != self._fingerprints[task]


def _entry(
    project: Project,
    run: Run,
    info: TaskInfo,
    split: str,
    documents: Sequence[GoldDocument],
    score: Callable[[Run, Evidence], Evaluation],
) -> BoardEntry:
    answers = predict.stored(project, run, [scored.document for scored in documents])
    unanswered = sum(scored.document.id not in answers for scored in documents)
    problem = _problem(run, info, split, unanswered, len(documents))
    if problem:
        return _with_costs(project, run, None, problem)
    own = tasks.info(results.task_of(run)).compared()
    evidence = quality.evidence_of(project, run, split, documents, answers, own)
    return _with_costs(project, run, score(run, evidence), "")


def _with_costs(
    project: Project, run: Run, evaluation: Evaluation | None, problem: str
) -> BoardEntry:
    result = outcome(run)
    return BoardEntry(
        run,
        made_from(run),
        evaluation,
        problem,
        seconds=run.seconds if kinds.info(run.kind).own_weights else None,
        parameters=result.parameters if isinstance(result, TrainResult) else None,
        bytes=weight_bytes(project, run),
        cpu=cpu_seconds(project, run),
        cost=cost([result], prices(run)) if isinstance(result, PromptResult) else None,
    )


def _problem(run: Run, info: TaskInfo, split: str, unanswered: int, n: int) -> str:
    """Why a run was not scored on the test set, "" if it was."""
    if reason := missing.of_run(run):
        return reason
    own = tasks.info(results.task_of(run))
    if not tasks.comparable(own, info):
        return _("Its task is a different one: {task}.", task=_(own.title))
    if split == "test" and not run.seen_test:
        return _("Its test score has not been viewed yet.")
    if unanswered or not n:
        return ngettext(
            "It has no prediction for {n} document.",
            "It has no prediction for {n} documents.",
            unanswered,
        )
    return ""


def _evaluation(
    run: Run, evidence: Evidence, fingerprint: str, later: Rankings | None
) -> Evaluation:
    """Every score of a run with its interval; none by label."""
    n, scores = len(evidence), evidence.info.score(evidence.golds, evidence.predictions)
    evaluation = Evaluation(evidence.split, n, fingerprint, scores)
    if evidence.statistic is None:
        return replace(evaluation, intervals=quality.own_interval(evidence, scores))
    if later is None:
        return evaluation.with_intervals(intervals(evidence.statistic, n, reported=()))
    exact = intervals(evidence.statistic, n, reported=(), rounds=0).scores
    drawn = intervals(evidence.statistic.taken(np.arange(n)), n, reported=())
    if exact.keys() - drawn.scores.keys():
        later[run.id] = evidence.statistic
    every = {name: drawn.scores.get(name, score) for name, score in exact.items()}
    return evaluation.with_intervals(replace(drawn, scores=every))


def with_rankings(board: Board, later: Rankings, watch: Watch = QUIET) -> Board:
    """The board with the intervals of rankings too, which take longer than all others together."""

    def resampled(entry: BoardEntry, part: Watch) -> BoardEntry:
        statistic = later.get(entry.run.id)
        if statistic is None or entry.evaluation is None:
            return entry
        measured = intervals(statistic, board.n, reported=(), watch=part)
        return replace(entry, evaluation=entry.evaluation.with_intervals(measured))

    count = len(board.entries)
    entries = [
        resampled(entry, watch.part(at / count, (at + 1) / count))
        for at, entry in enumerate(board.entries)
    ]
    return replace(board, entries=tuple(entries))


def made_from(run: Run) -> str:
    """The model of a run and what else it was made from, for display."""
    return kinds.of(run).made_from(run)


# ---------------------------------------------------------------- costs


def weight_bytes(project: Project, run: Run) -> int | None:
    """Size of the weights that predict, in bytes; None if they are not on this disk."""
    if kinds.info(run.kind).composed:
        total = _total(weight_bytes(project, member) for member in _members(project, run))
        return None if total is None else int(total)
    folder = kinds.of(run).weights(project, run)
    if folder is None or not folder.is_dir():
        return None
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def cpu_seconds(project: Project, run: Run) -> float | None:
    """CPU seconds per 1,000 documents; None for a run whose predictions were not measured."""
    if kinds.info(run.kind).composed:
        return _total(cpu_seconds(project, member) for member in _members(project, run))
    cost = outcome(run).predicting
    return cost.per_thousand if cost is not None else None


def _members(project: Project, run: Run) -> tuple[Run, ...]:
    try:
        return kinds.of(run).parts(project, run)
    except WorkbenchError:
        return ()


def _total(values: Iterable[float | None]) -> float | None:
    known = list(values)
    return None if not known or None in known else sum(value or 0 for value in known)
