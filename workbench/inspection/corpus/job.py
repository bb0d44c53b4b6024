"""The job that computes an index of a project's documents, and a map of it."""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from workbench.inspection.corpus.index import CorpusIndex, Writer
from workbench.inspection.corpus.projections import write_map
from workbench.inspection.corpus.spec import (
    PREFIX,
    USES,
    WORDS,
    IndexFiles,
    Projection,
    existing_layer,
)
from workbench.models import device as devices
from workbench.tasks.answers import read_documents
from workbench.tasks.embedding import Embedded, load_embedder
from workbench.text.document import Document

CHUNK = 64  # documents that are read together: progress is reported between them
AROUND = 80  # characters on each side of a use
BEGINNING = 300  # characters of a document
Progress = dict[str, Any]


def run(params: Mapping[str, Any], folder: Path) -> Generator[Progress, str | None, Progress]:
    """Job target.

    params: model (folder), allow_pickle, device; root, key (see `IndexFiles`), kind, input
    (documents as JSON lines), places ({id: [[start, end], …]} of uses, "" for documents), count
    (rows), total; projection (of a map, absent without one); layer (that will be read, absent for
    all or the last one). An index that exists is not computed again.

    Yields {"kind": "progress", "done", "total", "seconds_left"}, of a map {"stage", "part"}.
    Returns {"count"}.
    Raises ModelError, and SpecError for a layer that the index does not hold.
    """
    devices.use_threads()
    files = IndexFiles(Path(params["root"]), params["key"])
    if not files.about.is_file():
        yield from _build(params, folder, files)
    if settings := params.get("projection"):
        projection = Projection(**settings)
        yield {"kind": "progress", "stage": "map"}
        if not files.map(projection).is_file():
            for part in write_map(CorpusIndex(str(files.about)), projection):
                yield {"kind": "progress", "stage": "map", "part": part}
    return {"count": int(files.read_about()["count"])}


def _build(params: Mapping[str, Any], folder: Path, files: IndexFiles) -> Iterator[Progress]:
    uses = json.loads(Path(params["places"]).read_text()) if params["kind"] == USES else None
    of_words = params["kind"] == WORDS
    unit = "word" if of_words or uses is not None else "document"
    settings = {"unit": unit, "layers": "all", "model": params["model"], "device": params["device"]}
    count, done = int(params["count"]), 0
    yield {"kind": "progress", "done": 0, "total": count}
    embedder = load_embedder({**settings, "allow_pickle": params.get("allow_pickle")}, folder)
    widths = embedder.encoder.widths
    only = (round(2 * (len(widths) - 1) / 3),) if of_words else ()  # as `active.instant` reads
    writer, began = Writer(files, widths, count, only=only), time.monotonic()
    try:
        existing_layer(int(params.get("layer", -1)), writer.layers)  # before the work, not after it
        for documents in _chunks(read_documents(Path(params["input"]))):
            for document, embedded in zip(documents, embedder.stream(documents), strict=True):
                for row in (
                    _words(document, embedded) if of_words else _rows(document, embedded, uses)
                ):
                    writer.add(*row)
                if writer.count - done >= max(1, count // 200):
                    done = writer.count
                    left = (time.monotonic() - began) / done * (count - done)
                    yield {"kind": "progress", "done": done, "total": count, "seconds_left": left}
        writer.finish(total=int(params["total"]))
    finally:
        writer.discard()


def _chunks(documents: Iterable[Document]) -> Iterator[list[Document]]:
    iterator = iter(documents)
    while chunk := list(islice(iterator, CHUNK)):
        yield chunk


Row = tuple[tuple[int, int, int], dict[str, Any], list[np.ndarray]]


def _words(document: Document, embedded: Embedded) -> Iterator[Row]:
    layers = [embedded.layers[f"{PREFIX}{number}"] for number in range(len(embedded.layers))]
    for at, (start, end) in enumerate(embedded.offsets.tolist()):
        yield (int(document.id or 0), start, end), {}, [rows[at] for rows in layers]


def _rows(
    document: Document, embedded: Embedded, uses: Mapping[str, Sequence[tuple[int, int]]] | None
) -> Iterator[Row]:
    id, text = int(document.id or 0), document.text
    if uses is None:
        line = {"key": document.key, "text": text[:BEGINNING]}
        yield (id, 0, len(text)), line, vectors(embedded, 0, len(text))
        return
    for start, end in uses[str(id)]:
        line = {"key": document.key, "hash": document.text_hash, **around(text, start, end)}
        yield (id, start, end), line, vectors(embedded, start, end)


def around(text: str, start: int, end: int) -> dict[str, str]:
    """A use with the text on both sides."""
    left, right = text[max(0, start - AROUND) : start], text[end : end + AROUND]
    left = f"…{left}" if start > AROUND else left
    right = f"{right}…" if end + AROUND < len(text) else right
    return {"left": left, "word": text[start:end], "right": right}


def vectors(embedded: Embedded, start: int, end: int) -> list[np.ndarray]:
    """For each layer, the mean (width,) of the rows that overlap with a range of the text.

    0 where there are none.
    """
    here = (embedded.offsets[:, 0] < end) & (start < embedded.offsets[:, 1])
    layers = [embedded.layers[f"{PREFIX}{number}"] for number in range(len(embedded.layers))]
    return [rows[here].sum(0) / max(1, int(here.sum())) for rows in layers]
