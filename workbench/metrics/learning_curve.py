"""Learning curves: the mean score at each number of labels, a power law, and what both say.

The error is a·n^(−b) + c for n labels (Hestness et al. 2017), fitted by weighted least squares.
Start, slope and asymptote are those of Torrey and Shavlik 2010, "Transfer learning", figure 11.2.

Intervals come from curves whose draws have random weights. Draws of different numbers of labels
count as independent; weights are the same for all curves that are fitted together, so that their
differences are paired by draw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from workbench.base.records import JsonRecord
from workbench.metrics import resampling

ROUNDS = resampling.ROUNDS
LEAST_SIZES = 4  # numbers of labels: one more than the law has parameters
LEAST_EXPONENT, MOST_EXPONENT = 0.02, 3.0
FIRST_SIZES = 3  # smallest numbers of labels that the slope is read from
REACH = 20  # times the largest number of labels, beyond which nothing is read off
POOR, NOTABLE = 0.01, 0.01  # p of a lack of fit, and a root mean square error that matters

Draws = Mapping[int, Mapping[int, float]]  # number of labels → draw → score


@dataclass(frozen=True)
class Estimate(JsonRecord):
    """A value with its 95% interval; low and high are None if draws cannot give one."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def sign(self) -> int:
        """1 or -1 if the interval is above or below 0, otherwise 0."""
        if self.low is None or self.high is None:
            return 0
        return int(self.low > 0) - int(self.high < 0)


@dataclass(frozen=True)
class PowerLaw(JsonRecord):
    """error(n) = a·n^(−b) + c with a, c ≥ 0."""

    a: float
    b: float
    c: float

    def error(self, n: np.ndarray) -> np.ndarray:
        """n float (K,), at least 1 → error (K,)."""
        return self.a * np.asarray(n, float) ** -self.b + self.c


class Answer(StrEnum):
    """Kind of a read-off."""

    LABELS = "labels"  # a number of labels
    REACHED = "reached"  # the smallest measured number reaches the target
    NEVER = "never"  # the asymptote and its interval miss the target
    UNKNOWN = "unknown"


class Doubt(StrEnum):
    """Why a read-off is unknown."""

    NONE = ""
    FEW_SIZES = "few_sizes"
    FEW_DRAWS = "few_draws"
    FLAT = "flat"  # the score does not get better with more labels
    POOR_FIT = "poor_fit"
    NEAR_ASYMPTOTE = "near_asymptote"  # the target is within the interval of the asymptote
    TOO_FAR = "too_far"  # more than REACH times the largest measured number


@dataclass(frozen=True)
class ReadOff(JsonRecord):
    """Labels needed for a target. high: None if the interval has no upper end."""

    answer: Answer
    labels: float | None = None
    low: float | None = None
    high: float | None = None
    doubt: Doubt = Doubt.NONE


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """sizes: numbers of labels (S,), ascending. mean, low, high: of the draws (S,); draws: their
    numbers (S,). start: score at the smallest number. slope: score per doubling of the labels, over
    the first FIRST_SIZES. asymptote: score that the law approaches, None for single draws and
    where no limit shows yet. misfit: root mean square distance of the law from the means. is_error:
    a lower score is better. means (R, S) and laws (3, R), which are a, b, c: of the resampled
    curves, None if no number has two draws.

    Without a law, `doubt` says why.
    """

    sizes: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    draws: np.ndarray
    start: Estimate
    slope: Estimate | None
    asymptote: Estimate | None
    law: PowerLaw | None
    doubt: Doubt = Doubt.NONE
    misfit: float = 0.0
    is_error: bool = False
    means: np.ndarray | None = field(default=None, repr=False)
    laws: np.ndarray | None = field(default=None, repr=False)

    def fitted(self, n: np.ndarray) -> np.ndarray | None:
        """Scores of the law for numbers of labels (K,)."""
        return None if self.law is None else self._score(self.law.error(n))

    def band(self, n: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """95% interval of `fitted`, low and high (K,)."""
        if self.laws is None:
            return None
        a, b, c = self.laws[:, :, None]
        return resampling.bounds(self._score(a * np.asarray(n, float) ** -b + c))

    def labels_for(self, target: float) -> ReadOff:
        """The number of labels whose score, by the law, is the target. Fast."""
        if self.law is None:
            return ReadOff(Answer.UNKNOWN, doubt=self.doubt)
        error = target if self.is_error else 1.0 - target
        if self.laws is None:
            return ReadOff(Answer.UNKNOWN, doubt=Doubt.FEW_DRAWS)
        needed = _needed(np.array([[self.law.a], [self.law.b], [self.law.c]]), error)[0]
        ends = np.quantile(_needed(self.laws, error), [0.025, 0.975], method="nearest")
        low, high = map(_finite, ends)
        if low is None:
            return ReadOff(Answer.NEVER)
        if np.isinf(needed):
            return ReadOff(Answer.UNKNOWN, None, low, high, Doubt.NEAR_ASYMPTOTE)
        if needed > REACH * self.sizes[-1]:
            return ReadOff(Answer.UNKNOWN, None, low, high, Doubt.TOO_FAR)
        answer = Answer.REACHED if needed < self.sizes[0] else Answer.LABELS
        return ReadOff(answer, float(needed), low, high)

    def over(self, other: LearningCurve) -> Advantages:
        """What this curve has over another one that was fitted together with it; positive is
        better.
        """
        better = -1.0 if self.is_error else 1.0

        def difference(name: str) -> Estimate | None:
            ours, theirs = getattr(self, name), getattr(other, name)
            if ours is None or theirs is None:
                return None
            first, second = self._resampled(name), other._resampled(name)
            values = None
            if first is not None and second is not None:
                values = better * (first - second)
            return _estimate(better * (ours.value - theirs.value), values)

        return Advantages(difference("start"), difference("slope"), difference("asymptote"))

    def _resampled(self, name: str) -> np.ndarray | None:
        """Of start, slope or asymptote, (R,)."""
        if name == "asymptote":
            return None if self.laws is None else self._score(self.laws[2])
        if self.means is None:
            return None
        return self.means[:, 0] if name == "start" else _slope(self.sizes, self.means)

    def _score(self, error: np.ndarray) -> np.ndarray:
        return error if self.is_error else 1.0 - error


@dataclass(frozen=True)
class Advantages(JsonRecord):
    """Higher start, higher slope and higher asymptote; None where one is not known."""

    start: Estimate | None
    slope: Estimate | None
    asymptote: Estimate | None


def learning_curves(
    systems: Mapping[str, Draws], *, is_error: bool = False, rounds: int = ROUNDS, seed: int = 0
) -> dict[str, LearningCurve]:
    """The curves of systems that share their draws; those without a score are left out.

    is_error: the scores are errors in their own unit, of which 0 is perfect. About 0.1 s for four
    curves.
    """
    sizes = sorted({size for draws in systems.values() for size in draws})
    draws = sorted({draw for by in systems.values() for values in by.values() for draw in values})
    rng = np.random.default_rng(seed)
    weights = rng.standard_normal((rounds, len(sizes), len(draws)))
    curves = {}
    for name, scores in systems.items():
        table = np.full((len(sizes), len(draws)), np.nan)
        for size, values in scores.items():
            for draw, score in values.items():
                table[sizes.index(size), draws.index(draw)] = score
        known = np.isfinite(table).any(axis=1)
        if known.any():
            curves[name] = _curve(
                np.array(sizes, float)[known], table[known], weights[:, known], seed, is_error
            )
    return curves


def _curve(
    sizes: np.ndarray, table: np.ndarray, weights: np.ndarray, seed: int, is_error: bool
) -> LearningCurve:
    """table (S, D) with NaN for missing scores; weights normal (R, S, D)."""
    count, mean = np.isfinite(table).sum(axis=1), np.nanmean(table, axis=1)
    variance = _variance(sizes, table, mean, count)
    means = None
    if variance is not None:
        means = mean + _deviations(table, mean, count, variance, weights, seed)
    law, laws, doubt, misfit = _fitted(sizes, mean, count, variance, means, is_error)
    slope = _slope(sizes, mean[None])
    asymptote = None
    # of single draws, or where no limit shows yet (c is at its bound), it would say nothing
    if law is not None and laws is not None and law.c > 0:
        error, limits = law.c, laws[2]
        asymptote = _estimate(
            error if is_error else 1.0 - error, limits if is_error else 1.0 - limits
        )
    return LearningCurve(
        sizes,
        mean,
        np.nanmin(table, axis=1),
        np.nanmax(table, axis=1),
        count,
        _estimate(mean[0], None if means is None else means[:, 0]),
        None
        if slope is None
        else _estimate(slope[0], None if means is None else _slope(sizes, means)),
        asymptote,
        law,
        doubt,
        misfit,
        is_error,
        means,
        laws,
    )


# ---------------------------------------------------------------- draws


def _variance(
    sizes: np.ndarray, table: np.ndarray, mean: np.ndarray, count: np.ndarray
) -> np.ndarray | None:
    """Variance of one draw at each number of labels (S,), smooth in n; None for single draws.

    A few draws tell little about the variance of one number of labels, so it is v·n^(−g), of the g
    with the highest likelihood.
    """
    several = count > 1
    if not several.any():
        return None
    freedom = (count - 1)[several]
    own = np.nansum((table[several] - mean[several, None]) ** 2, axis=1) / freedom
    best, values = np.inf, np.zeros(len(sizes))
    for power in np.arange(0.0, 2.01, 0.25):
        shape = (sizes / sizes[0]) ** -power
        level = max(float((freedom * own / shape[several]).sum() / freedom.sum()), 1e-10)
        loss = float((freedom * np.log(level * shape[several])).sum())
        if loss < best - 1e-9:
            best, values = loss, level * shape
    return values


def _deviations(
    table: np.ndarray,
    mean: np.ndarray,
    count: np.ndarray,
    variance: np.ndarray,
    weights: np.ndarray,
    seed: int,
) -> np.ndarray:
    """Deviations of resampled means (R, S): those of the draws with normal weights, as wide as the
    smooth variance and, as that is itself estimated, with the tails of Student's t.
    """
    rounds = len(weights)
    residuals = np.where(np.isfinite(table), table - mean[:, None], 0.0)
    length = np.sqrt((residuals**2).sum(axis=1))
    is_alike = length < 1e-9  # equal scores, or one draw, do not say how draws differ
    filled = np.where(np.isfinite(table), 1.0, 0.0) / np.sqrt(count)[:, None]
    unit = np.where(is_alike[:, None], filled, residuals / np.maximum(length, 1e-9)[:, None])
    deviations = (weights * unit).sum(axis=2) * np.sqrt(variance / count)
    freedom = _freedom(count)
    scale: np.ndarray = np.sqrt(freedom / np.random.default_rng(seed).chisquare(freedom, rounds))
    wide: np.ndarray = deviations * scale[:, None]
    return wide


def _freedom(count: np.ndarray) -> int:
    """Degrees of freedom of the smooth variance; its exponent takes one."""
    return max(1, int((count - 1).sum()) - 1)


# ---------------------------------------------------------------- fit


def _fitted(
    sizes: np.ndarray,
    mean: np.ndarray,
    count: np.ndarray,
    variance: np.ndarray | None,
    means: np.ndarray | None,
    is_error: bool,
) -> tuple[PowerLaw | None, np.ndarray | None, Doubt, float]:
    """(law, laws of the resampled curves, why there is no law, misfit)."""
    if len(sizes) < LEAST_SIZES:
        return None, None, Doubt.FEW_SIZES, 0.0
    weights = count / (np.ones(len(sizes)) if variance is None else variance)
    errors = mean if is_error else 1.0 - mean
    fitted = fit(sizes, errors[None], weights)
    law = PowerLaw(*(float(value) for value in fitted[:, 0]))
    if law.a <= 0:
        return None, None, Doubt.FLAT, 0.0
    missed = errors - law.error(sizes)
    misfit = float(np.sqrt((missed**2).mean()))
    if variance is not None and misfit > NOTABLE:
        ratio = float((weights * missed**2).sum()) / (len(sizes) - 3)
        if ratio > _most_ratio(len(sizes) - 3, _freedom(count)):
            return None, None, Doubt.POOR_FIT, misfit
    laws = None
    if means is not None:
        laws = fit(sizes, means if is_error else 1.0 - means, weights)
    return law, laws, Doubt.NONE, misfit


def _most_ratio(first: int, second: int) -> float:
    """The ratio of mean squares that chance exceeds with probability POOR (the F distribution)."""
    rng = np.random.default_rng(0)
    ratios = rng.chisquare(first, 20_000) / first / (rng.chisquare(second, 20_000) / second)
    return float(np.quantile(ratios, 1 - POOR))


def fit(sizes: np.ndarray, errors: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """a, b, c (3, R) of the weighted least squares fits of a·n^(−b) + c, with a, c ≥ 0.

    sizes (S,), errors (R, S), weights (S,). For a given b the best a and c are those of a linear
    regression (variable projection, Golub and Pereyra 1973), so only b is searched, for all rows at
    once.
    """
    relative = sizes / sizes[0]
    exponents = np.geomspace(LEAST_EXPONENT, MOST_EXPONENT, 48)[None]  # (1, B)
    for _zoom in range(4):
        level, asymptote, loss = _linear(relative ** -exponents[:, :, None], errors, weights)
        best = loss.argmin(axis=1)  # (R,)
        rows = np.arange(len(errors))
        grid = np.broadcast_to(exponents, (len(errors), exponents.shape[1]))
        chosen = grid[rows, best]
        low = grid[rows, np.maximum(best - 1, 0)]
        high = grid[rows, np.minimum(best + 1, grid.shape[1] - 1)]
        level, asymptote = level[rows, best], asymptote[rows, best]
        exponents = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, 11)  # (R, 11)
    return np.stack([level * sizes[0] ** chosen, chosen, asymptote])


def _linear(
    terms: np.ndarray, errors: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Slope, intercept and loss (R, B) of regressions on terms (1 or R, B, S) of errors (R, S)."""
    share = weights / weights.sum()
    y = errors[:, None, :]  # (R, 1, S)
    x_mean, y_mean = (terms * share).sum(-1), (y * share).sum(-1)
    squares = (terms**2 * share).sum(-1)
    products = (terms * y * share).sum(-1)
    slope = (products - x_mean * y_mean) / np.maximum(squares - x_mean**2, 1e-12)
    intercept = y_mean - slope * x_mean
    slope = np.where(intercept < 0, products / squares, slope)
    intercept = np.maximum(intercept, 0.0)
    intercept = np.where(slope < 0, np.maximum(y_mean, 0.0), intercept)
    slope = np.maximum(slope, 0.0)
    missed = y - slope[..., None] * terms - intercept[..., None]
    return slope, intercept, (missed**2 * share).sum(-1)


# ---------------------------------------------------------------- values


def _slope(sizes: np.ndarray, means: np.ndarray) -> np.ndarray | None:
    """Score per doubling over the first numbers of labels, means (R, S) → (R,); None for one."""
    first = sizes[:FIRST_SIZES]
    if len(first) < 2:
        return None
    doublings = np.log2(first) - np.log2(first).mean()
    slope: np.ndarray = means[:, : len(first)] @ doublings / (doublings**2).sum()
    return slope


def _needed(laws: np.ndarray, error: float) -> np.ndarray:
    """Labels (R,) until the error of laws (3, R) is reached, infinite where it never is."""
    a, b, c = laws
    room = error - c
    with np.errstate(divide="ignore", over="ignore"):
        needed: np.ndarray = np.where(room > 0, (a / np.maximum(room, 1e-300)) ** (1 / b), np.inf)
    return needed


def _estimate(value: float, resampled: np.ndarray | None) -> Estimate:
    if resampled is None:
        return Estimate(float(value))
    low, high = resampling.bounds(resampled)
    return Estimate(float(value), float(low), float(high))


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def continued(sizes: Sequence[int], n: int) -> tuple[int, ...]:
    """Numbers of labels that go on by the ratio of the last two, up to n; n itself is added unless
    the one before is close to it.
    """
    values = [size for size in sizes if size <= n] or [n]
    ratio = values[-1] / values[-2] if len(values) > 1 else 2.0
    while ratio > 1 and round(values[-1] * ratio) <= n:
        values.append(round(values[-1] * ratio))
    if n >= 1.25 * values[-1]:
        values.append(n)
    return tuple(values)
