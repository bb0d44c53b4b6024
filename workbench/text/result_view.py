"""How a kind of prediction is shown, written and reviewed: one ResultView per field.

`builtins.toml` and the manifests of plugins name them (`[[prediction]]`). Pages, commands, exports
and orders of the queue ask the view, so that a new kind of prediction changes none of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import N_, _, ngettext
from workbench.base.registry import PluginError, registry
from workbench.text.mistakes import TITLES

if TYPE_CHECKING:  # these import numpy, which the start of the window must not
    import numpy as np

    from workbench.text.dataset import Record
    from workbench.text.document import Document
    from workbench.text.fields import Field, Prediction
    from workbench.text.labels import Layer
    from workbench.text.mistakes import Mistake
    from workbench.text.questions import Question
    from workbench.text.relations import Relation
    from workbench.text.spans import Span

KIND = "prediction"  # in the registry
NONE = "–"  # shown for no label, and the name of its row and column in a matrix
CONFIDENCE, LOSS, DISTANCE = "confidence", "loss", "distance"  # orders of the list of errors
ERROR_KIND, DOCUMENT = "kind", "document"
ORDERS = {
    CONFIDENCE: N_("Confidence of the wrong prediction"),
    LOSS: N_("Loss"),
    DISTANCE: N_("Distance from gold"),
    ERROR_KIND: N_("Kind of error"),
    DOCUMENT: N_("Order of the documents"),
}


@dataclass(frozen=True)
class Answer:
    """One predicted label; offsets in code points of `field`, None for a whole document.

    value: a number in place of a label; written: a text; relation: with its spans. chain: the
    number of the chain of a mention.
    """

    label: str
    score: float | None
    start: int | None = None
    end: int | None = None
    field: str = "text"
    value: float | None = None
    written: str | None = None
    chain: int | None = None
    relation: Relation | None = None


@dataclass(frozen=True)
class DetailRow:
    """A row of the prediction for one document: a label with its probability.

    text: of a word or an answer, "" for a label of the document. threshold: the probability from
    which the label is predicted, None unless it has its own.
    """

    label: str
    share: float
    text: str = ""
    threshold: float | None = None


class ResultView:
    """The light part of a kind of prediction. Subclasses set `field` and override methods.

    The methods here are those of labels of a document: with `labels` and `shares`, everything else
    works. field: the class of the values, see `workbench.text.fields`. on_document: labels of a
    document as a whole are predicted; independent: each of them is decided on its own.

    Of errors: by_label: gold and predicted labels tell errors apart, so that they are filters and
    confusions. quotes: what gold and the prediction say are words of the text, not labels. asks:
    the label of an error is a question. by_size: errors have a size, which is their loss, and no
    confidence. orders: of the list of errors, of ORDERS, the default one first; DISTANCE is that
    of the task (`TaskInfo.distance`). column: title of the texts in the rows of `detail`.
    """

    field: type[Field]
    on_document = True
    independent = False
    by_label = True
    quotes = False
    asks = False
    by_size = False
    orders: tuple[str, ...] = (CONFIDENCE, LOSS, ERROR_KIND, DOCUMENT)
    column = N_("Word")

    @property
    def key(self) -> str:
        """The key of the field, which is the id of the view; "" for an unknown one."""
        return self.field.key if hasattr(self, "field") else ""

    # ---------------------------------------------------------------- what is predicted

    def labels(self, prediction: Prediction) -> tuple[str, ...]:
        """The predicted labels of the document as a whole."""
        return ()

    def shares(self, prediction: Prediction) -> Mapping[str, float]:
        """The probability of every label of the document; {} for predictions of other kinds."""
        return {}

    def thresholds(self, prediction: Prediction) -> Mapping[str, float]:
        """The probability from which each label is predicted; {} unless each has its own."""
        return {}

    def answers(self, prediction: Prediction) -> list[Answer]:
        """The predicted labels, in the form of suggestions."""
        shares = self.shares(prediction) if prediction.has_probabilities else {}
        return [Answer(label, shares.get(label)) for label in self.labels(prediction)]

    def compared(self, prediction: Prediction) -> tuple[object, ...]:
        """The decisions for a document, in order: used to compare an export with its source."""
        return (self.labels(prediction),)

    def decisions(self, prediction: Prediction, labels: Sequence[str]) -> np.ndarray:
        """float (M, K): the probabilities of each decision, which orders of the queue read. The
        columns of one decision for the document follow `labels`.
        """
        import numpy as np

        shares = self.shares(prediction)
        row = np.array([[shares.get(label, 0.0) for label in labels]]).reshape(1, len(labels))
        return row if shares else row[:0]

    # ---------------------------------------------------------------- as text, table and file

    def line(self, document: Document, prediction: Prediction) -> str:
        """The prediction and its text in a line, or several lines, of a terminal."""
        shares = self.shares(prediction)
        labels = ", ".join(f"{label}  {shares[label]:.3f}" for label in self.labels(prediction))
        return f"{labels or NONE}  {document.text}"

    def cells(self, prediction: Prediction) -> tuple[str, str, str]:
        """The columns "label", "score" and "spans" of a table of predictions."""
        labels, shares = self.labels(prediction), self.shares(prediction)
        return "; ".join(labels), "; ".join(f"{shares[label]:.6f}" for label in labels), ""

    def as_gold(
        self,
        record: Record,
        layer: str,
        prediction: Prediction,
        questions: Mapping[str, Sequence[Question]],
    ) -> Record:
        """The record with the prediction in the place of the labels of a layer, for exports.

        questions: those about the document, by layer.
        """
        return replace(record, marks={**record.marks, layer: self.labels(prediction)})

    def from_gold(self, document: Document, gold: Any, labels: Sequence[str]) -> Prediction | None:
        """Gold of a task as if it were predicted with certainty, so that the labels of a person can
        be scored against those of another; None for a kind that has no such form.
        """
        return None

    # ---------------------------------------------------------------- errors

    def about(self, mistake: Mistake, quote: str) -> str:
        """What an error is about. quote: the words at its place, or the beginning of the text."""
        return quote

    def side(self, mistake: Mistake, text: str, *, gold: bool) -> str:
        """What gold or the prediction says there, "" for nothing. text: the whole one."""
        return mistake.gold if gold else mistake.predicted

    def kind_title(self, kind: str) -> str:
        """The title of a kind of mistakes."""
        return _(TITLES[kind])

    def caption(self, span: Span) -> str:
        """What a predicted span, or one of gold, is called in the text."""
        return span.label

    def detail(
        self, document: Document, prediction: Prediction, mistake: Mistake
    ) -> list[DetailRow]:
        """The prediction at the place of an error, the most probable label first."""
        thresholds = self.thresholds(prediction)
        rows = (
            DetailRow(label, share, threshold=thresholds.get(label))
            for label, share in self.shares(prediction).items()
        )
        return sorted(rows, key=lambda row: -row.share)

    def count(self, n: int) -> str:
        """How many rows `detail` has, for a kind whose rows are texts."""
        return ngettext("{n} word", "{n} words", n)

    def scatter(
        self, golds: Sequence[Any], predictions: Sequence[Prediction], labels: Sequence[str]
    ) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
        """Gold and predicted values of documents, for a scatter plot; None for kinds without."""
        return None

    # ---------------------------------------------------------------- suggestions

    def suggestion(self, layer: Layer, label: str) -> str:
        """What a suggestion of a label of the document says beside the label."""
        return _("as {layer}", layer=layer.name)


class _UnknownView(ResultView):
    on_document = False


UNKNOWN = _UnknownView()  # of a prediction without a field, or whose plugin is disabled


def of_key(key: str) -> ResultView | None:
    """The view of a field by its key; None if it has none."""
    if not registry().has(KIND, key):
        return None
    try:
        view: ResultView = registry().get(KIND, key)
    except PluginError:  # recorded by the registry
        return None
    return view


def of(prediction: Prediction | None) -> ResultView:
    """The view of the first field that has one."""
    keys = (item.key for item in prediction.fields) if prediction is not None else ()
    return next((view for key in keys if (view := of_key(key)) is not None), UNKNOWN)


def of_outputs(outputs: Sequence[str]) -> ResultView:
    """The view of a task, from its `outputs`."""
    from workbench.text import fields

    kinds = (fields.named(name) for name in outputs)
    views = (of_key(kind.key) for kind in kinds if kind is not None and kind.key)
    return next((view for view in views if view is not None), UNKNOWN)


def answer_json(
    document: Document, answer: Prediction, *, named: bool = False
) -> dict[str, object]:
    """One prediction as an object, as commands and servers write it: the text (both of a pair), the
    output of the model, and the key if the input had keys.
    """
    texts = dict(document.texts)
    return {**({"key": document.key} if named else {}), **texts, **answer.to_json()}
