"""Reads the words and vectors of each format, once, into a matrix of float32.

Yields blocks of words, the bytes of their vectors, and where each vector begins in the file.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workbench.base.errors import ModelError
from workbench.base.i18n import _, ngettext
from workbench.runtime.vectors.files import (
    MAX_WORD_BYTES,
    FileHeader,
    Format,
    entries,
    is_number,
    pruned,
    quantized,
)

BLOCK = 4096  # words per block
MAX_FLOAT32 = float(np.finfo(np.float32).max)
_SHAPE = struct.Struct("<qq")


@dataclass(frozen=True)
class VectorBlock:
    """values float32 (n, width) of `words`; starts: byte position of each vector in the file.

    share: how much of the file has been read, in [0, 1]. Rows of n-grams have no words.
    """

    words: Sequence[bytes]
    values: np.ndarray
    starts: Sequence[int]
    share: float


def blocks(path: Path, header: FileHeader) -> Iterator[VectorBlock]:
    """All rows of a file in order. Raises ModelError that names the place of an error."""
    if header.is_text:
        yield from _text(path, header)
        return
    with mapped(path) as data:
        if header.format is Format.BINARY:
            yield from _binary(path, header, data)
        else:
            yield from _native(path, header, data)


@contextmanager
def mapped(path: Path) -> Iterator[mmap.mmap]:
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        yield data


# ---------------------------------------------------------------- text


def _text(path: Path, header: FileHeader) -> Iterator[VectorBlock]:
    size, at, total = path.stat().st_size, header.start, 0
    line = header.lines  # number of the last line read
    words: list[bytes] = []
    rest: list[bytes] = []
    starts: list[int] = []
    lines: list[int] = []
    with open(path, "rb", buffering=1 << 20) as file:
        file.seek(header.start)
        for raw in file:
            line += 1
            if raw.strip():
                word, numbers = split_line(path, line, raw, header.width)
                words.append(word)
                rest.append(numbers)
                starts.append(at + len(word) + 1)
                lines.append(line)
            at += len(raw)
            if len(words) == BLOCK:
                total += len(words)
                yield VectorBlock(words, _values(path, lines, rest, header), starts, at / size)
                words, rest, starts, lines = [], [], [], []
    if words:
        total += len(words)
        yield VectorBlock(words, _values(path, lines, rest, header), starts, 1.0)
    if header.words and total != header.words:
        raise ModelError(
            ngettext(
                "{path} holds {found:,} word, but its first line gives {given:,}.",
                "{path} holds {found:,} words, but its first line gives {given:,}.",
                total,
                path=path,
                found=total,
                given=header.words,
            ),
            hint=_("Correct the first line, or download the file again."),
        )


def split_line(path: Path, line: int, raw: bytes, width: int) -> tuple[bytes, bytes]:
    """The word of a line and its numbers. A word may contain spaces, as some of GloVe's do, and
    bytes that are no UTF-8, see `WordIndex`.

    Raises ModelError if it has fewer numbers than `width`, or more.
    """
    text = raw.rstrip()
    count = text.count(b" ")
    if count == width:
        word, _space, numbers = text.partition(b" ")
    elif count > width:
        word = text.rsplit(b" ", width)[0]
        numbers = text[len(word) + 1 :]
        extra = word.split()[1:]
        if extra and all(map(is_number, extra)):
            raise _wrong_width(path, line, count, width)
    elif b"\t" in text:
        return split_line(path, line, text.replace(b"\t", b" "), width)
    else:
        raise _wrong_width(path, line, count, width)
    return word, numbers


def _wrong_width(path: Path, line: int, count: int, width: int) -> ModelError:
    return ModelError(
        ngettext(
            "{path}, line {line} has {count} number, expected {width}.",
            "{path}, line {line} has {count} numbers, expected {width}.",
            count,
            path=path,
            line=line,
            count=count,
            width=width,
        ),
        hint=_("The file is damaged or truncated. Download it again."),
    )


def _values(
    path: Path, lines: Sequence[int], rest: Sequence[bytes], header: FileHeader
) -> np.ndarray:
    """float32 (n, width), rounded from float64 as other readers do."""
    try:
        rows = np.loadtxt(rest, delimiter=" ", comments=None, ndmin=2)
    except ValueError:  # not a number, or several spaces in a row
        for line, numbers in zip(lines, rest, strict=True):
            check_numbers(path, line, numbers, header.width)
        rows = np.array([[float(value) for value in numbers.split()] for numbers in rest])
    with np.errstate(over="ignore"):
        values = rows.astype(np.float32)
    if not np.isfinite(values).all():
        for line, numbers in zip(lines, rest, strict=True):
            check_numbers(path, line, numbers, header.width)
    return values


def check_numbers(path: Path, line: int, numbers: bytes, width: int) -> None:
    """Raises ModelError if the numbers of a line cannot be used."""
    parts = numbers.split()
    for part in parts:
        if not is_number(part) or not abs(float(part)) <= MAX_FLOAT32:
            raise ModelError(
                _(
                    "{path}, line {line}: {value!r} is not a number.",
                    path=path,
                    line=line,
                    value=part[:40].decode("utf-8", "replace"),
                )
            )
    if len(parts) != width:
        raise _wrong_width(path, line, len(parts), width)


# ---------------------------------------------------------------- word2vec binary


def _binary(path: Path, header: FileHeader, data: mmap.mmap) -> Iterator[VectorBlock]:
    at, size, length = header.start, len(data), 4 * header.width
    for first in range(0, header.words, BLOCK):
        words, rows, starts = [], [], []
        for number in range(first, min(first + BLOCK, header.words)):
            space = data.find(b" ", at, at + MAX_WORD_BYTES)
            if space < 0 or space + 1 + length > size:
                raise _cut(path, number, header.words, at)
            words.append(data[at:space].lstrip(b"\n"))
            at = space + 1 + length
            rows.append(data[space + 1 : at])
            starts.append(space + 1)
        yield VectorBlock(words, _floats(path, rows, words, header.width), starts, at / size)
    if data[at : at + 3].strip(b"\r\n"):
        raise ModelError(
            _(
                "{path} is longer than its first line says (number of words: {words:,}).",
                path=path,
                words=header.words,
            ),
            hint=_("The first line is wrong, or the file is damaged. Download it again."),
        )


def _floats(path: Path, rows: Sequence[bytes], words: Sequence[bytes], width: int) -> np.ndarray:
    values = np.frombuffer(b"".join(rows), dtype="<f4").reshape(-1, width)
    if len(wrong := np.flatnonzero(~np.isfinite(values).all(1))):
        raise ModelError(
            _(
                "{path}: the vector of {word!r} has values that are not finite.",
                path=path,
                word=words[int(wrong[0])].decode("utf-8", "replace")[:80],
            ),
            hint=_("The file is damaged. Download it again."),
        )
    return values


def _cut(path: Path, number: int, words: int, at: int) -> ModelError:
    return ModelError(
        _(
            "{path} is damaged: word {number:,} of {words:,} (byte {at:,}) is incomplete.",
            path=path,
            number=number + 1,
            words=words,
            at=at,
        ),
        hint=_("The file is truncated, or its first line is wrong. Download it again."),
    )


# ---------------------------------------------------------------- fastText


def _native(path: Path, header: FileHeader, data: mmap.mmap) -> Iterator[VectorBlock]:
    words, at = find_matrix(path, header, data)
    length, total = 4 * header.width, header.words + header.buckets
    for first in range(0, total, BLOCK):
        begin, end = at + first * length, at + min(first + BLOCK, total) * length
        names = words[first : first + BLOCK]
        values = np.frombuffer(data[begin:end], dtype="<f4").reshape(-1, header.width)
        if not np.isfinite(values).all():
            raise ModelError(
                _(
                    "{path} is damaged: rows {first:,} and following are not finite.",
                    path=path,
                    first=first,
                )
            )
        yield VectorBlock(names, values, range(begin, end, length), end / len(data))


def find_matrix(path: Path, header: FileHeader, data: mmap.mmap) -> tuple[list[bytes], int]:
    """The words of fastText's binary, and the position of its matrix. Raises ModelError if it is
    compressed, damaged or incomplete.
    """
    words, at = _dictionary(path, header, data)
    return words, _matrix(path, header, data, at)


def _dictionary(path: Path, header: FileHeader, data: mmap.mmap) -> tuple[list[bytes], int]:
    """The words (without labels), and the position after the dictionary."""
    at, count, words = header.start, 0, []
    for start, zero, after in entries(data, header):
        if count < header.words:
            words.append(data[start:zero])
        at, count = after, count + 1
    if count < header.words + header.labels:
        raise _cut(path, count, header.words, at)
    return words, at + 8 * pruned(data, header)


def _matrix(path: Path, header: FileHeader, data: mmap.mmap, at: int) -> int:
    """The position of the input matrix. Raises ModelError if it is compressed or does not fit."""
    if at + 1 + _SHAPE.size > len(data):
        raise _cut(path, header.words, header.words, at)
    if data[at]:
        raise quantized(path)
    rows, width = _SHAPE.unpack_from(data, at + 1)
    at += 1 + _SHAPE.size
    if width != header.width or rows != header.words + header.buckets:
        raise ModelError(
            _(
                "{path} is damaged: its matrix has the shape {rows:,} × {width:,}, expected "
                "{expected:,} × {right:,}.",
                path=path,
                rows=rows,
                width=width,
                expected=header.words + header.buckets,
                right=header.width,
            )
        )
    if at + 4 * rows * width > len(data):
        raise _cut(path, header.words, header.words, at)
    return at
