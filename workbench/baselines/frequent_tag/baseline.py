"""Counts of tags per word of the training documents."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from workbench.baselines.base import Baseline, prepared
from workbench.baselines.frequent_tag.info import INFO
from workbench.runtime.inputs import Prepared
from workbench.tasks.spec import TaskInfo
from workbench.text.document import Document

FILE = "tags.json"
SMOOTHING = 0.01  # added to each count, so that no tag has probability 0


class FrequentTag(Baseline):
    """tags: word → output number → count; totals: of all words, for words that are not known."""

    info = INFO

    def __init__(self, totals: Sequence[int], tags: Mapping[str, Mapping[int, int]]):
        self.totals, self.tags = tuple(totals), tags

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
        number = {name: at for at, name in enumerate(task.output_names(labels))}
        counts: dict[str, Counter[int]] = {}
        totals: Counter[int] = Counter()
        prepared_documents = prepared(task, documents)
        for document, gold, words in zip(documents, golds, prepared_documents.words, strict=True):
            for (start, end), tag in zip(words, task.word_outputs(gold, words), strict=True):
                if tag is not None:
                    counts.setdefault(document.text[start:end], Counter())[number[tag]] += 1
                    totals[number[tag]] += 1
        return cls([totals[at] for at in range(len(number))], counts)

    def logits(self, prepared: Prepared) -> list[np.ndarray]:
        """Per document (W, L): logits of its words, from their counts."""
        unknown = self._logits(dict(enumerate(self.totals)))
        known: dict[str, np.ndarray] = {}
        logits = []
        for document, words in zip(prepared.documents, prepared.words, strict=True):
            rows = np.empty((len(words), len(self.totals)))
            for at, (start, end) in enumerate(words):
                word = document.text[start:end]
                if word in self.tags and word not in known:
                    known[word] = self._logits(self.tags[word])
                rows[at] = known.get(word, unknown)
            logits.append(rows)
        return logits

    def counts(self, word: str) -> Mapping[int, int] | None:
        """See `base.CountsTags`."""
        return self.tags.get(word)

    def total(self) -> Mapping[int, int]:
        """See `base.CountsTags`."""
        return dict(enumerate(self.totals))

    def _logits(self, counts: Mapping[int, int]) -> np.ndarray:
        row = np.full(len(self.totals), SMOOTHING)
        for at, count in counts.items():
            row[at] += count
        logits: np.ndarray = np.log(row / row.sum())
        return logits

    def save(self, folder: Path) -> None:
        raw = {"totals": self.totals, "tags": self.tags}
        (folder / FILE).write_text(json.dumps(raw, ensure_ascii=True), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Self:
        raw = json.loads((folder / FILE).read_text(encoding="utf-8"))
        tags = {
            word: {int(at): count for at, count in counts.items()}
            for word, counts in raw["tags"].items()
        }
        return cls(raw["totals"], tags)

    @property
    def parameters(self) -> int:
        return len(self.totals) + sum(map(len, self.tags.values()))

    @property
    def decoder(self) -> Mapping[str, Any]:
        """Each word on its own, as the baseline is defined."""
        return {"decoder": "greedy"}
