"""The files of an AWD-LSTM model: weights and vocabulary."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from os.path import commonprefix
from pathlib import Path

from workbench.base.errors import unreadable
from workbench.base.i18n import _
from workbench.models.formats import pickles

ENDINGS = (".pth", ".h5")
FORWARD, BACKWARD = "next", "previous"
_MARKS = {"fwd": FORWARD, "forward": FORWARD, "bwd": BACKWARD, "backward": BACKWARD}


@dataclass(frozen=True)
class ModelFiles:
    """The files of a model; None where there is none, or more than one. direction: of reading."""

    weights: Path | None
    vocabulary: Path | None
    direction: str

    @classmethod
    def of(cls, path: Path, problems: list[str]) -> ModelFiles:
        weights = [path] if path.is_file() else weight_files(path)
        words = beside(path) if path.is_file() else vocabularies(path)
        if len(weights) != 1:
            problems.append(
                _(
                    "expected one file of weights, found {count} ({names})",
                    count=len(weights),
                    names=", ".join(file.name for file in weights[:5]),
                )
            )
        if not words:
            problems.append(_("it has no vocabulary (itos.pkl or itos.json)"))
        return cls(
            weights[0] if len(weights) == 1 else None,
            words[0] if words else None,
            _direction([*(file.name for file in weights), path.name]),
        )


def _direction(names: Sequence[str]) -> str:
    """According to the first name that has a mark; FORWARD without one."""
    directions = (way for name in names for mark, way in _MARKS.items() if mark in name.lower())
    return next(directions, FORWARD)


def weight_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if is_weights(file))


def vocabularies(folder: Path) -> list[Path]:
    """Files with a vocabulary, JSON before pickles."""
    names = [file for file in sorted(folder.iterdir()) if file.is_file()]
    marks = ("itos", "vocab")
    plain = [
        file for file in names if file.suffix == ".json" and any(m in file.stem for m in marks)
    ]
    return plain + [file for file in names if file.suffix == ".pkl"]


def beside(weights: Path) -> list[Path]:
    """Vocabularies in the folder of a file of weights, those with the most similar name first."""
    candidates = vocabularies(weights.parent)
    return sorted(candidates, key=lambda file: -len(commonprefix([file.name, weights.name])))


def read_vocabulary(path: Path, problems: list[str]) -> list[str]:
    """The words of a vocabulary in order; a pickle is read without unpickling it."""
    if path.suffix == ".json":
        return _of_json(path, problems)
    before = len(problems)
    content = pickles.plain(path, problems)
    return _checked(content, path, problems) if len(problems) == before else []


def _of_json(path: Path, problems: list[str]) -> list[str]:
    """A list of words, or an object that has it as "itos"."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        problems.append(
            _("{file} is not readable JSON ({error})", file=path.name, error=unreadable(error, 80))
        )
        return []
    words = content.get("itos") if isinstance(content, dict) else content
    return _checked(words, path, problems)


def _checked(words: object, path: Path, problems: list[str]) -> list[str]:
    if isinstance(words, list) and words and all(isinstance(word, str) for word in words):
        return words
    problems.append(_("{file} does not hold a list of words", file=path.name))
    return []


def is_weights(path: Path) -> bool:
    return path.suffix.lower() in ENDINGS and path.is_file()
