"""Span tagging with BIO, with the library's token classification head or a CRF.

Words are the imported tokens of a document, else those of text.segment. Long texts are processed in
overlapping windows; each word is trained and predicted in the window with the most context for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from torch import Tensor, nn

from workbench.models.base import Encoder
from workbench.models.crf import Crf
from workbench.runtime import decoding
from workbench.runtime.decoding import Alignment
from workbench.runtime.inputs import Prepared
from workbench.tasks.base import IGNORED, Loss, Model, Targets, Task
from workbench.tasks.heads.crf import CrfHead
from workbench.tasks.heads.info import SpanGold
from workbench.tasks.heads.layers import head_width
from workbench.tasks.heads.linear import TokenHead
from workbench.tasks.losses.balance import TargetCounts
from workbench.tasks.spec import TaskInfo
from workbench.tasks.tag.info import INFO, OUTSIDE
from workbench.text import alignment


class Tagging(Task):
    info: TaskInfo = INFO
    native = "token"
    loss_targets = {"task": "tags"}

    def natives(self, options: Mapping[str, Any]) -> tuple[str, ...]:
        """The head "token" scores each word independently."""
        return ("crf",) if _is_crf(options) else ("token",)

    def head(
        self, encoder: Encoder, labels: Sequence[str], options: Mapping[str, Any]
    ) -> nn.Module:
        tags, width = self.info.output_names(labels), head_width(encoder, options)
        if not _is_crf(options):
            return TokenHead(width, len(tags))
        return CrfHead(width, len(tags), constraints=decoding.bio_constraints(tags))

    def targets(
        self,
        prepared: Prepared,
        golds: Sequence[SpanGold],
        labels: Sequence[str],
        options: Mapping[str, Any],
    ) -> dict[str, list[np.ndarray]]:
        """tags: int64 (T,) per window, IGNORED except at the trained subwords of words.

        edges, for a CRF: int64 (2,) per window, whether it has the document's first and last word.
        """
        every = options.get("label_subwords", "first") == "all"
        number = {tag: position for position, tag in enumerate(self.info.output_names(labels))}
        tags = [np.full(len(input_), IGNORED, dtype=np.int64) for input_ in prepared.inputs]
        for document, gold in enumerate(golds):
            windows = tags[prepared.first(document) : prepared.first(document + 1)]
            where, words = prepared.alignments[document], prepared.words[document]
            for word, tag in enumerate(alignment.tags(words, gold.spans)[0]):
                inside = number[f"I{tag[1:]}" if tag != "O" else tag]
                set_word(windows, where, word, number[tag], inside if every else None)
        if not _is_crf(options):
            return {"tags": tags}
        edges = [np.zeros(2, dtype=np.int64) for _ in tags]
        for document in range(len(golds)):
            inputs = prepared.of(document)
            set_edges(tags, edges, inputs, self.info.output_names(labels))
        return {"tags": tags, "edges": edges}

    def losses(
        self, model: Model, logits: Mapping[str, Tensor], targets: Mapping[str, Tensor]
    ) -> dict[str, Loss]:
        """ "logits" (B, T, L), "tags" (B, T), IGNORED for none; "edges" (B, 2) with a CRF."""
        if "edges" in targets:
            loss = _crf_of(model).loss(logits["logits"], targets["tags"], targets["edges"])
            return {"task": Loss(*loss)}
        scores, tags = logits["logits"].flatten(0, 1), targets["tags"].flatten()  # (B * T, …)
        return {"task": self.criterion.classes(scores, tags)}

    def target_counts(
        self, targets: Targets, labels: Sequence[str], options: Mapping[str, Any]
    ) -> TargetCounts:
        """Words of each label, whether B- or I-, and outside of all."""
        names = self.info.weighted_labels(labels)
        number = {name: position for position, name in enumerate(labels)}
        tags = self.info.output_names(labels)
        label_of = [len(labels) if tag == OUTSIDE else number[tag[2:]] for tag in tags]
        return TargetCounts.of_rows(names, targets["tags"], label_of)

    def decoder(self, model: Model, options: Mapping[str, Any]) -> dict[str, Any]:
        chosen = {"decoder": options.get("decoder", "bio")}
        return (
            {**chosen, "transitions": _crf_of(model).transitions()} if _is_crf(options) else chosen
        )


def _crf_of(model: Model) -> Crf:
    """The CRF of our own head, else that of the library's head."""
    return cast(Crf, model.encoder.crf if model.head is None else model.head)


def _is_crf(options: Mapping[str, Any]) -> bool:
    return options.get("decoder") == "crf"


def set_edges(
    tags: Sequence[np.ndarray], edges: Sequence[np.ndarray], inputs: range, names: Sequence[str]
) -> None:
    """Mark the windows with the first and last word of a document, and make its tags valid.

    tags: (T,) of each window, edges: (2,) of each, 1 at the first and at the last. A word without a
    subword has no tag, so the I- after it may lack a preceding tag.
    """
    places = [(number, np.flatnonzero(tags[number] != IGNORED)) for number in inputs]
    learned = [(number, positions) for number, positions in places if len(positions)]
    if not learned:
        return
    edges[learned[0][0]][0] = edges[learned[-1][0]][1] = 1
    before = None
    for number, positions in learned:
        tags[number][positions] = decoding.begun(tags[number][positions], names, before=before)
        before = names[tags[number][positions[-1]]]


def set_word(
    windows: Sequence[np.ndarray], where: Alignment, word: int, first: int, rest: int | None
) -> None:
    """Set the target of a word's first subword, and of its others unless `rest` is None.

    windows: targets (T,) of each window.
    """
    window = where.window[word]
    if window < 0:
        return
    start, end = where.first[word], where.end[word]
    if windows[window][start] == IGNORED:  # if two words share a subword, the first one counts
        windows[window][start] = first
    if rest is not None:
        others = windows[window][start + 1 : end]
        others[others == IGNORED] = rest
