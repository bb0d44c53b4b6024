"""Predictions from the log-probabilities of label words, optionally calibrated. numpy only.

A language model prefers some label words regardless of the text: frequent words, short words, the
labels of the last examples. Calibration estimates this preference (the prior) from the same prompt
without a text, and divides by it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.text.fields import ClassScores, Prediction

NONE, CONTENT_FREE, PMI = "none", "content-free", "pmi"
CALIBRATIONS = (NONE, CONTENT_FREE, PMI)
MASK = "[MASK]"
CONTENT_FREE_TEXTS = ("N/A", MASK, "")  # Zhao et al. 2021, section 5

LogProbs = Mapping[str, Sequence[float]]  # label → natural log-probability of each of its subwords


@dataclass(frozen=True, slots=True)
class LabelAnswer:
    """`score`: mean log-probability of the label's subwords.

    `prior`: its share without a text, None without calibration.
    `share`: its calibrated probability; the shares of all labels sum to 1.
    """

    label: str
    score: float
    prior: float | None
    share: float
    subwords: int


def label_score(logprobs: Sequence[float]) -> float:
    """Mean natural log-probability of the subwords of one label; -inf for none.

    The mean, not the sum: each further subword reduces the probability of a sequence, so a sum
    would prefer short names.
    """
    return float(np.mean(logprobs)) if len(logprobs) else float("-inf")


def sequence_score(logprobs: Sequence[float]) -> float:
    """Natural log-probability of all subwords of one label together; -inf for none."""
    return float(np.sum(logprobs)) if len(logprobs) else float("-inf")


def shares(scores: Sequence[float] | np.ndarray) -> np.ndarray:
    """Softmax of the scores, (L,) float64; equal shares where every score is -inf."""
    values = np.asarray(scores, dtype=np.float64)
    if not np.isfinite(values).any():
        return np.full(len(values), 1 / max(1, len(values)))
    spread = np.exp(values - values[np.isfinite(values)].max())
    probabilities: np.ndarray = spread / spread.sum()
    return probabilities


def answers(
    logprobs: LogProbs, method: str = NONE, without_text: Sequence[LogProbs] = ()
) -> list[LabelAnswer]:
    """The labels of one document, the most probable first.

    `without_text` are the log-probabilities for the same prompt and examples without the document's
    text: one for each content-free input, or one for PMI. Raises SpecError if a calibration lacks
    them.
    """
    scores = [label_score(values) for values in logprobs.values()]
    probabilities, prior = _calibrated(logprobs, method, without_text)
    rows = [
        LabelAnswer(
            label,
            score,
            None if prior is None else float(prior[n]),
            float(probabilities[n]),
            len(values),
        )
        for n, ((label, values), score) in enumerate(zip(logprobs.items(), scores, strict=True))
    ]
    return sorted(rows, key=lambda row: -row.share)


def prior_of(method: str, without_text: Sequence[LogProbs]) -> dict[str, float] | None:
    """The share of each label without a text, as `answers` uses it; None without calibration."""
    if method == NONE or not without_text:
        return None
    _found, prior = _calibrated(without_text[0], method, without_text)
    if prior is None:
        return None
    return {label: float(share) for label, share in zip(without_text[0], prior, strict=True)}


def prediction(
    logprobs: LogProbs,
    method: str = NONE,
    without_text: Sequence[LogProbs] = (),
    *,
    cut: bool = False,
) -> Prediction:
    """The prediction for one document; arguments as for `answers`."""
    probabilities, _prior = _calibrated(logprobs, method, without_text)
    return Prediction((ClassScores(tuple(logprobs), tuple(map(float, probabilities))),), cut)


def _calibrated(
    logprobs: LogProbs, method: str, without_text: Sequence[LogProbs]
) -> tuple[np.ndarray, np.ndarray | None]:
    """(shares, prior), both (L,) in the order of `logprobs`."""
    if method == NONE:
        return shares(_scores(logprobs, logprobs, label_score)), None
    if not without_text:
        raise SpecError(_("Calibration {method!r} needs the scores without a text.", method=method))
    if method == CONTENT_FREE:
        return _content_free(logprobs, without_text)
    return _pmi(logprobs, without_text[0])


def _content_free(
    logprobs: LogProbs, content_free: Sequence[LogProbs]
) -> tuple[np.ndarray, np.ndarray]:
    """Contextual calibration: q = W p + b with W = diag(p_cf)^-1 and b = 0, normalized to sum 1.

    p are the length-normalized label probabilities, normalized over the labels; p_cf is their mean
    over the content-free inputs. Source: Zhao, Wallace, Feng, Klein and Singh 2021, "Calibrate
    Before Use", section 5. The paper applies a softmax to W p; dividing by the sum ranks the labels
    in the same way and does not change p for a uniform p_cf.
    """
    priors = [shares(_scores(mapping, logprobs, label_score)) for mapping in content_free]
    prior = np.mean(priors, axis=0)
    return _divided(_scores(logprobs, logprobs, label_score), _log(prior)), prior


def _pmi(logprobs: LogProbs, premise: LogProbs) -> tuple[np.ndarray, np.ndarray]:
    """Domain-conditional PMI: log P(y | x, premise) - log P(y | premise); shares: its softmax.

    P is that of the whole label, the sum of its subwords' log-probabilities: the cost of a further
    subword is in both terms, so no length normalization is needed. The premise is the prompt, with
    its examples, without the text. Source: Holtzman, West, Shwartz, Choi and Zettlemoyer 2021,
    "Surface Form Competition", the scoring function PMI_DC.
    """
    prior = _scores(premise, logprobs, sequence_score)
    return _divided(_scores(logprobs, logprobs, sequence_score), prior), shares(prior)


def _scores(
    logprobs: LogProbs, labels: LogProbs, score: Callable[[Sequence[float]], float]
) -> np.ndarray:
    return np.asarray([score(logprobs[label]) for label in labels], dtype=np.float64)


def _divided(scores: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Softmax of scores - prior, both logarithms; 0 where a score is -inf."""
    difference = np.full(len(scores), -np.inf)
    possible = np.isfinite(scores) & np.isfinite(prior)
    difference[possible] = scores[possible] - prior[possible]
    return shares(difference)


def _log(values: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        logs: np.ndarray = np.log(values)
    return logs
