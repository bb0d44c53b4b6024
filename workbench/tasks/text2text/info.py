"""Text to text: description, settings, decoding and scores of a task whose model writes a text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import N_, _
from workbench.base.options import Option
from workbench.tasks.spec import NONE, PER_TEXT, ErrorText, ScoreInfo, TaskInfo
from workbench.text.dataset import Record
from workbench.text.mistakes import LABEL, Mistake

if TYPE_CHECKING:
    import numpy as np

    from workbench.metrics.classes import LabelScore
    from workbench.metrics.texts import TextStatistic
    from workbench.runtime.inputs import Prepared, Preparer
    from workbench.text.document import Document
    from workbench.text.fields import Prediction

CHARACTERS, PROBABILITY, ENDED = "characters", "probability", "ended"  # what a network gives
DEFAULT_LENGTH = 64  # tokens
ANSWER_LENGTH = Option(
    "answer_length",
    "int",
    DEFAULT_LENGTH,
    N_(
        "Most tokens of a text that the model writes, after which it is cut off. Gold texts may be "
        "longer. Long texts take long: each token is a pass through the model."
    ),
    group="main",
    low=1,
    high=4096,
    title=N_("Written tokens"),
)


@dataclass(frozen=True)
class TextGold:
    """The text that is to be written."""

    text: str
    left_out: int = 0

    def labels(self) -> Iterable[str]:
        return ()

    def to_json(self) -> object:
        return self.text


class TextToTextInfo(TaskInfo):
    """The network gives what it has written: code points (S,), the geometric mean (1,) of the
    probabilities of its tokens, and (1,) whether it has ended the text.
    """

    id = "text2text"
    title = N_("Text to text")
    short = N_("Text")
    predicts = N_("a text for each document")
    definition = N_(
        "A text per document, written token by token, always the likeliest one. ROUGE-L is the "
        "mean F1 of the longest common subsequence of words of the written text and gold; exact "
        "match is the fraction of equal texts."
    )
    layer_kinds = ("text",)
    needs = frozenset({"text_to_text"})
    alone = True
    scores = (
        ScoreInfo("rouge_l", hub="rouge"),
        ScoreInfo("text_exact_match", hub="exact_match"),
        ScoreInfo("text_token_accuracy", selects=False),
    )
    main = "rouge_l"
    second = "text_exact_match"
    outputs = ("Written",)
    scored = False
    logits = {CHARACTERS: PER_TEXT, PROBABILITY: "item", ENDED: "item"}
    writes = True
    has_graph = False
    options: tuple[Option, ...] = (ANSWER_LENGTH,)
    least_labels = 0
    few_steps = 400
    hub_task = "text2text-generation"

    def gold(self, record: Record, layer: str) -> TextGold | None:
        text = record.written.get(layer, "")
        return TextGold(text) if text.strip() else None

    def why_unusable(self) -> str:
        return _("submitted without a text")

    def problem(self, counts: Mapping[str, int], layer: str) -> str:
        return ""

    def prepare(
        self, preparer: Preparer, documents: Sequence[Document], max_length: int
    ) -> Prepared:
        return preparer.whole(documents, max_length)

    def decode(
        self,
        logits: Sequence[Mapping[str, np.ndarray]],
        prepared: Prepared,
        labels: Sequence[str],
        decoder: Mapping[str, Any],
    ) -> list[Prediction]:
        from workbench.text.fields import Prediction, Written

        return [
            Prediction(
                (
                    Written(
                        "".join(map(chr, values[CHARACTERS])).strip(),
                        float(values[PROBABILITY][0]),
                        bool(values[ENDED][0]),
                    ),
                ),
                cut=bool(cut),
            )
            for values, cut in zip(logits, prepared.cut, strict=True)
        ]

    # ---------------------------------------------------------------- scores

    def score(
        self, golds: Sequence[TextGold], predictions: Sequence[Prediction]
    ) -> dict[str, float]:
        return self.statistic(golds, predictions, ()).means()

    def per_label(
        self, golds: Sequence[TextGold], predictions: Sequence[Prediction]
    ) -> tuple[LabelScore, ...]:
        return ()

    def statistic(
        self, golds: Sequence[TextGold], predictions: Sequence[Prediction], labels: Sequence[str]
    ) -> TextStatistic:
        from workbench.metrics.texts import TextStatistic

        return TextStatistic.of(
            [gold.text for gold in golds], [item.written for item in predictions]
        )

    def agrees(self, gold: TextGold, prediction: Prediction) -> bool:
        """Exact match, without case, punctuation and English articles."""
        from workbench.metrics.answers import exact_match

        return prediction.written is not None and bool(exact_match(gold.text, prediction.written))

    def error(self, document: Document, gold: TextGold, prediction: Prediction) -> ErrorText:
        return ErrorText(gold.text, prediction.written or NONE, 0.0)

    def distance(self, gold: TextGold, prediction: Prediction) -> float:
        """1 − ROUGE-L."""
        from workbench.metrics.texts import rouge_l

        return 1.0 - rouge_l(gold.text, prediction.written or "")

    def mistakes(self, document: Document, gold: TextGold, prediction: Prediction) -> list[Mistake]:
        """One for the document; its loss is 1 − ROUGE-L."""
        if self.agrees(gold, prediction):
            return []
        loss = self.distance(gold, prediction)
        return [Mistake(LABEL, gold.text, prediction.written or NONE, 0.0, loss)]


INFO = TextToTextInfo()
