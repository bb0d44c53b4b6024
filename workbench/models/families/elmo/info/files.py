"""The files of an ELMo model: options, weights, and optionally a softmax with its vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.base.i18n import _
from workbench.models.formats.json_files import one_line

OPTIONS, WEIGHTS = "options.json", "weights.hdf5"
SOFTMAX, VOCABULARY = "softmax_weights.hdf5", "vocab.txt"
SOFTMAX_W, SOFTMAX_B = "softmax/W", "softmax/b"
SIGNATURE = b"\x89HDF\r\n\x1a\n"
MAX_DATASETS = 10_000
Shapes = Mapping[str, tuple[int, ...]]


def options_file(folder: Path) -> Path | None:
    """`options.json`, or the only file whose name ends with that, as AllenNLP publishes it."""
    if (folder / OPTIONS).is_file():
        return folder / OPTIONS
    return _only(folder, f"*{OPTIONS}", SOFTMAX)


def weights_file(folder: Path) -> Path | None:
    return _only(folder, f"*{WEIGHTS}", SOFTMAX)


def softmax_files(folder: Path) -> tuple[Path, Path] | None:
    """(weights, vocabulary) of the output layer, None if either is missing."""
    weights, words = _only(folder, f"*{SOFTMAX}"), _only(folder, "*vocab*.txt")
    return (weights, words) if weights is not None and words is not None else None


def _only(folder: Path, pattern: str, but: str = "\0") -> Path | None:
    matches = [path for path in folder.glob(pattern) if not path.name.endswith(but)]
    return matches[0] if len(matches) == 1 and matches[0].is_file() else None


def read_shapes(path: Path, problems: list[str]) -> Shapes:
    """Name → shape of the datasets of an HDF5 file; empty, with a problem, if it is damaged."""
    import h5py

    name = path.name
    try:
        with open(path, "rb") as file:
            if file.read(len(SIGNATURE)) != SIGNATURE:
                problems.append(_("{file} is not an HDF5 file", file=name))
                return {}
        with h5py.File(path, "r") as file:
            return _shapes(file)
    except (OSError, RuntimeError, KeyError, ValueError, TypeError) as error:
        reason = one_line(str(error), 100)
        problems.append(_("{file} is damaged or truncated ({error})", file=name, error=reason))
        return {}


def _shapes(file: Any) -> dict[str, tuple[int, ...]]:
    """Datasets that are stored in the file itself; links to other files are not followed."""
    import h5py

    shapes: dict[str, tuple[int, ...]] = {}
    groups = [("", file)]
    while groups and len(shapes) < MAX_DATASETS:
        prefix, group = groups.pop()
        for key in group:
            if not isinstance(group.get(key, getlink=True), h5py.HardLink):
                continue
            item = group[key]
            if isinstance(item, h5py.Group) and prefix.count("/") < 8:
                groups.append((f"{prefix}{key}/", item))
            elif isinstance(item, h5py.Dataset) and _is_plain(item):
                shapes[f"{prefix}{key}"] = tuple(item.shape)
    return shapes


def _is_plain(dataset: Any) -> bool:
    """Whether it holds floating-point numbers, in this file."""
    return bool(dataset.dtype.kind == "f" and not dataset.external and not dataset.is_virtual)


def shape_problems(file: str, actual: Shapes, expected: Shapes) -> list[str]:
    """Datasets that are missing, or that have other sizes than options.json says."""
    missing = [name for name in expected if name not in actual]
    if missing:
        message = _("{file} has no dataset {name}; options.json and weights do not match")
        return [message.format(file=file, name=missing[0])]
    message = _("{file} has {name} in the shape {shape}, options.json says {expected}")
    return [
        message.format(file=file, name=name, shape=list(actual[name]), expected=list(shape))
        for name, shape in expected.items()
        if actual[name] != shape
    ][:3]


def read_words(path: Path) -> tuple[str, ...]:
    """The vocabulary of the output layer, one word per line."""
    lines = path.read_text(encoding="utf-8").split("\n")
    return tuple(line.rstrip("\r") for line in (lines[:-1] if not lines[-1] else lines))
