"""Span classification: a label, or none, for every span of words up to a maximum length.

Words are the imported tokens of a document, else those of text.segment. A start is read at the
first subword of the first word, an end at the last subword of the last word. Long texts are
processed in overlapping windows; training takes the spans whose words have the most context in the
same window.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from workbench.base.i18n import _
from workbench.models.base import Encoder
from workbench.runtime.inputs import Prepared
from workbench.tasks.base import IGNORED, Loss, Model, Targets, Task, usual_count
from workbench.tasks.heads.info import SpanGold
from workbench.tasks.heads.layers import head_width
from workbench.tasks.heads.spans.head import SpanHead
from workbench.tasks.losses.balance import TargetCounts
from workbench.tasks.spans.info import (
    BOUNDARIES,
    FFNN,
    INFO,
    LOSS,
    MAX_SPAN_WORDS,
    OVERLAP,
    SOFTMAX,
    SUMMARY,
)
from workbench.tasks.spec import TaskInfo
from workbench.text.alignment import token_range


class SpanClassification(Task):
    info: TaskInfo = INFO
    loss_targets = {"task": "firsts"}

    def head(
        self, encoder: Encoder, labels: Sequence[str], options: Mapping[str, Any]
    ) -> nn.Module:
        return SpanHead(
            head_width(encoder, options),
            len(labels),
            none=options.get(LOSS.name, LOSS.default) == SOFTMAX,
            longest=_longest(options),
            deep=options.get(BOUNDARIES.name) == FFNN,
            summary=bool(options.get(SUMMARY.name)),
        )

    def targets(
        self,
        prepared: Prepared,
        golds: Sequence[SpanGold],
        labels: Sequence[str],
        options: Mapping[str, Any],
    ) -> dict[str, list[np.ndarray]]:
        """firsts, lasts: int64 (P,) per window, the first and the last subword of its words.

        spans: int64 (K, 3) per window: first word of those, further words, label number.
        """
        count = len(prepared.inputs)
        firsts, lasts = ([np.zeros(0, np.int64)] * count for _ in range(2))
        spans = [np.zeros((0, 3), np.int64)] * count
        number = {label: at for at, label in enumerate(labels)}
        for document, gold in enumerate(golds):
            begin, where = prepared.first(document), prepared.alignments[document]
            for window in np.unique(where.window[where.window >= 0]):
                words = np.flatnonzero(where.window == window)
                firsts[begin + window] = where.first[words]
                lasts[begin + window] = where.end[words] - 1
            candidates = _spans(prepared.words[document], where.window, gold, _longest(options))
            for window, first, further, label in candidates:
                row = np.array([[first, further, number[label]]], np.int64)
                spans[begin + window] = np.concatenate([spans[begin + window], row])
        return {"firsts": firsts, "lasts": lasts, "spans": spans}

    def notes(
        self, targets: Mapping[str, np.ndarray], labels: Sequence[str], pieces: Sequence[str]
    ) -> dict[str, str]:
        firsts, lasts = targets["firsts"], targets["lasts"]
        spans = [
            f"{labels[label]}: {' '.join(pieces[firsts[first] : lasts[first + further] + 1])}"
            for first, further, label in targets["spans"].tolist()
        ]
        return {"spans": "; ".join(spans) or _("none")}

    def losses(
        self, model: Model, logits: Mapping[str, Tensor], targets: Mapping[str, Tensor]
    ) -> dict[str, Loss]:
        """The loss summed over all candidates; it counts words, as that of tags does.

        logits: as `SpanHead.forward` gives them; "firsts" and "lasts" (B, W), subwords of words.
        """
        head = cast(SpanHead, model.head)
        firsts, lasts = targets["firsts"], targets["lasts"]
        words = (firsts != IGNORED).sum(1)  # (B,)
        if not firsts.shape[1]:
            return {"task": Loss(logits["starts"].sum() * 0, words.sum())}
        scores = head.scores(logits, firsts, lasts)
        valid, rows = _candidates(words, scores), _rows(targets["spans"])
        if head.none:
            classes = torch.zeros(scores.shape[:3], dtype=torch.long, device=scores.device)
            classes[rows[:3]] = rows[3] + 1  # of several labels of the same words, one is kept
            loss = self.criterion.classes(scores[valid], classes[valid])
        else:
            truth = torch.zeros_like(scores)
            truth[rows] = 1
            loss = self.criterion.labels(scores[valid], truth[valid])
        return {"task": Loss(loss.total, words.sum())}

    def usual_counts(self, targets: Targets, batch_size: int) -> dict[str, float | None]:
        """Words have no weights: those of labels only change the sum."""
        return {"task": usual_count(targets["firsts"], batch_size)}

    def target_counts(
        self, targets: Targets, labels: Sequence[str], options: Mapping[str, Any]
    ) -> TargetCounts:
        """Gold spans of each label; candidates without a label have weight 1."""
        rows = [spans[:, 2] for spans in targets["spans"]]
        counts = TargetCounts.of_rows(labels, rows)
        is_softmax = options.get(LOSS.name, LOSS.default) == SOFTMAX
        return replace(counts, label_of=(-1, *range(len(labels)))) if is_softmax else counts

    def decoder(self, model: Model, options: Mapping[str, Any]) -> dict[str, Any]:
        head = cast(SpanHead, model.head)
        return {
            "scorer": head.scorer().to_json(),
            "overlap": options.get(OVERLAP.name, OVERLAP.default),
        }


def _longest(options: Mapping[str, Any]) -> int:
    return int(options.get(MAX_SPAN_WORDS.name, MAX_SPAN_WORDS.default))


def _spans(
    offsets: Sequence[tuple[int, int]], windows: np.ndarray, gold: SpanGold, longest: int
) -> Iterator[tuple[int, int, int, str]]:
    """(window, first word among its own, further words, label) of the spans that are learned.

    windows int (W,): of each word of the text, -1 without a subword. Left out are spans of more
    than `longest` words and those over two windows.
    """
    place = np.zeros(len(windows), np.int64)  # of each word among those of its window
    for window in np.unique(windows):
        here = np.flatnonzero(windows == window)
        place[here] = np.arange(len(here))
    for span in gold.spans:
        first, end = token_range(offsets, span.start, span.end) or (0, 0)
        words = [word for word in range(first, end) if windows[word] >= 0]
        if not words or windows[words[0]] != windows[words[-1]]:
            continue
        further = int(place[words[-1]] - place[words[0]])
        if further < longest:
            yield int(windows[words[0]]), int(place[words[0]]), further, span.label


def _candidates(words: Tensor, scores: Tensor) -> Tensor:
    """bool (B, P, W): where the span [b, i, w] lies within the `words` (B,) of its window."""
    first = torch.arange(scores.shape[1], device=scores.device)[:, None]
    last = first + torch.arange(scores.shape[2], device=scores.device)
    return last < words[:, None, None]


def _rows(spans: Tensor) -> tuple[Tensor, ...]:
    """spans (B, K, 3), padded → (batch, first, further, label), each (N,)."""
    batch, column = (spans[..., 0] != IGNORED).nonzero(as_tuple=True)
    first, further, label = spans[batch, column].unbind(-1)
    return batch, first, further, label
