"""Scores of the GAP challenge: whether a pronoun means each of two names, by gender.

Every name of every document is one decision. The bias is the F1 of feminine pronouns divided by
that of masculine ones. Chains of a run of coreference answer, too: a pronoun means the names in its
chain. Source: Webster et al. 2018, sections 4 and 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import N_, _
from workbench.base.records import JsonRecord
from workbench.base.watch import QUIET, Watch
from workbench.importers.tables.gap import (
    FEMININE,
    GENDER,
    MASCULINE,
    NAME_OFFSETS,
    NEITHER,
    OFFSET,
    PRONOUN,
)
from workbench.metrics.resampling import Arrays, Statistic, divided, weighted_sums
from workbench.text.columns import Column, ValueKind
from workbench.text.document import TEXT, Document, choice_names

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.text.dataset import Record
    from workbench.text.fields import Prediction

Names = frozenset[str]  # the names that a pronoun means
F1, MASCULINE_F1, FEMININE_F1, BIAS = SCORES = (
    "pronoun_f1",
    "pronoun_masculine_f1",
    "pronoun_feminine_f1",
    "pronoun_bias",
)


@dataclass(frozen=True, eq=False)
class PronounCounts:
    """Counts of names of N documents, a Statistic.

    right, answer_counts: float (N, 3), of all pronouns, masculine and feminine ones; answer_counts:
    gold and predicted names together. documents (N, 3): 1 for each document that asks for a name.
    """

    right: np.ndarray
    answer_counts: np.ndarray
    documents: np.ndarray
    labels: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, genders: Sequence[str], gold: Sequence[Names | None], predicted: Sequence[Names]
    ) -> PronounCounts:
        """gold: None for documents that do not ask which name a pronoun means."""
        columns = np.array([[names is not None] * 3 for names in gold], dtype=np.float64).reshape(
            -1, 3
        )
        columns[:, 1] *= [name == MASCULINE for name in genders]
        columns[:, 2] *= [name == FEMININE for name in genders]
        pairs = [(true or frozenset(), names) for true, names in zip(gold, predicted, strict=True)]
        right = np.array([len(true & names) for true, names in pairs], dtype=np.float64)
        answer_counts = np.array(
            [len(true) + len(names) for true, names in pairs], dtype=np.float64
        )
        return cls(columns * right[:, None], columns * answer_counts[:, None], columns)

    def taken(self, rows: np.ndarray) -> PronounCounts:
        """The counts of the documents with these indices, int (M,)."""
        return PronounCounts(self.right[rows], self.answer_counts[rows], self.documents[rows])

    def __call__(self, weights: np.ndarray) -> Arrays:
        """F1 = 2 · right / (gold + predicted) is not defined without a document of the gender."""
        right, answer_counts, documents = (
            weighted_sums(weights, counts)
            for counts in (self.right, self.answer_counts, self.documents)
        )
        f1 = np.where(documents > 0, divided(2 * right, answer_counts), np.nan)
        bias = np.where(f1[:, 1] > 0, divided(f1[:, 2], f1[:, 1]), np.nan)
        return dict(zip(SCORES, (*f1.T, bias), strict=True))


@dataclass(frozen=True, eq=False)
class WithPronouns:
    """The scores of another statistic of the same documents, then those of pronouns."""

    base: Statistic
    pronouns: PronounCounts

    @property
    def labels(self) -> tuple[str, ...]:
        return self.base.labels

    def taken(self, rows: np.ndarray) -> WithPronouns:
        """The counts of the documents with these indices, int (M,)."""
        return WithPronouns(self.base.taken(rows), self.pronouns.taken(rows))

    def __call__(self, weights: np.ndarray) -> Arrays:
        return {**self.base(weights), **self.pronouns(weights)}


@dataclass(frozen=True)
class GapScores:
    """F1 as fractions of 1. n: documents of each gender.

    None: without a document of the gender; bias also without a masculine F1.
    """

    overall: float | None
    masculine: float | None
    feminine: float | None
    bias: float | None
    n: dict[str, int]


def gap_scores(counts: PronounCounts) -> GapScores:
    """Scores of documents; those without a gender count for `overall` only."""
    n = len(counts.documents)
    score_rows = counts(np.ones((1, n), np.float32))
    values = {name: float(row[0]) for name, row in score_rows.items() if np.isfinite(row[0])}
    return GapScores(
        values.get(F1),
        values.get(MASCULINE_F1),
        values.get(FEMININE_F1),
        values.get(BIAS),
        dict(zip((MASCULINE, FEMININE), map(int, counts.documents.sum(0)[1:]), strict=True)),
    )


# ---------------------------------------------------------------- systems without a trained choice


@dataclass(frozen=True)
class Question:
    """A pronoun and two names of a text, each [start, end) in code points."""

    text: str
    pronoun: tuple[int, int]
    names: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, document: Document) -> Question | None:
        """None for a document that the importer of GAP has not made."""
        meta, choices = document.meta, document.choices
        offsets = [at for name in (OFFSET, *NAME_OFFSETS) if isinstance(at := meta.get(name), int)]
        if choices[-1:] != (NEITHER,) or len(offsets) != 3:
            return None
        words = (str(meta.get(PRONOUN, "")), *choices[:2])
        places = [(at, at + len(word)) for at, word in zip(offsets, words, strict=True)]
        return cls(document.text, places[0], tuple(places[1:]))


def nearest(question: Question) -> Names:
    """The name with the fewest words between it and the pronoun; the first one on a tie."""

    def words_between(name: tuple[int, int]) -> int:
        (_start, end), (start, _end) = sorted((name, question.pronoun))
        return len(question.text[end:start].split())

    return _one(question, words_between)


def first(question: Question) -> Names:
    """The name that the text has first."""
    return _one(question, lambda name: name[0])


def most_frequent(question: Question) -> Names:
    """The name of which a word occurs most often in the text; the first one on a tie."""
    words = question.text.split()

    def rarity(name: tuple[int, int]) -> int:
        parts = question.text[slice(*name)].split()
        return -max((sum(part in word for word in words) for part in parts), default=0)

    return _one(question, rarity)


def _one(question: Question, cost: Callable[[tuple[int, int]], int]) -> Names:
    costs = [cost(name) for name in question.names]
    return frozenset({choice_names(2)[costs.index(min(costs))]})


RULES: Mapping[str, tuple[str, Callable[[Question], Names]]] = {
    "nearest": (N_("Nearest name"), nearest),
    "first": (N_("First name of the text"), first),
    "frequent": (N_("Most frequent name"), most_frequent),
}


def of_chains(question: Question, prediction: Prediction) -> Names:
    """The names that a chain with the pronoun has a mention of: one that lies within the name, or
    that the name begins or ends.
    """
    by_chain: dict[int | None, list[tuple[int, int]]] = {}
    for span in prediction.spans:
        by_chain.setdefault(span.chain, []).append((span.start, span.end))
    mentions = [
        mention
        for chain in by_chain.values()
        if question.pronoun in chain
        for mention in chain
        if mention != question.pronoun
    ]
    return frozenset(
        name
        for name, place in zip(choice_names(2), question.names, strict=True)
        if any(_is_of(mention, place) for mention in mentions)
    )


def _is_of(mention: tuple[int, int], name: tuple[int, int]) -> bool:
    within = name[0] <= mention[0] and mention[1] <= name[1]
    around = mention[0] <= name[0] and name[1] <= mention[1]
    return within or (around and (mention[0] == name[0] or mention[1] == name[1]))


@dataclass(frozen=True)
class PronounScores(JsonRecord):
    """system: a run, or a key of RULES; title: for display. F1 and `bias` as in `GapScores`."""

    system: str
    title: str
    documents: int
    f1: float | None
    masculine: float | None
    feminine: float | None
    bias: float | None


def columns() -> tuple[Column, ...]:
    """Of `PronounScores`."""
    return (
        Column(_("System"), lambda row: row.title),
        Column(_("Documents"), lambda row: row.documents, kind=ValueKind.COUNT),
        Column(_("F1"), lambda row: row.f1, kind=ValueKind.SHARE),
        Column(_("Masculine"), lambda row: row.masculine, kind=ValueKind.SHARE),
        Column(_("Feminine"), lambda row: row.feminine, kind=ValueKind.SHARE),
        Column(_("Bias, F / M"), lambda row: row.bias, kind=ValueKind.NUMBER, digits=3),
    )


def compare(
    project: Project,
    queue: Queue,
    runs: Sequence[Run] = (),
    *,
    split: str = "dev",
    watch: Watch = QUIET,
) -> tuple[PronounScores, ...]:
    """The scores of rules, and of the chains of runs of coreference, on the GAP documents of a
    split. What the runs predict for them is not stored.

    Raises WorkbenchError without such documents, or if a run makes no chains.
    """
    from workbench.operations.runs.kinds import contract as kinds

    for run in runs:
        _check_chains(run)
    records = [
        (record, question)
        for record in _records(project, split)
        if (question := Question.of(record.document)) is not None
    ]
    if not records:
        raise WorkbenchError(
            _("The split {split} has no documents of GAP with the offsets of names.", split=split),
            hint=_("Import its files with --format gap."),
        )
    texts = [
        Document(record.document.key, ((TEXT, record.document.text),), id=record.document.id)
        for record, _question in records
    ]
    systems = [
        (name, _(title), [rule(question) for _record, question in records])
        for name, (title, rule) in RULES.items()
    ]
    for number, run in enumerate(runs):
        part = watch.part(number / len(runs), (number + 1) / len(runs))
        answers, _cost = kinds.of(run).predict(project, queue, run, texts, watch=part)
        pairs = zip(records, answers, strict=True)
        predicted = [of_chains(question, answer) for (_record, question), answer in pairs]
        systems.append((run.name, run.name, predicted))
    return tuple(
        _scored(name, title, [record for record, _question in records], predicted)
        for name, title, predicted in systems
    )


def _scored(
    name: str, title: str, records: Sequence[Record], predicted: Sequence[Names]
) -> PronounScores:
    genders = [str(record.document.meta.get(GENDER, "")) for record in records]
    gold = [
        frozenset(label for labels in record.marks.values() for label in labels)
        & {*choice_names(2)}
        for record in records
    ]
    scores = gap_scores(PronounCounts.of(genders, gold, predicted))
    f1 = scores.overall, scores.masculine, scores.feminine
    return PronounScores(name, title, len(records), *f1, scores.bias)


def _check_chains(run: Run) -> None:
    from workbench.operations.runs import results
    from workbench.tasks import spec as tasks
    from workbench.text.fields import Chains

    if tasks.view_of(results.task_of(run)).key != Chains.key:
        raise WorkbenchError(
            _("Run {name} makes no chains.", name=run.name),
            hint=_("Choose a run of coreference. Runs on the choices themselves are evaluated."),
        )


def _records(project: Project, split: str) -> list[Record]:
    """Submitted documents of layers of choices."""
    from workbench.storage.documents import documents
    from workbench.storage.labels import labels

    listed: list[Record] = []
    for layer in labels.layers(project.db):
        if layer.traits.in_choices:
            chosen = documents.Filter(layer_id=layer.id, state="submitted", split=split)
            ids = documents.ids(project.db, chosen)
            listed += documents.records(project.db, layers=(layer.name,), ids=ids)
    return listed
