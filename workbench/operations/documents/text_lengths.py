"""Lengths of documents in words and in the units of a model, kept between sessions.

A length belongs to a text and a tokenizer, not to a document: it is stored by the hash of the text,
so that changes of labels, splits and filters keep it and new documents only add to it.
"""

from __future__ import annotations

import hashlib
import os
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.base import paths
from workbench.base.watch import QUIET, Watch
from workbench.operations.inspecting import corpus_index
from workbench.operations.models import installed, tokenizers
from workbench.runtime.vocabularies.measures import LIMITS, NO_LENGTH_LIMIT
from workbench.storage.documents import statistics as stored
from workbench.text.document import TEXT, TEXT_B, Document
from workbench.text.segment import words

if TYPE_CHECKING:
    from workbench.base.settings import Settings
    from workbench.project.project import Project
    from workbench.runtime.inputs import Preparer

__all__ = ["LIMITS", "TextLengths", "measure"]

FOLDER = "lengths"
PAGE = 500  # documents measured between two reports of progress
MOST_BYTES = 256 << 20  # of all stored lengths; the oldest files are deleted
WORDS = "words"
_STORED = np.dtype([("text", "<u8"), ("length", "<u4")])
Measure = Callable[[Sequence[Document]], Sequence[int]]


@dataclass(frozen=True)
class TextLengths:
    """ids: ascending; words, units: int64 (documents,), units with special ones, None without
    a tokenizer.
    """

    ids: array[int]
    words: np.ndarray
    units: np.ndarray | None = None

    def cut(self, limit: int) -> float:
        """Fraction of the documents with more units than `limit`."""
        if self.units is None or not len(self.units):
            return 0.0
        return float((self.units > limit).mean())

    def histogram(self, bins: int) -> tuple[list[int], list[int], list[int]]:
        """Edges of at most `bins` equal bins from 0, and the documents per bin: words, units.

        The last 1% of the longest documents is in the last bin. [] for units without a tokenizer.
        """
        measures = [self.words] if self.units is None else [self.words, self.units]
        top = max((int(np.quantile(item, 0.99)) for item in measures if len(item)), default=0)
        step = max(1, -(-(top + 1) // bins))
        edges = list(range(0, top + 1 + step, step))
        counts = [
            np.bincount(np.minimum(item // step, len(edges) - 2), minlength=len(edges) - 1)
            for item in measures
        ]
        return edges, *(count.tolist() for count in counts), *([[]] if len(measures) == 1 else [])

    def within(self, low: int, high: int | None, *, units: bool = False) -> list[int]:
        """Ids of the documents with a length in [low, high), without an end if `high` is None."""
        of = self.units if units and self.units is not None else self.words
        in_range = (of >= low) & (of < (NO_LENGTH_LIMIT if high is None else high))
        return [self.ids[at] for at in np.flatnonzero(in_range).tolist()]

    def to_json(self) -> dict[str, Any]:
        """Median and percentiles; cut: limit → fraction of the documents with more units."""
        summary: dict[str, Any] = {"documents": len(self.ids), "words": _summary(self.words)}
        if self.units is not None:
            summary["units"] = _summary(self.units)
            summary["cut"] = {str(limit): self.cut(limit) for limit in LIMITS}
        return summary


def measure(
    project: Project,
    ids: Sequence[int],
    tokenizer: str = "",
    *,
    settings: Settings | None = None,
    watch: Watch = QUIET,
) -> TextLengths:
    """Lengths of the documents; both texts of a pair together. Not for the main thread.

    tokenizer: name or folder of a model; "" counts words alone. What was measured before a
    cancellation is kept. Raises ModelError for a model that cannot be read, Cancelled through
    `watch`.
    """
    chosen = array("q", sorted(ids))
    share = 0.3 if tokenizer else 1.0
    counted = _lengths(project, chosen, _words, WORDS, watch.part(0.0, share))
    if not tokenizer:
        return TextLengths(chosen, counted)
    preparer = tokenizers.preparer_of(tokenizer, settings)
    name = _identity(tokenizer, settings)
    units = _lengths(project, chosen, _units(preparer), name, watch.part(share, 1.0))
    return TextLengths(chosen, counted, units)


def _lengths(
    project: Project, ids: Sequence[int], count: Measure, name: str, watch: Watch
) -> np.ndarray:
    file = paths.cache_folder() / FOLDER / f"{name}.npy"
    known = _read(file)
    texts = np.fromiter(_keys(project, ids), dtype=np.uint64, count=len(ids))
    at = np.searchsorted(known["text"], texts)
    if len(known):
        is_known = known["text"][np.minimum(at, len(known) - 1)] == texts
    else:
        is_known = np.zeros(len(ids), dtype=bool)
    lengths = np.zeros(len(ids), dtype=np.int64)
    lengths[is_known] = known["length"][at[is_known]]
    missing = np.flatnonzero(~is_known)
    done = 0
    try:
        for part in watch.over(missing.tolist(), PAGE):
            lengths[part] = count(_documents(project, [ids[number] for number in part]))
            done += len(part)
    finally:
        if done:
            new = np.empty(done, dtype=_STORED)
            new["text"], new["length"] = texts[missing[:done]], lengths[missing[:done]]
            _write(file, np.concatenate([known, new]))
    return lengths


def _keys(project: Project, ids: Sequence[int]) -> Iterator[int]:
    """The first 64 bits of the hash of each document's texts."""
    for start in range(0, len(ids), 20_000):
        for _id, text in stored.hashes(project.db, ids[start : start + 20_000]):
            yield int(text[:16], 16)


def _documents(project: Project, ids: Sequence[int]) -> list[Document]:
    """The documents with the texts that a model reads together, at most two; in order of id."""
    texts: dict[int, list[tuple[str, str]]] = {id: [] for id in ids}
    for id, field, content in stored.texts(project.db, ids):
        texts[id].append((field, content))
    documents = []
    for id, fields in texts.items():
        whole = Document("", tuple(fields) or ((TEXT, ""),), id=id)
        read = max(whole.inputs, key=lambda parts: sum(map(len, parts)))[:2]
        documents.append(Document("", tuple(zip((TEXT, TEXT_B), read, strict=False)), id=id))
    return documents


def _words(documents: Sequence[Document]) -> list[int]:
    return [sum(len(words(text)) for _name, text in item.texts) for item in documents]


def _units(preparer: Preparer) -> Measure:
    def count(documents: Sequence[Document]) -> list[int]:
        lengths = [0] * len(documents)
        for texts in {len(item.texts) for item in documents}:
            at = [number for number, item in enumerate(documents) if len(item.texts) == texts]
            whole = preparer.whole(
                [documents[number] for number in at], NO_LENGTH_LIMIT, texts=texts
            )
            for number, length in zip(at, whole.lengths.tolist(), strict=True):
                lengths[number] = length
        return lengths

    return count


def _identity(tokenizer: str, settings: Settings | None) -> str:
    """Changes with the files of the model."""
    folder = Path(tokenizer)
    if not folder.is_dir():
        folder = Path(installed.info(tokenizer, settings).path)
    digest = hashlib.blake2b(digest_size=12)
    for part in corpus_index.model_files(folder):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()


def _summary(lengths: np.ndarray) -> dict[str, float | int]:
    if not len(lengths):
        return {"median": 0, "mean": 0.0, "p95": 0, "longest": 0}
    return {
        "median": float(np.median(lengths)),
        "mean": float(lengths.mean()),
        "p95": float(np.quantile(lengths, 0.95)),
        "longest": int(lengths.max()),
    }


# ---------------------------------------------------------------- stored lengths


def _read(file: Path) -> np.ndarray:
    """What is stored, in order of the hash; empty if there is none or it cannot be read."""
    try:
        stored = np.load(file, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return np.empty(0, dtype=_STORED)
    return stored if stored.dtype == _STORED else np.empty(0, dtype=_STORED)


def _write(file: Path, lengths: np.ndarray) -> None:
    """A full disk or a read-only folder only costs the next measurement its time."""
    _hashes, first = np.unique(lengths["text"], return_index=True)
    part = file.with_suffix(f".{os.getpid()}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(part, "wb") as out:
            np.save(out, lengths[first])
        part.replace(file)
        files = sorted(file.parent.glob("*.npy"), key=lambda path: -path.stat().st_mtime)
        total = 0
        for path in files:
            total += path.stat().st_size
            if total > MOST_BYTES and path != file:
                path.unlink()
    except OSError:
        part.unlink(missing_ok=True)
