"""Word similarity and analogies: how well vectors agree with judgements of people.

As in gensim: only the most frequent words count, upper and lower case are equal (the more frequent
form is used), and a pair or question with an unknown word is left out. Ties get average ranks.

For a model with n-grams, similarity is also measured with a vector for every word, as Bojanowski et
al. 2017 report both (table 1: sisg- and sisg). Analogies are not: their answers are words of the
vocabulary, and questions with unknown words are left out there too (section 5.2).
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _
from workbench.base.watch import QUIET, Watch
from workbench.runtime.vectors.lexicon import COSINE, DOT, EUCLID, Lexicon, best

FREQUENT = 300_000  # words of the vocabulary, as it is ordered by frequency
QUESTIONS = 128  # analogies per step
CLASSES = ("-n", "-v", "-j", "-a", "-r")  # endings that some data sets add to every word


@dataclass(frozen=True)
class WordPair:
    first: str
    second: str
    score: float


@dataclass(frozen=True)
class AnalogyQuestion:
    section: str
    words: tuple[str, str, str]
    answer: str


@dataclass(frozen=True)
class SimilarityResult:
    """spearman: rank correlation, NaN if it is undefined. used: pairs with two vectors.

    ngrams: the same with vectors made of n-grams for unknown words; None for models without them.
    """

    name: str
    pairs: int
    used: int
    spearman: float
    ngrams: SimilarityResult | None = None

    @property
    def coverage(self) -> float:
        return self.used / self.pairs if self.pairs else 0.0


@dataclass(frozen=True)
class Analogies:
    """questions, and of these used (all words known) and correct; the same for every section."""

    name: str
    questions: int
    used: int
    correct: int
    sections: tuple[Analogies, ...] = ()

    @property
    def accuracy(self) -> float:
        """Accuracy on the questions used; NaN if there are none."""
        return self.correct / self.used if self.used else float("nan")

    @property
    def coverage(self) -> float:
        return self.used / self.questions if self.questions else 0.0


def read_set(path: Path) -> list[WordPair] | list[AnalogyQuestion]:
    """A CSV file with the columns word1, word2, similarity or type, word1, word2, word3, target;
    the original questions-words.txt, or lines of two words and a score separated by tabs.

    Raises ImportFailed naming a line that is neither.
    """
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            first = file.readline()
            file.seek(0)
            if "word1" in first:
                rows = csv.DictReader(file)
                numbered = enumerate(rows, 2)
                entries = [_row(path, number, row) for number, row in numbered if row["word1"]]
            elif first.startswith(":"):
                entries = list(_sections(path, file))
            else:
                entries = list(_tabs(path, file))
    except UnicodeDecodeError as error:
        raise ImportFailed(_("{path} is not valid UTF-8.", path=path)) from error
    if not entries:
        raise ImportFailed(_("{path} holds no pairs and no questions.", path=path))
    return _without_classes(entries)


def _row(path: Path, number: int, row: dict[str, str]) -> WordPair | AnalogyQuestion:
    try:
        if "target" in row:
            words = (row["word1"], row["word2"], row["word3"])
            return AnalogyQuestion(row.get("type") or "", words, row["target"])
        return WordPair(row["word1"], row["word2"], float(row["similarity"]))
    except (KeyError, TypeError, ValueError) as error:
        raise _bad_line(path, number) from error


def _sections(path: Path, lines: Iterable[str]) -> Iterator[AnalogyQuestion]:
    section = ""
    for number, line in enumerate(lines, 1):
        parts = line.split()
        if parts and parts[0] == ":":
            section = " ".join(parts[1:])
        elif len(parts) == 4:
            yield AnalogyQuestion(section, (parts[0], parts[1], parts[2]), parts[3])
        elif parts:
            raise _bad_line(path, number)


def _tabs(path: Path, lines: Iterable[str]) -> Iterator[WordPair]:
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            first, second, score = line.strip().split("\t")[:3]
            yield WordPair(first, second, float(score))
        except ValueError as error:
            raise _bad_line(path, number) from error


def _bad_line(path: Path, number: int) -> ImportFailed:
    return ImportFailed(
        _(
            "{path}, line {number}: neither a pair with a score nor an analogy.",
            path=path,
            number=number,
        ),
        hint=_(
            "Use a CSV file with the columns word1, word2, similarity, or type, word1, word2, "
            "word3, target."
        ),
    )


def _without_classes(entries: list[Any]) -> list[Any]:
    """MEN writes sun-n, run-v: an ending that every word of a file has is removed."""
    if not isinstance(entries[0], WordPair):
        return entries
    if not all(word.endswith(CLASSES) for item in entries for word in (item.first, item.second)):
        return entries
    return [WordPair(item.first[:-2], item.second[:-2], item.score) for item in entries]


# ---------------------------------------------------------------- measuring


Find = Callable[[str], np.ndarray | None]


class Evaluator:
    """Looks up words of the data sets in the most frequent words of a model.

    by: the measure, a key of `lexicon.MEASURES`; cosine as in gensim.
    """

    def __init__(self, lexicon: Lexicon, by: str = COSINE):
        self.lexicon, self.by = lexicon, by
        self.size = min(FREQUENT, len(lexicon))
        self._cased = lexicon.words.is_cased
        self._rows: dict[str, int] = {}
        for row in range(self.size):
            self._rows.setdefault(lexicon.words.word(row).upper(), row)

    def row(self, word: str) -> int | None:
        return self._rows.get(word.upper())

    def similarity(self, name: str, pairs: Sequence[WordPair]) -> SimilarityResult:
        similarity = self._agreement(name, pairs, self._own)
        if self.lexicon.ngrams is None:
            return similarity
        return replace(similarity, ngrams=self._agreement(name, pairs, self._composed))

    def _agreement(self, name: str, pairs: Sequence[WordPair], vector: Find) -> SimilarityResult:
        gold, scores = [], []
        for pair in pairs:
            first, second = vector(pair.first), vector(pair.second)
            if first is not None and second is not None:
                scores.append(self._near(first, second))
                gold.append(pair.score)
        return SimilarityResult(name, len(pairs), len(gold), spearman(gold, scores))

    def _own(self, word: str) -> np.ndarray | None:
        """float32 (H,): of a word of the vocabulary."""
        row = self.row(word)
        return None if row is None else self.lexicon.table[row]

    def _composed(self, word: str) -> np.ndarray | None:
        """The same; made of n-grams for other words."""
        own = self._own(word)
        if own is not None:
            return own
        return self.lexicon.vector(word if self._cased else word.lower())

    def _near(self, first: np.ndarray, second: np.ndarray) -> float:
        """Higher for nearer vectors, (H,) each."""
        if self.by == EUCLID:
            return -float(np.linalg.norm(first - second))
        product = float(first @ second)
        if self.by == DOT:
            return product
        return product / (float(np.linalg.norm(first) * np.linalg.norm(second)) or 1.0)

    def analogies(
        self, name: str, questions: Sequence[AnalogyQuestion], watch: Watch = QUIET
    ) -> Analogies:
        usable = []
        for question in questions:
            rows = [self.row(word) for word in (*question.words, question.answer)]
            if None not in rows:
                usable.append((question, rows))
        vectors = self.lexicon.table[: self.size]
        if self.by == COSINE:
            lengths = np.maximum(self.lexicon.norms[: self.size], np.finfo(np.float32).tiny)
            vectors = vectors / lengths[:, None]
        right: list[bool] = []
        for part in watch.over(usable, QUESTIONS) if usable else ():
            right += self._answered(vectors, part)
        return _counted(name, questions, [question for question, _rows in usable], right)

    def _answered(self, vectors: np.ndarray, part: Sequence[Any]) -> list[bool]:
        rows = np.array([question_rows for _question, question_rows in part])  # (Q, 4)
        a, b, c = (vectors[rows[:, column]] for column in range(3))
        scores = (b + c - a) @ vectors.T  # (Q, N)
        if self.by == EUCLID:  # of each question the order of −|q − x|², less |q|²
            scores = 2 * scores - self.lexicon.norms[: self.size] ** 2
        scores[np.arange(len(rows))[:, None], rows[:, :3]] = -np.inf
        right = []
        for (question, _rows), line in zip(part, scores, strict=True):
            question_words = {word.upper() for word in question.words}
            words = [self.lexicon.words.word(row).upper() for row in best(line, 5)]
            answer = next((word for word in words if word not in question_words), "")
            right.append(answer == question.answer.upper())
        return right


def _counted(
    name: str,
    questions: Sequence[AnalogyQuestion],
    used: Sequence[AnalogyQuestion],
    right: Sequence[bool],
) -> Analogies:
    names = dict.fromkeys(question.section for question in questions)
    sections = tuple(
        Analogies(
            section,
            sum(question.section == section for question in questions),
            sum(question.section == section for question in used),
            sum(
                good
                for question, good in zip(used, right, strict=True)
                if question.section == section
            ),
        )
        for section in names
    )
    return Analogies(name, len(questions), len(used), sum(right), sections)


def spearman(first: Sequence[float], second: Sequence[float]) -> float:
    """Rank correlation; equal values get their average rank. NaN if one side is constant."""
    if len(first) < 2:
        return float("nan")
    ranks = [_ranks(np.asarray(side, dtype=np.float64)) for side in (first, second)]
    x, y = (side - side.mean() for side in ranks)
    length = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / length if length else float("nan")


def _ranks(values: np.ndarray) -> np.ndarray:
    """1-based; equal values get the mean of their ranks."""
    _unique, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[inverse]
