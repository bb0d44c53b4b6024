"""Uses of a word in the documents of a project: description and results."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.inspection.corpus.spec import USES
from workbench.inspection.spec import InspectorInfo, WordRow


@dataclass(frozen=True, slots=True)
class Use:
    """A use in a document, with the text on both sides. number: of the row in the index.

    label: its sense or label, "" without one.
    """

    number: int
    document: int
    key: str
    start: int
    end: int
    left: str
    word: str
    right: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class UseRanking:
    """The nearest uses at one layer, nearest first: numbers and cosines in [-1, 1]."""

    layer: int
    numbers: tuple[int, ...]
    cosines: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class LayerSenses:
    """How well a layer separates the senses of labelled uses; all in [0, 1].

    f1, accuracy: of the nearest centroid, leaving out the use itself; F1 is the mean over senses.
    same: mean share of the same sense among the ten nearest labelled uses. pairs: accuracy of the
    decision "same sense" by a threshold of the cosine, two-fold.
    """

    layer: int
    f1: float
    accuracy: float
    same: float
    pairs: float


@dataclass(frozen=True)
class Senses:
    """name: the layer of the project. counts: labelled uses by sense. scored: uses of the scores.

    frequent_f1, frequent_accuracy: of always the most frequent sense. same_static: `same` of a
    vector that is equal in all uses. layers: () with fewer than two senses of two uses each.
    """

    name: str
    counts: dict[str, int]
    scored: int
    layers: tuple[LayerSenses, ...] = ()
    frequent_f1: float = 0.0
    frequent_accuracy: float = 0.0
    same_static: float = 0.0


@dataclass(frozen=True, slots=True)
class StaticNear:
    """A neighbour of the static vector by cosine."""

    word: str
    score: float


@dataclass(frozen=True)
class Uses:
    """words: of the text. asked: the number of the use among them, -1 for one of the documents,
    `of`, the number of its row, or if there is none. word: the forms. count: uses in the index;
    total: in the documents, -1 if there are more than were counted. uses: those of the rankings.
    static: neighbours of the static vector in the model `static_name`, () for an unknown word.
    """

    words: tuple[WordRow, ...]
    word: str = ""
    asked: int = -1
    of: int = -1
    count: int = 0
    total: int = 0
    layers: tuple[int, ...] = ()
    rankings: tuple[UseRanking, ...] = ()
    uses: tuple[Use, ...] = ()
    static: tuple[StaticNear, ...] = ()
    static_name: str = ""
    senses: Senses | None = None


INFO = InspectorInfo(
    "uses",
    N_("Uses in context"),
    Uses,
    (
        Option("word", "text", "", N_("Word, or several forms of it: play plays played.")),
        Option("start", "int", -1, N_("Offset of the use in the text; -1: the first use."), low=-1),
        Option("use", "int", -1, N_("Compare with this use of the documents."), low=-1),
        Option("top", "int", 50, N_("Number of nearest uses per layer."), low=1, high=1000),
        Option("senses", "text", "", N_("Layer of the project whose labels are senses.")),
        Option("static", "text", "", N_("Model with static vectors.")),
        Option("index", "text", "", N_("Index of the uses; computed on demand.")),
        Option("labels", "text", "", N_("Senses of the uses as JSON; read from the project.")),
    ),
    shows=N_(
        "Shows the uses of a word in your documents whose vectors at this layer are most similar, "
        "and the neighbours of the static vector, which are the same for every use. Does not show "
        "what the head of a task reads. Peters et al. 2018, section 5.3."
    ),
    of_text=("word", "start", "use"),
    corpus=USES,
)
