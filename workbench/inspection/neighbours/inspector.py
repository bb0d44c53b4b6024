"""The nearest words of each word of a text: the heavy part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from workbench.inspection.base import words_of
from workbench.inspection.neighbours.info import DISTANCE, INFO, Near, NearWord, NearWords
from workbench.inspection.subject import Subject
from workbench.models import spec as models
from workbench.runtime.vectors.lexicon import Lexicon
from workbench.text.document import Document

MAX_WORDS = 200  # words of a text that are looked up


class NeighboursInspector:
    """For models with static vectors; those of a run are the tuned ones."""

    info = INFO

    def __init__(self) -> None:
        self._open = lru_cache(maxsize=1)(Lexicon.open)

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> NearWords:
        """Raises ModelError if the model has no file of vectors."""
        lexicon = self._open(Path(models.vectors_file(subject.info)))
        (document,) = documents
        typed = options["word"].split()
        candidates = typed or [word.text for word in words_of(document, subject.texts)]
        texts = list(dict.fromkeys(text for text in candidates if any(map(str.isalnum, text))))
        words = [_near(lexicon, text, options["by"], options["top"]) for text in texts[:MAX_WORDS]]
        by = options["by"]
        return NearWords(tuple(words), by, len(lexicon), by == DISTANCE, len(texts) > MAX_WORDS)


def _near(lexicon: Lexicon, text: str, by: str, top: int) -> NearWord:
    form = lexicon.known(text) or ""
    neighbours = lexicon.neighbours(form, by=by, top=top) if form else None
    nearest = tuple(Near(neighbour.word, neighbour.score) for neighbour in neighbours or ())
    return NearWord(text, form, lexicon.words.row(form) >= 0, nearest)
