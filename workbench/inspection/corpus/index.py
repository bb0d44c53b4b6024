"""An index of vectors on disk: written row by row, read memory-mapped. numpy only.

Rows are scaled to length 1, so that their dot product is the cosine.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.inspection.corpus.spec import IndexFiles, existing_layer

BLOCK_ROWS = 16_384  # rows that are compared at a time
MAX_BYTES = 1 << 30  # of the vectors of one index; lower layers are left out of larger ones


def unit(vectors: np.ndarray) -> np.ndarray:
    """Rows (…, H) scaled to length 1; rows of zeros stay as they are. float32."""
    rows = np.asarray(vectors, np.float32)
    scaled: np.ndarray = rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12)
    return scaled


class CorpusIndex:
    """layers: the numbers of those that it holds, ascending. count: rows. total: how many there
    are in the project, -1 if not all were counted.
    """

    def __init__(self, path: str):
        """path: see `IndexFiles.at`. Raises ModelError if there is no usable index."""
        self.files = IndexFiles.at(path)
        try:
            about: Mapping[str, Any] = self.files.read_about()
            self.places = np.load(self.files.places, allow_pickle=False)
            self._starts = np.load(self.files.starts, allow_pickle=False)
            self.layers = tuple(int(number) for number in about["layers"])
            self.count, self.total = int(about["count"]), int(about["total"])
        except (OSError, ValueError, KeyError) as error:
            raise ModelError(
                _("The index of the documents cannot be read: {error}.", error=error),
                hint=_("Run the view again; the index is then rebuilt."),
            ) from error

    def existing_layer(self, number: int) -> int:
        """The layer itself, the last for -1. Raises SpecError if the index does not hold it."""
        return existing_layer(number, self.layers)

    def nearest_layer(self, number: int) -> int:
        """The layer itself, or the nearest one that the index holds."""
        return min(self.layers, key=lambda layer: abs(layer - number))

    def vectors(self, layer: int) -> np.ndarray:
        """float16 (N, width), memory-mapped."""
        vectors: np.ndarray = np.load(self.files.layer(layer), mmap_mode="r", allow_pickle=False)
        return vectors

    def cosines(self, layer: int, vector: np.ndarray) -> np.ndarray:
        """float32 (N,) of all rows with a vector (width,)."""
        rows, query = self.vectors(layer), unit(vector)
        cosines = np.empty(len(rows), np.float32)
        for start in range(0, len(rows), BLOCK_ROWS):
            part = rows[start : start + BLOCK_ROWS].astype(np.float32)
            cosines[start : start + BLOCK_ROWS] = part @ query
        return cosines

    def lines(self, numbers: Iterable[int]) -> list[dict[str, Any]]:
        """The lines of rows."""
        lines = []
        with open(self.files.lines, "rb") as file:
            for number in numbers:
                file.seek(int(self._starts[number]))
                lines.append(json.loads(file.readline()))
        return lines


class Writer:
    """Writes an index of at most `count` rows; readable once `finish` was called.

    widths: by layer, embeddings first. Raises OSError where it cannot be written.
    """

    def __init__(
        self, files: IndexFiles, widths: Sequence[int], count: int, *, only: Sequence[int] = ()
    ):
        """only: layers to write; by default those that fit."""
        files.root.mkdir(parents=True, exist_ok=True)
        self.files, self.count = files, 0
        self._draft = IndexFiles(files.root, f"{files.key}.{uuid.uuid4().hex[:8]}")
        self.layers = tuple(only) or stored_layers(widths, count)
        make = np.lib.format.open_memmap
        self._vectors = {
            layer: make(self._draft.layer(layer), "w+", np.float16, (count, widths[layer]))
            for layer in self.layers
        }
        self._places = np.zeros((count, 3), np.int64)
        self._starts = np.zeros(count, np.int64)
        self._lines = open(self._draft.lines, "wb")  # noqa: SIM115 (closed by `discard`)

    def add(
        self, place: tuple[int, int, int], line: Mapping[str, Any], layers: Sequence[np.ndarray]
    ) -> None:
        """layers: a vector (width,) of each layer of the model."""
        for number, rows in self._vectors.items():
            rows[self.count] = unit(layers[number])
        self._places[self.count] = place
        self._starts[self.count] = self._lines.tell()
        self._lines.write(json.dumps(line).encode() + b"\n")
        self.count += 1

    def finish(self, *, total: int) -> None:
        self._lines.close()
        for rows in self._vectors.values():
            rows.flush()
        np.save(self._draft.places, self._places[: self.count])
        np.save(self._draft.starts, self._starts[: self.count])
        about = {"layers": list(self.layers), "count": self.count, "total": total}
        self._draft.about.write_text(json.dumps(about), encoding="utf-8")
        pairs = [(self._draft.layer(layer), self.files.layer(layer)) for layer in self.layers]
        names = ("places", "starts", "lines", "about")
        pairs += [(getattr(self._draft, name), getattr(self.files, name)) for name in names]
        self._vectors = {}
        for draft, final in pairs:
            os.replace(draft, final)

    def discard(self) -> None:
        """Delete what was not finished."""
        self._lines.close()
        self._vectors = {}
        delete(self._draft.every())


def stored_layers(widths: Sequence[int], count: int) -> tuple[int, ...]:
    """The layers of an index with `count` rows: all, or those from the top that fit; ascending."""
    layers, size = [len(widths) - 1], 2 * count * widths[-1]
    for layer in range(len(widths) - 2, -1, -1):
        size += 2 * count * widths[layer]
        if size > MAX_BYTES:
            break
        layers.append(layer)
    return tuple(sorted(layers))


def delete(files: Iterable[Path]) -> None:
    for file in files:
        with suppress(OSError):
            file.unlink()
