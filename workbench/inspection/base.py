"""The base class of inspectors, and tokens grouped by words."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from workbench.base import deprecation
from workbench.inspection.spec import InspectorInfo, TokenRow, WordRow
from workbench.runtime.inputs import EncodedInput, Preparer
from workbench.runtime.tokenizer import BYTES
from workbench.runtime.units import once
from workbench.text.dataset import Dataset
from workbench.text.document import Document
from workbench.text.segment import words as segment

if TYPE_CHECKING:
    from workbench.inspection.subject import Subject

if not TYPE_CHECKING:
    __getattr__ = deprecation.former(__name__, shown="piece_text")


class Inspector(Protocol):
    """The heavy part of an inspector, created once per loaded model.

    `info` is its light part, if it has one.
    """

    info: InspectorInfo

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> Any:
        """Inspect the documents; returns a dataclass of type `info.result`.

        The window passes one document at a time; the command line passes many if `info.several` is
        set. `options` has a value for every option of `info.options`. Raises WorkbenchError if the
        text cannot be inspected.
        """
        ...


class Examiner(Protocol):
    """The heavy part of an inspector whose `info.examines` is set, created once per job."""

    info: InspectorInfo

    def examine(
        self, subject: Subject, data: Dataset, task: str, options: Mapping[str, Any]
    ) -> Generator[float, None, Any]:
        """Yields the share that is done, 0 to 1; returns a dataclass of type `info.result`.

        data: a sample of the project's documents, with LABELS those with gold in train and dev.
        task: the id of the task that reads these labels, "" without. options: a value for every
        option. Raises WorkbenchError if the documents cannot be examined.
        """
        ...


def words_of(document: Document, count: int) -> tuple[WordRow, ...]:
    """The imported tokens of the document, else its words, of its first `count` texts."""
    rows: list[WordRow] = []
    for name, text in document.texts[:count]:
        tokens = [
            (start, end)
            for start, end in document.tokens.get(name) or ()
            if text[start:end].strip()
        ]
        rows += [
            WordRow(start, end, name, text[start:end])
            for start, end in sorted(tokens) or segment(text)
        ]
    return tuple(rows)


def token_rows(
    piece: EncodedInput, document: Document, words: Sequence[WordRow], preparer: Preparer
) -> list[TokenRow]:
    """The units of one input in order. A unit belongs to the word that holds its last character.

    Units of a preparer without a vocabulary have no id.
    """
    names = [name for name, _ in document.texts]
    places = {
        name: [number for number, word in enumerate(words) if word.field == name] for name in names
    }
    starts = {name: [words[number].start for number in numbers] for name, numbers in places.items()}
    unknown_id = preparer.unknown
    ids = piece.ids.tolist() if "input_ids" in piece.arrays else [None] * len(piece)
    rows = []
    for id, vocable, (start, end), which in zip(
        ids, preparer.pieces(piece), piece.offsets.tolist(), piece.text.tolist(), strict=True
    ):
        name = names[which] if which >= 0 else ""
        word = None
        if name and end > start and (at := bisect_right(starts[name], end - 1) - 1) >= 0:
            word = places[name][at] if words[places[name][at]].end > start else None
        text = document.content(name)[start:end] if name else ""
        unknown = unknown_id is not None and id == unknown_id
        displayed = piece_text(vocable, text)
        rows.append(TokenRow(vocable, displayed, id, start, end, name, word, which < 0, unknown))
    return rows


def piece_text(piece: str, text: str) -> str:
    """A subword for display: ␣ is a space.

    Part of a character, in byte-level vocabularies, is shown as bytes: ‹D9›.
    """
    if piece.startswith("▁"):
        return "␣" + piece[1:]
    if text and all(letter in text.casefold() for letter in piece.removeprefix("##").casefold()):
        return piece
    if not all(letter in BYTES for letter in piece) or (piece.isascii() and not text):
        return piece
    raw = bytes(BYTES[letter] for letter in piece)
    try:
        return raw.decode().replace(" ", "␣").replace("\n", "⏎")
    except UnicodeDecodeError:
        return "‹" + raw.hex(" ").upper() + "›"


def entropy_bits(probabilities: np.ndarray) -> float:
    """-Σ p log2 p of a distribution (N,), in bits; 0 log 0 is 0.

    Source: Shannon 1948, section 6.
    """
    positive = probabilities[probabilities > 0].astype(np.float64)
    return max(0.0, float(-(positive * np.log2(positive)).sum()))


def stitch(windows: Sequence[EncodedInput]) -> list[tuple[int, int]]:
    """(window, position) of every token of a text in overlapping windows, each token once.

    A token is taken from the window with the most context. Special tokens are those at the start of
    the first window and the end of the last.
    """
    return [
        (number, int(position))
        for number, positions in enumerate(once(windows, keep_special=True))
        for position in positions
    ]
