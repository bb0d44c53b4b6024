"""The vectors that an encoder gives to documents or words, in every layer."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.base import scratch
from workbench.inspection.subject import Subject
from workbench.tasks.embedding import ALL, Embedder
from workbench.text.document import Document

DOCUMENT = "document"
MAX_BYTES = 256_000_000  # of the vectors of one encoder
BATCH_DOCUMENTS = 64  # documents between two messages


@dataclass(frozen=True)
class LayerStates:
    """layers: float16 (N, width) each, embeddings first. owner int32 (N,): the index of the
    document of each row; spans int32 (N, 2): its code points.
    """

    layers: tuple[np.ndarray, ...]
    owner: np.ndarray
    spans: np.ndarray


def layer_states(
    subject: Subject, documents: Sequence[Document], *, unit: str, most: int
) -> Generator[float, None, LayerStates]:
    """Yields the share that is done. unit: WORD (mean over its units) or DOCUMENT (mean over all).

    At most `most` rows, fewer where their vectors would exceed MAX_BYTES: those of the first
    documents. Words of documents that are cut in the middle are all kept.
    """
    encoder = subject.encoder
    most = min(most, max(1, MAX_BYTES // (2 * sum(encoder.widths))))
    rows: list[list[np.ndarray]] = [[] for _width in encoder.widths]
    owners, spans, count = list[np.ndarray](), list[np.ndarray](), 0
    with scratch.folder("layers") as folder:
        embedder = Embedder(encoder, subject.max_length, unit, ALL, folder)
        for start in range(0, len(documents), BATCH_DOCUMENTS):
            for at, embedded in enumerate(
                embedder.stream(documents[start : start + BATCH_DOCUMENTS]), start
            ):
                if count < most:
                    for chunks, layer in zip(rows, embedded.layers.values(), strict=True):
                        chunks.append(np.clip(layer, -65504, 65504).astype(np.float16))
                    owners.append(np.full(len(embedded.offsets), at, np.int32))
                    spans.append(embedded.offsets)
                    count += len(embedded.offsets)
            if count >= most:
                break
            yield min(1.0, (start + BATCH_DOCUMENTS) / len(documents))
    layers = tuple(
        np.concatenate([np.zeros((0, width), np.float16), *chunks])
        for width, chunks in zip(encoder.widths, rows, strict=True)
    )
    return LayerStates(
        layers,
        np.concatenate([np.zeros(0, np.int32), *owners]),
        np.concatenate([np.zeros((0, 2), np.int32), *spans]),
    )
