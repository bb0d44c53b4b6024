"""The vectors of one text, computed as those of an index are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from workbench.base import scratch
from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.inspection.corpus.job import vectors
from workbench.inspection.spec import WordRow
from workbench.inspection.subject import Subject
from workbench.tasks.embedding import ALL, DEFAULT_MAX_TOKENS, Embedder
from workbench.text.document import Document

WORD, DOCUMENT = "word", "document"


def use_at(words: Sequence[WordRow], forms: Sequence[str], start: int) -> int:
    """The index of the word with one of these forms (in lower case) that starts at `start`, of the
    first one for -1; -1 if the text has none.

    Raises SpecError if another word, or none, starts there.
    """
    fitting = [at for at, word in enumerate(words) if word.text.casefold() in forms]
    if start < 0 or not forms:
        return next(iter(fitting), -1)
    for at in fitting:
        if words[at].start == start:
            return at
    if not fitting and any(word.start == start for word in words):
        return -1  # a word with a space, which is not searched for
    message = _("start is {start}, but no use of “{word}” begins there.")
    raise SpecError(
        message.format(start=start, word=" ".join(forms)),
        hint=_("Offsets are counted in characters from 0; -1 is the first use."),
    )


def text_vectors(
    subject: Subject, document: Document, unit: str, start: int, end: int
) -> list[np.ndarray]:
    """For each layer, the vector (width,) of a range of the first text, or of the whole text for
    the unit "document".
    """
    longest = (
        subject.max_length
        if subject.is_run
        else min(subject.encoder.max_length, DEFAULT_MAX_TOKENS)
    )
    with scratch.folder("inspect") as folder:
        embedder = Embedder(subject.encoder, longest, unit, ALL, folder)
        (embedded,) = embedder.stream([replace(document, texts=document.texts[:1])])
        return vectors(embedded, start, end)
