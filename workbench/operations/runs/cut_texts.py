"""Exact number of training texts that are longer than the model's maximum length."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.watch import QUIET, Watch
from workbench.models import spec as models
from workbench.storage.documents import documents
from workbench.text.labels import Layer
from workbench.text.rows import row_id
from workbench.training.plan import input_length

if TYPE_CHECKING:
    from workbench.project.project import Project

PAGE = 500  # documents tokenized between two progress reports
WAITED_FOR = 20_000_000  # characters that a command tokenizes before a training: a few seconds


@dataclass(frozen=True)
class CutCount:
    """`cut` of the `texts` used for training and dev are longer than `max_length` subwords."""

    texts: int
    cut: int
    max_length: int


def count_cut(
    project: Project,
    layer: Layer,
    model: str | Path,
    *,
    max_length: int | None = None,
    model_length: int = 512,
    characters: int | None = None,
    watch: Watch = QUIET,
) -> CutCount | None:
    """Count over all submitted training and dev documents of the layer, including those split at
    the start. Run it in a thread.

    Only texts that may be too long are tokenized: an ASCII text has at most one subword per
    character.
    Returns None if these have more than `characters` characters in total. Raises ModelError if the
    model has no readable tokenizer, Cancelled through `watch`.
    """
    preparer = models.preparer(model)
    length = input_length(max_length, model_length)
    room = (
        length - preparer.added - 3
    )  # a pair has one special token more than a text, and some models put one before each
    db, long_texts = project.db, documents.long_texts(project.db, row_id(layer), room)
    if characters is not None and long_texts.characters > characters:
        return None
    cut = 0
    for ids in watch.over(long_texts.ids, PAGE):
        pairs = [
            max(record.document.inputs, key=lambda texts: sum(map(len, texts)))
            for record in documents.records(db, layers=(), ids=ids)
        ]
        cut += preparer.count_cut(pairs, length)
    return CutCount(long_texts.documents, cut, length)
