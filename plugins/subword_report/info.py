"""The result of the inspector; imports no torch, as the window uses it too."""

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
    """Statistics over all documents.

    fertility: subwords per word, without special ones. continued: fraction of words with several
    subwords. unknown: fraction of words that the vocabulary cannot represent. Both from 0 to 1.
    most_split: the words with most subwords, the most frequent first on a tie.

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
    (Option("words", "int", 20, "Number of words with most subwords to list.", low=0),),
    shows="Shows the number of subwords per word. Values near 1 mean that the vocabulary fits the "
    "language of the text. Does not show whether the model learned the words.",
    several=True,
)
