"""`errors`: the errors of a run, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.cli.output import as_json, emit, say, table
from workbench.cli.session import project_argument, reading
from workbench.tasks.spec import NONE
from workbench.text.mistakes import KINDS

if TYPE_CHECKING:
    from workbench.operations.evaluation.errors import ErrorItem

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

    with reading(file) as project:
        chosen = results.run_named(project, run)
        operations.check_split(chosen, split)
        every = operations.items(project, chosen, split)
        layer = results.layer_of(project, chosen)
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
        table(operations.columns(selected[:limit]), selected[:limit])


def _check_labels(labels: Sequence[str], names: Sequence[str], every: Sequence[ErrorItem]) -> None:
    """Raises WorkbenchError for a label that neither the layer nor an error has."""
    sides = {side for item in every for side in (item.mistake.gold, item.mistake.predicted)}
    for label in labels:
        if label not in {"", NONE, *names, *sides}:
            raise WorkbenchError(
                _("The layer has no label {label!r}.", label=label),
                hint=_("Labels: {labels}.", labels=", ".join(names)),
            )
