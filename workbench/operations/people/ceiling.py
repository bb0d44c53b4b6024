"""The human ceiling: what people score when each is measured against another one.

A run whose score is within the interval of the ceiling agrees with gold as well as people agree
with each other; a higher score is then no sign of a better model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from statistics import fmean
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.operations.evaluation import scoring
from workbench.operations.people import agreement
from workbench.operations.people.agreement import PERSON, Annotator
from workbench.operations.runs import results
from workbench.storage.annotation import people
from workbench.storage.labels import labels
from workbench.tasks import spec as tasks
from workbench.text.rows import row_id

if TYPE_CHECKING:  # these import numpy, which the start of the window must not
    from workbench.metrics.agreement import PairScores
    from workbench.metrics.evaluation import Measured
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.tasks.spec import Gold, TaskInfo
    from workbench.text.document import Document
    from workbench.text.fields import Prediction
    from workbench.text.labels import Layer

RANKED = ("mean_reciprocal_rank", "reward_margin")  # scores of probabilities, which people lack
Version = tuple["Document", "Gold"]


@dataclass(frozen=True)
class Ceiling:
    """values: name of a score → mean over pairs of people, in both directions, with a 95% interval.

    people: their names. documents: that two or more of them labelled. rounds: of the bootstrap.
    """

    people: tuple[str, ...]
    documents: int
    values: Mapping[str, Measured] = field(hash=False)
    rounds: int

    def of(self, score: str) -> float | None:
        """None for a score that people do not have."""
        measured = self.values.get(score)
        return None if measured is None else measured.value

    def sentence(self, score: str) -> str:
        """The value with its interval and how it was measured; "" for a score without one."""
        measured, text = self.values.get(score), tasks.score_text
        if measured is None or measured.value is None:
            return ""
        about: dict[str, Any] = {
            "score": tasks.score_title(score),
            "value": text(score, measured.value),
            "people": ", ".join(self.people),
        }
        if measured.interval is None:
            return ngettext(
                "Human ceiling: {score} {value}, mean over pairs of people ({people}) scored "
                "against each other on {n:,} document.",
                "Human ceiling: {score} {value}, mean over pairs of people ({people}) scored "
                "against each other on {n:,} documents.",
                self.documents,
                **about,
            )
        low, high = (text(score, bound) for bound in measured.interval)
        return ngettext(
            "Human ceiling: {score} {value} (95%: {low} – {high}), mean over pairs of people "
            "({people}) scored against each other on {n:,} document; bootstrap over documents.",
            "Human ceiling: {score} {value} (95%: {low} – {high}), mean over pairs of people "
            "({people}) scored against each other on {n:,} documents; bootstrap over documents.",
            self.documents,
            low=low,
            high=high,
            **about,
        )

    def to_json(self) -> dict[str, Any]:
        """As `board --json` prints it."""
        return {
            "people": list(self.people),
            "documents": self.documents,
            "rounds": self.rounds,
            "scores": {name: measured.to_json() for name, measured in self.values.items()},
        }


def of_run(project: Project, run: Run) -> Ceiling | None:
    """The ceiling of the scores of a run, see `ceiling`; None if its task or layer is missing."""
    layer = next((item for item in labels.layers(project.db) if item.id == run.layer_id), None)
    if layer is None or not results.has_task(run):
        return None
    return ceiling(project, layer, tasks.info(results.task_of(run)).compared())


def sentences(project: Project, runs: Iterable[Run]) -> list[str]:
    """The ceiling of the main score of each layer and task of these runs, in a sentence each."""
    of_kind = {(run.layer_id, run.spec.get("task")): run for run in runs if results.has_task(run)}
    every = []
    for run in of_kind.values():
        if (limit := of_run(project, run)) is not None:
            sentence = limit.sentence(tasks.info(results.task_of(run)).main)
            every.append(_("Layer {layer}: {sentence}", layer=run.layer, sentence=sentence))
    return every


def ceiling(
    project: Project,
    layer: Layer,
    info: TaskInfo,
    *,
    rounds: int | None = None,
    watch: Watch = QUIET,
) -> Ceiling | None:
    """The ceiling of the scores of a task, from all documents that several people submitted.

    rounds: resamples, by default those of the scores of runs. None without such documents, or for
    a task whose labels cannot be scored as predictions. Not for the main thread.
    """
    from workbench.metrics.resampling import ROUNDS

    who = [item for item in agreement.annotators(project, layer) if item.kind == PERSON]
    several = people.submitted_by_several(project.db, row_id(layer), [item.id for item in who])
    if not several:
        return None
    sides = [_golds(project, layer, info, person, several) for person in who]
    ids = sorted({id for one, other in permutations(sides, 2) for id in one.keys() & other.keys()})
    place = {id: at for at, id in enumerate(ids)}
    rounds = ROUNDS if rounds is None else rounds
    values = _scores(layer, info, sides, place, rounds, watch)
    if not values:
        return None
    used = [person for person, side in zip(who, sides, strict=True) if side.keys() & place.keys()]
    return Ceiling(tuple(person.name for person in used), len(ids), values, rounds)


def _golds(
    project: Project, layer: Layer, info: TaskInfo, person: Annotator, ids: set[int]
) -> dict[int, Version]:
    """Document id → the document and what the person says, as gold of the task."""
    golds = {}
    for id, record in agreement.versions(project, layer, person, ids).items():
        if scoring.why_left_out(info, record, layer.name):
            continue
        if (gold := info.gold(record, layer.name)) is not None:
            golds[id] = (record.document, gold)
    return golds


def _scores(
    layer: Layer,
    info: TaskInfo,
    sides: Sequence[Mapping[int, Version]],
    place: Mapping[int, int],
    rounds: int,
    watch: Watch,
) -> dict[str, Measured]:
    from workbench.metrics.agreement import PairMeans
    from workbench.metrics.evaluation import Measured
    from workbench.metrics.report import intervals

    pairs: list[PairScores] = []
    plain: list[Mapping[str, float]] = []
    for rows, golds, predictions in _directed(info, layer, sides, place):
        statistic = info.statistic(golds, predictions, layer.names)
        if statistic is None:
            plain.append(info.score(golds, predictions))
        else:
            pairs.append(_pair(rows, statistic))
    if pairs:
        measured = intervals(
            PairMeans(tuple(pairs)), len(place), rounds=rounds, reported=(), watch=watch
        ).scores
    else:
        names = plain[0] if plain else ()
        measured = {name: Measured(fmean(scores[name] for scores in plain)) for name in names}
    return {
        name: value
        for name, value in measured.items()
        if name not in RANKED and value.value is not None
    }


def _pair(rows: Sequence[int], statistic: Any) -> PairScores:
    """Without rankings, which need probabilities."""
    import numpy as np

    from workbench.metrics.agreement import PairScores

    return PairScores(np.array(rows, int), statistic.taken(np.arange(len(rows))))


def _directed(
    info: TaskInfo,
    layer: Layer,
    sides: Sequence[Mapping[int, Version]],
    place: Mapping[int, int],
) -> Iterator[tuple[list[int], list[Gold], list[Prediction]]]:
    """Of every two people, the first one as gold: positions of the documents of both, gold, and the
    labels of the other one as predictions. Nothing for a task without such predictions.
    """
    view = tasks.view_of(info.id)
    for ours, theirs in permutations(sides, 2):
        rows: list[int] = []
        golds: list[Gold] = []
        predictions: list[Prediction] = []
        for id in sorted(ours.keys() & theirs.keys()):
            document, gold = theirs[id]
            predicted = view.from_gold(document, gold, layer.names)
            if predicted is not None:
                rows.append(place[id])
                golds.append(ours[id][1])
                predictions.append(predicted)
        if rows:
            yield rows, golds, predictions
