"""`perplexity`: evaluate language models on held-out text."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.base.i18n import _
from workbench.cli.output import as_json, emit, note_links_out, say, table
from workbench.cli.session import PROJECT, session
from workbench.text.columns import Column, Kind

if TYPE_CHECKING:
    from workbench.operations.models.lm_evaluation import LMScore


@click.command()
@click.argument("paths", nargs=-1, required=True, type=PROJECT, metavar="TEXTS...")
@click.option(
    "--model",
    "names",
    multiple=True,
    required=True,
    help=_("A name from `models list`, or a folder that was pretrained; several to compare."),
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=1),
    default=600.0,
    show_default=True,
    help=_(
        "Processor time per model; texts are scored in random order until all are scored or this "
        "limit is reached."
    ),
)
@click.option("--seed", type=int, default=1, show_default=True, help=_("Random seed."))
@click.option(
    "--precision",
    type=click.Choice(["fp32", "bf16"]),
    default="fp32",
    show_default=True,
    help=_(
        "Weights of causal models; bf16 takes half the memory, is less exact, and "
        "needs a CPU with bf16 instructions."
    ),
)
@as_json
def perplexity(
    paths: tuple[Path, ...],
    names: tuple[str, ...],
    seconds: float,
    seed: int,
    precision: str,
    as_json: bool,
) -> None:
    """Evaluate language models on held-out text: perplexity per token and per word.

    TEXTS are text files, folders with such files, or projects. Texts are read in pieces of 120
    words. Masked models: pseudo-perplexity, one token masked at a time. Only perplexities of one
    kind can be compared, those per word also between tokenizers.
    """
    from workbench.operations.models import installed, lm_evaluation, recommend

    cards = [installed.find(name) for name in names]
    note_links_out(paths)
    texts = lm_evaluation.pieces(paths)
    what = _("The measurement")
    with (
        session(None) as opened,
        opened.progress(_("Measuring"), what=what, quiet=as_json) as watch,
    ):
        fits = recommend.measure(
            opened.queue, cards, texts,
            seed=seed, seconds=seconds, weights=precision, everything=True, watch=watch,
        )  # fmt: skip
    scores = lm_evaluation.scored(fits, texts)
    if as_json:
        return emit({"texts": len(texts), "models": [score.to_json() for score in scores]})
    titles = zip(
        lm_evaluation.PER, (_("Per token"), _("Per word"), _("Per character")), strict=True
    )
    columns = (
        Column(_("Model"), lambda score: score.model),
        Column(_("Kind"), lambda score: recommend.KINDS.get(score.kind, "") or score.problem),
        Column(_("Tokens"), lambda score: score.tokens, kind=Kind.COUNT),
        *(Column(title, display=partial(_measured, name)) for name, title in titles),
    )
    table(columns, scores)
    if any("(" in _measured(name, score) for name in lm_evaluation.PER for score in scores):
        say(_("In parentheses: 95% intervals by a bootstrap over the pieces of text."))


def _measured(name: str, score: LMScore) -> str:
    line = score.to_json()
    low, high = line[f"{name}_low"], line[f"{name}_high"]
    if low is None or high is None:
        return _number(line[name])
    return f"{_number(line[name])} ({_number(low)}–{_number(high)})"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:,.2f}"
