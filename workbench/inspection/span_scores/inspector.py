"""The scores of all spans of words that a span classifier considers: the heavy part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.inspection.span_scores.info import (
    INFO,
    PAGE_WORDS,
    CandidateWord,
    ScoredSpan,
    SpanScoreTable,
)
from workbench.inspection.subject import Subject
from workbench.runtime import candidates, decoding
from workbench.text.document import Document
from workbench.text.spans import ANY


class SpanScoresInspector:
    """For tasks whose decoder is a `runtime.candidates.SpanScorer`."""

    info = INFO

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> SpanScoreTable:
        """Raises WorkbenchError for a part that does not exist."""
        (document,) = documents
        passed, decoder = subject.predicted(document), subject.predictor.decoder
        scorer = candidates.SpanScorer.from_json(decoder["scorer"], len(subject.labels))
        prepared = passed.prepared
        present, states = candidates.boundaries(
            passed.logits, prepared.first(0), prepared.alignments[0]
        )
        offsets = [prepared.words[0][word] for word in present]
        parts = max(1, -(-len(offsets) // PAGE_WORDS))
        if (part := options["part"]) > parts:
            message = _("There is no part {number}: the last is {last}.")
            raise WorkbenchError(message.format(number=part, last=parts))
        begin, stop = (part - 1) * PAGE_WORDS, min(part * PAGE_WORDS, len(offsets))
        reach = slice(begin, stop + scorer.longest - 1)  # the words of the spans of this part
        empty = np.zeros((0, scorer.longest, len(subject.labels)))
        blocks = (block for _at, block in scorer.blocks(states[reach]))
        scores = np.concatenate([empty, *blocks])[: stop - begin]
        temperature = subject.temperature
        none = _tempered(1 - scores.sum(-1), temperature) if scorer.none else None
        scores = _tempered(scores, temperature)
        labelled, _covered = candidates.decode(scorer, states[reach], ANY)
        first = {start for start, _end in offsets[begin:stop]}
        spans = tuple(span for span in passed.prediction.spans if span.start in first)
        words = tuple(
            CandidateWord(document.text[start:end], start, end) for start, end in offsets[reach]
        )
        return SpanScoreTable(
            tuple(_best(document.text, words, scores, subject.labels, options["top"])),
            words,
            scores.astype(np.float32),
            subject.labels,
            scorer.none,
            spans,
            sum(candidate.first < stop - begin for candidate in labelled) - len(spans),
            part,
            parts,
            passed.prediction.cut,
            temperature,
            None if none is None else none.astype(np.float32),
        )


def _tempered(scores: np.ndarray, temperature: float) -> np.ndarray:
    """As those of predictions. 0 beyond the last word stays 0."""
    tempered: np.ndarray = np.where(scores > 0, decoding.tempered_scores(scores, temperature), 0.0)
    return tempered


def _best(
    text: str,
    words: Sequence[CandidateWord],
    scores: np.ndarray,
    labels: Sequence[str],
    top: int,
) -> Iterator[ScoredSpan]:
    """The `top` spans of scores (P, W, L) with the highest probability of a label."""
    highest = scores.max(-1)
    for at in np.argsort(-highest, axis=None, kind="stable")[:top]:
        first, width = map(int, np.unravel_index(at, highest.shape))
        if first + width < len(words):
            part = text[words[first].start : words[first + width].end]
            label = labels[int(scores[first, width].argmax())]
            yield ScoredSpan(part, first, first + width, label, float(highest[first, width]))
