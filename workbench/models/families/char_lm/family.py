"""Loads and saves flair's language models."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.models import pickled
from workbench.models.base import Documents, LoadOptions
from workbench.models.families.char_lm.encoder import CharacterEncoder
from workbench.models.families.char_lm.info import INFO, files, reading
from workbench.models.families.char_lm.network import CharacterModel, Layer
from workbench.models.families.char_lm.tagger import Tagger
from workbench.models.spec import ModelInfo, unusable
from workbench.models.vocabulary import Vocabulary
from workbench.runtime.preparers.character_texts import CharacterTable, CharacterTexts


class Dictionary:
    """The attributes of a `flair.data.Dictionary`."""

    @classmethod
    def of(cls, items: Sequence[str]) -> Dictionary:
        """As flair's own with `add_unk`."""
        made, encoded = cls(), [item.encode("utf-8") for item in (UNKNOWN_ITEM, *items)]
        vars(made).update(
            item2idx={item: number for number, item in enumerate(encoded)},
            idx2item=encoded,
            add_unk=True,
            multi_label=False,
            span_labels=False,
        )
        return made


UNKNOWN_ITEM = "<unk>"  # the first item of flair's dictionaries
CLASSES = {files.DICTIONARY: Dictionary}
# What flair's LanguageModel.save writes besides the weights.
SETTINGS = (
    "dictionary",
    "is_forward_lm",
    "hidden_size",
    "nlayers",
    "embedding_size",
    "nout",
    "document_delimiter",
    "dropout",
    "recurrent_type",
    "has_decoder",
)


class CharacterLmFamily:
    info = INFO

    def heads(self, info: ModelInfo) -> frozenset[str]:
        return frozenset()

    def load(self, info: ModelInfo, options: LoadOptions) -> CharacterEncoder:
        problems: list[str] = []
        found = reading.read(Path(info.path), problems).models
        if problems or not found:
            raise unusable(info)
        preparer = cast(CharacterTexts, INFO.preparer(Path(info.path)))
        _check_tables(info, preparer, found)
        models = {model.direction: _model(model, options) for model in found}
        return CharacterEncoder(info, preparer, models).eval()

    def tagger(self, path: Path) -> Tagger:
        """The layers of a SequenceTagger above its embeddings. Raises ModelError."""
        problems: list[str] = []
        found = reading.read(path, problems).tagger
        if found is None:
            raise ModelError(
                _("{path} is no tagger of flair: {problems}.").format(
                    path=path, problems="; ".join(problems) or _("it holds language models")
                )
            )
        return Tagger(found, pickled.load(found.path, CLASSES)["state_dict"]).eval()

    def save(self, encoder: CharacterEncoder, folder: Path) -> None:
        """forward.pt and backward.pt, as flair's LanguageModel loads them."""
        for direction in encoder.directions:
            model = encoder.model(direction)
            content = {"state_dict": named_as_flair(model), **model.settings}
            pickled.save(content, folder / files.NAMES[direction], CLASSES)
        encoder.preparer.save(folder)

    def create(
        self,
        architecture: str,
        options: Mapping[str, Any],
        texts: Documents,
        folder: Path,
        *,
        seed: int,
    ) -> Iterator[float]:
        """See CreatesModels.create. Entries of the vocabulary are characters."""
        counted = Vocabulary()
        for document in texts:
            for text in document:
                counted.add(text)
            yield texts.progress
        ends = "\n"  # after each paragraph, so it has a number even if it is not counted
        found = counted.frequent(
            options["vocabulary"] - 2, min_count=options["min_count"], without=ends
        )
        items = Dictionary.of((ends, *found))
        content = {
            "dictionary": items,
            "is_forward_lm": options["direction"] == "forward",
            "hidden_size": options["hidden"],
            "nlayers": options["layers"],
            "embedding_size": options["character_width"],
            "nout": None,
            "document_delimiter": ends,
            "dropout": options["model_dropout"],
            "recurrent_type": "LSTM",
            "has_decoder": True,
        }
        ids, size = files.dictionary_of(vars(items))
        sizes = files.sizes(folder, content, ids, size)
        torch.manual_seed(seed)
        model = CharacterModel(sizes, options["model_dropout"])
        pickled.save(
            {"state_dict": named_as_flair(model), **content},
            folder / files.NAMES[sizes.direction],
            CLASSES,
        )
        CharacterTexts({sizes.direction: CharacterTable(ids, size, ends)}).save(folder)


def _check_tables(
    info: ModelInfo, preparer: CharacterTexts, models: Sequence[files.LanguageModelFile]
) -> None:
    tables = {direction: table.size for direction, table in preparer.tables.items()}
    sizes = {model.direction: model.size for model in models}
    if tables != sizes:
        raise ModelError(
            _("{path} cannot be loaded: {file} belongs to another model.").format(
                path=info.path, file=files.TABLES
            ),
            hint=_("Delete {file}: it is read from the weights.").format(file=files.TABLES),
        )


def _model(sizes: files.LanguageModelFile, options: LoadOptions) -> CharacterModel:
    raw = pickled.load(sizes.path, CLASSES)
    dropout = sizes.dropout if options.dropout is None else options.dropout
    torch.manual_seed(options.seed)
    model = CharacterModel(sizes, dropout)
    try:
        if not options.random:
            _fill(model, raw["state_dict"], sizes.place)
        model.settings = settings(_inside(raw, sizes), sizes)
    except (KeyError, RuntimeError, AttributeError) as error:
        raise ModelError(
            _("{path} cannot be loaded: {error}.").format(
                path=sizes.path, error=str(error).splitlines()[0][:200]
            )
        ) from error
    return model


def _inside(raw: Mapping[str, Any], sizes: files.LanguageModelFile) -> Any:
    """The settings of a language model in a tagger, else the file itself."""
    found: Any = raw["embeddings"] if sizes.settings else raw
    for key in sizes.settings:
        found = found[key]
    return found


def settings(raw: Mapping[str, Any], sizes: files.LanguageModelFile) -> dict[str, Any]:
    """What a file states besides the weights, complete for old files too."""
    usual = {
        "embedding_size": sizes.embedding,
        "nout": sizes.output or None,
        "document_delimiter": sizes.delimiter,
        "dropout": sizes.dropout,
        "recurrent_type": sizes.recurrent,
        "has_decoder": sizes.decoder,
    }
    vars(raw["dictionary"]).pop("item2idx_not_encoded", None)  # filled by flair when it is used
    return {name: raw.get(name, usual.get(name)) for name in SETTINGS}


def _fill(model: CharacterModel, weights: Mapping[str, Tensor], place: str) -> None:
    """Copies weights with flair's names, after `place`, into the model.

    Raises KeyError if one is missing.
    """
    with torch.no_grad():
        for name, parameter in _names(model).items():
            parameter.copy_(weights[place + name].to(parameter.dtype))


def named_as_flair(model: CharacterModel) -> OrderedDict[str, Tensor]:
    return OrderedDict(
        (name, parameter.detach().cpu().clone()) for name, parameter in _names(model).items()
    )


def _names(model: CharacterModel) -> dict[str, Tensor]:
    """flair's name of each parameter: it has all layers in one recurrent module."""
    found: dict[str, Tensor] = {"encoder.weight": model.characters.table.weight}
    for number, layer in enumerate(cast(Iterable[Layer], model.layers)):
        for name, parameter in layer.rnn.named_parameters():
            found[f"rnn.{name.removesuffix('_l0')}_l{number}"] = parameter
    for name, part in (("proj", model.projection), ("decoder", model.decoder)):
        if part is not None:
            found[f"{name}.weight"], found[f"{name}.bias"] = part.weight, part.bias
    return found
