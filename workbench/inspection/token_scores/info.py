"""The distribution over the labels at every token: description and result."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from workbench.base.i18n import N_, _
from workbench.base.options import Option
from workbench.inspection.spec import InspectorInfo, TokenTable

SOFTMAX, MARGINALS = "softmax", "marginals"  # what the probabilities are


@dataclass(frozen=True, slots=True)
class PredictedWord:
    """What is predicted for the word at code points [start, end). label: "" for none."""

    start: int
    end: int
    label: str
    score: float


@dataclass(frozen=True)
class TokenLabels(TokenTable):
    """`best` of a token are its most probable outputs; `labels` are those of the run.

    basis: SOFTMAX of the logits of each token, or MARGINALS of a CRF, which only the first token of
    a word has. outputs: those of the network, of the columns of logits and probabilities, both
    float32 (T, L) for all T tokens, 0 where a token has no marginals; None unless asked for.
    predicted: what the run predicts for words, with its temperature, which the distributions are
    without; 1 for none.
    """

    labels: tuple[str, ...] = ()
    basis: str = SOFTMAX
    outputs: tuple[str, ...] = ()
    logits: np.ndarray | None = field(default=None, compare=False)
    probabilities: np.ndarray | None = field(default=None, compare=False)
    predicted: tuple[PredictedWord, ...] = ()
    temperature: float = 1.0

    @property
    def message(self) -> str:
        """What the probabilities are, for display."""
        marginal = self.basis == MARGINALS
        if self.temperature == 1:
            return _("Marginals of the CRF") if marginal else _("Softmax of the logits")
        message = (
            _("Marginals of the CRF, without the temperature of predictions ({value:.2f})")
            if marginal
            else _("Softmax of the logits, without the temperature of predictions ({value:.2f})")
        )
        return message.format(value=self.temperature)


INFO = InspectorInfo(
    "token_scores",
    N_("Label distribution"),
    TokenLabels,
    (
        Option("top", "int", 5, N_("Number of most probable labels per token."), low=1, high=100),
        Option(
            "logits",
            "bool",
            False,
            N_("Add the logits and the probabilities of all labels at every token."),
            title=N_("All labels and logits"),
        ),
    ),
    shows=N_(
        "Shows the probability of each label at every token: the softmax of its logits, or for a "
        "CRF the marginal probability over all sequences of labels, whose best sequence is "
        "predicted (Lafferty et al. 2001). A fitted temperature is applied to the prediction of a "
        "word, not to its distribution. Does not show why a label was chosen, nor whether the "
        "model is well calibrated."
    ),
)
