"""Builds BiLSTMs from the settings of a training, loads and saves them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from workbench.base import owned_folder
from workbench.base.errors import ModelError, SpecError
from workbench.base.i18n import _
from workbench.models import folder as folders
from workbench.models import loading
from workbench.models.base import Encoder, LoadOptions
from workbench.models.families.bilstm.embeddings import CharacterCnn, FrozenModel, WordTable
from workbench.models.families.bilstm.encoder import BilstmEncoder, Embedding
from workbench.models.families.bilstm.info import CONFIG, INFO, WEIGHTS
from workbench.models.families.bilstm.info.config import (
    ADDED,
    DEFAULT_PARTS,
    LAST,
    MIX,
    MODEL,
    SECOND,
    WORDS,
    Config,
    PartConfig,
    parse_parts,
)
from workbench.models.reasons import reason
from workbench.models.spec import ModelInfo
from workbench.runtime.preparers.stacked import (
    CharacterNumbers,
    Part,
    StackedWords,
    UnitModel,
    WordNumbers,
    model_part,
    part_folder,
)
from workbench.text.document import Document
from workbench.text.segment import tokens_of

STRUCTURE = ("lstm_width", "lstm_layers", "word_width", "char_width", "lm_states", "subwords")


class BilstmFamily:
    """Folders with weights, and the bare architecture that a training fills."""

    info = INFO

    def heads(self, info: ModelInfo) -> frozenset[str]:
        return frozenset()

    def load(self, info: ModelInfo, options: LoadOptions) -> BilstmEncoder:
        path, problems = Path(info.path), list[str]()
        config = INFO.config(path, problems)
        torch.manual_seed(options.seed)
        if INFO.is_trained(path):
            return _saved(info, config, options)
        if options.documents is None:
            raise ModelError(
                _("{model} has no weights yet.", model=info.name),
                hint=_("Train it first, then use the run."),
            )
        return _new(info, config, options, options.documents)

    def save(self, encoder: BilstmEncoder, folder: Path) -> None:
        """config.json, the trained weights, the vocabulary, and the models of the embeddings.

        The models are written once; later checkpoints link to the files of the one they replace.
        """
        content = {"model_type": INFO.id, **encoder.config.to_json()}
        text = json.dumps(content, indent=1, ensure_ascii=False)
        (folder / CONFIG).write_text(text, encoding="utf-8")
        before = owned_folder.target(folder)
        for number, part in enumerate(encoder.embeddings):
            if isinstance(part, FrozenModel):
                own = part_folder(folder, number)
                own.mkdir(parents=True)
                if encoder.saved_in != before or not _linked(part_folder(before, number), own):
                    loading.family_of(part.encoder.info).save(part.encoder, own)
        encoder.preparer.save_vocabulary(folder)
        weights = {name: value.contiguous() for name, value in encoder.state_dict().items()}
        save_file(weights, folder / WEIGHTS)
        encoder.saved_in = before


def _linked(source: Path, target: Path) -> bool:
    """Hard links to the files of a folder; False, with none, where the disk has no links."""
    links: list[Path] = []
    try:
        for file in source.rglob("*"):
            if file.is_file():
                place = target / file.relative_to(source)
                place.parent.mkdir(parents=True, exist_ok=True)
                os.link(file, place)
                links.append(place)
    except OSError:
        for place in links:  # written through, they would change the older checkpoint
            place.unlink()
        return False
    return bool(links)


# ---------------------------------------------------------------- saved models


def _saved(info: ModelInfo, config: Config, options: LoadOptions) -> BilstmEncoder:
    _refuse_changes(info, config, options)
    config = config.changed(
        {name: options.settings.get(name) for name in ("word_dropout", "locked_dropout", "part_l2")}
    )
    path = Path(info.path)
    encoders = {
        number: loading.load(part_folder(path, number), replace(_plain(options), allow_pickle=True))
        for number, part in enumerate(config.parts)
        if part.kind == MODEL
    }
    encoder = _built(info, config, INFO.stacked(path, config), encoders)
    if not options.random:
        _fill(encoder, path / WEIGHTS)
    return encoder


def _refuse_changes(info: ModelInfo, config: Config, options: LoadOptions) -> None:
    """Only dropouts and penalties can be changed where there are weights."""
    changed = [n for n in ("embeddings", *STRUCTURE) if options.settings.get(n) is not None]
    if options.settings.get("part_norm") and not config.part_norm:
        changed.append("part_norm")
    if changed:
        raise SpecError(
            _(
                "{name} cannot be changed: {model} has been trained with other embeddings or "
                "sizes.",
                name=changed[0],
                model=info.name,
            ),
            hint=_("Leave it automatic, or train a new BiLSTM."),
        )


def _fill(encoder: BilstmEncoder, path: Path) -> None:
    try:
        encoder.load_state_dict(load_file(path))
    except Exception as error:  # safetensors and torch raise errors of several kinds
        raise ModelError(
            _("{path} cannot be loaded: {error}.", path=path, error=reason(error)),
            hint=_("Train again, or restore the folder from a backup."),
        ) from error


# ---------------------------------------------------------------- new models


def _new(
    info: ModelInfo, config: Config, options: LoadOptions, documents: Sequence[Document]
) -> BilstmEncoder:
    config = config.changed(options.settings)
    described = parse_parts(str(options.settings.get("embeddings") or DEFAULT_PARTS))
    encoders = {
        number: loading.load(
            part.model, replace(_plain(options), allow_pickle=options.allow_pickle)
        )
        for number, part in enumerate(described)
        if part.kind == MODEL
    }
    parts, stack = list[PartConfig](), list[Part]()
    for number, part in enumerate(described):
        if part.kind == MODEL:
            layer_part = model_part(encoders[number].preparer, encoders[number].max_length)
            part = _described(part, encoders[number], layer_part)
        else:
            kind = WordNumbers if part.kind == WORDS else CharacterNumbers
            layer_part = kind.of(_words(documents))
        parts.append(part)
        stack.append(layer_part)
    config = replace(config, parts=tuple(parts))
    torch.manual_seed(options.seed)
    words = StackedWords(stack)
    words.segmenter = INFO.segmenter(Path(info.path), options.settings)
    return _built(info, config, words, encoders)


def _plain(options: LoadOptions) -> LoadOptions:
    """The options that apply to a frozen model."""
    return LoadOptions(seed=options.seed, random=options.random)


def _described(part: PartConfig, encoder: Encoder, unit_part: Part) -> PartConfig:
    path, equal = Path(part.model), len(set(encoder.widths)) == 1
    if part.layers in ADDED and not equal:
        widths = ", ".join(map(str, encoder.widths))
        raise SpecError(
            _(
                "embeddings: the layers of {model} have different widths ({widths}), which cannot "
                "be combined.",
                model=path.name,
                widths=widths,
            ),
            hint=_("Use @last or @concat."),
        )
    layers = part.layers or (MIX if equal and encoder.info.layers > 1 else LAST)
    return PartConfig(
        MODEL,
        path.name,
        layers,
        encoder.info.family,
        unit_part.longest if isinstance(unit_part, UnitModel) else 0,
        folders.sha256(path),
    )


def _words(documents: Iterable[Document]) -> Iterable[str]:
    return chain.from_iterable(
        (document.content(name)[start:end] for start, end in tokens_of(document, name))
        for document in documents
        for name in document.fields
    )


def _built(
    info: ModelInfo, config: Config, preparer: StackedWords, encoders: dict[int, Encoder]
) -> BilstmEncoder:
    embeddings: list[Embedding] = []
    for number, (part, read) in enumerate(zip(config.parts, preparer.stack, strict=True)):
        if isinstance(read, WordNumbers):
            embeddings.append(WordTable(read.size, read.rare, config.word_width))
        elif isinstance(read, CharacterNumbers):
            embeddings.append(CharacterCnn(read.size, config.char_width))
        else:
            keeps_words = not isinstance(read, UnitModel)
            frozen = FrozenModel(
                encoders[number],
                part.layers,
                config.subwords,
                keeps_words=keeps_words,
                normalized=config.part_norm,
            )
            embeddings.append(frozen)
    _check_entry(config, embeddings)
    sized = replace(info, width=config.width, layers=config.lstm_layers)
    return BilstmEncoder(sized, config, preparer, embeddings)


def _check_entry(config: Config, embeddings: Sequence[Embedding]) -> None:
    if config.lm_states != SECOND:
        return
    late = [isinstance(part, FrozenModel) and part.is_contextual for part in embeddings]
    if config.lstm_layers < 2:
        raise SpecError(
            _("lm_states is second, but the LSTM has {count} layer.", count=config.lstm_layers),
            hint=_("Set lstm_layers to 2."),
        )
    if all(late):
        raise SpecError(
            _("lm_states is second, but no embeddings are left for the first layer."),
            hint=_("Add words, chars or word vectors to embeddings."),
        )
