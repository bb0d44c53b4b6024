"""The words that a language model predicts at every position: the heavy part.

Masked models: with that token masked. Causal models: the next one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.inspection.base import piece_text, token_rows, words_of
from workbench.inspection.continuing import direction, directions
from workbench.inspection.spec import PREVIOUS
from workbench.inspection.subject import Subject
from workbench.inspection.vocabulary.info import BUDGET, INFO, ExpectedWords
from workbench.models.base import Encoder
from workbench.models.generate import MASKED, LanguageModel
from workbench.runtime.inputs import EncodedInput, batches_by_length, stack
from workbench.text.document import Document

BATCH_TOKENS = 2048
MIN_POSITIONS = 2  # positions per request, however long the text is
ExpectedTokens = dict[int, tuple[tuple[tuple[str, float], ...], float | None]]


class VocabularyInspector:
    """The best words at each position, with the probability of the actual token.

    A masked model needs one pass for each position, so of a long text only as many positions as
    fit BUDGET are processed, starting with the option `start`.
    """

    info = INFO

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> ExpectedWords:
        """Raises WorkbenchError for a `start` after the last token, and SpecError for a direction
        that the model does not have.
        """
        (document,) = documents
        if not subject.scores_subwords:
            return _of_units(subject, document, options)
        direction(options["direction"], directions(subject.info.gives), subject.info.name)
        model = subject.language_model
        start, top = options["start"], options["top"]
        texts = tuple(content for _name, content in document.texts[:1])
        piece, cut = next(iter(model.tokenizer.whole([texts], model.max_length)))
        words = words_of(document, 1)
        rows = token_rows(piece, document, words, subject.preparer)
        text = np.flatnonzero(piece.text >= 0)
        masked = model.kind == MASKED
        room = _room(len(piece), options["part"]) if masked else len(text)
        if start and start >= len(text):
            message = _("There is no token {number}: the last of the text is {last}.")
            raise WorkbenchError(message.format(number=start, last=len(text) - 1))
        positions = text[start : start + room].tolist()
        answers = (_masked if masked else _causal)(model, piece, positions, top)
        for position, (best, own) in answers.items():
            rows[position] = replace(rows[position], best=best, own=own)
        return ExpectedWords(tuple(rows), words, cut, masked, start, len(positions))


def _room(length: int, part: int) -> int:
    """The number of positions of a masked model in one request."""
    if part:
        return max(MIN_POSITIONS, part // max(1, length))
    return max(8, BUDGET // max(1, length))


def _masked(
    model: LanguageModel, piece: EncodedInput, positions: Sequence[int], top: int
) -> ExpectedTokens:
    """position → (best words, probability of the token itself) with only that position masked."""
    expected: ExpectedTokens = {}
    ids = piece.ids.tolist()
    for chosen in batches_by_length(np.full(len(positions), len(ids)), BATCH_TOKENS):
        batch = [positions[number] for number in chosen]
        rows = [[*ids[:hidden], model.mask, *ids[hidden + 1 :]] for hidden in batch]
        scores = model.logits(rows, [[hidden] for hidden in batch])[:, 0].softmax(-1)  # (B, V)
        values, best = scores.topk(top, dim=-1)
        for number, hidden in enumerate(batch):
            words = [model.tokenizer.piece(item) for item in best[number].tolist()]
            own = float(scores[number, ids[hidden]])
            expected[hidden] = tuple(zip(words, values[number].tolist(), strict=True)), own
    return expected


def _causal(
    model: LanguageModel, piece: EncodedInput, positions: Sequence[int], top: int
) -> ExpectedTokens:
    """position → (best next tokens, probability of the actual next token; None at the end)."""
    if not len(positions):
        return {}
    scores = model.logits([piece.ids.tolist()], [list(positions)])[0].softmax(-1)  # (K, V)
    values, ids = scores.topk(top, dim=-1)
    expected: ExpectedTokens = {}
    for number, position in enumerate(positions):
        words = [piece_text(model.tokenizer.piece(item), "") for item in ids[number].tolist()]
        after = position + 1
        is_text = after < len(piece) and piece.text[after] >= 0
        own = float(scores[number, int(piece.ids[after])]) if is_text else None
        expected[position] = tuple(zip(words, values[number].tolist(), strict=True)), own
    return expected


def _of_units(subject: Subject, document: Document, options: Mapping[str, Any]) -> ExpectedWords:
    """Predictions of the next or previous unit by a language model of words or characters."""
    encoder = subject.encoder
    ways = directions(subject.info.gives)
    encoder.head = direction(options["direction"], ways, subject.info.name)
    backward = encoder.head == PREVIOUS
    prepared = encoder.preparer.whole([document], subject.max_length)
    (encoded,), words = prepared.inputs, words_of(document, 1)
    rows = token_rows(encoded, document, words, encoder.preparer)
    positions = np.flatnonzero(encoded.text >= 0)
    if len(positions):
        ids, text = encoder.vocable_ids(encoded), encoded.text
        scores = _unit_scores(encoder, encoded, positions)
        values, best = scores.topk(min(options["top"], scores.shape[-1]), dim=-1)
        for number, position in enumerate(positions.tolist()):
            names = map(encoder.vocable, best[number].tolist())
            pairs = zip(names, values[number].tolist(), strict=True)
            other = position - 1 if backward else position + 1
            is_known = 0 <= other < len(text) and text[other] >= 0 and ids[other] >= 0
            own = float(scores[number, int(ids[other])]) if is_known else None
            rows[position] = replace(rows[position], best=tuple(pairs), own=own)
    cut = bool(prepared.cut[0])
    return ExpectedWords(tuple(rows), words, cut, False, 0, len(positions), backward)


def _unit_scores(encoder: Encoder, encoded: EncodedInput, positions: np.ndarray) -> Tensor:
    """Probabilities (K, V) of the output vocabulary at positions (K,)."""
    arrays = stack([encoded], encoder.input_names, encoder.preparer.fill)
    inputs = {name: torch.from_numpy(array).to(encoder.device) for name, array in arrays.items()}
    with torch.inference_mode():
        where = torch.from_numpy(positions)[None].to(encoder.device)
        return encoder.logits_at(inputs, where)[0].float().softmax(-1).cpu()
