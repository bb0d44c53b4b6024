"""Features of frozen models on disk: float16 rows by the hash of the input, memory-mapped.

Each computation has a folder with packs: `NAME.rows` holds the rows of many inputs, `NAME.npy` the
hash, position and checksum of each. Packs are written once and never changed; the oldest are
deleted when all together exceed the limit. A damaged row is computed again. numpy only.
"""

from __future__ import annotations

import hashlib
import os
import time
import uuid
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

MOST_BYTES = 8 << 30  # of all packs together
ENTRY = np.dtype([("digest", "V16"), ("start", "<i8"), ("rows", "<i4"), ("crc", "<u4")])
ROWS, INDEX, DRAFT = ".rows", ".npy", ".part"
ABANDONED = 24 * 3600  # seconds after which a draft has no writer


class CachedRows(NamedTuple):
    """Rows of one input: `rows` (R, width) of a pack, from `start`."""

    rows: np.ndarray
    start: int
    length: int
    crc: int


class Pack:
    """A pack that is being written."""

    def __init__(self, path: Path, width: int):
        self.path, self.width = path, width
        self.entries: list[tuple[bytes, int, int, int]] = []
        self._file = open(path.with_suffix(DRAFT), "wb")  # noqa: SIM115 (closed by `discard`)
        self._at = 0

    def add(self, digest: bytes, rows: np.ndarray) -> None:
        """rows float (T, width)."""
        content = np.clip(rows, -65504, 65504).astype(np.float16).tobytes()
        self._file.write(content)
        self.entries.append((digest, self._at, len(rows), zlib.crc32(content)))
        self._at += len(rows)

    def finish(self) -> None:
        self._file.close()
        os.replace(self.path.with_suffix(DRAFT), self.path.with_suffix(ROWS))
        draft = self.path.with_suffix(f"{INDEX}{DRAFT}")
        with open(draft, "wb") as file:
            np.save(file, np.array(self.entries, ENTRY))
        os.replace(draft, self.path.with_suffix(INDEX))

    def discard(self) -> None:
        self._file.close()
        with suppress(OSError):
            self.path.with_suffix(DRAFT).unlink()


class FeatureCache:
    """The features of one computation, `width` per row."""

    def __init__(self, root: Path, key: str, width: int, *, most: int = MOST_BYTES):
        self.root, self.width, self.most = root, width, most
        name = hashlib.blake2b(key.encode(), digest_size=16).hexdigest()
        self.folder = root / f"{name}-{width}"
        self._places: dict[bytes, CachedRows] = {}
        self._checked: dict[bytes, np.ndarray] = {}
        for index in sorted(self.folder.glob(f"*{INDEX}"), key=_age, reverse=True):
            self._open(index)

    def get(self, digest: bytes) -> np.ndarray | None:
        """float16 (T, width), memory-mapped; None if it is not there or damaged."""
        if digest not in self._checked and digest in self._places:
            place = self._places[digest]
            rows = place.rows[place.start : place.start + place.length]
            if len(rows) == place.length and zlib.crc32(rows.tobytes()) == place.crc:
                self._checked[digest] = rows
        return self._checked.get(digest)

    def fits(self, rows: int) -> bool:
        """Whether this number of rows stays within the limit."""
        return 2 * rows * self.width <= self.most

    @contextmanager
    def writing(self) -> Iterator[Pack]:
        """A pack that is readable afterwards. Raises OSError where it cannot be written."""
        self.folder.mkdir(parents=True, exist_ok=True)
        pack = Pack(self.folder / uuid.uuid4().hex, self.width)
        try:
            yield pack
            pack.finish()
        finally:
            pack.discard()
        self._open(pack.path.with_suffix(INDEX))
        trim(self.root, self.most)

    def _open(self, index: Path) -> None:
        """Damaged and incomplete packs are left out."""
        try:
            entries = np.load(index, allow_pickle=False)
            size = index.with_suffix(ROWS).stat().st_size // (2 * self.width)
            rows = np.memmap(index.with_suffix(ROWS), np.float16, "r", shape=(size, self.width))
            if entries.dtype != ENTRY:
                return
            os.utime(index)  # the age of a pack is the time since its last use
        except (OSError, ValueError, EOFError):
            return
        for digest, start, count, crc in entries.tolist():
            self._places[digest] = CachedRows(rows, start, count, crc)
            self._checked.pop(digest, None)


def trim(root: Path, most: int) -> None:
    """Delete the packs that were not used for longest until the rest has at most `most` bytes."""
    packs = sorted(root.glob(f"*/*{INDEX}"), key=_age)
    total = 0
    for index in packs:
        files = (index, index.with_suffix(ROWS))
        total += sum(_size(file) for file in files)
        if total > most:
            _delete(files)  # a pack that another process reads stays until it is closed
    known = {index.with_suffix(ROWS) for index in packs}
    drafts = [*root.glob(f"*/*{DRAFT}"), *(set(root.glob(f"*/*{ROWS}")) - known)]
    _delete([draft for draft in drafts if _age(draft) > ABANDONED])


def _age(path: Path) -> float:
    """Seconds since it was last used."""
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _delete(files: Sequence[Path]) -> None:
    for file in files:
        with suppress(OSError):
            file.unlink()
