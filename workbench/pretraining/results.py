"""Results of a pretraining, and of measuring how models fit a text. Does not import torch."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.base import deprecation
from workbench.base.records import JsonRecord


@dataclass(frozen=True)
class ShownToken:
    """A token of an input as text, and the one that is predicted at it; None without a loss.

    what: masked, random or kept for a token that a masked language model predicts, else "".
    """

    input: str
    target: str | None = None
    what: str = ""


if not TYPE_CHECKING:
    __getattr__ = deprecation.former(__name__, ShownUnit="ShownToken")


@dataclass(frozen=True)
class ShownBoundary:
    """What the span boundary objective predicts at a token. unit, left, right: positions of the
    token, and of those beside its span, from which it is predicted with its `place` in the span,
    from 1.

    own: the probability of the target. best: the most probable tokens.
    """

    unit: int
    left: int
    right: int
    place: int
    own: float
    best: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class ShownRow(JsonRecord):
    """One input of a batch.

    original: the tokens before they were changed. written: the tokens that a decoder writes. spans:
    (start, end) of predicted spans, boundaries: what is predicted from the tokens beside them.
    notes: what else the loss is taken of, by name.
    """

    units: tuple[ShownToken, ...]
    original: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    boundaries: tuple[ShownBoundary, ...] = ()


@dataclass(frozen=True)
class PretrainResult(JsonRecord):
    """What a pretraining did.

    units, words: predicted tokens and words of the training text, all epochs together. curve: one
    entry per evaluation: step, losses (mean per token, by name), perplexity (per token) and, if the
    objective defines it, perplexity_per_word. stopped: by the user, before the end. remarks: what
    happened to the training, in sentences.
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
    remarks: tuple[str, ...] = ()


# Kinds of perplexity. Only values of one kind can be compared.
PSEUDO, CAUSAL, BOTH, CHARACTER, NONE = "pseudo", "causal", "both", "character", ""


@dataclass(frozen=True)
class ModelFit(JsonRecord):
    """How well a model fits a sample of texts.

    unknown, cut, cut_at: fractions. fertility: tokens per word. cut: of texts with more tokens than
    the model takes; cut_at: limit → the same for that many tokens. limit: 0 if there is none.
    kind: of the perplexity. perplexity: per word, for CHARACTER per character; 0 without one.
    per_character: perplexity per character of the text, for all kinds. scored: predicted tokens;
    total: the sum of their negative natural log-likelihoods; low, high: 95% interval of their mean
    by a bootstrap over texts, None with fewer than two.
    lengths: tokens of each text, special ones included. split: words divided most often, as
    (word, tokens, count, texts). problem: why the model could not be measured.
    languages: codes of those that the model is for, () if unknown. script, language: of the texts,
    "" if not recognized, see `text.language`. predicted: tokens per word of those that are scored,
    marks of capitals and of the ends of texts included; 0 as `fertility`.
    """

    name: str
    family: str
    unknown: float = 0.0
    fertility: float = 0.0
    cut: float = 0.0
    cut_at: Mapping[str, float] = field(default_factory=dict)
    limit: int = 0
    kind: str = NONE
    perplexity: float = 0.0
    per_character: float = 0.0
    scored: int = 0
    seconds: float = 0.0
    lengths: tuple[int, ...] = ()
    split: tuple[tuple[str, tuple[str, ...], int, int], ...] = ()
    problem: str = ""
    total: float = 0.0
    low: float | None = None
    high: float | None = None
    languages: tuple[str, ...] = ()
    script: str = ""
    language: str = ""
    predicted: float = 0.0

    @property
    def units(self) -> float:
        """Predicted tokens per unit of `perplexity`."""
        return 1.0 if self.kind == CHARACTER else self.predicted or self.fertility

    @property
    def interval(self) -> tuple[float, float] | None:
        """95% interval of `perplexity`; None if there is none."""
        if self.low is None or self.high is None:
            return None
        low, high = (math.exp(min(value * self.units, 700.0)) for value in (self.low, self.high))
        return low, high
