"""Splits suggested by file names: train.conll, de-dev.tsv, eng.testa, test/a.txt …"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from workbench.base.i18n import _

BY_NAME = "by-name"  # instead of a split: the one in each file's name
_WORDS = {
    "train": "train",
    "training": "train",
    "trn": "train",
    "dev": "dev",
    "devel": "dev",
    "development": "dev",
    "valid": "dev",
    "validation": "dev",
    "val": "dev",
    "testa": "dev",  # of CoNLL-2003
    "test": "test",
    "testing": "test",
    "tst": "test",
    "testb": "test",
}
_FEWEST = 2  # minimum number of such files for a suggestion


def split_of(path: Path) -> str:
    """The split mentioned in the file name, else the one its folder is named after.

    "" if there is none, or if the name mentions several.
    """
    words = re.split(r"[\W_\d]+", path.name.lower())
    splits = {_WORDS[word] for word in words if word in _WORDS}
    if not splits:
        return _WORDS.get(path.parent.name.lower(), "")
    return splits.pop() if len(splits) == 1 else ""


def suggested(paths: Iterable[Path | str]) -> dict[Path, str]:
    """Split by file if at least two files have such names, in their order; otherwise empty."""
    by_file = {Path(path): split_of(Path(path)) for path in paths}
    named = {path: split for path, split in by_file.items() if split}
    return named if len(named) >= _FEWEST else {}


def described(splits: dict[Path, str]) -> str:
    """“train.tsv → train, dev.tsv → dev”, at most four files."""
    parts = [f"{path.name} → {split}" for path, split in list(splits.items())[:4]]
    if more := len(splits) - len(parts):
        parts.append(_("{n:,} more", n=more))
    return ", ".join(parts)
