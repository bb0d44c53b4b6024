"""Masked words of a text and what a masked language model expects there: the heavy part."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from workbench.base.errors import ModelError, WorkbenchError
from workbench.base.i18n import _
from workbench.inspection.base import entropy_bits, token_rows, words_of
from workbench.inspection.masked_words.info import (
    INFO,
    MaskedPosition,
    MaskedWords,
    read_words,
)
from workbench.inspection.spec import TokenRow, WordRow
from workbench.inspection.subject import Subject
from workbench.models.base import Encoder, LoadOptions
from workbench.models.generate import LanguageModel
from workbench.models.loading import family_of
from workbench.runtime.inputs import EncodedInput, batches_by_length, stack
from workbench.text.document import TEXT, TEXT_B, Document

BUDGET = 12_000  # tokens that are processed to score a text, about a second
BATCH_TOKENS = 2048
PAIRS = "pretraining"  # the head of masked words and next sentences


@dataclass(frozen=True)
class _Text:
    """A text as the model reads it: `tokens` are positions of its words' tokens, by word."""

    piece: EncodedInput
    words: tuple[WordRow, ...]
    rows: Sequence[TokenRow]
    tokens: Mapping[int, tuple[int, ...]]
    bits: tuple[float, ...]
    scored: int
    cut: bool


class MaskedWordsInspector:
    """Scores the text once; then each choice of masked words takes one forward pass."""

    info = INFO

    def __init__(self) -> None:
        self._text: tuple[object, _Text] | None = None
        self._pairs: Encoder | None = None
        self._looked = False

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> MaskedWords:
        """Raises WorkbenchError for a word that does not exist."""
        (document,) = documents
        text = self._read(subject, document)
        chosen = read_words(options["words"])
        if chosen and chosen[-1] >= len(text.words):
            message = _("There is no word {number}: the text has {count}, counted from 0.")
            raise WorkbenchError(message.format(number=chosen[-1], count=len(text.words)))
        positions = _expected(subject.language_model, text, chosen, options["top"])
        encoder = self._pair_encoder(subject)
        second, follows = options["second"].strip(), None
        if second and encoder is not None:
            follows = _follows(encoder, document.texts[0][1], second)
        return MaskedWords(
            text.words, positions, text.bits, text.scored, encoder is not None, follows, text.cut
        )

    def _read(self, subject: Subject, document: Document) -> _Text:
        key = (id(subject), document.texts, dict(document.tokens))
        if self._text is None or self._text[0] != key:
            self._text = key, _read(subject.language_model, document)
        return self._text[1]

    def _pair_encoder(self, subject: Subject) -> Encoder | None:
        """The model with its head for pairs, loaded once; None if its weights have none."""
        family = family_of(subject.info)
        if not self._looked and PAIRS in family.heads(subject.info):
            try:
                encoder = family.load(subject.info, LoadOptions(head=PAIRS))
                self._pairs = encoder.to(subject.encoder.device).eval()
            except ModelError:
                pass  # the weights have no head for pairs
        self._looked = True
        return self._pairs


def _read(model: LanguageModel, document: Document) -> _Text:
    texts = tuple(content for _name, content in document.texts[:1])
    piece, cut = next(iter(model.tokenizer.whole([texts], model.max_length)))
    words = words_of(document, 1)
    rows = token_rows(piece, document, words, model.encoder.preparer)
    tokens: dict[int, tuple[int, ...]] = {}
    for at, row in enumerate(rows):
        if row.word is not None:
            tokens[row.word] = (*tokens.get(row.word, ()), at)
    room, scored = max(8, BUDGET // max(1, len(piece))), 0
    chosen: list[int] = []
    for word in range(len(words)):
        if word in tokens and scored + len(tokens[word]) > room:
            break
        chosen.append(word)
        scored += len(tokens.get(word, ()))
    own = _own_bits(model, piece, [at for word in chosen for at in tokens.get(word, ())])
    bits = tuple(sum(own[at] for at in tokens.get(word, ())) for word in chosen)
    return _Text(piece, words, rows, tokens, bits, scored, bool(cut))


def _own_bits(
    model: LanguageModel, piece: EncodedInput, positions: Sequence[int]
) -> dict[int, float]:
    """position → -log2 P(token | all others), each token masked alone."""
    found: dict[int, float] = {}
    ids = piece.ids.tolist()
    for chosen in batches_by_length(np.full(len(positions), len(ids)), BATCH_TOKENS):
        batch = [positions[number] for number in chosen]
        rows = [[*ids[:at], model.mask, *ids[at + 1 :]] for at in batch]
        logs = model.logits(rows, [[at] for at in batch])[:, 0].float().log_softmax(-1)  # (B, V)
        for number, at in enumerate(batch):
            found[at] = -float(logs[number, ids[at]]) / math.log(2)
    return found


def _expected(
    model: LanguageModel, text: _Text, chosen: Sequence[int], top: int
) -> tuple[MaskedPosition, ...]:
    """What the model expects at the tokens of the chosen words, all of them masked at once."""
    places = [(word, at) for word in chosen for at in text.tokens.get(word, ())]
    if not places:
        return ()
    ids = text.piece.ids.tolist()
    hidden = {at for _word, at in places}
    row = [model.mask if at in hidden else id for at, id in enumerate(ids)]
    scores = model.logits([row], [[at for _word, at in places]])[0].float().softmax(-1)  # (K, V)
    values, best = scores.topk(min(top, scores.shape[-1]), dim=-1)
    found = []
    for number, (word, at) in enumerate(places):
        own = float(scores[number, ids[at]])
        pieces = [model.tokenizer.piece(item) for item in best[number].tolist()]
        found.append(
            MaskedPosition(
                word,
                text.rows[at].shown,
                own,
                int((scores[number] > own).sum()) + 1,
                entropy_bits(scores[number].cpu().numpy()),
                tuple(zip(pieces, values[number].tolist(), strict=True)),
            )
        )
    return tuple(found)


def _follows(encoder: Encoder, first: str, second: str) -> float:
    """The probability that the second sentence follows the first, in [0, 1].

    Source: Devlin et al. 2019, section 3.1, task 2.
    """
    pair = Document("", ((TEXT, first), (TEXT_B, second)))
    (piece,) = encoder.preparer.whole([pair], encoder.max_length).inputs
    arrays = stack([piece], encoder.input_names, encoder.preparer.fill)
    inputs = {name: torch.from_numpy(array).to(encoder.device) for name, array in arrays.items()}
    with torch.inference_mode():
        _words, logits = encoder.pair_logits_at(
            inputs, torch.zeros((1, 1), dtype=torch.long, device=encoder.device)
        )
    return float(logits[0].float().softmax(-1)[0])
