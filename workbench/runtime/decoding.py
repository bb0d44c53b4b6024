"""From logits to predictions: classes, words with tags, spans.

numpy only, shared by training, hosts and exported models.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from workbench.text import schemes
from workbench.text.fields import ClassScores, Field, Prediction, SpanScores, WordTag, WordTags
from workbench.text.spans import Span

TINY = 1e-12  # least probability with log odds


def softmax(logits: np.ndarray) -> np.ndarray:
    """Softmax over the last axis, in float64 so that rows sum to 1.

    logits (…, L). Returns float64 (…, L).
    """
    shifted = logits.astype(np.float64) - logits.max(axis=-1, keepdims=True)
    powers: np.ndarray = np.exp(shifted)
    shares: np.ndarray = powers / powers.sum(axis=-1, keepdims=True)
    return shares


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """Sigmoid in float64, of the same shape; stable for large magnitudes."""
    return np.exp(-np.logaddexp(0.0, -logits.astype(np.float64)))


def classes(
    logits: Sequence[float] | np.ndarray, labels: Sequence[str], *, cut: bool = False
) -> Prediction:
    """logits (L,) → a probability for each label."""
    scores = ClassScores(tuple(labels), tuple(map(float, softmax(np.asarray(logits)))))
    return Prediction((scores,), cut)


# ---------------------------------------------------------------- BIO


def bio_tags(labels: Sequence[str]) -> tuple[str, ...]:
    """O, then B- and I- of each label: the order of the outputs of a tagger."""
    return ("O", *(f"{prefix}-{label}" for label in labels for prefix in "BI"))


def split_tag(tag: str) -> tuple[str, str | None]:
    """("B", "PER"); ("O", None)."""
    return schemes.split_tag(tag) or ("O", None)


@lru_cache(maxsize=32)
def bio_constraints(tags: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """(start (L,), step (L, L) from → to): 0 where BIO allows it, -inf where not."""
    parts = [split_tag(tag) for tag in tags]
    start = np.array([-np.inf if prefix == "I" else 0.0 for prefix, _ in parts])
    step = np.array(
        [
            [
                -np.inf if to == "I" and (before == "O" or left != right) else 0.0
                for to, right in parts
            ]
            for before, left in parts
        ]
    )
    return start, step


def viterbi(
    scores: np.ndarray, start: np.ndarray, step: np.ndarray, end: np.ndarray | None = None
) -> np.ndarray:
    """The best path, int64 (T,), through scores (T, L); the lower index on a tie.

    start, end (L,) are added to the first and last position, step (L, L) from → to in between.
    """
    length, count = scores.shape
    best, back = scores[0] + start, np.zeros((length, count), dtype=np.int64)
    for position in range(1, length):
        paths = best[:, None] + step  # (from, to)
        back[position] = paths.argmax(axis=0)
        best = paths[back[position], np.arange(count)] + scores[position]
    path = [int((best if end is None else best + end).argmax())]
    for position in range(length - 1, 0, -1):
        path.append(int(back[position, path[-1]]))
    return np.array(path[::-1], dtype=np.int64)


def decide(probabilities: np.ndarray, tags: Sequence[str]) -> np.ndarray:
    """Tag numbers (T,) of words with distributions (T, L).

    The most probable tag of each word if that is a valid BIO sequence, else the most probable
    valid sequence.
    """
    if not len(probabilities):
        return np.zeros(0, dtype=np.int64)
    start, step = bio_constraints(tuple(tags))
    greedy: np.ndarray = probabilities.argmax(axis=1)
    if np.isfinite(start[greedy[0]]) and np.isfinite(step[greedy[:-1], greedy[1:]]).all():
        return greedy
    return viterbi(np.log(np.maximum(probabilities, 1e-30)), start, step)


def begun(chosen: np.ndarray, tags: Sequence[str], *, before: str | None = None) -> np.ndarray:
    """A valid BIO sequence (T,): an I- without a preceding tag of its label becomes B-.

    `before` is the tag before the first, None for the beginning of the text. conlleval and seqeval
    read such tags in the same way.
    """
    number = {tag: position for position, tag in enumerate(tags)}
    valid, inside = np.array(chosen, dtype=np.int64), split_tag(before or "O")[1]
    for position, tag in enumerate(tags[item] for item in chosen):
        prefix, label = split_tag(tag)
        if prefix == "I" and label != inside:
            valid[position] = number[f"B-{label}"]
        inside = label
    return valid


def words_and_spans(
    text: str,
    word_offsets: Sequence[tuple[int, int]],
    chosen: np.ndarray,
    scores: np.ndarray,
    tags: Sequence[str],
    *,
    cut: bool = False,
) -> Prediction:
    """Words with labels and the spans they form, from tag ids (T,) and their scores (T,).

    `chosen` is a valid BIO sequence. A span's score is the mean of its words' scores. No span
    begins or ends with white space.
    """
    parts = [split_tag(tags[item]) for item in chosen]
    words = tuple(
        WordTag(start, end, label, float(score))
        for (start, end), (_, label), score in zip(word_offsets, parts, scores, strict=True)
    )
    spans = tuple(_spans(text, word_offsets, parts, scores))
    return Prediction((WordTags(words), SpanScores(spans)), cut)


def tempered_scores(scores: np.ndarray, temperature: float) -> np.ndarray:
    """Probabilities of any shape with their log odds divided by a temperature, 1 for none."""
    if temperature == 1:
        return scores
    clipped = np.clip(scores, TINY, 1 - TINY)
    return sigmoid((np.log(clipped) - np.log1p(-clipped)) / temperature)


def tempered(prediction: Prediction, temperature: float) -> Prediction:
    """The scores of words and spans with their log odds divided by a temperature, 1 for none.

    Decisions stay. The confidence in a decision is scaled as one probability, right or wrong,
    whatever the scores of other labels are: exact for independent labels, and possible for scores
    that no other labels are stored with (LeCoz et al. 2024, Confidence Calibration of Classifiers
    with Many Classes, call it top-versus-all).
    """
    if temperature == 1:
        return prediction

    def scaled(scores: Iterable[float | None]) -> list[float]:
        values = np.array([score or 0.0 for score in scores])
        probabilities: list[float] = tempered_scores(values, temperature).tolist()
        return probabilities

    fields: list[Field] = []
    for field in prediction.fields:
        if isinstance(field, WordTags):
            rows = zip(field.words, scaled(word.score for word in field.words), strict=True)
            field = WordTags(tuple(_rescored(word, score) for word, score in rows))
        elif isinstance(field, SpanScores):
            pairs = zip(field.spans, scaled(span.score for span in field.spans), strict=True)
            field = SpanScores(tuple(replace(span, score=score) for span, score in pairs))
        fields.append(field)
    return replace(prediction, fields=tuple(fields))


def _rescored(word: WordTag, score: float) -> WordTag:
    """A word with another score; its other labels share what is left as before."""
    share = (1 - score) / max(TINY, 1 - word.score)
    others = tuple((label, min(1.0, other * share)) for label, other in word.others)
    return replace(word, score=score, others=others)


def _spans(
    text: str,
    word_offsets: Sequence[tuple[int, int]],
    parts: Sequence[tuple[str, str | None]],
    scores: np.ndarray,
) -> Iterable[Span]:
    first = None
    for position in range(len(parts) + 1):
        prefix, label = parts[position] if position < len(parts) else ("O", None)
        if first is not None and prefix != "I":
            span = trimmed(
                text,
                word_offsets[first][0],
                word_offsets[position - 1][1],
                parts[first][1] or "",
                float(scores[first:position].mean()),
            )
            if span:
                yield span
            first = None
        if prefix == "B" and label is not None:
            first = position


def trimmed(text: str, start: int, end: int, label: str, score: float) -> Span | None:
    """The span without white space at its ends; None if there is nothing else."""
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return Span(start, end, label, score=score) if start < end else None


# ---------------------------------------------------------------- words over subwords and windows


@dataclass(frozen=True)
class Alignment:
    """Positions of the words of a text in its windows.

    All int64 (W,), -1 for a word without a subword of its own. window: the window with the most
    context around the word; first, end: its subwords in that window, end exclusive.
    """

    window: np.ndarray
    first: np.ndarray
    end: np.ndarray


def align(
    word_offsets: Sequence[tuple[int, int]], windows: Sequence[tuple[np.ndarray, np.ndarray]]
) -> Alignment:
    """Find every word in the windows of its text.

    word_offsets: (start, end) of words, sorted, without overlaps. windows: for each window, the
    offsets of its subwords int (T, 2) and whether each is text bool (T,). A subword belongs to the
    word that holds its last character; one that covers several words belongs to all of them.
    """
    ranges = np.asarray(word_offsets, dtype=np.int64).reshape(-1, 2)
    count = len(ranges)
    window, first, end = (np.full(count, -1, np.int64) for _ in range(3))
    context = np.full(count, -1, np.int64)
    for number, (offsets, is_text) in enumerate(windows):
        positions = np.flatnonzero(is_text & (offsets[:, 1] > offsets[:, 0]))
        if not len(positions) or not count:
            continue
        starts, ends = (
            offsets[positions, 0].astype(np.int64),
            offsets[positions, 1].astype(np.int64),
        )
        # Only the words in this window: a book has thousands of windows.
        low, high = (
            np.searchsorted(ranges[:, 1], starts[0], side="right"),
            np.searchsorted(ranges[:, 0], ends[-1], side="left"),
        )
        near_words = ranges[low:high]
        left = np.searchsorted(
            ends, near_words[:, 0], side="right"
        )  # first subword that ends after the start of the word
        right = np.searchsorted(
            starts, near_words[:, 1], side="left"
        )  # end of the subwords that begin before the end of the word
        here = left < right
        near = np.minimum(
            left, len(positions) - right
        )  # subwords between the word and the nearer end of the window
        near = np.where((left == 0) & _begins(number), len(positions) - right, near)
        near = np.where((right == len(positions)) & (number == len(windows) - 1), left, near)
        better = here & (near > context[low:high])
        words = low + np.flatnonzero(better)
        window[words], context[words] = number, near[better]
        first[words] = positions[left[better]]
        end[words] = positions[np.minimum(right[better], len(positions)) - 1] + 1
    return Alignment(window, first, end)


def _begins(number: int) -> bool:
    """Whether a window is at the beginning of the text, where no context is missing."""
    return number == 0


def word_logits(
    logits: Sequence[np.ndarray], begin: int, where: Alignment, count: int
) -> np.ndarray:
    """Logits (W, L) of a document's words, each from its first subword; 0 for a word without one.

    `logits[begin + window]` (T, L) are those of the document's windows.
    """
    rows = np.zeros((len(where.window), count))
    order = np.argsort(where.window, kind="stable")
    order = order[np.searchsorted(where.window[order], 0) :]  # skip those without a subword (-1)
    for inside in np.split(order, np.flatnonzero(np.diff(where.window[order])) + 1):
        if len(inside):
            rows[inside] = logits[begin + where.window[inside[0]]][where.first[inside]]
    return rows


def word_scores(
    logits: Sequence[np.ndarray], begin: int, where: Alignment, count: int
) -> np.ndarray:
    """Probabilities (W, L) of a document's words; O for a word without a subword.

    Arguments as for `word_logits`.
    """
    scores = softmax(word_logits(logits, begin, where, count))
    scores[where.window < 0] = np.eye(1, count)
    return scores
