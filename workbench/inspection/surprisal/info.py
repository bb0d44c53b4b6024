"""How unexpected each word of a text is to a language model: description and result."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.i18n import N_
from workbench.inspection.next_words.info import DIRECTION
from workbench.inspection.spec import InspectorInfo, WordRow


@dataclass(frozen=True)
class Surprisal:
    """bits: per word, the sum of -log2 P(token | tokens before) over its tokens.

    None for a word with a token that has none: the first of a text without a start token, or one
    outside of the vocabulary. tokens: how many have a probability. backward: the words after it are
    given in place of those before.
    """

    words: tuple[WordRow, ...]
    bits: tuple[float | None, ...]
    tokens: int
    backward: bool = False
    cut: bool = False

    @property
    def total(self) -> float:
        """Bits of all words together."""
        return sum(bits for bits in self.bits if bits is not None)

    @property
    def scored(self) -> int:
        """Words with a value."""
        return sum(bits is not None for bits in self.bits)


INFO = InspectorInfo(
    "surprisal",
    N_("Surprisal"),
    Surprisal,
    (DIRECTION,),
    shows=N_(
        "Shows how unexpected each word is, given the words before it. Does not show grammatical "
        "errors: rare words are unexpected too. Shannon 1948; Hale 2001."
    ),
)
