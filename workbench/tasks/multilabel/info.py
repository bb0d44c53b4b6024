"""Multi-label classification: description, settings, decoding and scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import N_, _
from workbench.tasks.classify.info import POOLING
from workbench.tasks.heads.info import INPUT_FORM, LAYER_OPTIONS, LM_WEIGHT
from workbench.tasks.losses.info import CLASS_WEIGHTS, FOCAL_GAMMA, LABEL_SMOOTHING, SAMPLING
from workbench.tasks.spec import NONE, PER_ITEM, ErrorText, ScoreInfo, TaskInfo
from workbench.text.dataset import Record
from workbench.text.mistakes import MISSED, SPURIOUS, Mistake, loss_of

if TYPE_CHECKING:
    import numpy as np

    from workbench.metrics.classes import LabelScore
    from workbench.metrics.label_counts import LabelCounts
    from workbench.runtime.inputs import Prepared, Preparer
    from workbench.text.document import Document
    from workbench.text.fields import LabelScores, Prediction

IMBALANCE_OF_LABELS = (
    replace(
        CLASS_WEIGHTS,
        help=N_(
            "Weights of the documents that have a label, against those that do not, in the loss "
            "of this label (pos_weight of torch). Balanced: documents without it / documents with "
            "it. Square root: the square root of this. Effective number: the same of (1 - βⁿ) / "
            "(1 - β) of n documents, with β = 0.999, or as in effective:0.99 (Cui et al. 2019). By "
            "hand: POS=2, NEG=0.5; other labels have 1."
        ),
    ),
    SAMPLING,
    FOCAL_GAMMA,
    replace(
        LABEL_SMOOTHING,
        help=N_(
            "Share of the target that is spread evenly over having a label and not having it: 0.1 "
            "makes the probability to learn 0.95 and 0.05 instead of 1 and 0. 0 for none."
        ),
    ),
)

USUAL = 0.5  # threshold of a label before one is fitted


@dataclass(frozen=True)
class LabelsGold:
    """The classes of a document, sorted; the empty set is valid."""

    chosen: tuple[str, ...] = ()
    left_out: int = 0

    def labels(self) -> Iterable[str]:
        return self.chosen

    def to_json(self) -> object:
        return list(self.chosen)


class MultilabelInfo(TaskInfo):
    id = "multilabel"
    title = N_("Document classes, several per document")
    short = N_("Multi")
    predicts = N_("any number of classes per document")
    definition = N_(
        "Every label is decided independently: its probability is compared with the threshold "
        "that gives the highest F1 on dev. Micro F1 pools the decisions of all labels; macro F1 is "
        "the mean of the F1 of every label that is gold or predicted. Mean average precision needs "
        "no thresholds; labels without a gold document are excluded."
    )
    layer_kinds = ("multi",)
    scores = (
        ScoreInfo("micro_f1", N_("Micro F1"), hub="f1"),
        ScoreInfo("macro_f1", N_("Macro F1"), hub="f1"),
        ScoreInfo("mean_average_precision", N_("Mean average precision")),
        ScoreInfo("exact_match", N_("Exact match"), selects=False, hub="accuracy"),
    )
    main = "micro_f1"
    second = "macro_f1"
    beside = ("mean_average_precision",)
    outputs = ("LabelScores",)
    options = (*IMBALANCE_OF_LABELS, POOLING, *LAYER_OPTIONS, LM_WEIGHT, INPUT_FORM)
    new_units = INPUT_FORM.name
    least_labels = 1
    pipeline = "text-classification"
    taught = PER_ITEM

    def gold(self, record: Record, layer: str) -> LabelsGold:
        return LabelsGold(tuple(sorted(record.marks.get(layer, ()))))

    def problem(self, counts: Mapping[str, int], layer: str) -> str:
        if counts:
            return ""
        return _("No training document of layer {layer!r} has a class.", layer=layer)

    def prepare(
        self, preparer: Preparer, documents: Sequence[Document], max_length: int
    ) -> Prepared:
        return preparer.whole(documents, max_length, texts=self.texts)

    # ---------------------------------------------------------------- predictions

    def decode(
        self,
        logits: Sequence[Mapping[str, np.ndarray]],
        prepared: Prepared,
        labels: Sequence[str],
        decoder: Mapping[str, Any],
    ) -> list[Prediction]:
        """logits: "logits" (L,). decoder: "thresholds" (L,) in the order of the labels; USUAL
        without them.

        "temperature" divides the logits; thresholds are on the probabilities that it gives.
        """
        from workbench.runtime.decoding import sigmoid
        from workbench.text.fields import LabelScores, Prediction

        temperature = float(decoder.get("temperature", 1.0))
        thresholds = tuple(map(float, decoder.get("thresholds") or [USUAL] * len(labels)))
        every = (sigmoid(outputs["logits"] / temperature) for outputs in logits)
        return [
            Prediction(
                (LabelScores(tuple(labels), tuple(map(float, scores)), thresholds),), bool(cut)
            )
            for scores, cut in zip(every, prepared.cut, strict=True)
        ]

    def fit(
        self,
        golds: Sequence[LabelsGold],
        predictions: Sequence[Prediction],
        labels: Sequence[str],
    ) -> dict[str, Any]:
        """The threshold with the highest F1 of each label; USUAL for one without a document."""
        from workbench.metrics.ranking import best_threshold

        scores, relevant = _table(golds, predictions, labels)
        columns = zip(scores.T, relevant.T, strict=True)
        return {"thresholds": [best_threshold(*column, USUAL) for column in columns]}

    # ---------------------------------------------------------------- scores

    def score(
        self, golds: Sequence[LabelsGold], predictions: Sequence[Prediction]
    ) -> dict[str, float]:
        from workbench.metrics.classes import averages, ratio

        rows = self.per_label(golds, predictions)
        counts = [_counts(*pair) for pair in zip(golds, predictions, strict=True)]
        right, predicted, gold = (sum(column) for column in zip((0, 0, 0), *counts, strict=True))
        ranked = [row.average_precision for row in rows if row.average_precision is not None]
        return {
            "micro_f1": ratio(2 * right, predicted + gold),
            "macro_f1": averages(rows)[0],
            "mean_average_precision": ratio(sum(ranked), len(ranked)),
            "exact_match": ratio(sum(map(self.agrees, golds, predictions)), len(golds)),
        }

    def per_label(
        self, golds: Sequence[LabelsGold], predictions: Sequence[Prediction]
    ) -> tuple[LabelScore, ...]:
        from dataclasses import replace

        from workbench.metrics.classes import label_score
        from workbench.metrics.ranking import average_precision

        labels = _labels(predictions)
        scores, relevant = _table(golds, predictions, labels)
        gold, predicted, both = _tallies(golds, predictions)
        return tuple(
            replace(
                label_score(label, both[label], predicted[label], gold[label]),
                average_precision=average_precision(scores[:, number], relevant[:, number]),
            )
            for number, label in enumerate(labels)
            if gold[label] or predicted[label]
        )

    def statistic(
        self,
        golds: Sequence[LabelsGold],
        predictions: Sequence[Prediction],
        labels: Sequence[str],
    ) -> LabelCounts:
        from workbench.metrics import label_counts

        scores, _relevant = _table(golds, predictions, labels)
        ours = [gold.chosen for gold in golds]
        theirs = list(map(_chosen, predictions))
        return label_counts.of_sets(ours, theirs, labels, scores=scores, exclusive=False)

    def confidences(
        self, golds: Sequence[LabelsGold], predictions: Sequence[Prediction]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(M,) each, of every label of every document: its probability, whether it is gold, and the
        document.
        """
        from workbench.metrics import calibration

        pairs = enumerate(zip(golds, predictions, strict=True))
        return calibration.decisions(
            (score, label in gold.chosen, at)
            for at, (gold, pair) in pairs
            for label, score in label_scores(pair).as_dict().items()
        )

    def temperature(
        self, golds: Sequence[LabelsGold], predictions: Sequence[Prediction]
    ) -> float | None:
        from workbench.metrics.calibration import label_temperature

        labels = _labels(predictions)
        return label_temperature(*_table(golds, predictions, labels)) if labels else None

    def rescaled(self, prediction: Prediction, temperature: float) -> Prediction:
        """Thresholds move with the probabilities, so that the decisions stay."""
        from workbench.metrics.calibration import logit
        from workbench.runtime.decoding import sigmoid
        from workbench.text.fields import LabelScores, Prediction

        before = label_scores(prediction)
        if prediction.no_answer:
            return prediction
        scores, thresholds = (
            tuple(map(float, sigmoid(logit(values) / temperature)))
            for values in (before.scores, before.thresholds)
        )
        return Prediction((LabelScores(before.labels, scores, thresholds),), prediction.cut)

    def with_thresholds(self, prediction: Prediction, thresholds: Sequence[float]) -> Prediction:
        from workbench.text.fields import LabelScores, Prediction

        before = label_scores(prediction)
        if prediction.no_answer:
            return prediction
        changed = LabelScores(before.labels, before.scores, tuple(map(float, thresholds)))
        return Prediction((changed,), prediction.cut)

    def agrees(self, gold: LabelsGold, prediction: Prediction) -> bool:
        return set(gold.chosen) == set(_chosen(prediction))

    def error(self, document: Document, gold: LabelsGold, prediction: Prediction) -> ErrorText:
        """`confidence`: of the wrong decision that is furthest from its threshold."""
        predicted = label_scores(prediction)
        scores = predicted.as_dict()
        wrong = set(gold.chosen).symmetric_difference(predicted.chosen)
        sure = [
            scores[label] if label in predicted.chosen else 1 - scores[label]
            for label in wrong
            if label in scores
        ]
        return ErrorText(
            ", ".join(gold.chosen) or NONE,
            ", ".join(predicted.chosen) or NONE,
            max(sure, default=0.0),
        )

    def mistakes(
        self, document: Document, gold: LabelsGold, prediction: Prediction
    ) -> list[Mistake]:
        """One for every label that is decided wrongly; confidence is that of yes, or of no."""
        predicted = label_scores(prediction)
        scores, chosen = predicted.as_dict(), set(predicted.chosen)
        missed = [
            Mistake(MISSED, label, "", 1 - scores.get(label, 0.0), loss_of(scores.get(label, 0.0)))
            for label in gold.chosen
            if label not in chosen
        ]
        if prediction.no_answer and not missed:
            missed = [Mistake(MISSED, "", "", 0.0, loss_of(0.0))]
        return missed + [
            Mistake(SPURIOUS, "", label, scores[label], loss_of(1 - scores[label]))
            for label in predicted.chosen
            if label not in gold.chosen
        ]


def label_scores(prediction: Prediction) -> LabelScores:
    """Empty for a missing prediction."""
    from workbench.text.fields import LabelScores

    return prediction.get(LabelScores) or LabelScores((), (), ())


def _labels(predictions: Sequence[Prediction]) -> tuple[str, ...]:
    """The labels that are decided; () if there is no answer at all."""
    return next((scores.labels for scores in map(label_scores, predictions) if scores.labels), ())


def _chosen(prediction: Prediction) -> tuple[str, ...]:
    """The predicted labels; no answer is one that is always wrong."""
    return (NONE,) if prediction.no_answer else label_scores(prediction).chosen


def _table(
    golds: Sequence[LabelsGold], predictions: Sequence[Prediction], labels: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """scores (N, L) and gold (N, L), see `metrics.ranking.table`."""
    from workbench.metrics.ranking import table

    scores = [label_scores(prediction).as_dict() for prediction in predictions]
    return table(scores, [gold.chosen for gold in golds], labels)


def _counts(gold: LabelsGold, prediction: Prediction) -> tuple[int, int, int]:
    """(correct, predicted, gold) counts of one document."""
    chosen = _chosen(prediction)
    return len(set(gold.chosen) & set(chosen)), len(chosen), len(gold.chosen)


def _tallies(
    golds: Sequence[LabelsGold], predictions: Sequence[Prediction]
) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Numbers of documents for which each label is gold, is predicted, and is both."""
    gold: Counter[str] = Counter()
    predicted: Counter[str] = Counter()
    both: Counter[str] = Counter()
    for right, prediction in zip(golds, predictions, strict=True):
        chosen = label_scores(prediction).chosen
        gold.update(right.chosen)
        predicted.update(chosen)
        both.update(set(right.chosen) & set(chosen))
    return gold, predicted, both


INFO = MultilabelInfo()
