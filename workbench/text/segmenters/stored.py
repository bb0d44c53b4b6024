"""The word segmenter that a model was pretrained with, in a file beside its weights."""

from __future__ import annotations

import json
from pathlib import Path

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.text.segmenters.base import DEFAULT, OPTION

FILE = "segmenter.json"


def read(path: Path) -> str:
    """The id that `write` stored for a folder or file, the default without one.

    Raises ModelError if the file is damaged.
    """
    file = _file(path)
    if not file.is_file():
        return DEFAULT
    try:
        id = json.loads(file.read_text(encoding="utf-8"))[OPTION]
        if not isinstance(id, str) or not id:
            raise ValueError(_("it names no word segmenter"))
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelError(
            _("{path} cannot be read: {error}.", path=file, error=str(error)[:80]),
            hint=_(
                "Restore the file, or delete it to split texts at spaces and punctuation, as most "
                "published models do."
            ),
        ) from error
    return id


def write(id: str, path: Path) -> None:
    """Store a segmenter in the folder, or beside the file, of a model; the default needs none."""
    if id == DEFAULT:
        _file(path).unlink(missing_ok=True)
    else:
        _file(path).write_text(json.dumps({OPTION: id}) + "\n", encoding="utf-8")


def _file(path: Path) -> Path:
    return path / FILE if path.is_dir() else path.with_name(f"{path.name}.{FILE}")


def note(path: Path, problems: list[str]) -> tuple[str, ...]:
    """The sentence for the card of a model; a damaged file is a problem."""
    try:
        id = read(path)
    except ModelError as error:
        problems.append(str(error).rstrip("."))
        return ()
    if id == DEFAULT:
        return ()
    return (_("It reads the words of the segmenter {id}.", id=id),)
