"""Two systems on one test set: paired tests, differences per label and slice, documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.base.i18n import _
from workbench.base.watch import QUIET, Watch
from workbench.metrics import paired
from workbench.metrics.paired import PairedDifference
from workbench.metrics.significance import mcnemar
from workbench.metrics.slices import holm
from workbench.operations.evaluation import quality, slices
from workbench.operations.runs import results
from workbench.text.columns import Column, ValueKind
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.metrics.evaluation import Evaluation, Measured
    from workbench.metrics.resampling import Statistic
    from workbench.operations.evaluation.quality import Evidence
    from workbench.operations.runs.trained_on import TrainedOn
    from workbench.storage.runs.runs import Run
    from workbench.tasks.spec import TaskInfo
    from workbench.text.document import Document
    from workbench.text.fields import Prediction

BOOTSTRAP, RANDOMISATION, MCNEMAR = "bootstrap", "randomisation", "mcnemar"
F1 = "f1"  # the score per label that is compared
DECIDED = 0.05  # p below which a test decides
SLICE_ROUNDS = 1000


@dataclass(frozen=True)
class System:
    """A run with its scores on the test set, and their intervals.

    stored: fingerprint of the documents and gold that the run itself was scored on, "" if it was
    not. trained_on: those of the documents that were in its training data.
    """

    run: Run
    evidence: Evidence
    evaluation: Evaluation
    stored: str
    trained_on: tuple[TrainedOn, ...] = ()

    @cached_property
    def scores(self) -> Mapping[str, Measured]:
        return self.evaluation.measures

    @property
    def labels(self) -> Mapping[str, Mapping[str, Measured]]:
        """The scores by label; {} for a task without a statistic."""
        intervals = self.evaluation.intervals
        return intervals.labels if intervals is not None else {}


@dataclass(frozen=True)
class Test:
    """A paired test of one score, "" for correct documents. p: two-sided, None if not defined.

    holm: p corrected for the number of pairs of systems; p itself if there is one pair.
    """

    test: str
    score: str
    p: float | None
    holm: float | None = None

    @property
    def decided(self) -> bool:
        return self.holm is not None and self.holm < DECIDED


@dataclass(frozen=True)
class PartDifference:
    """A score of both systems on a part of the documents: of one label, or a slice.

    holm: p of the difference, corrected for the number of parts. documents: ids of a slice.
    """

    name: str
    n: int
    first: float | None
    second: float | None
    difference: PairedDifference
    holm: float | None = None
    documents: tuple[int, ...] = ()

    @property
    def swapped(self) -> PartDifference:
        difference = self.difference.swapped
        return replace(self, first=self.second, second=self.first, difference=difference)


def part_columns(title: str) -> tuple[Column, ...]:
    """Of `PartDifference`. title: of the names. Intervals of few examples are for programs only."""

    def bound(name: str, row: PartDifference) -> float | None:
        return getattr(row.difference, name) if row.n >= slices.MIN_EXAMPLES else None

    return (
        Column(title, lambda row: row.name, key="name"),
        Column(_("n"), lambda row: row.n, key="n"),
        Column(_("First"), lambda row: row.first, key="first"),
        Column(_("Second"), lambda row: row.second, key="second"),
        *(Column("", attrgetter(f"difference.{key}"), key=key) for key in ("low", "high", "p")),
        Column(_("Difference"), lambda row: row.difference.value, key="difference"),
        Column(_("Low"), partial(bound, "low")),
        Column(_("High"), partial(bound, "high")),
        Column(_("p, Holm"), lambda row: row.holm, kind=ValueKind.P, key="holm"),
    )


@dataclass(frozen=True)
class PairRow:
    """A document with gold and the predictions of both systems, as text."""

    document_id: int
    key: str
    text: str
    gold: str
    first: str
    second: str

    @property
    def swapped(self) -> PairRow:
        return replace(self, first=self.second, second=self.first)


@dataclass(frozen=True)
class SystemPair:
    """Two systems, by run id. differences: first − second, by score.

    only_first: documents that only the first predicts correctly; both_right: their number.
    """

    first: int
    second: int
    rounds: int
    differences: Mapping[str, PairedDifference]
    tests: tuple[Test, ...]
    labels: tuple[PartDifference, ...]
    slices: tuple[PartDifference, ...]
    both_right: int
    only_first: tuple[PairRow, ...]
    only_second: tuple[PairRow, ...]
    both_wrong: tuple[PairRow, ...]

    @property
    def swapped(self) -> SystemPair:
        """The pair seen from the second system."""
        return replace(
            self,
            first=self.second,
            second=self.first,
            differences={name: difference.swapped for name, difference in self.differences.items()},
            labels=tuple(row.swapped for row in self.labels),
            slices=tuple(row.swapped for row in self.slices),
            only_first=tuple(row.swapped for row in self.only_second),
            only_second=tuple(row.swapped for row in self.only_first),
            both_wrong=tuple(row.swapped for row in self.both_wrong),
        )

    def higher(self, test: Test) -> int | None:
        """The id of the system that a test finds better; None if it does not decide."""
        if not test.decided:
            return None
        if test.score:
            first = (self.differences[test.score].value or 0.0) > 0
        else:
            first = len(self.only_first) > len(self.only_second)
        return self.first if first else self.second


def system(run: Run, evidence: Evidence, watch: Watch = QUIET) -> System:
    """A run with every score of its predictions; at least one document."""
    original = results.original(run, evidence.split)
    stored = original.fingerprint if original is not None else ""
    return System(run, evidence, quality.evaluate(evidence, watch), stored)


def pair(
    left: System, right: System, score: str, by_slice: str, watch: Watch = QUIET
) -> SystemPair:
    first, second = left.evidence, right.evidence
    info, n = first.info, len(first)
    rows: dict[tuple[bool, bool], list[PairRow]] = {}
    pairs = zip(first.documents, first.golds, first.predictions, second.predictions, strict=True)
    for document, gold, ours, theirs in pairs:
        correct = info.agrees(gold, ours), info.agrees(gold, theirs)
        rows.setdefault(correct, []).append(_row(info, document, gold, (ours, theirs), correct))
    only_first, only_second = rows.get((True, False), []), rows.get((False, True), [])
    counts, others = _statistic(first, score), _statistic(second, score)
    drawn, rounds = None, _rounds(first, score)
    if counts is not None and others is not None:
        drawn = paired.bootstrap(counts, others, n, rounds=rounds, watch=watch.part(0.0, 0.4))
    tests = [Test(MCNEMAR, "", mcnemar(len(only_first), len(only_second)))]
    if drawn is not None and score in drawn.scores:
        exchanged = paired.randomisation(
            _pooled(first, second, score), (score,), n, rounds=rounds, watch=watch.part(0.4, 0.8)
        )
        tests.insert(0, Test(RANDOMISATION, score, exchanged[score]))
        tests.insert(0, Test(BOOTSTRAP, score, drawn.scores[score].p))
    return SystemPair(
        left.run.id,
        right.run.id,
        drawn.rounds if drawn is not None else 0,
        drawn.scores if drawn is not None else {},
        tuple(tests),
        _by_label(left, right, drawn),
        _by_slice(first, second, by_slice, watch.part(0.8, 1.0)),
        len(rows.get((True, True), [])),
        tuple(only_first),
        tuple(only_second),
        tuple(rows.get((False, False), [])),
    )


def _row(
    info: TaskInfo,
    document: Document,
    gold: Any,
    answers: tuple[Prediction, Prediction],
    correct: tuple[bool, bool],
) -> PairRow:
    """A correct prediction is shown as what the other one missed of gold."""
    texts_of = [info.error(document, gold, answer) for answer in answers]
    error = texts_of[1] if correct[0] else texts_of[0]
    texts = [
        error.gold if ok else error_text.predicted
        for error_text, ok in zip(texts_of, correct, strict=True)
    ]
    return PairRow(row_id(document), document.key, document.text[:160], error.gold, *texts)


def _plain(evidence: Evidence) -> Statistic | None:
    """The statistic without rankings, which take too long for 10,000 samples."""
    if evidence.statistic is None:
        return None
    return evidence.statistic.taken(np.arange(len(evidence)))


def _is_ranking(evidence: Evidence, score: str) -> bool:
    """Whether only the statistic with rankings has the score."""
    plain = _plain(evidence)
    return plain is not None and score not in plain(np.ones((1, len(evidence)), np.float32))


def _statistic(evidence: Evidence, score: str) -> Statistic | None:
    """The statistic with the score; without rankings unless it is one."""
    return evidence.statistic if _is_ranking(evidence, score) else _plain(evidence)


def _rounds(evidence: Evidence, score: str) -> int:
    """Number of rounds of a test; fewer for a ranking, which takes a pass over the documents for
    each label.
    """
    if evidence.statistic is None or not _is_ranking(evidence, score):
        return paired.ROUNDS
    return paired.rounds_for(len(evidence) * len(evidence.statistic.labels))


def _pooled(first: Evidence, second: Evidence, score: str) -> Statistic:
    """Every document twice: with the prediction of the first, then of the second system."""
    both = replace(
        first,
        documents=(*first.documents, *second.documents),
        golds=(*first.golds, *second.golds),
        predictions=(*first.predictions, *second.predictions),
    )
    statistic = _statistic(both, score)
    if statistic is None:
        raise TypeError(f"{first.info.id} has no statistic")
    return statistic


def _by_label(
    left: System, right: System, drawn: paired.Bootstrapped | None
) -> tuple[PartDifference, ...]:
    """Labels that occur in gold or predictions, largest difference first."""
    if drawn is None:
        return ()
    evidence = left.evidence
    support = [label for gold in evidence.golds for label in gold.labels()]
    used = [label for label in drawn.labels if label in left.labels or label in right.labels]
    rows = [
        PartDifference(
            label,
            support.count(label),
            _value(left.labels, label),
            _value(right.labels, label),
            drawn.labels[label][F1],
        )
        for label in used
        if F1 in drawn.labels[label]
    ]
    return _sorted(rows)


def _value(labels: Mapping[str, Mapping[str, Measured]], label: str) -> float | None:
    return labels[label][F1].value if label in labels else 0.0


def _by_slice(
    first: Evidence, second: Evidence, score: str, watch: Watch
) -> tuple[PartDifference, ...]:
    ours, theirs = _plain(first), _plain(second)
    if ours is None or theirs is None:
        return ()
    ids = [row_id(document) for document in first.documents]
    rows = []
    members = slices.members(first)
    for at, (name, chosen) in enumerate(members.items()):
        watch.at(at / len(members))
        sides = ours.taken(chosen), theirs.taken(chosen)
        drawn = paired.bootstrap(*sides, len(chosen), rounds=SLICE_ROUNDS)
        whole = np.ones((1, len(chosen)), np.float32)
        left, right = (float(side(whole)[score][0]) for side in sides)
        documents = tuple(ids[at] for at in chosen)
        difference = drawn.scores[score]
        rows.append(PartDifference(name, len(chosen), left, right, difference, documents=documents))
    return _sorted(rows)


def _sorted(rows: Sequence[PartDifference]) -> tuple[PartDifference, ...]:
    """Lowest p first, with p corrected for the number of rows."""
    adjusted = _holm([row.difference.p for row in rows])
    corrected = [replace(row, holm=value) for row, value in zip(rows, adjusted, strict=True)]
    order = lambda row: (  # noqa: E731
        1.0 if row.difference.p is None else row.difference.p,
        -abs(row.difference.value or 0.0),
    )
    return tuple(sorted(corrected, key=order))


def corrected(pairs: Sequence[SystemPair]) -> tuple[SystemPair, ...]:
    """The pairs with every kind of test corrected for their number (Holm 1979)."""
    table = [list(pair.tests) for pair in pairs]
    for kind in range(len(table[0])):
        values = _holm([tests[kind].p for tests in table])
        for tests, value in zip(table, values, strict=True):
            tests[kind] = replace(tests[kind], holm=value)
    return tuple(replace(pair, tests=tuple(t)) for pair, t in zip(pairs, table, strict=True))


def _holm(values: Sequence[float | None]) -> list[float | None]:
    """Corrected for the number of values that are defined."""
    adjusted = iter(holm([value for value in values if value is not None]))
    return [None if value is None else next(adjusted) for value in values]
