"""Language models that continue a text: the scores of the next unit, and what sampling leaves."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol, cast

import numpy as np
import torch
from torch import Tensor

from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.inspection.base import piece_text
from workbench.inspection.spec import NEXT, PREVIOUS
from workbench.inspection.subject import Subject
from workbench.models.base import Continued
from workbench.models.generate import CAUSAL, LanguageModel, padded
from workbench.runtime.inputs import MASK, EncodedInput, Prepared, stack
from workbench.text.document import Document

MAX_ADDED_CHARS = 1000  # that can be added to a text


class Continuation(Protocol):
    """A text that a model continues by units of its vocabulary.

    backward: the text is continued before its beginning. limit: units that can still be added.
    apart: the units form a text of their own, of which the given one is only the source.
    ends: units that end a text; nothing follows them.
    """

    backward: bool
    limit: int
    apart: bool = False
    ends: frozenset[int] = frozenset()

    def logits(self, added: Sequence[Sequence[int]], *, last: int = 1) -> Tensor:
        """(B, `last`, V) after the last `last` units of the text with each row of ids added.

        All rows have the same length, and `last` is at most that plus 1.
        """
        ...

    def name(self, number: int) -> str:
        """An entry of the vocabulary, with ␣ for a space."""
        ...

    def text(self, added: Sequence[int]) -> str:
        """Units that were added, as text."""
        ...

    def ids(self, text: str) -> tuple[int, ...]:
        """Units of a typed text. Raises WorkbenchError for words outside of the vocabulary."""
        ...


def direction(requested: str | None, available: Sequence[str], model: str) -> str:
    """The direction asked for, by default the first of those that a model has.

    Raises SpecError for one that it does not have.
    """
    if requested is None or requested in available:
        return requested or available[0]
    message = _("{model} does not predict previous words or tokens.")
    if requested == NEXT:
        message = _("{model} does not predict next words or tokens.")
    raise SpecError(message.format(model=model), hint=_("Omit the option direction."))


def directions(gives: Collection[str]) -> tuple[str, ...]:
    """The directions in which a model with these outputs continues a text, NEXT first."""
    names = ("lm", "character")
    available = [way for way in (NEXT, PREVIOUS) if any(f"{way}_{name}" in gives for name in names)]
    return tuple(available) or (NEXT,)  # one that writes a text from another


def continuation(subject: Subject, document: Document, requested: str | None) -> Continuation:
    """requested: the direction, None for the first that the model has.

    Raises WorkbenchError for a text without units, which some models need to begin, and SpecError
    for a direction that the model does not have.
    """
    way = direction(requested, directions(subject.info.gives), subject.info.name)
    if subject.scores_subwords and subject.language_model.kind == CAUSAL:
        return _Subwords(subject, document)
    if subject.info.predicts_characters:
        return _Characters(subject, document, way)
    if "text_to_text" in subject.info.gives:
        return _Written(subject, document)
    return _Units(subject, document, way)


class _Vocabulary:
    """Names and texts of the subwords of a language model."""

    def __init__(self, model: LanguageModel):
        self._model = model

    def name(self, number: int) -> str:
        return piece_text(self._model.tokenizer.piece(number), "")

    def text(self, added: Sequence[int]) -> str:
        decoded: str = self._model.tokenizer.backend.decode(list(added))
        return decoded

    def ids(self, text: str) -> tuple[int, ...]:
        encoding = self._model.tokenizer.backend.encode(text, add_special_tokens=False)
        return tuple(encoding.ids)


class _Subwords(_Vocabulary, Continuation):
    """Continues the text of a causal model with a subword tokenizer: appends ids to those of the
    text.
    """

    backward = False

    def __init__(self, subject: Subject, document: Document):
        super().__init__(subject.language_model)
        tokenizer = self._model.tokenizer
        encoded = tokenizer.backend.encode(document.texts[0][1])
        pairs = list(zip(encoded.ids, encoded.special_tokens_mask, strict=True))
        while pairs and pairs[-1][1]:  # an end of text would end the continuation
            pairs.pop()
        self._ids = [pair for pair, _special in pairs] or [tokenizer.fallback]
        self.limit = self._model.max_length - len(self._ids)
        if self.limit < 0:
            raise _too_long(self._model.max_length)

    @cached_property
    def _rows(self) -> Continued | None:
        """Of a model that can continue what it has read."""
        return self._model.encoder.continuation(self._ids)

    def logits(self, added: Sequence[Sequence[int]], *, last: int = 1) -> Tensor:
        if last == 1 and self._rows is not None:
            return self._rows.logits(added)[:, None].float().cpu()
        rows = [[*self._ids, *row] for row in added]
        places = [list(range(len(row) - last, len(row))) for row in rows]
        return self._model.logits(rows, places).float().cpu()


class WritesText(Protocol):
    """An encoder–decoder that reads a text once and writes another one, see `Seq2SeqEncoder`."""

    start: int
    ends: frozenset[int]

    def source(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """(B, T, H): what the decoder reads of a text, for `next_logits`."""

    def written_rows(self, source: Tensor, mask: Tensor) -> Continued:
        """What it writes of one source; mask (1, T)."""

    def next_logits(self, source: Tensor, mask: Tensor, ids: Tensor, positions: Tensor) -> Tensor:
        """Logits (B, K, V) of the next units at `positions` (B, K) of `ids` (B, S); mask (B, T)."""


class _Written(_Vocabulary, Continuation):
    """Generates from an encoder–decoder, which reads the text as its source."""

    backward, apart = False, True

    def __init__(self, subject: Subject, document: Document):
        super().__init__(subject.language_model)
        encoder = self._model.encoder
        self._writer, self.limit = cast(WritesText, encoder), self._model.max_length - 1
        self.ends = self._writer.ends
        ids = self._model.tokenizer.backend.encode(document.texts[0][1]).ids
        known = ids[: self._model.max_length] or [self._model.tokenizer.pad]
        inputs = padded([known], encoder)
        with torch.inference_mode():
            self._source, self._mask = self._writer.source(inputs), inputs[MASK]
        self._rows = self._writer.written_rows(self._source, self._mask)

    def logits(self, added: Sequence[Sequence[int]], *, last: int = 1) -> Tensor:
        if last == 1:
            return self._rows.logits(added)[:, None].float().cpu()
        device = self._source.device
        rows = torch.tensor([[self._writer.start, *row] for row in added], device=device)
        count, length = rows.shape
        places = torch.arange(length - last, length, device=device).expand(count, -1)
        source, mask = self._source.expand(count, -1, -1), self._mask.expand(count, -1)
        with torch.inference_mode():
            return self._writer.next_logits(source, mask, rows, places).float().cpu()


class ReadsCharacters(Protocol):
    """An encoder that reads characters one by one and predicts the next one in reading order.

    character_ids: of a text, in reading order; None at characters outside of the vocabulary, which
    it reads as 0. beginning: the ids that it reads before each text. read: (B, T) ids to states
    (B, T, width), and the memory with which the next ones are read. scores: logits (…, V) of the
    next character.
    """

    def character_ids(self, text: str, direction: str) -> list[int | None]: ...

    def beginning(self, direction: str) -> list[int]: ...

    def read(
        self, inputs: Mapping[str, Tensor], direction: str, memory: Any = None
    ) -> tuple[Tensor, Any]:
        """States (B, T, width) of the ids (B, T), and the memory after them."""

    def scores(self, states: Tensor, direction: str) -> Tensor:
        """Logits (…, V) of the next character from states (…, width)."""


class _Characters(Continuation):
    """Continues the text of a character model, keeping its state after the last character."""

    def __init__(self, subject: Subject, document: Document, direction: str):
        self._direction = direction
        self.backward = self._direction == PREVIOUS
        self.limit = MAX_ADDED_CHARS
        self._encoder, self._device = subject.encoder, subject.encoder.device
        self._reader = cast(ReadsCharacters, subject.encoder)
        known = self._reader.character_ids(document.texts[0][1], self._direction)
        self._ids = [*self._reader.beginning(self._direction), *(number or 0 for number in known)]
        self._last: tuple[list[list[int]], Any] | None = None  # rows that were read, its memory

    def logits(self, added: Sequence[Sequence[int]], *, last: int = 1) -> Tensor:
        rows = [list(row) for row in added]
        memory = None
        if last == 1 and self._last is not None and self._last[0] == [row[:-1] for row in rows]:
            ids, memory = [row[-1:] for row in rows], self._last[1]
        else:
            ids = [[*self._ids, *row] for row in rows]
        table = torch.tensor(ids, dtype=torch.int64, device=self._device)
        with torch.inference_mode():
            states, memory = self._reader.read({"input_ids": table}, self._direction, memory)
            self._last = rows, memory
            return self._reader.scores(states[:, -last:], self._direction).float().cpu()

    def name(self, number: int) -> str:
        return _visible(self._encoder.vocable(number))

    def text(self, added: Sequence[int]) -> str:
        named = [self._encoder.vocable(number) for number in added]
        return "".join(reversed(named) if self.backward else named)

    def ids(self, text: str) -> tuple[int, ...]:
        numbers = self._reader.character_ids(text, self._direction)
        read = text[::-1] if self.backward else text
        for character, number in zip(read, numbers, strict=True):
            if number is None:
                raise _not_in_vocabulary(character)
        return tuple(number for number in numbers if number is not None)


class _Units(Continuation):
    """Continues the text of a model of words or characters: appends units to the text."""

    def __init__(self, subject: Subject, document: Document, direction: str):
        self._encoder = subject.encoder
        self._encoder.head = direction
        self.backward = self._encoder.head == PREVIOUS
        self._document, self._longest = document, subject.max_length
        self._gap = " "
        prepared = self._prepared([()])
        if prepared.cut[0]:  # it would be continued where it was cut
            raise _too_long(self._longest)
        piece = prepared.inputs[0]
        lengths = piece.offsets[:, 1] - piece.offsets[:, 0]
        if len(lengths) and int(lengths.max()) <= 1:  # its units are characters
            self._gap = ""
        if not (piece.text >= 0).any():
            raise WorkbenchError(
                _("The text is empty; this model needs a word to continue from."),
                hint=_("Type a text."),
            )
        self.limit = self._longest - len(piece)

    def _prepared(self, added: Sequence[Sequence[int]]) -> Prepared:
        (field, content), *others = self._document.texts
        texts = [self._written(content, self.text(row)) for row in added]
        documents = [replace(self._document, texts=((field, text), *others)) for text in texts]
        return self._encoder.preparer.whole(documents, self._longest)

    def _written(self, content: str, more: str) -> str:
        if not more:
            return content
        return more + self._gap + content if self.backward else content + self._gap + more

    def logits(self, added: Sequence[Sequence[int]], *, last: int = 1) -> Tensor:
        if last > 1:  # added units can change how the text is read: each step is read again
            steps = range(len(added[0]) - last + 1, len(added[0]) + 1)
            return torch.cat([self.logits([row[:step] for row in added]) for step in steps], dim=1)
        encoder, inputs = self._encoder, self._prepared(added).inputs
        arrays = stack(inputs, encoder.input_names, encoder.preparer.fill)
        tensors = {
            name: torch.from_numpy(array).to(encoder.device) for name, array in arrays.items()
        }
        where = torch.tensor([[self._end(input_)] for input_ in inputs], device=encoder.device)
        with torch.inference_mode():
            return encoder.logits_at(tensors, where).float().cpu()

    def _end(self, piece: EncodedInput) -> int:
        places = np.flatnonzero(piece.text >= 0)
        return int(places[0] if self.backward else places[-1])

    def name(self, number: int) -> str:
        return _visible(self._encoder.vocable(number))

    def text(self, added: Sequence[int]) -> str:
        named = [self._encoder.vocable(number) for number in added]
        return self._gap.join(reversed(named) if self.backward else named)

    def ids(self, text: str) -> tuple[int, ...]:
        field = self._document.texts[0][0]
        typed = self._encoder.preparer.whole([Document("", ((field, text),))], self._longest)
        (piece,) = typed.inputs
        vocable_ids = self._encoder.vocable_ids(piece)[piece.text >= 0]
        if len(vocable_ids) and int(vocable_ids.min()) < 0:
            raise _not_in_vocabulary(text)
        numbers = vocable_ids.tolist()
        return tuple(reversed(numbers) if self.backward else numbers)


def _visible(text: str) -> str:
    return text.replace(" ", "␣").replace("\n", "⏎")


def _too_long(most: int) -> WorkbenchError:
    return WorkbenchError(
        ngettext(
            "The text is too long to be continued: the model reads at most {n:,} token.",
            "The text is too long to be continued: the model reads at most {n:,} tokens.",
            most,
        ),
        hint=_("Use a shorter text, for example only the last sentences."),
    )


def _not_in_vocabulary(text: str) -> WorkbenchError:
    return WorkbenchError(_("{text!r} is not in the vocabulary of this model.", text=text))
