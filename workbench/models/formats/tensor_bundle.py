"""Names and places of the tensors in a TensorFlow checkpoint (format V2, "tensor bundle").

NAME.index is a sorted string table as in LevelDB: blocks of key–value entries with shared key
prefixes, found through an index block whose position is in the footer. Its values are protocol
buffers: the empty key has a BundleHeaderProto, every other key, the name of a tensor, a
BundleEntryProto with type, shape and the bytes in NAME.data-00000-of-00001. No tensor is read here.

Sources: leveldb/doc/table_format.md; tensorflow/core/protobuf/tensor_bundle.proto and
tensorflow/core/framework/types.proto; RFC 3720, appendix B.4, for CRC-32C.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

SUFFIX = ".index"
FOOTER, MAGIC = 48, 0xDB4775248B80FB57
TRAILER = 5  # bytes after each block: compression and checksum
UNCOMPRESSED = 0
MASK_DELTA = 0xA282EAD8
MAX_INDEX_BYTES = 100_000_000  # of an index; that of BERT has 10,000
# DataType → (name in numpy, bytes); others are no weights.
TYPES: Mapping[int, tuple[str, int]] = {
    1: ("float32", 4),
    2: ("float64", 8),
    3: ("int32", 4),
    9: ("int64", 8),
    19: ("float16", 2),
}
LITTLE_ENDIAN = 0


@dataclass(frozen=True)
class TensorEntry:
    """A tensor: its type as numpy names it, shape, and bytes in the file."""

    dtype: str
    shape: tuple[int, ...]
    file: Path
    offset: int
    size: int


def read(index: Path) -> dict[str, TensorEntry]:
    """The tensors of a checkpoint by name, checked against the sizes of its files.

    Tensors of other types than numbers are left out. Raises ValueError, with a clause that says
    what is damaged, and OSError.
    """
    size = index.stat().st_size
    if not FOOTER <= size <= MAX_INDEX_BYTES:
        raise ValueError(f"{index.name} has {size:,} bytes, which no index has")
    content = index.read_bytes()
    try:
        table = dict(_entries(content))
        header = _message(table.pop(b""))
        entries = {name.decode(): _message(value) for name, value in table.items()}
    except (KeyError, IndexError, struct.error, UnicodeDecodeError, OverflowError) as error:
        raise ValueError(f"{index.name} is damaged or truncated") from error
    if header.get(2, LITTLE_ENDIAN) != LITTLE_ENDIAN:
        raise ValueError(f"{index.name} was written on a big-endian machine")
    shards = int(header.get(1, 1))
    places = {name: _place(index, entry, shards) for name, entry in entries.items()}
    known = {name: place for name, place in places.items() if place is not None}
    _check_files(known)
    return known


def _place(index: Path, entry: Mapping[int, Any], shards: int) -> TensorEntry | None:
    kind, number = int(entry.get(1, 0)), int(entry.get(3, 0))
    if kind not in TYPES or 7 in entry:  # 7: slices of a partitioned tensor
        return None
    dtype, width = TYPES[kind]
    dimensions = [_message(dim) for dim in _repeated(entry.get(2, b""), 2)]
    shape = tuple(int(dim.get(1, 0)) for dim in dimensions)
    offset, size = int(entry.get(4, 0)), int(entry.get(5, 0))
    if math.prod(shape) * width != size:
        raise ValueError(f"{index.name} is damaged: {size:,} bytes for a tensor of shape {shape}")
    stem = index.name.removesuffix(SUFFIX)
    file = index.with_name(f"{stem}.data-{number:05d}-of-{shards:05d}")
    return TensorEntry(dtype, shape, file, offset, size)


def _check_files(places: Mapping[str, TensorEntry]) -> None:
    ends: dict[Path, int] = {}
    for place in places.values():
        ends[place.file] = max(ends.get(place.file, 0), place.offset + place.size)
    for file, end in ends.items():
        if not file.is_file():
            raise ValueError(f"{file.name} is missing")
        if (size := file.stat().st_size) < end:
            raise ValueError(f"{file.name} is truncated: {size:,} bytes, expected {end:,}")


# ---------------------------------------------------------------- sorted string table


def _entries(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Every key with its value."""
    footer = content[-FOOTER:]
    if struct.unpack("<Q", footer[-8:])[0] != MAGIC:
        raise ValueError("the index is no table of TensorFlow, or is truncated")
    _metaindex, at = _handle(footer, 0)
    handle, _end = _handle(footer, at)
    for _key, value in _block(content, *handle):
        yield from _block(content, *_handle(value, 0)[0])


def _handle(raw: bytes, at: int) -> tuple[tuple[int, int], int]:
    """(offset, size) of a block, and the position after them."""
    offset, at = _varint(raw, at)
    size, at = _varint(raw, at)
    return (offset, size), at


def _block(content: bytes, offset: int, size: int) -> Iterator[tuple[bytes, bytes]]:
    raw = content[offset : offset + size]
    trailer = content[offset + size : offset + size + TRAILER]
    compression, stored = struct.unpack("<BI", trailer)
    if compression != UNCOMPRESSED:
        raise ValueError("the index is compressed, which checkpoints of TensorFlow are not")
    if _masked(_crc32c(raw + trailer[:1])) != stored:
        raise ValueError("the index is damaged: a checksum differs")
    restarts = struct.unpack("<I", raw[-4:])[0]
    at, end, key = 0, len(raw) - 4 * (restarts + 1), b""
    while at < end:
        shared, at = _varint(raw, at)
        more, at = _varint(raw, at)
        length, at = _varint(raw, at)
        key = key[:shared] + raw[at : at + more]
        at += more
        yield key, raw[at : at + length]
        at += length


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    """An integer of 7 bits per byte, lowest first, and the position after it."""
    value = shift = 0
    while True:
        byte = raw[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
        if shift > 63:
            raise ValueError("the index is damaged: a number is too long")


@cache
def _crc_table() -> tuple[int, ...]:
    table = []
    for value in range(256):
        for _bit in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return tuple(table)


def _crc32c(raw: bytes) -> int:
    table, crc = _crc_table(), 0xFFFFFFFF
    for byte in raw:
        crc = crc >> 8 ^ table[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def _masked(crc: int) -> int:
    """As stored: a checksum of data that holds checksums would be weak."""
    return ((crc >> 15 | crc << 17) + MASK_DELTA) & 0xFFFFFFFF


# ---------------------------------------------------------------- protocol buffers


def _message(raw: bytes) -> dict[int, Any]:
    """Field number → last value; numbers as int, others as bytes."""
    return dict(_fields(raw))


def _repeated(raw: bytes, number: int) -> list[bytes]:
    return [value for field, value in _fields(raw) if field == number and isinstance(value, bytes)]


def _fields(raw: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(raw):
        tag, at = _varint(raw, at)
        kind = tag & 7
        if kind == 0:
            value, at = _varint(raw, at)
            yield tag >> 3, value
            continue
        if kind == 2:
            length, at = _varint(raw, at)
        elif kind in (1, 5):
            length = 8 if kind == 1 else 4
        else:
            raise ValueError("the index is damaged: an unknown kind of field")
        if at + length > len(raw):
            raise IndexError(at)
        yield tag >> 3, raw[at : at + length]
        at += length
