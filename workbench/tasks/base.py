"""What a task is: documents to features, features to batches, logits to answers, answers to scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from workbench.runtime.decoding import Alignment
from workbench.runtime.tokenizer import Piece, Tokenizer
from workbench.tasks.spec import Gold
from workbench.text.document import Document
from workbench.text.fields import Field, Prediction

IGNORED = -100  # a position without a target, as torch's cross entropy wants it
CHUNK = 512  # documents prepared or answered at once: bounds memory and the time between two signs of life


class Outputs(NamedTuple):
    """losses: named parts, each its own curve. logits (B, L) or (B, T, L). hidden: all layers, where a head mixes them."""

    losses: dict[str, Tensor]
    logits: Tensor
    hidden: tuple[Tensor, ...] | None = None


@dataclass
class Features:
    """Documents as a model takes them. An item is one input: a document, or one window of a long one.

    owner (N,): the document of each item. targets: for each item a class number, or int64 (T,); None without gold.
    cut (D,): whether the document was longer than the model takes. words, alignments: for each document, tagging only.
    """

    documents: list[Document]
    items: list[Piece]
    owner: np.ndarray
    cut: np.ndarray
    targets: list | None = None
    words: list[list[tuple[int, int]]] = field(default_factory=list)
    alignments: list[Alignment] = field(default_factory=list)
    shifted: int = 0  # gold spans whose borders are no borders of words

    @property
    def lengths(self) -> np.ndarray:
        return np.fromiter(
            (len(one.ids) for one in self.items), dtype=np.int64, count=len(self.items)
        )

    @classmethod
    def join(cls, parts: Sequence[Features]) -> Features:
        """One after the other; `parts` must not be empty."""
        offsets = np.cumsum([0, *(len(one.documents) for one in parts[:-1])])
        return cls(
            [one for part in parts for one in part.documents],
            [one for part in parts for one in part.items],
            np.concatenate(
                [part.owner + offset for part, offset in zip(parts, offsets, strict=True)]
            ),
            np.concatenate([part.cut for part in parts]),
            None if parts[0].targets is None else [one for part in parts for one in part.targets],
            [one for part in parts for one in part.words],
            [one for part in parts for one in part.alignments],
            sum(part.shifted for part in parts),
        )


class Task(Protocol):
    """tasks/<name>.py. `head` names what models.base.HEADS calls it; `labels` are those of the layer."""

    id: str
    head: str
    outputs: tuple[type[Field], ...]

    def outputs_of(self, labels: Sequence[str]) -> tuple[str, ...]:
        """What the model's outputs are called, in order (`id2label`)."""
        ...

    def features(
        self,
        documents: Sequence[Document],
        tokenizer: Tokenizer,
        labels: Sequence[str],
        max_length: int,
        *,
        golds: Sequence[Gold] | None = None,
        options: Mapping[str, object] | None = None,
    ) -> Features: ...

    def forward(self, model: nn.Module, batch: Mapping[str, Tensor]) -> Outputs: ...

    def decode(
        self, logits: Sequence[np.ndarray], features: Features, labels: Sequence[str]
    ) -> list[Prediction]:
        """One logits array per item, (L,) or (T, L) without padding → one prediction per document."""
        ...


def collate(
    features: Features, chosen: Sequence[int], *, pad: int, types: bool, device: torch.device
) -> dict[str, Tensor]:
    """Items padded on the right to the longest of them: input_ids, attention_mask, token_type_ids, labels, each (B, T); class labels (B,)."""
    items = [features.items[one] for one in chosen]
    longest = max(len(one.ids) for one in items)
    arrays = {
        "input_ids": _padded([one.ids for one in items], longest, pad),
        "attention_mask": _padded([np.ones(len(one.ids), np.int64) for one in items], longest, 0),
    }
    if types:
        arrays["token_type_ids"] = _padded([one.types for one in items], longest, 0)
    if features.targets is not None:
        targets = [features.targets[one] for one in chosen]
        per_item = np.ndim(targets[0]) == 0
        arrays["labels"] = (
            np.asarray(targets, dtype=np.int64) if per_item else _padded(targets, longest, IGNORED)
        )
    return {
        name: torch.from_numpy(one).to(device, non_blocking=True) for name, one in arrays.items()
    }


def _padded(rows: Sequence[np.ndarray], length: int, value: int) -> np.ndarray:
    table = np.full((len(rows), length), value, dtype=np.int64)
    for number, row in enumerate(rows):
        table[number, : len(row)] = row
    return table
