"""What the features of each word add to a tag of a CRF: description, options and result."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.inspection.spec import InspectorInfo

AUTO = -1  # in place of the number of a word


@dataclass(frozen=True, slots=True)
class TagFeature:
    """A feature with its learned weight for a tag; its value is 1 where it applies, else 0."""

    text: str
    weight: float


@dataclass(frozen=True, slots=True)
class TaggedWord:
    """tag: the predicted one. score: the sum of the weights of its features for that tag."""

    start: int
    end: int
    text: str
    tag: str
    score: float


@dataclass(frozen=True, slots=True)
class TagTransition:
    """A transition between the explained tag and the predicted one of a neighbouring word.

    allowed: whether the tagging scheme allows it; if not, the weight is 0.
    """

    before: str
    after: str
    weight: float
    allowed: bool = True


@dataclass(frozen=True)
class TagFeatures:
    """features: of the word number `word` with a weight for `tag`, the largest absolute weight
    first; `score` is their sum. steps: from the word before, to the word after.

    tags: that occur in training. strongest: the features of `tag` in the whole model with the
    highest weights, highest first, then those with the lowest ones; `of` is the number of all.
    """

    words: tuple[TaggedWord, ...]
    word: int
    tag: str
    tags: tuple[str, ...]
    features: tuple[TagFeature, ...]
    score: float
    steps: tuple[TagTransition, ...]
    strongest: tuple[TagFeature, ...]
    of: int


INFO = InspectorInfo(
    "tag_features",
    N_("Weights of features"),
    TagFeatures,
    (
        Option(
            "word",
            "int",
            AUTO,
            N_("Number of the word to explain, from 0; -1: the first one with a tag."),
            low=AUTO,
        ),
        Option("tag", "text", "", N_("Tag to explain. Default: the predicted one.")),
        Option("top", "int", 40, N_("Number of highest and of lowest weights."), low=1, high=1000),
    ),
    shows=N_(
        "Shows the learned weights of the features of a word for a tag, and the strongest features "
        "of the tag in the whole model. The score of a tag sequence is the sum of the weights of "
        "its words and transitions; the highest score is predicted. Does not show features that "
        "do not occur in training; they have no weight. Lafferty, McCallum and Pereira 2001."
    ),
    of_text=("word", "tag"),
)
