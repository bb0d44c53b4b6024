"""The documents to score for a layer, their gold labels, and the score table of predictions for
them.

Training runs, evaluation and prompts share this, so that equal test sets have equal fingerprints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

from workbench.base.i18n import _
from workbench.metrics import classes, definitions
from workbench.metrics.evaluation import Evaluation
from workbench.tasks import spec as tasks
from workbench.tasks.spec import TaskInfo
from workbench.text.columns import Column, ValueKind
from workbench.text.dataset import Record, gold_fingerprint
from workbench.text.document import Document
from workbench.text.labels import Layer

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.text.fields import Prediction


@dataclass(frozen=True)
class GoldDocument:
    """A document for training or evaluation, with its gold label."""

    document: Document
    gold: tasks.Gold


def label_columns() -> dict[str, Column]:
    """Key → column of a table of `LabelScore`, with the definition of the score. "roc_auc", which
    it lacks, is in an `Evaluation`.
    """

    def share(key: str, title: str) -> Column:
        hint = definitions.LABEL_DEFINITIONS[key].sentence()
        return Column(title, attrgetter(key), kind=ValueKind.SHARE, key=key, hint=hint)

    occurrences = _("Number of occurrences in gold")
    columns = (
        Column(_("Label"), attrgetter("label"), key="label"),
        share("precision", _("Precision")),
        share("recall", _("Recall")),
        share("f1", _("F1")),
        share("average_precision", _("AP")),
        share("roc_auc", _("AUC")),
        Column(
            _("Support"),
            attrgetter("support"),
            kind=ValueKind.COUNT,
            key="support",
            hint=occurrences,
        ),
    )
    return {column.key: column for column in columns}


def is_fraction(name: str) -> bool:
    """Whether a score is a fraction of 1, which is shown in percent."""
    return not tasks.is_error(name) and not definitions.is_ratio(name)


def is_known(name: str) -> bool:
    """Whether a score has a definition or belongs to a task that is installed."""
    declared = (score.name for task in tasks.all_tasks() for score in task.scores)
    return name in definitions.DEFINITIONS or name in declared


def why_left_out(info: TaskInfo, record: Record, layer: str) -> str:
    """Why a record cannot be used for training in the layer, "" if it can."""
    if record.states.get(layer) != "submitted":
        return _("not submitted")
    if not record.document.text.strip():
        return _("empty text")
    return "" if tasks.usable(info, record, layer) else info.why_unusable()


def usable_records(
    project: Project, info: TaskInfo, layer: Layer, *, splits: Sequence[str] | None = None
) -> Iterator[Record]:
    """The submitted records of a layer that the task can use, in project order."""
    from workbench.storage.documents import documents

    for record in documents.records(
        project.db, layers=(layer.name,), splits=splits, submitted_in=layer.name
    ):
        if not why_left_out(info, record, layer.name):
            yield record


def scored_documents(
    project: Project, info: TaskInfo, layer: Layer, *splits: str
) -> tuple[GoldDocument, ...]:
    """The documents that a score on `splits` is computed on, with their current gold labels."""
    return tuple(
        GoldDocument(record.document, gold)
        for record in usable_records(project, info, layer, splits=splits)
        if (gold := info.gold(record, layer.name)) is not None
    )


def fingerprint(documents: Sequence[GoldDocument]) -> str:
    return gold_fingerprint(
        (scored.document.text_hash, scored.gold.to_json()) for scored in documents
    )


def evaluate(
    task: str, split: str, documents: Sequence[GoldDocument], predictions: Sequence[Prediction]
) -> Evaluation:
    """Score predictions against gold, for the same documents in the same order."""
    golds = [scored.gold for scored in documents]
    texts = [scored.document for scored in documents]
    return tasks.evaluate(tasks.info(task), split, texts, golds, predictions)


@dataclass(frozen=True)
class MajorityBaseline:
    """The main score of always predicting the most frequent gold label."""

    label: str
    score: float


def majority_baseline(task: str, evaluation: Evaluation) -> MajorityBaseline | None:
    """On the documents of an evaluation; None without documents, or for a task without classes."""
    info = tasks.info(task)
    gold = [row.label for row in evaluation.per_label for _document in range(row.support)]
    label = classes.majority(gold)
    if label is None or not info.has_majority:
        return None
    return MajorityBaseline(label, classes.baseline(gold)[info.main])
