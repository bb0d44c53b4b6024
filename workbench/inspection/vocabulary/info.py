"""The words that a pretrained language model expects at every position: the light half."""

from __future__ import annotations

from dataclasses import dataclass, replace

from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.inspection.spec import InspectorInfo, TokenTable


@dataclass(frozen=True)
class ExpectedWords(TokenTable):
    """`best` of a token: masked, what is expected in its place; causal, what is expected next.

    `answered` tokens of the text have an answer, from `first` on.
    """

    masked: bool = False
    first: int = 0
    answered: int = 0

    @property
    def unanswered(self) -> int:
        """Tokens of a long text that a masked model has not been asked about yet."""
        return max(0, self.count - self.first - self.answered) if self.masked else 0

    def joined(self, later: ExpectedWords) -> ExpectedWords:
        """Both answers to one long text in one."""
        pairs = zip(self.tokens, later.tokens, strict=True)
        tokens = tuple(one if one.best else other for one, other in pairs)
        answered = self.answered + later.answered
        return replace(later, tokens=tokens, first=self.first, answered=answered)


INFO = InspectorInfo(
    "vocabulary",
    N_("Expected words"),
    ExpectedWords,
    (
        Option("top", "int", 5, N_("Words per token, the most probable ones."), low=1, high=100),
        Option(
            "start",
            "int",
            0,
            N_("The first token of the text that a masked model is asked about."),
            low=0,
        ),
    ),
    shows=N_(
        "Shows the words that the model expects: a masked model with one token hidden at a time, a "
        "causal model after each token. Does not show what the model holds to be true."
    ),
    of_text=("start",),
)
