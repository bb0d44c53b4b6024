"""What a pretrained language model expects at each position: masked, with that subword hidden; causal, the next one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from workbench.inspection.base import shown, token_rows, words_of
from workbench.inspection.spec import TokenOptions
from workbench.models.generate import MASKED, LanguageModel, batches
from workbench.runtime.inputs import EncodedInput
from workbench.text.document import Document
from workbench.text.fields import VocabularyScores

BUDGET = (
    12_000  # subwords that one answer of a masked model may run, so that it takes a second or two
)
BATCH_TOKENS = 2048


class VocabularyInspector:
    """The best words at each position, with the probability of what stands there.

    A masked model needs one pass for each position, so of a long text only as many positions as fit BUDGET are answered,
    from `options.start` on.
    """

    needs = (VocabularyScores,)
    Options = TokenOptions

    def run(
        self, subject: LanguageModel, documents: Sequence[Document], options: TokenOptions
    ) -> list[dict]:
        return [self._one(subject, one, options) for one in documents]

    def _one(self, subject: LanguageModel, document: Document, options: TokenOptions) -> dict:
        texts = tuple(content for _, content in document.texts[:1])
        piece, cut = next(iter(subject.tokenizer.whole([texts], subject.max_length)))
        words = words_of(document, 1)
        rows = token_rows(piece, document, words, subject.tokenizer)
        text = np.flatnonzero(piece.text >= 0)
        if subject.kind == MASKED:
            room = max(8, BUDGET // max(1, len(piece.ids)))
            asked = text[options.start : options.start + room].tolist()
            answers = _masked(subject, piece, asked, options.top)
        else:
            asked = text[options.start :].tolist()
            answers = _causal(subject, piece, asked, options.top)
        for position, (found, own) in answers.items():
            rows[position] = replace(rows[position], best=found, own=own)
        return {
            "tokens": rows,
            "words": words,
            "first": options.start,
            "answered": len(asked),
            "cut": cut,
        }


Found = dict[int, tuple[tuple[tuple[str, float], ...], float | None]]


def _masked(subject: LanguageModel, piece: EncodedInput, asked: Sequence[int], top: int) -> Found:
    """position → (best words, probability of the subword itself) with that one position hidden."""
    found: Found = {}
    for batch in batches(list(asked), lambda _: len(piece.ids), BATCH_TOKENS):
        rows = [
            [
                subject.mask if place == hidden else one
                for place, one in enumerate(piece.ids.tolist())
            ]
            for hidden in batch
        ]
        scores = subject.logits(rows, [[hidden] for hidden in batch])[:, 0].softmax(-1)  # (B, V)
        values, ids = scores.topk(top, dim=-1)
        for number, hidden in enumerate(batch):
            words = [subject.tokenizer.piece(one) for one in ids[number].tolist()]
            own = float(scores[number, int(piece.ids[hidden])])
            found[hidden] = tuple(zip(words, values[number].tolist(), strict=True)), own
    return found


def _causal(subject: LanguageModel, piece: EncodedInput, asked: Sequence[int], top: int) -> Found:
    """position → (best next subwords, probability of the one that does come next; None at the end)."""
    if not len(asked):
        return {}
    scores = subject.logits([piece.ids.tolist()], [list(asked)])[0].softmax(-1)  # (K, V)
    values, ids = scores.topk(top, dim=-1)
    found: Found = {}
    for number, position in enumerate(asked):
        words = [_word(subject, one) for one in ids[number].tolist()]
        following = (
            int(piece.ids[position + 1])
            if position + 1 < len(piece.ids) and piece.text[position + 1] >= 0
            else None
        )
        own = float(scores[number, following]) if following is not None else None
        found[position] = tuple(zip(words, values[number].tolist(), strict=True)), own
    return found


def _word(subject: LanguageModel, id: int) -> str:
    return shown(subject.tokenizer.piece(id), "")
