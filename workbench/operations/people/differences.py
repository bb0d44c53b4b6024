"""Versions of a layer of a document by several people, aligned: what all of them say, and where
they differ. Labels that overlap in part never agree.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as attribute
from itertools import combinations
from typing import Literal

from workbench.base.i18n import N_
from workbench.text import labels as kinds
from workbench.text.labels import Layer
from workbench.text.relations import directed
from workbench.text.spans import TEXT

Kind = Literal["boundary", "label", "missed", "value"]
BOUNDARY: Kind = "boundary"
LABEL: Kind = "label"
MISSED: Kind = "missed"
VALUE: Kind = "value"
KINDS: tuple[Kind, ...] = (BOUNDARY, LABEL, MISSED, VALUE)
TITLES: Mapping[str, str] = {
    BOUNDARY: N_("boundary"),
    LABEL: N_("label"),
    MISSED: N_("missed"),
    VALUE: N_("value"),
}
Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Mark:
    """A label in one version.

    start, end: code points of the text `field`; None for a label of the whole document. text: the
    words that it covers, or the value as text. parts: ranges of a discontinuous span. ends: the two
    spans of a relation, in order of the text if it has no direction. value: a number, a written
    text, or further entries of a question (JSON). chain: in a layer of chains, from 1 in order of
    the text.
    """

    layer_id: int
    label: str
    start: int | None = None
    end: int | None = None
    text: str = attribute(default="", compare=False)
    field: str = TEXT
    parts: tuple[Range, ...] = ()
    ends: tuple[Mark, Mark] | None = None
    value: float | str | None = None
    chain: int | None = attribute(default=None, compare=False)
    id: int | None = attribute(default=None, compare=False)  # of the row it was read from

    def __hash__(self) -> int:
        return hash((self.label, self.start, self.end))

    @property
    def offsets(self) -> Range:
        """Raises ValueError for a label of the whole document."""
        if self.start is None or self.end is None:
            raise ValueError(f"{self.label!r} has no offsets")
        return self.start, self.end

    @property
    def ranges(self) -> tuple[str, tuple[Range, ...]]:
        """Where it is."""
        return self.field, self.parts or (self.offsets,)

    @property
    def place(self) -> tuple[object, ...]:
        """The same as a tuple that can be sorted and hashed in every session."""
        ends = tuple(mark.place for mark in self.ends) if self.ends else ()
        none = (-1, -1) if self.start is None else self.offsets
        return self.field, *none, self.parts, str(self.value), self.label, ends


Version = tuple[Mark, ...] | None  # None: not submitted by this person


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Marks on which people differ; versions: of each of them."""

    kind: Kind
    versions: tuple[Version, ...]


@dataclass(frozen=True, slots=True)
class Aligned:
    """agreed: what everybody who submitted the layer says. It and the differences together are all
    marks of all versions.
    """

    agreed: tuple[Mark, ...]
    differences: tuple[Disagreement, ...]


def align(layer: Layer, versions: Sequence[Version]) -> Aligned:
    """Compare versions of a layer; of only one all is agreed, without asking."""
    present = [version for version in versions if version is not None]
    if len(present) < 2 or all(content(layer, v) == content(layer, present[0]) for v in present):
        return Aligned(tuple(present[0]) if present else (), ())
    traits = layer.traits
    if traits.in_chains:
        return _chains(versions)
    if traits.record in (kinds.NUMBERS, kinds.WRITTEN) or not (traits.several or traits.in_text):
        if traits.asks:
            return _questions(versions)
        return Aligned((), (Disagreement(VALUE, tuple(versions)),))
    agreed = frozenset.intersection(*map(frozenset, present))
    rest = [None if v is None else [mark for mark in v if mark not in agreed] for v in versions]
    if traits.on_document:
        differences = _classes(rest)
    elif traits.in_text:
        differences = _groups(rest, _span_rules if traits.several else _tag_rules)
    else:
        differences = _groups(rest, _relation_rules)
    same = tuple(mark for mark in present[0] if mark in agreed)
    return Aligned(same, tuple(differences))


def content(layer: Layer, version: Version) -> Hashable:
    """Equal for versions that say the same."""
    marks = version or ()
    return partition(marks) if layer.traits.in_chains else frozenset(marks)


# ---------------------------------------------------------------- labels of the document


def _classes(rest: Sequence[list[Mark] | None]) -> list[Disagreement]:
    """One label against one is one difference; otherwise each label of somebody is one."""
    if all(marks is None or len(marks) == 1 for marks in rest):
        return [Disagreement(VALUE, tuple(None if m is None else tuple(m) for m in rest))]
    every = dict.fromkeys(mark for marks in rest for mark in marks or ())
    return [
        Disagreement(
            MISSED,
            tuple(None if m is None else ((mark,) if mark in m else ()) for m in rest),
        )
        for mark in every
    ]


def _questions(versions: Sequence[Version]) -> Aligned:
    """Each question is agreed, or is a difference; a question is its text and its entries."""
    agreed: list[Mark] = []
    differences = []
    every = dict.fromkeys((mark.label, mark.value) for v in versions for mark in v or ())
    for question in every:
        answers: list[Version] = [
            None if v is None else tuple(m for m in v if (m.label, m.value) == question)
            for v in versions
        ]
        sets = {frozenset(answer) for answer in answers if answer is not None}
        if len(sets) == 1:
            agreed += next(answer for answer in answers if answer is not None)
        else:
            kind: Kind = MISSED if frozenset() in sets else VALUE
            differences.append(Disagreement(kind, tuple(answers)))
    return Aligned(tuple(agreed), tuple(differences))


# ---------------------------------------------------------------- spans and relations


@dataclass(slots=True)
class _Group:
    """Marks of several people that are decided together."""

    marks: dict[int, list[Mark]]  # by number of the person
    numbers: list[int]  # of the marks

    @property
    def order(self) -> tuple[object, ...]:
        return min(mark.place for marks in self.marks.values() for mark in marks)


Owned = Sequence[tuple[int, Mark]]  # numbers of people, marks
Pairs = Iterable[tuple[int, int]]  # numbers of two marks
APART, ONE, ALL = "apart", "one", "all"


def _groups(
    rest: Sequence[list[Mark] | None], rules: Callable[[Owned], Iterable[tuple[str, Pairs]]]
) -> list[Disagreement]:
    """Join marks into differences, by the first rules first.

    APART joins groups of different people only, so that a label of one person is compared with one
    of another; ONE also lets a person have several labels against one of another; ALL joins all.
    """
    owned = [(at, mark) for at, marks in enumerate(rest) for mark in marks or ()]
    group_of = [_Group({at: [mark]}, [number]) for number, (at, mark) in enumerate(owned)]
    for rule, pairs in rules(owned):
        for one, other in pairs:
            left, right = group_of[one], group_of[other]
            shared = left.marks.keys() & right.marks.keys()
            alone = min(len(left.marks), len(right.marks)) == 1
            if left is right or (shared and (rule == APART or (rule == ONE and not alone))):
                continue
            for at, marks in right.marks.items():
                left.marks.setdefault(at, []).extend(marks)
            left.numbers += right.numbers
            for number in right.numbers:
                group_of[number] = left
    groups = {id(group): group for group in group_of}.values()
    return [_difference(group, rest) for group in sorted(groups, key=lambda group: group.order)]


def _difference(group: _Group, rest: Sequence[list[Mark] | None]) -> Disagreement:
    versions: list[Version] = [
        None if marks is None else tuple(sorted(group.marks.get(at, ()), key=lambda m: m.place))
        for at, marks in enumerate(rest)
    ]
    contents = {frozenset(version) for version in versions if version}
    if len(contents) == 1:
        kind: Kind = MISSED
    else:
        places = {frozenset(map(_where, content)) for content in contents}
        kind = LABEL if len(places) == 1 else BOUNDARY
    return Disagreement(kind, tuple(versions))


def _where(mark: Mark) -> Hashable:
    """The place of a mark without its label."""
    if mark.ends is None:
        return mark.ranges
    return tuple(end.ranges for end in mark.ends)


def _near(owned: Owned, *, alone: bool = False) -> list[tuple[int, int]]:
    """Pairs of marks (of relations: of their first ends) that overlap or touch; those of different
    people unless `alone`.
    """
    firsts = [mark.ends[0] if mark.ends else mark for _at, mark in owned]
    order = sorted(
        range(len(owned)), key=lambda number: (firsts[number].field, firsts[number].offsets)
    )
    pairs, active = [], list[int]()
    for number in order:
        mark = firsts[number]
        active = [
            other
            for other in active
            if firsts[other].field == mark.field and firsts[other].offsets[1] >= mark.offsets[0]
        ]
        pairs += [
            (other, number) for other in active if alone or owned[other][0] != owned[number][0]
        ]
        active.append(number)
    return pairs


def _span_rules(owned: Owned) -> Iterable[tuple[str, Pairs]]:
    """The same place, then overlaps of the same label, then other overlaps, largest first."""
    pairs, marks = _near(owned), [mark for _at, mark in owned]
    yield APART, [(a, b) for a, b in pairs if marks[a] == marks[b]]
    shared = {(a, b): shared_chars(marks[a], marks[b]) for a, b in pairs}
    overlaps = sorted((pair for pair in pairs if shared[pair]), key=lambda pair: -shared[pair])
    yield APART, [(a, b) for a, b in pairs if marks[a].ranges == marks[b].ranges]
    yield ONE, [(a, b) for a, b in overlaps if marks[a].label == marks[b].label]
    yield APART, overlaps


def _tag_rules(owned: Owned) -> Iterable[tuple[str, Pairs]]:
    """Where only one label may be at a place, versions that overlap cannot be mixed."""
    pairs, marks = _near(owned, alone=True), [mark for _at, mark in owned]
    yield ALL, [(a, b) for a, b in pairs if shared_chars(marks[a], marks[b])]


def _relation_rules(owned: Owned) -> Iterable[tuple[str, Pairs]]:
    """The same ends, then overlapping ends with the same label."""
    pairs, marks = _near(owned), [mark for _at, mark in owned]
    yield APART, [(a, b) for a, b in pairs if marks[a] == marks[b]]
    yield APART, [(a, b) for a, b in pairs if _where(marks[a]) == _where(marks[b])]
    alike = [(a, b) for a, b in pairs if marks[a].label == marks[b].label]
    yield APART, [(a, b) for a, b in alike if _ends_overlap(marks[a], marks[b])]


def _ends_overlap(one: Mark, other: Mark) -> bool:
    ends = zip(one.ends or (), other.ends or (), strict=True)
    return all(shared_chars(first, second) for first, second in ends)


def shared_chars(one: Mark, other: Mark) -> int:
    """Code points that two spans share; 0 in different texts."""
    if one.field != other.field:
        return 0
    return sum(
        max(0, min(end, stop) - max(start, begin))
        for start, end in one.ranges[1]
        for begin, stop in other.ranges[1]
    )


# ---------------------------------------------------------------- chains


def partition(marks: Iterable[Mark]) -> frozenset[frozenset[Mark]]:
    """The marks of each chain; one without a chain is a chain of its own."""
    chains: dict[object, set[Mark]] = defaultdict(set)
    for at, mark in enumerate(marks):
        chains[(at,) if mark.chain is None else mark.chain].add(mark)
    return frozenset(map(frozenset, chains.values()))


def _chains(versions: Sequence[Version]) -> Aligned:
    """Chains that are equal in all versions are agreed. Others are decided together if they share
    a mention, or mentions of them overlap.
    """
    partitions = [None if version is None else partition(version) for version in versions]
    present = [chains for chains in partitions if chains is not None]
    agreed = frozenset.intersection(*present)
    owned = [
        (at, chain)
        for at, chains in enumerate(partitions)
        for chain in sorted((chains or frozenset()) - agreed, key=_first)
    ]
    group_of = list(range(len(owned)))
    for one, other in combinations(range(len(owned)), 2):
        if group_of[one] != group_of[other] and _touch(owned[one][1], owned[other][1]):
            former, now = group_of[other], group_of[one]
            group_of = [now if group == former else group for group in group_of]
    differences = []
    for group in dict.fromkeys(group_of):
        members = [item for item, of in zip(owned, group_of, strict=True) if of == group]
        chains_of = [
            None
            if chains is None
            else _numbered([chain for owner, chain in members if owner == at])
            for at, chains in enumerate(partitions)
        ]
        differences.append(Disagreement(_kind_of_chains(chains_of), tuple(chains_of)))
    first = next(version for version in versions if version is not None)
    same = tuple(mark for mark in first if any(mark in chain for chain in agreed))
    return Aligned(same, tuple(sorted(differences, key=_order)))


def _first(chain: Iterable[Mark]) -> tuple[object, ...]:
    return min(mark.place for mark in chain)


def _order(difference: Disagreement) -> tuple[object, ...]:
    return min(mark.place for version in difference.versions for mark in version or ())


def _touch(one: Iterable[Mark], other: Iterable[Mark]) -> bool:
    others = list(other)
    return any(shared_chars(a, b) or a == b for a in one for b in others)


def _numbered(chains: Iterable[Iterable[Mark]]) -> tuple[Mark, ...]:
    """The mentions in order of the text, with the numbers of their chains."""
    ordered = sorted(chains, key=_first)
    marks = [replace(mark, chain=n) for n, chain in enumerate(ordered, 1) for mark in chain]
    return tuple(sorted(marks, key=lambda mark: mark.place))


def _kind_of_chains(versions: Sequence[Version]) -> Kind:
    present = [version for version in versions if version]
    if len({partition(version) for version in present}) == 1:
        return MISSED
    shapes = {tuple(sorted(Counter(m.chain for m in v).values())) for v in present}
    mentions = {frozenset(version) for version in present}
    return BOUNDARY if len(mentions) > 1 and len(shapes) == 1 else VALUE


def both_chains(versions: Iterable[Version]) -> tuple[Mark, ...]:
    """All mentions; two are in one chain if a series of chains of any version connects them."""
    joined: list[set[Mark]] = []
    for version in versions:
        for chain in partition(version or ()):
            sharing = [group for group in joined if group & chain]
            joined = [group for group in joined if group not in sharing]
            joined.append(set(chain).union(*sharing))
    return _numbered(joined)


def common_chains(versions: Iterable[Version]) -> tuple[Mark, ...]:
    """The mentions of all versions; two are in one chain if they are in every version."""
    partitions = [partition(version) for version in versions if version is not None]
    if not partitions or not all(partitions):
        return ()
    parts: set[frozenset[Mark]] = set(partitions[0])
    for chains in partitions[1:]:
        parts = {one & other for one in parts for other in chains if one & other}
    return _numbered(parts)


# ---------------------------------------------------------------- decisions


def key_of(
    layer: Layer, difference: Disagreement, people: Sequence[str], spans: Layer | None = None
) -> str:
    """16 hex digits that tell a difference from the others of its document.

    people: the uid of each. spans: the layer whose spans relations connect. Equal in other files,
    for the same people in another order and under other names of labels. Without `spans`, names of
    their labels matter, as in the keys of relations that earlier versions wrote.
    """
    uids = {label.name: label.uid for label in layer.labels}
    of_ends = {label.name: label.uid for label in spans.labels} if spans is not None else {}

    def end(mark: Mark) -> tuple[object, ...]:
        return mark.ranges, of_ends.get(mark.label, mark.label)

    def content(mark: Mark) -> tuple[object, ...]:
        ends: object = mark.place[-1]
        if spans is not None and mark.ends is not None:
            one, other = map(end, mark.ends)
            ends = (one, other) if directed(layer, mark.label) else sorted((one, other))
        return *mark.place[:-2], uids.get(mark.label, mark.label), mark.chain or 0, ends

    versions = sorted(
        (uid, sorted(map(content, version)))
        for uid, version in zip(people, difference.versions, strict=True)
        if version is not None
    )
    whole = repr((layer.uid, difference.kind, versions))
    return hashlib.blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
