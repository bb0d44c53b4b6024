"""`pretrain` and `perplexity`: train language models on text, and evaluate them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.errors import Cancelled
from workbench.base.i18n import _
from workbench.base.options import Option
from workbench.cli.output import as_json, emit, note, note_links_out, say, table
from workbench.cli.runs.follow import follow, show_rows
from workbench.cli.runs.train import list_options
from workbench.cli.session import (
    PROJECT,
    failed,
    key_values,
    seconds_in_words,
    session,
    writing_if_free,
)
from workbench.pretraining.spec import GENERAL, PretrainSpec, objective, objectives
from workbench.text.columns import Column, ValueKind, numbered

if TYPE_CHECKING:
    from workbench.operations.models.lm_evaluation import LMScore


@click.command()
@click.argument("paths", nargs=-1, type=PROJECT, metavar="TEXTS… OUTDIR")
@click.option("--objective", "goal", help=_("Pretraining objective; --options lists them."))
@click.option(
    "--model", help=_("Model to train: a name from `models list`, a folder, or new:ARCHITECTURE.")
)
@click.option(
    "--held-out",
    "held_out",
    type=PROJECT,
    multiple=True,
    help=_("Text to evaluate on. [default: one document in 100 of TEXTS]"),
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    callback=key_values,
    metavar="KEY=VALUE",
    help=_("Change a setting; --options lists them."),
)
@click.option("--seed", type=int, default=1, show_default=True, help=_("Random seed."))
@click.option(
    "--show-batch",
    is_flag=True,
    help=_("Show the first batch of the run (inputs and targets) without training. No OUTDIR."),
)
@click.option(
    "--options", "list_them", is_flag=True, help=_("List objectives and settings, then exit.")
)
@as_json
def pretrain(
    paths: tuple[Path, ...],
    goal: str | None,
    model: str | None,
    held_out: tuple[Path, ...],
    settings: dict[str, str],
    seed: int,
    show_batch: bool,
    list_them: bool,
    as_json: bool,
) -> None:
    """Train a language model on plain text and save it as the new folder OUTDIR.

    TEXTS are text files (also .gz, .bz2, .xz), folders with such files, or projects. One line is a
    paragraph, a blank line ends a document. new:ARCHITECTURE creates a model of the sizes in its
    settings, with the vocabulary of TEXTS. The model is saved at every evaluation. If one of TEXTS
    is a project, the run is in its list of runs. Ctrl+C once stops and saves the model as it is,
    twice cancels.
    """
    if list_them:
        return _list(goal, model, as_json)
    texts = paths if show_batch else paths[:-1]
    _check(texts, goal, model, show_batch)
    note_links_out((*texts, *held_out))
    spec = _spec(str(goal), str(model), texts, held_out, seed, settings)
    if show_batch:
        result = _first_batch(spec, paths[-1])
        return emit(result) if as_json else show_rows(result["rows"])
    result = _run(spec, paths[-1])
    emit(result) if as_json else _show(result)


def _check(texts: Sequence[Path], goal: str | None, model: str | None, show_batch: bool) -> None:
    """Raises UsageError if an argument or a required option is missing."""
    if not texts:
        raise click.UsageError(
            _("TEXTS are required.") if show_batch else _("TEXTS and OUTDIR are required.")
        )
    for value, what in ((goal, "--objective"), (model, "--model")):
        if value is None:
            raise click.UsageError(_("Missing {what}.", what=what))


def _spec(
    goal: str,
    model: str,
    texts: Sequence[Path],
    held_out: Sequence[Path],
    seed: int,
    settings: dict[str, str],
) -> PretrainSpec:
    """Raises SpecError or ModelError if the objective cannot train the model."""
    from workbench.models.spec import new_model
    from workbench.operations.models import installed

    created = new_model(model)
    card = created.card() if created is not None else installed.find(model)
    info = objective(goal)
    info.check(card)
    train_paths, dev_paths = tuple(map(str, texts)), tuple(map(str, held_out))
    return PretrainSpec(info.id, card.path, train_paths, dev_paths, seed, settings, card.pickled)


def _first_batch(spec: PretrainSpec, folder: Path) -> dict[str, Any]:
    """Raises Cancelled, or WorkbenchError if the job failed."""
    from workbench.operations.models.pretrain import PretrainingJob

    with (
        closing(PretrainingJob(spec, folder)) as work,
        session(None) as opened,
        opened.progress(work.batch_title) as watch,
    ):
        return work.first_batches(opened.queue, watch=watch)


def _run(spec: PretrainSpec, folder: Path) -> dict[str, Any]:
    """The result of the job as JSON. Raises Cancelled, or WorkbenchError if the job failed."""
    from workbench.operations.models.pretrain import PretrainingJob, project_of

    work = PretrainingJob(spec, folder)
    file = project_of(spec)
    try:
        with session(file) if file is None else writing_if_free(file) as opened:
            project = None if file is None else opened.project
            if project is not None and project.read_only:
                note(_("The run is not added to the project, as another program writes to it."))
            job = work.start(opened.queue, project)
            stopping = _("Stopping. The model is saved as it is. Press Ctrl+C again to cancel.")
            follow(opened, job, job.spec.title, stopping)
            if job.status == "cancelled":
                raise Cancelled(_("Pretraining was cancelled."))
            if job.status not in ("done", "stopped"):
                raise failed(job, _("Pretraining"))
            return work.result(job).to_json()
    finally:
        work.close()


def _show(result: dict[str, Any]) -> None:
    say(
        _(
            "{model}: trained on {device} in {time} (steps: {steps}, words: {words:,}); "
            "saved as {path}.",
            **result,
            time=seconds_in_words(result["seconds"]),
        )
    )
    if not result["curve"] and not result["stopped"]:
        note(
            _(
                "Not evaluated: one document in 100 is held out, and TEXTS have fewer. Give "
                "--held-out, or separate the documents of TEXTS by blank lines."
            )
        )
    names = [name for name in result["curve"][-1] if name != "losses"] if result["curve"] else []
    rows = [[_curve_cell(entry.get(name)) for name in names] for entry in result["curve"]]
    table(numbered(name.replace("_", " ") for name in names), rows)


def _curve_cell(value: Any) -> str:
    return f"{value:,.2f}" if isinstance(value, float) else str(value)


def _list(goal: str | None, model: str | None, as_json: bool) -> None:
    """All settings; with a goal, those of that objective, with a model, those of that one."""
    from workbench.models.spec import new_model, new_models

    chosen = [objective(goal)] if goal else list(objectives())
    named = new_model(model) if model else None
    created = [named] if named else [] if model else list(new_models())
    by_option = {option: [info.id for info in chosen] for option in GENERAL}
    for info in chosen:
        for option in info.options:
            by_option.setdefault(option, []).append(info.id)
    of_models: dict[Option, list[str]] = {}
    for new in created:
        for option in new.creation.options:
            of_models.setdefault(option, []).append(new.name)
    if as_json:
        list_options({**by_option, **of_models}, set(), as_json)
        return
    for info in chosen:
        say(f"{info.id}: {_(info.definition)}")
    say()
    list_options(by_option, {info.id for info in chosen}, as_json)
    if of_models:
        say()
        say(_("Settings of new models:"))
        list_options(of_models, {new.name for new in created}, as_json)


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
        Column(_("Tokens"), lambda score: score.tokens, kind=ValueKind.COUNT),
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
