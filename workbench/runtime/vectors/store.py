"""An index of each file of vectors in the user's cache, made once: words, positions and a matrix.

Rows of word2vec files have words between them, and text has to be parsed; a matrix of its own can
be memory-mapped by numpy and torch alike. The key is path, size and time of the file. Entries whose
file has changed or is gone are deleted when another one is made.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.base import owned_folder, paths
from workbench.base.errors import ModelError
from workbench.base.i18n import _, ngettext
from workbench.base.sizes import size
from workbench.base.watch import QUIET, Watch
from workbench.runtime.vectors import files, reading
from workbench.runtime.vectors.files import FileHeader, Format
from workbench.runtime.vectors.ngrams import Ngrams
from workbench.runtime.vectors.words import WordIndex

VERSION = 1  # of the layout of an entry
ABOUT, MATRIX, STARTS, COMPOSED = "about.json", "matrix.npy", "starts.npy", "composed.npy"
_NPY_HEADER = 128  # bytes, reserved until the number of rows is known
BLOCK = 2048  # rows
MAX_DAMAGED_WORDS = (
    100  # words with bytes that are no UTF-8, if most others beyond ASCII have them, too
)


@dataclass(frozen=True)
class Opened:
    """A file of vectors, memory-mapped.

    rows float32 (R, width): the words, then the n-grams' buckets; copy-on-write, so that torch may
    change them in memory. starts int64 (R,): where each vector begins in the file.
    """

    path: Path
    header: FileHeader
    words: WordIndex
    rows: np.ndarray
    starts: np.ndarray
    entry: Path
    key: tuple[str, int, int]

    @property
    def ngrams(self) -> Ngrams | None:
        return ngrams_of(self.header)

    @property
    def original(self) -> np.ndarray:
        """`rows` float32 (R, width) as in the file, whatever was changed in memory."""
        rows: np.ndarray = np.load(self.entry / MATRIX, mmap_mode="r")
        return rows

    def table(self, watch: Watch = QUIET) -> np.ndarray:
        """float32 (N, width): the vector of each word.

        With n-grams it is the mean of the word's row and those of its n-grams, computed once.
        """
        if self.ngrams is None:
            return self.rows
        path = self.entry / COMPOSED
        if not path.is_file():
            _compose(self, path, watch)
        rows: np.ndarray = np.load(path, mmap_mode="c")
        return rows


def ngrams_of(header: FileHeader) -> Ngrams | None:
    """None for a file without n-grams."""
    if header.format is not Format.FASTTEXT or not header.buckets or not header.high:
        return None
    return Ngrams(header.low, header.high, header.buckets)


def is_indexed(path: Path) -> bool:
    """Whether `open_file` needs no conversion."""
    return (_entry(files.key_of(path)) / ABOUT).is_file()


def open_file(path: Path, watch: Watch = QUIET) -> Opened:
    """Make the index if there is none, and open it.

    Raises ModelError for a damaged file, or if the disk has no room for the index.
    """
    key = files.key_of(path)
    entry = _entry(key)
    if not (entry / ABOUT).is_file():
        _make(path, key, entry, watch)
    try:
        about = json.loads((entry / ABOUT).read_text(encoding="utf-8"))
        header_json = about["header"]
        header = FileHeader(**{**header_json, "format": Format(header_json["format"])})
        words = WordIndex.load(entry)
        rows = np.load(entry / MATRIX, mmap_mode="c")
        starts = np.load(entry / STARTS, mmap_mode="r")
    except (OSError, ValueError, KeyError, TypeError) as error:
        owned_folder.remove(entry)
        raise ModelError(
            _("The index of {path} is damaged ({error}).", path=path, error=error),
            hint=_("It was deleted. Try again."),
        ) from error
    return Opened(path, header, words, rows, starts, entry, key)


def root() -> Path:
    return paths.cache_folder() / "vectors"


def _entry(key: tuple[str, int, int]) -> Path:
    name = "|".join(map(str, (VERSION, *key)))
    return root() / hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:24]


# ---------------------------------------------------------------- making


def _make(path: Path, key: tuple[str, int, int], entry: Path, watch: Watch) -> None:
    header, problems = files.header(path)
    if header is None or problems:
        message = "; ".join(problems) or _("it is not a file of word vectors")
        raise ModelError(_("{path} cannot be read: {problem}.", path=path, problem=message))
    sweep()
    _check_room(path, header)
    draft = entry.with_name(f"{entry.name}.{os.getpid()}.{os.urandom(4).hex()}")
    owned_folder.create(draft)
    try:
        _fill(path, key, header, draft, watch)
        os.replace(draft, entry)
    except OSError:
        if not (entry / ABOUT).is_file():  # else another process was faster
            raise
    finally:
        owned_folder.remove(draft)


def _fill(
    path: Path, key: tuple[str, int, int], header: FileHeader, draft: Path, watch: Watch
) -> None:
    words: list[bytes] = []
    starts: list[np.ndarray] = []
    rows = 0
    with open(draft / MATRIX, "wb") as file:
        file.write(b"\0" * _NPY_HEADER)
        for block in reading.blocks(path, header):
            words += block.words
            starts.append(np.array(block.starts, dtype=np.int64))
            file.write(np.ascontiguousarray(block.values, dtype="<f4").data)
            rows += len(block.values)
            watch.at(0.95 * block.share)
        file.seek(0)
        file.write(_npy_header(rows, header.width))
    if not words:
        raise ModelError(_("{path} holds no words.", path=path))
    index = WordIndex.build(words)
    _check_encoding(path, index, words)
    index.save(draft)
    np.save(draft / STARTS, np.concatenate(starts), allow_pickle=False)
    named = {**header.__dict__, "format": str(header.format), "words": len(words)}
    about: Mapping[str, Any] = {"path": str(path), "key": list(key), "header": named}
    (draft / ABOUT).write_text(json.dumps(about, indent=1), encoding="utf-8")
    watch.at(1.0)


def _check_encoding(path: Path, index: WordIndex, words: Sequence[bytes]) -> None:
    """Raises ModelError for a file in another encoding than UTF-8.

    A few damaged words are usual: word2vec cuts long ones within a character.
    """
    damaged = index.damaged()
    if damaged > MAX_DAMAGED_WORDS and damaged * 2 > sum(not word.isascii() for word in words):
        raise ModelError(
            ngettext(
                "{path}: {n:,} word is not valid UTF-8.",
                "{path}: {n:,} words are not valid UTF-8.",
                damaged,
                path=path,
            ),
            hint=_("Convert the file to UTF-8."),
        )


def _npy_header(rows: int, width: int) -> bytes:
    out = io.BytesIO()
    about = {"descr": "<f4", "fortran_order": False, "shape": (rows, width)}
    np.lib.format.write_array_header_1_0(out, about)
    header = out.getvalue()
    if len(header) != _NPY_HEADER:
        raise ValueError(f"an .npy header of {len(header)} bytes")
    return header


def _check_room(path: Path, header: FileHeader) -> None:
    rows = header.words + header.buckets or files.lines_of(path)
    needed = rows * (4 * header.width + 50)
    root().mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(root()).free
    if free < needed:
        raise ModelError(
            _(
                "The index of {path} needs {needed} in {folder}; only {free} are free.",
                path=path,
                needed=size(needed),
                folder=root(),
                free=size(free),
            ),
            hint=_("Free up disk space."),
        )


def sweep() -> None:
    """Delete entries whose file has changed or is gone."""
    with suppress(OSError):
        for entry in root().iterdir():
            with suppress(OSError, ValueError, KeyError, TypeError):
                about = json.loads((entry / ABOUT).read_text(encoding="utf-8"))
                if not _is_current(about):
                    owned_folder.remove(entry)


def _is_current(about: Mapping[str, Any]) -> bool:
    try:
        return bool(list(files.key_of(Path(about["path"]))) == about["key"])
    except OSError:
        return False


def _compose(opened: Opened, path: Path, watch: Watch) -> None:
    ngrams, count, width = opened.ngrams, len(opened.words), opened.header.width
    assert ngrams is not None
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    vectors = np.lib.format.open_memmap(draft, "w+", np.dtype("<f4"), (count, width))
    for first in range(0, count, BLOCK):
        end = min(first + BLOCK, count)
        vectors[first:end] = _means(opened, ngrams, range(first, end))
        watch.at(end / count)
    vectors.flush()
    del vectors
    os.replace(draft, path)


def _means(opened: Opened, ngrams: Ngrams, words: range) -> np.ndarray:
    """float32 (len(words), width): the mean of each word's row and those of its n-grams."""
    count = len(opened.words)
    places = [
        [row, *(count + number for number in ngrams.rows(opened.words.word(row)))] for row in words
    ]
    lengths = np.array([len(place) for place in places])
    flat = np.array([place for items in places for place in items])
    sums = np.add.reduceat(opened.rows[flat], np.cumsum(lengths) - lengths, axis=0)
    return sums / lengths[:, None].astype(np.float32)
