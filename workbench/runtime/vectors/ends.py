"""Whether a file of word vectors is damaged or cut off, from a few parts of it.

A file of 2 million words has gigabytes. Its first lines, its last bytes and samples in between show
an interrupted download and lines of another width; reading.py checks every line when the file is
first used.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from pathlib import Path

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.runtime.vectors import reading
from workbench.runtime.vectors.files import (
    MIN_WIDTH,
    FileHeader,
    Format,
    is_number,
    lines_of,
    numbers_of,
)

CHECKED_BYTES = 1 << 16  # bytes of the first lines that are checked
TAIL = 1 << 18  # bytes read at the end: at least one line of 10,000 numbers
SAMPLES, SAMPLE = 64, 1 << 15  # blocks of a long text, and bytes of each
COUNTED = SAMPLES * SAMPLE  # bytes of a text whose lines are counted
SHARE = 0.1  # by which an estimated number of words may differ from the first line
LONG_WORD = 64  # bytes; fastText's words are shorter on average


def problems(path: Path, header: FileHeader) -> list[str]:
    """What is wrong with a file that begins with this header; [] for a usable one.

    Reads about 3 MB, a damaged file to its end, to give the number of its last line.
    """
    if not path.stat().st_size:
        return []
    if header.is_text:
        problem = _first_lines(path, header) or _last_line(path, header) or _count(path, header)
    elif header.format is Format.BINARY:
        problem = _last_vector(path, header)
    else:
        problem = _matrix(path, header)
    return [problem] if problem else []


def near_miss(path: Path) -> str:
    """Why a file that begins as a text of vectors is none, with the line; "" for any other file."""
    with open(path, "rb") as file:
        lines = file.read(CHECKED_BYTES).removeprefix(BOM_UTF8).split(b"\n")[:3]
    first = lines[0].split()
    if len(first) == 2 and all(part.isdigit() for part in first):
        width, start = int(first[1]), 1
        message = _("its first line gives the shape {words} × {width}, but {fault}")
    else:
        width, start = numbers_of(lines[0]), 0
        message = _("it begins as a text file of word vectors of width {width}, but {fault}")
    begins = width >= MIN_WIDTH and len(lines) > 1 and _has_numbers(lines[1])
    if not begins or not (fault := _fault(path, 2, lines[1], width)):
        return ""
    return message.format(words=int(first[0]) if start else 0, width=width, fault=fault)


def _has_numbers(line: bytes) -> bool:
    """Whether it is a word and something, of which the most are numbers."""
    word, *values = line.split() or [b""]
    return sum(map(is_number, values)) > len(values) / 2 and not is_number(word)


# ---------------------------------------------------------------- text


def _first_lines(path: Path, header: FileHeader) -> str:
    with open(path, "rb") as file:
        file.seek(header.start)
        part = file.read(CHECKED_BYTES)
        whole = not file.read(1)
    lines = part.split(b"\n")
    for number, line in enumerate(lines if whole else lines[:-1], header.lines + 1):
        if fault := _fault(path, number, line, header.width):
            return fault
    return ""


def _last_line(path: Path, header: FileHeader) -> str:
    """A file that ends within a line: its download was interrupted."""
    size = path.stat().st_size
    with open(path, "rb") as file:
        file.seek(max(0, size - TAIL))
        lines = file.read().rstrip().rsplit(b"\n", 1)
    if len(lines) == 2 and _fault(path, 0, lines[1], header.width):
        return _fault(path, lines_of(path), lines[1], header.width)
    return ""


def _fault(path: Path, number: int, line: bytes, width: int) -> str:
    """What is wrong with a line, as a clause; "" if it is a word and its vector, or blank."""
    if not line.strip():
        return ""
    try:
        _word, numbers = reading.split_line(Path(path.name), number, line, width)
        reading.check_numbers(Path(path.name), number, numbers, width)
    except ModelError as error:
        return str(error).removesuffix(".")
    return ""


def _count(path: Path, header: FileHeader) -> str:
    """The words are counted in a short file, in a long one estimated from samples."""
    if not header.words:
        return ""
    size = path.stat().st_size
    if size <= COUNTED:
        words, least = lines_of(path) - 1, header.words
    else:
        words, least = _estimated(path, size) - 1, int(header.words * (1 - SHARE))
    if words >= least:
        return ""
    return _(
        "{file} is truncated, or its first line is wrong: the number of words is about "
        "{found:,}, the first line gives {given:,}. Download it again",
        file=path.name,
        found=words,
        given=header.words,
    )


def _estimated(path: Path, size: int) -> int:
    """Lines of a file, from those in evenly spaced blocks."""
    ends = 0
    with open(path, "rb") as file:
        for number in range(SAMPLES):
            file.seek(number * (size - SAMPLE) // (SAMPLES - 1))
            ends += file.read(SAMPLE).count(b"\n")
    return round(ends * size / COUNTED)


# ---------------------------------------------------------------- binary


def _last_vector(path: Path, header: FileHeader) -> str:
    """A complete file ends with a space and a vector; after it, some writers start a new line."""
    length = 4 * header.width
    with open(path, "rb") as file:
        file.seek(max(header.start, path.stat().st_size - length - 4))
        end = file.read()
    blank = len(end) - len(end.rstrip(b"\r\n"))
    for more in range(min(blank, 3) + 1):
        if end[: len(end) - length - more].endswith(b" "):
            return ""
    return _(
        "{file} is truncated, or its header is wrong: it does not end with a vector of width "
        "{width:,}. Download it again",
        file=path.name,
        width=header.width,
    )


def _matrix(path: Path, header: FileHeader) -> str:
    """The words of fastText's dictionary have any length: they are read where it matters."""
    entries, rows = header.words + header.labels, header.words + header.buckets
    size, least = path.stat().st_size, header.start + entries * 11 + 4 * rows * header.width
    if size > least + entries * LONG_WORD:
        return ""
    try:
        with reading.mapped(path) as data:
            reading.find_matrix(Path(path.name), header, data)
    except ModelError as error:
        return str(error).removesuffix(".")
    return ""
