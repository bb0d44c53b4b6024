"""Decoders that assign BIO tags to words: greedy, valid sequences, CRF. numpy only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.runtime import decoding
from workbench.runtime.crf import Transitions

# logits (W, L) of the words, whether each has a subword, bool (W,) → tag ids (W,) of a valid
# BIO sequence and their scores (W,), 0 to 1. A word without a subword is O (id 0), with score 1.
Decoder = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def decoder(given: Mapping[str, Any], tags: Sequence[str]) -> Decoder:
    """The decoder that a trained model specifies in `decoder`, by default valid sequences.

    Raises KeyError for an unknown decoder.
    """
    return _DECODERS[given.get("decoder", "bio")](given, tags)


def transitions(given: Mapping[str, Any], tags: Sequence[str]) -> Transitions | None:
    """The learned transition scores of a CRF; None for other decoders."""
    if (raw := given.get("transitions")) is None:
        return None
    return Transitions.from_json(raw, tags, decoding.bio_constraints(tuple(tags)))


def _greedy(given: Mapping[str, Any], tags: Sequence[str]) -> Decoder:
    def decide(logits: np.ndarray, present: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        probabilities = _probabilities(logits, present)
        chosen = probabilities.argmax(axis=1) if len(logits) else np.zeros(0, np.int64)
        scores = probabilities[np.arange(len(chosen)), chosen]
        return decoding.begun(chosen, tags), scores

    return decide


def _bio(given: Mapping[str, Any], tags: Sequence[str]) -> Decoder:
    def decide(logits: np.ndarray, present: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        probabilities = _probabilities(logits, present)
        chosen = decoding.decide(probabilities, tags)
        return chosen, probabilities[np.arange(len(chosen)), chosen]

    return decide


def _crf(given: Mapping[str, Any], tags: Sequence[str]) -> Decoder:
    """Words without a subword are skipped, as in training."""
    learned = transitions(given, tags)
    if learned is None:
        raise KeyError("transitions")

    def decide(logits: np.ndarray, present: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        chosen, scores = np.zeros(len(logits), np.int64), np.ones(len(logits))
        best = learned.best(logits[present])
        chosen[present] = best
        scores[present] = learned.marginals(logits[present])[np.arange(len(best)), best]
        return decoding.begun(chosen, tags), scores

    return decide


_DECODERS: dict[str, Callable[[Mapping[str, Any], Sequence[str]], Decoder]] = {
    "greedy": _greedy,
    "bio": _bio,
    "crf": _crf,
}


def _probabilities(logits: np.ndarray, present: np.ndarray) -> np.ndarray:
    """(W, L) probabilities; O has probability 1 for words without a subword."""
    probabilities = decoding.softmax(logits)
    probabilities[~present] = np.eye(1, logits.shape[1])
    return probabilities
