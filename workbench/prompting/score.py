"""Predictions from the log-probabilities of label words, optionally calibrated. numpy only.

A language model prefers some label words regardless of the text: frequent words, short words, the
labels of the last examples. Calibration estimates this preference (the prior), from the same prompt
without a text or from all documents of a run, and divides by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.text.fields import ClassScores, Prediction

NONE, CONTENT_FREE, PMI, BATCH = CALIBRATIONS = ("none", "content-free", "pmi", "batch")
MASK = "[MASK]"
CONTENT_FREE_TEXTS = ("N/A", MASK, "")  # Zhao et al. 2021, section 5

LogProbs = Mapping[str, Sequence[float]]  # word → natural log-probability of each of its subwords
Words = Mapping[str, str]  # word → the label that it stands for, which may have several
WORDS: Words = {}  # each word is a label


@dataclass(frozen=True, slots=True)
class LabelAnswer:
    """`score`: mean log-probability of the label's subwords, of all of its words together.

    `prior`: its share without a text, or the mean one of the run, None without calibration.
    `share`: its calibrated probability, `raw` without calibration; both sum to 1 over all labels.
    """

    label: str
    score: float
    prior: float | None
    share: float
    subwords: int
    raw: float = 0.0


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
    logprobs: LogProbs,
    method: str = NONE,
    without_text: Sequence[LogProbs] = (),
    *,
    words: Words = WORDS,
    batch: Mapping[str, float] | None = None,
) -> list[LabelAnswer]:
    """The labels of one document, the most probable first.

    `without_text` are the log-probabilities for the same prompt and examples without the document's
    text: one for each content-free input, or one for PMI. words: of labels that are not their own
    word. batch: of `batch_prior`; without it, batch calibration leaves the shares as they are.
    Raises SpecError if a calibration lacks its scores without a text.
    """
    labels = _labels(logprobs, words)
    scores = _scores(logprobs, labels, label_score, words)
    probabilities, prior = _calibrated(logprobs, method, without_text, words, batch)
    raw = shares(scores)
    rows = [
        LabelAnswer(
            label,
            float(scores[n]),
            None if prior is None else float(prior[n]),
            float(probabilities[n]),
            _subwords(logprobs, label, words),
            float(raw[n]),
        )
        for n, label in enumerate(labels)
    ]
    return sorted(rows, key=lambda row: -row.share)


def _subwords(logprobs: LogProbs, label: str, words: Words) -> int:
    """Subwords of the most probable word of a label."""
    own = [values for word, values in logprobs.items() if words.get(word, word) == label]
    return len(max(own, key=label_score))


def prior_of(
    method: str, without_text: Sequence[LogProbs], words: Words = WORDS
) -> dict[str, float] | None:
    """The share of each label without a text, as `answers` uses it; None without calibration."""
    if method in (NONE, BATCH) or not without_text:
        return None
    _shares, prior = _calibrated(without_text[0], method, without_text, words, None)
    if prior is None:
        return None
    labels = _labels(without_text[0], words)
    return {label: float(share) for label, share in zip(labels, prior, strict=True)}


def batch_prior(
    documents: Iterable[LogProbs], words: Words = WORDS
) -> dict[tuple[str, ...], dict[str, float]]:
    """The mean share of each label over documents, for batch calibration, by their labels.

    Documents have the same labels unless they have choices. Source: Zhou, Wan, Proleev, Mincu,
    Chen, Heller and Roy 2024, "Batch Calibration", arXiv:2309.17249, equation 3.
    """
    rows: dict[tuple[str, ...], list[np.ndarray]] = {}
    for logprobs in documents:
        labels = _labels(logprobs, words)
        rows.setdefault(labels, []).append(shares(_scores(logprobs, labels, label_score, words)))
    return {
        labels: dict(zip(labels, map(float, np.mean(every, axis=0)), strict=True))
        for labels, every in rows.items()
    }


def prediction(
    logprobs: LogProbs,
    method: str = NONE,
    without_text: Sequence[LogProbs] = (),
    *,
    cut: bool = False,
    words: Words = WORDS,
    batch: Mapping[str, float] | None = None,
) -> Prediction:
    """The prediction for one document; arguments as for `answers`."""
    probabilities, _prior = _calibrated(logprobs, method, without_text, words, batch)
    scores = ClassScores(_labels(logprobs, words), tuple(map(float, probabilities)))
    return Prediction((scores,), cut)


def _calibrated(
    logprobs: LogProbs,
    method: str,
    without_text: Sequence[LogProbs],
    words: Words,
    batch: Mapping[str, float] | None,
) -> tuple[np.ndarray, np.ndarray | None]:
    """(shares, prior), both (L,) in the order of `_labels`."""
    labels = _labels(logprobs, words)
    scores = _scores(logprobs, labels, label_score, words)
    if method == NONE or (method == BATCH and batch is None):
        return shares(scores), None
    if method == BATCH and batch is not None:
        prior = np.asarray([batch[label] for label in labels], dtype=np.float64)
        return _divided(scores, _log(prior)), prior
    if not without_text:
        raise SpecError(_("Calibration {method!r} needs the scores without a text.", method=method))
    if method == CONTENT_FREE:
        return _content_free(scores, labels, without_text, words)
    whole = _scores(logprobs, labels, sequence_score, words)
    return _pmi(whole, labels, without_text[0], words)


def _content_free(
    scores: np.ndarray, labels: Sequence[str], content_free: Sequence[LogProbs], words: Words
) -> tuple[np.ndarray, np.ndarray]:
    """Contextual calibration: q = W p + b with W = diag(p_cf)^-1 and b = 0, normalized to sum 1.

    p are the length-normalized label probabilities, normalized over the labels; p_cf is their mean
    over the content-free inputs. Source: Zhao, Wallace, Feng, Klein and Singh 2021, "Calibrate
    Before Use", section 5. The paper applies a softmax to W p; dividing by the sum ranks the labels
    in the same way and does not change p for a uniform p_cf.
    """
    priors = [shares(_scores(mapping, labels, label_score, words)) for mapping in content_free]
    prior = np.mean(priors, axis=0)
    return _divided(scores, _log(prior)), prior


def _pmi(
    scores: np.ndarray, labels: Sequence[str], premise: LogProbs, words: Words
) -> tuple[np.ndarray, np.ndarray]:
    """Domain-conditional PMI: log P(y | x, premise) - log P(y | premise); shares: its softmax.

    P is that of the whole label, the sum of its subwords' log-probabilities: the cost of a further
    subword is in both terms, so no length normalization is needed. The premise is the prompt, with
    its examples, without the text. Source: Holtzman, West, Shwartz, Choi and Zettlemoyer 2021,
    "Surface Form Competition", the scoring function PMI_DC.
    """
    prior = _scores(premise, labels, sequence_score, words)
    return _divided(scores, prior), shares(prior)


def _labels(logprobs: LogProbs, words: Words) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words.get(word, word) for word in logprobs))


def _scores(
    logprobs: LogProbs,
    labels: Sequence[str],
    score: Callable[[Sequence[float]], float],
    words: Words,
) -> np.ndarray:
    """(L,): a label is as probable as all of its words together."""
    of_words: dict[str, list[float]] = {label: [] for label in labels}
    for word, values in logprobs.items():
        of_words[words.get(word, word)].append(score(values))
    return np.asarray(list(map(_log_sum, of_words.values())), dtype=np.float64)


def _log_sum(values: Sequence[float]) -> float:
    """log of the sum of exp; -inf for none."""
    most = max(values, default=float("-inf"))
    if len(values) == 1 or not np.isfinite(most):
        return most
    return most + float(np.log(np.sum(np.exp(np.asarray(values) - most))))


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
