"""The files that an import reads: of those that were chosen, folders stand for their files. Splits
suggested by their names: train.conll, de-dev.tsv, eng.testa, test/a.txt …
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _
from workbench.base.paths import PROJECT_SUFFIX
from workbench.base.registry import registry
from workbench.base.untrusted import leads_out, not_followed
from workbench.operations.transfer import archives
from workbench.storage.connections import header

_DATA = "data"
ANNOTATIONS, TEXT, SETTINGS = ".ann", ".txt", ".conf"  # of brat


def patterns() -> tuple[str, ...]:
    """File name patterns of all import formats, such as `*.jsonl`."""
    entries = registry().all("importer")
    return tuple(
        dict.fromkeys(item for entry in entries for item in entry.options.get("patterns", ()))
    )


def is_project(path: Path) -> bool:
    """Whether a file is a project, by its suffix or its content; False if it cannot be read."""
    if path.suffix == PROJECT_SUFFIX:
        return True
    with suppress(OSError):
        return path.is_file() and header.is_project(path)
    return False


def chosen(paths: Sequence[Path | str]) -> tuple[Path, ...]:
    """`paths`, in which the data files of each folder and zip archive take its place, in
    alphabetical order. Archives are unpacked until `archives.remove`.

    Links that lead out of a folder are left out, see `links_out`.
    Texts and settings of brat are left out beside its annotations, which are read with their text.
    Raises ImportFailed for a folder without data files, or one that cannot be read.
    """
    files = [file for path in paths for file in _files(Path(path))]
    annotated = {file.with_suffix("") for file in files if file.suffix == ANNOTATIONS}
    if not annotated:
        return tuple(files)
    folders = {file.parent for file in annotated}
    return tuple(
        file
        for file in files
        if not (file.suffix == TEXT and file.with_suffix("") in annotated)
        and not (file.suffix == SETTINGS and file.parent in folders)
    )


def left_out(paths: Sequence[Path]) -> dict[Path, str]:
    """The files that hold no data of their own → a sentence on why an import leaves them out."""
    from workbench.importers import companions

    return companions.left_out(paths)


def links_out(paths: Sequence[Path | str]) -> tuple[str, ...]:
    """A warning for each chosen folder with data files that are links to files outside of it."""
    from workbench.importers.binary import huggingface

    messages = []
    for path in paths:
        folder = Path(path)
        if huggingface.entry_of(folder) is not None:
            continue  # the importer reports the links in a data set
        try:
            names = _with_data(folder) if folder.is_dir() else []
            if not names and _has_data_folder(folder):
                folder, names = folder / _DATA, _with_data(folder / _DATA)
        except OSError:  # reported by `chosen`
            continue
        if links := [name for name in names if leads_out(folder / name, folder)]:
            messages.append(not_followed(folder, links))
    return tuple(messages)


def _is_data(name: str) -> bool:
    return any(fnmatch(name.lower(), item) for item in patterns())


def _files(path: Path) -> Iterable[Path]:
    if archives.is_archive(path):
        return archives.unpacked(path, _is_data)
    if not path.is_dir():
        return (path,)
    from workbench.importers.binary import huggingface

    if (entry := huggingface.entry_of(path)) is not None:
        return (entry,)
    try:
        if project := _of_project(path):
            return project
        names = _names(path)
        if not names and _has_data_folder(path):
            path, names = path / _DATA, _names(path / _DATA)
    except OSError as error:
        raise ImportFailed(
            _("{path} cannot be read: {strerror}.", path=path, strerror=error.strerror or error),
            hint=_("Check the path."),
        ) from error
    if names:
        return [path / name for name in names]
    raise ImportFailed(
        _("The folder {path} has no data files.", path=path),
        hint=_("Choose files in its subfolders, or files with another suffix by their names."),
    )


def _of_project(folder: Path) -> list[Path]:
    """The annotations in an unpacked export of a project of INCEpTION. Raises OSError."""
    parts = [folder / name for name in archives.PROJECT_FOLDERS if (folder / name).is_dir()]
    files = (file for part in parts for file in part.glob("*/*") if not leads_out(file, folder))
    places = archives.of_project(file.relative_to(folder).as_posix() for file in files)
    names = sorted(name for name in places.values() if not name.endswith(archives.SUFFIX))
    return [folder / name for name in names]


def _has_data_folder(path: Path) -> bool:
    """Whether it may be a data set of the hub without its card."""
    return (path / _DATA).is_dir() and not leads_out(path / _DATA, path)


def _names(folder: Path) -> list[str]:
    """The files of a folder that have data, in order, without links to others. Raises OSError."""
    return [name for name in _with_data(folder) if not leads_out(folder / name, folder)]


def _with_data(folder: Path) -> list[str]:
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries if entry.is_file())
    visible = (name for name in names if not name.startswith("."))  # others are of the system
    return [name for name in visible if any(fnmatch(name, item) for item in patterns())]


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


def suggested_splits(paths: Iterable[Path | str]) -> dict[Path, str]:
    """Split by file if at least two files have such names, in their order; otherwise empty."""
    by_file = {Path(path): split_of(Path(path)) for path in paths}
    named = {path: split for path, split in by_file.items() if split}
    return named if len(named) >= _FEWEST else {}


def described_splits(splits: dict[Path, str]) -> str:
    """“train.tsv → train, dev.tsv → dev”, at most four files."""
    parts = [f"{path.name} → {split}" for path, split in list(splits.items())[:4]]
    if more := len(splits) - len(parts):
        parts.append(_("{n:,} more", n=more))
    return ", ".join(parts)
