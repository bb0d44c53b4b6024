"""Loads and saves flair's language models and taggers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import torch

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.models import pickled
from workbench.models.base import Documents, LoadOptions
from workbench.models.families.char_lm import tagger
from workbench.models.families.char_lm.encoder import CharacterEncoder
from workbench.models.families.char_lm.info import INFO, files, reading
from workbench.models.families.char_lm.network import CharacterModel
from workbench.models.families.char_lm.tagger import TaggerEncoder
from workbench.models.families.char_lm.weights import (
    CLASSES,
    Dictionary,
    language_model,
    named_as_flair,
)
from workbench.models.spec import ModelInfo, unusable
from workbench.models.vocabulary import Vocabulary
from workbench.runtime.preparers.character_texts import CharacterTable, CharacterTexts
from workbench.runtime.preparers.tagged_texts import TaggedTexts


class CharacterLmFamily:
    info = INFO

    def heads(self, info: ModelInfo) -> frozenset[str]:
        return frozenset(("token", "crf")) if info.labels else frozenset()

    def load(self, info: ModelInfo, options: LoadOptions) -> CharacterEncoder | TaggerEncoder:
        problems: list[str] = []
        model_files = reading.read(Path(info.path), problems)
        if problems or not model_files.models:
            raise unusable(info)
        preparer = cast(CharacterTexts, INFO.preparer(Path(info.path)))
        _check_tables(info, preparer, model_files.models)
        contents = {model.path: pickled.load(model.path, CLASSES) for model in model_files.models}
        models = {
            model.direction: language_model(model, options, contents[model.path])
            for model in model_files.models
        }
        if model_files.tagger is None:
            return CharacterEncoder(info, preparer, models).eval()
        words = CharacterEncoder(info, CharacterTexts(preparer.tables), models)
        content = contents[model_files.tagger.path]
        return tagger.load(
            info, model_files.tagger, cast(TaggedTexts, preparer), words, content, options
        )

    def save(self, encoder: CharacterEncoder | TaggerEncoder, folder: Path) -> None:
        """forward.pt and backward.pt, as flair's LanguageModel loads them; tagger.pt of a tagger,
        as its SequenceTagger does.
        """
        if isinstance(encoder, TaggerEncoder):
            pickled.save(tagger.content(encoder), folder / files.TAGGER, CLASSES)
        else:
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
        characters = counted.frequent(
            options["vocabulary"] - 2, min_count=options["min_count"], without=ends
        )
        items = Dictionary.of((ends, *characters))
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
            _(
                "{path} cannot be loaded: {file} belongs to another model.",
                path=info.path,
                file=files.TABLES,
            ),
            hint=_("Delete {file}: it is read from the weights.", file=files.TABLES),
        )
