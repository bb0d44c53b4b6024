"""Values in the binary form of MessagePack.

Source: github.com/msgpack/msgpack, spec.md. Extension types are not read.
"""

from __future__ import annotations

import struct
from typing import Any

from workbench.base.i18n import _

_DEEPEST = 100
# first byte → format and size of a number
_NUMBERS = {
    0xCA: (">f", 4),
    0xCB: (">d", 8),
    0xCC: (">B", 1),
    0xCD: (">H", 2),
    0xCE: (">I", 4),
    0xCF: (">Q", 8),
    0xD0: (">b", 1),
    0xD1: (">h", 2),
    0xD2: (">i", 4),
    0xD3: (">q", 8),
}
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
# first byte → what it begins, and the number of bytes of its length
_SIZED = {
    0xC4: ("bytes", 1),
    0xC5: ("bytes", 2),
    0xC6: ("bytes", 4),
    0xD9: ("text", 1),
    0xDA: ("text", 2),
    0xDB: ("text", 4),
    0xDC: ("list", 2),
    0xDD: ("list", 4),
    0xDE: ("map", 2),
    0xDF: ("map", 4),
}


def read(content: bytes) -> Any:
    """Raises ValueError for bytes that are not one value."""
    reader = _Reader(content)
    value = reader.value(0)
    if reader.at != len(content):
        raise ValueError(_("more follows at byte {at}", at=reader.at))
    return value


class _Reader:
    def __init__(self, content: bytes) -> None:
        self._content, self.at = content, 0

    def value(self, depth: int) -> Any:
        first = self._take(1)[0]
        if first < 0x80:
            return first
        if first >= 0xE0:
            return first - 256
        if first in _CONSTANTS:
            return _CONSTANTS[first]
        if first in _NUMBERS:
            form, size = _NUMBERS[first]
            return struct.unpack(form, self._take(size))[0]
        if first in _SIZED:
            kind, size = _SIZED[first]
            return self._sized(kind, int.from_bytes(self._take(size), "big"), depth)
        if first < 0xC0:
            kind = "map" if first < 0x90 else "list" if first < 0xA0 else "text"
            return self._sized(kind, first & (0x1F if kind == "text" else 0x0F), depth)
        raise ValueError(_("the byte {byte} at {at} is not read", byte=first, at=self.at))

    def _sized(self, kind: str, size: int, depth: int) -> Any:
        if kind == "bytes":
            return self._take(size)
        if kind == "text":
            return self._take(size).decode("utf-8", "surrogatepass")
        if depth > _DEEPEST or size > len(self._content) - self.at:
            raise ValueError(_("the list at byte {at} is too deep or too long", at=self.at))
        if kind == "list":
            return [self.value(depth + 1) for _n in range(size)]
        return {self._key(depth): self.value(depth + 1) for _n in range(size)}

    def _key(self, depth: int) -> Any:
        key = self.value(depth + 1)
        if isinstance(key, list | dict):
            raise ValueError(_("a key at byte {at} is a list", at=self.at))
        return key

    def _take(self, size: int) -> bytes:
        chunk = self._content[self.at : self.at + size]
        if len(chunk) != size:
            raise ValueError(_("it ends at byte {at}", at=len(self._content)))
        self.at += size
        return chunk
