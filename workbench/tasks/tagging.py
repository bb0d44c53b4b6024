"""A BIO tag for each word, decoded to spans. The trained module is transformers' AutoModelForTokenClassification.

Words are the document's own tokens, else those of text.segment. Long texts run in overlapping windows; each word is learned and
decided in the window where it has the most context.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.runtime import decoding
from workbench.runtime.decoding import Alignment, bio_tags
from workbench.runtime.tokenizer import Piece, Tokenizer
from workbench.runtime.words import OVERLAP, borders_of, word_scores
from workbench.tasks.base import IGNORED, Features, Outputs
from workbench.tasks.spec import Gold
from workbench.text.document import Document
from workbench.text.fields import Prediction, SpanScores, TokenScores


class Tagging:
    id = "tag"
    head = "token"
    outputs = (TokenScores, SpanScores)

    def outputs_of(self, labels: Sequence[str]) -> tuple[str, ...]:
        return bio_tags(labels)

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
        windows = list(
            tokenizer.windows([one.text for one in documents], max_length, max_length // OVERLAP)
        )
        words = [borders_of(one) for one in documents]
        alignments = [
            decoding.align(borders, [(one.borders, one.text == 0) for one in found])
            for borders, found in zip(words, windows, strict=True)
        ]
        features = Features(
            list(documents),
            [one for found in windows for one in found],
            np.repeat(np.arange(len(documents)), [len(found) for found in windows]),
            np.zeros(len(documents), dtype=bool),
            words=words,
            alignments=alignments,
        )
        if golds is not None:
            everywhere = (options or {}).get("label_subwords", "first") == "all"
            self._add_targets(features, windows, golds, bio_tags(labels), everywhere)
        return features

    @staticmethod
    def _add_targets(
        features: Features,
        windows: Sequence[Sequence[Piece]],
        golds: Sequence[Gold],
        tags: Sequence[str],
        everywhere: bool,
    ) -> None:
        number = {tag: position for position, tag in enumerate(tags)}
        features.targets = []
        for found, words, where, gold in zip(
            windows, features.words, features.alignments, golds, strict=True
        ):
            targets = [np.full(len(one.ids), IGNORED, dtype=np.int64) for one in found]
            for word, tag in enumerate(decoding.tag_words(words, gold.spans)):
                _aim(
                    targets,
                    where,
                    word,
                    number[tag],
                    number[f"I{tag[1:]}"] if everywhere and tag != "O" else 0,
                    everywhere,
                )
            features.targets.extend(targets)
            starts, ends = {start for start, _ in words}, {end for _, end in words}
            features.shifted += sum(
                one.start not in starts or one.end not in ends for one in gold.spans
            )

    def forward(self, model: nn.Module, batch: Mapping[str, Tensor]) -> Outputs:
        inputs = {name: one for name, one in batch.items() if name != "labels"}
        logits = model(**inputs).logits.float()  # (B, T, L)
        if "labels" not in batch:
            return Outputs({}, logits)
        targets = batch["labels"].flatten()  # (B, T) → (B * T)
        count = (
            (targets != IGNORED).sum().clamp(min=1)
        )  # a batch of empty texts has no target, and no loss
        return Outputs(
            {
                "task": F.cross_entropy(
                    logits.flatten(0, 1), targets, ignore_index=IGNORED, reduction="sum"
                )
                / count
            },
            logits,
        )

    def decode(
        self, logits: Sequence[np.ndarray], features: Features, labels: Sequence[str]
    ) -> list[Prediction]:
        tags = bio_tags(labels)
        begin = np.searchsorted(features.owner, np.arange(len(features.documents)))
        return [
            decoding.tagged(
                document.text,
                features.words[number],
                word_scores(logits, begin[number], features.alignments[number], len(tags)),
                tags,
            )
            for number, document in enumerate(features.documents)
        ]


def _aim(
    targets: Sequence[np.ndarray],
    where: Alignment,
    word: int,
    first: int,
    rest: int,
    everywhere: bool,
) -> None:
    """Set the target of a word's first subword, and of its others where all are learned."""
    window = where.window[word]
    if window < 0:
        return
    start, end = where.first[word], where.end[word]
    if targets[window][start] == IGNORED:  # one subword may serve two words: the first decides
        targets[window][start] = first
    if everywhere:
        inner = targets[window][start + 1 : end]
        inner[inner == IGNORED] = rest
