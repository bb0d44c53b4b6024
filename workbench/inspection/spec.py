"""Inspectors as used by the window, the command line and the library. Does not import torch.

An inspector examines documents with a loaded model and returns a result, a dataclass. Its light
part, an `InspectorInfo`, is named `info` in the index; the heavy part
(`workbench.inspection.base.Inspector`) runs in the worker; a widget of the window, named `view`,
shows the result. An inspector is available for a model that provides what the inspector needs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from workbench.base import deprecation
from workbench.base.i18n import N_
from workbench.base.manifest import Contribution
from workbench.base.options import Option, complete
from workbench.base.records import from_plain, to_plain
from workbench.base.registry import registry
from workbench.text import result_view

if TYPE_CHECKING:
    from workbench.text.fields import Field

if not TYPE_CHECKING:
    __getattr__ = deprecation.former(__name__, Answer="Inspection", given="provided_outputs")


@runtime_checkable
class OfModel(Protocol):
    """A result that has the names of models."""

    def named(self, name: str) -> Any:
        """The result for a run with this name."""


TARGET = "workbench.inspection.serve:open"
UNKNOWN_LIMIT = 0.1  # fraction of unknown words above which predictions are not reliable

# The questions that views answer: the headings of the list, by the index's key `question`.
QUESTIONS = {
    "read": N_("What does it read?"),
    "answer": N_("What does it predict?"),
    "why": N_("Why?"),
    "know": N_("What does it know?"),
}
_LANGUAGE_MODEL = frozenset(("masked_lm", "next_lm", "previous_lm"))
_CONTINUING = frozenset(
    ("next_lm", "previous_lm", "next_character", "previous_character", "text_to_text")
)
EXPECTED_WORDS = "VocabularyScores"  # the prediction of a language model
CONTINUES = "continuation"  # of a model that predicts the next or the previous unit of a text
NEW_HEAD = "head.safetensors"  # of a run: `tasks.model.HEAD`, whose module imports torch
NEXT, PREVIOUS = "next", "previous"  # directions
DECISION = "decision"  # of a run: a prediction that a change of the text can turn
ENCODER = "encoder"  # of a model; baselines and ensembles have none
MEMBERS = "members"  # of an ensemble
CLASSES = "ClassScores"  # probabilities of classes, which views of other kinds may have, too
AVERAGED = (CLASSES, MEMBERS)  # what an ensemble provides
TEXTS, LABELS = "texts", "labels"  # what is examined of the documents of a project
BASE = "base"  # in place of a folder: the model that a run was trained from
DOCUMENTS = "documents"  # the option with the number of documents that are examined
LAYER = "layer"  # the option with the name of the layer whose labels are examined
# What runs or language models give to inspectors besides the fields of predictions (their `title`)
# and what tasks declare (`tasks.spec.FURTHER_OUTPUTS`, `TaskInfo.further`), as display texts.
OUTPUTS = {
    DECISION: N_("a class, labels, a number, tags, spans or answers"),
    CONTINUES: N_("continuations of a text"),
    ENCODER: N_("tokens and their representations"),
    MEMBERS: N_("several runs that are averaged"),
}


PAGE_TOKENS = 1024  # tokens read per request of the window for a long text: a second on one core


@dataclass(frozen=True)
class InspectorInfo:
    """The light part of an inspector.

    result: the dataclass that `run` returns. Its fields are numbers, texts, tuples, mappings,
    dataclasses or numpy arrays. A boolean field `cut` says that the text was truncated.
    options: its settings; those named in of_text are reset to their defaults for each text.
    several: whether one request can contain many documents. shows: a display text on what the view
    shows and does not show, with its source. corpus: what its index of the project's documents
    holds, a kind of `corpus.spec`; "" if it needs none. The index is named by the option `index`.
    examines: TEXTS or LABELS if it examines a sample of the documents of a project in a job, see
    `inspection.examining`; "" for one text at a time.
    in_parts: options with which the window asks for a part of a long answer. The result then has
    `further(whole)`, the options of the request for the next part, None after the last one (whole:
    the user wants all, whatever it takes), and `joined(later)`, both parts in one result.
    """

    id: str
    title: str
    result: type
    options: tuple[Option, ...] = ()
    shows: str = ""
    of_text: tuple[str, ...] = ()
    several: bool = False
    corpus: str = ""
    examines: str = ""
    in_parts: Mapping[str, Any] = field(default_factory=dict, hash=False)


def needs(entry: Contribution) -> frozenset[str]:
    """The outputs of encoder and predictions that an inspector of the index needs.

    One that declares none needs a model: baselines and ensembles have no encoder.
    """
    return frozenset(entry.options.get("needs", ()) or (ENCODER,))


def reads_whole(entry: Contribution, *, asks: bool) -> bool:
    """Whether it is about the decision for a document, not about one of its inputs.

    asks: the model answers questions; an inspector whose entry has `questions` reads them all.
    """
    if DECISION in needs(entry) or any(kind.of_document for kind in _kinds(needs(entry))):
        return True
    return asks and bool(entry.options.get("questions"))


def _kinds(names: Iterable[str]) -> list[type[Field]]:
    """The fields of predictions among these names."""
    from workbench.text import fields  # imports numpy, which the start of the window must not

    return [kind for name in names if (kind := fields.named(name)) is not None]


def question(entry: Contribution) -> str:
    """The key of QUESTIONS under which it is listed."""
    key = entry.options.get("question")
    return key if key in QUESTIONS else "answer"


def provided_outputs(
    encoder: Iterable[str] | None, outputs: Iterable[str] | None
) -> frozenset[str]:
    """What a model provides to inspectors.

    encoder: `ModelInfo.gives`; None for baselines and ensembles, which have no encoder. outputs:
    `TaskInfo.provides` of a run; None for a pretrained model, which predicts words if it is a
    language model.
    """
    provided = frozenset() if encoder is None else frozenset((*encoder, ENCODER))
    if outputs is not None:
        provided |= frozenset(outputs)
        view = result_view.of_outputs(tuple(outputs))
        if view.on_document and not view.independent:
            provided |= {CLASSES}
        return provided | {DECISION} if any(kind.decides for kind in _kinds(provided)) else provided
    if provided & _CONTINUING:
        provided |= {CONTINUES}
    return provided | {EXPECTED_WORDS} if provided & _LANGUAGE_MODEL else provided


def of_run(encoder: Iterable[str], folder: Path) -> tuple[str, ...]:
    """`ModelInfo.gives` of a run, without the text that a decoder no longer writes: a new head
    took the place of its own.
    """
    return tuple(
        name for name in encoder if name != "text_to_text" or not (folder / NEW_HEAD).is_file()
    )


def missing(entry: Contribution, gives: Collection[str]) -> tuple[str, ...]:
    """The needs of the inspector that the model does not meet; () if it can be used."""
    return tuple(sorted(needs(entry).difference(gives)))


def light(id: str) -> InspectorInfo | None:
    """The light part of an inspector, None if it has none: no options, its result a mapping."""
    entry = registry().entry("inspector", id)
    return registry().info("inspector", id) if "info" in entry.options else None


def options(id: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Every option of an inspector with its value, by default its default value.

    Raises SpecError for an unknown option or a value that does not fit.
    """
    info = light(id)
    return complete(info.options if info is not None else (), settings, owner=id)


@dataclass(frozen=True)
class Inspection:
    """The result of one inspector, with properties of the text that every view shows.

    result: of the class that the inspector's `InspectorInfo.result` names, else a mapping.
    unknown: fraction of words that are not in the vocabulary. milliseconds: time in the worker.
    """

    inspector: str
    result: Any
    unknown: float = 0.0
    milliseconds: float = 0.0

    @property
    def cut(self) -> bool:
        """Whether the text exceeded the maximum length of the model and was truncated."""
        raw = self.result
        return bool(raw.get("cut") if isinstance(raw, Mapping) else getattr(raw, "cut", False))

    def to_plain(self) -> dict[str, Any]:
        """Plain values for the channel or JSON; arrays are kept."""
        raw: dict[str, Any] = to_plain(self)
        return raw

    @classmethod
    def from_plain(cls, raw: Mapping[str, Any]) -> Inspection:
        answer, info = from_plain(cls, raw), light(raw["inspector"])
        if info is None:
            return answer
        result: object = from_plain(info.result, answer.result)
        return cls(answer.inspector, result, answer.unknown, answer.milliseconds)


# ---------------------------------------------------------------- parts shared by results


@dataclass(frozen=True, slots=True)
class TokenRow:
    """One token. Offsets are code points of the text named `field`, (0, 0) for special tokens.

    `id` is None without a vocabulary, as ELMo reads the characters of each word. `word` is its
    index among the words, None for a special token. `shown` is the piece for display. `best` are
    the most probable labels (of a tagger) or words (of a language model) with probabilities,
    descending; () for positions that were not computed. `own` is the probability of the token
    itself under a language model. `entropy` is that of the whole distribution that `best` is taken
    from, in bits.
    """

    piece: str
    shown: str
    id: int | None
    start: int
    end: int
    field: str
    word: int | None
    special: bool = False
    unknown: bool = False
    best: tuple[tuple[str, float], ...] = ()
    own: float | None = None
    entropy: float | None = None


@dataclass(frozen=True, slots=True)
class WordRow:
    """One word, offsets in code points of the text named `field`."""

    start: int
    end: int
    field: str
    text: str


@dataclass(frozen=True)
class TokenTable:
    """The tokens of one text or pair, grouped by word; results about tokens extend it."""

    tokens: tuple[TokenRow, ...] = ()
    words: tuple[WordRow, ...] = ()
    cut: bool = False

    @property
    def count(self) -> int:
        """Tokens of the text, without special tokens."""
        special: int = sum(map(attrgetter("special"), self.tokens))
        return len(self.tokens) - special
