"""Which documents are scored for a layer, what is right for them, and the score table of any answers to them.

Training runs, evaluation and prompts share this, so equal test sets give equal fingerprints.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.base.i18n import _
from workbench.tasks import spec as tasks
from workbench.text.dataset import Record, gold_fingerprint
from workbench.text.document import Document
from workbench.text.labels import Layer

if TYPE_CHECKING:
    from workbench.metrics.classes import LabelScore
    from workbench.project.project import Project
    from workbench.text.fields import Prediction


@dataclass(frozen=True)
class Scored:
    """A document that is learned from or scored, with what is right for it."""

    document: Document
    gold: tasks.Gold


@dataclass(frozen=True)
class Evaluation:
    """The score table of one split. `n` documents were scored; `fingerprint` is that of texts and gold."""

    split: str
    n: int
    fingerprint: str
    scores: Mapping[str, float]
    per_label: tuple[LabelScore, ...]
    definition: str

    def to_json(self) -> dict:
        return {
            "split": self.split,
            "n": self.n,
            "fingerprint": self.fingerprint,
            "scores": dict(self.scores),
            "per_label": [one.to_json() for one in self.per_label],
            "definition": self.definition,
        }


def why_left_out(task: str, record: Record, layer: str) -> str:
    """Why a record is no training data for the layer, "" if it is."""
    if record.states.get(layer) != "submitted":
        return _("not submitted")
    if not record.document.text.strip():
        return _("empty text")
    if not tasks.usable(task, record, layer):
        return _("submitted without a class")
    return ""


def usable_records(
    project: Project, task: str, layer: Layer, *, splits: Sequence[str] | None = None
) -> Iterator[Record]:
    """The submitted records of a layer that the task can use, in the order of the project."""
    from workbench.storage import documents

    for record in documents.records(
        project.db, layers=(layer.name,), splits=splits, submitted_in=layer.name
    ):
        if not why_left_out(task, record, layer.name):
            yield record


def scored_documents(project: Project, task: str, layer: Layer, split: str) -> tuple[Scored, ...]:
    """What a score on `split` is over, with today's gold."""
    return tuple(
        Scored(one.document, tasks.gold(task, one, layer.name))
        for one in usable_records(project, task, layer, splits=(split,))
    )


def fingerprint(documents: Sequence[Scored]) -> str:
    return gold_fingerprint((one.document.text_hash, one.gold.to_json()) for one in documents)


def evaluate(
    task: str, split: str, documents: Sequence[Scored], predictions: Sequence[Prediction]
) -> Evaluation:
    """Score answers against gold; both of the same documents in the same order."""
    golds = [one.gold for one in documents]
    scores = tasks.score(task, golds, predictions) if golds else {}
    rows = per_label(task, golds, predictions) if golds else ()
    return Evaluation(
        split, len(golds), fingerprint(documents), scores, rows, tasks.info(task).definition
    )


def per_label(
    task: str, golds: Sequence[tasks.Gold], predictions: Sequence[Prediction]
) -> tuple[LabelScore, ...]:
    from workbench.metrics import classes, spans

    if task == "tag":
        return tuple(
            spans.per_label([one.spans for one in golds], [one.spans for one in predictions])
        )
    return tuple(
        classes.per_label([one.label for one in golds], [one.label for one in predictions])
    )


def agrees(task: str, gold: tasks.Gold, prediction: Prediction) -> bool:
    """Whether an answer equals gold: the class, or all spans with borders and labels; `gold` is flat, as the task learns it.

    The only place that says what an error is: the error table, the documents it opens and two runs side by side all ask here.
    """
    if task != "tag":
        return gold.label == prediction.label
    return span_set(gold.spans) == span_set(prediction.spans)


def span_set(spans) -> frozenset[tuple[int, int, str]]:
    return frozenset((one.start, one.end, one.label) for one in spans)
