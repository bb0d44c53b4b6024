"""Relations: a label, or none, for every ordered pair of spans up to a distance.

The spans are those of the layer that the relation layer connects, or were predicted by another run.
A label without a direction is learned in both orders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from workbench.base.i18n import _
from workbench.models.base import Encoder, States
from workbench.runtime import pairs
from workbench.runtime.inputs import Prepared
from workbench.tasks.base import IGNORED, Features, Loss, Model, Targets, Task, usual_count
from workbench.tasks.heads.layers import head_width
from workbench.tasks.losses.balance import TargetCounts
from workbench.tasks.relations.info import INFO, NONE_PAIRS, READ_BY, READING, RelationGold
from workbench.tasks.spec import TaskInfo
from workbench.text.spans import Span

HIDDEN = 150  # units, as of the head for spans
FASTER = 5.0  # the head is new, the encoder pretrained


class PairHead(nn.Module):
    """The network of `runtime.pairs`, which computes the last layer of predictions.

    roles: P tokens of a pair; outputs: C. With `deep` a hidden layer follows the sum.
    """

    def __init__(self, width: int, outputs: int, *, roles: int, deep: bool, dropout: float = 0.1):
        super().__init__()
        self.roles, self.dropout = roles, nn.Dropout(dropout)
        self.parts = nn.Linear(width, roles * (HIDDEN if deep else outputs))
        self.output = nn.Linear(HIDDEN, outputs) if deep else None
        self.rate_factors = {name: FASTER for name, _ in self.named_parameters()}

    def forward(self, states: States) -> dict[str, Tensor]:
        """ "parts" (B, T, P · D)."""
        return {"parts": self.parts(self.dropout(states.layers[-1]))}

    def scores(self, parts: Tensor, positions: Tensor) -> Tensor:
        """parts (B, T, P · D), positions (N, 1 + P): the input and the tokens → (N, C)."""
        batch, tokens = positions[:, 0], positions[:, 1:]
        table = parts.unflatten(2, (self.roles, -1))  # (B, T, P, D)
        roles = torch.arange(self.roles, device=parts.device)
        sums: Tensor = table[batch[:, None], tokens, roles].sum(1)  # (N, D)
        if self.output is None:
            return sums
        scores: Tensor = self.output(self.dropout(torch.relu(sums)))
        return scores

    def scorer(self) -> pairs.PairScorer:
        """The last layer, for decoding."""
        if self.output is None:
            return pairs.PairScorer()
        arrays = (self.output.weight, self.output.bias)
        return pairs.PairScorer(*(array.detach().float().cpu().numpy() for array in arrays))


class RelationExtraction(Task):
    info: TaskInfo = INFO
    loss_targets = {"task": "pairs"}

    def head(
        self, encoder: Encoder, labels: Sequence[str], options: Mapping[str, Any]
    ) -> nn.Module:
        reading = _reading(options)
        return PairHead(
            head_width(encoder, options),
            1 + len(labels),
            roles=pairs.ROLES[reading],
            deep=reading == pairs.ENCODED,
        )

    def targets(
        self,
        prepared: Prepared,
        golds: Sequence[RelationGold],
        labels: Sequence[str],
        options: Mapping[str, Any],
    ) -> dict[str, list[np.ndarray]]:
        """pairs: int64 (K, P + 1) per input: the tokens of each pair, and its label from 1, 0 for
        no relation. Of several labels of a pair, one is kept.
        """
        info, number = INFO.reading(options), {label: at for at, label in enumerate(labels, 1)}
        rows = [list[tuple[int, ...]]() for _input in prepared.inputs]
        for document, gold in enumerate(golds):
            label_of = _labels(gold, number)
            for pair, item, tokens in pairs.positions(prepared, document, **info.positions_by):
                rows[item].append((*tokens, label_of.get(_place(pair), 0)))
        width = 1 + pairs.ROLES[info.pair_reading]
        return {"pairs": [np.array(some, np.int64).reshape(-1, width) for some in rows]}

    def notes(
        self, targets: Mapping[str, np.ndarray], labels: Sequence[str], pieces: Sequence[str]
    ) -> dict[str, str]:
        names = (_("none"), *labels)
        rows = targets["pairs"].tolist()
        if len(rows) == 1:
            return {"relation": names[rows[0][-1]]}
        related = [
            f"{names[number]}: {_span(pieces, tokens[:2])} → {_span(pieces, tokens[2:])}"
            for *tokens, number in rows
            if number
        ]
        return {"pairs": str(len(rows)), "relations": "; ".join(related) or _("none")}

    def sampled(
        self, features: Features, options: Mapping[str, Any], rng: np.random.Generator
    ) -> Features:
        """The training inputs with as many pairs without a relation as the settings ask for."""
        share = float(options.get(NONE_PAIRS.name, NONE_PAIRS.default))
        rows = features.targets["pairs"]
        classes = np.concatenate([part[:, -1] for part in rows]) if rows else np.zeros(0, int)
        none = np.flatnonzero(classes == 0)
        count = max(1, round(share * int((classes > 0).sum())))
        if not share or len(none) <= count:
            return features
        is_kept = classes > 0
        is_kept[rng.choice(none, count, replace=False)] = True
        ends = np.cumsum([len(part) for part in rows])
        parts = np.split(is_kept, ends[:-1])
        chosen = [part[kept] for part, kept in zip(rows, parts, strict=True)]
        return replace(features, targets={"pairs": chosen}).without_empty("pairs")

    def losses(
        self, model: Model, logits: Mapping[str, Tensor], targets: Mapping[str, Tensor]
    ) -> dict[str, Loss]:
        """ "parts" (B, T, P · D), "pairs" (B, K, P + 1), padded with IGNORED."""
        head, rows = cast(PairHead, model.head), targets["pairs"]
        batch, column = (rows[..., -1] != IGNORED).nonzero(as_tuple=True)
        if not len(batch):
            zero = logits["parts"].sum() * 0
            return {"task": Loss(zero, torch.zeros((), device=zero.device))}
        chosen = rows[batch, column]  # (N, P + 1)
        scores = head.scores(logits["parts"], torch.cat([batch[:, None], chosen[:, :-1]], 1))
        return {"task": self.criterion.classes(scores, chosen[:, -1])}

    def usual_counts(self, targets: Targets, batch_size: int) -> dict[str, float | None]:
        """Pairs of a batch; inputs differ in how many they have."""
        classes = [row[:, -1] for row in targets["pairs"]]
        return {"task": usual_count(classes, batch_size, self.criterion.weights)}

    def target_counts(
        self, targets: Targets, labels: Sequence[str], options: Mapping[str, Any]
    ) -> TargetCounts:
        """Gold relations of each label; pairs without one have weight 1."""
        rows = [row[:, -1][row[:, -1] > 0] - 1 for row in targets["pairs"]]
        return replace(TargetCounts.of_rows(labels, rows), label_of=(-1, *range(len(labels))))

    def decoder(self, model: Model, options: Mapping[str, Any]) -> dict[str, Any]:
        scorer = cast(PairHead, model.head).scorer().to_json()
        return {"scorer": scorer, **{name: options[name] for name in READ_BY if name in options}}


def _reading(options: Mapping[str, Any]) -> str:
    return str(options.get(READING.name) or READING.default)


def _span(pieces: Sequence[str], tokens: Sequence[int]) -> str:
    """The subwords of a span from its first and last token."""
    return " ".join(pieces[tokens[0] : tokens[-1] + 1])


def _place(pair: tuple[Span, Span]) -> tuple[int, ...]:
    first, second = pair
    return first.start, first.end, second.start, second.end


def _labels(gold: RelationGold, number: Mapping[str, int]) -> dict[tuple[int, ...], int]:
    """The label number of each pair of spans, by their offsets."""
    labels: dict[tuple[int, ...], int] = {}
    for relation in gold.relations:
        ends = relation.from_span, relation.to_span
        for pair in (ends,) if relation.directed else (ends, ends[::-1]):
            labels.setdefault(_place(pair), number[relation.label])
    return labels
