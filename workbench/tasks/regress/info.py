"""Regression on documents: description, settings, decoding and scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import N_, _
from workbench.base.options import Option
from workbench.tasks.classify.info import POOLING
from workbench.tasks.heads.info import INPUT_FORM, LAYER_OPTIONS, LM_WEIGHT
from workbench.tasks.losses.info import SAMPLING
from workbench.tasks.spec import LABEL_TEXTS, NONE, ErrorText, ScoreInfo, TaskInfo
from workbench.text.dataset import Record
from workbench.text.mistakes import LABEL, Mistake
from workbench.text.scale import shortest

if TYPE_CHECKING:
    import numpy as np

    from workbench.metrics.classes import LabelScore
    from workbench.metrics.regression import Numbers
    from workbench.runtime.inputs import Prepared, Preparer
    from workbench.text.document import Document
    from workbench.text.fields import Prediction

SIGMOID = "sigmoid"  # of a decoder: the number is the sigmoid of the output
CLOSE = 0.05  # difference to gold up to which a prediction is not listed as an error
TOLERANCE = 1e-3  # difference of an exported model that counts as rounding
DECIMALS = 3  # of predicted numbers in texts
NUMBER_STEP = Option(
    "number_step",
    "float",
    None,
    N_(
        "Step to which numbers are rounded for an encoder–decoder (T5, BART), which writes them "
        "as text (Raffel et al. 2020, section 2.4). Other models predict numbers directly."
    ),
    low=1e-6,
    high=1e6,
    automatic=N_("1, 2 or 5 times a power of ten, at least 20 steps: 0.2 for numbers from 0 to 5"),
    title=N_("Step of written numbers"),
)

NUMBER_SAMPLING = replace(
    SAMPLING,
    help=N_(
        "Sampling of the documents of an epoch. Plain: each document once. Balanced: as many from "
        "each tenth of the range of the numbers, by oversampling rare ones (Yang et al. 2021). "
        "Square root: half way, in proportion to the square root of the frequency. A number has no "
        "class, so there are no class weights, no focal loss and no label smoothing."
    ),
    choice_titles=(N_("Each document once"), N_("Balanced numbers"), N_("Square root")),
)


@dataclass(frozen=True)
class NumberGold:
    """The number of a document."""

    value: float
    left_out: int = 0

    def labels(self) -> Iterable[str]:
        return ()

    def to_json(self) -> object:
        return self.value


class _Rounded:
    """A number that equals those within TOLERANCE of it."""

    __hash__ = None  # type: ignore[assignment]  # equality is not transitive

    def __init__(self, value: float):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Rounded) and abs(other.value - self.value) <= TOLERANCE


class RegressInfo(TaskInfo):
    id = "regress"
    title = N_("Number")
    short = N_("Score")
    predicts = N_("a number for each document")
    for_pairs = "similarity"
    definition = N_(
        "A number per document. Pearson is the linear correlation of gold and predicted numbers, "
        "Spearman that of their ranks. MSE and MAE are the mean squared and the mean absolute "
        "error."
    )
    layer_kinds = ("score",)
    scores: tuple[ScoreInfo, ...] = (
        ScoreInfo("pearson", hub="pearsonr"),
        ScoreInfo("spearman", hub="spearmanr"),
        ScoreInfo("mse", hub="mse", is_error=True),
        ScoreInfo("mae", hub="mae", is_error=True),
    )
    main = "pearson"
    second = "spearman"
    beside = ("mse", "mae")
    outputs = ("Number",)
    options: tuple[Option, ...] = (
        NUMBER_SAMPLING,
        POOLING,
        *LAYER_OPTIONS,
        LM_WEIGHT,
        INPUT_FORM,
        NUMBER_STEP,
    )
    least_labels = 0
    new_units = INPUT_FORM.name
    pipeline = ""
    hub_task = "text-classification"

    def output_names(self, labels: Sequence[str]) -> tuple[str, ...]:
        return ("score",)

    def trained_outputs(self, labels: Sequence[str], decoder: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(decoder.get(LABEL_TEXTS) or self.output_names(labels))

    def gold(self, record: Record, layer: str) -> NumberGold | None:
        value = record.numbers.get(layer)
        return None if value is None else NumberGold(value)

    def why_unusable(self) -> str:
        return _("submitted without a number")

    def problem(self, counts: Mapping[str, int], layer: str) -> str:
        return ""

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
        """The output of the network (1,) is the number; with SIGMOID in `decoder`, its sigmoid.

        With LABEL_TEXTS, it is the text with the highest of the scores (L,).
        """
        from workbench.runtime.decoding import sigmoid
        from workbench.text.fields import Number, Prediction

        scale = sigmoid if decoder.get(SIGMOID) else float
        texts = decoder.get(LABEL_TEXTS)

        def number(scores: np.ndarray) -> float:
            return float(texts[int(scores.argmax())] if texts else scale(scores[0]))

        return [
            Prediction((Number(number(outputs["logits"])),), cut=bool(cut))
            for outputs, cut in zip(logits, prepared.cut, strict=True)
        ]

    def decisions(self, prediction: Prediction) -> tuple[object, ...]:
        """The number, equal to those that differ from it by rounding."""
        return (None if prediction.number is None else _Rounded(prediction.number),)

    # ---------------------------------------------------------------- scores

    def score(
        self, golds: Sequence[NumberGold], predictions: Sequence[Prediction]
    ) -> dict[str, float]:
        """Correlations that are not defined count as 0."""
        from workbench.metrics import regression

        scores = regression.scores(*_sides(golds, predictions))
        return {name: 0.0 if value is None else value for name, value in scores.items()}

    def per_label(
        self, golds: Sequence[NumberGold], predictions: Sequence[Prediction]
    ) -> tuple[LabelScore, ...]:
        return ()

    def statistic(
        self, golds: Sequence[NumberGold], predictions: Sequence[Prediction], labels: Sequence[str]
    ) -> Numbers:
        from workbench.metrics.regression import Numbers

        return Numbers.of(*_sides(golds, predictions))

    def agrees(self, gold: NumberGold, prediction: Prediction) -> bool:
        """Whether the predicted number is within CLOSE of gold."""
        return prediction.number is not None and abs(prediction.number - gold.value) <= CLOSE

    def error(self, document: Document, gold: NumberGold, prediction: Prediction) -> ErrorText:
        return ErrorText(shortest(gold.value), _display_number(prediction), 0.0)

    def mistakes(
        self, document: Document, gold: NumberGold, prediction: Prediction
    ) -> list[Mistake]:
        """One for the document; its loss is the absolute error."""
        if self.agrees(gold, prediction):
            return []
        number = prediction.number
        loss = abs(number - gold.value) if number is not None else float("inf")
        return [Mistake(LABEL, shortest(gold.value), _display_number(prediction), 0.0, loss)]


def _display_number(prediction: Prediction) -> str:
    number = prediction.number
    return NONE if number is None else shortest(round(number, DECIMALS))


def _sides(
    golds: Sequence[NumberGold], predictions: Sequence[Prediction]
) -> tuple[list[float], list[float]]:
    """A document without a prediction counts as predicted 0; one without an answer as the gold
    number that is furthest from its own.
    """
    values = [gold.value for gold in golds]
    low, high = min(values, default=0.0), max(values, default=0.0)
    predicted = [
        (low if gold - low > high - gold else high)
        if prediction.no_answer
        else prediction.number or 0.0
        for gold, prediction in zip(values, predictions, strict=True)
    ]
    return values, predicted


INFO = RegressInfo()
