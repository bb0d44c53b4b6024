"""The same answer for every document: the mean of the numbers in training."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from workbench.baselines.base import Baseline
from workbench.baselines.mean_number.info import INFO
from workbench.runtime.inputs import Prepared
from workbench.tasks.spec import TaskInfo
from workbench.text.document import Document

FILE = "mean.json"


class MeanNumber(Baseline):
    info = INFO

    def __init__(self, value: float):
        self.value = value

    @classmethod
    def fit(
        cls,
        task: TaskInfo,
        documents: Sequence[Document],
        golds: Sequence[Any],
        labels: Sequence[str],
        *,
        seed: int,
    ) -> Self:
        return cls(float(np.mean([gold.value for gold in golds])))

    def logits(self, prepared: Prepared) -> list[np.ndarray]:
        """Per document (1,): the mean."""
        return [np.array([self.value])] * len(prepared.documents)

    def save(self, folder: Path) -> None:
        (folder / FILE).write_text(json.dumps(self.value), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Self:
        return cls(float(json.loads((folder / FILE).read_text(encoding="utf-8"))))

    @property
    def parameters(self) -> int:
        return 1
