"""Perplexity of a language model per token, word and character. Standard library only."""

from __future__ import annotations

import math
from dataclasses import dataclass

MAX_EXPONENT = 700.0  # exponent; exp(710) is no finite float


@dataclass(frozen=True)
class Perplexity:
    """Exp of the mean negative log-likelihood. None where there is nothing to divide by.

    per_word, per_character: the same likelihood, divided by the words or characters of the text,
    so that models with different tokenizers can be compared.
    """

    per_token: float | None
    per_word: float | None
    per_character: float | None


def perplexity(total: float, tokens: int, *, words: float, characters: float) -> Perplexity:
    """total: sum of the negative natural log-likelihoods of `tokens` tokens of a text.

    words, characters: of the text that the tokens are of. Source: Jurafsky and Martin 2026,
    section 3.3; per word as in Mielke 2019, “Can you compare perplexity across different
    segmentations?”.
    """
    return Perplexity(_mean(total, tokens), _mean(total, words), _mean(total, characters))


def _mean(total: float, count: float) -> float | None:
    return math.exp(min(total / count, MAX_EXPONENT)) if count else None
