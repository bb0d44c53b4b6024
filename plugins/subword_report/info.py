"""What the inspector returns; imports no torch, as the window uses it too."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.options import Option
from workbench.inspection.spec import InspectorInfo


@dataclass(frozen=True)
class SplitWord:
    """A word with its subwords, and how often it occurs."""

    word: str
    subwords: int
    count: int


@dataclass(frozen=True)
class Fertility:
    """Figures of all documents together.

    fertility: subwords per word, special ones left out. continued: share of words of more than one
    subword. unknown: share of words that the vocabulary cannot spell. Both from 0 to 1.
    most_split: the words of most subwords, the most frequent of equals first.

    Source of the measures: Rust et al. 2021, How Good is Your Tokenizer?, section 3.
    """

    documents: int
    words: int
    subwords: int
    fertility: float
    continued: float
    unknown: float
    most_split: tuple[SplitWord, ...]


INFO = InspectorInfo(
    "subword-report.fertility",
    "Subword fertility",
    Fertility,
    (Option("words", "int", 20, "How many of the words of most subwords are listed.", low=0),),
    shows="Shows how many subwords a word takes. Values near 1 suit the language of the text. "
    "Does not show whether the model learned the words.",
    several=True,
)
