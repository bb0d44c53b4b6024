"""Text as parallel streams for recurrent language models: truncated backpropagation through time.

Each row of a batch continues the same row of the batch before, so that the memory of the model is
carried along. Source: Mikolov et al. 2010; Merity et al. 2018, section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeGuard, runtime_checkable

import numpy as np
from torch import Tensor

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.models.base import Encoder
from workbench.models.recurrent import StreamTokens
from workbench.pretraining.texts import Document, Texts
from workbench.runtime.inputs import Preparer
from workbench.runtime.preparers.words import WordPreparer
from workbench.text.segmenters import base as segmenters

MOST_CHARACTERS = 20_000  # of a part that a stream takes at once: it bounds the memory


@runtime_checkable
class RecurrentModel(Protocol):
    """A language model that continues from the memory of what it read before.

    directions: "next", "previous" or both. regularization: usual strengths of AR and TAR.
    """

    directions: tuple[str, ...]
    regularization: tuple[float, float]

    def stream(self, paragraphs: Sequence[str], direction: str) -> StreamTokens:
        """The tokens of a document, with those that mark its beginning or end."""
        ...

    def read(
        self, inputs: Mapping[str, Tensor], direction: str, memory: Any = None
    ) -> tuple[Tensor, Any]:
        """States (B, T, H) of inputs (B, T, …) in reading order, and the memory after them."""
        ...

    def dropped(self, states: Tensor) -> Tensor:
        """States (B, T, H) of `read` after the dropout that precedes `scores` in training."""
        ...

    def scores(self, states: Tensor, direction: str) -> Tensor:
        """Logits (…, V) of the next token in reading order."""
        ...


def reads_words(preparer: Preparer) -> TypeGuard[WordPreparer]:
    """Whether a language model with this preparer reads words: ELMo and AWD-LSTM."""
    return isinstance(preparer, WordPreparer) and preparer.reads_words


def read_by(encoder: Encoder, segmenter: str) -> None:
    """Let the encoder split texts by a word segmenter, by its id; the default is the encoder's own.

    Raises SpecError for an encoder that reads no words, and ModelError, see `segmenters.load`.
    """
    if segmenter == segmenters.DEFAULT:
        return
    preparer = encoder.preparer
    if not reads_words(preparer):
        raise SpecError(
            _(
                "A word segmenter has no effect on {model}, which does not read words.",
                model=encoder.info.name,
            ),
            hint=_("Set segmenter to {default}.", default=segmenters.DEFAULT),
        )
    segmenters.load(segmenter)
    preparer.segmenter = segmenter


class StreamBatch(NamedTuple):
    """inputs (B, T, …); targets (B, T): the token after each input. words: about as many in them.

    progress: fraction of the text that was read.
    """

    inputs: dict[str, np.ndarray]
    targets: np.ndarray
    words: float
    progress: float


@dataclass
class _Row:
    """What a stream holds that was not yet used. words: of all its tokens."""

    parts: list[StreamTokens] = field(default_factory=list)
    length: int = 0
    words: float = 0.0

    def add(self, tokens: StreamTokens) -> None:
        self.parts.append(tokens)
        self.length += len(tokens.targets)
        self.words += tokens.words

    def take(self, count: int) -> tuple[dict[str, np.ndarray], np.ndarray, float]:
        """The next `count` tokens as inputs, the tokens after them as targets, and their words.

        Words are evenly distributed over the tokens that the stream holds.
        """
        after = self._joined().targets[1 : count + 1]
        tokens = self.cut(count)
        return dict(tokens.inputs), after, tokens.words

    def cut(self, count: int) -> StreamTokens:
        """Take the next `count` tokens, or all that are left, out of the stream."""
        joined = self._joined()
        count = min(count, self.length)
        words = self.words * count / self.length
        self.words -= words
        self.length -= count
        inputs = {name: array[:count] for name, array in joined.inputs.items()}
        rest = {name: array[count:] for name, array in joined.inputs.items()}
        self.parts = [StreamTokens(rest, joined.targets[count:], 0)]
        return StreamTokens(inputs, joined.targets[:count], words)

    def _joined(self) -> StreamTokens:
        """All parts as one, which is kept in their place."""
        if len(self.parts) > 1:
            inputs = {
                name: np.concatenate([part.inputs[name] for part in self.parts])
                for name in self.parts[0].inputs
            }
            targets = np.concatenate([part.targets for part in self.parts])
            self.parts = [StreamTokens(inputs, targets, 0)]
        return self.parts[0]


def batches(
    texts: Texts,
    tokens: Callable[[Document], StreamTokens],
    *,
    rows: int,
    length: int,
    rng: np.random.Generator,
) -> Iterator[StreamBatch]:
    """Batches of `rows` streams, each `length` tokens (varied by 5%, as in Merity et al.) long.

    Documents, long ones in parts, go to the shortest stream. Tokens that are left in the longer
    streams at the end are divided among all, so that a few long documents are read as well as many.
    What does not fill all streams then is left out, but a text that is too short for one batch is
    divided among fewer streams. The progress is that of the text that was used.
    """
    streams, used = [_Row() for _number in range(rows)], 0

    def drawn() -> Iterator[StreamBatch]:
        nonlocal used
        while (varied := _varied(length, rng)) < min(row.length for row in streams):
            batch = _batch(streams, varied)
            used += batch.targets.size
            held = sum(row.length for row in streams)
            yield batch._replace(progress=texts.progress * used / (used + held))

    for document in texts:
        for part in _parts(document):
            min(streams, key=lambda row: row.length).add(tokens(part))
            yield from drawn()
    left = sum(row.length for row in streams)
    # Memory is carried from batch to batch: their number of streams must not change.
    streams = _divided(streams, rows if used else max(1, min(rows, left // (length + 1))))
    yield from drawn()
    if not used and left > 1:
        yield _batch(streams, min(length, min(row.length for row in streams) - 1))


def _parts(document: Document) -> Iterator[Document]:
    """Paragraphs of at most MOST_CHARACTERS in all, longer paragraphs divided between words."""
    part, size = list[str](), 0
    for paragraph in document:
        for line in _lines(paragraph):
            if part and size + len(line) > MOST_CHARACTERS:
                yield tuple(part)
                part, size = [], 0
            part.append(line)
            size += len(line)
    if part:
        yield tuple(part)


def _lines(paragraph: str) -> Iterator[str]:
    while len(paragraph) > MOST_CHARACTERS:
        end = paragraph.rfind(" ", 1, MOST_CHARACTERS) + 1 or MOST_CHARACTERS
        yield paragraph[:end]
        paragraph = paragraph[end:]
    yield paragraph


def _divided(streams: Sequence[_Row], rows: int) -> list[_Row]:
    """What the streams hold, as `rows` streams of nearly equal length."""
    share = -(-sum(row.length for row in streams) // rows)
    divided = [_Row() for _number in range(rows)]
    target = 0
    for row in streams:
        while row.length:
            if divided[target].length >= share:
                target += 1
            divided[target].add(row.cut(share - divided[target].length))
    return divided


def _varied(length: int, rng: np.random.Generator) -> int:
    """About `length` tokens; half as many in one of 20 batches."""
    base = length if rng.random() < 0.95 else length / 2
    return max(2, round(rng.normal(base, 0.05 * length)))


def _batch(rows: Sequence[_Row], length: int, progress: float = 1.0) -> StreamBatch:
    taken = [row.take(length) for row in rows]
    names = taken[0][0]
    inputs = {name: np.stack([inputs[name] for inputs, *_rest in taken]) for name in names}
    targets = np.stack([targets for _inputs, targets, _words in taken])
    words = sum(words for *_rest, words in taken)
    return StreamBatch(inputs, targets.astype(np.int64), words, progress)
