"""The result of a pretraining. Does not import torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


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
