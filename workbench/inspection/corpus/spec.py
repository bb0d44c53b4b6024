"""What an index of a project's documents holds, and where. Imports neither torch nor numpy."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.base.errors import SpecError
from workbench.base.i18n import _

TARGET = "workbench.inspection.corpus.job:run"
DOCUMENTS, USES, WORDS = "documents", "uses", "words"  # kinds of indexes
MAX_USES = 5_000  # of a word; a random sample of more
MAX_WORDS = 1_000_000  # of all documents; those of a random sample of more
MAX_DOCUMENTS = 100_000  # of an index; a random sample of more
METHODS = (PCA, TSNE, UMAP) = ("pca", "tsne", "umap")  # of maps
MAX_POINTS = {PCA: MAX_DOCUMENTS, TSNE: 10_000, UMAP: 50_000}  # a random sample of more
PREFIX = "layer_"


def existing_layer(number: int, layers: Sequence[int]) -> int:
    """The number of a layer of `layers` (ascending), of the last one for -1.

    Raises SpecError if it is not among them.
    """
    if number == -1:
        return layers[-1]
    if number in layers:
        return number
    message = _("layer is {number}, expected a whole number from {first} to {last}, or -1.")
    hint = _("0 stands for the token embeddings, -1 for the last layer.")
    if layers[0] > 0:
        hint = _("Lower layers are left out of the index of this many documents.")
    raise SpecError(message.format(number=number, first=layers[0], last=layers[-1]), hint=hint)


@dataclass(frozen=True)
class Projection:
    """A map of the rows of an index. layer: -1 is the last. clusters: of k-means."""

    method: str = PCA
    layer: int = -1
    clusters: int = 6

    @property
    def name(self) -> str:
        return f"{self.method}-{self.layer}-{self.clusters}"


@dataclass(frozen=True)
class IndexFiles:
    """The files of an index, `key` with an ending each. The description is written last."""

    root: Path
    key: str

    @property
    def about(self) -> Path:
        return self.root / f"{self.key}.json"

    @property
    def places(self) -> Path:
        """int64 (N, 3): id of the document, start and end in its first text."""
        return self.root / f"{self.key}.places.npy"

    @property
    def lines(self) -> Path:
        """A JSON object per row: key of the document and text, or the words around a use."""
        return self.root / f"{self.key}.lines.jsonl"

    @property
    def starts(self) -> Path:
        """int64 (N,): where each line starts, in bytes."""
        return self.root / f"{self.key}.starts.npy"

    def layer(self, number: int) -> Path:
        """float16 (N, width), each row of length 1, or 0 for a text without a unit."""
        return self.root / f"{self.key}.layer-{number}.npy"

    def map(self, projection: Projection) -> Path:
        return self.root / f"{self.key}.map-{projection.name}.npz"

    def every(self) -> tuple[Path, ...]:
        return tuple(self.root.glob(f"{self.key}.*"))

    def read_about(self) -> Mapping[str, int]:
        """Raises OSError or ValueError where there is no usable index."""
        counts: Mapping[str, int] = json.loads(self.about.read_text(encoding="utf-8"))
        return counts

    @classmethod
    def at(cls, path: str) -> IndexFiles:
        """The files by the path of their description, which inspectors get as an option."""
        return cls(Path(path).parent, Path(path).stem)
