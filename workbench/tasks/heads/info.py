"""Light parts that tasks share: settings of the layers below a head, decisions for every word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.base import learning_rates
from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.tasks.spec import PLAIN, TaskInfo
from workbench.text.spans import Span

if TYPE_CHECKING:
    from workbench.runtime.inputs import Prepared, Preparer
    from workbench.text.document import Document
    from workbench.text.fields import Prediction

LAST, MEAN, CONCAT, MIX, ATTENTION = CHOICES = ("last", "mean", "concat", "mix", "attention")

LAYERS = Option(
    "layers",
    "choice",
    LAST,
    N_(
        "States that the head reads: the last layer, the mean or the concatenation of all layers "
        "(embeddings included), a scalar mix with learned weights (Peters et al. 2018), or "
        "attention over the layers of each token. All but the last layer need a head of "
        "Glossbench, which transformers alone cannot load."
    ),
    choices=CHOICES,
    title=N_("Layers"),
    choice_titles=(
        N_("Last layer"),
        N_("Mean of all layers"),
        N_("All layers, concatenated"),
        N_("Scalar mix"),
        N_("Attention over layers"),
    ),
)
LAYER_NORM = Option(
    "layer_norm",
    "bool",
    False,
    N_("Normalize the states of each layer before layers are combined (Ba et al. 2016)."),
    title=N_("Normalize layers"),
    idle_with=("layers", "last"),
)
LAYER_L2 = Option(
    "layer_l2",
    "float",
    0.001,
    N_(
        "Scalar mix: strength λ of the L2 penalty on the weights before their softmax. 1 keeps "
        "them close to the mean of all layers; 0.001 lets them vary (Peters et al. 2018)."
    ),
    low=0.0,
    high=1000.0,
    title=N_("L2 penalty of layer weights"),
    idle_with=("layers", *(choice for choice in CHOICES if choice != "mix")),
)
LAYER_OPTIONS = (LAYERS, LAYER_NORM, LAYER_L2)


@dataclass(frozen=True)
class SpanGold:
    """Labelled spans of the first text, in order. left_out: spans that cannot be learned from."""

    spans: tuple[Span, ...] = ()
    left_out: int = 0

    def labels(self) -> Iterable[str]:
        return (span.label for span in self.spans)

    def to_json(self) -> object:
        return [[span.start, span.end, span.label] for span in self.spans]


class WordTask(TaskInfo):
    """A task that decides for every word; long texts are read in overlapping windows."""

    outputs: tuple[str, ...] = ("TokenScores", "SpanScores", "WordTags")
    logits = {"logits": "token"}
    windows = True
    few_steps = 150
    learning_rate = learning_rates.WORDS
    pipeline = "token-classification"

    def prepare(
        self, preparer: Preparer, documents: Sequence[Document], max_length: int
    ) -> Prepared:
        return preparer.windows(documents, max_length)

    def temperature(self, golds: Sequence[Any], predictions: Sequence[Prediction]) -> float | None:
        """Temperature of the confidences that `confidences` compares with gold, see
        `decoding.tempered`.
        """
        from workbench.metrics.calibration import label_temperature

        compared = self.confidences(golds, predictions)
        return (
            label_temperature(*compared[:2]) if compared is not None and len(compared[0]) else None
        )

    def rescaled(self, prediction: Prediction, temperature: float) -> Prediction:
        from workbench.runtime.decoding import tempered

        return tempered(prediction, temperature)


GPT1, BOTH = "gpt1", "both"
INPUT_FORM = Option(
    "input_form",
    "choice",
    PLAIN,
    N_(
        "Special tokens of the input of GPT-like decoders. gpt1: [start] text [extract], and "
        "[start] first [delimiter] second [extract] for pairs; the three tokens are added to the "
        "vocabulary with new embeddings, and the classifier reads the state of [extract] (Radford "
        "et al. 2018, section 3.3). plain: as the tokenizer writes it."
    ),
    choices=(PLAIN, GPT1),
    choice_titles=(N_("Tokenizer's own"), N_("GPT-1: start, delimiter, extract")),
    title=N_("Input form"),
)
PAIR_FORM = replace(
    INPUT_FORM,
    help=N_(
        "Special tokens of the input of GPT-like decoders. gpt1: [start] first [delimiter] second "
        "[extract]; the three tokens are added to the vocabulary with new embeddings, and the "
        "classifier reads the state of [extract]. both: the texts in both orders, whose two states "
        "are added, for similarity; needs a head of Glossbench, which transformers alone cannot "
        "load (Radford et al. 2018, section 3.3). plain: as the tokenizer writes it."
    ),
    choices=(PLAIN, GPT1, BOTH),
    choice_titles=(*INPUT_FORM.choice_titles, N_("GPT-1, in both orders")),
)
LM_WEIGHT = Option(
    "lm_weight",
    "float",
    0.0,
    N_(
        "Weight λ of an auxiliary language model loss: the model also predicts the next token of "
        "each text (Radford et al. 2018, L3 = L2 + λ L1, λ = 0.5). For models that predict next "
        "words; 0 for none. Needs a head of Glossbench, which transformers alone cannot load."
    ),
    low=0.0,
    high=100.0,
    title=N_("Weight of the language model loss"),
)
