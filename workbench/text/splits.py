"""Train, dev and test splits: stratified, seeded, with groups and existing assignments kept."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.base import deprecation
from workbench.base.watch import QUIET, Watch
from workbench.text.document import SPLITS

if not TYPE_CHECKING:
    __getattr__ = deprecation.former(__name__, Item="SplitItem")

SHARES = {"train": 0.8, "dev": 0.1, "test": 0.1}
HELD_OUT = ("dev", "test")
EVERY = 1000  # units placed between two calls of the watch


@dataclass(frozen=True, slots=True)
class SplitItem:
    """A document to be assigned: its current split, its labels, which are balanced, and its group,
    which must not be divided ("" is no group).
    """

    id: int
    split: str | None = None
    labels: tuple[Any, ...] = ()
    group: str = ""


@dataclass(frozen=True, slots=True)
class _Unit:
    """Documents that are assigned to the same split."""

    ids: tuple[int, ...]
    labels: tuple[Any, ...]


# ---------------------------------------------------------------- by given shares


def divide(
    items: Sequence[SplitItem],
    *,
    seed: int,
    shares: Mapping[str, float],
    keep: bool = True,
    homes: Mapping[str, str] | None = None,
    watch: Watch = QUIET,
) -> dict[int, str]:
    """New splits by id, only for documents whose split changes.

    `shares` of train, dev and test sum to 1 and apply to all items. With `keep`, documents keep
    their split, and the others fill the splits up; without it all are assigned again. A document
    whose group has a split, among the items or in `homes`, joins it. A split with a share gets at
    least one document if there are enough. The order of the items does not change the result.
    """
    items = sorted(items, key=lambda item: item.id)
    placed = {item.id: item.split for item in items if keep and item.split}
    placed.update(_joined(items, placed, homes or {}))
    rest = [item for item in items if item.id not in placed]
    have, targets = Counter(placed.values()), _whole(shares, len(items))
    gaps = {split: max(0, targets[split] - have[split]) for split in SPLITS}
    # If kept documents exceed their share, the other shares shrink in proportion.
    sizes = _whole(
        {split: gap / (sum(gaps.values()) or 1) for split, gap in gaps.items()}, len(rest)
    )
    for split, units in _deal(_units(rest), sizes, seed, watch).items():
        for unit in units:
            placed.update(dict.fromkeys(unit.ids, split))
    return {item.id: placed[item.id] for item in items if placed[item.id] != item.split}


def by_value(
    items: Sequence[SplitItem],
    values: Mapping[int, str],
    *,
    train_on: Collection[str],
    test_on: Collection[str] = (),
    seed: int,
    shares: Mapping[str, float],
    keep: bool = True,
    homes: Mapping[str, str] | None = None,
    watch: Watch = QUIET,
) -> dict[int, str]:
    """New splits by id, only for documents whose split changes.

    values: of the documents. Those with a value of `test_on`, by default every other one than those
    of `train_on`, are test, wherever their group is. Those of `train_on` are divided into train and
    dev in proportion to their shares, as by `divide`. The others stay as they are.
    """
    trained = [item for item in items if values.get(item.id) in train_on]
    tested = [
        item
        for item in items
        if (value := values.get(item.id))
        and value not in train_on
        and (value in test_on or not test_on)
    ]
    both = shares["train"] + shares["dev"]
    parts = {**{split: shares[split] / both for split in ("train", "dev")}, "test": 0.0}
    free = [replace(item, split=None) if item.split == "test" else item for item in trained]
    others = {group: split for group, split in (homes or {}).items() if split != "test"}
    divided = divide(free, seed=seed, shares=parts, keep=keep, homes=others, watch=watch)
    return {**divided, **{item.id: "test" for item in tested if item.split != "test"}}


def _whole(shares: Mapping[str, float], total: int) -> dict[str, int]:
    """`total` documents by shares that sum to 1: the largest remainders are rounded up."""
    counts = {split: int(shares[split] * total + 1e-9) for split in SPLITS}
    order = sorted(SPLITS, key=lambda split: counts[split] - shares[split] * total)
    for split in order[: total - sum(counts.values())]:
        counts[split] += 1
    for split in HELD_OUT:
        if shares[split] > 0 and not counts[split] and counts["train"] > 1:
            counts["train"], counts[split] = counts["train"] - 1, 1
    return counts


# ---------------------------------------------------------------- automatic


def assign(
    items: Sequence[SplitItem], *, seed: int, homes: Mapping[str, str] | None = None
) -> dict[int, str]:
    """New splits by id, only for documents whose split changes. No document ever leaves test.

    First split (no document is in dev or test yet): 80% train, 10% dev, 10% test; documents that
    are already in train stay out of test. Later, documents without a split go to train. The
    documents of a group go to the split with most of its documents among `items`, else to the split
    in `homes`. If there is no dev split, a tenth of train becomes one. The order of the items does
    not change the result.
    """
    items = sorted(items, key=lambda item: item.id)
    own = {item.id: item.split for item in items if item.split}
    splits = _joined(items, own, homes or {})
    rest = [item for item in items if not item.split and item.id not in splits]
    first = not any(item.split in HELD_OUT for item in items)
    splits.update(
        _first_split(rest, seed, alone=len(rest) == len(items))
        if first
        else dict.fromkeys((item.id for item in rest), "train")
    )
    placed = {item.id: item.split or splits[item.id] for item in items}
    if "dev" not in placed.values():
        train = [item for item in items if placed[item.id] == "train"]
        tied = {item.group for item in items if item.group and placed[item.id] == "test"} | set(
            homes or {}
        )
        free = [item for item in train if item.group not in tied]
        sizes = {"dev": min(len(free), _share("dev", len(train), at_least=len(train) > 1))}
        for unit in _cut(free, sizes, seed)["dev"]:
            splits.update(dict.fromkeys(unit.ids, "dev"))
    return splits


def _first_split(items: Sequence[SplitItem], seed: int, *, alone: bool) -> dict[int, str]:
    """`alone`: train is empty, so dev is cut here too, and a small set gets a test split of one."""
    total = len(items)
    sizes = {"test": _share("test", total, at_least=alone and total > 4)}
    if alone:
        sizes = {"dev": _share("dev", total, at_least=total > 1), **sizes}
    splits: dict[int, str] = {}
    for split, units in _cut(items, sizes, seed).items():
        for unit in units:
            splits.update(dict.fromkeys(unit.ids, split))
    return splits


def _share(split: str, total: int, *, at_least: bool) -> int:
    return max(int(at_least), round(SHARES[split] * total))


def _cut(items: Sequence[SplitItem], sizes: Mapping[str, int], seed: int) -> dict[str, list[_Unit]]:
    """The number of documents for each split, the remainder in train."""
    rest = len(items) - sum(sizes.values())
    return _deal(_units(items), {"train": rest, **sizes}, seed)


# ---------------------------------------------------------------- folds


def folds(items: Sequence[SplitItem], count: int, *, seed: int) -> list[list[int]]:
    """The ids of each of `count` folds of nearly equal sizes. Labels are spread evenly, documents
    of a group stay together. The order of the items does not change the result.
    """
    units, rng = _units(sorted(items, key=lambda item: item.id)), random.Random(seed)
    parts: list[list[int]] = [[] for _number in range(count)]
    groups = [unit for unit in units if len(unit.ids) > 1]
    alone = [unit for unit in units if len(unit.ids) == 1]  # last, so that they balance the sizes
    for some in (groups, alone):
        for unit in _in_order(some, rng):
            min(parts, key=len).extend(unit.ids)
    return [sorted(part) for part in parts]


# ---------------------------------------------------------------- shared


def _joined(
    items: Sequence[SplitItem], placed: Mapping[int, str], homes: Mapping[str, str]
) -> dict[int, str]:
    """Splits of unassigned documents whose group has one: the most frequent split of the group."""
    own: dict[str, Counter[str]] = {}
    for item in items:
        if item.group and item.id in placed:
            own.setdefault(item.group, Counter())[placed[item.id]] += 1
    where = {**homes, **{group: counts.most_common(1)[0][0] for group, counts in own.items()}}
    return {
        item.id: where[item.group]
        for item in items
        if item.id not in placed and item.group in where
    }


def _units(items: Iterable[SplitItem]) -> list[_Unit]:
    units: list[_Unit] = []
    groups: dict[str, list[SplitItem]] = {}
    for item in items:
        if item.group:
            groups.setdefault(item.group, []).append(item)
        else:
            units.append(_Unit((item.id,), item.labels))
    for members in groups.values():
        labels = dict.fromkeys(label for member in members for label in member.labels)
        units.append(_Unit(tuple(member.id for member in members), tuple(labels)))
    return units


def _deal(
    units: Sequence[_Unit], sizes: Mapping[str, int], seed: int, watch: Watch = QUIET
) -> dict[str, list[_Unit]]:
    """Units for each split, with as nearly `sizes` documents as units allow.

    Groups are placed first, so that single documents can balance the sizes.
    """
    rng = random.Random(seed)
    units_by_split: dict[str, list[_Unit]] = {split: [] for split in sizes}
    gaps, done = dict(sizes), 0
    for some in (
        [unit for unit in units if len(unit.ids) > 1],
        [unit for unit in units if len(unit.ids) == 1],
    ):
        part = watch.part(done / (len(units) or 1), (done + len(some)) / (len(units) or 1))
        for split, those in _spread(some, gaps, rng, part).items():
            units_by_split[split] += those
            gaps[split] -= sum(len(unit.ids) for unit in those)
        done += len(some)
    return units_by_split


def _spread(
    units: Sequence[_Unit], sizes: Mapping[str, int], rng: random.Random, watch: Watch
) -> dict[str, list[_Unit]]:
    """Units are sorted so that those with equal labels are adjacent, next to those that share their
    rarest label; in this order each goes to the split that is furthest below its share so far. Each
    section of the order, and therefore each label, is divided by the shares.
    """
    total = sum(sizes.values())
    largest = max(sizes, key=lambda split: sizes[split])
    units_by_split: dict[str, list[_Unit]] = {split: [] for split in sizes}
    have, total_so_far = dict.fromkeys(sizes, 0), 0
    for place, unit in enumerate(_in_order(units, rng)):
        if place % EVERY == 0:
            watch.at(place / len(units))
        size = len(unit.ids)
        total_so_far += size
        behind = {split: sizes[split] * total_so_far - have[split] * total for split in sizes}
        # A group that is too large for a small split goes to the largest one.
        fitting = [item for item in sizes if item == largest or 2 * behind[item] >= size * total]
        chosen = max(fitting, key=lambda split: behind[split])
        units_by_split[chosen].append(unit)
        have[chosen] += size
    return units_by_split


def _in_order(units: Sequence[_Unit], rng: random.Random) -> Iterable[_Unit]:
    """Sorted by labels, rarest first; labels, and units with equal labels, are shuffled."""
    counts = Counter(label for unit in units for label in unit.labels)
    names = sorted(counts, key=repr)
    rng.shuffle(names)
    rank = {name: (counts[name], number) for number, name in enumerate(names)}
    order = {name: number for number, name in enumerate(names)}
    strata: dict[tuple[int, ...], list[_Unit]] = {}
    for unit in units:
        key = tuple(order[name] for name in sorted(unit.labels, key=lambda label: rank[label]))
        strata.setdefault(key, []).append(unit)
    for key in sorted(strata):
        rng.shuffle(strata[key])
        yield from strata[key]
