"""flair's SequenceTagger files: embeddings, a BiLSTM and a CRF, described without unpickling.

Source: flair 0.15, flair/models/sequence_tagger_model.py and flair/embeddings/token.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench.base.i18n import _, ngettext
from workbench.models.families.char_lm.info import files
from workbench.models.families.char_lm.info.files import LanguageModelFile
from workbench.models.formats import pickles

KEYS = frozenset(("state_dict", "embeddings", "tag_dictionary", "use_crf", "use_rnn"))
STACK, FLAIR, STATIC = "StackedEmbeddings", "FlairEmbeddings", "WordEmbeddings"
START, STOP = "<START>", "<STOP>"
RECURRENT = {"LSTM": 4, "GRU": 3}  # kind → gates
MAX_WORDS = 10_000  # words per input; the networks have no limit


@dataclass(frozen=True)
class StaticVectors:
    """place: of the weights in the tagger's. words: row of each, unknown ones have the last."""

    place: str
    words: Mapping[str, int]
    width: int


@dataclass(frozen=True)
class TaggerFile:
    """The settings of a tagger.

    tags: in the order of its outputs, with START and STOP if it has a CRF. parts: the embeddings in
    the order in which they are concatenated. hidden: width of the BiLSTM in each direction, layers
    its depth, 0 without one. reprojects: whether a linear layer follows the embeddings. dropout: of
    single numbers, word_dropout of whole words, locked_dropout of features in the whole text.
    """

    path: Path
    tags: tuple[str, ...]
    parts: tuple[LanguageModelFile | StaticVectors, ...]
    hidden: int
    layers: int
    recurrent: str
    reprojects: bool
    crf: bool
    dropout: float
    word_dropout: float
    locked_dropout: float
    shapes: Mapping[str, tuple[int, ...]]
    dtype: str = ""

    @property
    def outputs(self) -> tuple[str, ...]:
        """The tags of words: without START and STOP, which only the transitions have."""
        return tuple(tag for tag in self.tags if tag not in (START, STOP))

    @property
    def tags_spans(self) -> bool:
        """Whether its tags mark the beginning of spans, as flair decides it."""
        return any(tag[:2] in ("B-", "S-", "I-") for tag in self.tags)

    @property
    def task(self) -> str:
        """The task of the product that it is trained for, "" for none."""
        if self.tags_spans:
            return "tag"
        return "" if self.crf else "token"

    @property
    def parameters(self) -> int:
        return sum(map(math.prod, self.shapes.values()))

    def above(self) -> dict[str, tuple[int, ...]]:
        """Name → shape of all weights but those of the language models."""
        places = tuple(model.place for model in self.models)
        return {name: shape for name, shape in self.shapes.items() if not name.startswith(places)}

    @property
    def statics(self) -> tuple[StaticVectors, ...]:
        return tuple(part for part in self.parts if isinstance(part, StaticVectors))

    def description(self) -> dict[str, Any] | None:
        """See `FamilyInfo.trained`."""
        if not self.task:
            return None
        own = {"decoder": "crf" if self.crf else "greedy"} if self.tags_spans else {}
        return {
            "task": self.task,
            "labels": list(self.labels),
            "max_length": MAX_WORDS,
            "options": own,
            "decoder": {"tags": list(self.outputs)} if self.tags_spans else {},
        }

    @property
    def models(self) -> tuple[LanguageModelFile, ...]:
        return tuple(part for part in self.parts if isinstance(part, LanguageModelFile))

    @property
    def states(self) -> int:
        """Width of the states that the tags are computed from."""
        return 2 * self.hidden or self.width

    @property
    def width(self) -> int:
        """Width of the concatenated embeddings."""
        return sum(
            part.states if isinstance(part, LanguageModelFile) else part.width
            for part in self.parts
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the spans (or words) that it tags, without the prefixes of the scheme."""
        if not self.tags_spans:
            return self.outputs
        plain = (tag for tag in self.outputs if tag not in ("<unk>", "O"))
        return tuple(dict.fromkeys(tag[2:] if tag[1:2] == "-" else tag for tag in plain))

    def note(self) -> str:
        """The parts of the tagger as one sentence."""
        count = len(self.models)
        parts = [
            ngettext("{n} language model", "{n} language models", count),
            *(
                ngettext(
                    "static vectors of {n:,} word",
                    "static vectors of {n:,} words",
                    len(static.words),
                )
                for static in self.statics
            ),
        ]
        if self.layers:
            parts.append(_("BiLSTM {layers} × {width}", layers=self.layers, width=2 * self.hidden))
        parts.append(_("CRF") if self.crf else _("softmax"))
        tags, all_parts = ", ".join(self.outputs), ", ".join(parts)
        if not self.task:
            return _(
                "A tagger of flair with the tags {tags} ({parts}). A CRF over tags of single words "
                "is not supported: its layers can be trained for another task, but it does not "
                "predict.",
                tags=tags,
                parts=all_parts,
            )
        return _(
            "A tagger of flair with the tags {tags} ({parts}). It can predict without training. "
            "Training freezes its language models and vectors and updates the layers above them.",
            tags=tags,
            parts=all_parts,
        )


def is_tagger(content: object) -> bool:
    return isinstance(content, dict) and content.keys() >= KEYS


def described(path: Path, content: Any, problems: list[str]) -> TaggerFile | None:
    """The tagger in the content of a file; None, with a problem, if it is not a valid one."""
    try:
        tagger = _described(path, content, problems)
        reason = _contradiction(tagger)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        tagger, reason = None, str(error) or type(error).__name__
    if reason:
        problems.append(
            _(
                "{file} is not a tagger that can be read ({reason})",
                file=path.name,
                reason=reason[:200],
            )
        )
        return None
    return tagger


def _described(path: Path, raw: Mapping[str, Any], problems: list[str]) -> TaggerFile:
    ids, size = files.dictionary(raw["tag_dictionary"])
    tags = {number: tag for tag, number in ids.items()}
    tensors = {tensor.name: tensor for tensor in pickles.named(raw["state_dict"])}
    uses_rnn = bool(raw["use_rnn"])
    if raw.get("train_initial_hidden_state"):
        raise ValueError(_("a trained initial state of its recurrent layers is not supported"))
    return TaggerFile(
        path,
        tuple(tags.get(number, "") for number in range(size)),
        tuple(_parts(path, raw, problems)),
        hidden=files.count(raw["hidden_size"]) if uses_rnn else 0,
        layers=files.count(raw["rnn_layers"]) if uses_rnn else 0,
        recurrent=str(raw.get("rnn_type", "LSTM")),
        reprojects=bool(raw.get("reproject_embeddings", True)),
        crf=bool(raw["use_crf"]),
        dropout=_share(raw.get("use_dropout", 0.0)),
        word_dropout=_share(raw.get("use_word_dropout", 0.0)),
        locked_dropout=_share(raw.get("use_locked_dropout", 0.0)),
        shapes={name: tensor.shape for name, tensor in tensors.items()},
        dtype=next((tensor.dtype for tensor in tensors.values()), ""),
    )


def _share(value: Any) -> float:
    return min(0.99, max(0.0, float(value)))


def _parts(
    path: Path, raw: Mapping[str, Any], problems: list[str]
) -> list[LanguageModelFile | StaticVectors]:
    """The embeddings in flair's order: that of their names, not that of the stack."""
    embeddings = raw["embeddings"]
    if not isinstance(embeddings, dict):
        raise ValueError(_("its embeddings were saved by a version before 0.12"))
    places: dict[str, tuple[tuple[str | int, ...], Mapping[str, Any]]] = {
        "embeddings.": ((), embeddings)
    }
    if embeddings["__cls__"] == STACK:
        places = {
            f"embeddings.list_embedding_{number}.": (("embeddings", number), item)
            for number, item in enumerate(embeddings["embeddings"])
        }
    ordered = sorted(places.items(), key=lambda place: str(place[1][1].get("name", "")))
    return [
        _part(path, raw, place, where, mapping, problems) for place, (where, mapping) in ordered
    ]


def _part(
    path: Path,
    raw: Mapping[str, Any],
    place: str,
    where: tuple[str | int, ...],
    settings: Mapping[str, Any],
    problems: list[str],
) -> LanguageModelFile | StaticVectors:
    kind = settings["__cls__"]
    if kind == STATIC and not settings.get("stable") and settings.get("field") is None:
        return StaticVectors(
            f"{place}embedding.weight", settings["vocab"], files.count(settings["embedding_length"])
        )
    reads_as_usual = settings.get("tokenized_lm", True) and not settings.get("is_lower")
    if kind != FLAIR or not reads_as_usual or settings.get("with_whitespace") is False:
        raise ValueError(
            _(
                "its embeddings {kind} are not supported; supported are {known}, alone or in "
                "{stack}",
                kind=kind,
                known=f"{FLAIR}, {STATIC}",
                stack=STACK,
            )
        )
    inside = f"{place}lm."
    weights = {
        name.removeprefix(inside): value
        for name, value in raw["state_dict"].items()
        if name.startswith(inside)
    }
    content = {**settings["model_params"], "state_dict": weights}
    model = files.described(path, content, problems)
    if model is None:
        raise ValueError(_("one of its language models is not valid"))
    return replace(model, place=inside, settings=(*where, "model_params"))


def _contradiction(tagger: TaggerFile) -> str:
    """Why the weights do not fit the settings; "" if they do."""
    if tagger.layers and tagger.recurrent not in RECURRENT:
        return _(
            "its recurrent layers are {kind}, supported are {known}",
            kind=tagger.recurrent,
            known=", ".join(RECURRENT),
        )
    for name, shape in _expected(tagger).items():
        if tagger.shapes.get(name) != shape:
            return _(
                "{name} has shape {shape}, expected {expected}",
                name=name,
                shape=tagger.shapes.get(name),
                expected=shape,
            )
    if missing := [tag for tag in (START, STOP) if tagger.crf and tag not in tagger.tags]:
        return _("its tags lack {tag}", tag=missing[0])
    return ""


def _expected(tagger: TaggerFile) -> dict[str, tuple[int, ...]]:
    """Name → shape of the weights above the embeddings, and of static vectors."""
    width, tags = tagger.width, len(tagger.tags)
    shapes: dict[str, tuple[int, ...]] = {
        static.place: (len(static.words) + 1, static.width) for static in tagger.statics
    }
    if tagger.reprojects:
        shapes["embedding2nn.weight"], shapes["embedding2nn.bias"] = (width, width), (width,)
    below = width
    for layer in range(tagger.layers):
        rows = RECURRENT[tagger.recurrent] * tagger.hidden
        for end in (f"l{layer}", f"l{layer}_reverse"):
            shapes[f"rnn.weight_ih_{end}"] = (rows, below)
            shapes[f"rnn.weight_hh_{end}"] = (rows, tagger.hidden)
            shapes[f"rnn.bias_ih_{end}"] = shapes[f"rnn.bias_hh_{end}"] = (rows,)
        below = 2 * tagger.hidden
    shapes["linear.weight"], shapes["linear.bias"] = (tags, below), (tags,)
    if tagger.crf:
        shapes["crf.transitions"] = (tags, tags)
    return shapes
