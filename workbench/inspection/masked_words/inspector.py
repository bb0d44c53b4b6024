"""Masked words of a text and what a masked language model expects there: the heavy part."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from workbench.base.errors import ModelError, SpecError, WorkbenchError
from workbench.base.i18n import _
from workbench.inspection.base import entropy_bits, token_rows, words_of
from workbench.inspection.masked_words.info import (
    INFO,
    FromBoundary,
    MaskedPosition,
    MaskedWords,
    read_words,
)
from workbench.inspection.spec import TokenRow, WordRow
from workbench.inspection.subject import Subject
from workbench.models import boundary
from workbench.models.base import Encoder, LoadOptions
from workbench.models.boundary import POSITIONS, SpanBoundary
from workbench.models.generate import LanguageModel
from workbench.models.loading import family_of
from workbench.runtime.inputs import EncodedInput, batches_by_length, stack
from workbench.text.document import TEXT, TEXT_B, Document

BUDGET = 12_000  # tokens that are processed to score a text: seconds on one core
BATCH_TOKENS = 2048
MIN_TOKENS = 2  # tokens that are scored per request, however long the text is
TOGETHER = 4  # chosen tokens that are scored in one pass with the text
PAIRS = "pretraining"  # the head of masked words and next sentences


@dataclass(frozen=True)
class _Text:
    """A text as the model reads it: `tokens` are positions of its words' tokens, by word."""

    piece: EncodedInput
    words: tuple[WordRow, ...]
    rows: Sequence[TokenRow]
    tokens: Mapping[int, tuple[int, ...]]
    mask: int
    cut: bool
    bits: tuple[float, ...] = ()
    scored: int = 0
    complete: bool = False

    @property
    def end(self) -> int:
        """The number of words up to the last one that the model reads."""
        return max(self.tokens, default=-1) + 1

    def places(self, words: Sequence[int]) -> list[tuple[int, int]]:
        """(word, position) of the tokens of these words."""
        return [(word, at) for word in words for at in self.tokens.get(word, ())]

    def hidden(self, places: Sequence[tuple[int, int]]) -> list[int]:
        """The ids with the tokens at these places masked."""
        hidden = {at for _word, at in places}
        return [self.mask if at in hidden else id for at, id in enumerate(self.piece.ids.tolist())]


class MaskedWordsInspector:
    """Scores the text once, a long one in parts; then each choice of masked words takes one forward
    pass.
    """

    info = INFO

    def __init__(self) -> None:
        self._text: tuple[object, _Text] | None = None
        self._pairs: Encoder | None = None
        self._looked = False
        self._boundary: SpanBoundary | None = None

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> MaskedWords:
        """Raises WorkbenchError for a word that does not exist, and SpecError for a second sentence
        without a head for pairs.
        """
        (document,) = documents
        chosen = read_words(options["words"])
        text, scores = self._read(subject, document, chosen, options)
        if chosen and chosen[-1] >= len(text.words):
            message = _("There is no word {number}: the text has {count}, counted from 0.")
            raise WorkbenchError(message.format(number=chosen[-1], count=len(text.words)))
        model = subject.language_model
        places = text.places(chosen)
        if places and scores is None:
            scores = model.logits([text.hidden(places)], [[at for _word, at in places]])[0]
        positions = () if scores is None else _expected(model, text, places, scores, options["top"])
        if positions and (head := self._boundary_head(subject)) is not None:
            positions = _with_boundaries(model, head, text, places, positions, options["top"])
        encoder = self._pair_encoder(subject)
        second, follows = options["second"].strip(), None
        if second and encoder is None:
            raise SpecError(
                _(
                    "{model} has no head that predicts whether a sentence follows.",
                    model=subject.info.name,
                ),
                hint=_("Omit the option second."),
            )
        if second and encoder is not None:
            follows = _follows(encoder, document.texts[0][1], second)
        about = encoder is not None, follows, text.cut, text.complete
        rest = text.end - len(text.bits)
        return MaskedWords(text.words, positions, text.bits, text.scored, *about, rest=rest)

    def _read(
        self,
        subject: Subject,
        document: Document,
        chosen: Sequence[int],
        options: Mapping[str, Any],
    ) -> tuple[_Text, Tensor | None]:
        """The text with more words scored, unless all are, and the scores (K, V) at the places of
        the chosen words if they were computed with them.
        """
        key = (id(subject), document.texts, dict(document.tokens))
        known = self._text is not None and self._text[0] == key
        text = self._text[1] if known and self._text else _read(subject.language_model, document)
        scores = None
        if not text.complete or (options["all"] and len(text.bits) < text.end):
            words, complete = _next_words(text, options["part"], whole=options["all"])
            text, scores = _scored_further(subject.language_model, text, chosen, words)
            text = replace(text, complete=complete)
        self._text = key, text
        return text, scores

    def _boundary_head(self, subject: Subject) -> SpanBoundary | None:
        """The head of the span boundary objective, loaded once; None if the model has none."""
        if self._boundary is None and "span_boundary" in subject.gives:
            self._boundary = boundary.loaded(subject.language_model.encoder)
        return self._boundary

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
    """The text, without the bits of its words."""
    texts = tuple(content for _name, content in document.texts[:1])
    piece, cut = next(iter(model.tokenizer.whole([texts], model.max_length)))
    words = words_of(document, 1)
    rows = token_rows(piece, document, words, model.encoder.preparer)
    tokens: dict[int, tuple[int, ...]] = {}
    for at, row in enumerate(rows):
        if row.word is not None:
            tokens[row.word] = (*tokens.get(row.word, ()), at)
    return _Text(piece, words, rows, tokens, model.mask, bool(cut))


def _scored_further(
    model: LanguageModel, text: _Text, chosen: Sequence[int], words: Sequence[int]
) -> tuple[_Text, Tensor | None]:
    """The text with the bits of its next `words`, and the scores (K, V) at the chosen words.

    A few chosen words are scored in the same pass, one row for each; the scores are None otherwise.
    """
    own = [at for _word, at in text.places(words)]
    requests = [(text.hidden([(0, at)]), at) for at in own]
    places = text.places(chosen)
    if len(places) > TOGETHER:
        places = []
    requests += [(text.hidden(places), at) for _word, at in places]
    bits, scores = _scored(model, text.piece, requests, len(own))
    word_bits = tuple(sum(bits[at] for at in text.tokens.get(word, ())) for word in words)
    scored = text.scored + len(own)
    further = replace(text, bits=(*text.bits, *word_bits), scored=scored)
    return further, scores if places else None


def _next_words(text: _Text, part: int, *, whole: bool) -> tuple[list[int], bool]:
    """The words to score next, and whether no others follow unless they are asked for.

    part: tokens that may be processed now, at least those of one word; 0 for all of them. whole:
    score every word, not only those that fit BUDGET.
    """
    length = max(1, len(text.piece))
    room = len(text.piece) if whole else max(8, BUDGET // length)
    now = max(MIN_TOKENS, part // length) if part else room
    next_words: list[int] = []
    scored = 0
    for word in range(len(text.bits), text.end):
        many = len(text.tokens.get(word, ()))
        if many and text.scored + scored + many > room:
            return next_words, True
        if scored and scored + many > now:
            return next_words, text.complete
        next_words.append(word)
        scored += many
    return next_words, True


def _scored(
    model: LanguageModel, piece: EncodedInput, requests: Sequence[tuple[list[int], int]], own: int
) -> tuple[dict[int, float], Tensor]:
    """For the first `own` inputs: position → -log2 P(token | all others); the scores of the rest.

    requests: ids with masks, and the position whose score is computed.
    """
    bits, more, ids = dict[int, float](), list[Tensor](), piece.ids.tolist()
    for chosen in batches_by_length(np.full(len(requests), len(ids)), BATCH_TOKENS):
        batch = [requests[number] for number in chosen]
        scores = model.logits([row for row, _at in batch], [[at] for _row, at in batch])[:, 0]
        logs = scores.float().log_softmax(-1)  # (B, V)
        for turn, (number, (_row, at)) in enumerate(zip(chosen, batch, strict=True)):
            if number < own:
                bits[at] = -float(logs[turn, ids[at]]) / math.log(2)
            else:
                more.append(scores[turn])
    return bits, torch.stack(more) if more else torch.empty(0)


def _expected(
    model: LanguageModel,
    text: _Text,
    places: Sequence[tuple[int, int]],
    logits: Tensor,
    top: int,
) -> tuple[MaskedPosition, ...]:
    """What the model expects at the tokens of the chosen words, all of them masked at once.

    logits (K, V): at these places.
    """
    ids = text.piece.ids.tolist()
    scores = logits.float().softmax(-1)
    values, best = scores.topk(min(top, scores.shape[-1]), dim=-1)
    positions = []
    for number, (word, at) in enumerate(places):
        own = float(scores[number, ids[at]])
        pieces = [model.tokenizer.piece(item) for item in best[number].tolist()]
        positions.append(
            MaskedPosition(
                word,
                text.rows[at].shown,
                own,
                int((scores[number] > own).sum()) + 1,
                entropy_bits(scores[number].cpu().numpy()),
                tuple(zip(pieces, values[number].tolist(), strict=True)),
            )
        )
    return tuple(positions)


def _with_boundaries(
    model: LanguageModel,
    head: SpanBoundary,
    text: _Text,
    places: Sequence[tuple[int, int]],
    positions: Sequence[MaskedPosition],
    top: int,
) -> tuple[MaskedPosition, ...]:
    """With what the head expects from the tokens beside each span of masked tokens."""
    encoder, ids = model.encoder, text.piece.ids.tolist()
    at = np.array([place for _word, place in places])
    spans = np.split(at, np.flatnonzero(np.diff(at) > 1) + 1)
    rows = [(int(s[0]) - 1, int(s[-1]) + 1, place) for s in spans for place in range(len(s))]
    masked = np.array(text.hidden(places), text.piece.ids.dtype)
    encoded = replace(text.piece, arrays={**text.piece.arrays, "input_ids": masked})
    arrays = stack([encoded], encoder.input_names, encoder.preparer.fill)
    inputs = {name: torch.from_numpy(array).to(model.device) for name, array in arrays.items()}
    left, right, place = torch.tensor(rows, device=model.device).T[:, None]  # (1, K) each
    with torch.inference_mode():
        states, _logits = encoder.states_and_logits_at(inputs, left[:, :1])
        known = place.clamp(max=POSITIONS - 1)
        scores = head(states.float(), left, right, known, encoder.word_embeddings.float())
    shares = scores[0].float().softmax(-1).cpu()  # (K, V)
    values, best = shares.topk(min(top, shares.shape[-1]), dim=-1)
    further = []
    for number, (position, (before, after, inside)) in enumerate(zip(positions, rows, strict=True)):
        own = shares[number, ids[at[number]]]
        pieces = map(model.tokenizer.piece, best[number].tolist())
        expected = FromBoundary(
            text.rows[before].shown,
            text.rows[after].shown,
            inside + 1,
            float(own),
            int((shares[number] > own).sum()) + 1,
            tuple(zip(pieces, values[number].tolist(), strict=True)),
        )
        further.append(replace(position, boundary=expected) if inside < POSITIONS else position)
    return tuple(further)


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
