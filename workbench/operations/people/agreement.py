"""How far people, and the predictions of runs, agree on the same documents of a layer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.base.watch import QUIET, Watch
from workbench.metrics import definitions
from workbench.operations.people import adjudication
from workbench.operations.schema import labels as schema
from workbench.storage.annotation import people
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.storage.runs import runs as stored_runs
from workbench.text import labels as kinds
from workbench.text.labels import Layer
from workbench.text.result_view import NONE
from workbench.text.rows import row_id
from workbench.text.segment import words

if TYPE_CHECKING:  # these import numpy, which the start of the window must not
    import numpy as np

    from workbench.metrics.agreement import PairScores
    from workbench.metrics.confusion import Confusion
    from workbench.metrics.resampling import Statistic
    from workbench.project.project import Project
    from workbench.text.dataset import Record

ROUNDS = 2000  # resamples of documents for the intervals
PERSON, RUN, ADJUDICATED = "person", "run", "adjudicated"  # kinds of annotators; see Annotator
Two = tuple[int, int]  # positions of two annotators


@dataclass(frozen=True, slots=True)
class Annotator:
    """A person, a run or a prompt whose predictions are compared with people, or the result of
    adjudication, which comes from the labels of people and is not counted as one of them.

    id: of the person or the run. documents: how many both submitted or predicted.
    """

    kind: str
    id: int
    name: str
    documents: int = 0
    is_gold: bool = False


@dataclass(frozen=True, slots=True)
class Value:
    """A measure with its 95% interval over documents; None where it is not defined.

    documents: how many it is computed on.
    """

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    documents: int = 0

    @property
    def title(self) -> str:
        return definitions.title(self.name)


@dataclass(frozen=True)
class Difference:
    """A document on which the annotators differ: its id, key and text, and what each says."""

    document_id: int
    key: str
    text: str
    versions: tuple[str, ...]


@dataclass(frozen=True)
class Agreement:
    """The agreement of annotators in a layer.

    documents: labelled by at least two. units: labels of those that `values` compare. values: by
    measure, the main one first: between people, or, of less than two people, between all.
    with_runs: the means of the same measures over pairs of a person and a run; () where `values`
    has them. by_label: label → measures of it. pairs: the value of each measure for two of
    `annotators`. confusions: of two, by positions in `documents`; {} for layers without labels.
    """

    layer: Layer
    annotators: tuple[Annotator, ...]
    documents: tuple[int, ...]
    units: int
    values: tuple[Value, ...]
    with_runs: tuple[Value, ...]
    by_label: Mapping[str, tuple[Value, ...]] = field(hash=False)
    pairs: Mapping[Two, Mapping[str, float | None]] = field(hash=False)
    confusions: Mapping[Two, Confusion] = field(hash=False)
    differences: tuple[Difference, ...]
    is_of_people: bool = True  # `values` are between people alone

    @property
    def main(self) -> str:
        return self.values[0].name

    def value(self, name: str) -> Value:
        """Raises KeyError if the layer has no such measure."""
        return {value.name: value for value in self.values}[name]

    def with_run(self, name: str) -> Value | None:
        """Between people and runs; None if there is no such pair, or no such measure of it."""
        return {value.name: value for value in self.with_runs}.get(name)

    def to_json(self) -> dict[str, object]:
        """As `agreement --json` prints it."""
        return {
            "layer": self.layer.name,
            "annotators": [
                {
                    "kind": who.kind,
                    "name": who.name,
                    "documents": who.documents,
                    "gold": who.is_gold,
                }
                for who in self.annotators
            ],
            "documents": len(self.documents),
            "units": self.units,
            "measures": [asdict(value) for value in self.values],
            "with_runs": [asdict(value) for value in self.with_runs],
            "labels": {
                label: [asdict(value) for value in values]
                for label, values in self.by_label.items()
            },
            "pairs": [
                {
                    "first": self.annotators[left].name,
                    "second": self.annotators[right].name,
                    "measures": dict(measures),
                }
                for (left, right), measures in self.pairs.items()
            ],
            "differences": [
                {"key": row.key, "text": row.text, "versions": list(row.versions)}
                for row in self.differences
            ],
        }


def key(annotator: Annotator) -> tuple[str, int]:
    """Names an annotator in all layers."""
    return annotator.kind, annotator.id


def layer_named(project: Project, name: str) -> Layer:
    """The layer of this name; "" for the one in which most documents are labelled by two."""
    layers = labels.layers(project.db)
    if name or not layers:
        return schema.layer_named(project, name)
    counts = people.submitted(project.db)
    return max(
        layers,
        key=lambda layer: sorted(
            (n for (layer_id, _who), n in counts.items() if layer_id == layer.id), reverse=True
        )[1:],
    )


def named(project: Project, layer: Layer, names: Sequence[str]) -> tuple[Annotator, ...]:
    """The annotators of these names; without names all people with labels in the layer.

    Raises SpecError, with the names that there are, for an unknown one.
    """
    every = annotators(project, layer)
    if not names:
        return tuple(who for who in every if who.kind == PERSON)
    by_name = {who.name: who for who in reversed(every)}  # people before runs
    for name in names:
        if name not in by_name:
            raise SpecError(
                _("{name!r} has no labels in layer {layer}.", name=name, layer=layer.name),
                hint=_("With labels: {names}", names=", ".join(who.name for who in every) or NONE),
            )
    return tuple(by_name[name] for name in dict.fromkeys(names))


def annotators(project: Project, layer: Layer) -> tuple[Annotator, ...]:
    """Who has labels of the layer: people with submitted documents and the result of adjudication,
    then runs and prompts with predictions.
    """
    db, layer_id = project.db, row_id(layer)
    counts, gold = people.submitted(db), project.gold(layer_id)
    result = adjudication.gold_person(project)
    persons = [
        Annotator(
            ADJUDICATED if result is not None and person.id == result.id else PERSON,
            person.id,
            person.name,
            count,
            person.id == gold,
        )
        for person in people.every(db)
        if (count := counts.get((layer_id, person.id), 0))
    ]
    predicting = [
        Annotator(RUN, run.id, run.name, count)
        for run in stored_runs.all(db)
        if run.layer_id == layer_id and (count := len(stored_runs.predicted(db, run.id)))
    ]
    return (*persons, *predicting)


def compare(
    project: Project,
    layer: Layer,
    chosen: Sequence[Annotator],
    *,
    ids: Iterable[int] | None = None,
    rounds: int = ROUNDS,
    watch: Watch = QUIET,
) -> Agreement:
    """The agreement of at least two annotators. Not for the main thread.

    ids: only these documents. Predictions of texts that have changed since are left out. Raises
    SpecError if no document is labelled by two of them, Cancelled through `watch`.
    """
    shared, rows = compared_versions(project, layer, chosen, ids=ids, watch=watch.part(0, 0.4))
    people = [at for at, who in enumerate(chosen) if who.kind == PERSON]
    between = people if _compared(rows, people) else list(range(len(chosen)))
    own = [row for row in ([row[at] for at in between] for row in rows) if _several(row)]
    measured = measures(layer, own)
    values, by_label = measure(measured.statistic, len(own), rounds, watch.part(0.4, 0.7))
    of_pairs: dict[Two, _Pair] = {}
    for two in combinations(range(len(chosen)), 2):
        watch.at(0.7)
        if (pair := _of_two(layer, rows, two)) is not None:
            of_pairs[two] = pair
    return Agreement(
        layer,
        tuple(chosen),
        shared,
        measured.units,
        values,
        _with_runs(chosen, of_pairs, between, len(rows), rounds, watch.part(0.8, 1.0)),
        by_label,
        {two: pair.exact() for two, pair in of_pairs.items()},
        {two: pair.confusion for two, pair in of_pairs.items() if pair.confusion is not None},
        differences(layer, rows),
        is_of_people=all(chosen[at].kind == PERSON for at in between),
    )


def compared_versions(
    project: Project,
    layer: Layer,
    chosen: Sequence[Annotator],
    *,
    ids: Iterable[int] | None = None,
    watch: Watch = QUIET,
) -> tuple[tuple[int, ...], list[list[Record | None]]]:
    """The ids (N,) of documents that two or more labelled, and what each annotator says (N, A)."""
    if len(chosen) < 2:
        raise SpecError(
            _("Agreement needs two annotators of layer {layer}.", layer=layer.name),
            hint=_("Choose two people, or a person and a run."),
        )
    limits = None if ids is None else set(ids)
    if all(annotator.kind != RUN for annotator in chosen):
        shared = people.submitted_by_several(project.db, row_id(layer), [who.id for who in chosen])
        limits = shared if limits is None else limits & shared
    sides = []
    for at, annotator in enumerate(chosen):
        watch.at(at / len(chosen))
        sides.append(versions(project, layer, annotator, limits))
    counts = Counter(id for side in sides for id in side)
    several = tuple(sorted(id for id, count in counts.items() if count >= 2))
    if not several:
        raise SpecError(
            _(
                "No document is labelled by two of the annotators in layer {layer}.",
                layer=layer.name,
            ),
            hint=_("Give the same documents to two people, or choose others."),
        )
    return several, [[side.get(id) for side in sides] for id in several]


def _several(row: Sequence[Record | None]) -> bool:
    return sum(record is not None for record in row) >= 2


def _compared(rows: Versions, positions: Sequence[int]) -> bool:
    """Whether two of these annotators have labelled a document."""
    return any(_several([row[at] for at in positions]) for row in rows)


@dataclass(frozen=True)
class _Pair:
    """scores: of the documents of both. confusion: by positions in all documents."""

    scores: PairScores
    confusion: Confusion | None

    def exact(self) -> dict[str, float | None]:
        """The measures without intervals."""
        import numpy as np

        from workbench.metrics.resampling import LABEL

        arrays = self.scores.statistic(np.ones((1, len(self.scores.rows))))
        overall = {name: row for name, row in arrays.items() if not name.startswith(LABEL)}
        return {name: value_of(name, row[0], row[0], row[0]).value for name, row in overall.items()}


def _of_two(layer: Layer, rows: Versions, two: Two) -> _Pair | None:
    """None without a common document."""
    import numpy as np

    from workbench.metrics.agreement import PairScores

    sides = [[row[at] for at in two] for row in rows]
    both = [at for at, side in enumerate(sides) if _several(side)]
    if not both:
        return None
    measured = measures(layer, [sides[at] for at in both])
    confusion = measured.confusion
    if confusion is not None:
        places = {
            cell: tuple(both[at] for at in positions) for cell, positions in confusion.where.items()
        }
        confusion = replace(confusion, where=places)
    return _Pair(PairScores(np.array(both, int), measured.statistic), confusion)


def _with_runs(
    chosen: Sequence[Annotator],
    of_pairs: Mapping[Two, _Pair],
    between: Sequence[int],
    count: int,
    rounds: int,
    watch: Watch,
) -> tuple[Value, ...]:
    """The means over pairs of a person and a run; () if `between` has the runs already."""
    from workbench.metrics.agreement import PairMeans

    if any(chosen[at].kind != PERSON for at in between):
        return ()
    mixed = [
        pair.scores
        for two, pair in of_pairs.items()
        if {chosen[at].kind for at in two} == {PERSON, RUN}
    ]
    if not mixed:
        return ()
    values, _labels = measure(PairMeans(tuple(mixed)), count, rounds, watch)
    documents = len({int(row) for scores in mixed for row in scores.rows})
    return tuple(replace(value, documents=documents) for value in values)


# ---------------------------------------------------------------- versions


def versions(
    project: Project, layer: Layer, annotator: Annotator, ids: set[int] | None
) -> dict[int, Record]:
    """Document id → the document with the labels of the annotator in the layer."""
    if annotator.kind == RUN:
        return _predicted(project, layer, annotator.id, ids)
    with project.db.labels_of(annotator.id):
        records = documents.records(
            project.db, layers=[layer.name], ids=ids, submitted_in=layer.name
        )
        return {row_id(record.document): record for record in records}


def _predicted(
    project: Project, layer: Layer, run_id: int, ids: set[int] | None
) -> dict[int, Record]:
    from workbench.text import result_view
    from workbench.text.dataset import Record

    answers = stored_runs.predictions(project.db, run_id, ids)
    versions = {}
    for record in documents.records(project.db, layers=[layer.name], ids=list(answers)):
        id = row_id(record.document)
        text_hash, prediction = answers[id]
        if text_hash == record.document.text_hash:
            view = result_view.of(prediction)
            bare = Record(record.document, {layer.name: "submitted"})
            versions[id] = view.as_gold(bare, layer.name, prediction, record.questions)
    return versions


# ---------------------------------------------------------------- measures


@dataclass(frozen=True)
class Measured:
    """units: labels of all annotators. confusion: of the first two."""

    statistic: Statistic
    units: int
    confusion: Confusion | None = None


Versions = Sequence[Sequence["Record | None"]]  # documents, annotators


def measures(layer: Layer, rows: Versions) -> Measured:
    """The measures of a kind of layer; rows (N, A): what each annotator says, None for nothing."""
    return _MEASURES[layer.traits.record](layer, rows)


def measure(
    statistic: Statistic, count: int, rounds: int, watch: Watch = QUIET, *, seed: int = 0
) -> tuple[tuple[Value, ...], dict[str, tuple[Value, ...]]]:
    """The measures of `count` documents with their intervals, and those of each label."""
    import numpy as np

    from workbench.metrics.resampling import LABEL, bounds, resampled

    exact = statistic(np.ones((1, count)))
    drawn = resampled(statistic, count, rounds, seed=seed, watch=watch)
    values: list[Value] = []
    of_labels: dict[str, list[Value]] = {}
    for name, row in exact.items():
        low, high = bounds(drawn[name])
        if not name.startswith(LABEL):
            values.append(replace(value_of(name, row[0], low, high), documents=count))
            continue
        for at, label in enumerate(statistic.labels):
            short = name.removeprefix(LABEL)
            value = value_of(short, row[0, at], low[at], high[at])
            of_labels.setdefault(label, []).append(replace(value, documents=count))
    return tuple(values), {label: tuple(row) for label, row in of_labels.items()}


def value_of(name: str, value: Any, low: Any, high: Any) -> Value:
    """A value of floats, None for NaN."""
    import math

    value, low, high = (
        None if math.isnan(number) else float(number) for number in (value, low, high)
    )
    return Value(name, value, low, high)


def _of_marks(layer: Layer, rows: Versions) -> Measured:
    return _of_sets(layer, rows) if layer.traits.several else _of_classes(layer, rows)


def _of_classes(layer: Layer, rows: Versions) -> Measured:
    from workbench.metrics.agreement import MISSING, class_agreement
    from workbench.metrics.confusion import confusion

    classes = [[_class(layer, record) for record in row] for row in rows]
    names = _names(layer, (name for row in classes for name in row if name is not None))
    number = {name: at for at, name in enumerate(names)}
    ratings = _array(
        [[MISSING if name is None else number[name] for name in row] for row in classes]
    )
    both = [(row[0], row[1], at) for at, row in enumerate(classes) if row[0] and row[1]]
    left, right, where = zip(*both, strict=True) if both else ((), (), ())
    return Measured(
        class_agreement(ratings, names),
        int((ratings != MISSING).sum()),
        confusion(left, right, names, documents=where),
    )


def _class(layer: Layer, record: Record | None) -> str | None:
    if record is None:
        return None
    return next(iter(record.marks.get(layer.name, ())), NONE)


def _of_sets(layer: Layer, rows: Versions) -> Measured:
    """Several classes: every label of every document is a decision."""
    import numpy as np

    from workbench.metrics.agreement import MISSING, class_agreement, item_agreement

    sets = [[None if r is None else set(r.marks.get(layer.name, ())) for r in row] for row in rows]
    names = _names(layer, (name for row in sets for side in row for name in side or ()))
    ratings = [
        [MISSING if side is None else int(name in side) for side in row]
        for row in sets
        for name in names
    ]
    decisions = class_agreement(
        _array(ratings),
        ("no", "yes"),
        documents=np.repeat(np.arange(len(rows)), len(names)),
        count=len(rows),
    )
    units = sum(len(side) for row in sets for side in row if side)
    return Measured(_Both(item_agreement(sets), decisions), units)


@dataclass(frozen=True)
class _Both:
    """The measures of two statistics, those of the first one first; without those of labels."""

    first: Statistic
    second: Statistic
    labels: tuple[str, ...] = ()

    def __call__(self, weights: np.ndarray) -> Mapping[str, np.ndarray]:
        from workbench.metrics.resampling import LABEL

        arrays = {**self.first(weights), **self.second(weights)}
        return {name: row for name, row in arrays.items() if not name.startswith(LABEL)}

    def taken(self, rows: np.ndarray) -> _Both:
        return _Both(self.first.taken(rows), self.second.taken(rows))


def _of_numbers(layer: Layer, rows: Versions) -> Measured:
    from workbench.metrics.agreement import NumberAgreement

    missing = float("nan")
    values = [
        [missing if r is None else r.numbers.get(layer.name, missing) for r in row] for row in rows
    ]
    numbers = _array(values, float)
    return Measured(NumberAgreement(numbers), int((numbers == numbers).sum()))


def _of_spans(layer: Layer, rows: Versions) -> Measured:
    if layer.traits.in_chains:
        return _of_chains(layer, rows)
    from workbench.metrics.agreement import both_of, span_agreement
    from workbench.metrics.confusion import span_confusion

    versions = [[None if r is None else r.spans.get(layer.name, ()) for r in row] for row in rows]
    texts = [_any(row).document for row in rows]
    lengths = [{name: len(content) for name, content in text.texts} for text in texts]
    statistic = span_agreement(versions, layer.names, lengths, [words(text.text) for text in texts])
    two = [row[:2] for row in versions]
    first = next(both_of(two), None)
    units = sum(len(side) for row in versions for side in row if side)
    if first is None:
        return Measured(statistic, units)
    rows_of_both, left, right = first
    where = [int(row) for row in rows_of_both]
    return Measured(
        statistic, units, span_confusion(left, right, statistic.labels, documents=where)
    )


def _of_chains(layer: Layer, rows: Versions) -> Measured:
    from workbench.metrics import coreference
    from workbench.metrics.agreement import PairMeans, PairScores, both_of

    versions = [[None if r is None else _chains(layer, r) for r in row] for row in rows]
    pairs = tuple(
        PairScores(both, coreference.ChainCounts.of(left, right))
        for both, left, right in both_of(versions)
    )
    names = (coreference.CONLL, *(f"{measure}_f1" for measure in coreference.MEASURES))
    units = sum(len(chain) for row in versions for side in row for chain in side or ())
    return Measured(PairMeans(pairs, names), units)


def _chains(layer: Layer, record: Record) -> list[list[object]]:
    chains: dict[int | None, list[object]] = {}
    for span in record.spans.get(layer.name, ()):
        chains.setdefault(span.chain, []).append((span.field, span.start, span.end, span.parts))
    return list(chains.values())


def _of_relations(layer: Layer, rows: Versions) -> Measured:
    def items(record: Record) -> list[object]:
        return [relation.place for relation in record.relations.get(layer.name, ())]

    return _of_items(rows, items)


def _of_questions(layer: Layer, rows: Versions) -> Measured:
    """Of each question that both answer, the answer of one is scored by that of the other."""
    from workbench.metrics.agreement import PairMeans, PairScores, both_of
    from workbench.metrics.answer_scores import EXACT, F1, AnswerStatistic

    versions = [
        [None if r is None else tuple(_answers(layer, r).items()) for r in row] for row in rows
    ]
    pairs = []
    for both, left, right in both_of(versions):
        sums = [
            _answer_sums(dict(one), dict(other)) for one, other in zip(left, right, strict=True)
        ]
        pairs.append(PairScores(both, AnswerStatistic(_array(sums, float))))
    units = sum(len(side) for row in versions for side in row if side)
    return Measured(PairMeans(tuple(pairs), (F1, EXACT)), units)


def _answers(layer: Layer, record: Record) -> dict[str, list[str]]:
    """Question → the texts of its answers, [""] if the text holds none."""
    text = record.document.text
    return {
        question.text: [text[start:end] for start, end in question.answers] or [""]
        for question in record.questions.get(layer.name, ())
        if not question.is_open
    }


def _answer_sums(
    left: Mapping[str, list[str]], right: Mapping[str, list[str]]
) -> tuple[float, float, float]:
    """Sums of exact match and F1 over the questions that both answer, and their number."""
    from workbench.metrics import answers

    exact = shared = 0.0
    both = left.keys() & right.keys()
    for question in both:
        every = [(one, other) for one in left[question] for other in right[question]]
        exact += max(answers.exact_match(*pair) for pair in every)
        shared += max(answers.f1(*pair) for pair in every)
    return exact, shared, float(len(both))


def _of_written(layer: Layer, rows: Versions) -> Measured:
    def items(record: Record) -> list[object]:
        text = record.written.get(layer.name)
        return [] if text is None else [" ".join(text.split())]

    return _of_items(rows, items)


def _of_items(rows: Versions, items: Callable[[Record], list[object]]) -> Measured:
    from workbench.metrics.agreement import item_agreement

    sets: list[list[Any]] = [[None if r is None else items(r) for r in row] for row in rows]
    units = sum(len(side) for row in sets for side in row if side)
    return Measured(item_agreement(sets), units)


_MEASURES: Mapping[str, Callable[[Layer, Versions], Measured]] = {
    kinds.MARKS: _of_marks,
    kinds.NUMBERS: _of_numbers,
    kinds.SPANS: _of_spans,
    kinds.RELATIONS: _of_relations,
    kinds.ANSWERS: _of_questions,
    kinds.WRITTEN: _of_written,
}


def _names(layer: Layer, used: Iterable[str]) -> tuple[str, ...]:
    """The labels of the layer, then others that were used, sorted."""
    return (*layer.names, *sorted(set(used) - {*layer.names}))


def _array(rows: Sequence[Sequence[float]], kind: type = int) -> np.ndarray:
    import numpy as np

    return np.array(rows, kind).reshape(len(rows), len(rows[0]) if rows else 0)


def _any(row: Sequence[Record | None]) -> Record:
    return next(record for record in row if record is not None)


# ---------------------------------------------------------------- differences


def differences(layer: Layer, rows: Versions) -> tuple[Difference, ...]:
    rows_with = []
    for row in rows:
        contents = [content(layer, record) for record in row if record is not None]
        if any(other != contents[0] for other in contents[1:]):
            document = _any(row).document
            texts = ("" if record is None else as_text(layer, record) for record in row)
            rows_with.append(
                Difference(row_id(document), document.key, document.text, tuple(texts))
            )
    return tuple(rows_with)


def content(layer: Layer, record: Record) -> object:
    """What a version says in a layer; equal for versions that agree."""
    name, part = layer.name, layer.traits.record
    if part == kinds.MARKS:
        return frozenset(record.marks.get(name, ()))
    if part == kinds.NUMBERS:
        return record.numbers.get(name)
    if part == kinds.RELATIONS:
        return frozenset(relation.place for relation in record.relations.get(name, ()))
    if part == kinds.ANSWERS:
        return frozenset(
            (question.text, frozenset(question.answers), question.is_null)
            for question in record.questions.get(name, ())
        )
    if part == kinds.WRITTEN:
        return record.written.get(name)
    if layer.traits.in_chains:
        return frozenset(frozenset(chain) for chain in _chains(layer, record))
    return frozenset(span.place for span in record.spans.get(name, ()))


def as_text(layer: Layer, record: Record) -> str:
    """A version in one line; NONE for no label."""
    name, part, text = layer.name, layer.traits.record, record.document.content
    if part == kinds.MARKS:
        parts = list(record.marks.get(name, ()))
    elif part == kinds.NUMBERS:
        parts = [f"{record.numbers[name]:g}"] if name in record.numbers else []
    elif part == kinds.RELATIONS:
        parts = [
            f"{text(r.from_span.field)[r.from_span.start : r.from_span.end]} – {r.label} → "
            f"{text(r.to_span.field)[r.to_span.start : r.to_span.end]}"
            for r in record.relations.get(name, ())
        ]
    elif part == kinds.ANSWERS:
        answers = _answers(layer, record)
        parts = [f"{question} {' / '.join(texts) or NONE}" for question, texts in answers.items()]
    elif part == kinds.WRITTEN:
        parts = [record.written[name]] if name in record.written else []
    else:
        parts = [
            f"{span.label}: {text(span.field)[span.start : span.end]}"
            for span in record.spans.get(name, ())
        ]
    return "; ".join(parts) or NONE
