"""The format and the size of a file of word vectors, from its first bytes. Reads no vectors.

Formats: word2vec binary and text (first line: words and width), GloVe text (no first line) and
fastText's native binary with character n-grams; fastText's .vec is word2vec text.
Sources: Mikolov et al. 2013, word2vec; Pennington, Socher and Manning 2014, GloVe;
Bojanowski et al. 2017, fastText (dictionary.cc, fasttext.cc, version 12 of the file).
"""

from __future__ import annotations

import mmap
import os
import struct
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from workbench.base.errors import ModelError
from workbench.base.i18n import _, ngettext

SUFFIXES = (".bin", ".txt", ".vec", ".ftz")
HEAD = 1 << 18  # bytes read to recognize a file: several lines of 1,000 numbers
MIN_WIDTH = 4  # of a file without a first line; a narrower table is more likely another format
MAX_WIDTH = 100_000
MAX_WORD_BYTES = 10_000  # bytes
MAGIC, VERSIONS = 793712314, (11, 12)
_ARGS = struct.Struct("<ii12id")  # magic, version, arguments, sampling threshold
_SIZES = struct.Struct("<iiiqq")  # entries, words, labels, tokens, pruned n-grams
_ENTRY = struct.Struct("<qb")  # count, and whether it is a label; after a word and a zero byte
_IGNORED = ("readme", "licen", "notice", "head.safetensors", "glossbench.json", "unknown.npy")


class Format(StrEnum):
    BINARY = "word2vec-binary"
    TEXT = "word2vec-text"
    GLOVE = "glove"
    FASTTEXT = "fasttext"


@dataclass(frozen=True)
class FileHeader:
    """What the first bytes say: number of words (0 if they do not say), width, first record.

    low, high: lengths of fastText's n-grams in characters; buckets: rows that they share; labels:
    of a supervised model.
    """

    format: Format
    words: int
    width: int
    start: int
    low: int = 0
    high: int = 0
    buckets: int = 0
    labels: int = 0

    @property
    def is_text(self) -> bool:
        return self.format in (Format.TEXT, Format.GLOVE)

    @property
    def lines(self) -> int:
        """Lines of a text before the first word."""
        return int(self.format is Format.TEXT)


def file_of(path: Path) -> tuple[Path | None, list[str]]:
    """The file of vectors: `path`, or the only one in the folder `path`; problems if there is none.

    (None, []) for a folder that is not a model of this kind.
    """
    if not path.is_dir():
        return path, []
    named = candidates(path)
    vector_files = [path for path in named if header(path)[0] is not None]
    if len(vector_files) == 1:
        return vector_files[0], []
    if vector_files:
        message = _("it holds several files of vectors ({files}): specify one of them")
        return None, [message.format(files=", ".join(path.name for path in vector_files[:5]))]
    return None, header(named[0])[1] if len(named) == 1 else []


def candidates(path: Path) -> list[Path]:
    """The file, or those in the folder that may be vectors according to their names."""
    if not path.is_dir():
        return [path] if path.suffix.lower() in SUFFIXES else []
    if (path / "config.json").is_file():
        return []
    named = sorted(file for file in path.iterdir() if file.suffix.lower() in SUFFIXES)
    return [path for path in named if not path.name.lower().startswith(_IGNORED)]


def header(path: Path) -> tuple[FileHeader | None, list[str]]:
    """The header of a file and its problems; (None, []) if it is of another format.

    An empty file with one of SUFFIXES has no header but a problem.
    """
    size = path.stat().st_size
    with open(path, "rb") as file:
        head = file.read(HEAD)
    if not head.strip() and size <= HEAD:
        known = path.suffix.lower() in SUFFIXES
        return None, [_("{file} is empty", file=path.name)] if known else []
    if head[:4] == struct.pack("<i", MAGIC):
        return _native(path, head, size)
    mark = len(BOM_UTF8) if head.startswith(BOM_UTF8) else 0
    line, newline, rest = head[mark:].partition(b"\n")
    parts = line.split()
    if len(parts) == 2 and all(part.isdigit() for part in parts) and newline:
        return _counted(path, int(parts[0]), int(parts[1]), mark + len(line) + 1, rest)
    if parts and (width := numbers_of(line)) >= MIN_WIDTH and (newline or size <= HEAD):
        second = rest.partition(b"\n")[0].split()
        if not second or is_number(second[-1]):
            return FileHeader(Format.GLOVE, 0, width, mark), []
    return None, []


def numbers_of(line: bytes) -> int:
    """How many numbers follow the first word of a line; 0 if there is anything else."""
    values = line.split()[1:]
    return len(values) if all(map(is_number, values)) else 0


def is_number(value: bytes) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _counted(
    path: Path, words: int, width: int, start: int, rest: bytes
) -> tuple[FileHeader | None, list[str]]:
    """A file whose first line has the number of words and the width."""
    first = rest.partition(b"\n")[0]
    text = numbers_of(first) >= MIN_WIDTH or len(first.split()) == width + 1
    if not text and path.suffix.lower() != ".bin" and not _is_binary(rest):
        return None, []  # a table of numbers, or any text
    header = FileHeader(Format.TEXT if text else Format.BINARY, words, width, start)
    if not words or not 0 < width <= MAX_WIDTH:
        message = _(
            "its first line gives the shape {words:,} × {width:,}", words=words, width=width
        )
        return header, [message]
    least = start + words * (2 * width + 1 if text else 4 * width + 2)
    if (size := path.stat().st_size) < least:
        return header, [too_short(path.name, words, width, least, size)]
    return header, []


def _is_binary(data: bytes) -> bool:
    return any(byte < 9 for byte in data[:4096])


def too_short(name: str, words: int, width: int, least: int, size: int) -> str:
    return _(
        "{file} is truncated, or its header is wrong: a matrix of {words:,} × {width:,} "
        "takes at least {least:,} B, the file has {size:,} B",
        file=name,
        words=words,
        width=width,
        least=least,
        size=size,
    )


def _native(path: Path, head: bytes, size: int) -> tuple[FileHeader | None, list[str]]:
    """fastText's native format."""
    name = path.name
    nothing = FileHeader(Format.FASTTEXT, 0, 0, 0)
    if len(head) < _ARGS.size + _SIZES.size:
        return nothing, [
            ngettext(
                "{file} is truncated ({size:,} byte)",
                "{file} is truncated ({size:,} bytes)",
                size,
                file=name,
                size=size,
            )
        ]
    _magic, version, *sizes = _ARGS.unpack_from(head)
    if version not in VERSIONS:
        message = _("{file} has version {version} of the fastText format, known are {known}")
        known = ", ".join(map(str, VERSIONS))
        return nothing, [message.format(file=name, version=version, known=known)]
    width, model, buckets, low, high = sizes[0], sizes[7], sizes[8], sizes[9], sizes[10]
    if version == VERSIONS[0] and model == 3:  # supervised, before n-grams of characters
        high = 0
    entries, words, labels, _tokens, _pruned = _SIZES.unpack_from(head, _ARGS.size)
    start = _ARGS.size + _SIZES.size
    header = FileHeader(Format.FASTTEXT, words, width, start, low, high, buckets, labels)
    plausible = 0 < width <= MAX_WIDTH and words > 0 and labels >= 0 <= buckets and low >= 0
    if not plausible or entries != words + labels or high > 100:
        return header, [_("{file} has a damaged header", file=name)]
    least = start + entries * 11 + (words + buckets) * width * 4
    if size < least:
        if _is_quantized(path, header):
            return header, [str(quantized(Path(name))).removesuffix(".")]
        return header, [too_short(name, words + buckets, width, least, size)]
    return header, []


def _is_quantized(path: Path, header: FileHeader) -> bool:
    """Whether fastText's dictionary is followed by a compressed matrix."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        at, count = header.start, 0
        for _start, _zero, at in entries(data, header):  # noqa: B007 (the last one is needed)
            count += 1
        at += 8 * pruned(data, header)
        return count == header.words + header.labels and at < len(data) and data[at] == 1


def entries(data: mmap.mmap, header: FileHeader) -> Iterator[tuple[int, int, int]]:
    """Each word of fastText's dictionary, then each label: (start, end, position after its count).

    Ends early if the dictionary is incomplete.
    """
    at = header.start
    for _number in range(header.words + header.labels):
        zero = data.find(b"\0", at, at + MAX_WORD_BYTES)
        if zero < 0 or zero + 1 + _ENTRY.size > len(data):
            return
        after = zero + 1 + _ENTRY.size
        yield at, zero, after
        at = after


def pruned(data: mmap.mmap, header: FileHeader) -> int:
    """How many n-grams a quantized model has kept: pairs of numbers after its dictionary."""
    (count,) = struct.unpack_from("<q", data, header.start - 8)
    return max(0, int(count))


def quantized(path: Path) -> ModelError:
    """The error for a model that fastText's command quantize has compressed."""
    return ModelError(
        _("{path} is a quantized fastText model, which cannot be read.", path=path),
        hint=_(
            "Use the .bin file that it was made from, or the text file that `fasttext "
            "print-word-vectors {file} < words.txt` writes.",
            file=path.name,
        ),
    )


def lines_of(path: Path) -> int:
    """Lines of a file, the last one with or without an end."""
    lines, last = 0, b"\n"
    with open(path, "rb") as file:
        while block := file.read(1 << 22):
            lines, last = lines + block.count(b"\n"), block[-1:]
    return lines + (last != b"\n")


def key_of(path: Path) -> tuple[str, int, int]:
    """Real path, bytes and time of a file: what its index belongs to."""
    stat = path.stat()
    return os.path.realpath(path), stat.st_size, stat.st_mtime_ns
