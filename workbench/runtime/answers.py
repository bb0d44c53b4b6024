"""Start and end logits of windows → the best answers to a question. numpy only.

Source: Devlin et al. 2019, sections 4.2 and 4.3; windows as in the SQuAD script of BERT.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.runtime.decoding import softmax
from workbench.runtime.inputs import EncodedInput
from workbench.text.questions import Candidate, PredictedAnswer

QUESTION, CONTEXT = 0, 1  # `EncodedInput.text` of the two texts
NULL = 0  # position of "no answer": the first token, which is never one of the context
MAX_COMBINED = (
    20  # starts and ends of each window that are combined, and candidates with a probability
)
MAX_CANDIDATES = 5  # candidates that are kept
MAX_ANSWER_TOKENS = 30  # default maximum length of an answer, in tokens

Range = tuple[int, int]


def answered(
    question: str,
    context: str,
    windows: Sequence[EncodedInput],
    logits: Sequence[np.ndarray],
    *,
    longest: int = MAX_ANSWER_TOKENS,
    threshold: float | None = None,
) -> PredictedAnswer:
    """The answer of all windows of one question.

    logits: of each window, (T, 2) of start and end. longest: tokens in an answer. threshold: the
    question has no answer if `null_gap` exceeds it; None if every question has one.
    """
    best_scores: dict[Range, float] = {}
    nulls = []
    for window, scores in zip(windows, logits, strict=True):
        nulls.append(float(scores[NULL].sum()))
        for span, score in _candidates(window, scores.astype(np.float64), longest):
            best_scores[span] = max(score, best_scores.get(span, -np.inf))
    ranked = sorted(best_scores.items(), key=lambda item: (-item[1], item[0]))[:MAX_COMBINED]
    null = min(nulls, default=0.0)  # one window that holds an answer is enough
    considered = [score for _span, score in ranked] + ([null] if threshold is not None else [])
    shares = softmax(np.array(considered)) if considered else np.ones(1)
    candidates = tuple(
        Candidate(start, end, float(share))
        for ((start, end), _score), share in zip(ranked[:MAX_CANDIDATES], shares, strict=False)
    )
    gap = null - ranked[0][1] if ranked else np.inf
    is_null = not ranked or (threshold is not None and gap > threshold)
    text = context[candidates[0].start : candidates[0].end] if candidates else ""
    null_share = float(shares[-1]) if threshold is not None or not ranked else 0.0
    return PredictedAnswer(
        question, candidates, text, float(min(gap, 1e9)), null_share, bool(is_null)
    )


def _candidates(
    window: EncodedInput, scores: np.ndarray, longest: int
) -> list[tuple[Range, float]]:
    """Ranges of the context between the best starts and ends of a window, with their scores."""
    inside = _inside(window)
    starts, ends = (
        inside[np.argsort(-scores[inside, side], kind="stable")][:MAX_COMBINED] for side in (0, 1)
    )
    return [
        (
            (int(window.offsets[start, 0]), int(window.offsets[end, 1])),
            float(scores[start, 0] + scores[end, 1]),
        )
        for start in starts
        for end in ends
        if start <= end < start + longest
    ]


def positions(window: EncodedInput, start: int, end: int) -> Range | None:
    """The first and last token of code points [start, end) of the context.

    None if they are not wholly in the window.
    """
    inside = _inside(window)
    if not len(inside):
        return None
    begins, stops = window.offsets[inside, 0], window.offsets[inside, 1]
    if start < begins[0] or end > stops[-1]:
        return None
    first = int(np.searchsorted(stops, start, side="right"))
    last = int(np.searchsorted(begins, end, side="left")) - 1
    return (int(inside[first]), int(inside[last])) if first <= last else None


def boundary_shares(
    windows: Sequence[EncodedInput], logits: Sequence[np.ndarray], *, null: bool
) -> tuple[list[tuple[int, int]], np.ndarray]:
    """Distributions over the tokens of the context to be the first, and the last, of the answer.

    logits: of each window of one question, (T, 2). null: "no answer" has a share, too.
    Returns (window, position) of every token once, from the window with most context around it, in
    order of the text, and float64 (N + 1, 2) that adds up to 1 per column; the last row is "no
    answer", 0 without `null`.
    """
    places = _units_once(windows)
    scores = [logits[window][position] for window, position in places]
    least = min(range(len(logits)), key=lambda at: float(logits[at][NULL].sum()), default=None)
    if null and least is not None:
        scores.append(logits[least][NULL])
    if not scores:
        return [], np.zeros((1, 2))
    shares = softmax(np.array(scores, np.float64).T).T
    return places, shares if null else np.concatenate([shares, np.zeros((1, 2))])


def _units_once(windows: Sequence[EncodedInput]) -> list[tuple[int, int]]:
    best_windows: dict[tuple[int, int, int], tuple[int, int, int]] = {}
    for number, window in enumerate(windows):
        inside = _inside(window)
        repeats: dict[tuple[int, int], int] = {}
        for place, position in enumerate(inside.tolist()):
            start, end = window.offsets[position].tolist()
            nth = repeats[start, end] = repeats.get((start, end), -1) + 1  # tokens of one character
            context = min(place, len(inside) - 1 - place)
            best = best_windows.get((start, end, nth))
            if best is None or best[0] < context:
                best_windows[start, end, nth] = context, number, position
    return [best_windows[key][1:] for key in sorted(best_windows)]


def _inside(window: EncodedInput) -> np.ndarray:
    """Positions of the tokens of the context."""
    offsets = window.offsets
    positions: np.ndarray = np.flatnonzero(
        (window.text == CONTEXT) & (offsets[:, 1] > offsets[:, 0])
    )
    return positions
