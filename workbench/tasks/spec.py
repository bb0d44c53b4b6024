"""The tasks that can be trained: which layers fit, what gold is, how answers are scored. No torch here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _
from workbench.text.dataset import Record
from workbench.text.document import TEXT
from workbench.text.labels import Layer
from workbench.text.spans import Span, flatten

if TYPE_CHECKING:
    from workbench.text.fields import (
        Prediction,
    )  # brings numpy, which stays off the way to the first window


@dataclass(frozen=True)
class TaskInfo:
    """`kinds` are the layer kinds it learns, `texts` how many texts a document of the layer has."""

    id: str
    title: str
    kinds: tuple[str, ...]
    texts: int
    best_by: str
    definition: str


TASKS: tuple[TaskInfo, ...] = (
    TaskInfo("classify", N_("Document class"), ("class",), 1, "macro_f1", N_("One class for each document; macro F1 is the mean of the F1 of every label that is gold or predicted.")),
    TaskInfo("pairs", N_("Sentence pair"), ("class",), 2, "macro_f1", N_("One class for each pair; macro F1 is the mean of the F1 of every label that is gold or predicted.")),
    TaskInfo("tag", N_("Token tagging"), ("span", "tag"), 1, "span_f1", N_("A span counts as right if start, end and label are right (strict, micro-averaged); gold is made flat: of overlapping spans the longest, the earliest on a tie.")),
)  # fmt: skip
BY_ID = {one.id: one for one in TASKS}
LATER = ("choice", "wic", "spans", "relations", "coref", "srl", "qa", "lm", "text2text", "instruct")


def info(task: str) -> TaskInfo:
    """Raises SpecError naming the tasks that exist."""
    if task not in BY_ID:
        raise SpecError(
            _("There is no task {task!r}.").format(task=task),
            hint=_("Known: {known}.").format(known=", ".join(BY_ID)),
        )
    return BY_ID[task]


def fits(task: str, layer: Layer) -> bool:
    return layer.kind in info(task).kinds and layer.texts == info(task).texts


def task_of(layer: Layer) -> str | None:
    """The task that learns this layer, None if there is none yet."""
    return next((one.id for one in TASKS if fits(one.id, layer)), None)


@dataclass(frozen=True)
class Gold:
    """What is right for one document: `label` for classes and pairs, flat `spans` of the first text for tags.

    `left_out` spans could not be kept: overlapped by a longer one, empty, or in another text.
    """

    label: str | None = None
    spans: tuple[Span, ...] = ()
    left_out: int = 0

    def to_json(self) -> object:
        """For `gold_fingerprint`."""
        return (
            self.label
            if self.label is not None
            else [[one.start, one.end, one.label] for one in self.spans]
        )


def gold(task: str, record: Record, layer: str) -> Gold:
    """What a record says of a layer, as the task sees it."""
    if task in ("classify", "pairs"):
        marks = record.marks.get(layer, ())
        return Gold(marks[0] if marks else None)
    given = record.spans.get(layer, ())
    kept, _ = flatten(one for one in given if one.field == TEXT)
    plain = tuple(Span(one.start, one.end, one.label) for one in kept)
    return Gold(None, plain, len(given) - len(plain))


def usable(task: str, record: Record, layer: str) -> bool:
    """Whether the record can be learned from: submitted, with a class where the task needs one."""
    return record.states.get(layer) == "submitted" and (
        task == "tag" or bool(record.marks.get(layer))
    )


def score(task: str, golds: Sequence[Gold], predictions: Sequence[Prediction]) -> dict[str, float]:
    """The score table of a split; golds and predictions of the same documents in the same order. Fractions of 1.

    Classes: accuracy, macro_f1, micro_f1, weighted_f1. Tags: span_precision, span_recall, span_f1, token_accuracy.
    """
    from workbench.metrics import classes, spans

    if task in ("classify", "pairs"):
        return dict(
            classes.scores([one.label for one in golds], [one.label for one in predictions])
        )
    borders = [[(word.start, word.end) for word in one.words] for one in predictions]
    right, found = [one.spans for one in golds], [one.spans for one in predictions]
    return {
        **spans.scores(right, found),
        "token_accuracy": spans.token_accuracy(right, found, borders),
    }
