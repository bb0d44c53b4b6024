"""Document classification: description, settings, decoding and scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import N_, _
from workbench.base.options import Option
from workbench.tasks.heads.info import INPUT_FORM, LAYER_OPTIONS, LM_WEIGHT
from workbench.tasks.losses.info import IMBALANCE
from workbench.tasks.spec import NONE, PER_ITEM, ErrorText, ScoreInfo, TaskInfo
from workbench.text.dataset import Record
from workbench.text.mistakes import LABEL, Mistake, loss_of

if TYPE_CHECKING:
    import numpy as np

    from workbench.metrics.classes import LabelScore
    from workbench.metrics.confusion import Confusion
    from workbench.metrics.label_counts import LabelCounts
    from workbench.runtime.inputs import Prepared, Preparer
    from workbench.text.document import Document
    from workbench.text.fields import Prediction


POOLING = Option(
    "pooling",
    "choice",
    None,
    N_(
        "How the states of a text become one vector: the mean or the maximum over its tokens, the "
        "state that the model reads last, or all three concatenated (Howard and Ruder 2018)."
    ),
    choices=("mean", "max", "last", "concat"),
    title=N_("Pooling"),
    choice_titles=(N_("Mean"), N_("Maximum"), N_("Last state"), N_("Last, maximum and mean")),
    automatic=N_(
        "the classification head of transformers where the model has one; the text of the label, "
        "written by the decoder, for T5 and BART; concatenated for AWD-LSTM; otherwise the mean"
    ),
)


@dataclass(frozen=True)
class ClassGold:
    """The class of a document."""

    label: str
    left_out: int = 0

    def labels(self) -> Iterable[str]:
        return (self.label,)

    def to_json(self) -> object:
        return self.label


class ClassifyInfo(TaskInfo):
    id = "classify"
    title = N_("Document class")
    short = N_("Class")
    predicts = N_("document classes")
    for_pairs = "pairs"
    definition = N_(
        "One class per document. Macro F1 is the mean of the F1 of every label that is gold or "
        "predicted."
    )
    layer_kinds = ("class",)
    scores: tuple[ScoreInfo, ...] = (
        ScoreInfo("accuracy", N_("Accuracy"), hub="accuracy"),
        ScoreInfo("macro_f1", N_("Macro F1"), hub="f1"),
        ScoreInfo("micro_f1", N_("Micro F1"), selects=False),
        ScoreInfo("weighted_f1", N_("Weighted F1"), selects=False),
    )
    main = "macro_f1"
    second = "accuracy"
    has_majority = True
    outputs = ("ClassScores",)
    options: tuple[Option, ...] = (
        *IMBALANCE,
        POOLING,
        *LAYER_OPTIONS,
        LM_WEIGHT,
        INPUT_FORM,
    )
    new_units = INPUT_FORM.name
    pipeline = "text-classification"
    taught = PER_ITEM

    def gold(self, record: Record, layer: str) -> ClassGold | None:
        marks = record.marks.get(layer, ())
        return ClassGold(marks[0]) if marks else None

    def why_unusable(self) -> str:
        return _("submitted without a class")

    def problem(self, counts: Mapping[str, int], layer: str) -> str:
        if len(counts) >= 2:
            return ""
        return _(
            "All training documents of layer {layer!r} have one class; at least two are needed.",
            layer=layer,
        )

    def prepare(
        self, preparer: Preparer, documents: Sequence[Document], max_length: int
    ) -> Prepared:
        return preparer.whole(documents, max_length, texts=self.texts)

    def decode(
        self,
        logits: Sequence[Mapping[str, np.ndarray]],
        prepared: Prepared,
        labels: Sequence[str],
        decoder: Mapping[str, Any],
    ) -> list[Prediction]:
        """logits: "logits" (L,). decoder: "temperature", which divides them; 1 without one."""
        from workbench.runtime import decoding

        temperature = float(decoder.get("temperature", 1.0))
        return [
            decoding.classes(outputs["logits"] / temperature, labels, cut=bool(cut))
            for outputs, cut in zip(logits, prepared.cut, strict=True)
        ]

    def score(
        self, golds: Sequence[ClassGold], predictions: Sequence[Prediction]
    ) -> dict[str, float]:
        from workbench.metrics import classes

        return classes.scores(*_sides(golds, predictions))

    def per_label(
        self, golds: Sequence[ClassGold], predictions: Sequence[Prediction]
    ) -> tuple[LabelScore, ...]:
        from workbench.metrics import classes

        return classes.per_label(*_sides(golds, predictions))

    def statistic(
        self,
        golds: Sequence[ClassGold],
        predictions: Sequence[Prediction],
        labels: Sequence[str],
    ) -> LabelCounts:
        from workbench.metrics import label_counts, ranking

        gold, predicted = _sides(golds, predictions)
        class_scores = [
            prediction.classes.as_dict() if prediction.classes else {} for prediction in predictions
        ]
        scores, _relevant = ranking.table(class_scores, [(label,) for label in gold], labels)
        ours, theirs = ([(label,) for label in side] for side in (gold, predicted))
        return label_counts.of_sets(ours, theirs, labels, scores=scores, exclusive=True)

    def confidences(
        self, golds: Sequence[ClassGold], predictions: Sequence[Prediction]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(M,) each, of every document with a class: its score, whether it is right, its number."""
        from workbench.metrics import calibration

        pairs = enumerate(zip(golds, predictions, strict=True))
        return calibration.decisions(
            (max(pair.classes.scores), self.agrees(gold, pair), at)
            for at, (gold, pair) in pairs
            if pair.classes is not None
        )

    def temperature(
        self, golds: Sequence[ClassGold], predictions: Sequence[Prediction]
    ) -> float | None:
        """Documents with a label that the model does not know are left out."""
        from workbench.metrics.calibration import class_temperature

        rows = [
            (prediction.classes.scores, prediction.classes.labels.index(gold.label))
            for gold, prediction in zip(golds, predictions, strict=True)
            if prediction.classes is not None and gold.label in prediction.classes.labels
        ]
        return class_temperature(*zip(*rows, strict=True)) if rows else None

    def rescaled(self, prediction: Prediction, temperature: float) -> Prediction:
        from workbench.metrics.calibration import log_probabilities
        from workbench.runtime import decoding

        if prediction.classes is None:
            return prediction
        logits = log_probabilities(prediction.classes.scores) / temperature
        return decoding.classes(logits, prediction.classes.labels, cut=prediction.cut)

    def agrees(self, gold: ClassGold, prediction: Prediction) -> bool:
        return gold.label == prediction.label

    def error(self, document: Document, gold: ClassGold, prediction: Prediction) -> ErrorText:
        confidence = max(prediction.classes.scores) if prediction.classes else 0.0
        return ErrorText(gold.label, prediction.label or NONE, confidence)

    def mistakes(
        self, document: Document, gold: ClassGold, prediction: Prediction
    ) -> list[Mistake]:
        if self.agrees(gold, prediction):
            return []
        scores = prediction.classes.as_dict() if prediction.classes else {}
        sure = max(scores.values(), default=0.0)
        loss = loss_of(scores.get(gold.label, 0.0))
        return [Mistake(LABEL, gold.label, prediction.label or "", sure, loss)]

    def confusion(
        self,
        golds: Sequence[ClassGold],
        predictions: Sequence[Prediction],
        labels: Sequence[str],
    ) -> Confusion | None:
        from workbench.metrics import confusion

        gold, predicted = _sides(golds, predictions)
        return confusion.confusion(gold, predicted, labels)


def _sides(
    golds: Sequence[ClassGold], predictions: Sequence[Prediction]
) -> tuple[list[str], list[str]]:
    return [gold.label for gold in golds], [prediction.label or NONE for prediction in predictions]


INFO = ClassifyInfo()
