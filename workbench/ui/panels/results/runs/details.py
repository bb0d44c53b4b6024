"""Details of one run, computed in a thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from workbench.base.i18n import ngettext
from workbench.base.terms import term
from workbench.metrics.evaluation import UNKNOWN
from workbench.operations.evaluation import scoring
from workbench.operations.people import ceiling as ceilings
from workbench.operations.runs import results, span_runs
from workbench.operations.runs.advice import Advice, advice
from workbench.operations.runs.rerun import ScoreDifference, differences
from workbench.operations.runs.trained_on import TrainingTexts
from workbench.tasks import spec as tasks
from workbench.tasks.spec import TaskInfo
from workbench.ui.style.run_text import score_text, words_of

if TYPE_CHECKING:
    from workbench.metrics.evaluation import Evaluation
    from workbench.operations.evaluation.scoring import MajorityBaseline
    from workbench.operations.people.ceiling import Ceiling
    from workbench.operations.runs.results import Results
    from workbench.operations.runs.trained_on import TrainedOn
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run


END_TO_END = "end-to-end"  # in place of a split: dev, with the spans that another run predicts


@dataclass(frozen=True)
class ScoreRow:
    """One score on one split: against the gold labels of the run, and against the current ones.

    name: its title. text: a value of it as text. low, high: 95% interval of `current`, None if it
    is not known (yet). hint: definition and rule for zero division. ceiling: what people score
    against each other, None if it is not known; ceiling_hint: how it was measured.
    """

    name: str
    split: str
    key: str
    text: Callable[[float | None], str]
    original: float | None
    current: float | None
    low: float | None = None
    high: float | None = None
    hint: str = ""
    ceiling: float | None = None
    ceiling_hint: str = ""


@dataclass(frozen=True)
class TrainOverlap:
    """A system, and those of the n scored documents of a split that it was trained on."""

    name: str
    split: str
    seen: Sequence[TrainedOn]
    n: int


@dataclass(frozen=True)
class Details:
    """Details of one run.

    `majority` is None for a task without such a baseline. `test_set` is the fingerprint of the
    current test documents and gold.
    """

    results: Results
    majority: MajorityBaseline | None = None
    test_set: str = ""
    again: tuple[ScoreDifference, ...] = ()  # from the run that this one repeats
    overlaps: tuple[TrainOverlap, ...] = ()  # of dev and test, with those in the training data
    advice: Advice = Advice()
    span_runs: tuple[Run, ...] = ()  # those whose spans a run of relations can connect
    ceiling: Ceiling | None = None

    @property
    def task(self) -> TaskInfo | None:
        """None if it is missing, or the run has none."""
        run = self.results.run
        return tasks.info(results.task_of(run)) if results.has_task(run) else None

    def seen(self, splits: Sequence[str]) -> list[TrainOverlap]:
        """The documents of these splits that the run was trained on."""
        return [overlap for overlap in self.overlaps if overlap.split in splits]


def details(project: Project, run_id: int) -> Details:
    """Details of one run, with its majority baseline. Slow for many documents."""
    scored = results.results(project, run_id)
    run, current = scored.run, scored.current
    if not results.has_task(run):
        return Details(scored)
    return Details(
        scored,
        scoring.majority_baseline(results.task_of(run), current) if current is not None else None,
        scoring.fingerprint(results.scored(project, run, "test")),
        differences(project, run) if current is not None and current.n else (),
        _overlaps(project, run),
        advice(project, run),
        span_runs.span_runs(project, run),
        ceilings.of_run(project, run),
    )


def _overlaps(project: Project, run: Run) -> tuple[TrainOverlap, ...]:
    texts = TrainingTexts(project)
    overlaps = []
    for split in ("dev", "test"):
        documents = [scored.document for scored in results.scored(project, run, split)]
        trained_on = texts.among(run, split, documents)
        overlaps.append(TrainOverlap(run.name, split, trained_on, len(documents)))
    return tuple(overlaps)


def again_text(changes: Sequence[ScoreDifference]) -> str:
    """What training again has changed, in sentences; "" for a run that repeats no other."""
    message = []
    for difference in changes:
        text = ngettext(
            "{score} on {split}: {before} → {after} since {name} ({n:,} document, current gold).",
            "{score} on {split}: {before} → {after} since {name} ({n:,} documents, current gold).",
            difference.n,
        )
        about = {
            "score": tasks.score_title(difference.score),
            "split": term(difference.split),
            "n": difference.n,
        }
        about |= {"name": difference.before_name}
        before, after = (
            score_text(difference.score, value) for value in (difference.before, difference.after)
        )
        message.append(text.format(before=before, after=after, **about))
    return " ".join(message)


def score_rows(
    run: Run,
    evaluations: Mapping[str, tuple[Evaluation | None, Evaluation | None]],
    ceiling: Ceiling | None = None,
) -> tuple[ScoreRow, ...]:
    """Every score of the splits in `evaluations`: against gold of the run, and the current gold."""
    rows, words = [], words_of(run)
    for split, (original, current) in evaluations.items():
        before = original.scores if original else {}
        now = current.measures if current else {}
        main = {**before, **(current.scores if current else {})}
        for name in dict.fromkeys((*words.order(main, run.spec.get("task", "")), *now)):
            score = now.get(name, UNKNOWN)
            title, text = words.title(name), partial(words.text, name)
            values = score.value, score.low, score.high
            row = ScoreRow(title, split, name, text, before.get(name), *values)
            row = replace(row, hint=tasks.score_hint(name))
            if ceiling is not None:
                limit = ceiling.of(name)
                row = replace(row, ceiling=limit, ceiling_hint=ceiling.sentence(name))
            rows.append(row)
    return tuple(rows)


@dataclass(frozen=True)
class SchemeRow:
    """One scheme of matching spans: its number of spans by outcome, and F1 with its interval."""

    scheme: str
    outcomes: Mapping[str, int]
    f1: float | None
    low: float | None
    high: float | None
    hint: str


def span_rows(evaluation: Evaluation | None) -> tuple[SchemeRow, ...]:
    """Strict first; () for other tasks, and without intervals."""
    intervals = evaluation.intervals if evaluation is not None else None
    if intervals is None:
        return ()
    rows = []
    for scheme, outcomes in intervals.outcomes.items():
        name = f"{scheme}_f1" if f"{scheme}_f1" in intervals.scores else "span_f1"  # strict
        score, hint = intervals.scores[name], tasks.score_hint(name)
        rows.append(SchemeRow(term(scheme), outcomes, score.value, score.low, score.high, hint))
    return tuple(rows)
