"""Which model suits a text? Candidates measured on a sample in a worker, then ranked."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.base import scratch
from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.jobs.spec import JobSpec
from workbench.pretraining.results import BOTH, CAUSAL, CHARACTER, NONE, PSEUDO, ModelFit
from workbench.text.columns import Column, ValueKind
from workbench.text.language import NAMES, matches

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue
    from workbench.models.spec import ModelInfo

TARGET = "workbench.pretraining.fit:run"
SAMPLE = 200  # texts
SECONDS = 6.0  # of the processor at most for scoring a model; loading and counting come on top
MOST_UNKNOWN = 0.05  # fraction of unknown words of a suitable model
MOST_TOKENS = 2.5  # tokens per word of a suitable model that reads words or subwords
KINDS = {
    PSEUDO: N_("pseudo"),
    CAUSAL: N_("causal"),
    BOTH: N_("both"),
    CHARACTER: N_("per character"),
    NONE: "",
}
BEST = {
    PSEUDO: N_("Recommended for spans and classes"),
    CAUSAL: N_("Best for prompts and next words"),
    BOTH: N_("Suits tags as frozen features"),
    CHARACTER: N_("Suits tags; robust to spelling errors"),
    NONE: N_("Baseline; not a language model"),
}
RULE = N_(
    "A model suits the text if the languages match, as far as they are known, under 5% of the "
    "words are unknown, and it needs at most 2.5 tokens per word. Among suitable models of one "
    "kind, the one with the lowest perplexity per character is recommended."
)


@dataclass(frozen=True)
class Ranked:
    """A measured model with its recommendation. best: of the suitable models of its kind."""

    fit: ModelFit
    suits: bool
    best: bool
    words: str

    def to_json(self) -> dict[str, object]:
        plain = {**self.fit.to_json(), "suits": self.suits, "best": self.best}
        return {**plain, "recommendation": self.words}


def columns() -> tuple[Column, ...]:
    """Of ranked models, as `Ranked`."""
    return (
        Column(_("Model"), lambda row: row.fit.name),
        Column(_("Family"), lambda row: row.fit.family),
        Column(
            _("Unknown"),
            lambda row: row.fit.unknown,
            kind=ValueKind.PERCENT,
            hint=_("Words outside the vocabulary; of subwords, words with an unknown letter"),
        ),
        Column(
            _("Tokens per word"),
            lambda row: row.fit.fertility,
            kind=ValueKind.NUMBER,
            digits=2,
            hint=_(
                "Subwords, words or characters, special tokens excluded. Words are words, numbers "
                "and symbols; below 1, the tokenizer joins some of them, as in “2.40” or “n't”"
            ),
        ),
        Column(
            _("Cut"),
            lambda row: row.fit.cut,
            kind=ValueKind.PERCENT,
            hint=_("Texts that exceed the maximum length of the model"),
        ),
        Column(_("Limit"), lambda row: row.fit.limit or None, kind=ValueKind.COUNT),
        Column(
            _("Perplexity"), lambda row: row.fit.perplexity or None, kind=ValueKind.NUMBER, digits=1
        ),
        Column(_("95% interval"), _interval),
        Column(_("Kind"), lambda row: _(KINDS[row.fit.kind]) if row.fit.kind else None),
        Column(_("Recommendation"), lambda row: row.words, hint=_(RULE)),
    )


def _interval(row: Ranked) -> str | None:
    return "–".join(map("{:,.1f}".format, row.fit.interval)) if row.fit.interval else None


def sample(texts: Iterable[str], count: int = SAMPLE, seed: int = 1) -> list[str]:
    """A seeded random sample of the texts with words, in their order. Raises SpecError."""
    nonempty = [text for text in texts if text.strip()]
    if not nonempty:
        raise SpecError(_("There are no texts to measure on."), hint=_("Import text first."))
    chosen = random.Random(seed).sample(range(len(nonempty)), min(count, len(nonempty)))
    return [nonempty[number] for number in sorted(chosen)]


def measure(
    queue: Queue,
    cards: Sequence[ModelInfo],
    texts: Sequence[str],
    *,
    seed: int = 1,
    seconds: float = SECONDS,
    weights: str = "fp32",
    everything: bool = False,
    watch: Watch = QUIET,
) -> tuple[ModelFit, ...]:
    """Measure usable models on texts in a worker, which yields the "fit" of each as JSON.

    seconds: of the processor per model, for its perplexity. weights: of causal models, fp32 or
    bf16. everything: score all texts if the time suffices, not only until the mean is exact enough
    to rank the models.

    Raises SpecError if none of the models is usable, Cancelled, or JobFailed.
    """
    usable = [card for card in cards if card.usable and not card.is_bare]
    if not usable:
        raise SpecError(_("None of the models can be used."))
    folder = scratch.make("recommend")
    try:
        texts_file = folder / "texts.json"
        texts_file.write_text(json.dumps(list(texts)), encoding="utf-8")
        models = [
            {"name": card.name, "path": card.path, "allow_pickle": card.pickled} for card in usable
        ]
        params = {"models": models, "texts": str(texts_file), "seconds": seconds, "seed": seed}
        params["weights"] = weights
        if everything:
            params["error"] = 0.0
        title = ngettext(
            "Measure {n} model on a sample", "Measure {n} models on a sample", len(models)
        )
        spec = JobSpec(TARGET, params, str(folder), title=title, stoppable=True)
        return tuple(map(ModelFit.from_json, queue.run(spec, watch)["fits"]))
    finally:
        scratch.remove(folder)


def ranked(fits: Iterable[ModelFit]) -> tuple[Ranked, ...]:
    """Models with recommendations: suitable ones first, by kind, then by perplexity."""
    measured = list(fits)
    suitable = [fit for fit in measured if not _objection(fit)]
    best = {
        kind: min((fit for fit in suitable if fit.kind == kind), key=_perplexity, default=None)
        for kind in KINDS
    }
    rows = [_ranked(fit, best[fit.kind]) for fit in measured]
    order = [*KINDS]
    return tuple(
        sorted(
            rows,
            key=lambda row: (not row.suits, order.index(row.fit.kind), _perplexity(row.fit)),
        )
    )


def _perplexity(fit: ModelFit) -> float:
    return fit.per_character or float("inf")


def _ranked(fit: ModelFit, best: ModelFit | None) -> Ranked:
    if objection := _objection(fit):
        return Ranked(fit, False, False, objection)
    if best is None or best is fit or not fit.kind:
        return Ranked(fit, True, best is fit and bool(fit.kind), _(BEST[fit.kind]))
    message = _("{times:.2f} times the perplexity of {name}")
    times = fit.perplexity / best.perplexity if best.perplexity else 1.0
    return Ranked(fit, True, False, message.format(times=times, name=best.name))


def _objection(fit: ModelFit) -> str:
    """Why a model does not suit the text, "" if it does."""
    if fit.problem:
        return fit.problem
    if not matches(fit.languages, fit.script, fit.language):
        return _other_language(fit)
    if fit.unknown >= MOST_UNKNOWN:
        return _("Not suitable: {share:.0%} of the words are unknown", share=fit.unknown)
    if fit.fertility > MOST_TOKENS and fit.kind != CHARACTER:
        return _("Not suitable: {n:.1f} tokens per word", n=fit.fertility)
    return ""


def _other_language(fit: ModelFit) -> str:
    models = ", ".join(_(NAMES[item]) if item in NAMES else item for item in fit.languages[:3])
    if fit.language:
        message = _("Not suitable: {language} text, model for {languages}")
        return message.format(language=_(NAMES[fit.language]), languages=models)
    message = _("Not suitable: {script} script, model for {languages}")
    return message.format(script=fit.script, languages=models)


def recommendation(rows: Sequence[Ranked], *, ended: bool = True) -> str:
    """The result in one sentence. ended: whether all models have been measured."""
    best = next((row for row in rows if row.best), None)
    if best is None:
        return _("None of the measured models suits this text.") if ended else ""
    if not ended:
        message = _(
            "Best so far: {name}, {unknown:.1%} unknown words, {tokens:.2f} tokens per word."
        )
    elif len(rows) == 1:
        message = _(
            "{name} suits this text: {unknown:.1%} unknown words, {tokens:.2f} tokens per word. No "
            "other model was measured."
        )
    else:
        message = _(
            "{name} suits this text best: {unknown:.1%} unknown words, {tokens:.2f} tokens per "
            "word."
        )
    return message.format(name=best.fit.name, unknown=best.fit.unknown, tokens=best.fit.fertility)
