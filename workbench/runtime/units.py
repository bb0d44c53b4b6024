"""Which tokens of a document's windows make up its words, or the whole. numpy only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.runtime.decoding import Alignment
from workbench.runtime.inputs import EncodedInput, Prepared

WORD, TOKEN = "word", "token"  # any other unit is the document


@dataclass(frozen=True)
class WindowShare:
    """What one window adds to the rows of a document: row `rows[k]` gets `weights[k]` times the
    state at `positions[k]`. All (K,); a row is the weighted sum over all windows.
    """

    positions: np.ndarray
    rows: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True)
class UnitRows:
    """The rows of one document. offsets int32 (n, 2): code points. shares: one per window."""

    offsets: np.ndarray
    shares: tuple[WindowShare, ...]

    def __len__(self) -> int:
        return len(self.offsets)


def rows_of(prepared: Prepared, document: int, unit: str, *, added: int) -> UnitRows:
    """The rows of a document from `Preparer.windows`. `added` is `Preparer.added`.

    word: the mean over the tokens of each word, in the window with the most context; 0 for a word
    without a token. token: every token of the model once, special tokens and marks of capitals and
    repetitions with the offsets (0, 0).
    document: one row, the mean over these.
    """
    windows = [prepared.inputs[number] for number in prepared.of(document)]
    if unit == WORD:
        return _words(windows, prepared.words[document], prepared.alignments[document])
    positions = once(windows, keep_special=added > 0)
    if unit == TOKEN:
        return _tokens(windows, positions)
    length = len(prepared.documents[document].text)
    return _whole(positions, length)


def _words(
    windows: Sequence[EncodedInput], words: Sequence[tuple[int, int]], where: Alignment
) -> UnitRows:
    shares = []
    for number in range(len(windows)):
        here = np.flatnonzero(where.window == number)
        counts = where.end[here] - where.first[here]
        rows = np.repeat(here, counts)
        starts = np.repeat(where.first[here] - np.cumsum(counts) + counts, counts)
        shares.append(
            WindowShare(starts + np.arange(len(rows)), rows, 1 / np.repeat(counts, counts))
        )
    return UnitRows(np.array(words, dtype=np.int32).reshape(-1, 2), tuple(shares))


def _tokens(windows: Sequence[EncodedInput], window_positions: Sequence[np.ndarray]) -> UnitRows:
    begins = np.cumsum([0, *map(len, window_positions)])
    shares = tuple(
        WindowShare(positions, begin + np.arange(len(positions)), np.ones(len(positions)))
        for positions, begin in zip(window_positions, begins[:-1], strict=True)
    )
    offsets = [
        window.offsets[positions]
        for window, positions in zip(windows, window_positions, strict=True)
    ]
    return UnitRows(np.concatenate([np.zeros((0, 2), np.int32), *offsets]), shares)


def _whole(window_positions: Sequence[np.ndarray], length: int) -> UnitRows:
    count = max(1, sum(map(len, window_positions)))
    shares = tuple(
        WindowShare(
            positions, np.zeros(len(positions), np.int64), np.full(len(positions), 1 / count)
        )
        for positions in window_positions
    )
    return UnitRows(np.array([[0, length]], dtype=np.int32), shares)


def once(windows: Sequence[EncodedInput], *, keep_special: bool) -> list[np.ndarray]:
    """Positions of each window so that every token of the text is taken once, with most context.

    Returns int (K,) for each window. Of the tokens that two windows share, the first half is taken
    from the first. Special tokens are taken at the beginning of the first window and at the end of
    the last; those within a text, as the marks of AWD-LSTM, belong to the token after them.
    """
    texts = [np.flatnonzero(window.text >= 0) for window in windows]
    for number in range(1, len(windows)):
        before, after = texts[number - 1], texts[number]
        shared = _shared(windows[number - 1].offsets[before], windows[number].offsets[after])
        texts[number - 1] = before[: len(before) - shared // 2]
        texts[number] = after[shared - shared // 2 :]
    texts = [_with_marks(window, taken) for window, taken in zip(windows, texts, strict=True)]
    if keep_special and windows:
        first, last = np.arange(len(windows[0])), np.arange(len(windows[-1]))
        leading = first if not len(texts[0]) else first[: texts[0][0]]
        texts[0] = np.concatenate([leading, texts[0]])
        trailing = last[texts[-1][-1] + 1 :] if len(texts[-1]) else last[:0]
        texts[-1] = np.concatenate([texts[-1], trailing])
    return texts


def _with_marks(window: EncodedInput, taken: np.ndarray) -> np.ndarray:
    """`taken` int (K,) and the special tokens between each and the token before it of its text."""
    text = np.flatnonzero(window.text >= 0)
    special = np.flatnonzero(window.text < 0)
    after = np.searchsorted(text, special)  # the number of the next token of a text
    within = (after > 0) & (after < len(text))
    special, after = special[within], text[after[within]]
    before = text[np.searchsorted(text, special) - 1]
    marks = special[(window.text[before] == window.text[after]) & np.isin(after, taken)]
    return np.sort(np.concatenate([taken, marks]))


def _shared(before: np.ndarray, after: np.ndarray) -> int:
    """The number of tokens at the end of `before` (T, 2) that `after` begins with."""
    if not len(before) or not len(after):
        return 0
    for start in np.flatnonzero((before == after[0]).all(-1)):
        count = len(before) - int(start)
        if count <= len(after) and np.array_equal(before[start:], after[:count]):
            return count
    return 0
