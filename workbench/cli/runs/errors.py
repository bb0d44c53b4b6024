"""`errors` and `label-errors`: wrong predictions of a run, gold labels that may be wrong."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.cli.choices import explicit_options
from workbench.cli.output import as_json, emit, note, say, table
from workbench.cli.session import layer_option, project_argument, reading, session
from workbench.tasks import spec as tasks
from workbench.tasks.spec import NONE
from workbench.text.columns import Column
from workbench.text.mistakes import KINDS

if TYPE_CHECKING:
    from workbench.operations.evaluation.label_errors import Suspect, SuspectRanking
    from workbench.operations.evaluation.reviews import ReviewItem
    from workbench.text.result_view import ResultView


SORTS = ("confidence", "loss", "distance", "kind", "document")


@click.command()
@project_argument
@click.argument("run", metavar="RUN")
@click.option("--split", type=click.Choice(("dev", "test")), default="dev", show_default=True)
@click.option(
    "--sort",
    type=click.Choice(SORTS),
    default="confidence",
    show_default=True,
    help=_(
        "confidence: of the model in the wrong prediction; loss: −ln of the probability of gold, "
        "summed over the wrong words; distance: from gold, for tasks that measure it."
    ),
)
@click.option("--kind", type=click.Choice(KINDS), help=_("Only errors of one kind."))
@click.option("--gold", default="", metavar="LABEL", help=_("Only errors with this gold label."))
@click.option("--predicted", default="", metavar="LABEL", help=_("Only with this prediction."))
@click.option(
    "--label", default="", metavar="LABEL", help=_("Only errors with this label on either side.")
)
@click.option("--match", default="", metavar="TEXT", help=_("Only documents with this text."))
@click.option("--limit", type=click.IntRange(min=1), help=_("Number of errors. [default: all]"))
@as_json
def errors(
    file: Path,
    run: str,
    split: str,
    sort: str,
    kind: str | None,
    gold: str,
    predicted: str,
    label: str,
    match: str,
    limit: int | None,
    as_json: bool,
) -> None:
    """List the wrong decisions of a RUN against the current gold labels, from stored predictions.

    Errors on test are listed once its score was viewed. --gold and --predicted take "–" for no
    label.
    """
    from workbench.operations.evaluation import errors as operations
    from workbench.operations.runs import results
    from workbench.tasks import spec as tasks

    with reading(file) as project:
        chosen = results.run_named(project, run)
        operations.check_split(chosen, split)
        every = operations.items(project, chosen, split)
        layer = results.layer_of(project, chosen)
        view = tasks.view_of(results.task_of(chosen))
    if layer.traits.has_labels:
        _check_labels((gold, predicted, label), layer.names, every)
    filters = operations.ErrorFilters(
        sort=sort, kind=kind or "", gold=gold, predicted=predicted, label=label, match=match
    )
    selected = operations.arranged(every, filters)
    counts = operations.counts(every)
    if as_json:
        emit(
            {
                "run": chosen.name,
                "split": split,
                "total": len(every),
                "kinds": {name: counts[name] for name in KINDS if counts[name]},
                "errors": [item.to_json() for item in selected[:limit]],
            }
        )
        return
    message = ngettext(
        "{run}: {n:,} of {total:,} error on {split}",
        "{run}: {n:,} of {total:,} errors on {split}",
        len(every),
        run=chosen.name,
        n=len(selected),
        total=len(every),
        split=split,
    )
    say(message)
    if selected:
        table(operations.columns(selected[:limit], view), selected[:limit])


def _check_labels(labels: Sequence[str], names: Sequence[str], every: Sequence[ReviewItem]) -> None:
    """Raises WorkbenchError for a label that neither the layer nor an error has."""
    sides = {side for item in every for side in (item.mistake.gold, item.mistake.predicted)}
    for label in labels:
        if label not in {"", NONE, *names, *sides}:
            raise WorkbenchError(
                _("The layer has no label {label!r}.", label=label),
                hint=_("Labels: {labels}.", labels=", ".join(names)),
            )


@click.command("label-errors")
@project_argument
@layer_option
@click.option(
    "--folds", type=click.IntRange(2, 20), default=5, show_default=True, help=_("Number of folds.")
)
@click.option(
    "--model",
    default="",
    metavar="NAME",
    help=_(
        "baseline:ID, or a run whose settings are used for every fold. Default: a fast baseline."
    ),
)
@click.option(
    "--kept",
    "stored",
    is_flag=True,
    help=_("Rank by the out-of-fold predictions that are stored for the layer."),
)
@click.option("--limit", type=click.IntRange(min=1), help=_("Number of labels. [default: all]"))
@as_json
def label_errors(
    file: Path,
    layer_name: str,
    folds: int,
    model: str,
    stored: bool,
    limit: int | None,
    as_json: bool,
) -> None:
    """Rank gold labels of train and dev by confident learning on out-of-fold predictions.

    The documents are divided into parts; each part is predicted by a model that was trained on the
    others. Documents of test are left out.
    """
    if stored and (options := explicit_options("folds", "model")):
        raise click.UsageError(
            _(
                "{options} cannot be used with --kept, which computes nothing.",
                options=", ".join(options),
            )
        )
    from workbench.operations.evaluation import folds as measuring
    from workbench.operations.evaluation import label_errors as operations

    with session(file, read_only=stored) as opened:
        project = opened.project
        layer = measuring.layer_named(project, layer_name)
        if not stored:
            with opened.progress(_("Computing out-of-fold predictions")) as watch:
                measuring.measure(
                    project, opened.queue, layer.name, model=model, folds=folds, watch=watch
                )
        ranking = operations.ranking(project, layer)
    if ranking is None:
        raise WorkbenchError(
            _("Layer {layer!r} has no out-of-fold predictions yet.", layer=layer.name),
            hint=_("Run the command without --kept."),
        )
    suspects = ranking.suspects[:limit]
    if as_json:
        emit(_report(layer.name, ranking, suspects))
    else:
        _show(layer.name, ranking, suspects)


def _report(layer: str, ranking: SuspectRanking, suspects: Sequence[Suspect]) -> dict[str, object]:
    return {
        "layer": layer,
        "task": ranking.measured.task,
        "model": ranking.measured.model,
        "folds": ranking.measured.folds,
        "at": ranking.measured.at,
        "documents": ranking.documents,
        "units": ranking.units,
        "share": ranking.share,
        "interval": [ranking.low, ranking.high],
        "changed": ranking.changed,
        "agreement": ranking.agreement,
        "correlation": ranking.correlation,
        "chance": ranking.chance,
        "suspects": [suspect.to_json() for suspect in suspects],
    }


def _show(layer: str, ranking: SuspectRanking, suspects: Sequence[Suspect]) -> None:
    for line in _summary(layer, ranking):
        say(line)
    if ranking.weak and ranking.agreement is not None:
        message = _(
            "Only {share:.1%} of the labels equal their out-of-fold predictions, close to "
            "chance: the ranking is unreliable. Choose another --model.",
            share=ranking.agreement,
        )
        note(_("Warning: {warning}", warning=message))
    view = tasks.view_of(ranking.measured.task)
    value = _("Error") if view.by_size else _("Confidence")
    side = partial(_side, view)
    columns = (
        Column(_("Key"), lambda suspect: suspect.key),
        Column(_("Text"), lambda suspect: view.about(suspect.mistake, suspect.quote)[:50]),
        Column(_("Gold"), lambda suspect: side(suspect, gold=True)),
        Column(_("Model says"), lambda suspect: side(suspect, gold=False)),
        Column(value, attrgetter("mistake.loss" if view.by_size else "mistake.confidence")),
        Column(_("Margin"), lambda suspect: suspect.margin),
    )
    if suspects:
        table(columns, suspects)


def _summary(layer: str, ranking: SuspectRanking) -> list[str]:
    message = ngettext(
        "{layer}, {folds}-fold cross-validation with {model}: {n:,} of {units:,} label is worth a "
        "look",
        "{layer}, {folds}-fold cross-validation with {model}: {n:,} of {units:,} labels are worth "
        "a look",
        len(ranking.suspects),
    )
    about = {"folds": ranking.measured.folds, "model": ranking.measured.model}
    lines = [message.format(layer=layer, n=len(ranking.suspects), units=ranking.units, **about)]
    if ranking.share is not None and ranking.low is not None and ranking.high is not None:
        message = _(
            "Expected share of wrong labels: {share:.1%} ({low:.1%} – {high:.1%}). It assumes that "
            "the model is right where it is confident: its own errors count as wrong labels."
        )
        lines.append(message.format(share=ranking.share, low=ranking.low, high=ranking.high))
    elif ranking.agreement is not None and not ranking.weak:
        message = _(
            "{share:.1%} of the labels equal their out-of-fold predictions: too few to estimate "
            "the share of wrong labels, as most disagreement may be errors of the model."
        )
        lines.append(message.format(share=ranking.agreement))
    return lines


def _side(view: ResultView, suspect: Suspect, *, gold: bool) -> str | None:
    """Gold or prediction."""
    return view.side(suspect.mistake, suspect.text, gold=gold) or None
