"""Recognizes and describes folders of ELMo models. Imports no torch, as the window uses it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import learning_rates
from workbench.base.errors import ModelError, unreadable
from workbench.base.i18n import N_, _
from workbench.models.families.elmo.info import creation, files
from workbench.models.families.elmo.info import options as configs
from workbench.models.formats.json_files import read_object
from workbench.models.spec import FamilyInfo, Match, ModelInfo
from workbench.text.segmenters import stored

if TYPE_CHECKING:
    from workbench.runtime.preparers.characters import WordCharacters

ID = "elmo"
MAX_WORDS = 10_000  # words; an LSTM has no limit of its own
NO_SOFTMAX = N_(
    "Predicts no words: its files have no output layer (softmax). AllenNLP publishes it "
    "separately; put softmax_weights.hdf5 and vocab.txt into the folder."
)
DIRECTIONS = ("next", "previous")


class ElmoInfo(FamilyInfo):
    id = ID
    title = N_("ELMo")
    kept_per_unit = 46.0
    saved_as = N_("ELMo folder (AllenNLP)")
    holds = N_("A folder of an ELMo model holds options.json and weights.hdf5 of AllenNLP.")
    architectures = frozenset((ID,))
    creates = {ID: creation.CREATION}

    def match(self, path: Path) -> Match:
        if not path.is_dir() or (options := files.options_file(path)) is None:
            return Match.NO
        raw = read_object(options, [])
        has_sections = raw is not None and {"lstm", "char_cnn"} & raw.keys()
        is_damaged = raw is None and files.weights_file(path) is not None
        return Match.SURE if has_sections or is_damaged else Match.NO

    def read(self, path: Path, *, allow_pickle: bool) -> ModelInfo:
        problems: list[str] = []
        sizes, shapes = read_sizes(path, problems), read_shapes(path, problems)
        if sizes is not None and shapes:
            expected = configs.shapes(sizes)
            problems += files.shape_problems(files.WEIGHTS, shapes, expected)
            shapes = {name: shape for name, shape in shapes.items() if name in expected}
        words = _softmax(path, sizes, problems)
        notes = stored.note(path, problems)
        return ModelInfo(
            "",
            str(path),
            architecture=ID,
            parameters=sum(map(math.prod, shapes.values())),
            layers=sizes.layers if sizes else 0,
            width=2 * sizes.projection if sizes else 0,
            vocabulary=words,
            max_length=MAX_WORDS,
            gives=("states", *(("next_lm", "previous_lm") if words else ())),
            dtype="float32",
            problems=tuple(problems),
            learning_rate=learning_rates.ELMO,
            notes=notes if words else (*notes, _(NO_SOFTMAX)),
        )

    def near_miss(self, path: Path) -> str:
        weights = files.weights_file(path) if path.is_dir() else None
        if weights is None or files.options_file(path) is not None:
            return ""
        return _("it has weights of ELMo ({file}), but options.json is missing", file=weights.name)

    def shapes(self, path: Path) -> Mapping[str, tuple[int, ...]]:
        return {
            name: shape
            for file in self.weight_files(path)
            for name, shape in files.read_shapes(file, []).items()
        }

    def preparer(self, path: Path) -> WordCharacters:
        from workbench.runtime.preparers.characters import WordCharacters

        problems: list[str] = []
        options = read_object(files.options_file(path) or path / files.OPTIONS, problems)
        longest = _longest(options or {}, problems)
        if problems:
            raise ModelError(
                _("{path} cannot be read: {problems}.", path=path, problems="; ".join(problems))
            )
        preparer = WordCharacters(longest)
        preparer.segmenter = stored.read(path)
        return preparer

    def weight_files(self, path: Path) -> tuple[Path, ...]:
        weights, softmax = files.weights_file(path), files.softmax_files(path)
        return tuple(filter(None, (weights, softmax[0] if softmax else None)))


def read_sizes(path: Path, problems: list[str]) -> configs.Sizes | None:
    raw = read_object(files.options_file(path) or path / files.OPTIONS, problems)
    return configs.sizes(raw, problems) if raw is not None else None


def read_shapes(path: Path, problems: list[str]) -> files.Shapes:
    weights = files.weights_file(path)
    if weights is None:
        problems.append(_("it needs one file whose name ends with {name}", name=files.WEIGHTS))
        return {}
    return files.read_shapes(weights, problems)


def _softmax(path: Path, sizes: configs.Sizes | None, problems: list[str]) -> int:
    """Number of words that the model predicts, 0 without an output layer."""
    softmax_files = files.softmax_files(path)
    if softmax_files is None or sizes is None:
        return 0
    weights, vocabulary = softmax_files
    try:
        words = len(files.read_words(vocabulary))
    except (OSError, ValueError) as error:
        problems.append(
            _("{file} cannot be read ({error})", file=vocabulary.name, error=unreadable(error, 80))
        )
        return 0
    shapes = files.read_shapes(weights, problems)
    rows = shapes.get(files.SOFTMAX_W, (words,))[0]
    if rows != words:
        problems.append(
            _(
                "Number of words: {words:,} in {vocabulary}, {rows:,} in {weights}; they are from "
                "different models",
                vocabulary=vocabulary.name,
                words=words,
                weights=weights.name,
                rows=rows,
            )
        )
    elif shapes:
        expected = {files.SOFTMAX_W: (words, sizes.projection), files.SOFTMAX_B: (words,)}
        problems += files.shape_problems(weights.name, shapes, expected)
    return words


def _longest(options: Mapping[str, Any], problems: list[str]) -> int:
    cnn = options.get("char_cnn")
    value = cnn.get("max_characters_per_token") if isinstance(cnn, Mapping) else None
    if isinstance(value, int) and 3 <= value <= configs.MAX_SIZE:
        return value
    if not problems:
        problems.append(_("options.json has no max_characters_per_token"))
    return 0


INFO = ElmoInfo()
