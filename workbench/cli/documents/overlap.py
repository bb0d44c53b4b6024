"""`overlap`: documents that share n-grams with text files."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.base.i18n import _
from workbench.base.records import to_plain
from workbench.base.watch import Watch
from workbench.cli.output import ProgressLine, as_json, emit, note_links_out, say, table
from workbench.cli.session import project_argument, reading

MOST_SHOWN = 20  # documents that are printed
ALL = "all"


@click.command()
@project_argument
@click.argument("texts", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="TEXTS…")
@click.option(
    "--split",
    type=click.Choice(("train", "dev", "test", ALL)),
    default="test",
    show_default=True,
    help=_("Documents that are compared."),
)
@click.option(
    "--ngram",
    type=click.IntRange(2, 100),
    default=13,
    show_default=True,
    help=_("Number of words per n-gram."),
)
@as_json
def overlap(file: Path, texts: tuple[Path, ...], split: str, ngram: int, as_json: bool) -> None:
    """List the documents of FILE that share a 13-gram with the text files and folders TEXTS.

    A model that was trained on these texts may have seen the documents, so that its test score is
    too high (Brown et al. 2020, appendix C). Case and punctuation are ignored.
    """
    from workbench.operations.documents import overlap as operations

    note_links_out(texts)
    progress = ProgressLine(_("Comparing"))
    with reading(file) as project:
        chosen = "" if split == ALL else split
        watch = Watch(progress.show)
        result = operations.overlap(project, texts, split=chosen, size=ngram, watch=watch)
    progress.end()
    if as_json:
        emit({**to_plain(result), "share": result.share})
        return
    message = _(
        "Documents that share {n}-grams of words with the texts: {count:,} of {all:,} "
        "({share:.1%})."
    )
    enough = result.documents - result.short
    say(message.format(share=result.share, n=result.size, count=len(result.rows), all=enough))
    if result.short:
        say(_("Too short to compare: {n:,}.", n=result.short))
    if result.rows:
        table(operations.columns(), result.rows[:MOST_SHOWN])
