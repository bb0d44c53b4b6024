"""What a prompt run returns at its end. JSON in the files of a run and in the project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.base.costs import THOUSAND, PredictionCost
from workbench.base.i18n import _
from workbench.base.records import from_plain, to_plain
from workbench.metrics import evaluation
from workbench.metrics.evaluation import Evaluation


@dataclass(frozen=True)
class PromptResult:
    """The outcome of one prompt run: first the report of the worker, then what is added to it.

    n: answered documents. known: answers for which nothing was sent, as the project had them
    before; failed: requests whose answer was an error. prompt_tokens, reply_tokens: of all replies,
    as the model counts them; sent_…: without known ones. answer_seconds: time of waiting for
    answers, of known ones at their time. language_model: its kind, as the backend names it, "" if
    nothing was sent. dropped: examples that did not fit; cut: truncated texts, None if not known.
    prior: label → probability without a text, of the set of examples that most documents had, or
    the mean one of the run; None without calibration. prior_sets: number of sets. no_answer: number
    of documents by the reason why nothing can be read from the reply; unplaced: of quoted strings
    that are not in the text. orders: main score of each order of the examples that was scored, ()
    for one. evaluations: by split. predicting: what answers cost, None if it was
    not measured.
    """

    n: int = 0
    known: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    sent_prompt_tokens: int = 0
    sent_reply_tokens: int = 0
    answer_seconds: float = 0.0
    language_model: str = ""
    device: str | None = None
    seconds: float | None = None
    cpu_seconds: float | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    dropped: int = 0
    cut: int | None = None
    calibration: str = ""
    prior: Mapping[str, float] | None = None
    prior_sets: int = 0
    no_answer: Mapping[str, int] = field(default_factory=dict)
    unplaced: int = 0
    orders: tuple[float, ...] = ()
    evaluations: Mapping[str, Evaluation] = field(default_factory=dict)
    predicting: PredictionCost | None = None

    def to_json(self) -> dict[str, Any]:
        evaluations = evaluation.to_json(self.evaluations)
        return {**to_plain(replace(self, evaluations={})), "evaluations": evaluations}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> PromptResult:
        """Unknown and empty fields are skipped."""
        known = {name: value for name, value in raw.items() if value is not None}
        result = from_plain(cls, {**known, "evaluations": {}})
        return replace(result, evaluations=evaluation.from_json(raw))


@dataclass(frozen=True)
class PromptCost:
    """What answers cost for 1,000 documents, known ones at what they took at their time.

    seconds: of waiting for answers. prompt_tokens, reply_tokens: None if the model does not count
    them; price: None without prices.
    """

    seconds: float | None = None
    prompt_tokens: float | None = None
    reply_tokens: float | None = None
    price: float | None = None

    @property
    def text(self) -> str:
        """The price, else the seconds."""
        if self.price is not None:
            return f"{self.price:.3g}"
        return "–" if self.seconds is None else _("{n:,.0f} s", n=self.seconds)


def cost(results: Sequence[PromptResult], prices: Sequence[float] = ()) -> PromptCost:
    """The mean over runs. prices: of a million tokens sent and received, 0 or nothing for none."""
    thousands = sum(result.n for result in results) / THOUSAND
    seconds = sum(result.answer_seconds for result in results)
    sent = sum(result.prompt_tokens for result in results)
    received = sum(result.reply_tokens for result in results)
    if not thousands:
        return PromptCost()
    whole, is_counted = price(sent, received, prices), bool(sent or received)
    return PromptCost(
        seconds / thousands or None,
        sent / thousands if is_counted else None,
        received / thousands if is_counted else None,
        whole and whole / thousands,
    )


def price(sent: int, received: int, prices: Sequence[float]) -> float | None:
    """Of tokens; None if none were counted, or without prices."""
    if not (sent or received) or not any(prices):
        return None
    return (sent * prices[0] + received * prices[1]) / 1_000_000
