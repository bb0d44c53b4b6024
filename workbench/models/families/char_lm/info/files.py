"""flair's files of language models, described without unpickling them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeGuard

from workbench.base.i18n import _
from workbench.models.formats import pickles
from workbench.models.formats.json_files import quoted

NEXT, PREVIOUS = "next", "previous"
NAMES = {NEXT: "forward.pt", PREVIOUS: "backward.pt"}  # of files that we write
TAGGER = "tagger.pt"
TABLES = "character_lm.json"  # beside weights that we write, and in exported folders
RECURRENT = {"lstm": 4, "gru": 3}  # kind → gates
DICTIONARY = "flair.data.Dictionary"
KEYS = frozenset(("state_dict", "dictionary", "is_forward_lm", "hidden_size", "nlayers"))


@dataclass(frozen=True)
class LanguageModelFile:
    """The settings of one language model.

    output: width of the projection above the recurrent layers, 0 without one. ids: character → id.
    shapes: of the weights, by name. place: where they are in a tagger's weights, and where its
    settings are in the tagger's embeddings; "" and () in a file of its own.
    """

    path: Path
    forward: bool
    width: int
    layers: int
    embedding: int
    output: int
    dropout: float
    delimiter: str
    recurrent: str
    decoder: bool
    ids: Mapping[str, int]
    size: int
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    dtype: str = ""
    place: str = ""
    settings: tuple[str | int, ...] = ()

    @property
    def direction(self) -> str:
        return NEXT if self.forward else PREVIOUS

    @property
    def states(self) -> int:
        """Width of the states of one word."""
        return self.output or self.width

    @property
    def parameters(self) -> int:
        return sum(map(math.prod, self.shapes.values()))


def is_language_model(content: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(content, dict) and content.keys() >= KEYS


def described(
    path: Path, content: Mapping[str, Any], problems: list[str]
) -> LanguageModelFile | None:
    """The model in the content of a file; None, with a problem, if it is not a valid one."""
    try:
        model = _described(path, content)
        reason = _contradiction(model)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        model, reason = None, str(error) or type(error).__name__
    if reason:
        problems.append(
            _(
                "{file} is not a valid language model ({reason})",
                file=path.name,
                reason=reason[:200],
            )
        )
        return None
    return model


def _described(path: Path, raw: Mapping[str, Any]) -> LanguageModelFile:
    ids, size = dictionary(raw["dictionary"])
    tensors = tuple(pickles.named(raw["state_dict"]))
    return replace(
        sizes(path, raw, ids, size),
        decoder=any(tensor.name == "decoder.weight" for tensor in tensors),
        shapes={tensor.name: tensor.shape for tensor in tensors},
        dtype=next((tensor.dtype for tensor in tensors), ""),
    )


def sizes(
    path: Path, raw: Mapping[str, Any], ids: Mapping[str, int], size: int
) -> LanguageModelFile:
    """The settings in a file, without what only its weights tell. Raises ValueError."""
    return LanguageModelFile(
        path,
        forward=bool(raw["is_forward_lm"]),
        width=count(raw["hidden_size"]),
        layers=count(raw["nlayers"]),
        embedding=count(raw.get("embedding_size", 100)),
        output=count(raw["nout"]) if raw.get("nout") else 0,
        dropout=min(1.0, max(0.0, float(raw.get("dropout", 0.0)))),
        delimiter=str(raw.get("document_delimiter", "\n")) or "\n",
        recurrent=str(raw.get("recurrent_type", "lstm")).lower(),
        decoder=True,
        ids=ids,
        size=size,
    )


def dictionary(built: object) -> tuple[dict[str, int], int]:
    """Item → id of a pickled Dictionary of flair, and its size. Raises ValueError."""
    if not isinstance(built, pickles.Built) or built.path != DICTIONARY:
        raise ValueError(_("its dictionary is of an unknown kind"))
    return dictionary_of(built.state)


def dictionary_of(state: Mapping[str, Any]) -> tuple[dict[str, int], int]:
    """As `dictionary`, from its attributes. Raises ValueError for ids out of range."""
    numbers, items = state["item2idx"], state["idx2item"]
    ids = {_text(item): number for item, number in numbers.items()}
    if any(not isinstance(number, int) or not 0 <= number < len(items) for number in ids.values()):
        raise ValueError(_("the ids of its dictionary exceed its size"))
    return ids, len(items)


def _text(item: Any) -> str:
    return item.decode("utf-8") if isinstance(item, bytes) else str(item)


def count(value: object) -> int:
    """A size in a file. Raises ValueError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1 << 24:
        raise ValueError(_("a size is {value}", value=quoted(value)))
    return value


def _contradiction(model: LanguageModelFile) -> str:
    """Why the weights do not fit the settings; "" if they do."""
    if model.recurrent not in RECURRENT:
        known = ", ".join(RECURRENT)
        return _(
            "its recurrent layers are {kind}, supported are {known}",
            kind=quoted(model.recurrent),
            known=known,
        )
    if model.layers > 100:
        return _("it has too many layers: {count:,}", count=model.layers)
    for name, shape in expected_shapes(model).items():
        if model.shapes.get(name) != shape:
            return _(
                "{name} has shape {shape}, expected {expected}",
                name=name,
                shape=model.shapes.get(name),
                expected=shape,
            )
    return ""


def expected_shapes(model: LanguageModelFile) -> dict[str, tuple[int, ...]]:
    """Name → shape of all weights, with flair's names."""
    rows = RECURRENT[model.recurrent] * model.width
    shapes: dict[str, tuple[int, ...]] = {"encoder.weight": (model.size, model.embedding)}
    for layer in range(model.layers):
        below = model.width if layer else model.embedding
        shapes[f"rnn.weight_ih_l{layer}"] = (rows, below)
        shapes[f"rnn.weight_hh_l{layer}"] = (rows, model.width)
        shapes[f"rnn.bias_ih_l{layer}"] = shapes[f"rnn.bias_hh_l{layer}"] = (rows,)
    if model.output:
        shapes["proj.weight"], shapes["proj.bias"] = (model.output, model.width), (model.output,)
    if model.decoder:
        shapes["decoder.weight"] = (model.size, model.states)
        shapes["decoder.bias"] = (model.size,)
    return shapes
