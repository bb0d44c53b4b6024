"""The configuration of a BiLSTM: the parts of its embeddings, and its sizes. Light."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.base.records import JsonRecord
from workbench.base.registry import registry
from workbench.models.formats.json_files import quoted

WORDS, CHARACTERS, MODEL = "words", "chars", "model"
LAST, MEAN, MIX, CONCAT, ATTENTION = LAYERS = ("last", "mean", "mix", "concat", "attention")
ADDED = (MEAN, MIX, ATTENTION)  # sums of layers, which need one width
WHOLE = (MIX, CONCAT, ATTENTION)  # for which all layers are read
INPUT, SECOND = ENTERS = ("input", "second")
FIRST_SUBWORD, MEAN_SUBWORDS = SUBWORDS = ("first", "mean")
PLUS, AT = "+", "@"
DEFAULT_PARTS = f"{WORDS}{PLUS}{CHARACTERS}"
MAX_SIZE = 1 << 14  # of any size


@dataclass(frozen=True)
class PartConfig:
    """One part of the embeddings.

    kind: words and chars are trained, a model is frozen. model: its name, or its path where it is
    not yet part of a saved folder. layers: of a model; "" for mix if it has several above the
    embeddings, all of the same width, else last. family, longest, sha256: of a saved model its
    family, the most tokens of an input that are its own (0 if they are words), and the hash of the
    weights that it was copied from.
    """

    kind: str
    model: str = ""
    layers: str = ""
    family: str = ""
    longest: int = 0
    sha256: str = ""


@dataclass(frozen=True)
class Config(JsonRecord):
    """Architecture and dropouts.

    word_width, char_width: of the trained parts. lstm_width: of each direction. lm_states: whether
    the states of language models enter the first or the second layer of the LSTM. subwords: which
    subwords of a word stand for it. part_norm: whether the layers of a model are normalized before
    they are combined; part_l2: strength of the L2 penalty on their weights before the softmax.
    word_dropout: probability that a word is replaced by zeros,
    locked_dropout: that a feature is dropped in the whole text.
    """

    parts: tuple[PartConfig, ...] = ()
    word_width: int = 100
    char_width: int = 50
    lstm_width: int = 256
    lstm_layers: int = 1
    lm_states: str = INPUT
    subwords: str = FIRST_SUBWORD
    part_norm: bool = False
    part_l2: float = 0.001
    word_dropout: float = 0.05
    locked_dropout: float = 0.5

    @property
    def width(self) -> int:
        """Width of the last layer."""
        return 2 * self.lstm_width

    def changed(self, settings: Mapping[str, Any]) -> Config:
        """With those settings of a training that are given (not None), without `embeddings`."""
        changes = {name: value for name, value in settings.items() if value is not None}
        changes.pop("embeddings", None)
        return replace(self, **changes)


def parse_parts(text: str) -> tuple[PartConfig, ...]:
    """`words+chars+NAME@mix` → its parts. Raises SpecError."""
    parts = tuple(_part(piece.strip()) for piece in text.split(PLUS))
    trained = [part.kind for part in parts if part.kind != MODEL]
    if len(set(trained)) < len(trained):
        raise SpecError(
            _(
                "embeddings is {text!r}: {part} occurs twice.",
                text=text,
                part=max(trained, key=trained.count),
            )
        )
    return parts


def _part(text: str) -> PartConfig:
    if text in (WORDS, CHARACTERS):
        return PartConfig(text)
    name, at, layers = text.rpartition(AT)
    if not at or layers not in LAYERS:
        name, layers = text, ""
    if not name:
        raise SpecError(
            _("embeddings has an empty part."),
            hint=_("Separate parts with +, for example words+chars+starter-bert@mix."),
        )
    return PartConfig(MODEL, name, layers)


def parts_text(parts: Sequence[PartConfig]) -> str:
    """The text that `parse_parts` reads."""
    return PLUS.join(
        part.kind if part.kind != MODEL else part.model + (part.layers and f"{AT}{part.layers}")
        for part in parts
    )


def with_paths(text: str, path: Callable[[str], str]) -> str:
    """The parts with the path of each model instead of its name.

    Raises SpecError for a path that cannot be written in a list of parts.
    """
    parts = [
        replace(part, model=path(part.model)) if part.kind == MODEL else part
        for part in parse_parts(text)
    ]
    for part in parts:
        if PLUS in part.model:
            raise SpecError(
                _("{path} cannot be used in embeddings: it contains a +.", path=part.model),
                hint=_("Rename or move the folder."),
            )
    return parts_text(parts)


def read_config(raw: Mapping[str, Any]) -> Config:
    """The content of config.json. Raises ValueError naming what is wrong."""
    parts = raw.get("parts", [])
    if not isinstance(parts, list):
        raise ValueError(_("parts is {value}", value=quoted(parts)))
    config = Config(tuple(_read_part(part) for part in parts))
    values = {field.name: raw[field.name] for field in fields(Config) if field.name in raw}
    values.pop("parts", None)
    config = replace(config, **values)
    _check(config)
    return config


def _read_part(raw: Any) -> PartConfig:
    names = [field.name for field in fields(PartConfig)]
    try:
        part = PartConfig(**{name: raw[name] for name in names if name in raw})
        is_valid = part.kind in (WORDS, CHARACTERS, MODEL) and part.layers in ("", *LAYERS)
        is_valid = is_valid and isinstance(part.longest, int)
        if part.kind == MODEL:
            is_valid = is_valid and part.family in registry().ids("family")
    except TypeError:
        is_valid = False
    if not is_valid:
        raise ValueError(_("a part is {value}", value=quoted(raw)))
    return part


def _check(config: Config) -> None:
    sizes = ("word_width", "char_width", "lstm_width", "lstm_layers")
    for name in sizes:
        value = getattr(config, name)
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_SIZE:
            raise ValueError(_("{name} is {value}", name=name, value=quoted(value)))
    for name, most in (("word_dropout", 1.0), ("locked_dropout", 1.0), ("part_l2", MAX_SIZE)):
        value = getattr(config, name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < most:
            raise ValueError(_("{name} is {value}", name=name, value=quoted(value)))
    for name in ("part_norm",):
        if not isinstance(getattr(config, name), bool):
            value = quoted(getattr(config, name))
            raise ValueError(_("{name} is {value}", name=name, value=value))
    for name, known in (("lm_states", ENTERS), ("subwords", SUBWORDS)):
        if getattr(config, name) not in known:
            value = quoted(getattr(config, name))
            raise ValueError(_("{name} is {value}", name=name, value=value))
