"""Inputs of a model as numpy arrays: created by preparers, batched and padded here.

No torch: shared by training, prediction and exported folders.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from workbench.runtime.decoding import Alignment, align
from workbench.text.document import Document
from workbench.text.segment import tokens_of


@dataclass(frozen=True)
class EncodedInput:
    """One input of a model: a text, a pair of texts, or one window of a long text.

    arrays: by name, first axis T (subwords, words or characters, including special ones):
    input_ids int32 (T,), token_type_ids int32 (T,), characters int32 (T, 50) …
    offsets int32 (T, 2): code points of the text, end exclusive; (0, 0) at special tokens.
    text int8 (T,): 0 first text, 1 second text, -1 special.
    """

    arrays: Mapping[str, np.ndarray]
    offsets: np.ndarray
    text: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets)

    @property
    def ids(self) -> np.ndarray:
        """The array input_ids int (T,). Raises KeyError if the input has none."""
        return self.arrays["input_ids"]


@dataclass
class Prepared:
    """Documents as inputs of a model.

    owner int (N,): the document of each input; inputs of one document are adjacent, in order.
    cut bool (D,): whether a document exceeded the maximum length and was truncated.
    words, alignments: per document, for tasks with one output per word; otherwise empty.
    is_joint: the inputs of a document are read in one batch, as its loss is over all of them.
    """

    documents: list[Document]
    inputs: list[EncodedInput]
    owner: np.ndarray
    cut: np.ndarray
    words: list[list[tuple[int, int]]] = field(default_factory=list)
    alignments: list[Alignment] = field(default_factory=list)
    is_joint: bool = False

    @property
    def lengths(self) -> np.ndarray:
        """int64 (N,): number of tokens of each input."""
        return np.fromiter(map(len, self.inputs), dtype=np.int64, count=len(self.inputs))

    def first(self, document: int) -> int:
        """The position of a document's first input; of `len(documents)`, the number of inputs."""
        return int(np.searchsorted(self.owner, document))

    def of(self, document: int) -> range:
        """Positions of a document's inputs."""
        return range(self.first(document), self.first(document + 1))

    def firsts(self, document: int) -> list[int]:
        """Positions of the first input of each part of a document; without parts, of all."""
        parts = [self.inputs[item].arrays.get(QUESTION_NUMBER) for item in self.of(document)]
        numbers = [at if part is None else int(part[0]) for at, part in enumerate(parts)]
        changes = [at for at, number in enumerate(numbers) if not at or number != numbers[at - 1]]
        return [self.first(document) + at for at in changes]

    def only(self, document: int) -> Prepared:
        """A single document."""
        inputs = self.of(document)
        return Prepared(
            [self.documents[document]],
            self.inputs[inputs.start : inputs.stop],
            np.zeros(len(inputs), dtype=np.int64),
            self.cut[document : document + 1],
            self.words[document : document + 1],
            self.alignments[document : document + 1],
            self.is_joint,
        )

    def joint(self, documents: Sequence[Document], sizes: Sequence[int]) -> Prepared:
        """The inputs as those of other documents, the first `sizes[0]` of the first one …"""
        owner = np.repeat(np.arange(len(documents)), sizes)
        cut = np.zeros(len(documents), dtype=bool)
        np.logical_or.at(cut, owner, self.cut)
        return Prepared(list(documents), self.inputs, owner, cut, is_joint=True)

    @classmethod
    def join(cls, parts: Sequence[Prepared]) -> Prepared:
        """Concatenate; `parts` must not be empty."""
        offsets = np.cumsum([0, *(len(part.documents) for part in parts[:-1])])
        owners = [part.owner + offset for part, offset in zip(parts, offsets, strict=True)]
        return cls(
            [document for part in parts for document in part.documents],
            [input_ for part in parts for input_ in part.inputs],
            np.concatenate(owners),
            np.concatenate([part.cut for part in parts]),
            [words for part in parts for words in part.words],
            [alignment for part in parts for alignment in part.alignments],
            parts[0].is_joint,
        )


FIRST_SHARE = 2  # the first of two texts takes at most 1 / FIRST_SHARE of an input
MAX_FIRST_TOKENS = 64  # tokens of it; as the SQuAD script of BERT does with questions


def first_room(max_length: int) -> int:
    """How many tokens of the first text are read together with windows of the second."""
    return max(1, min(MAX_FIRST_TOKENS, max_length // FIRST_SHARE))


class Preparer(Protocol):
    """Text → arrays of the tokens of an encoder: subwords, words or characters.

    fill: the padding value of each array; 0 for arrays it does not name.
    size: entries of the vocabulary, 0 without one. added: special tokens around one text.
    unknown: the id of out-of-vocabulary tokens, None without one.
    """

    fill: Mapping[str, int]

    @property
    def size(self) -> int: ...

    @property
    def added(self) -> int: ...

    @property
    def unknown(self) -> int | None: ...

    def whole(self, documents: Sequence[Document], max_length: int, *, texts: int = 1) -> Prepared:
        """One input per document from its first `texts` texts, truncated at `max_length` tokens."""
        ...

    def windows(self, documents: Sequence[Document], max_length: int) -> Prepared:
        """Overlapping windows of the first text, with the words and their alignments."""
        ...

    def pair_windows(self, documents: Sequence[Document], max_length: int) -> Prepared:
        """Inputs of two texts: the first whole, with overlapping windows of the second.

        A first text that takes more than its share of an input is truncated.
        """
        ...

    def count_cut(self, texts: Sequence[Sequence[str]], max_length: int) -> int:
        """How many of the inputs (one or two texts each) have more than `max_length` tokens."""
        ...

    def pieces(self, encoded: EncodedInput) -> list[str]:
        """The token at each position as text: "[CLS]", "##ing", "Ġthe" …"""
        ...

    def unknown_share(self, texts: Iterable[str]) -> float:
        """Fraction of words (with a letter) that are not in the vocabulary, 0 to 1."""
        ...

    def save(self, folder: Path) -> None:
        """Write the files that `FamilyInfo.preparer` needs to load it from `folder` again."""
        ...


def prepared_windows(
    documents: Sequence[Document], windows: Sequence[Sequence[EncodedInput]]
) -> Prepared:
    """Windows of every document, with the words and their positions in the windows."""
    words = [tokens_of(document) for document in documents]
    alignments = [
        align(word_offsets, [(window.offsets, window.text == 0) for window in document_windows])
        for word_offsets, document_windows in zip(words, windows, strict=True)
    ]
    return Prepared(
        list(documents),
        [window for document_windows in windows for window in document_windows],
        np.repeat(
            np.arange(len(documents)), [len(document_windows) for document_windows in windows]
        ),
        np.zeros(len(documents), dtype=bool),
        words,
        alignments,
    )


def paired_windows(
    documents: Sequence[Document], windows: Sequence[Sequence[EncodedInput]]
) -> Prepared:
    """Windows of the second text of every document, without words."""
    owner = np.repeat(
        np.arange(len(documents)), [len(document_windows) for document_windows in windows]
    )
    inputs = [window for document_windows in windows for window in document_windows]
    return Prepared(list(documents), inputs, owner, np.zeros(len(documents), dtype=bool))


def numbered(
    prepared: Prepared, documents: Sequence[Document], owners: Sequence[tuple[int, int]]
) -> Prepared:
    """The inputs as those of other documents.

    owners: for each of the old documents the new one, and the number of its part, see
    `QUESTION_NUMBER`.
    """
    inputs = [
        replace(
            input_,
            arrays={
                **input_.arrays,
                QUESTION_NUMBER: np.full(len(input_), owners[old][1], np.int32),
            },
        )
        for input_, old in zip(prepared.inputs, prepared.owner, strict=True)
    ]
    new = np.array([owners[old][0] for old in prepared.owner], dtype=np.int64)
    return Prepared(list(documents), inputs, new, np.zeros(len(documents), dtype=bool))


# ---------------------------------------------------------------- batches


def batches_by_length(
    lengths: np.ndarray, tokens: int, padding: int | None = None
) -> Iterator[np.ndarray]:
    """Positions of inputs of similar length, longest first, at least one per batch.

    A batch holds at most `tokens` of them, padding included, and at most `padding` of padding.

    lengths int (N,); each batch int (B,).
    """
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        longest = int(lengths[order[start]])
        size = max(1, tokens // max(1, longest))
        if padding is not None:
            padded = np.cumsum(longest - lengths[order[start : start + size]])
            size = int(np.searchsorted(padded, padding, side="right"))
        yield order[start : start + size]
        start += size


CHUNK = 512  # documents prepared or predicted per step; bounds memory and the time between ticks

Logits = list[Mapping[str, np.ndarray]]  # of each input, by name, without padding


def in_batches(
    lengths: np.ndarray,
    tokens: int,
    count: int,
    run: Callable[[np.ndarray], Iterable[tuple[int, Mapping[str, np.ndarray]]]],
    padding: int | None = None,
) -> Generator[int, None, Logits]:
    """Run a model over batches of similar length, see `batches_by_length`.

    run: the positions in `lengths` of one batch → positions and logits of its inputs, of which
    there are `count` in all. Yields the number of inputs done after each batch.
    """
    logits: Logits = [{}] * count
    done = 0
    for chosen in batches_by_length(lengths, tokens, padding):
        for position, values in run(chosen):
            logits[position] = values
            done += 1
        yield done
    return logits


def pad(rows: Sequence[np.ndarray], fill: float = 0, dtype: type = np.int64) -> np.ndarray:
    """Stack arrays (T_i, …) to (B, max T, …), padded with `fill` at the end of the first axis."""
    longest = max(map(len, rows))
    table = np.full((len(rows), longest, *rows[0].shape[1:]), fill, dtype=dtype)
    for number, row in enumerate(rows):
        table[number, : len(row)] = row
    return table


def stack(
    inputs: Sequence[EncodedInput], names: Sequence[str], fill: Mapping[str, int]
) -> dict[str, np.ndarray]:
    """The named arrays of several inputs as one batch (B, T, …): int64, features float32.

    `attention_mask` (B, T) is 1 at tokens and 0 at padding.
    """
    masks = [np.ones(len(input_), np.int64) for input_ in inputs]
    return {
        name: pad(masks)
        if name == MASK
        else _padded([input_.arrays[name] for input_ in inputs], fill.get(name, 0))
        for name in names
    }


def _padded(rows: Sequence[np.ndarray], fill: float) -> np.ndarray:
    return pad(rows, fill, np.float32 if rows[0].dtype.kind == "f" else np.int64)


MASK = "attention_mask"
QUESTION_NUMBER = "part"  # array int32 (T,): the number of the question that an input is about
PER_TOKEN = "token"  # axis of logits that have a row for each token of the input
PER_TEXT = "text"  # axis of code points of a written text, which the first negative number ends


def unpadded(
    arrays: Mapping[str, np.ndarray], row: int, length: int, axes: Mapping[str, str]
) -> dict[str, np.ndarray]:
    """One row of a batch of named arrays, those over tokens (B, T, …) and written texts (B, S)
    without their padding.

    `axes` gives "token", "text" or "item" for each name; arrays it does not name are "item".
    """

    def part(name: str, values: np.ndarray) -> np.ndarray:
        axis = axes.get(name)
        if axis == PER_TOKEN:
            return values[:length].copy()
        if axis == PER_TEXT:
            return values[: int(np.argmin(values >= 0))].copy()
        return values

    return {name: part(name, array[row]) for name, array in arrays.items()}
