"""Log-probabilities of the model that a training started from, stored with its run.

They are computed once, with the initial weights, so that no second model is in memory. A later
prediction of other documents loads the model that the run started from, if it is still there.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from workbench.base.records import json_text
from workbench.models import folder as folders
from workbench.runtime.inputs import Logits, Prepared
from workbench.text.document import Document

FILE = "references.json"  # in the folder of a run


@dataclass
class References:
    """values: hash of the texts of a document → the log-probability of each of its answers.

    start, sha256: folder and weights of the model they are of; "" if it has no folder. length: the
    most tokens of an input.
    """

    start: str
    sha256: str
    length: int
    values: dict[str, Sequence[float]] = field(default_factory=dict)

    @classmethod
    def read(cls, run: Path) -> References | None:
        """Those of a run; None if there are none, or the file is damaged."""
        try:
            raw = json.loads((run / FILE).read_text(encoding="utf-8"))
            return cls(raw["start"], raw["sha256"], raw["length"], dict(raw["values"]))
        except (OSError, ValueError, TypeError, LookupError):
            return None

    def write(self, run: Path) -> None:
        (run / FILE).write_text(json_text(vars(self)), encoding="utf-8")

    def fits(self, other: References) -> bool:
        """Whether its values are those that the other one would compute."""
        return (self.sha256, self.length) == (other.sha256, other.length) != ("", 0)

    def missing(self, documents: Sequence[Document]) -> list[Document]:
        return [document for document in documents if document.text_hash not in self.values]

    def add(self, prepared: Prepared, logits: Logits) -> None:
        """logits: those of the model they are of, see `Task.reference`."""
        for number, document in enumerate(prepared.documents):
            scores = [float(logits[item]["logits"][0]) for item in prepared.of(number)]
            self.values[document.text_hash] = scores

    def attached(self, prepared: Prepared, name: str) -> Prepared:
        """The inputs with their values in an array `name` float32 (1,), where these are known."""
        inputs = list(prepared.inputs)
        for number, document in enumerate(prepared.documents):
            values = self.values.get(document.text_hash, ())
            for item, value in zip(prepared.of(number), values, strict=False):
                arrays = {**inputs[item].arrays, name: np.asarray([value], np.float32)}
                inputs[item] = replace(inputs[item], arrays=arrays)
        return replace(prepared, inputs=inputs)

    @property
    def is_there(self) -> bool:
        """Whether the model they are of is still in its folder, with the same weights."""
        place = Path(self.start)
        return bool(self.start) and place.is_dir() and folders.sha256(place) == self.sha256
