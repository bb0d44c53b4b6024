"""Decoders that assign BIO tags to words: greedy, valid sequences, CRF. numpy only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from workbench.runtime import decoding
from workbench.runtime.crf import Transitions
from workbench.text.schemes import TokenSpan, spans

# logits (W, L) of the words, whether each has a subword, bool (W,) → tag ids (W,) of a valid
# BIO sequence and their scores (W,), 0 to 1. A word without a subword is O (id 0), with score 1.
Decoder = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def decoder(
    settings: Mapping[str, Any], tags: Sequence[str], labels: Sequence[str] = ()
) -> Decoder:
    """The decoder that a trained model specifies in `decoder`, by default valid sequences.

    tags: the outputs of the network. The tags of a published model ("tags" in `settings`) follow a
    scheme of their own; its decoder returns the BIO tags of the `labels`. They are read by
    `text.schemes` if `settings` names the "scheme", else as flair reads them.
    Raises KeyError for an unknown decoder.
    """
    decide = _DECODERS[settings.get("decoder", "bio")](settings, tags)
    if "tags" not in settings:
        return decide
    scheme = settings.get("scheme")
    read = voted_spans if scheme is None else partial(spans, scheme=str(scheme))
    return _published(decide, read, tags, labels)


def transitions(settings: Mapping[str, Any], tags: Sequence[str]) -> Transitions | None:
    """The learned transition scores of a CRF; None for other decoders.

    Those of a published model are used as they are, with their own tags.
    """
    if (raw := settings.get("transitions")) is None:
        return None
    allowed = None if "tags" in settings else decoding.bio_constraints(tuple(tags))
    return Transitions.from_json(raw, tags, allowed)


def _greedy(settings: Mapping[str, Any], tags: Sequence[str]) -> Decoder:
    def decide(logits: np.ndarray, present: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        probabilities = _probabilities(logits, present)
        chosen = probabilities.argmax(axis=1) if len(logits) else np.zeros(0, np.int64)
        scores = probabilities[np.arange(len(chosen)), chosen]
        return _valid(settings, chosen, tags), scores

    return decide


def _bio(settings: Mapping[str, Any], tags: Sequence[str]) -> Decoder:
    def decide(logits: np.ndarray, present: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        probabilities = _probabilities(logits, present)
        chosen = decoding.decide(probabilities, tags)
        return chosen, probabilities[np.arange(len(chosen)), chosen]

    return decide


def _crf(settings: Mapping[str, Any], tags: Sequence[str]) -> Decoder:
    """Words without a subword are skipped, as in training."""
    learned = transitions(settings, tags)
    if learned is None:
        raise KeyError("transitions")

    def decide(logits: np.ndarray, present: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        chosen, scores = np.zeros(len(logits), np.int64), np.ones(len(logits))
        best = learned.best(logits[present])
        chosen[present] = best
        scores[present] = learned.marginals(logits[present])[np.arange(len(best)), best]
        return _valid(settings, chosen, tags), scores

    return decide


def _valid(settings: Mapping[str, Any], chosen: np.ndarray, tags: Sequence[str]) -> np.ndarray:
    return chosen if "tags" in settings else decoding.begun(chosen, tags)


def _published(
    decide: Decoder,
    read: Callable[[Sequence[str]], Iterable[TokenSpan]],
    tags: Sequence[str],
    labels: Sequence[str],
) -> Decoder:
    """Tags of another scheme → BIO tags of the spans that `read` finds in them."""
    numbers = {tag: number for number, tag in enumerate(decoding.bio_tags(labels))}

    def decided(logits: np.ndarray, present: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        chosen, scores = decide(logits, present)
        own = [tags[number] if here else "O" for number, here in zip(chosen, present, strict=True)]
        outputs = np.zeros(len(own), np.int64)
        for span in read(own):
            outputs[span.first : span.last] = numbers[f"I-{span.label}"]
            outputs[span.first] = numbers[f"B-{span.label}"]
        return outputs, scores

    return decided


FIRST_VOTE = 1.1  # of the first word of a span; other words count 1


def voted_spans(tags: Sequence[str]) -> list[TokenSpan]:
    """The spans of BIOES or BIO tags, valid or not, with the label that most of their words have.

    B-, S- and an I- of another label begin a span; E- and other tags continue it.
    Source of the rules: flair 0.15, `flair.data.get_spans_from_bio`.
    """
    token_spans: list[TokenSpan] = []
    votes: dict[str, float] = {}
    first, before = 0, ""
    for place, tag in enumerate([*tags, "O"]):
        prefix, label = decoding.split_tag(tag)
        begins = prefix in ("B", "S") or (prefix == "I" and label != before)
        if votes and (begins or label is None):
            token_spans.append(TokenSpan(first, place, max(votes, key=votes.__getitem__)))
            votes = {}
        if label is not None:
            first = first if votes else place
            votes[label] = votes.get(label, 0.0) + (FIRST_VOTE if begins else 1.0)
        before = label or ""
    return token_spans


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
