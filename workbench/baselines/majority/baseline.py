"""The same answer for every document: how often each label occurs in training."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from workbench.baselines.base import MIN_LOGIT, Baseline, classes, is_exclusive
from workbench.baselines.majority.info import INFO
from workbench.runtime.inputs import Prepared
from workbench.tasks.spec import TaskInfo
from workbench.text.document import Document

FILE = "majority.json"


class Majority(Baseline):
    info = INFO

    def __init__(self, answer: Sequence[float]):
        self.answer = np.array(answer, np.float64)

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
        share = classes(task, golds, labels).mean(axis=0)
        with np.errstate(divide="ignore"):
            logits = np.log(share) - (0.0 if is_exclusive(task) else np.log1p(-share))
        return cls(np.clip(logits, MIN_LOGIT, -MIN_LOGIT).tolist())

    def logits(self, prepared: Prepared) -> list[np.ndarray]:
        """Per document the same (L,)."""
        return [self.answer] * len(prepared.documents)

    def save(self, folder: Path) -> None:
        (folder / FILE).write_text(json.dumps(self.answer.tolist()), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Self:
        return cls(json.loads((folder / FILE).read_text(encoding="utf-8")))

    @property
    def parameters(self) -> int:
        return len(self.answer)
