"""Duplicates and near-duplicates of the project, and leaks: duplicates in different splits."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from workbench.base import scratch
from workbench.base.errors import SpecError
from workbench.base.i18n import _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.storage.documents import documents, flags
from workbench.storage.documents import statistics as stored
from workbench.text.document import SPLITS

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.storage.connections.database import Database

PAGE = 2_000  # documents between two reports of progress
CHUNK = 20_000
DEFAULT_SIMILARITY, SHINGLE_WORDS = 0.8, 2  # default Jaccard similarity, and words of a shingle
LEAST_NEAR, MOST_SIZE = 0.3, 10
IGNORED = f"{flags.REVIEWS}duplicates "  # start of a flag that holds the identity of a group
TRAIN, HELD_OUT, REMOVE = RULES = ("train", "held-out", "remove")


@dataclass(frozen=True)
class DuplicateGroup:
    """Documents with the same or similar texts.

    ids: ascending. splits: of each. similarity: the lowest Jaccard similarity of two texts that
    joined the group, 1 for equal texts. exact: all texts are equal. identity: changes with the
    texts. ignored: the user does not want to see it.
    """

    ids: tuple[int, ...]
    splits: tuple[str | None, ...]
    similarity: float
    exact: bool
    identity: str
    ignored: bool = False

    @property
    def leak(self) -> bool:
        """Whether its documents are in different splits."""
        return len(set(self.splits) - {None}) > 1

    @property
    def leaks_test(self) -> bool:
        """Text of test is also in train or dev."""
        return self.leak and SPLITS[-1] in self.splits

    def fix(self, rule: str) -> dict[int, str | None]:
        """Document → new split by a rule of RULES, for documents that change; {} without a leak.

        train: all get the first split of the group in the order train, dev, test. held-out: all get
        the last. remove: documents of other splits than the last are no longer in any.
        """
        used = [split for split in SPLITS if split in self.splits]
        if len(used) < 2:
            return {}
        members = zip(self.ids, self.splits, strict=True)
        if rule == REMOVE:
            return {id: None for id, split in members if split not in (None, used[-1])}
        to = used[0] if rule == TRAIN else used[-1]
        return {id: to for id, split in members if split != to}


@dataclass(frozen=True)
class Duplicates:
    """Groups, leaks first, then by similarity. documents: number of those that were compared.

    near: the similarity that was asked for, None for equal texts only; size: words of a shingle.
    """

    groups: tuple[DuplicateGroup, ...]
    documents: int
    near: float | None
    size: int

    @property
    def shown(self) -> tuple[DuplicateGroup, ...]:
        return tuple(group for group in self.groups if not group.ignored)

    @property
    def leaks(self) -> tuple[DuplicateGroup, ...]:
        return tuple(group for group in self.shown if group.leak)

    @property
    def surplus(self) -> tuple[int, ...]:
        """Ids of all but the first document of each group."""
        return tuple(id for group in self.shown for id in group.ids[1:])


def find(
    project: Project,
    ids: Sequence[int] | None = None,
    *,
    near: float | None = DEFAULT_SIMILARITY,
    size: int = SHINGLE_WORDS,
    watch: Watch = QUIET,
) -> Duplicates:
    """Find the groups among all documents or these. Not for the main thread.

    near: Jaccard similarity of word n-grams from which texts are near-duplicates, `size` words
    each; None finds equal texts only. Raises SpecError for values out of range, Cancelled.
    """
    check(near, size)
    chosen = array("q", sorted(documents.ids(project.db) if ids is None else ids))
    share = 0.1 if near else 1.0
    equal = _Equal(project, chosen, watch.part(0.0, share))
    if near is None:
        joined = [([number], 1.0) for number in equal.repeated()]
    else:
        reading, comparing = watch.part(share, 0.73), watch.part(0.73, 1.0)
        pages = (list(texts_of(project.db, part)) for part in reading.over(equal.firsts(), PAGE))
        joined = near_groups(pages, near, size, watch=comparing)
        grouped = {number for numbers, _similarity in joined for number in numbers}
        joined += [([number], 1.0) for number in equal.repeated() if number not in grouped]
    groups = [
        DuplicateGroup(
            equal.members(numbers), (), similarity, len(numbers) == 1, equal.identity(numbers)
        )
        for numbers, similarity in joined
    ]
    return refreshed(project, Duplicates(tuple(groups), len(chosen), near, size))


class _Equal:
    """Groups of documents with equal texts, each of one or more, numbered by their first one."""

    def __init__(self, project: Project, ids: array[int], watch: Watch):
        import numpy as np

        texts = array("Q")
        for chunk in watch.over(ids, CHUNK):
            texts.extend(int(text[:16], 16) for _id, text in stored.hashes(project.db, chunk))
        self._ids, self._hashes = ids, np.frombuffer(texts, dtype=np.uint64)
        self._order = np.argsort(self._hashes, kind="stable")
        inner = np.flatnonzero(np.diff(self._hashes[self._order])) + 1
        starts = np.append(0, inner)[: len(ids)]
        ends = np.append(inner, len(ids))[: len(ids)]
        by_first = np.argsort(self._order[starts])
        self._starts, self._ends = starts[by_first], ends[by_first]

    def firsts(self) -> array[int]:
        """The first document of each group, ascending."""
        return array("q", (self._ids[at] for at in self._order[self._starts].tolist()))

    def repeated(self) -> list[int]:
        """Numbers of the groups with several documents."""
        repeated: list[int] = (self._ends - self._starts > 1).nonzero()[0].tolist()
        return repeated

    def members(self, numbers: Iterable[int]) -> tuple[int, ...]:
        """Ids of the documents of several groups together."""
        places = (self._order[self._starts[n] : self._ends[n]].tolist() for n in numbers)
        return tuple(sorted(self._ids[at] for position in places for at in position))

    def identity(self, numbers: Iterable[int]) -> str:
        texts = sorted(int(self._hashes[self._order[self._starts[n]]]) for n in numbers)
        return blake2b(repr(texts).encode(), digest_size=8).hexdigest()


def check(near: float | None, size: int = SHINGLE_WORDS) -> None:
    """Raises SpecError for values out of range."""
    if near is not None and not LEAST_NEAR <= near <= 1:
        message = _("The similarity is {near:g}, expected {low:g} to 1.")
        raise SpecError(message.format(near=near, low=LEAST_NEAR))
    if not 1 <= size <= MOST_SIZE:
        message = _("The shingle size is {size}, expected 1 to {most}.")
        raise SpecError(message.format(size=size, most=MOST_SIZE))


def _ordered(groups: Iterable[DuplicateGroup]) -> tuple[DuplicateGroup, ...]:
    return tuple(
        sorted(
            groups,
            key=lambda group: (not group.leaks_test, not group.leak, -group.similarity, group.ids),
        )
    )


def near_groups(
    pages: Iterable[Sequence[Sequence[str]]],
    near: float,
    size: int = SHINGLE_WORDS,
    *,
    watch: Watch = QUIET,
) -> list[tuple[list[int], float]]:
    """(numbers, lowest similarity) of each group of two or more documents, each given as its texts
    and numbered through all pages. Groups and their numbers are in order.
    """
    from workbench.text.similar.near_duplicates import DisjointSets, NearDuplicates  # numpy

    folder = scratch.make("duplicates")
    try:
        index = NearDuplicates(folder, threshold=near, size=size)
        for page in pages:
            index.add(page)
        links = list(index.links(watch=watch))
        joined = DisjointSets(index.count)
        del index  # releases its files before the folder is deleted
    finally:
        scratch.remove(folder)
    for number, other, _similarity in links:
        joined.join(number, other)
    groups: dict[int, set[int]] = defaultdict(set)
    lowest: dict[int, float] = defaultdict(lambda: 1.0)
    for number, other, similarity in links:
        head = joined.head(number)
        groups[head] |= {number, other}
        lowest[head] = min(lowest[head], similarity)
    return [(sorted(groups[head]), lowest[head]) for head in sorted(groups)]


def texts_of(db: Database, ids: Sequence[int]) -> Iterator[list[str]]:
    """The texts of each document, in the order of the ids."""
    contents: dict[int, list[str]] = {id: [] for id in ids}
    for id, _field, content in stored.texts(db, ids):
        contents[id].append(content)
    yield from (texts or [""] for texts in contents.values())


# ---------------------------------------------------------------- acts, one undo step each


def fix_leaks(
    project: Project,
    groups: Iterable[DuplicateGroup],
    rule: str = TRAIN,
    *,
    origin: object = None,
    watch: Watch = QUIET,
) -> int:
    """Put the documents of each group into one split; returns how many changed.

    See `DuplicateGroup.fix`. Raises SpecError for an unknown rule.
    """
    if rule not in RULES:
        raise SpecError(_("There is no rule {rule!r}.", rule=rule))
    to: dict[str | None, list[int]] = defaultdict(list)
    leaks = 0
    for group in groups:
        changes = group.fix(rule)
        leaks += bool(changes)
        for id, split in changes.items():
            to[split].append(id)
    if not to:
        return 0
    title = ngettext("Fix {n:,} leak", "Fix {n:,} leaks", leaks)
    changed = 0
    with project.edit(title, origin=origin, watch=watch.part(0.7, 1.0)):
        for number, (split, ids) in enumerate(to.items()):
            part = watch.part(0.7 * number / len(to), 0.7 * (number + 1) / len(to))
            changed += documents.set_split(project.db, ids, split, watch=part)
    return changed


def ignore(project: Project, groups: Iterable[DuplicateGroup], *, origin: object = None) -> None:
    """Do not show the groups again, as long as their texts stay the same."""
    chosen = list(groups)
    title = ngettext("Ignore {n:,} group", "Ignore {n:,} groups", len(chosen))
    with project.edit(title, origin=origin):
        for group in chosen:
            flags.add(project.db, group.ids[0], IGNORED + group.identity, project.annotator_id)


def show_again(
    project: Project, groups: Iterable[DuplicateGroup], *, origin: object = None
) -> None:
    """Show ignored groups again."""
    names = {IGNORED + group.identity for group in groups}
    known = flags.starting_with(project.db, IGNORED)
    with project.edit(_("Show ignored duplicates"), origin=origin):
        flags.delete(project.db, [flag.id for flag in known if flag.name in names])


def refreshed(project: Project, duplicates: Duplicates) -> Duplicates:
    """The groups after an edit: without deleted documents, and with the current splits."""
    splits = stored.splits(project.db, [id for group in duplicates.groups for id in group.ids])
    hidden = _ignored(project)
    groups = []
    for group in duplicates.groups:
        ids = tuple(id for id in group.ids if id in splits)
        if len(ids) > 1:
            now = tuple(splits[id] for id in ids)
            ignored = group.identity in hidden
            groups.append(replace(group, ids=ids, splits=now, ignored=ignored))
    return replace(duplicates, groups=_ordered(groups))


def _ignored(project: Project) -> set[str]:
    return {flag.name.removeprefix(IGNORED) for flag in flags.starting_with(project.db, IGNORED)}


def to_json(project: Project, duplicates: Duplicates) -> dict[str, Any]:
    """The groups with the keys of their documents."""
    keys = stored.keys(project.db, [id for group in duplicates.groups for id in group.ids])
    return {
        "documents": duplicates.documents,
        "near": duplicates.near,
        "shingle": duplicates.size,
        "groups": [
            {
                "keys": [keys[id] for id in group.ids],
                "splits": list(group.splits),
                "similarity": group.similarity,
                "exact": group.exact,
                "leak": group.leak,
            }
            for group in duplicates.shown
        ],
        "leaks": len(duplicates.leaks),
        "surplus": len(duplicates.surplus),
        "ignored": len(duplicates.groups) - len(duplicates.shown),
    }
