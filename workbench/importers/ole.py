"""Whether the sectors of a compound file, the container of .xls, are in order.

calamine 0.37 follows chains of sectors without an end and reserves the memory that a header asks
for; either ends the process. Drop this when it checks them itself.
Source: [MS-CFB] Compound File Binary File Format, 2.2 to 2.4.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

from workbench.importers.binary import OLE

_HEADER = 512
_IN_HEADER = 109  # sectors of the table of sectors that the header lists
_LAST = 0xFFFFFFFA  # numbers above have a meaning of their own, such as the end of a chain


def is_sound(path: Path) -> bool:
    """Whether the header has possible values, and no chain of sectors runs in a circle or ends
    outside of the file; True for other files.
    """
    with open(path, "rb") as file:
        if file.read(len(OLE)) != OLE:
            return True
    content = path.read_bytes()
    if len(content) < _HEADER:
        return False
    version, order, shift, mini_shift = struct.unpack_from("<4H", content, 26)
    if (version, shift) not in ((3, 9), (4, 12)) or order != 0xFFFE or mini_shift != 6:
        return False
    size = 1 << shift
    fats, directory = struct.unpack_from("<2I", content, 44)
    mini, minis, more, mores = struct.unpack_from("<4I", content, 60)
    if max(fats, minis, mores) > len(content) // size or directory > _LAST:
        return False
    places = list(struct.unpack_from(f"<{_IN_HEADER}I", content, 76))
    seen = set[int]()
    while more < _LAST:
        listed = _sector(content, more, size)
        if more in seen or not listed:
            return False
        seen.add(more)
        places += listed[:-1]
        more = listed[-1]
    listed_in = [_sector(content, place, size) for place in places if place < _LAST]
    table = [number for numbers in listed_in for number in numbers]
    if not all(listed_in) or _circular(table):
        return False
    small = list[int]()
    while mini < len(table):
        if not (numbers := _sector(content, mini, size)):
            return False
        small += numbers
        mini = table[mini]
    return not _circular(small)


def _sector(content: bytes, number: int, size: int) -> tuple[int, ...]:
    """The numbers in a sector; () beyond the end of the file."""
    start = size + number * size
    if start + size > len(content):
        return ()
    return struct.unpack_from(f"<{size // 4}I", content, start)


def _circular(following: Sequence[int]) -> bool:
    """Whether a chain comes back to one of its sectors. following: sector → the next one."""
    chain = [0] * len(following)  # the number of the walk that came by
    for walk, start in enumerate(range(len(following)), 1):
        at = start
        while at < len(following) and not chain[at]:
            chain[at] = walk
            at = following[at]
        if at < len(following) and chain[at] == walk:
            return True
    return False
