"""Recognizes and describes files of word vectors. Imports no torch, as the window uses it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from bag_of_embeddings import vectors
from workbench.base.errors import ModelError
from workbench.models.spec import FamilyInfo, Match, ModelInfo

if TYPE_CHECKING:
    from bag_of_embeddings.preparer import Words

WEIGHTS, WORDS = "embeddings.safetensors", "words.json"  # of a trained model's folder
MAX_WORDS = 10_000  # maximum words; a mean has no limit of its own
LEARNING_RATE = 0.02  # averaged vectors need a much higher rate than transformers


class GloveInfo(FamilyInfo):
    id = "bag-of-embeddings.glove"
    title = "Bag of embeddings"

    def match(self, path: Path) -> Match:
        if path.is_dir():
            return Match.SURE if (path / WEIGHTS).is_file() else Match.NO
        return Match.LIKELY if path.suffix == ".txt" and vectors.width_of(path) else Match.NO

    def read(self, path: Path, *, allow_pickle: bool) -> ModelInfo:
        problems = []
        if path.is_dir():
            try:
                about = json.loads((path / WORDS).read_text(encoding="utf-8"))
                words, width = len(about["words"]), int(about["width"])
            except (OSError, ValueError, KeyError, TypeError) as error:
                words = width = 0
                problems.append(f"{WORDS} cannot be read ({error})"[:200])
        else:
            words, width = vectors.count(path) + 2, vectors.width_of(path)
        return ModelInfo(
            "",
            str(path),
            architecture="glove",
            parameters=words * width,
            layers=0,
            width=width,
            vocabulary=words,
            max_length=MAX_WORDS,
            gives=("states",),
            dtype="float32",
            problems=tuple(problems),
            learning_rate=LEARNING_RATE,
        )

    def preparer(self, path: Path) -> Words:
        from bag_of_embeddings.preparer import PADDING, UNKNOWN, Words

        try:
            if path.is_file():
                width = vectors.width_of(path)
                return Words([PADDING, UNKNOWN, *(word for word, _ in vectors.read(path, width))])
            return Words(json.loads((path / WORDS).read_text(encoding="utf-8"))["words"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelError(f"{path} cannot be read: {error}.") from error


INFO = GloveInfo()
