"""Recognizes and describes flair's character language models. Imports no torch."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import checksums
from workbench.base.errors import ModelError
from workbench.base.i18n import N_, _
from workbench.base.options import Option
from workbench.models.families.char_lm.info import reading
from workbench.models.families.char_lm.info.files import TABLES
from workbench.models.families.char_lm.info.taggers import MAX_WORDS
from workbench.models.spec.creation import DIRECTION, MIN_COUNT, size, vocabulary
from workbench.models.spec.info import Creation, FamilyInfo, Match, ModelInfo

if TYPE_CHECKING:
    from workbench.runtime.inputs import Preparer

# Options of a new character language model, with the defaults of flair.
CREATION = Creation(
    options=(
        size("layers", 1, N_("Number of LSTM layers."), title=N_("Layers"), high=24),
        size("hidden", 1024, N_("Width of the layers and of the states."), title=N_("Hidden")),
        size(
            "character_width", 100, N_("Width of the character embeddings."),
            title=N_("Character width"),
        ),
        vocabulary(300, N_("Number of characters; the first entry represents all others.")),
        MIN_COUNT,
        Option(
            "model_dropout", "float", 0.1, N_("Dropout that is saved with the model."),
            low=0.0, high=0.9, title=N_("Dropout"),
        ),
        DIRECTION,
    ),
    gives=("states", "next_character", "previous_character"),
)  # fmt: skip
_OTHERS = ("config.json", "model.safetensors")  # of a transformer


class CharacterLmInfo(FamilyInfo):
    id = "char_lm"
    title = N_("Character language model (Flair)")
    kept_per_unit = 99.0
    saved_as = N_("Flair folder")
    holds = N_("A model of Flair is a .pt file, or a folder with a forward and a backward one.")
    library = "flair"
    creates = {id: CREATION}

    def match(self, path: Path) -> Match:
        if path.is_dir():
            if (path / TABLES).is_file():
                return Match.SURE
            if any((path / name).is_file() for name in _OTHERS):
                return Match.NO
        candidates = reading.candidates(path)
        if any(map(reading.looks_right, candidates)):
            return Match.SURE
        if not candidates or candidates[0].name == reading.OF_HUB:
            return Match.NO
        # A damaged file alone in its folder is named by the card.
        return Match.SURE if path.is_dir() else Match.LIKELY

    def read(self, path: Path, *, allow_pickle: bool) -> ModelInfo:
        problems: list[str] = []
        content = reading.read(path, problems)
        models, tagger = content.models, content.tagger
        # What we wrote ourselves is not asked for; our reader executes nothing in either case.
        trusted = allow_pickle or checksums.is_ours(path)
        if not trusted:
            problems.append(
                _("the weights are pickled: opening a pickle can execute arbitrary code")
            )
        predicted = [
            f"{model.direction}_character" for model in models if tagger is None and model.decoder
        ]
        return ModelInfo(
            "",
            str(path),
            architecture=self.id,
            parameters=tagger.parameters if tagger else sum(model.parameters for model in models),
            layers=tagger.layers if tagger else max((model.layers for model in models), default=0),
            width=tagger.states if tagger else sum(model.states for model in models),
            vocabulary=max((model.size for model in models), default=0),
            max_length=MAX_WORDS,
            gives=("states", *predicted),
            dtype=models[0].dtype if models else "",
            pickled=True,
            problems=tuple(problems),
            untrusted=not trusted,
            labels=tagger.labels if tagger is not None else (),
            task=tagger.task if tagger is not None else "",
            notes=(tagger.note(),) if tagger is not None else (),
        )

    def trained(self, path: Path) -> dict[str, Any] | None:
        tagger = reading.read(path, []).tagger
        return tagger.description() if tagger is not None else None

    def shapes(self, path: Path) -> Mapping[str, tuple[int, ...]]:
        content = reading.read(path, [])
        models, above = content.models, content.tagger.above() if content.tagger is not None else {}
        several = len(models) > 1 or content.tagger is not None
        below = {
            f"{model.direction}.{name}" if several else name: shape
            for model in models
            for name, shape in model.shapes.items()
        }
        return {**below, **above}

    def of_hub(self, names: Collection[str]) -> tuple[str, ...]:
        return (reading.OF_HUB,) if reading.OF_HUB in names else ()

    def weight_files(self, path: Path) -> tuple[Path, ...]:
        return tuple(reading.candidates(path))

    def preparer(self, path: Path) -> Preparer:
        from workbench.runtime.preparers.character_texts import CharacterTable, CharacterTexts
        from workbench.runtime.preparers.tagged_texts import WORDS, TaggedTexts

        if (path / TABLES).is_file():
            kind = TaggedTexts if (path / WORDS).is_file() else CharacterTexts
            try:
                return kind.load(path / TABLES)
            except (OSError, ValueError) as error:
                raise ModelError(
                    _("{path} cannot be read: {error}.", path=path / TABLES, error=error)
                ) from error
        problems: list[str] = []
        content = reading.read(path, problems)
        if not content.models:
            raise ModelError(
                _(
                    "{path} is not a usable model: {problems}.",
                    path=path,
                    problems="; ".join(problems),
                )
            )
        tables = {
            model.direction: CharacterTable(model.ids, model.size, model.delimiter)
            for model in content.models
        }
        if content.tagger is None:
            return CharacterTexts(tables)
        return TaggedTexts(tables, [static.words for static in content.tagger.statics])


INFO = CharacterLmInfo()
