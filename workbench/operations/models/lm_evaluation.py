"""Evaluation of language models on held-out text: perplexity per token, word and character."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.metrics.perplexity import perplexity
from workbench.operations.models.vectors import texts_of
from workbench.pretraining.results import CHARACTER, ModelFit
from workbench.pretraining.texts import Texts
from workbench.storage.connections.header import is_project
from workbench.text.segment import words

if TYPE_CHECKING:
    from workbench.metrics.perplexity import Perplexity

CHUNK_WORDS = 120  # words of a piece, which models of 256 units or more read as a whole
PER = ("per_token", "per_word", "per_character")
_PERPLEXITIES = {"perplexity": "", "low": "_low", "high": "_high"}  # → end of their JSON keys


@dataclass(frozen=True)
class LMScore:
    """A language model on a text. kind: of the perplexity; only those of one kind are comparable.

    Words are words, numbers and symbols, as everywhere in the program (`text.segment`).

    tokens: number of units that were predicted. low, high: 95% intervals by a bootstrap over
    texts, None with fewer than two. problem: why the model could not be measured.
    """

    model: str
    kind: str
    tokens: int
    perplexity: Perplexity | None
    seconds: float
    problem: str = ""
    low: Perplexity | None = None
    high: Perplexity | None = None

    def to_json(self) -> dict[str, Any]:
        own = {name: value for name, value in vars(self).items() if name not in _PERPLEXITIES}
        for part, end in _PERPLEXITIES.items():
            perplexity: Perplexity | None = getattr(self, part)
            for name in PER:
                own[f"{name}{end}"] = None if perplexity is None else getattr(perplexity, name)
        return own


def pieces(paths: Sequence[Path]) -> list[str]:
    """The texts of files, folders and projects, in pieces of at most PIECE words.

    Raises SpecError without any words, WorkbenchError if a file cannot be read.
    """
    cut = [piece for text in _texts(paths) for piece in _cut(text)]
    if not cut:
        raise SpecError(_("There is no text to evaluate on."))
    return cut


def _texts(paths: Sequence[Path]) -> Iterator[str]:
    from workbench.project.project import Project

    for path in paths:
        if path.is_file() and is_project(path):
            with closing(Project.open(path, read_only=True)) as project:
                yield from texts_of(project)
        else:
            for document in Texts([path]):
                yield "\n".join(document)


def _cut(text: str) -> Iterator[str]:
    """At most PIECE words each; divided where there is white space, which is kept inside."""
    parts = text.split()
    for start in range(0, len(parts), CHUNK_WORDS):
        yield " ".join(parts[start : start + CHUNK_WORDS])


def scored(fits: Iterable[ModelFit], texts: Sequence[str]) -> tuple[LMScore, ...]:
    """The results of `recommend.measure` on these texts."""
    letters, count = sum(map(len, texts)), sum(len(words(text)) for text in texts)
    return tuple(_score(fit, count / max(1, letters)) for fit in fits)


def _score(fit: ModelFit, words_per_character: float) -> LMScore:
    problem = fit.problem
    if not fit.scored:
        problem = problem or _("The model is not a language model.")
        return LMScore(fit.name, fit.kind, 0, None, fit.seconds, problem)
    if fit.kind == CHARACTER:
        read, characters = fit.scored * words_per_character, float(fit.scored)
    else:
        read = fit.scored / fit.units if fit.units else 0.0
        characters = read / words_per_character if words_per_character else 0.0

    def of(total: float) -> Perplexity:
        return perplexity(total, fit.scored, words=read, characters=characters)

    low, high = (None if value is None else of(value * fit.scored) for value in (fit.low, fit.high))
    return LMScore(fit.name, fit.kind, fit.scored, of(fit.total), fit.seconds, low=low, high=high)
