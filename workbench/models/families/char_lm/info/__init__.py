"""Recognizes and describes flair's character language models. Imports no torch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.errors import ModelError
from workbench.base.i18n import N_, _
from workbench.models.families.char_lm.info import creation, reading
from workbench.models.families.char_lm.info.files import TABLES
from workbench.models.spec.info import FamilyInfo, Match, ModelInfo

if TYPE_CHECKING:
    from workbench.runtime.inputs import Preparer

_OTHERS = ("config.json", "model.safetensors", "pytorch_model.bin")  # of a transformer
LONGEST = 10_000  # words per input; the state itself has no limit


class CharacterLmInfo(FamilyInfo):
    id = "char_lm"
    title = N_("Character language model (Flair)")
    saved_as = N_("Flair folder")
    creates = {id: creation.CREATION}

    def match(self, path: Path) -> Match:
        if path.is_dir():
            if (path / TABLES).is_file():
                return Match.SURE
            if any((path / name).is_file() for name in _OTHERS):
                return Match.NO
        found = reading.candidates(path)
        if any(map(reading.looks_right, found)) or (found and path.is_dir()):
            return Match.SURE  # a damaged file alone in its folder is named by the card
        return Match.LIKELY if found else Match.NO

    def read(self, path: Path, *, allow_pickle: bool) -> ModelInfo:
        problems: list[str] = []
        found = reading.read(path, problems)
        models, tagger = found.models, found.tagger
        # What we wrote ourselves is not asked for; our reader executes nothing in either case.
        trusted = allow_pickle or (path / TABLES).is_file()
        if not trusted:
            problems.append(
                _("the weights are pickled: opening a pickle can execute arbitrary code")
            )
        predicted = [f"{model.direction}_character" for model in models if tagger is None]
        return ModelInfo(
            "",
            str(path),
            architecture=self.id,
            parameters=sum(model.parameters for model in models),
            layers=max((model.layers for model in models), default=0),
            width=sum(model.states for model in models),
            vocabulary=max((model.size for model in models), default=0),
            max_length=LONGEST,
            gives=("states", *predicted),
            dtype=models[0].dtype if models else "",
            pickled=True,
            problems=tuple(problems),
            untrusted=not trusted,
            labels=tagger.labels if tagger is not None else (),
            notes=(tagger.note(),) if tagger is not None else (),
        )

    def shapes(self, path: Path) -> Mapping[str, tuple[int, ...]]:
        models = reading.read(path, []).models
        several = len(models) > 1
        return {
            f"{model.direction}.{name}" if several else name: shape
            for model in models
            for name, shape in model.shapes.items()
        }

    def weight_files(self, path: Path) -> tuple[Path, ...]:
        return tuple(reading.candidates(path))

    def preparer(self, path: Path) -> Preparer:
        from workbench.runtime.preparers.character_texts import CharacterTable, CharacterTexts

        if (path / TABLES).is_file():
            try:
                return CharacterTexts.load(path / TABLES)
            except (OSError, ValueError) as error:
                raise ModelError(
                    _("{path} cannot be read: {error}.").format(path=path / TABLES, error=error)
                ) from error
        problems: list[str] = []
        models = reading.read(path, problems).models
        if not models:
            raise ModelError(
                _("{path} is not a usable model: {problems}.").format(
                    path=path, problems="; ".join(problems)
                )
            )
        return CharacterTexts(
            {
                model.direction: CharacterTable(model.ids, model.size, model.delimiter)
                for model in models
            }
        )


INFO = CharacterLmInfo()
