"""Published models that a run reads for another task than their own: one text, or two.

config.json of many classifiers does not say that they read pairs. Each run decides it for itself:
it loads a folder of links to the files of the model, with a description that names the task.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

from workbench.base import paths
from workbench.base.records import json_text
from workbench.models.spec import DESCRIPTION, card, published, unusable


def folder(model: Path, task: str) -> Path:
    """The folder in which a model is read for a task; made, or brought up to date.

    It is in the cache, so it may be deleted at any time. Raises ModelError if the model is none
    that is trained for a task, OSError if the cache cannot be written.
    """
    model = model.absolute()
    name = hashlib.sha256(f"{task} {model}".encode()).hexdigest()[:24]
    view = paths.cache_folder() / "published" / name
    view.mkdir(parents=True, exist_ok=True)
    files = {file.name: file for file in model.iterdir() if file.is_file()}
    for old in view.iterdir():
        if old.name != DESCRIPTION and not _is_same(old, files.get(old.name)):
            old.unlink()
    for own, file in files.items():
        if own != DESCRIPTION and not os.path.lexists(view / own):
            _link(file.resolve(), view / own)
    if (description := published(model)) is None:
        raise unusable(card(model, allow_pickle=True))
    text = json_text({**description, "task": task}, indent=1)
    if not _holds(view / DESCRIPTION, text):
        (view / DESCRIPTION).write_text(text, encoding="utf-8")
    return view


def _holds(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


def _is_same(link: Path, file: Path | None) -> bool:
    """Whether it stands for the file: a link, or a copy with the same size and time."""
    if file is None or not link.exists():
        return False
    own, original = link.stat(), file.stat()
    same = (own.st_size, own.st_mtime_ns) == (original.st_size, original.st_mtime_ns)
    return link.samefile(file) or same


def _link(file: Path, link: Path) -> None:
    """A symbolic link; where the system allows none, a hard link, else a copy."""
    for make in (os.symlink, os.link, shutil.copy2):
        try:
            make(file, link)
            return
        except OSError:
            if make is shutil.copy2:
                raise
