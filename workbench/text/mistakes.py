"""Wrong decisions of a prediction, one by one: what gold says, what was predicted, and where."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.base.i18n import N_
from workbench.text.document import TEXT

KINDS = LABEL, MISSED, SPURIOUS, BOUNDARY, DIRECTION = (
    "label",
    "missed",
    "spurious",
    "boundary",
    "direction",
)
TITLES = {
    LABEL: N_("Label"),
    MISSED: N_("Missed"),
    SPURIOUS: N_("Spurious"),
    BOUNDARY: N_("Boundary"),
    DIRECTION: N_("Direction"),
}
MIN_PROBABILITY = 1e-7  # probability of gold below which a loss no longer grows: at most 16.1

Range = tuple[int, int]


@dataclass(frozen=True)
class Mistake:
    """One wrong decision.

    kind: LABEL (another label at the place), BOUNDARY (the label at another range that overlaps),
    DIRECTION (the label from the second span to the first), MISSED (gold alone) or SPURIOUS
    (predicted alone).
    gold, predicted: labels, "" for none.
    confidence: of the model in the wrong decision, 0 to 1.
    loss: −ln of the probability of gold, summed over the words with a wrong label; where only the
    probability of the wrong label is known, that of gold is at most the rest, and this is the
    lower bound.
    distance: from gold in the unit of the task (`TaskInfo.distance`), None if it has none.
    to, predicted_to: of a relation, where its second span is; `at` and `predicted_at` are those of
    its first. directed: whether its label has a direction.
    at, predicted_at: code points [start, end) of the text `field`; None for a whole document, and
    on the side that does not exist.
    """

    kind: str
    gold: str
    predicted: str
    confidence: float
    loss: float
    at: Range | None = None
    predicted_at: Range | None = None
    field: str = TEXT
    distance: float | None = None
    to: Range | None = None
    predicted_to: Range | None = None
    directed: bool = True

    @property
    def ends(self) -> tuple[Range, Range] | None:
        """Both spans of a relation, in the direction of gold if there is gold; else None."""
        first, second = (self.at, self.to) if self.to else (self.predicted_at, self.predicted_to)
        return (first, second) if first is not None and second is not None else None

    @property
    def place(self) -> Range | None:
        """The range that both sides cover together; None for a whole document."""
        sides = (self.at, self.predicted_at, self.to, self.predicted_to)
        ranges = [pair for pair in sides if pair is not None]
        if not ranges:
            return None
        return min(start for start, _end in ranges), max(end for _start, end in ranges)

    @property
    def overlaps(self) -> bool:
        """Whether both sides exist and share a character."""
        if self.at is None or self.predicted_at is None:
            return False
        return self.at[0] < self.predicted_at[1] and self.predicted_at[0] < self.at[1]

    @property
    def identity(self) -> tuple[object, ...]:
        """What stays the same if another model makes the same mistake."""
        plain = self.field, self.at, self.gold, self.predicted_at, self.predicted
        return (*plain, self.to, self.predicted_to) if self.ends else plain

    def quote(self, text: str) -> str:
        """The words at the place in a text, both spans of a relation; else how the text begins."""
        if self.ends is not None:
            arrow = " → " if self.directed else " – "
            return arrow.join(text[slice(*place)] for place in self.ends)
        return text[slice(*self.place) if self.place else slice(160)]

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "gold": self.gold or None,
            "predicted": self.predicted or None,
            "confidence": self.confidence,
            "loss": self.loss,
            "at": list(self.at) if self.at else None,
            "predicted_at": list(self.predicted_at) if self.predicted_at else None,
            "field": self.field,
            **({} if self.distance is None else {"distance": self.distance}),
            **({} if self.to is None else {"to": list(self.to)}),
            **({} if self.predicted_to is None else {"predicted_to": list(self.predicted_to)}),
            **({} if self.directed else {"directed": False}),
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Mistake:
        """Raises KeyError, TypeError or ValueError for anything else than `to_json` wrote."""
        at, predicted_at = (_range(raw[name]) for name in ("at", "predicted_at"))
        gold, predicted = raw["gold"] or "", raw["predicted"] or ""
        numbers = float(raw["confidence"]), float(raw["loss"])
        distance = None if raw.get("distance") is None else float(raw["distance"])
        return cls(
            raw["kind"], gold, predicted, *numbers, at, predicted_at, raw["field"], distance,
            to=_range(raw.get("to")),
            predicted_to=_range(raw.get("predicted_to")),
            directed=bool(raw.get("directed", True)),
        )  # fmt: skip


def loss_of(probability: float) -> float:
    """−ln of the probability of gold."""
    return -math.log(min(max(probability, MIN_PROBABILITY), 1.0))


def _range(raw: Any) -> Range | None:
    if raw is None:
        return None
    start, end = raw
    return int(start), int(end)
