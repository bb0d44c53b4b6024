"""Static word vectors: their encoder, which loads their files and saves them in the same format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.models.base import Encoder, LoadOptions, Parts, States
from workbench.models.families.vectors.info import INFO, UNKNOWN_VECTOR
from workbench.models.spec import ModelInfo
from workbench.runtime.inputs import MASK, EncodedInput
from workbench.runtime.preparers.vectors import VectorWords
from workbench.runtime.preparers.words import segmenter_of
from workbench.runtime.vectors import store, writing
from workbench.runtime.vectors.store import BLOCK, Opened
from workbench.text.segmenters import stored

NGRAMS, OWNERS = "ngrams", "ngram_words"


class VectorTable(nn.Module):
    """Rows by number + 1; number 0 gives zeros.

    weight (R, H): of a large file it stays memory-mapped, so that only used rows are read. After
    `narrow` it has the used rows alone: `place` (all rows + 1,) is the position of each row there,
    -1 for the others, which stay in `rest`.
    unknown (H,): the vector of a word without a row.
    """

    place: Tensor | None
    rest: Tensor | None

    def __init__(self, weight: Tensor, unknown: Tensor):
        super().__init__()
        self.weight, self.unknown = nn.Parameter(weight), nn.Parameter(unknown)
        self.register_buffer("place", None, persistent=False)
        self.register_buffer("rest", None, persistent=False)

    def forward(self, numbers: Tensor) -> Tensor:
        """numbers (…) int. Returns (…, H)."""
        rows = (numbers - 1).clamp(min=0)
        if self.place is None or self.rest is None:
            vectors = F.embedding(rows, self.weight)
        else:
            place = self.place[numbers]
            own = F.embedding(place.clamp(min=0), self.weight)
            vectors = torch.where((place >= 0).unsqueeze(-1), own, F.embedding(rows, self.rest))
        return vectors * (numbers > 0).unsqueeze(-1)

    def narrow(self, numbers: np.ndarray) -> None:
        """Train the rows with these numbers alone (ascending, without 0)."""
        self.widen()
        whole, device = self.weight.data, self.weight.device
        place = torch.full((len(whole) + 1,), -1, dtype=torch.int64)
        place[torch.from_numpy(numbers)] = torch.arange(len(numbers))
        self.place, self.rest = place.to(device), whole
        self.weight.data = whole[torch.from_numpy(numbers - 1).to(device)].clone()

    def widen(self) -> None:
        """The whole table as the parameter again, with the trained rows."""
        if self.place is None or self.rest is None:
            return
        used = self.used()
        whole = self.rest.clone()
        whole[used] = self.weight.data
        self.weight.data, self.place, self.rest = whole, None, None

    def used(self) -> Tensor:
        """Rows that `narrow` selected. int64 (n,). Raises RuntimeError if all rows are trained."""
        if self.place is None:
            raise RuntimeError("all rows are trained; `narrow` selects some")
        return torch.nonzero(self.place >= 0).flatten() - 1

    def block(self, first: int, end: int) -> np.ndarray:
        """float32 (B, H), B = end - first: current rows."""
        if self.place is None or self.rest is None:
            return self.weight.data[first:end].cpu().numpy()
        place = self.place[first + 1 : end + 1]
        vectors = self.rest[first:end].clone()
        vectors[place >= 0] = self.weight.data[place[place >= 0]]
        return vectors.cpu().numpy()

    def _load_from_state_dict(self, state_dict: Mapping[str, Any], prefix: str, *rest: Any) -> None:
        weights = state_dict.get(f"{prefix}weight")
        if weights is not None and self.rest is not None and weights.shape == self.rest.shape:
            self.widen()
        super()._load_from_state_dict(state_dict, prefix, *rest)


class WordVectors(Encoder):
    """One state per word: its vector; with n-grams the mean of the word's row and of theirs.

    Source: Bojanowski et al. 2017, section 3.2; the mean as in the released code.
    """

    # `ngrams` has an axis of its own: the n-grams of all words of the input.
    input_axes: Mapping[str, str] = {NGRAMS: "ngrams", OWNERS: "ngrams"}

    def __init__(self, info: ModelInfo, opened: Opened, preparer: VectorWords, table: VectorTable):
        super().__init__()
        self.info, self.opened, self.preparer = info, opened, preparer
        self.max_length = info.max_length
        self.has_ngrams = preparer.ngrams is not None
        self.input_names = ("input_ids", MASK, *((NGRAMS, OWNERS) if self.has_ngrams else ()))
        self.table = table

    def forward(self, inputs: Mapping[str, Tensor]) -> States:
        """One layer (B, T, H): the vectors of T words."""
        ids, mask = inputs["input_ids"], inputs[MASK].bool()
        states, count = self.table(ids), (ids > 0).to(self.table.unknown.dtype)  # (B, T, H), (B, T)
        if self.has_ngrams:
            parts, owners = inputs[NGRAMS], inputs[OWNERS]  # (B, P)
            vectors = self.table(parts)  # (B, P, H)
            index = owners.unsqueeze(-1).expand(-1, -1, vectors.shape[-1])
            states = states.scatter_add(1, index, vectors)
            count = count.scatter_add(1, owners, (parts > 0).to(count.dtype))
            states = states / count.clamp(min=1).unsqueeze(-1)
        states = torch.where((count > 0).unsqueeze(-1), states, self.table.unknown)
        return States((states,), mask, None)

    def parts(self) -> Parts:
        return Parts(tuple(self.table.parameters()), (), (), (self.table,))

    def narrow(self, inputs: Sequence[EncodedInput]) -> None:
        names = [name for name in ("input_ids", NGRAMS) if name in self.input_names]
        numbers = np.unique(
            np.concatenate([input_.arrays[name] for input_ in inputs for name in names])
        )
        self.table.narrow(numbers[numbers > 0].astype(np.int64))

    def changed(self) -> Iterator[tuple[int, np.ndarray]]:
        """Rows that differ from the file, with their current vectors (H,) float32."""
        rows = self.opened.original
        for first in range(0, len(rows), BLOCK):
            end = min(first + BLOCK, len(rows))
            current = self.table.block(first, end)
            for row in np.flatnonzero((current != rows[first:end]).any(1)):
                yield first + int(row), current[row]


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
