"""Reads rows from the pages of a database file without SQLite, which refuses a damaged one.

The format: https://www.sqlite.org/fileformat.html. Committed changes in a write-ahead log count;
its checksums are not compared, as its frames are only used up to the last commit.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

LEAF, INTERIOR = 0x0D, 0x05  # of tables
INDEX_LEAF, INDEX_INTERIOR = 0x0A, 0x02  # of indexes and of tables without row ids
_MAGIC = b"SQLite format 3\0"
_DEFAULT_SIZE = 4096
_WAL_MAGIC = (0x377F0682, 0x377F0683)
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}  # serial type → bytes
_BROKEN = (IndexError, ValueError, struct.error)

Value = int | float | str | bytes | None


class RawRow(NamedTuple):
    """`id`: the row id, None in a table without row ids. `values`: as stored, the row id NULL."""

    id: int | None
    values: tuple[Value, ...]


class RawPages:
    """The pages of a file. `broken`: pages and rows that could not be read since `rows` began.

    `log`: whether the write-ahead log beside the file belongs to it.
    """

    def __init__(self, path: Path, *, log: bool = True):
        self._data = path.read_bytes()
        head = self._data[:100]
        size = struct.unpack(">H", head[16:18])[0] if head.startswith(_MAGIC) else 0
        size = 65_536 if size == 1 else size
        self._size = size if 512 <= size <= 65_536 and not size & (size - 1) else _DEFAULT_SIZE
        self._usable = self._size - (head[20] if head.startswith(_MAGIC) else 0)
        self._log = _committed(path.with_name(f"{path.name}-wal"), self._size) if log else {}
        self.count = max([len(self._data) // self._size, *self._log])
        self.seen: set[int] = set()
        self.broken = 0

    @property
    def header(self) -> bytes:
        """The first 100 bytes."""
        return self._page(1)[:100]

    def _page(self, number: int) -> bytes:
        """Raises ValueError if the file does not have the page."""
        page = self._log.get(number) or self._data[(number - 1) * self._size : number * self._size]
        if number < 1 or len(page) != self._size:
            raise ValueError(f"page {number} is missing")
        return page

    # ------------------------------------------------------------ rows

    def rows(self, root: int) -> Iterator[RawRow]:
        """The rows of the table or index at this page, without those on broken pages."""
        pages = [root]
        while pages:
            number = pages.pop()
            if number in self.seen:
                self.broken += 1
                continue
            self.seen.add(number)
            try:
                kind, children, rows, broken = self._parsed(number)
            except _BROKEN:
                self.broken += 1
                continue
            self.broken += broken
            pages.extend(reversed(children))
            yield from rows

    def orphans(self) -> Iterator[tuple[int, list[RawRow]]]:
        """(kind, rows) of leaf pages in use to which no page leads that was read before."""
        unused = self._free()
        for number in range(2, self.count + 1):
            if number in self.seen or number in unused:
                continue
            with suppress(*_BROKEN):
                kind, _children, rows, broken = self._parsed(number)
                if kind in (LEAF, INDEX_LEAF) and rows and not broken:
                    self.seen.add(number)
                    yield kind, rows

    def _parsed(self, number: int) -> tuple[int, list[int], list[RawRow], int]:
        """(kind, pages below it, rows, number of broken rows) of a page."""
        page, at = self._page(number), 100 if number == 1 else 0
        kind = page[at]
        if kind not in (LEAF, INTERIOR, INDEX_LEAF, INDEX_INTERIOR):
            raise ValueError(f"page {number} is of no known kind")
        inner = kind in (INTERIOR, INDEX_INTERIOR)
        (cells,) = struct.unpack(">H", page[at + 3 : at + 5])
        first = at + (12 if inner else 8)
        if first + 2 * cells > self._usable:
            raise ValueError(f"page {number} has too many cells")
        children, rows, broken = list[int](), list[RawRow](), 0
        for (place,) in struct.iter_unpack(">H", page[first : first + 2 * cells]):
            try:
                if inner:
                    children.append(self._child(page, place))
                if kind != INTERIOR:
                    rows.append(self._cell(page, place + 4 * inner, kind == LEAF))
            except _BROKEN:
                broken += 1
        if inner:
            try:
                children.append(self._child(page, at + 8))
            except _BROKEN:
                broken += 1
        return kind, children, rows, broken

    def _child(self, page: bytes, at: int) -> int:
        (child,) = struct.unpack(">I", page[at : at + 4])
        if not 2 <= child <= self.count:
            raise ValueError(f"there is no page {child}")
        return int(child)

    def _cell(self, page: bytes, at: int, table: bool) -> RawRow:
        length, at = _varint(page, at)
        row = None
        if table:
            row, at = _varint(page, at)
        most = self._usable - 35 if table else (self._usable - 12) * 64 // 255 - 23
        least = (self._usable - 12) * 32 // 255 - 23
        local = length
        if length > most:
            local = least + (length - least) % (self._usable - 4)
            local = local if local <= most else least
        payload = page[at : at + local]
        if length > local:
            (after,) = struct.unpack(">I", page[at + local : at + local + 4])
            payload += self._overflow(after, length - local)
        if len(payload) != length:
            raise ValueError("a row is not whole")
        return RawRow(row, _record(payload))

    def _overflow(self, number: int, length: int) -> bytes:
        if length > len(self._data) + len(self._log) * self._size:
            raise ValueError("a row is longer than the file")
        parts, visited = list[bytes](), set[int]()
        while length > 0:
            page = self._page(number)
            if number in visited:
                raise ValueError("a row leads back to itself")
            visited.add(number)
            parts.append(page[4 : 4 + min(length, self._usable - 4)])
            length -= self._usable - 4
            (number,) = struct.unpack(">I", page[:4])
        self.seen |= visited
        return b"".join(parts)

    def _free(self) -> set[int]:
        """The pages that hold nothing, or what was deleted."""
        free = set[int]()
        with suppress(*_BROKEN):
            (trunk,) = struct.unpack(">I", self.header[32:36])
            while trunk and trunk not in free:
                page = self._page(trunk)
                free.add(trunk)
                following, leaves = struct.unpack(">II", page[:8])
                free.update(struct.unpack(f">{leaves}I", page[8 : 8 + 4 * leaves]))
                trunk = following
        return free


def _committed(log: Path, size: int) -> dict[int, bytes]:
    """Page number → its newest content in a write-ahead log."""
    pages: dict[int, bytes] = {}
    if not log.is_file():
        return pages
    data = log.read_bytes()
    if len(data) < 32:
        return pages
    magic, _version, page_size, _sequence, *salts = struct.unpack(">6I", data[:24])
    if magic not in _WAL_MAGIC or page_size != size:
        return pages
    fresh: dict[int, bytes] = {}
    for at in range(32, len(data) - size - 23, size + 24):
        number, commit, *own = struct.unpack(">4I", data[at : at + 16])
        if own != salts:
            break
        fresh[number] = data[at + 24 : at + 24 + size]
        if commit:
            pages.update(fresh)
            fresh.clear()
    return pages


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """(value, position after it); signed, 1 to 9 bytes."""
    value = 0
    for place in range(8):
        byte = data[at + place]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + place + 1
    value = value << 8 | data[at + 8]
    return value - (1 << 64) if value >> 63 else value, at + 9


def _record(payload: bytes) -> tuple[Value, ...]:
    """The values of a row. Raises ValueError if it is not exactly one; bytes that are not UTF-8
    become U+FFFD.
    """
    end, at = _varint(payload, 0)
    kinds, values = list[int](), list[Value]()
    while at < end:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    if at != end:
        raise ValueError("the types of a row are not valid")
    for kind in kinds:
        value, at = _value(payload, at, kind)
        values.append(value)
    if at != len(payload):
        raise ValueError("a row has another length than its values")
    return tuple(values)


def _value(payload: bytes, at: int, kind: int) -> tuple[Value, int]:
    if kind >= 12:
        end = at + (kind - 12) // 2
        stored = payload[at:end]
        return (stored.decode("utf-8", "replace") if kind % 2 else stored), end
    if kind in _INTEGERS:
        end = at + _INTEGERS[kind]
        return int.from_bytes(payload[at:end], "big", signed=True), end
    if kind == 7:
        return struct.unpack(">d", payload[at : at + 8])[0], at + 8
    if kind in (0, 8, 9):
        return (None, 0, 1)[max(0, kind - 7)], at
    raise ValueError(f"a value of the unknown type {kind}")
