"""Agreement over time, and of one person with themselves.

Over time: documents are put in order by when the last of the compared people submitted them, in
weeks or in blocks of equal size, and each period is measured like the whole. Drift is the
difference from the first period; as periods share no document, its interval is that of the
difference of independent resamples.

The same person twice: a project has one version of each document and person, so documents that a
person labelled again are those with an equal text. A document that was handed out again and merged
replaces the earlier version.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date, timedelta
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.operations.people import agreement
from workbench.operations.people.agreement import (
    PERSON,
    ROUNDS,
    Annotator,
    Difference,
    Value,
    measure,
    measures,
)
from workbench.storage.annotation import people
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.metrics.resampling import Arrays, Statistic
    from workbench.project.project import Project
    from workbench.text.labels import Layer

WEEK = 0  # in place of the size of a block
BLOCKS = (20, 50, 100)  # sizes that are offered


@dataclass(frozen=True)
class Period:
    """first, last: days, ISO 8601. values, drift: name of a measure → the value, and its difference
    from the first period, {} for that one.
    """

    first: str
    last: str
    documents: int
    values: Mapping[str, Value] = field(hash=False)
    drift: Mapping[str, Value] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class OverTime:
    """Agreement of people in a layer by period. by: WEEK, or the number of documents of a block.

    note: why there is less than two periods, "" if there are more.
    """

    layer: Layer
    people: tuple[Annotator, ...]
    by: int
    periods: tuple[Period, ...]
    note: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The measures, the main one first."""
        return tuple(self.periods[0].values) if self.periods else ()

    def title(self, number: int) -> str:
        """What a period is, for display."""
        period = self.periods[number]
        if self.by == WEEK:
            return _("Week of {day}", day=period.first)
        start = number * self.by
        return _("{first:,}–{last:,}", first=start + 1, last=start + period.documents)

    def to_json(self) -> dict[str, Any]:
        return {
            "by": "week" if self.by == WEEK else self.by,
            "note": self.note,
            "periods": [
                {
                    "first": period.first,
                    "last": period.last,
                    "documents": period.documents,
                    "measures": [asdict(value) for value in period.values.values()],
                    "drift": [asdict(value) for value in period.drift.values()],
                }
                for period in self.periods
            ],
        }


def over_time(
    project: Project,
    layer: Layer,
    chosen: Sequence[Annotator],
    *,
    by: int = WEEK,
    rounds: int = ROUNDS,
    watch: Watch = QUIET,
) -> OverTime:
    """The agreement of people by period. Not for the main thread. Raises SpecError as `compare`."""
    who = tuple(annotator for annotator in chosen if annotator.kind == PERSON)
    ids, rows = agreement.compared_versions(project, layer, who, watch=watch.part(0, 0.4))
    submitted = [people.times(project.db, row_id(layer), person.id) for person in who]
    at = [max(times[id] for times in submitted if id in times) for id in ids]
    order = sorted(range(len(ids)), key=lambda position: (at[position], ids[position]))
    statistic = measures(layer, rows).statistic
    groups = _groups([(position, _day(at[position])) for position in order], by)
    periods: list[Period] = []
    first: Arrays = {}
    for number, group in enumerate(groups):
        part = watch.part(0.4 + 0.6 * number / len(groups), 0.4 + 0.6 * (number + 1) / len(groups))
        positions = [position for position, _when in group]
        values, drawn = _measured(statistic, positions, rounds, number, part)
        days = [day for _position, day in group]
        drift = _drift(periods[0].values, first, values, drawn) if periods else {}
        first = first or drawn
        periods.append(Period(days[0].isoformat(), days[-1].isoformat(), len(group), values, drift))
    return OverTime(layer, who, by, tuple(periods), _note(at, by, len(periods)))


def _day(at: str) -> date:
    return date.fromisoformat(at[:10])


def _groups(order: Sequence[tuple[int, date]], by: int) -> list[list[tuple[int, date]]]:
    """Weeks begin on Monday; the day of each of their documents is that Monday. A last block of
    less than half the size is part of the one before.
    """
    if by != WEEK:
        blocks = [list(order[start : start + by]) for start in range(0, len(order), by)]
        if len(blocks) > 1 and len(blocks[-1]) < by / 2:
            blocks[-2:] = [blocks[-2] + blocks[-1]]
        return blocks
    weeks: dict[date, list[tuple[int, date]]] = {}
    for position, day in order:
        monday = day - timedelta(days=day.weekday())
        weeks.setdefault(monday, []).append((position, monday))
    return list(weeks.values())


def _measured(
    statistic: Statistic, positions: Sequence[int], rounds: int, seed: int, watch: Watch
) -> tuple[dict[str, Value], Arrays]:
    """The measures of some documents, and their resamples, which differ by seed."""
    import numpy as np

    from workbench.metrics.resampling import LABEL, resampled

    part = statistic.taken(np.array(positions, int))
    values, _labels = measure(part, len(positions), rounds, watch.part(0, 0.5), seed=seed)
    drawn = resampled(part, len(positions), rounds, seed=seed, watch=watch.part(0.5, 1.0))
    overall = {name: row for name, row in drawn.items() if not name.startswith(LABEL)}
    return {value.name: value for value in values}, overall


def _drift(
    before: Mapping[str, Value], first: Arrays, values: Mapping[str, Value], drawn: Arrays
) -> dict[str, Value]:
    from workbench.metrics.resampling import bounds

    drift = {}
    for name, value in values.items():
        start = before[name].value if name in before else None
        if value.value is None or start is None:
            drift[name] = Value(name, None, documents=value.documents)
            continue
        low, high = bounds(drawn[name] - first[name])
        difference = agreement.value_of(name, value.value - start, low, high)
        drift[name] = replace(difference, documents=value.documents)
    return drift


def _note(at: Sequence[str], by: int, periods: int) -> str:
    if len(set(at)) == 1:
        return _(
            "All documents have the same time, because their labels were imported together, so "
            "their order says nothing about time."
        )
    if periods > 1:
        return ""
    if by == WEEK:
        return _("All documents were submitted in one week: compare blocks of documents.")
    return ngettext(
        "Only {n:,} document was submitted by two people: choose smaller blocks.",
        "Only {n:,} documents were submitted by two people: choose smaller blocks.",
        len(at),
    )


# ---------------------------------------------------------------- the same person twice


@dataclass(frozen=True)
class Twice:
    """What a person says of equal texts. texts: that were labelled more than once; values: as those
    of several people. differences: the versions by time.
    """

    layer: Layer
    person: Annotator
    texts: int
    values: tuple[Value, ...]
    differences: tuple[Difference, ...]

    @property
    def main(self) -> Value:
        return self.values[0]

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.person.name,
            "texts": self.texts,
            "measures": [asdict(value) for value in self.values],
            "differences": [
                {"key": row.key, "text": row.text, "versions": list(row.versions)}
                for row in self.differences
            ],
        }


def twice(
    project: Project,
    layer: Layer,
    person: Annotator,
    *,
    rounds: int = ROUNDS,
    watch: Watch = QUIET,
) -> Twice | None:
    """The agreement of a person with themselves; None without a text that was labelled twice."""
    groups = people.equal_texts(project.db, row_id(layer), person.id)
    if not groups:
        return None
    every = {id for ids in groups for id in ids}
    versions = agreement.versions(project, layer, person, every)
    columns = zip_longest(*([versions.get(id) for id in ids] for ids in groups))
    rows = [list(row) for row in zip(*columns, strict=True)]
    values, _labels = measure(measures(layer, rows).statistic, len(rows), rounds, watch)
    differences = (
        replace(row, versions=tuple(filter(None, row.versions)))  # "": no further version
        for row in agreement.differences(layer, rows)
    )
    return Twice(layer, person, len(rows), values, tuple(differences))
