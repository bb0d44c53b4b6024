"""Semantic roles: BIO tags of the arguments of each predicate, which is marked in its text.

Of overlapping arguments of a predicate the longest is learned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from torch import Tensor, nn

from workbench.models.base import Encoder
from workbench.runtime import arguments
from workbench.runtime.inputs import Prepared
from workbench.tasks.base import IGNORED, Loss, Model, Targets, Task
from workbench.tasks.heads.layers import head_width
from workbench.tasks.heads.linear import TokenHead
from workbench.tasks.losses.balance import TargetCounts
from workbench.tasks.relations.info import RelationGold
from workbench.tasks.roles.info import INFO, READ_BY, RolesInfo
from workbench.tasks.spec import TaskInfo
from workbench.text import alignment
from workbench.text.spans import Span


class SemanticRoles(Task):
    info: TaskInfo = INFO
    loss_targets = {"task": "tags"}

    def head(
        self, encoder: Encoder, labels: Sequence[str], options: Mapping[str, Any]
    ) -> nn.Module:
        return TokenHead(head_width(encoder, options), len(self.info.output_names(labels)))

    def targets(
        self,
        prepared: Prepared,
        golds: Sequence[RelationGold],
        labels: Sequence[str],
        options: Mapping[str, Any],
    ) -> dict[str, list[np.ndarray]]:
        """tags: int64 (T,) per predicate, IGNORED except at the first subwords of words."""
        info: RolesInfo = INFO.reading(options)
        number = {tag: at for at, tag in enumerate(info.output_names(labels))}
        tags = [np.full(len(encoded), IGNORED, np.int64) for encoded in prepared.inputs]
        for document, gold in zip(range(len(golds)), golds, strict=True):
            text = prepared.documents[document]
            spans = arguments.predicates(text, info.predicates)
            parts = arguments.parts(text, info.predicates, info.context)
            for predicate, part, item in zip(spans, parts, prepared.of(document), strict=False):
                roles = [
                    Span(relation.to_span.start, relation.to_span.end, relation.label)
                    for relation in gold.relations
                    if (relation.from_span.start, relation.from_span.end)
                    == (predicate.start, predicate.end)
                ]
                at = arguments.positions(prepared.inputs[item], part)
                for place, tag in zip(at, alignment.tags(part.sources, roles)[0], strict=True):
                    if place >= 0 and tags[item][place] == IGNORED:
                        tags[item][place] = number[tag]
        return {"tags": tags}

    def losses(
        self, model: Model, logits: Mapping[str, Tensor], targets: Mapping[str, Tensor]
    ) -> dict[str, Loss]:
        """ "logits" (B, T, L), "tags" (B, T), IGNORED for none."""
        scores, tags = logits["logits"].flatten(0, 1), targets["tags"].flatten()  # (B * T, …)
        return {"task": self.criterion.classes(scores, tags)}

    def target_counts(
        self, targets: Targets, labels: Sequence[str], options: Mapping[str, Any]
    ) -> TargetCounts:
        """Words of each role."""
        label_of = [-1, *(at for at in range(len(labels)) for _prefix in "BI")]
        return TargetCounts.of_rows(labels, targets["tags"], label_of)

    def decoder(self, model: Model, options: Mapping[str, Any]) -> dict[str, Any]:
        return {name: options[name] for name in READ_BY if name in options}
