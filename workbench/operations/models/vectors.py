"""Word vectors: nearest words, analogies, agreement with judgements of people, and training."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import paths, scratch
from workbench.base.errors import ModelError, SpecError
from workbench.base.i18n import _
from workbench.base.watch import QUIET, Watch
from workbench.jobs.spec import JobSpec
from workbench.models import spec
from workbench.models.spec import ModelInfo
from workbench.operations.models import installed
from workbench.pretraining.texts import files_of
from workbench.runtime.vectors.evaluation import (
    Analogies,
    Evaluator,
    SimilarityResult,
    WordPair,
    read_set,
)
from workbench.runtime.vectors.lexicon import COSINE, Lexicon, Neighbour
from workbench.storage.documents import documents
from workbench.text.columns import Column, ValueKind
from workbench.training.vectors import spec as training

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue
    from workbench.project.project import Project

GIVES = "word_vectors"  # what a model has to give
KIND = "word-similarity"  # of data sets
SUFFIXES = (".csv", ".tsv", ".txt")


@dataclass(frozen=True)
class Nearest:
    """`form`: the word as it was found in the model (as written, in lower case), "" if unknown.

    in_vocabulary: whether it has a vector of its own, not one made of its n-grams.
    """

    word: str
    form: str
    in_vocabulary: bool
    neighbours: tuple[Neighbour, ...]


def find_model(name: str | None) -> ModelInfo:
    """A model with word vectors by name or path; without a name the first of the list.

    Raises ModelError.
    """
    if name:
        card = installed.find(name)
        spec.check_gives(card, GIVES)
        return card
    every = (model for model in installed.list() if model.usable and GIVES in model.gives)
    first = next(every, None)
    if first is None:
        raise ModelError(
            _("There is no model with word vectors in the list."),
            hint=_("Specify a file with --model, or add one with `glossbench models add`."),
        )
    return first


def open_lexicon(info: ModelInfo, watch: Watch = QUIET) -> Lexicon:
    """The words of a model. The first time its file is converted, which may take minutes."""
    return Lexicon.open(spec.vectors_file(info), watch)


def neighbours(lexicon: Lexicon, words: Sequence[str], *, by: str, top: int) -> list[Nearest]:
    """The nearest words of each word, () for words without a vector."""
    rows = []
    for word in words:
        form = lexicon.known(word) or ""
        nearest = lexicon.neighbours(form, by=by, top=top) if form else None
        rows.append(Nearest(word, form, lexicon.words.row(form) >= 0, nearest or ()))
    return rows


def analogy(
    lexicon: Lexicon, a: str, b: str, c: str, *, by: str = COSINE, top: int
) -> tuple[Neighbour, ...]:
    """Words that are to `c` as `b` is to `a`. Raises ModelError for a word without a vector."""
    forms = [lexicon.known(word) or word for word in (a, b, c)]
    return lexicon.analogy(forms[0], forms[1], forms[2], by=by, top=top)


# ---------------------------------------------------------------- evaluation


def set_files(named: Sequence[str]) -> list[Path]:
    """The files of data sets: paths of files and folders, or names of known sets.

    Without names every known set. Raises SpecError for a name that is neither.
    """
    if not named:
        known = paths.data_set(KIND)
        if known is None:
            raise SpecError(
                _("No data set to evaluate on."),
                hint=_("Specify a file or a folder with --set."),
            )
        return _in_folder(known)
    return [path for name in named for path in _files_of(name)]


def _files_of(name: str) -> list[Path]:
    path = Path(name)
    if path.is_dir():
        return _in_folder(path)
    if path.is_file():
        return [path]
    known = paths.data_set(KIND, f"{name}.csv")
    if known is None:
        raise SpecError(
            _("There is no data set {name!r}.", name=name),
            hint=_("Specify a file or a folder with --set."),
        )
    return [known]


def _in_folder(folder: Path) -> list[Path]:
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES)
    if not files:
        raise SpecError(_("{folder} holds no data sets.", folder=folder))
    return files


def evaluate(
    lexicon: Lexicon, files: Sequence[Path], watch: Watch = QUIET, *, by: str = COSINE
) -> list[SimilarityResult | Analogies]:
    """One result per file. Raises ImportFailed for a file that is no data set."""
    sets = [read_set(path) for path in files]
    evaluator = Evaluator(lexicon, by)
    results: list[SimilarityResult | Analogies] = []
    for number, (path, rows) in enumerate(zip(files, sets, strict=True)):
        part = watch.part(number / len(files), (number + 1) / len(files))
        if isinstance(rows[0], WordPair):
            results.append(evaluator.similarity(path.stem, rows))
        else:
            results.append(evaluator.analogies(path.stem, rows, part))
        watch.at((number + 1) / len(files))
    return results


def set_columns() -> tuple[Column, ...]:
    """Of results on data sets; the last two are those with n-grams."""

    def items(result: SimilarityResult | Analogies) -> int:
        return result.pairs if isinstance(result, SimilarityResult) else result.questions

    def coverage(result: SimilarityResult | Analogies) -> float | None:
        return None if (ngrams := with_ngrams(result)) is None else ngrams.coverage

    def spearman(result: SimilarityResult | Analogies | None) -> float | None:
        return _defined(result.spearman) if isinstance(result, SimilarityResult) else None

    def accuracy(result: SimilarityResult | Analogies) -> float | None:
        return _defined(result.accuracy) if isinstance(result, Analogies) else None

    number, percent = ValueKind.NUMBER, ValueKind.PERCENT
    return (
        Column(_("Data set"), attrgetter("name")),
        Column(_("Items"), items),
        Column(_("Used"), attrgetter("used")),
        Column(_("Coverage"), attrgetter("coverage"), kind=percent),
        Column(_("Spearman"), spearman, kind=number),
        Column(_("Accuracy"), accuracy, kind=ValueKind.SHARE),
        Column(_("n-grams: coverage"), coverage, kind=percent),
        Column(_("n-grams: Spearman"), lambda row: spearman(with_ngrams(row)), kind=number),
    )


def with_ngrams(result: SimilarityResult | Analogies) -> SimilarityResult | None:
    """The same with vectors made of n-grams for unknown words; None where there are none."""
    return result.ngrams if isinstance(result, SimilarityResult) else None


def to_json(result: SimilarityResult | Analogies) -> dict[str, Any]:
    """The result as JSON; scores that are not defined are None."""
    if isinstance(result, SimilarityResult):
        return {
            "name": result.name,
            "kind": "similarity",
            "pairs": result.pairs,
            **_agreement(result),
            "ngrams": _agreement(result.ngrams) if result.ngrams is not None else None,
        }
    sections = [_analogies(section) for section in result.sections]
    return {"kind": "analogies", **_analogies(result), "sections": sections}


def _agreement(result: SimilarityResult) -> dict[str, Any]:
    return {
        "used": result.used,
        "coverage": result.coverage,
        "spearman": _defined(result.spearman),
    }


def _analogies(result: Analogies) -> dict[str, Any]:
    return {
        "name": result.name,
        "questions": result.questions,
        "used": result.used,
        "correct": result.correct,
        "coverage": result.coverage,
        "accuracy": _defined(result.accuracy),
    }


def _defined(score: float) -> float | None:
    return score if math.isfinite(score) else None


# ---------------------------------------------------------------- training


def texts_of(project: Project) -> Iterable[str]:
    """Every text of a project, labelled or not."""
    for record in documents.records(project.db, layers=()):
        for _name, text in record.document.texts:
            yield text


def train(
    queue: Queue,
    source: Path | Iterable[str],
    out: Path,
    *,
    method: str,
    settings: Mapping[str, Any],
    seed: int = 1,
    watch: Watch = QUIET,
) -> dict[str, Any]:
    """Train vectors on a text file (one text per line), the text files of a folder, or texts, in a
    worker.

    Returns output, words, dimension, tokens, epochs, losses, seconds. Raises SpecError for settings
    or a file name that do not fit, Cancelled, or JobFailed.
    """
    if isinstance(source, Path):
        files = files_of([source])
        return queue.run(training_job(files, out, method, settings, seed), watch)
    folder = scratch.make("texts")
    try:
        files = [_written(source, folder / "texts.txt")]
        return queue.run(training_job(files, out, method, settings, seed), watch)
    finally:
        scratch.remove(folder)


def training_job(
    files: Sequence[Path], out: Path, method: str, settings: Mapping[str, Any], seed: int
) -> JobSpec:
    """The job of `train` on text files; "stop" keeps the vectors so far. Raises SpecError."""
    options = training.settings(method, settings)
    training.check_output(method, out)
    if not out.absolute().parent.is_dir():
        raise SpecError(_("The folder {path} does not exist.", path=out.absolute().parent))
    params = {
        "inputs": [str(file.absolute()) for file in files],
        "output": str(out.absolute()),
        "method": method,
        "options": options,
        "seed": seed,
    }
    title = _("Train word vectors {name}", name=out.name)
    return JobSpec(training.TARGET, params, title=title, stoppable=True)


def co_occurrences(
    queue: Queue, source: Path, settings: Mapping[str, Any], *, top: int, watch: Watch = QUIET
) -> dict[str, Any]:
    """Count the co-occurrences of GloVe in a text file, in a worker.

    Returns words, tokens, pairs (numbers) and top, rows of word, context, X and f(X).
    """
    params = {
        "inputs": [str(source.absolute())],
        "options": training.settings(training.COUNTED, settings),
        "top": top,
    }
    title = _("Count co-occurrences")
    return queue.run(JobSpec(training.COUNT_TARGET, params, title=title, short=True), watch)


def _written(texts: Iterable[str], path: Path) -> Path:
    with open(path, "w", encoding="utf-8", errors="replace") as file:
        file.writelines(" ".join(text.split()) + "\n" for text in texts)
    return path


# ---------------------------------------------------------------- map


@dataclass(frozen=True)
class WordMap:
    """Words in the plane of their first two principal components.

    places: (x, y) of each word. shares: of the variance, by component, in [0, 1]. asked: the words
    that were asked for, as they are in the model; unknown: those without a vector.
    """

    words: tuple[str, ...]
    places: tuple[tuple[float, float], ...]
    shares: tuple[float, float]
    asked: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def word_map(lexicon: Lexicon, queries: Sequence[str], *, top: int, near: int) -> WordMap:
    """The words of `queries` with the `near` nearest of each; without any, the `top` most frequent
    ones.

    Of vectors scaled to length 1, so that distances follow the cosine. The most frequent words are
    the first of the file that have a letter. Raises ModelError for fewer than three words.
    """
    import numpy as np

    forms = [lexicon.known(word) for word in queries]
    chosen = tuple(dict.fromkeys(form for form in forms if form))
    words = list(chosen) if queries else _frequent(lexicon, top)
    for form in chosen if near else ():
        words += [
            neighbour.word for neighbour in lexicon.neighbours(form, by="cosine", top=near) or ()
        ]
    words = list(dict.fromkeys(words))
    vectors = [vector for word in words if (vector := lexicon.vector(word)) is not None]
    if len(vectors) < 3:
        raise ModelError(
            _("At least three words with vectors are needed for a map."),
            hint=_("Add words, or show their nearest words."),
        )
    table = np.stack(vectors).astype(np.float64)  # (N, H)
    table /= np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-12)
    left, scales, _right = np.linalg.svd(table - table.mean(0), full_matrices=False)
    places = left[:, :2] * scales[:2]  # (N, 2)
    places *= np.where(places[np.abs(places).argmax(0), [0, 1]] < 0, -1.0, 1.0)  # signs are free
    shares = scales[:2] ** 2 / max(float((scales**2).sum()), 1e-12)
    unknown = tuple(word for word, form in zip(queries, forms, strict=True) if not form)
    return WordMap(
        tuple(words),
        tuple((float(x), float(y)) for x, y in places),
        (float(shares[0]), float(shares[1])),
        chosen,
        unknown,
    )


def _frequent(lexicon: Lexicon, top: int) -> list[str]:
    words = (lexicon.words.word(row) for row in range(len(lexicon)))
    return list(islice((word for word in words if any(map(str.isalpha, word))), top))
