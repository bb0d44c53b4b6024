"""`statistics`: label balance, lengths, pairs of labels, speed, agreement of suggestions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.i18n import _, ngettext
from workbench.base.watch import Watch
from workbench.cli.documents.filters import matching, where_option
from workbench.cli.output import as_json, emit, plain, say, table
from workbench.cli.session import project_argument, reading
from workbench.text.columns import numbered

if TYPE_CHECKING:
    from workbench.operations.documents.statistics import LayerStatistics, Statistics
    from workbench.operations.documents.text_lengths import TextLengths

MOST_PAIRS = 10  # pairs of labels that are printed, the most frequent ones


@click.command()
@project_argument
@click.option("--layer", default="", metavar="NAME", help=_("Only this layer."))
@where_option
@click.option(
    "--tokenizer",
    default="",
    metavar="MODEL",
    help=_("Also count the tokens of this model: a name from `models list`, or a folder."),
)
@as_json
def statistics(file: Path, layer: str, where: str, tokenizer: str, as_json: bool) -> None:
    """Describe the documents of FILE and their labels in numbers.

    Labels are those of submitted documents. Ctrl+C cancels.
    """
    from workbench.operations.documents import corpus, text_lengths
    from workbench.operations.documents import statistics as operations
    from workbench.operations.schema import labels

    with reading(file) as project:
        layers = (labels.layer_named(project, layer),) if layer else labels.layers(project)
        matches = matching(project, where)
        ids = corpus.filter_ids(project, corpus.Filter()) if matches is None else matches
        watch = Watch()
        counted = operations.collect(project, ids, layers, watch=watch)
        lengths = text_lengths.measure(project, ids, tokenizer, watch=watch)
    if as_json:
        emit(
            {**counted.to_json(), "lengths": {"tokenizer": tokenizer or None, **lengths.to_json()}}
        )
    else:
        _show(counted, lengths, tokenizer)


def _show(counted: Statistics, lengths: TextLengths, tokenizer: str) -> None:
    n = counted.documents
    say(ngettext("{n:,} document", "{n:,} documents", n))
    for layer_statistics in counted.layers:
        _show_layer(layer_statistics)
    say()
    _show_lengths(lengths.to_json(), tokenizer)
    if counted.days:
        say()
        head = (_("Day"), _("Documents per hour"), _("Measured on"))
        table(
            numbered(head), [(day.date, round(day.per_hour), day.documents) for day in counted.days]
        )
    if counted.agreement:
        say()
        titles = (_("Suggestions"), _("Layer"), _("Agree"), _("Changed"), _("Wrong"), _("Share"))
        rows = [
            (
                agreement.title,
                agreement.layer.name,
                *agreement.counts.values(),
                agreement.share,
            )
            for agreement in counted.agreement
        ]
        table(numbered(titles), rows)


def _show_layer(layer_statistics: LayerStatistics) -> None:
    say()
    message = ngettext(
        "{layer}: {n:,} submitted document, {without:,} without a label",
        "{layer}: {n:,} submitted documents, {without:,} without a label",
        layer_statistics.submitted,
        layer=plain(layer_statistics.layer.name),
        without=layer_statistics.unlabelled,
    )
    say(message)
    lengths = {span.label.name: span for span in layer_statistics.spans}
    head: tuple[str, ...] = (_("Label"), _("Count"), _("Documents"))
    rows: list[tuple[Any, ...]] = [
        (row.name, row.count, row.documents) for row in layer_statistics.rows
    ]
    if lengths:
        head = (*head, _("Words, median"), _("5th to 95th percentile"))
        spans = (lengths.get(row.name) for row in layer_statistics.rows)
        ends = (
            (None, "") if span is None else (span.median, f"{span.low} – {span.high}")
            for span in spans
        )
        rows = [(*row, *more) for row, more in zip(rows, ends, strict=True)]
    if rows:
        table(numbered(head), rows)
    names = layer_statistics.layer.names
    pairs = [(n, a, b) for (a, b), n in layer_statistics.pairs.items() if a != b]
    if pairs:
        head = (_("In the same document"), "", _("Documents"))
        first = sorted(pairs, reverse=True)[:MOST_PAIRS]
        table(numbered(head), [(names[a], names[b], n) for n, a, b in first])


def _show_lengths(lengths: dict[str, Any], tokenizer: str) -> None:
    head = (_("Text length"), _("Median"), _("Mean"), _("95th percentile"), _("Longest"))
    rows = [
        (name, *lengths[key].values())
        for key, name in (("words", _("words")), ("units", tokenizer))
        if key in lengths
    ]
    table(numbered(head), rows)
    for limit, share in lengths.get("cut", {}).items():
        message = _("Longer than {limit} tokens: {share:.1%}", limit=limit, share=share)
        say(message)
