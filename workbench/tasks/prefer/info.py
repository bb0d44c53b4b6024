"""Preferences: description, settings, decoding and scores of direct preference optimization.

The reward of an answer is β times by how much more probable it became: the difference between its
log-probability and that of the model that the training started from, the reference. Source:
Rafailov et al. 2023, Direct Preference Optimization, section 4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.base import learning_rates
from workbench.base.i18n import N_, _
from workbench.base.options import Option
from workbench.tasks.choice.info import ChoiceInfo
from workbench.tasks.classify.info import ClassGold
from workbench.tasks.losses.info import LABEL_SMOOTHING
from workbench.tasks.spec import ScoreInfo
from workbench.text import conversation
from workbench.text.document import TEXT, TEXT_B, Document, choice_names

if TYPE_CHECKING:
    import numpy as np

    from workbench.metrics.accuracy import Accuracy
    from workbench.runtime.inputs import Prepared, Preparer
    from workbench.text.fields import Prediction

REFERENCE = "reference"  # array float32 (1,): the log-probability of the answer before the training

BETA = Option(
    "beta",
    "float",
    0.1,
    N_(
        "β of direct preference optimization: how strongly the model is kept near the one that the "
        "training starts from. Smaller values let it move further (Rafailov et al. 2023: 0.1 to "
        "0.5)."
    ),
    low=0.001,
    high=10.0,
    title=N_("DPO β"),
)
SMOOTHING = replace(
    LABEL_SMOOTHING,
    help=N_(
        "Share of the preferences that are assumed to be wrong (conservative DPO, Mitchell 2023). "
        "0: all are right."
    ),
    high=0.49,
)


class PreferInfo(ChoiceInfo):
    """The labels are the numbers of the answers; the prediction is the one with highest reward."""

    id = "prefer"
    title = N_("Preference (DPO)")
    short = N_("Preference")
    predicts = N_("the better of several answers")
    definition = N_(
        "Share of documents whose preferred answer has the highest reward: β times the difference "
        "between its log-probability and that of the model that the training started from. The "
        "reward margin is by how much the reward of the preferred answer is higher than the mean "
        "of the others."
    )
    layer_kinds = ("preference",)
    needs = frozenset({"next_lm", "attention"})
    alone = True
    scores = (
        ScoreInfo("accuracy", N_("Accuracy"), hub="accuracy"),
        ScoreInfo("reward_margin", selects=False),
    )
    second = "reward_margin"
    scored = False
    options = (BETA, SMOOTHING)
    learning_rate = learning_rates.PREFERENCES
    pipeline = "text-generation"
    hub_task = ""
    has_graph = False

    def why_unusable(self) -> str:
        return _("submitted without a preferred answer (a tie)")

    # ---------------------------------------------------------------- inputs and predictions

    def prepare(
        self, preparer: Preparer, documents: Sequence[Document], max_length: int
    ) -> Prepared:
        """One input for each answer: what the model reads before its reply, and the answer."""
        from workbench.runtime.preparers.replies import compared

        rows = [
            (conversation.read(document.prompt), document.choices or ("",))
            for document in documents
        ]
        return compared(preparer, documents, rows, max_length)

    def as_read(self, document: Document, prediction: Prediction) -> Document:
        """The prompt with the answer that has the highest reward."""
        classes = prediction.classes
        answers = document.choices or ("",)
        best = answers[classes.scores.index(max(classes.scores)) if classes else 0]
        return Document(document.key, ((TEXT, f"{document.prompt}\n"), (TEXT_B, best)))

    def decode(
        self,
        logits: Sequence[Mapping[str, np.ndarray]],
        prepared: Prepared,
        labels: Sequence[str],
        decoder: Mapping[str, Any],
    ) -> list[Prediction]:
        """A softmax over the rewards of each document's answers, whose "logits" (1,) are their
        log-probabilities: that of Bradley and Terry. Without REFERENCE the answers are compared by
        their log-probabilities alone.

        decoder: "beta", and as for classes.
        """
        from workbench.runtime import decoding

        beta = float(decoder.get("beta", BETA.default)) / float(decoder.get("temperature", 1.0))
        predictions = []
        for number, cut in enumerate(prepared.cut):
            items = prepared.of(number)
            references = [prepared.inputs[item].arrays.get(REFERENCE) for item in items]
            scores = [
                beta
                * (float(logits[item]["logits"][0]) - (float(one[0]) if one is not None else 0))
                for item, one in zip(items, references, strict=True)
            ]
            predictions.append(decoding.classes(scores, choice_names(len(items)), cut=bool(cut)))
        return predictions

    # ---------------------------------------------------------------- scores

    def score(
        self, golds: Sequence[ClassGold], predictions: Sequence[Prediction]
    ) -> dict[str, float]:
        from workbench.metrics.classes import ratio

        margins = list(map(_margin, golds, predictions))
        return {
            "accuracy": ratio(sum(map(self.agrees, golds, predictions)), len(golds)),
            "reward_margin": ratio(sum(margins), len(golds)),
        }

    def statistic(  # type: ignore[override]  # as for choices
        self,
        golds: Sequence[ClassGold],
        predictions: Sequence[Prediction],
        labels: Sequence[str],
    ) -> Accuracy:
        from workbench.metrics.accuracy import Accuracy

        right = list(map(self.agrees, golds, predictions))
        return Accuracy.of(right, reward_margin=list(map(_margin, golds, predictions)))

    def distance(self, gold: ClassGold, prediction: Prediction) -> float | None:
        """How much lower the reward of the preferred answer is than the highest one."""
        classes = prediction.classes
        if classes is None or gold.label not in classes.labels:
            return None
        rewards = dict(zip(classes.labels, map(_log, classes.scores), strict=True))
        return max(rewards.values()) - rewards[gold.label]


def _log(share: float) -> float:
    """The reward up to a constant; a share below the smallest float is that float."""
    return math.log(max(share, 5e-324))


def _margin(gold: ClassGold, prediction: Prediction) -> float:
    """By how much the reward of the preferred answer exceeds the mean of the others.

    The logarithms of probabilities from a softmax are the rewards up to a constant.
    """
    scores = prediction.classes.as_dict() if prediction.classes is not None else {}
    if gold.label not in scores or len(scores) < 2:
        return 0.0
    others = [_log(share) for label, share in scores.items() if label != gold.label]
    return _log(scores[gold.label]) - sum(others) / len(others)


INFO = PreferInfo()
