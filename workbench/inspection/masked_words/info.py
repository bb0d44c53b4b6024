"""Masked words of a text and what a masked language model expects there: description, result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _
from workbench.base.options import Option
from workbench.inspection.spec import PAGE_TOKENS, InspectorInfo, WordRow


@dataclass(frozen=True, slots=True)
class FromBoundary:
    """What the head of the span boundary objective expects at a masked token.

    left, right: the tokens beside the masked span, which it reads with the `place` of the token in
    the span, from 1. own, rank, best: as of MaskedPosition.
    """

    left: str
    right: str
    place: int
    own: float
    rank: int
    best: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class MaskedPosition:
    """One masked token. word: its index in the text; piece: the token itself.

    own, rank: its probability, and its place among all tokens, from 1. best: the most probable
    tokens, descending. entropy: of the distribution, in bits. boundary: None for a model without
    such a head, and for tokens so far inside a span that it has no place for them.
    """

    word: int
    piece: str
    own: float
    rank: int
    entropy: float
    best: tuple[tuple[str, float], ...]
    boundary: FromBoundary | None = None


@dataclass(frozen=True)
class MaskedWords:
    """words: those of the text; positions: the masked tokens in order.

    bits: per word, the sum of -log2 P(token | all others) over its tokens, each masked alone; only
    of the first words in a long text, so `bits` can be shorter than `words`. tokens: how many were
    scored. pairs: whether the model was pretrained on pairs of sentences; follows: the probability
    that the second sentence follows the text, None without one. complete: whether all words that
    are scored without being asked for have been. rest: the words of the text that are not scored,
    but can be.
    """

    words: tuple[WordRow, ...]
    positions: tuple[MaskedPosition, ...]
    bits: tuple[float, ...]
    tokens: int
    pairs: bool = False
    follows: float | None = None
    cut: bool = False
    complete: bool = True
    rest: int = 0

    def further(self, whole: bool) -> dict[str, Any] | None:
        """Options of the request that scores more words, `whole`: all; None after the last one."""
        if self.complete:
            return {"all": True} if whole and self.rest else None
        return {}

    def joined(self, later: MaskedWords) -> MaskedWords:
        """The later answer, which has the earlier words as well."""
        return later

    @property
    def per_token(self) -> float | None:
        """Pseudo-perplexity per token: 2 to the mean of the bits. None if nothing was scored."""
        return 2 ** (sum(self.bits) / self.tokens) if self.tokens else None

    @property
    def per_word(self) -> float | None:
        """Pseudo-perplexity per word, None if nothing was scored."""
        return 2 ** (sum(self.bits) / len(self.bits)) if self.bits else None


def read_words(text: str) -> tuple[int, ...]:
    """Indices "0,4" as numbers, ascending, each once. Raises SpecError."""
    parts = [part for part in text.replace(",", " ").split() if part]
    if not all(part.isdigit() for part in parts):
        raise SpecError(
            _("words is {text!r}, expected indices of words.", text=text),
            hint=_("The first word is 0; write 0,4 to mask the first and the fifth word."),
        )
    return tuple(sorted(set(map(int, parts))))


INFO = InspectorInfo(
    "masked_words",
    N_("Masked words"),
    MaskedWords,
    (
        Option(
            "words",
            "text",
            "",
            N_("Indices of the masked words, from 0, as in 0,4."),
            check=read_words,
        ),
        Option(
            "top",
            "int",
            10,
            N_("Number of most probable tokens per masked token."),
            low=1,
            high=100,
        ),
        Option("second", "text", "", N_("A second sentence: does it follow the text?")),
        Option(
            "part",
            "int",
            0,
            N_("Tokens to process per request for a long text; 0: all that are scored."),
            low=0,
        ),
        Option("all", "bool", False, N_("Score every word, however long the text is.")),
    ),
    shows=N_(
        "Shows which tokens the model expects at the masked words, and how unexpected each word is "
        "when masked alone; with the head of SpanBERT, also what it expects from the tokens beside "
        "masked words. Does not show what is true or grammatical. Devlin et al. 2019; Salazar et "
        "al. 2020 (pseudo-perplexity); Joshi et al. 2020 (span boundary objective)."
    ),
    of_text=("words",),
    in_parts={"part": PAGE_TOKENS},
)
