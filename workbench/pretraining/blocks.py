"""Texts as blocks of tokens of equal length, across paragraphs and documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from workbench.pretraining.texts import Document, Texts
from workbench.runtime.inputs import MASK, EncodedInput, Preparer
from workbench.text import document as documents
from workbench.text.segment import words as words_of

T = TypeVar("T")
AHEAD = 64  # batches of blocks that are shuffled together
MAX_TOKENS = 1_000_000  # tokens per paragraph
SEPARATOR = -1  # word number of tokens between documents


@dataclass(frozen=True)
class Tokens:
    """ids int32 (T,) without special tokens; groups int32 (T,): the number of each token's word.

    begins int32 (T,): how many words begin in each token, or before it and after the one before
    it; None if they are not counted. A token may be longer than a word: "``" is two symbols.
    """

    ids: np.ndarray
    groups: np.ndarray
    begins: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Frame:
    """Special tokens around a text: the ids before and after it, and the one between documents."""

    before: np.ndarray
    after: np.ndarray
    between: np.ndarray

    @classmethod
    def of(cls, preparer: Preparer) -> Frame:
        encoded = _encoded(preparer, ["a"])[0]
        inside = np.flatnonzero(encoded.text == 0)
        before, after = encoded.ids[: inside[0]], encoded.ids[inside[-1] + 1 :]
        pad = np.array([preparer.fill.get("input_ids", 0)], dtype=np.int32)
        return cls(before, after, after[-1:] if len(after) else pad)

    @property
    def length(self) -> int:
        return len(self.before) + len(self.after)


def _encoded(preparer: Preparer, texts: Sequence[str]) -> list[EncodedInput]:
    inputs = [documents.Document(str(n), (("text", text),)) for n, text in enumerate(texts)]
    return preparer.whole(inputs, MAX_TOKENS).inputs


def tokens_of(preparer: Preparer, paragraphs: Sequence[str]) -> list[Tokens]:
    """The tokens of each paragraph with the numbers of their words, separated by white space."""
    parts = []
    for text, encoded in zip(paragraphs, _encoded(preparer, paragraphs), strict=True):
        inside = encoded.text == 0
        starts = np.array([start for start, _end in words_of(text)], dtype=np.int64)
        offsets = encoded.offsets[inside][:, 0]
        groups = np.searchsorted(starts, offsets, side="right") - 1
        begins = _begins(starts, offsets)
        parts.append(Tokens(encoded.ids[inside], groups.astype(np.int32), begins))
    return parts


def _begins(starts: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """(T,) of the words at `starts`, how many belong to each token, which begins at `offsets`."""
    edges = np.searchsorted(starts, offsets[1:], side="left")
    ends = [len(starts)] if len(offsets) else []
    return np.diff(np.concatenate([edges, ends]), prepend=0).astype(np.int32)


def blocks(
    texts: Iterable[Document], preparer: Preparer, frame: Frame, length: int
) -> Iterator[Tokens]:
    """Blocks of `length` tokens with the special ones around them; the last one may be shorter.

    Tokens between documents have the group SEPARATOR, as have those of the frame. Other group
    numbers are unique within the block.
    """
    room = length - frame.length
    ids, groups, begins, size, last = [], [], [], 0, 0
    none = np.zeros(1, dtype=np.int32)
    for document in texts:
        for tokens in tokens_of(preparer, document):
            ids.append(tokens.ids)
            groups.append(tokens.groups + last)
            begins.append(none if tokens.begins is None else tokens.begins)
            last += int(tokens.groups.max(initial=-1)) + 1
            size += len(tokens)
        ids.append(frame.between)
        groups.append(np.full(1, SEPARATOR, dtype=np.int32))
        begins.append(none)
        size += 1
        if size >= room:
            joined = [np.concatenate(parts) for parts in (ids, groups, begins)]
            for start in range(0, size - size % room, room):
                yield _framed(joined, slice(start, start + room), frame)
            rest = slice(size - size % room, size)
            ids, groups, begins = ([part[rest]] for part in joined)
            size %= room
    if size > 1:
        joined = [np.concatenate(parts) for parts in (ids, groups, begins)]
        yield _framed(joined, slice(0, size), frame)


def _framed(joined: Sequence[np.ndarray], part: slice, frame: Frame) -> Tokens:
    """joined: ids, groups and begins, (T,) each."""
    ids, groups, begins = (each[part] for each in joined)
    outside = [np.full(len(some), SEPARATOR, np.int32) for some in (frame.before, frame.after)]
    around = len(frame.before), len(frame.after)
    return Tokens(
        np.concatenate([frame.before, ids, frame.after]).astype(np.int32),
        np.concatenate([outside[0], groups, outside[1]]),
        np.pad(begins, around),
    )


def word_count(tokens: Tokens) -> int:
    """Words that begin in a block: those of the text, however the tokenizer divides it."""
    if tokens.begins is not None:
        return int(tokens.begins.sum())
    groups = tokens.groups
    return int(np.count_nonzero(np.diff(groups, prepend=SEPARATOR)[groups != SEPARATOR]))


def batched(
    texts: Texts, blocks: Iterable[T], batch_size: int, rng: np.random.Generator
) -> Iterator[tuple[list[T], float]]:
    """Batches of blocks (or pairs), and the fraction of the text that is done after each.

    Blocks are in random order within AHEAD batches, which bounds memory.
    """
    waiting: list[T] = []
    done = 0.0
    for block in blocks:
        waiting.append(block)
        if len(waiting) == AHEAD * batch_size:
            yield from _shuffled(waiting, batch_size, rng, (done, texts.progress))
            waiting, done = [], texts.progress
    yield from _shuffled(waiting, batch_size, rng, (done, 1.0))


def _shuffled(
    waiting: Sequence[T], size: int, rng: np.random.Generator, span: tuple[float, float]
) -> Iterator[tuple[list[T], float]]:
    order = rng.permutation(len(waiting))
    for start in range(0, len(order), size):
        part = order[start : start + size]
        share = (start + len(part)) / len(order)
        yield [waiting[number] for number in part], span[0] + share * (span[1] - span[0])


def arrays(
    rows: Sequence[np.ndarray], input_names: Sequence[str], fill: int
) -> dict[str, np.ndarray]:
    """The arrays of a subword encoder, int64 (B, T), rows padded to the longest."""
    width = max(map(len, rows))
    ids, mask = np.full((len(rows), width), fill, np.int64), np.zeros((len(rows), width), np.int64)
    for number, row in enumerate(rows):
        ids[number, : len(row)], mask[number, : len(row)] = row, 1
    known = {"input_ids": ids, MASK: mask}
    return {name: known.get(name, np.zeros_like(ids)) for name in input_names}
