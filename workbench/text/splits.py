"""Frozen train, dev and test: stratified, seeded, groups kept together, what is there already kept."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
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


def assign(
    items: Sequence[Item], *, seed: int, homes: Mapping[str, str] | None = None
) -> dict[int, str]:
    """New splits by id, only for documents whose split changes. No document ever leaves test.

    The first split (no document is in dev or test yet): 80 % train, 10 % dev, 10 % test; documents that are in train already stay
    out of test. Afterwards documents without a split go to train. A group's documents go where the group is: where most of its
    documents among `items` are, else where `homes` says. A missing dev split is cut from train, a tenth of it.
    The same items in any order, with the same seed, give the same splits.
    """
    items = sorted(items, key=lambda one: one.id)
    found = _joined(items, homes or {})
    rest = [one for one in items if not one.split and one.id not in found]
    first = not any(one.split in SHARES for one in items)
    found.update(
        _first_split(rest, seed, alone=len(rest) == len(items))
        if first
        else dict.fromkeys((one.id for one in rest), "train")
    )
    placed = {one.id: one.split or found[one.id] for one in items}
    if "dev" not in placed.values():
        train = [one for one in items if placed[one.id] == "train"]
        tied = {one.group for one in items if one.group and placed[one.id] == "test"} | {
            group for group in homes or {}
        }
        units = _units([one for one in train if one.group not in tied])
        for unit in _cut(units, {"dev": _share(0.1, len(train), at_least=len(train) > 1)}, seed)[
            "dev"
        ]:
            found.update(dict.fromkeys(unit.ids, "dev"))
    return found


def _first_split(items: Sequence[Item], seed: int, *, alone: bool) -> dict[int, str]:
    """`alone`: nothing is in train already, so dev can be cut here too, and few documents give a test split of one."""
    total = len(items)
    sizes = {"test": _share(SHARES["test"], total, at_least=alone and total > 4)}
    if alone:
        sizes = {"dev": _share(SHARES["dev"], total, at_least=total > 1), **sizes}
    found = dict.fromkeys((one.id for one in items), "train")
    for split, units in _cut(_units(items), sizes, seed).items():
        for unit in units:
            found.update(dict.fromkeys(unit.ids, split))
    return found


def _share(share: float, total: int, *, at_least: bool) -> int:
    return max(int(at_least), round(share * total))


def _joined(items: Sequence[Item], homes: Mapping[str, str]) -> dict[int, str]:
    """The splits of documents without one whose group has one. A group in several splits counts as in its most frequent one."""
    own: dict[str, Counter[str]] = {}
    for one in items:
        if one.group and one.split:
            own.setdefault(one.group, Counter())[one.split] += 1
    where = {**homes, **{group: counts.most_common(1)[0][0] for group, counts in own.items()}}
    return {one.id: where[one.group] for one in items if not one.split and one.group in where}


def _units(items: Sequence[Item]) -> list[_Unit]:
    groups: dict[str, list[Item]] = {}
    for one in items:
        groups.setdefault(one.group or f"\0{one.id}", []).append(one)
    return [
        _Unit(
            tuple(one.id for one in members),
            Counter(one.stratum for one in members).most_common(1)[0][0],
        )
        for members in groups.values()
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
