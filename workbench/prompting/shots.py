"""Labelled examples for a prompt, drawn from the training split by a seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.prompting.base import Example

BALANCED = "balanced"


@dataclass(frozen=True, slots=True)
class Shot:
    """A training document that can be shown as an example."""

    document_id: int
    text_hash: str
    example: Example


class Shots:
    """A random order of all training documents.

    Every prompt uses the first ones, except the document to be classified, so one seed gives the
    same examples for all prompts, as far as possible.
    """

    def __init__(self, pool: Sequence[Shot], *, order: str = BALANCED, seed: int = 1):
        draw = random.Random(seed)
        self._ordered = (
            _balanced(pool, draw) if order == BALANCED else draw.sample(list(pool), len(pool))
        )

    def __len__(self) -> int:
        return len(self._ordered)

    def take(
        self, count: int, *, document_id: int | None = None, text_hash: str = ""
    ) -> tuple[Example, ...]:
        """Up to `count` examples, without the document itself or one with the same text."""
        fits = (
            shot
            for shot in self._ordered
            if shot.document_id != document_id and shot.text_hash != text_hash
        )
        return tuple(shot.example for shot, _ in zip(fits, range(count), strict=False))


def _balanced(pool: Sequence[Shot], draw: random.Random) -> list[Shot]:
    """Rounds with one document of each label in random order; frequent labels come last."""
    by_label: dict[str, list[Shot]] = {}
    for shot in pool:
        by_label.setdefault(shot.example.label, []).append(shot)
    for label in sorted(by_label):
        draw.shuffle(by_label[label])
    ordered: list[Shot] = []
    for number in range(max(map(len, by_label.values()), default=0)):
        turn = [shots[number] for _, shots in sorted(by_label.items()) if number < len(shots)]
        draw.shuffle(turn)
        ordered += turn
    return ordered
