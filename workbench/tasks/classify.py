"""One class for each document. The trained module is transformers' AutoModelForSequenceClassification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.runtime import decoding
from workbench.runtime.tokenizer import Tokenizer
from workbench.tasks.base import Features, Outputs
from workbench.tasks.spec import Gold
from workbench.text.document import Document
from workbench.text.fields import ClassScores, Prediction


class Classify:
    id = "classify"
    head = "sequence"
    outputs = (ClassScores,)
    texts = 1

    def outputs_of(self, labels: Sequence[str]) -> tuple[str, ...]:
        return tuple(labels)

    def features(
        self,
        documents: Sequence[Document],
        tokenizer: Tokenizer,
        labels: Sequence[str],
        max_length: int,
        *,
        golds: Sequence[Gold] | None = None,
        options: Mapping[str, object] | None = None,
    ) -> Features:
        """One item per document. Raises KeyError where a gold label is none of `labels`."""
        found = list(tokenizer.whole([self.inputs(one) for one in documents], max_length))
        number = {label: position for position, label in enumerate(labels)}
        return Features(
            list(documents),
            [piece for piece, _ in found],
            np.arange(len(found)),
            np.fromiter((cut for _, cut in found), dtype=bool, count=len(found)),
            None if golds is None else [number[one.label] for one in golds],
        )

    def inputs(self, document: Document) -> tuple[str, ...]:
        """The texts that the model reads; a missing second one is empty."""
        texts = tuple(content for _, content in document.texts[: self.texts])
        return texts + ("",) * (self.texts - len(texts))

    def forward(self, model: nn.Module, batch: Mapping[str, Tensor]) -> Outputs:
        inputs = {name: one for name, one in batch.items() if name != "labels"}
        logits = model(**inputs).logits.float()  # (B, L)
        losses = {"task": F.cross_entropy(logits, batch["labels"])} if "labels" in batch else {}
        return Outputs(losses, logits)

    def decode(
        self, logits: Sequence[np.ndarray], features: Features, labels: Sequence[str]
    ) -> list[Prediction]:
        return [
            decoding.classes(one, labels, cut=bool(cut))
            for one, cut in zip(logits, features.cut, strict=True)
        ]
