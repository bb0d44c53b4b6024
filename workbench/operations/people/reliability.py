"""What several people probably mean: the majority, or an estimate that knows how reliable each is.

Items are documents, labels of documents, places of spans and of relations, or questions. Nobody
who did not submit a layer counts for its items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Literal, NamedTuple

from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _
from workbench.base.watch import QUIET, Watch
from workbench.operations.annotation import suggestion_edits
from workbench.operations.people import adjudication
from workbench.operations.people.cases import with_spans
from workbench.operations.people.differences import Mark, Version, content
from workbench.storage.annotation import answers
from workbench.storage.annotation import suggestions as proposals
from workbench.storage.annotation.suggestions import NewSuggestion, field_of_ends
from workbench.text.labels import Layer
from workbench.text.relations import directed
from workbench.text.result_view import NONE
from workbench.text.rows import row_id
from workbench.text.spans import Span

if TYPE_CHECKING:
    from workbench.operations.people.cases import Difference
    from workbench.project.project import Project
    from workbench.storage.annotation.people import Person

Method = Literal["majority", "dawid-skene"]
MAJORITY: Method = "majority"
DAWID_SKENE: Method = "dawid-skene"
METHODS: tuple[Method, ...] = (MAJORITY, DAWID_SKENE)
TITLES = {MAJORITY: N_("majority"), DAWID_SKENE: N_("Dawid–Skene estimate")}
REFS: Mapping[str, str] = {  # start of the reference of a source → its title
    f"{MAJORITY}:": N_("majority of people"),
    f"{DAWID_SKENE}:": N_("Dawid–Skene estimate"),
}

EQUAL = 1e-9  # probabilities that differ by less are a tie
Answer = tuple[Mark, ...]  # what a person says of an item; () for no label


@dataclass(frozen=True, slots=True)
class Reliability:
    """A person beside the estimate. accuracy: of the items that they labelled, the expected share
    labelled as is estimated. confusion: what is estimated (rows) × what they say, as shares of each
    row; None in rows of what they labelled no item of; () for layers without labels.
    """

    person: Person
    items: int
    accuracy: float | None
    confusion: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True)
class Estimate:
    """What people probably mean in a layer.

    labels: of the confusions, in order. shares: how many items have each. items: labelled by at
    least two people. open: ties, which are left open. suggestions: of items on which people differ.
    """

    layer: Layer
    method: Method
    labels: tuple[str, ...]
    shares: tuple[float, ...]
    items: int
    open: int
    people: tuple[Reliability, ...]
    suggestions: tuple[NewSuggestion, ...]

    def to_json(self) -> dict[str, object]:
        """As `adjudicate majority --json` prints it."""
        return {
            "layer": self.layer.name,
            "method": self.method,
            "labels": list(self.labels),
            "shares": list(self.shares),
            "items": self.items,
            "open": self.open,
            "people": [
                {
                    "name": row.person.name,
                    "items": row.items,
                    "accuracy": row.accuracy,
                    "confusion": [list(shares) for shares in row.confusion],
                }
                for row in self.people
            ],
        }


@dataclass(frozen=True, slots=True)
class SuggestedVersion:
    """The version of a difference that most people support, or the most probable one.

    take: the first person with it; people: all of them, as numbers; of: how many submitted the
    layer. score: their share, or the probability that every item of the difference is as they say.
    """

    take: int
    people: tuple[int, ...]
    of: int
    score: float


Place = tuple[int, str]  # document, key of a difference


@dataclass(frozen=True)
class Consensus:
    """What a method suggests for the differences of all documents.

    versions: those with a most supported version; ties have none. estimates: of each layer that was
    compared. left_out: name of a layer → why not.
    """

    method: Method
    versions: Mapping[Place, SuggestedVersion]
    estimates: Mapping[str, Estimate]
    left_out: Mapping[str, str]


@dataclass(slots=True)
class _Item:
    document_id: int
    key: Hashable  # tells it from the other items of the document
    answers: list[Answer | None]  # by person; None: did not submit the layer

    @property
    def differs(self) -> bool:
        return len({answer for answer in self.answers if answer is not None}) > 1


Scores = Sequence[dict[str, float]]  # of each item: name of an answer → probability


class _Weighed(NamedTuple):
    """The items of a layer, and the probability of each answer to them."""

    items: Sequence[_Item]
    scores: Scores
    labels: tuple[str, ...]
    shares: tuple[float, ...]
    people: tuple[Reliability, ...]


def estimate(
    project: Project,
    layer: Layer,
    persons: Sequence[Person],
    *,
    method: Method = MAJORITY,
    watch: Watch = QUIET,
) -> Estimate:
    """Compare the answers of people in a layer. Not for the main thread.

    Raises SpecError for a layer of chains, for Dawid–Skene without labels, or if no document is
    labelled by two of the people; Cancelled through `watch`.
    """
    return _estimate(project, layer, method, _weigh(project, layer, persons, method, watch))


def _weigh(
    project: Project, layer: Layer, persons: Sequence[Person], method: Method, watch: Watch
) -> _Weighed:
    traits = layer.traits
    if traits.in_chains or (method == DAWID_SKENE and not traits.takes_labels):
        raise SpecError(
            _(
                "The {method} is not possible in layer {layer}: {kind}.",
                method=_(TITLES[method]), layer=layer.name, kind=_(traits.title),
            )
        )  # fmt: skip
    items = [
        item
        for id, versions in adjudication.versions(project, layer, persons, watch=watch)
        for item in _items(layer, id, versions)
    ]
    if not items:
        raise SpecError(
            _("No document is labelled by two of the people in layer {layer}.", layer=layer.name)
        )
    every = {_name(answer) for item in items for answer in item.answers if answer is not None}
    names = sorted(every) if traits.takes_labels else []
    weigh = _estimated if method == DAWID_SKENE else _counted
    scores, shares, people = weigh(items, names, persons)
    return _Weighed(items, scores, tuple(names), shares, people)


def _estimate(project: Project, layer: Layer, method: Method, weighed: _Weighed) -> Estimate:
    suggestions: list[NewSuggestion] = []
    still_open = 0
    for item, scores in zip(weighed.items, weighed.scores, strict=True):
        best, score = _best(item, scores)
        if best is None:
            still_open += 1
        elif item.differs:
            suggestions += _suggested(project, layer, item, best, score)
    _items, _scores, names, shares, people = weighed
    return Estimate(
        layer, method, names, shares, len(weighed.items), still_open, people, tuple(suggestions)
    )


def suggest(project: Project, estimate: Estimate, *, origin: object = None) -> int:
    """Store the suggestions of an estimate, in place of earlier ones of its method in the layer,
    in one undo step. Returns how many are open.
    """
    ref = f"{estimate.method}:{estimate.layer.name}"
    title = _("Suggest the {method}", method=_(TITLES[estimate.method]))
    with project.edit(title, origin=origin, bulk=True):
        proposals.delete_open_of(project.db, "rule", ref)
        return suggestion_edits.add_suggestions(
            project, None, estimate.suggestions, title=title, kind="rule", ref=ref
        )


# ---------------------------------------------------------------- differences


def consensus(
    project: Project,
    persons: Sequence[Person],
    layers: Sequence[Layer],
    *,
    method: Method = MAJORITY,
    watch: Watch = QUIET,
) -> Consensus:
    """Suggest a version for each difference, also for decided ones. Not for the main thread.

    The probability of a version is the product of those of its items, which Dawid and Skene take as
    independent. Raises as `adjudication.overview`, Cancelled through `watch`.
    """
    estimates: dict[str, Estimate] = {}
    left_out: dict[str, str] = {}
    answers: dict[tuple[object, ...], tuple[_Item, dict[str, float]]] = {}
    layers = with_spans(project, layers)
    for at, layer in enumerate(layers):
        part = watch.part(0.8 * at / len(layers), 0.8 * (at + 1) / len(layers))
        try:
            weighed = _weigh(project, layer, persons, method, part)
        except SpecError as error:
            left_out[layer.name] = str(error)
            continue
        estimates[layer.name] = _estimate(project, layer, method, weighed)
        if method == DAWID_SKENE:
            for item, scores in zip(weighed.items, weighed.scores, strict=True):
                answers[layer.id, item.document_id, item.key] = item, scores
    versions: dict[Place, SuggestedVersion] = {}
    part = watch.part(0.8, 1.0)
    for difference in adjudication.each_difference(project, persons, layers, watch=part):
        if method == DAWID_SKENE and difference.layer.name in left_out:
            continue
        suggested = _version(difference, answers if method == DAWID_SKENE else None)
        if suggested is not None:
            versions[difference.document_id, difference.key] = suggested
    return Consensus(method, versions, estimates, left_out)


def _version(
    difference: Difference,
    answers: Mapping[tuple[object, ...], tuple[_Item, dict[str, float]]] | None,
) -> SuggestedVersion | None:
    """None for a tie. answers: (layer, document, key of an item) → the item; None: by votes."""
    layer, id = difference.layer, difference.document_id
    alike: dict[Hashable, list[int]] = {}
    for at, version in enumerate(difference.versions):
        if version is not None:
            alike.setdefault(content(layer, version), []).append(at)
    of = sum(map(len, alike.values()))
    if answers is None:
        scored = [(len(people) / of, people) for people in alike.values()]
    else:
        keys = {_key(layer, mark) for mark in difference.every_mark}
        items = [answers[layer.id, id, key] for key in keys if (layer.id, id, key) in answers]
        scored = [
            (max(prod(_score(item, at, scores) for item, scores in items) for at in people), people)
            for people in alike.values()
        ]
    (score, people), *others = sorted(scored, key=lambda pair: -pair[0])
    if others and others[0][0] >= score - EQUAL:
        return None
    return SuggestedVersion(people[0], tuple(people), of, score)


def _score(item: _Item, at: int, scores: Mapping[str, float]) -> float:
    """The probability of the answer of a person."""
    answer = item.answers[at]
    return 0.0 if answer is None else scores[_identity(answer)]


def open_suggestions(
    project: Project,
    persons: Sequence[Person],
    layers: Sequence[Layer],
    consensus: Consensus,
    *,
    watch: Watch = QUIET,
) -> list[tuple[Difference, SuggestedVersion]]:
    """The open differences with a suggestion, the most probable first, with their words.

    Not for the main thread. Raises as `adjudication.overview`.
    """
    every = adjudication.each_difference(project, persons, layers, watch=watch)
    chosen = [
        difference
        for difference in every
        if difference.taken is None
        and (difference.document_id, difference.key) in consensus.versions
    ]
    rows = [
        (difference, consensus.versions[difference.document_id, difference.key])
        for difference in adjudication.with_words(project, chosen)
    ]
    return sorted(rows, key=lambda row: -row[1].score)


# ---------------------------------------------------------------- items


def _items(layer: Layer, id: int, versions: Sequence[Version]) -> list[_Item]:
    """What people may say differently of a document."""
    keys: dict[Hashable, None] = {}
    for version in versions:
        keys.update(dict.fromkeys(_key(layer, mark) for mark in version or ()))
    if not keys and not layer.traits.in_text:
        keys[""] = None  # nobody gave a class
    return [
        _Item(
            id,
            key,
            [
                None
                if version is None
                else tuple(
                    sorted(
                        (mark for mark in version if _key(layer, mark) == key),
                        key=lambda mark: mark.place,
                    )
                )
                for version in versions
            ],
        )
        for key in keys
    ]


def _key(layer: Layer, mark: Mark) -> Hashable:
    """Marks of different people with the same key are answers to the same."""
    traits = layer.traits
    if traits.asks:
        return mark.label, mark.value
    if mark.ends is not None:
        return tuple(end.ranges for end in mark.ends)
    if traits.in_text:
        return mark.ranges
    return mark.label if traits.several else ""


def _name(answer: Answer) -> str:
    return " + ".join(mark.label for mark in answer) or NONE


# ---------------------------------------------------------------- estimates


def _counted(
    items: Sequence[_Item], names: Sequence[str], persons: Sequence[Person]
) -> tuple[Scores, tuple[float, ...], tuple[Reliability, ...]]:
    """The shares of the votes; people beside the majority, without items that it leaves open."""
    scores, shares = [], Counter[str]()
    tables = [{name: Counter[str]() for name in names} for _person in persons]
    counts, right = [0] * len(persons), [0] * len(persons)
    for item in items:
        votes = Counter(_identity(answer) for answer in item.answers if answer is not None)
        scores.append({name: count / votes.total() for name, count in votes.items()})
        best, _score = _best(item, scores[-1])
        if best is None:
            continue
        shares[_name(best)] += 1
        for at, answer in enumerate(item.answers):
            if answer is not None:
                counts[at] += 1
                right[at] += answer == best
                if names:
                    tables[at][_name(best)][_name(answer)] += 1
    people = []
    for at, (person, table) in enumerate(zip(persons, tables, strict=True)):
        confusion = tuple(
            tuple(row[name] / row.total() if row.total() else None for name in names)
            for row in table.values()
        )
        accuracy = right[at] / counts[at] if counts[at] else None
        people.append(Reliability(person, counts[at], accuracy, confusion))
    decided = shares.total() or 1
    return scores, tuple(shares[name] / decided for name in names), tuple(people)


def _estimated(
    items: Sequence[_Item], names: Sequence[str], persons: Sequence[Person]
) -> tuple[Scores, tuple[float, ...], tuple[Reliability, ...]]:
    """The probabilities of Dawid and Skene."""
    import numpy as np

    from workbench.metrics.dawid_skene import dawid_skene

    number = {name: at for at, name in enumerate(names)}
    counts = np.zeros((len(items), len(persons), len(names)))
    for at, item in enumerate(items):
        for who, answer in enumerate(item.answers):
            if answer is not None:
                counts[at, who, number[_name(answer)]] = 1
    result = dawid_skene(counts)
    scores = []
    for item, row in zip(items, result.posterior.tolist(), strict=True):
        scores.append({_identity(a): row[number[_name(a)]] for a in item.answers if a is not None})
    labelled = counts.sum((0, 2)).astype(int).tolist()
    people = tuple(
        Reliability(
            person,
            count,
            accuracy if accuracy == accuracy else None,
            tuple(tuple(x if x == x else None for x in row) for row in confusion),
        )
        for person, count, accuracy, confusion in zip(
            persons, labelled, result.accuracy.tolist(), result.confusion.tolist(), strict=True
        )
    )
    return scores, tuple(result.prior.tolist()), people


def _identity(answer: Answer) -> str:
    """Equal for equal answers; for classes, only the labels are compared."""
    return repr([mark.place for mark in answer])


def _best(item: _Item, scores: dict[str, float]) -> tuple[Answer | None, float]:
    """The most probable answer that somebody gave; None for a tie."""
    (best, score), *others = sorted(scores.items(), key=lambda pair: -pair[1])
    if others and others[0][1] >= score - EQUAL:
        return None, score
    return next(a for a in item.answers if a is not None and _identity(a) == best), score


# ---------------------------------------------------------------- suggestions


def _suggested(
    project: Project, layer: Layer, item: _Item, best: Answer, score: float
) -> Iterable[NewSuggestion]:
    """Those that the project can store: not that there is no label, nor spans in several parts."""
    ids = {label.name: row_id(label) for label in layer.labels}
    id, number = item.document_id, row_id(layer)
    for mark in best:
        if layer.traits.asks:
            yield from _answer(project, layer, id, mark, score)
        elif mark.ends is not None:
            spans = tuple(Span(*end.offsets, end.label, end.field) for end in mark.ends)
            field = field_of_ends((spans[0], spans[1]), directed=directed(layer, mark.label))
            yield NewSuggestion(id, number, ids[mark.label], field=field, score=score)
        elif isinstance(mark.value, str):
            yield NewSuggestion(id, number, None, score=score, written=mark.value)
        elif mark.value is not None:
            yield NewSuggestion(id, number, None, score=score, value=mark.value)
        elif mark.start is None:
            yield NewSuggestion(id, number, ids[mark.label], score=score)
        elif not mark.parts:
            yield NewSuggestion(id, number, ids[mark.label], *mark.offsets, mark.field, score)


def _answer(
    project: Project, layer: Layer, id: int, mark: Mark, score: float
) -> Iterable[NewSuggestion]:
    """An answer to the question as gold has it; none if gold does not have the question."""
    for row in answers.asked(project.db, id):
        if (row.layer_id, row.question.text) == (layer.id, mark.label):
            yield NewSuggestion(
                id, row_id(layer), None, mark.start, mark.end, score=score, question=row.id
            )
