"""The result of a pretraining. Does not import torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class ShownUnit:
    """A unit of an input as text, and the one that is predicted at it; None without a loss.

    what: masked, random or kept for a unit that a masked language model predicts, else "".
    """

    input: str
    target: str | None = None
    what: str = ""


@dataclass(frozen=True)
class ShownRow:
    """One input of a batch.

    original: the units before they were changed. written: the units that a decoder writes. spans:
    (start, end) of predicted spans. notes: what else the loss is taken of, by name.
    """

    units: tuple[ShownUnit, ...]
    original: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class PretrainResult:
    """What a pretraining did.

    units, words: predicted units and words of the training text, all epochs together. curve: one
    entry per evaluation: step, losses (mean per unit, by name), perplexity (per unit) and, if the
    objective defines it, perplexity_per_word. stopped: by the user, before the end.
    """

    path: str
    objective: str
    model: str
    steps: int
    units: int
    words: int
    seconds: float
    cpu_seconds: float
    device: str
    bf16: bool
    stopped: bool
    fingerprint: str
    options: Mapping[str, Any]
    curve: tuple[Mapping[str, Any], ...]
    versions: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "curve": list(self.curve)}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> PretrainResult:
        return cls(**{**raw, "curve": tuple(raw["curve"])})
