"""The learning curve over rounds of training again: each run was trained from the one before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.base.i18n import _, ngettext
from workbench.operations.annotation import instant_curve
from workbench.operations.annotation.instant_curve import CurvePoint
from workbench.operations.runs import results
from workbench.operations.runs.run_results import trained
from workbench.storage.runs import runs
from workbench.tasks import spec as tasks
from workbench.text import result_view

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.text.fields import Prediction

NEEDED = 3  # changes of predictions that are read, as of the instant model


@dataclass(frozen=True)
class Rounds:
    """The runs of a layer that were trained from one another, oldest first, with a point for each.

    score: the name of the score. A point has the training documents, the score on dev of that run,
    and Cohen's kappa of its predictions with those of the run before.
    """

    runs: tuple[str, ...]
    score: str
    points: tuple[CurvePoint, ...]


def rounds(project: Project, newest: Run) -> Rounds:
    """The rounds that end with a run. Not for the main thread: reads all predictions of each."""
    chain = [newest]
    while (before := _before(project, chain[-1])) is not None and before not in chain:
        chain.append(before)
    chain.reverse()
    main = tasks.info(results.task_of(newest)).main
    points: list[CurvePoint] = []
    last: dict[int, Prediction] = {}
    for number, run in enumerate(chain):
        predictions = {
            id: answer for id, (_hash, answer) in runs.predictions(project.db, run.id).items()
        }
        scores, used = run.scores.get("dev", {}), trained(run).used
        agreement = agreed(last, predictions) if number else None
        points.append(
            CurvePoint(used.get("train", 0), scores.get(main), used.get("dev", 0), agreement)
        )
        last = predictions
    return Rounds(tuple(run.name for run in chain), main, tuple(points))


def _before(project: Project, run: Run) -> Run | None:
    """The run that a run was trained again from."""
    try:
        before = runs.get(project.db, run.parent_id or 0)
    except KeyError:
        return None
    same = (before.kind, before.layer_id) == (run.kind, run.layer_id)
    return before if same and results.task_of(before) == results.task_of(run) else None


def agreed(first: dict[int, Prediction], second: dict[int, Prediction]) -> float | None:
    """Cohen's kappa of two runs on the documents that both predicted; None without any.

    Units are words where there are tags of words, else documents; of spans alone, the F1 of one
    run's spans against the other's.
    """
    both = sorted(first.keys() & second.keys())
    if not both:
        return None
    pairs = list[tuple[object, object]]()
    same = total = 0
    for a, b in ((first[id], second[id]) for id in both):
        view, other = result_view.of(a), result_view.of(b)
        if view.on_document and other.on_document:
            pairs.append((view.labels(a), other.labels(b)))
        elif a.words and len(a.words) == len(b.words):
            pairs += [(x.label, y.label) for x, y in zip(a.words, b.words, strict=True)]
        else:
            left, right = (
                {(s.start, s.end, s.label) for s in prediction.spans} for prediction in (a, b)
            )
            same, total = same + len(left & right), total + len(left) + len(right)
    if pairs:
        return _kappa(pairs)
    return 2 * same / total if total else None


def _kappa(pairs: Sequence[tuple[object, object]]) -> float:
    n = len(pairs)
    left, right = (Counter(pair[side] for pair in pairs) for side in (0, 1))
    chance = sum(left[value] * right[value] for value in left) / n**2
    observed = sum(a == b for a, b in pairs) / n
    return 1.0 if chance == 1.0 else (observed - chance) / (1 - chance)


def advice(rounds: Rounds) -> str:
    """Whether more labels are likely to help the model that is trained again, in a sentence."""
    known = sum(point.agreement is not None for point in rounds.points)
    if known < NEEDED:
        return ngettext(
            "Not enough rounds yet: train again {n} more time.",
            "Not enough rounds yet: train again {n} more times.",
            NEEDED - known,
        )
    return instant_curve.advice(rounds.points)


def describe(rounds: Rounds) -> str:
    """The runs in order, and what their score is."""
    return _(
        "{runs}: {score} on dev",
        runs=" → ".join(rounds.runs),
        score=tasks.score_title(rounds.score),
    )
