"""Next sentence prediction with masked language modelling (Devlin et al. 2018, section 3.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from torch import Tensor

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.pretraining import blocks
from workbench.pretraining.blocks import MAX_TOKENS, SEPARATOR, Tokens, tokens_of
from workbench.pretraining.objectives.base import TextBatch
from workbench.pretraining.objectives.masked_lm.objective import MaskedLm, token_loss
from workbench.pretraining.objectives.nsp.info import INFO
from workbench.pretraining.results import ShownRow
from workbench.pretraining.texts import Document, Texts
from workbench.runtime.inputs import Preparer
from workbench.tasks.base import Loss
from workbench.text import document as documents
from workbench.text.sentences import sentences

POOL = 256  # documents from which the random segments are drawn
Sentences = Sequence[Tokens]


@dataclass(frozen=True)
class TextPair:
    first: Tokens
    second: Tokens
    is_next: bool


@dataclass(frozen=True)
class PairFrame:
    """Special tokens before, between and after two texts, and the segment number of each part.

    types: of the frame before, the first text, the frame between, the second text, the frame after.
    """

    before: np.ndarray
    between: np.ndarray
    after: np.ndarray
    types: tuple[int, int, int, int, int]

    @classmethod
    def of(cls, preparer: Preparer) -> PairFrame:
        texts = (("text", "a"), ("text_b", "a"))
        encoded = preparer.whole([documents.Document("1", texts)], MAX_TOKENS, texts=2).inputs[0]
        first, second = (np.flatnonzero(encoded.text == number) for number in (0, 1))
        ids, ends = encoded.ids, (first[0], first[-1] + 1, second[0], second[-1] + 1)
        types = encoded.arrays.get("token_type_ids", np.zeros(len(ids), np.int64))
        places = (0, ends[0], ends[1], ends[2], len(ids) - 1)
        return cls(
            ids[: ends[0]],
            ids[ends[1] : ends[2]],
            ids[ends[3] :],
            tuple(int(types[place]) for place in places),  # type: ignore[arg-type]  # five
        )

    @property
    def length(self) -> int:
        return len(self.before) + len(self.between) + len(self.after)

    def around(self, pair: TextPair) -> tuple[Tokens, np.ndarray]:
        """The tokens of a pair with the special ones, and the segment of each, int64 (T,)."""
        last = int(pair.first.groups.max(initial=-1)) + 1
        parts = (
            _special(self.before),
            pair.first,
            _special(self.between),
            Tokens(pair.second.ids, pair.second.groups + last),
            _special(self.after),
        )
        types = np.repeat(np.array(self.types, np.int64), [len(part) for part in parts])
        ids, groups = ([getattr(part, name) for part in parts] for name in ("ids", "groups"))
        return Tokens(np.concatenate(ids).astype(np.int32), np.concatenate(groups)), types


def _special(ids: np.ndarray) -> Tokens:
    return Tokens(ids, np.full(len(ids), SEPARATOR, np.int32))


def pairs(
    texts: Iterable[Document],
    preparer: Preparer,
    room: int,
    rng: np.random.Generator,
    *,
    random_share: float = 0.5,
    short_share: float = 0.1,
) -> Iterator[TextPair]:
    """Pairs of at most `room` tokens. `short_share` of them aim at a random shorter length.

    Random segments come from other documents of the same POOL. Raises SpecError for a text of one
    document.
    """
    before: list[Sentences] = []
    for pool in _pools(texts, preparer):
        near = pool if len(pool) > 1 else [*before[-1:], *pool]
        if len(near) < 2:
            raise SpecError(
                _("The text has only one document, so that there are no random next segments."),
                hint=_("Separate documents by blank lines."),
            )
        for document in pool:
            others = [sequence for sequence in near if sequence is not document]
            yield from _of_document(
                document, others, room, rng, random_share=random_share, short_share=short_share
            )
        before = pool


def _pools(texts: Iterable[Document], preparer: Preparer) -> Iterator[list[Sentences]]:
    pool: list[Sentences] = []
    for document in texts:
        parts = [line[start:end] for line in document for start, end in sentences(line)]
        if encoded := [tokens for tokens in tokens_of(preparer, parts) if len(tokens)]:
            pool.append(encoded)
        if len(pool) == POOL:
            yield pool
            pool = []
    if pool:
        yield pool


def _of_document(
    document: Sentences,
    others: Sequence[Sentences],
    room: int,
    rng: np.random.Generator,
    *,
    random_share: float,
    short_share: float,
) -> Iterator[TextPair]:
    """Sentences that a random segment replaced are used again; a last single one is left out."""
    start = 0
    while start < len(document) - 1:
        short = rng.random() < short_share
        target = int(rng.integers(2, room + 1)) if short else room
        end = _until(document, start + 1, target - len(document[start]))
        split = int(rng.integers(start + 1, end))
        first = _joined(document[start:split])
        is_next = rng.random() >= random_share
        if is_next:
            second = _joined(document[split:end])
        else:
            other = others[int(rng.integers(len(others)))]
            begin = int(rng.integers(len(other)))
            second = _joined(other[begin : _until(other, begin, target - len(first))])
        yield TextPair(*_fitted(first, second, target, rng), is_next)
        start = end if is_next else split


def _until(document: Sentences, start: int, size: int) -> int:
    """The end of at least one sentence from `start` on with `size` tokens, or of the document."""
    end = start + 1
    length = len(document[start])
    while end < len(document) and length < size:
        length += len(document[end])
        end += 1
    return end


def _joined(parts: Sentences) -> Tokens:
    ids, groups, last = [], [], 0
    for tokens in parts:
        ids.append(tokens.ids)
        groups.append(tokens.groups + last)
        last += int(tokens.groups.max(initial=-1)) + 1
    return Tokens(np.concatenate(ids), np.concatenate(groups))


def _fitted(
    first: Tokens, second: Tokens, room: int, rng: np.random.Generator
) -> tuple[Tokens, Tokens]:
    """Tokens are removed from the longer segment until both fit, at either end at random."""
    extra = max(0, len(first) + len(second) - room)
    longer = min(extra, abs(len(first) - len(second)))
    shares = [(extra - longer) // 2, (extra - longer + 1) // 2]
    shares[int(len(second) > len(first))] += longer
    return tuple(  # type: ignore[return-value]  # two
        _cut(tokens, share, rng) for tokens, share in zip((first, second), shares, strict=True)
    )


def _cut(tokens: Tokens, count: int, rng: np.random.Generator) -> Tokens:
    front = int(rng.binomial(count, 0.5))
    part = slice(front, len(tokens) - (count - front))
    return Tokens(tokens.ids[part], tokens.groups[part])


TYPES = "token_type_ids"


class NextSentence(MaskedLm):
    """The loss is the sum of both means, as in the paper."""

    info = INFO

    def batches(self, texts: Texts) -> Iterator[TextBatch]:
        preparer = self.encoder.preparer
        frame = PairFrame.of(preparer)
        length = min(self.options["length"], self.encoder.max_length)
        sequences = pairs(
            texts,
            preparer,
            length - frame.length,
            self.rng,
            random_share=self.options["next_random"],
            short_share=self.options["short_share"],
        )
        for batch, done in blocks.batched(texts, sequences, self.options["batch_size"], self.rng):
            yield self.paired(batch, frame, done)

    def paired(self, batch: Sequence[TextPair], frame: PairFrame, done: float) -> TextBatch:
        """As `masked`, with "next" (B,): 0 the text that follows, 1 a random segment."""
        rows = [frame.around(pair) for pair in batch]
        masked = self.masked([tokens for tokens, _types in rows], done)
        for number, (_tokens, types) in enumerate(rows):
            if TYPES in masked.inputs:
                masked.inputs[TYPES][number, : len(types)] = types
        masked.targets["next"] = np.array([not pair.is_next for pair in batch], np.int64)
        return masked

    def shown(self, batch: TextBatch) -> list[ShownRow]:
        names = ("next", "random")
        return [
            replace(row, notes={"next_sentence": names[int(target)]})
            for row, target in zip(super().shown(batch), batch.targets["next"], strict=True)
        ]

    def losses(
        self, inputs: Mapping[str, Tensor], targets: Mapping[str, Tensor]
    ) -> dict[str, Loss]:
        """inputs (B, T), "positions" and "labels" (B, K), "next" (B,)."""
        tokens, follows = self.encoder.pair_logits_at(inputs, targets["positions"])
        return {
            "mlm": token_loss(tokens, targets["labels"]),
            "nsp": token_loss(follows, targets["next"]),
        }
