"""Which tokens a masked language model predicts, and what it sees in their place. numpy only.

Source: Devlin et al. 2018, section 3.1 and appendix A.1: 15% of the tokens are chosen; of these
80% are replaced by [MASK], 10% by a random token, and 10% are kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MASKED, RANDOM, KEPT = 0, 1, 2


@dataclass(frozen=True)
class Rates:
    """chosen: fraction of the tokens that are predicted; masked and random: fractions of these."""

    chosen: float = 0.15
    masked: float = 0.8
    random: float = 0.1


def choose(
    allowed: np.ndarray, groups: np.ndarray, share: float, rng: np.random.Generator
) -> np.ndarray:
    """bool (T,): the tokens to predict, whole groups at a time.

    allowed bool (T,): tokens of the text. groups int (T,): number of the word (or token) of each
    token; adjacent tokens with an equal number are chosen together. About `share` of the allowed
    tokens are chosen, at least one; a group that would exceed the number is left out, except the
    first.
    """
    chosen = np.zeros(len(allowed), dtype=bool)
    places = np.flatnonzero(allowed)
    if not len(places):
        return chosen
    quota = max(1, int(rng.binomial(len(places), share)))
    starts = np.flatnonzero(np.diff(groups[places], prepend=groups[places[0]] - 1))
    members = np.split(places, starts[1:])
    count = 0
    for number in rng.permutation(len(members)):
        group = members[number]
        if count and count + len(group) > quota:
            continue
        chosen[group] = True
        count += len(group)
        if count >= quota:
            break
    return chosen


def replaced(
    ids: np.ndarray,
    chosen: np.ndarray,
    rates: Rates,
    *,
    mask: int,
    ordinary: np.ndarray,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """The input with the chosen tokens replaced, and what was done to each of them.

    ids int (T,), chosen bool (T,). `mask` is the id of the mask; random tokens are drawn from
    `ordinary` (ids). Returns ids (T,) and int8 (number chosen,): MASKED, RANDOM or KEPT.
    """
    count = int(chosen.sum())
    draw = rng.random(count)
    what = np.where(
        draw < rates.masked, MASKED, np.where(draw < rates.masked + rates.random, RANDOM, KEPT)
    ).astype(np.int8)
    random = ordinary[rng.integers(0, len(ordinary), count)]
    changed = ids.copy()
    changed[chosen] = np.select([what == MASKED, what == RANDOM], [mask, random], ids[chosen])
    return changed, what
