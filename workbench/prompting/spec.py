"""The settings of a prompt: a versioned object of a project, and the settings of its runs.

Light: imports neither Jinja2 nor numpy; windows, commands and workers use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _
from workbench.base.options import MAX_SEED, Option
from workbench.base.records import JsonRecord

MOST_SHOTS, MOST_ORDERS = 64, 20
CALIBRATIONS = ("none", "content-free", "pmi", "batch")  # as in prompting.score, which uses numpy
CALIBRATION = "content-free"
LOCAL = "local"  # the backend of runs that do not name one
SELECTIONS = ("balanced", "random", "nearest", "nearest-balanced", "mmr", "uncertain", "pinned")
BALANCED, RANDOM, NEAREST, NEAREST_BALANCED, MMR, UNCERTAIN, PINNED = SELECTIONS
BY_VECTORS = frozenset((NEAREST, NEAREST_BALANCED, MMR))  # selections that compare texts
ARRANGEMENTS = _FIXED, SHUFFLED, NEAREST_LAST = ("fixed", "shuffled", "nearest-last")
SCORED = "scored"  # the answer form of label words compared by probability
MENTIONS = ("all", "first", "order")


ANSWER_OPTIONS = (  # of AnswerSpec, besides its form
    Option(
        "pattern",
        "text",
        "",
        N_("Regular expression whose first group, or all that it matches, is the answer."),
        title=N_("Pattern"),
    ),
    Option(
        "marker",
        "text",
        "",
        N_("What the answer follows after the reasons; “Answer:” if empty."),
        title=N_("Marker"),
    ),
    Option(
        "mentions",
        "choice",
        MENTIONS[0],
        N_(
            "Which occurrences of a quoted string are spans. By order of mention: a repeated "
            "string is the next occurrence."
        ),
        choices=MENTIONS,
        choice_titles=(N_("All occurrences"), N_("The first one"), N_("By order of mention")),
        title=N_("Occurrences"),
    ),
    Option(
        "constrained",
        "bool",
        False,
        N_("Restrict replies to what the form can read: the label words, or JSON."),
        title=N_("Only valid replies"),
    ),
)
DECODING_OPTIONS = (  # of Decoding
    Option(
        "samples",
        "int",
        1,
        N_(
            "Replies per document, of which the majority is the answer and the agreement the "
            "confidence (self-consistency, Wang et al. 2023)."
        ),
        low=1,
        high=100,
        title=N_("Samples"),
    ),
    Option(
        "temperature",
        "float",
        0.0,
        N_("Divides the logits before sampling; 0 takes the most probable token."),
        low=0.0,
        high=10.0,
        title=N_("Temperature"),
    ),
    Option(
        "max_tokens",
        "int",
        64,
        N_("Maximum tokens of a reply."),
        low=1,
        high=100_000,
        title=N_("Longest reply"),
    ),
    Option(
        "top_k",
        "int",
        0,
        N_("Sample from so many of the most probable tokens; 0 for all."),
        low=0,
        title="top-k",
    ),
    Option(
        "top_p",
        "float",
        1.0,
        N_("Sample from the most probable tokens with this total probability; 1 for all."),
        low=0.0,
        high=1.0,
        title="top-p",
    ),
    Option(
        "seed",
        "int",
        1,
        N_("Random seed of sampling."),
        low=0,
        high=MAX_SEED,
        title=N_("Seed of sampling"),
    ),
    Option(
        "stop",
        "text",
        "",
        N_("Texts that end a reply, separated by “ | ”; \\n is a line break."),
        title=N_("Ends at"),
    ),
)
_OF_FREE_TEXT: dict[str, dict[str, Any]] = {
    "samples": {
        "high": 8,
        "help": N_("Number of replies to the same text, each with a seed of its own."),
    },
    "temperature": {"default": 1.0},
    "seed": {"help": N_("Random seed of the first sample."), "title": N_("Seed")},
}
FREE_TEXT_OPTIONS = tuple(  # of Decoding, without documents
    replace(option, **_OF_FREE_TEXT.get(option.name, {})) for option in DECODING_OPTIONS
)
STOPS = " | "  # separates the texts of the option `stop`


def stop_texts(text: str) -> tuple[str, ...]:
    """The texts that end a reply, from the option."""
    return tuple(each.replace("\\n", "\n") for each in text.split(STOPS) if each)


def stop_option(texts: tuple[str, ...]) -> str:
    return STOPS.join(each.replace("\n", "\\n") for each in texts)


@dataclass(frozen=True)
class Decoding(JsonRecord):
    """How a reply is generated.

    max_tokens: of the reply. temperature: 0 is greedy. top_k: 0 keeps all tokens; top_p: 1 keeps
    all. stop: texts that end the reply, not part of it. samples: replies per document, whose
    majority is the answer (self-consistency, Wang et al. 2023, arXiv:2203.11171).
    """

    max_tokens: int = 64
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 1
    stop: tuple[str, ...] = ()
    samples: int = 1


@dataclass(frozen=True)
class AnswerSpec(JsonRecord):
    """How a reply becomes a prediction.

    form: id of an answer form (`prompting/answers`). pattern: a regular expression, for the form
    that reads one. mentions: which occurrences of a quoted string are spans: all, the first, or by
    order of mention. constrained: generation is restricted to what the form can read. marker: what
    the answer follows, for the form that writes reasons first; "" for its default.
    """

    form: str = SCORED
    pattern: str = ""
    mentions: str = "all"
    constrained: bool = False
    marker: str = ""


@dataclass(frozen=True)
class PromptSpec(JsonRecord):
    """A prompt, its examples, its model and how its answers are read.

    template: the source. model: what `backend` finds the model by, such as a folder; options:
    settings of the backend that differ from its defaults. words: label → the words that stand for
    it, by default its name; descriptions: label → description, by default that of the layer.
    instruction: the variable `instruction` of the template.

    order: how `shots` examples are selected from the training split, one of SELECTIONS. pinned:
    ids of documents, for "pinned". every_label: each label at least once. source_run: id of the
    run that is uncertain, for "uncertain". vectors: name of the model whose vectors compare texts,
    "" for the first one. diversity: weight of difference in maximal marginal relevance, 0 … 1.
    arrangement: the order in the prompt, one of ARRANGEMENTS. orders: of "shuffled" that are scored
    on a run, the first of which gives its answers.

    calibration: one of CALIBRATIONS, for scored label words. chat: the prompt is sent as a
    conversation, with the model's chat template. sample: documents of the split that are asked
    about, the same ones for every prompt; 0 for all. prompt_name, prompt_version: of the object in
    the project that a run was made from, "" and 0 for none.
    """

    template: str
    model: str
    model_name: str = ""
    layer: str = ""
    shots: int = 6
    order: str = "balanced"
    seed: int = 1
    name: str = ""
    device: str = "auto"
    allow_pickle: bool = False
    calibration: str = CALIBRATION
    backend: str = LOCAL
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    instruction: str = ""
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    descriptions: Mapping[str, str] = field(default_factory=dict, hash=False)
    pinned: tuple[int, ...] = ()
    every_label: bool = False
    source_run: int | None = None
    vectors: str = ""
    diversity: float = 0.5
    arrangement: str = "fixed"
    orders: int = 1
    answer: AnswerSpec = AnswerSpec()
    decoding: Decoding = Decoding()
    chat: bool = False
    prompt_name: str = ""
    prompt_version: int = 0
    sample: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.shots <= MOST_SHOTS:
            raise SpecError(
                _("The number of examples is {n}, which is out of range.", n=self.shots),
                hint=_("Choose a number from 0 to {most}.", most=MOST_SHOTS),
            )
        if not 1 <= self.orders <= MOST_ORDERS:
            raise SpecError(
                _("The number of orders is {n}, which is out of range.", n=self.orders),
                hint=_("Choose a number from 1 to {most}.", most=MOST_ORDERS),
            )
        _check(_("Unknown order of examples: {name!r}."), self.order, SELECTIONS)
        _check(_("Unknown arrangement of examples: {name!r}."), self.arrangement, ARRANGEMENTS)
        _check(_("Unknown calibration {name!r}."), self.calibration, CALIBRATIONS)
        _check(_("Unknown choice of mentions: {name!r}."), self.answer.mentions, MENTIONS)

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        """The settings of a run. Those of a version without calibration had none; those of a
        version without backends used a model on this computer.
        """
        return super().from_json({"calibration": "none", **raw})


def _check(message: str, name: str, known: tuple[str, ...]) -> None:
    if name not in known:
        hint = _("Choose one of: {names}.", names=", ".join(known))
        raise SpecError(message.format(name=name), hint=hint)
