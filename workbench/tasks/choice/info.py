"""Multiple choice: description, settings, decoding and scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import N_, _
from workbench.base.options import Option
from workbench.tasks.classify.info import POOLING, ClassGold, ClassifyInfo
from workbench.tasks.heads.info import INPUT_FORM, LAYER_OPTIONS, LM_WEIGHT
from workbench.tasks.losses.info import FOCAL_GAMMA, LABEL_SMOOTHING
from workbench.tasks.spec import ScoreInfo
from workbench.text.dataset import Record
from workbench.text.document import CHOICES, TEXT, TEXT_B, Document, choice_names

if TYPE_CHECKING:
    import numpy as np

    from workbench.metrics.accuracy import Accuracy
    from workbench.metrics.classes import LabelScore
    from workbench.metrics.confusion import Confusion
    from workbench.runtime.inputs import Prepared, Preparer
    from workbench.text.fields import Prediction

LOSS_OF_CHOICES = (
    replace(
        FOCAL_GAMMA,
        help=N_(
            "Focal loss: the loss of a document is multiplied by (1 - p)^γ, where p is the "
            "probability of its correct choice, so that easy ones count less (Lin et al. 2017, γ = "
            "2). 0: cross-entropy. There are no class weights and no balanced sampling: the number "
            "of a choice says nothing about it."
        ),
    ),
    replace(
        LABEL_SMOOTHING,
        help=N_(
            "Share of the target that is spread evenly over all choices of the document (Szegedy "
            "et al. 2016). 0 for none."
        ),
    ),
)


class ChoiceInfo(ClassifyInfo):
    """The labels of a layer are the numbers of the choices, "1" to that of the longest list."""

    id = "choice"
    title = N_("Multiple choice")
    short = N_("Choice")
    predicts = N_("the correct one of several answers")
    definition = N_(
        "Share of documents whose correct choice has the highest score. Documents may have "
        "different numbers of choices; chance is the mean of 1 / number. The mean reciprocal rank "
        "is that of 1 / rank of the correct choice."
    )
    layer_kinds = ("choice",)
    texts = CHOICES
    for_pairs = ""
    scores = (
        ScoreInfo("accuracy", N_("Accuracy"), hub="accuracy"),
        ScoreInfo("mean_reciprocal_rank", N_("Mean reciprocal rank")),
    )
    main = "accuracy"
    second = "mean_reciprocal_rank"
    has_majority = False
    taught = ""
    logits = {"logits": "choice"}
    options: tuple[Option, ...] = (*LOSS_OF_CHOICES, POOLING, *LAYER_OPTIONS, LM_WEIGHT, INPUT_FORM)
    pipeline = ""
    hub_task = "multiple-choice"

    def output_names(self, labels: Sequence[str]) -> tuple[str, ...]:
        return ("score",)

    def gold(self, record: Record, layer: str) -> ClassGold | None:
        marks = record.marks.get(layer, ())
        known = choice_names(len(record.document.choices))
        return ClassGold(marks[0]) if marks and marks[0] in known else None

    def why_unusable(self) -> str:
        return _("submitted without one of its choices")

    def problem(self, counts: Mapping[str, int], layer: str) -> str:
        return ""

    # ---------------------------------------------------------------- inputs and predictions

    def prepare(
        self, preparer: Preparer, documents: Sequence[Document], max_length: int
    ) -> Prepared:
        """One input for each choice: the context, and the question with the choice."""
        pairs = [self.pairs(document) for document in documents]
        every = [pair for document_pairs in pairs for pair in document_pairs]
        prepared = preparer.whole(every, max_length, texts=2)
        return prepared.joint(documents, list(map(len, pairs)))

    def pairs(self, document: Document) -> list[Document]:
        """A document with two texts for each choice; of two texts the second is the only one."""
        pairs = [(*texts, "")[:2] for texts in document.inputs]
        return [Document(document.key, ((TEXT, pair), (TEXT_B, other))) for pair, other in pairs]

    def as_read(self, document: Document, prediction: Prediction) -> Document:
        """The text with the choice that has the highest score."""
        classes = prediction.classes
        return self.pairs(document)[classes.scores.index(max(classes.scores)) if classes else 0]

    def decode(
        self,
        logits: Sequence[Mapping[str, np.ndarray]],
        prepared: Prepared,
        labels: Sequence[str],
        decoder: Mapping[str, Any],
    ) -> list[Prediction]:
        """A softmax over the choices of each document, whose "logits" are (1,).

        decoder: as for classes.
        """
        from workbench.runtime import decoding

        temperature = float(decoder.get("temperature", 1.0))
        predictions = []
        for number, cut in enumerate(prepared.cut):
            items = prepared.of(number)
            scores = [float(logits[item]["logits"][0]) / temperature for item in items]
            predictions.append(decoding.classes(scores, choice_names(len(items)), cut=bool(cut)))
        return predictions

    # ---------------------------------------------------------------- scores

    def score(
        self, golds: Sequence[ClassGold], predictions: Sequence[Prediction]
    ) -> dict[str, float]:
        from workbench.metrics.classes import ratio

        ranks = list(map(_reciprocal_rank, golds, predictions))
        return {
            "accuracy": ratio(sum(map(self.agrees, golds, predictions)), len(golds)),
            "mean_reciprocal_rank": ratio(sum(ranks), len(golds)),
        }

    def per_label(
        self, golds: Sequence[ClassGold], predictions: Sequence[Prediction]
    ) -> tuple[LabelScore, ...]:
        """The number of a choice says nothing about it."""
        return ()

    def statistic(  # type: ignore[override]  # the numbers of choices have no scores of their own
        self,
        golds: Sequence[ClassGold],
        predictions: Sequence[Prediction],
        labels: Sequence[str],
    ) -> Accuracy:
        from workbench.metrics.accuracy import Accuracy

        ranks = list(map(_reciprocal_rank, golds, predictions))
        right = list(map(self.agrees, golds, predictions))
        return Accuracy.of(right, mean_reciprocal_rank=ranks)

    def temperature(
        self, golds: Sequence[ClassGold], predictions: Sequence[Prediction]
    ) -> float | None:
        """Documents with fewer choices than others are filled with impossible ones."""
        from workbench.metrics.calibration import class_temperature

        rows = [
            (prediction.classes.scores, prediction.classes.labels.index(gold.label))
            for gold, prediction in zip(golds, predictions, strict=True)
            if prediction.classes is not None and gold.label in prediction.classes.labels
        ]
        most = max((len(scores) for scores, _gold in rows), default=0)
        padded = [(*scores, *(0.0,) * (most - len(scores))) for scores, _gold in rows]
        return class_temperature(padded, [right for _scores, right in rows]) if rows else None

    def confusion(
        self,
        golds: Sequence[ClassGold],
        predictions: Sequence[Prediction],
        labels: Sequence[str],
    ) -> Confusion | None:
        """The number of a choice says nothing about it."""
        return None


def _reciprocal_rank(gold: ClassGold, prediction: Prediction) -> float:
    """1 / rank of the correct choice, equal scores counted against it; 0 without a score."""
    scores = prediction.classes.as_dict() if prediction.classes is not None else {}
    if gold.label not in scores:
        return 0.0
    own = scores[gold.label]
    return 1 / sum(score >= own for score in scores.values())


INFO = ChoiceInfo()
