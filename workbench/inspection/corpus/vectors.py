"""The vectors of one text, computed as those of an index are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workbench.base import scratch
from workbench.inspection.corpus.job import vectors
from workbench.inspection.subject import Subject
from workbench.tasks.embedding import ALL, LONGEST, Embedder
from workbench.text.document import Document

WORD, DOCUMENT = "word", "document"


def text_vectors(
    subject: Subject, document: Document, unit: str, start: int, end: int
) -> list[np.ndarray]:
    """For each layer, the vector (width,) of a range of the first text, or of the whole text for
    the unit "document".
    """
    longest = subject.max_length if subject.is_run else min(subject.encoder.max_length, LONGEST)
    with scratch.folder("inspect") as folder:
        embedder = Embedder(subject.encoder, longest, unit, ALL, folder)
        (found,) = embedder.stream([replace(document, texts=document.texts[:1])])
        return vectors(found, start, end)
