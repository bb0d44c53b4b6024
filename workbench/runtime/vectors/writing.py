"""Writes a file of vectors with some vectors replaced; every other byte stays as it was."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import numpy as np

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.runtime.vectors import files
from workbench.runtime.vectors.store import Opened

CHUNK = 1 << 22  # bytes copied at a time


def write(opened: Opened, changed: Iterable[tuple[int, np.ndarray]], folder: Path) -> Path:
    """Copy the file into `folder`, with the `changed` rows (ascending) as float32.

    changed: (row, vector (width,)). Raises ModelError if the file has changed since it was opened.
    """
    try:
        same = opened.key == files.key_of(opened.path)
    except OSError:
        same = False
    if not same:
        raise ModelError(
            _("{path} was changed or deleted after it was opened.", path=opened.path),
            hint=_("Restore the file, then try again."),
        )
    target = folder / opened.path.name
    if opened.header.is_text:
        _write_text(opened, changed, target)
        return target
    shutil.copyfile(opened.path, target)
    with open(target, "r+b") as file:
        for row, vector in changed:
            file.seek(int(opened.starts[row]))
            file.write(np.ascontiguousarray(vector, dtype="<f4").data)
    return target


def _write_text(opened: Opened, changed: Iterable[tuple[int, np.ndarray]], target: Path) -> None:
    with open(opened.path, "rb") as source, open(target, "wb") as file:
        for row, vector in changed:
            _copy(source, file, int(opened.starts[row]) - source.tell())
            line = source.readline()
            end = line[len(line.rstrip(b" \r\n")) :]
            file.write(" ".join(map(str, vector)).encode("ascii") + end)
        shutil.copyfileobj(source, file, CHUNK)


def _copy(source: BinaryIO, file: BinaryIO, count: int) -> None:
    while count > 0:
        data = source.read(min(count, CHUNK))
        file.write(data)
        count -= len(data)
