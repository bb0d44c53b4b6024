"""Frozen train, dev and test: stratified, seeded, groups kept together, what is there already kept."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SHARES = {"dev": 0.1, "test": 0.1}  # the rest is train


@dataclass(frozen=True, slots=True)
class Item:
    """A document to be placed: its split so far, what to balance by, and what it must stay together with ("" is nothing)."""

    id: int
    split: str | None = None
    stratum: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True)
class _Unit:
    """Documents that go into one split."""

    ids: tuple[int, ...]
    stratum: str


def assign(items: Sequence[Item], *, seed: int) -> dict[int, str]:
    """New splits by id, only for documents whose split changes.

    Without any split: 80 % train, 10 % dev, 10 % test. Where some documents have one already, the others join their group's
    split or train; a missing dev split is then cut from train, a tenth of it; test is never touched nor made up afterwards.
    The same items in any order, with the same seed, give the same splits.
    """
    items = sorted(items, key=lambda one: one.id)
    if not any(one.split for one in items):
        return _first_split(items, seed)
    found = _later(items)
    placed = {one.id: one.split or found[one.id] for one in items}
    if "dev" not in placed.values():
        train = [one for one in items if placed[one.id] == "train"]
        tied = {one.group for one in items if one.group and placed[one.id] == "test"}
        units = _units([one for one in train if one.group not in tied])
        for unit in _cut(units, {"dev": _share(0.1, len(train), at_least=len(train) > 1)}, seed)["dev"]:
            found.update(dict.fromkeys(unit.ids, "dev"))
    return found


def _first_split(items: Sequence[Item], seed: int) -> dict[int, str]:
    total = len(items)
    sizes = {"dev": _share(SHARES["dev"], total, at_least=total > 1), "test": _share(SHARES["test"], total, at_least=total > 4)}
    found = dict.fromkeys((one.id for one in items), "train")
    for split, units in _cut(_units(items), sizes, seed).items():
        for unit in units:
            found.update(dict.fromkeys(unit.ids, split))
    return found


def _share(share: float, total: int, *, at_least: bool) -> int:
    return max(int(at_least), round(share * total))


def _later(items: Iterable[Item]) -> dict[int, str]:
    """Documents without a split go where their group is, else to train. A group in several splits counts as in its most frequent one."""
    items = list(items)
    homes: dict[str, Counter[str]] = {}
    for one in items:
        if one.group and one.split:
            homes.setdefault(one.group, Counter())[one.split] += 1
    return {one.id: homes[one.group].most_common(1)[0][0] if one.group in homes else "train" for one in items if not one.split}


def _units(items: Sequence[Item]) -> list[_Unit]:
    groups: dict[str, list[Item]] = {}
    for one in items:
        groups.setdefault(one.group or f"\0{one.id}", []).append(one)
    return [
        _Unit(tuple(one.id for one in members), Counter(one.stratum for one in members).most_common(1)[0][0]) for members in groups.values()
    ]


def _cut(units: Sequence[_Unit], sizes: dict[str, int], seed: int) -> dict[str, list[_Unit]]:
    """Units for each split, `sizes` documents in each as nearly as units allow, every stratum by its share.

    The shares are cumulated over the strata, so that rounding evens out and the total is met.
    """
    rng = random.Random(seed)
    strata: dict[str, list[_Unit]] = {}
    for unit in units:
        strata.setdefault(unit.stratum, []).append(unit)
    for members in strata.values():
        rng.shuffle(members)
    total = sum(len(unit.ids) for unit in units)
    found: dict[str, list[_Unit]] = {split: [] for split in sizes}
    have = dict.fromkeys(sizes, 0)
    seen = 0
    for _, members in sorted(strata.items()):
        seen += sum(len(unit.ids) for unit in members)
        rest = list(members)
        for split, size in sizes.items():
            due = round(size * seen / total)
            for unit in list(rest):
                if have[split] >= due:
                    break
                # A group far beyond the rest of the share would leave too little for train; it stays there.
                if have[split] + len(unit.ids) > due and len(unit.ids) > max(1, size // 2):
                    continue
                found[split].append(unit)
                have[split] += len(unit.ids)
                rest.remove(unit)
    return found
