"""The nearest words of each word of a text: description and result."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.inspection.spec import InspectorInfo

DISTANCE = "euclid"
MEASURES = ("cosine", "dot", DISTANCE)
TITLES = (N_("Cosine similarity"), N_("Dot product"), N_("Euclidean distance"))


@dataclass(frozen=True, slots=True)
class Near:
    """score: cosine in [-1, 1], dot product, or distance."""

    word: str
    score: float


@dataclass(frozen=True, slots=True)
class NearWord:
    """A word of the text with its nearest words, nearest first.

    form: as it was looked up, "" without a vector. in_vocabulary: False for a vector made of
    n-grams.
    """

    text: str
    form: str
    in_vocabulary: bool
    neighbours: tuple[Near, ...]


@dataclass(frozen=True)
class NearWords:
    """words: each word once, in the order of the text. by: one of MEASURES; is_distance: smaller
    scores are nearer. size: of the vocabulary. cut: the text has more words than were looked up.
    """

    words: tuple[NearWord, ...]
    by: str
    size: int
    is_distance: bool = False
    cut: bool = False


INFO = InspectorInfo(
    "neighbours",
    N_("Nearest words"),
    NearWords,
    (
        Option(
            "by",
            "choice",
            "cosine",
            N_("Similarity measure."),
            choices=MEASURES,
            choice_titles=TITLES,
            title=N_("Measure"),
        ),
        Option("top", "int", 10, N_("Number of nearest words per word."), low=1, high=100),
        Option("word", "text", "", N_("A single word instead of the text.")),
    ),
    shows=N_(
        "Shows the words whose vectors are nearest to those of the text. A vector is the same in "
        "every context: it does not show which sense a word has here. Mikolov et al. 2013."
    ),
)
