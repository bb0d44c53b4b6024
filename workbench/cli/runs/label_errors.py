"""`label-errors`: gold labels that are probably wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.cli.choices import explicit_options
from workbench.cli.output import as_json, emit, note, plain, say, table
from workbench.cli.session import layer_option, project_argument, session
from workbench.tasks import spec as tasks

if TYPE_CHECKING:
    from workbench.operations.evaluation.label_errors import Ranking, Suspect


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
    kept: bool,
    limit: int | None,
    as_json: bool,
) -> None:
    """Rank gold labels of train and dev by confident learning on out-of-fold predictions.

    The documents are divided into parts; each part is predicted by a model that was trained on the
    others. Documents of test are left out.
    """
    if kept and (given := explicit_options("folds", "model")):
        raise click.UsageError(
            _("{options} cannot be used with --kept, which computes nothing.").format(
                options=", ".join(given)
            )
        )
    from workbench.operations.evaluation import folds as measuring
    from workbench.operations.evaluation import label_errors as operations

    with session(file, read_only=kept) as opened:
        project = opened.project
        layer = measuring.layer_named(project, layer_name)
        if not kept:
            with opened.progress(_("Computing out-of-fold predictions")) as watch:
                measuring.measure(
                    project, opened.queue, layer.name, model=model, folds=folds, watch=watch
                )
        found = operations.ranking(project, layer)
    if found is None:
        raise WorkbenchError(
            _("Layer {layer!r} has no out-of-fold predictions yet.").format(layer=layer.name),
            hint=_("Run the command without --kept."),
        )
    suspects = found.suspects[:limit]
    if as_json:
        emit(_report(layer.name, found, suspects))
    else:
        _show(layer.name, found, suspects)


def _report(layer: str, found: Ranking, suspects: Sequence[Suspect]) -> dict[str, object]:
    return {
        "layer": layer,
        "task": found.measured.task,
        "model": found.measured.model,
        "folds": found.measured.folds,
        "at": found.measured.at,
        "documents": found.documents,
        "units": found.units,
        "share": found.share,
        "interval": [found.low, found.high],
        "changed": found.changed,
        "agreement": found.agreement,
        "correlation": found.correlation,
        "chance": found.chance,
        "suspects": [suspect.to_json() for suspect in suspects],
    }


def _show(layer: str, found: Ranking, suspects: Sequence[Suspect]) -> None:
    for line in _summary(layer, found):
        say(line)
    if found.weak and found.agreement is not None:
        message = _(
            "Only {share:.1%} of the labels equal their out-of-fold predictions, close to "
            "chance: the ranking is unreliable. Choose another --model."
        )
        note(_("Warning: {warning}").format(warning=message.format(share=found.agreement)))
    of_numbers = found.agreement is None
    value = _("Error") if of_numbers else _("Confidence")
    head = (_("Key"), _("Text"), _("Gold"), _("Model says"), value, _("Margin"))
    rows = [
        (
            suspect.key,
            plain(_text(found, suspect)[:50]),
            *_sides(found, suspect),
            suspect.mistake.loss if of_numbers else suspect.mistake.confidence,
            suspect.margin,
        )
        for suspect in suspects
    ]
    if rows:
        table(head, rows)


def _summary(layer: str, found: Ranking) -> list[str]:
    message = ngettext(
        "{layer}, {folds}-fold cross-validation with {model}: {n:,} of {units:,} label is worth a "
        "look",
        "{layer}, {folds}-fold cross-validation with {model}: {n:,} of {units:,} labels are worth "
        "a look",
        len(found.suspects),
    )
    about = {"folds": found.measured.folds, "model": found.measured.model}
    lines = [message.format(layer=layer, n=len(found.suspects), units=found.units, **about)]
    if found.share is not None and found.low is not None and found.high is not None:
        message = _(
            "Expected share of wrong labels: {share:.1%} ({low:.1%} – {high:.1%}). It assumes that "
            "the model is right where it is confident: its own errors count as wrong labels."
        )
        lines.append(message.format(share=found.share, low=found.low, high=found.high))
    elif found.agreement is not None and not found.weak:
        message = _(
            "{share:.1%} of the labels equal their out-of-fold predictions: too few to estimate "
            "the share of wrong labels, as most disagreement may be errors of the model."
        )
        lines.append(message.format(share=found.agreement))
    return lines


def _text(found: Ranking, suspect: Suspect) -> str:
    """The place, or the question that is the label of an answer."""
    asks = tasks.info(found.measured.task).asks
    return suspect.mistake.gold or suspect.mistake.predicted if asks else suspect.quote


def _sides(found: Ranking, suspect: Suspect) -> tuple[str, str]:
    """Gold and prediction; those of an answer, whose label is its question, are in the text."""
    mistake = suspect.mistake
    gold, predicted = mistake.gold, mistake.predicted
    if tasks.info(found.measured.task).asks:
        gold, predicted = suspect.words(mistake.at), suspect.words(mistake.predicted_at)
    return plain(gold) or "–", plain(predicted) or "–"
