"""Loads files of static vectors, and saves them in the format that they had."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.models.base import LoadOptions
from workbench.models.families.vectors.encoder import VectorTable, WordVectors
from workbench.models.families.vectors.info import INFO, UNKNOWN_VECTOR
from workbench.models.spec import ModelInfo
from workbench.runtime.preparers.vectors import VectorWords
from workbench.runtime.preparers.words import segmenter_of
from workbench.runtime.vectors import store, writing
from workbench.runtime.vectors.store import Opened
from workbench.text.segmenters import stored

FREQUENT = 100_000  # words whose mean is the vector of an unknown word
RANDOM_SCALE = 0.1  # standard deviation of new vectors


class VectorsFamily:
    info = INFO

    def heads(self, info: ModelInfo) -> frozenset[str]:
        return frozenset()

    def load(self, info: ModelInfo, options: LoadOptions) -> WordVectors:
        """Makes the index of the file first, if there is none."""
        path = Path(info.path)
        opened = store.open_file(INFO.file(path))
        # Copy-on-write: training changes the pages in memory, never the file.
        rows = torch.from_numpy(opened.rows)
        unknown = _unknown(opened, path)
        if options.random:
            draw = torch.Generator().manual_seed(options.seed)
            rows = torch.randn(rows.shape, generator=draw) * RANDOM_SCALE
            unknown = torch.zeros_like(unknown)
        words = VectorWords(opened.words, opened.ngrams)
        words.segmenter = INFO.segmenter(path)
        return WordVectors(info, opened, words, VectorTable(rows, unknown))

    def save(self, encoder: WordVectors, folder: Path) -> None:
        writing.write(encoder.opened, encoder.changed(), folder)
        np.save(folder / UNKNOWN_VECTOR, encoder.table.unknown.detach().cpu().numpy())
        stored.write(segmenter_of(encoder.preparer), folder)


def _unknown(opened: Opened, path: Path) -> torch.Tensor:
    """The saved vector of unknown words, else the mean of the most frequent words."""
    saved = path / UNKNOWN_VECTOR
    if not saved.is_file():
        return torch.from_numpy(opened.rows[: min(FREQUENT, len(opened.words))].mean(0))
    try:
        vector = np.load(saved, allow_pickle=False).astype(np.float32)
    except (OSError, ValueError, EOFError) as error:
        raise ModelError(
            _("{path} cannot be read: {error}.", path=saved, error=error),
            hint=_("Restore the file from a backup, or delete it."),
        ) from error
    if vector.shape != (opened.header.width,):
        raise ModelError(
            _(
                "{path} has shape {shape}, expected a vector of width {width}.",
                path=saved,
                shape=list(vector.shape),
                width=opened.header.width,
            ),
            hint=_("It belongs to a different file of vectors. Delete it or train again."),
        )
    return torch.from_numpy(vector)
