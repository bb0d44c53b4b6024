"""The words that a language model predicts at every position: description and result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.inspection.next_words.info import DIRECTION
from workbench.inspection.spec import PAGE_TOKENS, InspectorInfo, TokenTable

BUDGET = 12_000  # tokens that a masked model reads per text: seconds on one core


@dataclass(frozen=True)
class ExpectedWords(TokenTable):
    """`best` of a token: masked models predict the token itself, causal models the next one.

    `answered` tokens of the text have predictions, starting with `first`. backward: the model
    reads from the end of the text and predicts the token before each one.
    """

    masked: bool = False
    first: int = 0
    answered: int = 0
    backward: bool = False

    def further(self, whole: bool) -> dict[str, Any] | None:
        """Options of the request for the next tokens: all, or as many as BUDGET allows."""
        room = max(8, BUDGET // max(1, len(self.tokens)))
        if not self.unanswered or (not whole and self.answered >= room):
            return None
        return {"start": self.first + self.answered}

    @property
    def unanswered(self) -> int:
        """Tokens of a long text that a masked model has not processed yet."""
        return max(0, self.count - self.first - self.answered) if self.masked else 0

    def joined(self, later: ExpectedWords) -> ExpectedWords:
        """Both results for one long text merged."""
        pairs = zip(self.tokens, later.tokens, strict=True)
        tokens = tuple(pair if pair.best else other for pair, other in pairs)
        answered = self.answered + later.answered
        return replace(later, tokens=tokens, first=self.first, answered=answered)


INFO = InspectorInfo(
    "vocabulary",
    N_("Expected words"),
    ExpectedWords,
    (
        Option("top", "int", 5, N_("Number of most probable words per token."), low=1, high=100),
        Option(
            "start",
            "int",
            0,
            N_("The first token of the text to process with a masked model."),
            low=0,
        ),
        DIRECTION,
        Option(
            "part",
            "int",
            0,
            N_("Tokens that a masked model reads per request; 0: the default."),
            low=0,
        ),
    ),
    shows=N_(
        "Shows the words that the model predicts: a masked model with one token masked at a time, "
        "a causal model after each token. Does not show what the model considers true. Devlin et "
        "al. 2019; Radford et al. 2018."
    ),
    of_text=("start",),
    in_parts={"part": PAGE_TOKENS},
)
