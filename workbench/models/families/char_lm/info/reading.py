"""Which models a file or folder holds: language models of flair, or a tagger with some."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path

from workbench.base.i18n import _
from workbench.models.families.char_lm.info import taggers
from workbench.models.families.char_lm.info.files import (
    NAMES,
    LanguageModelFile,
    described,
    is_language_model,
)
from workbench.models.formats import pickles

ENDINGS = (".pt",)
OF_HUB = "pytorch_model.bin"  # its name in repositories of the Hugging Face Hub
MAX_FILES = 20  # of a folder, of which one or two are language models
MARK, MAX_SEARCHED_BYTES = (
    b"is_forward_lm",
    64_000_000,
)  # bytes; a tagger's words may come before it
_ARCHIVE = b"PK\x03\x04"


@dataclass(frozen=True)
class FlairReading:
    models: tuple[LanguageModelFile, ...]
    tagger: taggers.TaggerFile | None


def candidates(path: Path) -> list[Path]:
    """The file, or those in the folder that may be language models."""
    if not path.is_dir():
        return [path] if path.suffix in ENDINGS or path.name == OF_HUB else []
    files = sorted(file for file in path.iterdir() if file.suffix in ENDINGS and file.is_file())
    downloaded = path / OF_HUB
    return files[:MAX_FILES] or ([downloaded] if downloaded.is_file() else [])


def looks_right(path: Path) -> bool:
    """Whether a file holds the settings of a language model, judged by its first bytes."""
    try:
        with open(path, "rb") as file:
            if file.read(4) != _ARCHIVE:
                file.seek(0)
                return MARK in file.read(MAX_SEARCHED_BYTES)
            file.seek(0)
            with zipfile.ZipFile(file) as archive:
                name = next(text for text in archive.namelist() if text.endswith("data.pkl"))
                with archive.open(name) as member:
                    return MARK in member.read(MAX_SEARCHED_BYTES)
    except (OSError, ValueError, KeyError, StopIteration, zipfile.BadZipFile, RuntimeError):
        return False


def read(path: Path, problems: list[str]) -> FlairReading:
    """One model, or one for each direction, forward first; and the tagger that holds them.

    Appends problems.
    """
    by_direction: dict[str, LanguageModelFile] = {}
    tagger = None
    for file in candidates(path):
        content = pickles.content(file, problems)
        if taggers.is_tagger(content):
            tagger = taggers.described(file, content, problems)
            models = tagger.models if tagger is not None else ()
        elif is_language_model(content):
            models = tuple(filter(None, [described(file, content, problems)]))
        else:
            models = ()
            if content is not None:
                problems.append(_("{file} is not a language model of Flair", file=file.name))
        for model in models:
            if model.direction in by_direction:
                problems.append(
                    _(
                        "{file} and {other} read in the same direction",
                        file=file.name,
                        other=by_direction[model.direction].path.name,
                    )
                )
            by_direction[model.direction] = model
    if not by_direction and not problems:
        problems.append(_("it holds no language model that can be described without loading it"))
    return FlairReading(tuple(by_direction[name] for name in NAMES if name in by_direction), tagger)
