"""Inspectors as the window, the command line and the library see them. No torch here.

An inspector looks at documents with a loaded model and returns a result, a dataclass. Its light
half, an `InspectorInfo`, is named `info` in the index; the heavy half
(`workbench.inspection.base.Inspector`) runs in the worker; a widget of the window, named `view`,
shows the result. Which inspectors a model can be looked at with follows from what they need.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.base.i18n import N_
from workbench.base.manifest import Contribution
from workbench.base.options import Option, complete
from workbench.base.records import from_plain, to_plain
from workbench.base.registry import registry

TARGET = "workbench.inspection.serve:open"
UNKNOWN_LIMIT = 0.1  # share of unknown words above which answers are not to be trusted

# What a view is looked at for: the headings of the list, by the index's key `question`.
QUESTIONS = {
    "read": N_("What does it read?"),
    "answer": N_("What does it answer?"),
    "why": N_("Why?"),
    "know": N_("What does it know?"),
}
_LANGUAGE_MODEL = frozenset(("masked_lm", "next_lm"))
EXPECTED_WORDS = "VocabularyScores"  # what a language model answers


@dataclass(frozen=True)
class InspectorInfo:
    """The light half of an inspector.

    result: the dataclass that `run` returns. Its fields are numbers, texts, tuples, mappings,
    dataclasses or numpy arrays. A boolean field `cut` says that the end of the text was not read.
    options: what can be asked for; those named in of_text go back to their defaults with each
    text. several: whether one answer can be about many documents. shows: for people, what the view shows and does not show, with
    its source.
    """

    id: str
    title: str
    result: type
    options: tuple[Option, ...] = ()
    shows: str = ""
    of_text: tuple[str, ...] = ()
    several: bool = False


def needs(entry: Contribution) -> frozenset[str]:
    """What an inspector of the index needs of encoder and predictions."""
    return frozenset(entry.options.get("needs", ()))


def question(entry: Contribution) -> str:
    """The key of QUESTIONS that it is listed under."""
    found = entry.options.get("question")
    return found if found in QUESTIONS else "answer"


def given(encoder: Iterable[str], outputs: Iterable[str] | None) -> frozenset[str]:
    """What a model gives to inspectors.

    encoder: `ModelInfo.gives`. outputs: `TaskInfo.gives` of a run; None for a pretrained model,
    whose own answers are words if it is a language model.
    """
    found = frozenset(encoder)
    if outputs is not None:
        return found | frozenset(outputs)
    return found | {EXPECTED_WORDS} if found & _LANGUAGE_MODEL else found


def missing(entry: Contribution, gives: Collection[str]) -> tuple[str, ...]:
    """What the model does not give of what the inspector needs; () where it can be used."""
    return tuple(sorted(needs(entry).difference(gives)))


def light(id: str) -> InspectorInfo | None:
    """The light half of an inspector, None if it has none: no options, its result a mapping."""
    entry = registry().entry("inspector", id)
    return registry().info("inspector", id) if "info" in entry.options else None


def options(id: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Every option of an inspector with its value, those not asked for at their defaults.

    Raises SpecError for an unknown option or a value that does not fit.
    """
    info = light(id)
    return complete(info.options if info is not None else (), asked, owner=id)


@dataclass(frozen=True)
class Answer:
    """What one inspector found, and what holds for every view of the text.

    result: of the class that the inspector's `InspectorInfo.result` names; a mapping without one.
    unknown: share of words that the vocabulary does not know. milliseconds: time in the worker.
    """

    inspector: str
    result: Any
    unknown: float = 0.0
    milliseconds: float = 0.0

    @property
    def cut(self) -> bool:
        """Whether the text was longer than the model takes, so that its end was not read."""
        raw = self.result
        return bool(raw.get("cut") if isinstance(raw, Mapping) else getattr(raw, "cut", False))

    def to_plain(self) -> dict[str, Any]:
        """For the channel or JSON; arrays stay arrays."""
        return to_plain(self)

    @classmethod
    def from_plain(cls, raw: Mapping[str, Any]) -> Answer:
        answer, info = from_plain(cls, raw), light(raw["inspector"])
        if info is None:
            return answer
        result = from_plain(info.result, answer.result)
        return cls(answer.inspector, result, answer.unknown, answer.milliseconds)


# ---------------------------------------------------------------- parts that results share


@dataclass(frozen=True, slots=True)
class TokenRow:
    """One token. Borders are code points of the text named `field`; a special token has (0, 0).

    `word` is its place among the words, None for a special token. `shown` is the piece as people
    read it. `best` are the surest labels (of a tagger) or words (of a language model) with
    probabilities, surest first; () where nothing was asked. `own` is the probability that a
    language model gives to what stands there.
    """

    piece: str
    shown: str
    id: int
    start: int
    end: int
    field: str
    word: int | None
    special: bool = False
    unknown: bool = False
    best: tuple[tuple[str, float], ...] = ()
    own: float | None = None


@dataclass(frozen=True, slots=True)
class WordRow:
    """One word, borders in code points of the text named `field`."""

    start: int
    end: int
    field: str
    text: str


@dataclass(frozen=True)
class TokenTable:
    """The tokens of one text or pair under their words; results about tokens extend it."""

    tokens: tuple[TokenRow, ...] = ()
    words: tuple[WordRow, ...] = ()
    cut: bool = False

    @property
    def count(self) -> int:
        """Tokens of the text, special ones left out."""
        return sum(not one.special for one in self.tokens)
