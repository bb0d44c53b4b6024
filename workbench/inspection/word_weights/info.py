"""What each word adds to a score of a linear baseline: description, options and result."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.inspection.attributions.info import Target
from workbench.inspection.spec import InspectorInfo, WordRow


@dataclass(frozen=True, slots=True)
class FeatureWeight:
    """A word or word pair of the text: value · weight = product is added to the score."""

    text: str
    count: int
    value: float
    weight: float
    product: float


@dataclass(frozen=True)
class WordWeights:
    """scores: per word what it adds to the score; a pair counts half for each of its words, and
    a word that occurs several times the same at each place.

    intercept: what is added without any word. score: the sum of all. against: the other of two
    classes, whose logit is subtracted, "" for none. features: those with a weight, the largest
    product first.
    """

    words: tuple[WordRow, ...]
    scores: tuple[float, ...]
    intercept: float
    score: float
    target: str
    targets: tuple[Target, ...]
    features: tuple[FeatureWeight, ...]
    against: str = ""


INFO = InspectorInfo(
    "word_weights",
    N_("Weights of words"),
    WordWeights,
    (
        Option(
            "target",
            "text",
            "",
            N_("Class to explain, as class:NAME. Default: the most probable one."),
        ),
    ),
    shows=N_(
        "Shows what each word and word pair adds to the logit of a class: its TF-IDF times its "
        "weight; the sum with the intercept is exactly the logit (of two classes, their log odds). "
        "Does not show words that do not occur in training; they have no weight. Salton and "
        "Buckley 1988 (TF-IDF); Molnar 2022, chapter 5 (effects in linear models)."
    ),
    of_text=("target",),
)
