"""Recognizes and describes BiLSTM folders, with weights or as a bare architecture. Light."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import checksums, learning_rates
from workbench.base.errors import ModelError
from workbench.base.i18n import N_, _
from workbench.base.registry import registry
from workbench.models.families.bilstm.info.config import (
    CHARACTERS,
    DEFAULT_PARTS,
    MODEL,
    WORDS,
    Config,
    PartConfig,
    parse_parts,
    read_config,
    with_paths,
)
from workbench.models.families.bilstm.info.options import OPTIONS
from workbench.models.formats import weights
from workbench.models.formats.json_files import read_object
from workbench.models.spec import cards
from workbench.models.spec.info import FamilyInfo, Match, ModelInfo
from workbench.text.segmenters.base import DEFAULT

if TYPE_CHECKING:
    from workbench.runtime.inputs import Preparer
    from workbench.runtime.preparers.stacked import Part, StackedWords

CONFIG, WEIGHTS = "config.json", "model.safetensors"
MAX_WORDS = 10_000  # words of an input; a part of subwords may read fewer


class BilstmInfo(FamilyInfo):
    id = "bilstm"
    title = N_("BiLSTM over stacked embeddings")
    kept_per_unit = 6.6
    architectures = frozenset(("bilstm",))
    saved_as = N_("BiLSTM folder")
    holds = N_(
        "A BiLSTM folder holds config.json, model.safetensors, words.json and one folder for each "
        "model of its embeddings."
    )
    options = OPTIONS

    def match(self, path: Path) -> Match:
        if not (path / CONFIG).is_file():
            return Match.NO
        raw = read_object(path / CONFIG, []) or {}
        return Match.SURE if raw.get("model_type") == self.id else Match.NO

    def read(self, path: Path, *, allow_pickle: bool) -> ModelInfo:
        problems: list[str] = []
        config = self.config(path, problems)
        info = ModelInfo(
            "",
            str(path),
            architecture=self.id,
            max_length=MAX_WORDS,
            gives=("states",),
            learning_rate=learning_rates.BILSTM,
        )
        if not self.is_trained(path):
            note = _("An architecture without weights: everything but its embeddings is trained.")
            return replace(info, problems=tuple(problems), notes=(note,))
        from workbench.runtime.preparers.stacked import part_folder

        trained = weights.Weights()
        if (path / WEIGHTS).is_file():
            trained = weights.read(path, problems)
        else:  # nor does a pickle replace it
            problems.append(_("{weights} is missing", weights=WEIGHTS))
        parts = [
            cards.card(part_folder(path, number), allow_pickle=True)
            for number, part in enumerate(config.parts)
            if part.kind == MODEL
        ]
        pickled = any(part.pickled for part in parts)
        untrusted = pickled and not (allow_pickle or checksums.is_ours(path))
        problems += _problems(parts, untrusted=untrusted)
        return replace(
            info,
            parameters=trained.parameters + sum(part.parameters for part in parts),
            layers=config.lstm_layers,
            width=config.width,
            vocabulary=max((part.vocabulary for part in parts), default=0),
            dtype=trained.dtype,
            pickled=pickled,
            untrusted=untrusted,
            problems=tuple(problems),
        )

    def config(self, path: Path, problems: list[str]) -> Config:
        """The configuration of a folder; the default one, with a problem, if it is not valid."""
        raw = read_object(path / CONFIG, problems)
        try:
            return read_config(raw or {})
        except ValueError as error:
            problems.append(_("config.json is not valid ({error})", error=error))
            return Config()

    def is_trained(self, path: Path) -> bool:
        return (path / WEIGHTS).is_file() or bool(self.config(path, []).parts)

    def preparer(self, path: Path) -> Preparer:
        from workbench.runtime.preparers.stacked import StackedWords

        problems: list[str] = []
        config = self.config(path, problems)
        if problems:
            raise ModelError(
                _(
                    "{path} is not a usable model: {problems}.",
                    path=path,
                    problems="; ".join(problems),
                )
            )
        return self.stacked(path, config) if config.parts else StackedWords(())

    def trained_preparer(self, path: Path, settings: Mapping[str, Any]) -> Preparer:
        """Of a bare architecture, that of the models in its embeddings: words and characters are
        read from the texts, and limit no input.
        """
        from workbench.runtime.preparers.stacked import StackedWords, model_part

        if self.is_trained(path):
            return self.preparer(path)
        parts = parse_parts(str(settings.get("embeddings") or DEFAULT_PARTS))
        models = [cards.card(part.model, allow_pickle=True) for part in parts if part.kind == MODEL]
        preparer = StackedWords(
            [model_part(cards.preparer(model.path), model.max_length) for model in models]
        )
        preparer.segmenter = self.segmenter(path, settings)
        return preparer

    def trained_width(self, model: ModelInfo, settings: Mapping[str, Any]) -> int:
        path = Path(model.path)
        if self.is_trained(path):
            return model.width
        sizes = {"lstm_width": settings.get("lstm_width")}
        return self.config(path, []).changed(sizes).width

    def stacked(self, path: Path, config: Config) -> StackedWords:
        """The preparer of a saved folder. Raises ModelError."""
        from workbench.runtime.preparers.stacked import (
            StackedWords,
            part_folder,
            read_vocabulary,
        )

        words, characters = read_vocabulary(path)
        trained: dict[str, Part] = {WORDS: words, CHARACTERS: characters}
        parts = [
            trained.get(part.kind) or self._model_part(part_folder(path, number), part)
            for number, part in enumerate(config.parts)
        ]
        preparer = StackedWords(parts)
        preparer.segmenter = self.segmenter(path)
        return preparer

    def segmenter(self, path: Path, settings: Mapping[str, Any] | None = None) -> str:
        """The segmenter of the first model of the embeddings that has one."""
        from workbench.runtime.preparers.stacked import part_folder

        if self.is_trained(path):
            parts = self.config(path, []).parts
            folders = [part_folder(path, n) for n, part in enumerate(parts) if part.kind == MODEL]
        else:
            text = str((settings or {}).get("embeddings") or DEFAULT_PARTS)
            folders = [Path(part.model) for part in parse_parts(text) if part.kind == MODEL]
        ids = map(cards.segmenter, folders)
        return next((id for id in ids if id != DEFAULT), DEFAULT)

    def _model_part(self, path: Path, part: PartConfig) -> Part:
        from workbench.runtime.preparers.stacked import model_part

        info = registry().info("family", part.family)
        return model_part(info.preparer(path), part.longest)

    def weight_files(self, path: Path) -> tuple[Path, ...]:
        """The files with weights; the configuration for a bare architecture."""
        if not self.is_trained(path):
            return (path / CONFIG,)
        from workbench.runtime.preparers.stacked import part_folder

        weight_files = [path / WEIGHTS]
        for number, part in enumerate(self.config(path, []).parts):
            if part.kind == MODEL:
                info = registry().info("family", part.family)
                weight_files += info.weight_files(part_folder(path, number))
        return tuple(file for file in weight_files if file.is_file())

    def resolved(
        self, settings: Mapping[str, Any], find: Callable[[str], ModelInfo]
    ) -> dict[str, Any]:
        embeddings = settings.get("embeddings")
        if not embeddings:
            return dict(settings)
        return {**settings, "embeddings": with_paths(embeddings, lambda name: find(name).path)}


INFO = BilstmInfo()


def _problems(parts: Sequence[ModelInfo], *, untrusted: bool) -> list[str]:
    """Problems of the models whose states are embeddings."""
    problems = [
        _("{part}: {problem}", part=part.name, problem=problem)
        for part in parts
        for problem in part.problems
    ]
    if untrusted:
        problems.append(
            _("one of its parts is pickled: opening a pickle can execute arbitrary code")
        )
    return problems
