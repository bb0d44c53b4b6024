"""Statistics of documents and their labels: balance, pairs, lengths, speed, agreement.

Labels are gold of submitted documents. Everything is counted in chunks of documents, so that memory
stays small, progress is reported and a count can be cancelled.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import N_, _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.metrics.significance import wilson
from workbench.operations.annotation import progress, provenance
from workbench.operations.schema import labels as schema
from workbench.storage.annotation.provenance import Origin
from workbench.storage.documents import statistics as stored
from workbench.text.labels import NUMBERS, WRITTEN
from workbench.text.queries import query_edit
from workbench.text.rows import row_id
from workbench.text.scale import Scale
from workbench.text.segment import words

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.text.labels import Label, Layer

CHUNK = 20_000  # documents between two reports of progress
LOW, HIGH = 0.05, 0.95  # percentiles of span lengths
MOST_VALUES = 12  # numbers that are listed one by one; more are put into bins
BINS = 10
LIMITS = (1, 2, 5, 10, 20, 50, 100)  # words of a written text, upper ends of its classes
ANSWERS = {"answer": N_("with an answer"), "none": N_("without an answer"), "open": N_("open")}
OUTCOMES = stored.OUTCOMES


@dataclass(frozen=True)
class LabelUsage:
    """A label, or a class of values: how many there are, in how many documents.

    query: finds the documents. label: None for values.
    """

    name: str
    count: int
    documents: int
    query: str
    label: Label | None = None


@dataclass(frozen=True)
class SpanLengths:
    """Lengths in words of the spans with a label: median, 5th and 95th percentile, longest."""

    label: Label
    spans: int
    median: int
    low: int
    high: int
    longest: int
    query: str


@dataclass(frozen=True)
class LayerStatistics:
    """Statistics of one layer.

    submitted: documents; unlabelled: those of them without a label or value. chains: of
    coreference. pairs: positions of two labels in the layer, the first not above the second →
    documents that have both; of a label with itself, documents that have it. spans: () for a layer
    without spans.
    """

    layer: Layer
    submitted: int
    unlabelled: int
    rows: tuple[LabelUsage, ...]
    pairs: Mapping[tuple[int, int], int] = field(default_factory=dict, hash=False)
    spans: tuple[SpanLengths, ...] = ()
    chains: int = 0

    @property
    def can_pair(self) -> bool:
        """Whether a document can have several labels of the layer."""
        traits = self.layer.traits
        return traits.takes_labels and (traits.several or traits.in_text)

    def query_of_pair(self, first: int, second: int) -> str:
        """Finds the documents with both labels."""
        names = (self.layer.labels[at].name for at in dict.fromkeys((first, second)))
        terms = (_label_term(self.layer, name) for name in names)
        return " ".join((*terms, _submitted(self.layer)))


@dataclass(frozen=True)
class Day:
    """Documents per hour on a day (UTC, ISO 8601), measured on so many documents."""

    date: str
    per_hour: float
    documents: int

    @property
    def query(self) -> str:
        return query_edit.term("date", self.date)


@dataclass(frozen=True)
class Agreement:
    """Decided suggestions of one origin in one layer, by outcome; labels: the same per label.

    low, high: 95% interval of the share that agrees with gold (Wilson).
    """

    layer: Layer
    origin: Origin
    title: str
    counts: Mapping[str, int] = field(hash=False)
    labels: Mapping[str, Mapping[str, int]] = field(hash=False)

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def share(self) -> float:
        return self.counts[stored.AGREED] / self.total

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.counts[stored.AGREED], self.total)


@dataclass(frozen=True)
class Statistics:
    """documents: number of those that were counted."""

    documents: int
    layers: tuple[LayerStatistics, ...]
    days: tuple[Day, ...]
    agreement: tuple[Agreement, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "documents": self.documents,
            "layers": [_layer_json(layer) for layer in self.layers],
            "days": [
                {"date": day.date, "per_hour": day.per_hour, "documents": day.documents}
                for day in self.days
            ],
            "suggestions": [_agreement_json(agreement) for agreement in self.agreement],
        }


def collect(
    project: Project,
    ids: Sequence[int],
    layers: Sequence[Layer] | None = None,
    *,
    watch: Watch = QUIET,
) -> Statistics:
    """Count over the documents, in all layers or in these. Not for the main thread.

    Raises Cancelled through `watch`.
    """
    chosen = tuple(schema.layers(project)) if layers is None else tuple(layers)
    counting = [_Counting(project, layer) for layer in chosen]
    times: Counter[str] = Counter()
    for chunk in watch.over(sorted(ids), CHUNK):
        for item in counting:
            item.add(chunk)
        for at, n in stored.finished(project.db, chunk):
            times[at] += n
    names = provenance.Names(project)
    return Statistics(
        len(ids),
        tuple(item.result() for item in counting),
        days(times),
        tuple(agreement for item in counting for agreement in item.agreement(names)),
    )


def documents_of(project: Project, agreement: Agreement) -> list[int]:
    """Ids of the documents with decided suggestions of an origin."""
    return stored.decided_documents(project.db, agreement.layer, agreement.origin)


def days(times: Mapping[str, int]) -> tuple[Day, ...]:
    """The speed of each day with enough documents. times: ISO 8601 → documents finished then."""
    by_day: dict[str, list[float]] = defaultdict(list)
    for at, n in sorted(times.items()):
        if n <= progress.TOGETHER:
            by_day[at[:10]] += [datetime.fromisoformat(at).timestamp()] * n
    measured = ((day, *progress.pace(moments)) for day, moments in by_day.items())
    return tuple(Day(day, speed, n) for day, speed, n in measured if speed is not None)


class _Counting:
    """Sums the counts of one layer over chunks of documents."""

    def __init__(self, project: Project, layer: Layer):
        self.project, self.db, self.layer = project, project.db, layer
        self.submitted = self.labelled = self.chains = 0
        self.labels: Counter[int] = Counter()
        self.documents: Counter[int] = Counter()
        self.values: Counter[Any] = Counter()
        self.value_documents: Counter[Any] = Counter()
        self.bins: Counter[int] = Counter()
        self.edges = _edges(layer)
        self.pairs: Counter[tuple[int, int]] = Counter()
        self.lengths: dict[int, Counter[int]] = defaultdict(Counter)
        self.outcomes: dict[Origin, Counter[tuple[int | None, str]]] = defaultdict(Counter)

    def add(self, chunk: Sequence[int]) -> None:
        traits = self.layer.traits
        if traits.takes_labels:
            self._add_labels(chunk)
        else:
            self.submitted += stored.submitted(self.db, chunk, self.layer)
            self._add_values(chunk)
        if traits.in_text:
            self._add_lengths(chunk)
        if traits.in_chains:
            self.chains += stored.chains(self.db, chunk, self.layer)
        if not traits.asks:
            for kind, ref, by, label, outcome, n in stored.decided(self.db, chunk, self.layer):
                self.outcomes[Origin(kind, ref, by)][label, outcome] += n

    def _add_labels(self, chunk: Sequence[int]) -> None:
        label_counts = stored.label_counts(self.db, chunk, self.layer)
        self.submitted += label_counts.submitted
        self.labelled += label_counts.labelled
        for label, (labels, documents) in label_counts.labels.items():
            self.labels[label] += labels
            self.documents[label] += documents
        if self.layer.traits.several or self.layer.traits.in_text:
            for first, second, n in stored.label_pairs(self.db, chunk, self.layer):
                self.pairs[first, second] += n

    def _add_values(self, chunk: Sequence[int]) -> None:
        record = self.layer.traits.record
        if record == NUMBERS:
            for number, n in stored.numbers(self.db, chunk, self.layer):
                self.bins[min(max(bisect_right(self.edges, number) - 1, 0), BINS - 1)] += n
                if len(self.values) <= MOST_VALUES:  # else only bins are shown
                    self._add_value(number, n, n)
        elif record == WRITTEN:
            for text in stored.written(self.db, chunk, self.layer):
                self._add_value(_written_class(len(words(text))), 1, 1)
        else:
            for kind, questions, documents in stored.questions(self.db, chunk, self.layer):
                self._add_value(kind, questions, documents)

    def _add_value(self, value: Any, n: int, documents: int) -> None:
        self.values[value] += n
        self.value_documents[value] += documents

    def _add_lengths(self, chunk: Sequence[int]) -> None:
        for label, parts, n in stored.span_texts(self.db, chunk, self.layer):
            self.lengths[label][sum(len(words(part)) for part in parts)] += n

    # ------------------------------------------------------------ results

    def result(self) -> LayerStatistics:
        layer = self.layer
        if not layer.traits.takes_labels:
            rows = self._value_rows()
            labelled = sum(self.bins.values()) or sum(self.values.values())
            if layer.traits.asks:
                labelled = self.submitted
            return LayerStatistics(layer, self.submitted, self.submitted - labelled, rows)
        rows = tuple(
            LabelUsage(
                label.name,
                self.labels[row_id(label)],
                self.documents[row_id(label)],
                _labelled(layer, label.name),
                label,
            )
            for label in layer.labels
        )
        at = {row_id(label): number for number, label in enumerate(layer.labels)}
        pairs: Counter[tuple[int, int]] = Counter()
        for (first, second), n in self.pairs.items():
            index, other = sorted((at[first], at[second]))
            pairs[index, other] += n
        unlabelled = self.submitted - self.labelled
        lengths = tuple(self._span_rows())
        return LayerStatistics(layer, self.submitted, unlabelled, rows, pairs, lengths, self.chains)

    def _span_rows(self) -> Iterable[SpanLengths]:
        for label in self.layer.labels:
            counts = self.lengths.get(row_id(label))
            if counts:
                low, median, high = (percentile(counts, share) for share in (LOW, 0.5, HIGH))
                query = _labelled(self.layer, label.name)
                yield SpanLengths(label, counts.total(), median, low, high, max(counts), query)

    def _value_rows(self) -> tuple[LabelUsage, ...]:
        layer, record = self.layer, self.layer.traits.record
        if record == NUMBERS:
            return self._number_rows()
        whole = f"{query_edit.term('layer', layer.name)} {_submitted(layer)}"
        if record == WRITTEN:
            order = sorted(self.values)
            names = {item: _words_text(item) for item in order}
        else:
            order = [answer for answer in ANSWERS if answer in self.values]
            names = {item: _(ANSWERS[item]) for item in order}
        return tuple(
            LabelUsage(names[item], self.values[item], self.value_documents[item], whole)
            for item in order
        )

    def _number_rows(self) -> tuple[LabelUsage, ...]:
        key = f"number.{query_edit.quoted(self.layer.name)}"
        state = _submitted(self.layer)
        if len(self.values) <= MOST_VALUES:
            return tuple(
                LabelUsage(f"{value:g}", n, n, f"{key}:{value!r} {state}")
                for value, n in sorted(self.values.items())
            )
        rows = []
        for at, (low, high) in enumerate(pairwise(self.edges)):
            below = "<=" if at == BINS - 1 else "<"
            query = f"{key}>={low!r} {key}{below}{high!r} {state}"
            name = _("{low:g} – {high:g}", low=low, high=high)
            rows.append(LabelUsage(name, self.bins[at], self.bins[at], query))
        return tuple(rows)

    def agreement(self, names: provenance.Names) -> Iterable[Agreement]:
        known = {row_id(label): label.name for label in self.layer.labels}
        for origin, outcomes in self.outcomes.items():
            counts: Counter[str] = Counter(dict.fromkeys(OUTCOMES, 0))
            labels: dict[str, Counter[str]] = {}
            for (label, outcome), n in outcomes.items():
                counts[outcome] += n
                if label in known:
                    empty = Counter(dict.fromkeys(OUTCOMES, 0))
                    labels.setdefault(known[label], empty)[outcome] += n
            yield Agreement(self.layer, origin, names.of(origin), counts, labels)


def percentile(counts: Mapping[int, int], share: float) -> int:
    """The smallest value that at least `share` of all values do not exceed (nearest rank)."""
    order = sorted(counts)
    needed = max(1, math.ceil(share * sum(counts.values())))
    reached = zip(order, accumulate(counts[value] for value in order), strict=True)
    return next(value for value, total in reached if total >= needed)


def _edges(layer: Layer) -> list[float]:
    """The edges of the bins of a layer's numbers."""
    scale = Scale.of(layer.options)
    step = (scale.maximum - scale.minimum) / BINS
    return [round(scale.minimum + step * number, 9) for number in range(BINS + 1)]


def _submitted(layer: Layer) -> str:
    return query_edit.term("state", "submitted", name=layer.name)


def _label_term(layer: Layer, name: str) -> str:
    return query_edit.term("label", name, name=layer.name)


def _labelled(layer: Layer, name: str) -> str:
    return f"{_label_term(layer, name)} {_submitted(layer)}"


def _written_class(count: int) -> int:
    return next((at for at, most in enumerate(LIMITS) if count <= most), len(LIMITS))


def _words_text(number: int) -> str:
    if number == len(LIMITS):
        return ngettext("over {n} word", "over {n} words", LIMITS[-1])
    least = LIMITS[number - 1] + 1 if number else 0
    if least == LIMITS[number]:
        return ngettext("{n} word", "{n} words", least)
    return ngettext(
        "{low} – {high} word",
        "{low} – {high} words",
        LIMITS[number],
        low=least,
        high=LIMITS[number],
    )


def _layer_json(layer_statistics: LayerStatistics) -> dict[str, Any]:
    labels = layer_statistics.layer.labels
    return {
        "name": layer_statistics.layer.name,
        "kind": layer_statistics.layer.kind,
        "submitted": layer_statistics.submitted,
        "unlabelled": layer_statistics.unlabelled,
        "chains": layer_statistics.chains,
        "labels": [
            {"name": row.name, "count": row.count, "documents": row.documents, "query": row.query}
            for row in layer_statistics.rows
        ],
        "pairs": [
            {"labels": [labels[a].name, labels[b].name], "documents": n}
            for (a, b), n in sorted(layer_statistics.pairs.items())
            if a != b
        ],
        "spans": [
            {
                "label": span.label.name,
                "spans": span.spans,
                "median": span.median,
                "p5": span.low,
                "p95": span.high,
                "longest": span.longest,
            }
            for span in layer_statistics.spans
        ],
    }


def _agreement_json(agreement: Agreement) -> dict[str, Any]:
    low, high = agreement.interval
    return {
        "layer": agreement.layer.name,
        "source": agreement.title,
        **agreement.counts,
        "share": agreement.share,
        "interval": [low, high],
        "labels": [{"label": name, **counts} for name, counts in agreement.labels.items()],
    }
