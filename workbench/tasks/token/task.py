"""Token classification, with the library's token classification head.

Tokens are the imported ones, else those of text.segment. Long texts are processed in overlapping
windows; a token is trained and predicted at its first subword, in the window with the most context.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from torch import Tensor, nn

from workbench.models.base import Encoder
from workbench.runtime.inputs import Prepared
from workbench.tasks.base import IGNORED, Loss, Model, Targets, Task
from workbench.tasks.heads.info import SpanGold
from workbench.tasks.heads.layers import head_width
from workbench.tasks.heads.linear import TokenHead
from workbench.tasks.losses.balance import TargetCounts
from workbench.tasks.spec import TaskInfo
from workbench.tasks.token.info import INFO


class TokenTags(Task):
    info: TaskInfo = INFO
    native = "token"
    loss_targets = {"task": "tags"}

    def head(
        self, encoder: Encoder, labels: Sequence[str], options: Mapping[str, Any]
    ) -> nn.Module:
        return TokenHead(head_width(encoder, options), len(labels))

    def targets(
        self,
        prepared: Prepared,
        golds: Sequence[SpanGold],
        labels: Sequence[str],
        options: Mapping[str, Any],
    ) -> dict[str, list[np.ndarray]]:
        """tags: int64 (T,) per window, IGNORED except at the first subwords of tagged tokens.

        Raises KeyError for a tag that is not in `labels`.
        """
        number = {label: position for position, label in enumerate(labels)}
        window_tags = [np.full(len(window), IGNORED, dtype=np.int64) for window in prepared.inputs]
        for document, gold in enumerate(golds):
            tags = {(tag.start, tag.end): number[tag.label] for tag in gold.spans}
            first, where = prepared.first(document), prepared.alignments[document]
            for word, place in enumerate(prepared.words[document]):
                if place in tags and where.window[word] >= 0:
                    window = window_tags[first + where.window[word]]
                    if window[where.first[word]] == IGNORED:  # two words may share a subword
                        window[where.first[word]] = tags[place]
        return {"tags": window_tags}

    def losses(
        self, model: Model, logits: Mapping[str, Tensor], targets: Mapping[str, Tensor]
    ) -> dict[str, Loss]:
        """ "logits" (B, T, L), "tags" (B, T), IGNORED beside the subwords that have a tag."""
        scores, tags = logits["logits"].flatten(0, 1), targets["tags"].flatten()  # (B * T, …)
        return {"task": self.criterion.classes(scores, tags)}

    def target_counts(
        self, targets: Targets, labels: Sequence[str], options: Mapping[str, Any]
    ) -> TargetCounts:
        """Tokens of each tag."""
        return TargetCounts.of_rows(labels, targets["tags"])
