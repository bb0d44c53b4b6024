"""Noise of denoising objectives, on the token ids of one text. numpy only.

What is changed is drawn by one function and changed by another, so that both can be tested.
Sources: Lewis et al. 2020, BART, section 2.2; Raffel et al. 2020, T5, section 3.1.4 and figure 2.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Part = Sequence[int] | np.ndarray
Span = tuple[int, int]  # positions, end exclusive; empty where something is inserted


# ---------------------------------------------------------------- what is changed


def tokens(count: int, share: float, rng: np.random.Generator) -> np.ndarray:
    """bool (count,): each token with probability `share`."""
    return rng.random(count) < share


def t5_spans(count: int, share: float, mean: float, rng: np.random.Generator) -> list[Span]:
    """Spans that cover `share` of the tokens, `mean` tokens long on average, never adjacent.

    The first token is in no span. As random_spans_noise_mask of the released code of T5: noise and
    the rest are each divided into equally many parts at random places.
    """
    noisy = min(max(round(count * share), 1), count - 1) if count > 1 else 0
    parts = min(max(round(noisy / mean), 1), noisy, count - noisy)
    if not parts:
        return []
    plain, changed = _divided(count - noisy, parts, rng), _divided(noisy, parts, rng)
    ends = np.cumsum(np.stack([plain, changed], 1).ravel())
    return list(zip(ends[::2].tolist(), ends[1::2].tolist(), strict=True))


def _divided(count: int, parts: int, rng: np.random.Generator) -> np.ndarray:
    """int (parts,): positive sizes with the sum `count`, all such divisions equally likely."""
    cuts = 1 + np.sort(rng.choice(count - 1, parts - 1, replace=False))
    return np.diff(np.concatenate([[0], cuts, [count]]))


def poisson_spans(count: int, share: float, mean: float, rng: np.random.Generator) -> list[Span]:
    """Spans with lengths from a Poisson distribution until they cover `share` of the tokens.

    An empty span inserts a mask. Spans do not overlap. BART: mean 3, share 0.3.
    """
    noisy, free = round(count * share), np.ones(count, dtype=bool)
    spans: list[Span] = []
    while noisy > 0 and free.any():
        start = int(rng.choice(np.flatnonzero(free)))
        length = min(int(rng.poisson(mean)), noisy)
        end = start
        while end < min(start + length, count) and free[end]:
            end += 1
        free[start : max(end, start + 1)] = False
        spans.append((start, end))
        noisy -= end - start
    return sorted(spans)


# ---------------------------------------------------------------- the changes


def with_sentinels(
    ids: np.ndarray, spans: Sequence[Span], sentinels: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """(input, target): each span is replaced by a sentinel of its own.

    ids: int (T,), whose type both keep. The target has each sentinel with the tokens it replaces,
    and one more sentinel at the end.
    """
    inputs: list[Part] = []
    targets: list[Part] = []
    last = 0
    for (start, end), sentinel in zip(spans, sentinels, strict=False):
        inputs += [ids[last:start], [sentinel]]
        targets += [[sentinel], ids[start:end]]
        last = end
    inputs.append(ids[last:])
    targets.append([sentinels[min(len(spans), len(sentinels) - 1)]])
    return _joined(inputs, ids), _joined(targets, ids)


def infilled(ids: np.ndarray, spans: Sequence[Span], mask: int) -> np.ndarray:
    """Each span is replaced by one mask, also an empty one.

    ids int (T,); spans in order, without overlaps.
    """
    parts: list[Part] = []
    last = 0
    for start, end in spans:
        parts += [ids[last:start], [mask]]
        last = end
    return _joined([*parts, ids[last:]], ids)


def replaced(ids: np.ndarray, chosen: np.ndarray, others: np.ndarray | int) -> np.ndarray:
    """The chosen tokens bool (T,) replaced by `others`: a mask, or one id for each of them."""
    changed = ids.copy()
    changed[chosen] = others
    return changed


def deleted(ids: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Without the chosen tokens. ids int (T,), chosen bool (T,)."""
    remaining: np.ndarray = ids[~chosen]
    return remaining


def inserted(ids: np.ndarray, chosen: np.ndarray, others: np.ndarray) -> np.ndarray:
    """One of `others` before each chosen token, bool (T,)."""
    longer: np.ndarray = np.insert(ids, np.flatnonzero(chosen), others)
    return longer


def permuted(ids: np.ndarray, ends: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The sentences in random order. ends bool (T,): tokens that end a sentence."""
    parts = [part for part in np.split(ids, np.flatnonzero(ends) + 1) if len(part)]
    return _joined([parts[number] for number in rng.permutation(len(parts))], ids)


def rotated(ids: np.ndarray, start: int) -> np.ndarray:
    """The text, ids int (T,), from `start` on, then what precedes it."""
    rolled: np.ndarray = np.roll(ids, -start)
    return rolled


def _joined(parts: Sequence[Part], like: np.ndarray) -> np.ndarray:
    return np.concatenate([np.asarray(part, like.dtype) for part in parts] or [like[:0]])
