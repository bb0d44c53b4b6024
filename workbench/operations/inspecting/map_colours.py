"""What the points of a map are coloured by: gold, predictions and errors of a run, split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import N_, _
from workbench.operations.inspecting import corpus_index
from workbench.operations.runs import missing, predict, results
from workbench.operations.schema import labels
from workbench.storage.documents import documents
from workbench.storage.runs import runs
from workbench.tasks import spec as tasks
from workbench.text.document import SPLITS
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run

GOLD, PREDICTION, ERROR, SPLIT, CLUSTER = "gold", "prediction", "error", "split", "cluster"
RIGHT, WRONG = N_("right"), N_("wrong")
Place = tuple[int, int, int]  # document, start, end
CHUNK_PREDICTIONS = 2000  # predictions in memory at once


@dataclass(frozen=True)
class Way:
    """key: as `coloured` gets it; of: the name of the layer or the id of the run."""

    kind: str
    of: str
    title: str

    @property
    def key(self) -> str:
        return f"{self.kind}:{self.of}"


@dataclass(frozen=True)
class ColourGroup:
    """Points of one colour. label: of the project, None for others. count: points."""

    name: str
    label: Any = None
    count: int = 0


@dataclass(frozen=True)
class Colours:
    """groups: in the order of the legend. codes: the number of the group of each point."""

    key: str
    groups: tuple[ColourGroup, ...]
    codes: tuple[int, ...]


def ways(project: Project) -> tuple[Way, ...]:
    """Gold of each layer, split, cluster, and predictions and errors of each finished run."""
    options = [
        Way(GOLD, layer.name, _("Gold: {layer}", layer=layer.name))
        for layer in labels.layers(project)
        if layer.traits.record
    ]
    options += [Way(SPLIT, "", _("Split")), Way(CLUSTER, "", _("Cluster (k-means)"))]
    for run in results.all_runs(project):
        if run.status in ("done", "stopped") and not missing.of_run(run):
            name = run.name
            options.append(Way(PREDICTION, str(run.id), _("Prediction: {run}", run=name)))
            options.append(Way(ERROR, str(run.id), _("Right or wrong: {run}", run=name)))
    return tuple(options)


def coloured(
    project: Project, key: str, places: Sequence[Place], clusters: Sequence[int]
) -> Colours:
    """The groups of points. Not for the main thread.

    Predictions are those stored in the project. Raises WorkbenchError if a run was deleted.
    """
    kind, _colon, of = key.partition(":")
    if kind == CLUSTER:
        return _grouped(key, [_("cluster {n}", n=cluster + 1) for cluster in clusters], ())
    if kind == SPLIT:
        splits = documents.splits(project.db)
        return _grouped(key, [splits.get(id) or "" for id, _start, _end in places], SPLITS)
    if kind == GOLD:
        return _grouped(key, corpus_index.labels_of(project, places, of), _labels(project, of))
    run = results.run(project, int(of))
    values = (
        _predicted(project, run, places) if kind == PREDICTION else _judged(project, run, places)
    )
    order = _labels(project, run.layer) if kind == PREDICTION else (_(RIGHT), _(WRONG))
    return _grouped(key, values, order)


def _labels(project: Project, layer: str) -> tuple[Any, ...]:
    return next((item.labels for item in labels.layers(project) if item.name == layer), ())


def _grouped(key: str, names: Sequence[str], order: Sequence[Any]) -> Colours:
    """order: labels or names that come first; the others by frequency, "" last."""
    counts = Counter(names)
    known = {getattr(item, "name", item): item for item in order}
    ordered = [name for name in known if counts[name]]
    ordered += [name for name, _count in counts.most_common() if name and name not in known]
    groups = [
        ColourGroup(name, item if hasattr(item := known.get(name), "name") else None, counts[name])
        for name in ordered
    ]
    if counts[""]:
        groups.append(ColourGroup("", None, counts[""]))
    number = {group.name: at for at, group in enumerate(groups)}
    return Colours(key, tuple(groups), tuple(number[name] for name in names))


def _predicted(project: Project, run: Run, places: Sequence[Place]) -> list[str]:
    """The predicted label of each point: of spans over it, else of the document."""
    texts = dict(documents.text_hashes(project.db))
    labels: list[str] = []
    for start in range(0, len(places), CHUNK_PREDICTIONS):
        part = places[start : start + CHUNK_PREDICTIONS]
        rows = runs.decided_labels(project.db, run.id, {id for id, _start, _end in part})
        answers = {id: row for id, row in rows.items() if row.text_hash == texts.get(id)}
        labels += [_at(answers.get(id), start, end) for id, start, end in part]
    return labels


def _at(decided: runs.Decided | None, start: int, end: int) -> str:
    if decided is None:
        return ""
    if decided.label is not None:
        return decided.label
    return corpus_index.label_over(decided.spans, start, end) or next(iter(decided.labels), "")


def _judged(project: Project, run: Run, places: Sequence[Place]) -> list[str]:
    """Whether the prediction for the document equals gold; "" without either."""
    layer = results.layer_of(project, run)
    info = tasks.info(results.task_of(run))
    judged = dict.fromkeys((id for id, _start, _end in places), "")
    ids = list(judged)
    for start in range(0, len(ids), CHUNK_PREDICTIONS):
        part = ids[start : start + CHUNK_PREDICTIONS]
        records = list(documents.records(project.db, layers=(layer.name,), ids=part))
        answers = predict.stored(project, run, [record.document for record in records])
        for record in records:
            id = row_id(record.document)
            gold = info.gold(record, layer.name)
            if gold is not None and (answer := answers.get(id)) is not None:
                judged[id] = _(RIGHT) if info.agrees(gold, answer) else _(WRONG)
    return [judged[id] for id, _start, _end in places]
