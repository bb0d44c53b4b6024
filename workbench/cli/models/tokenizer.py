"""`tokenizer train|compare|show`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base import paths
from workbench.base.i18n import _, ngettext
from workbench.cli.output import as_json, emit, note_links_out, plain, say, table
from workbench.cli.session import PROJECT, reading, session
from workbench.text.columns import Column, ValueKind

if TYPE_CHECKING:
    from workbench.operations.models.tokenizers import Division
    from workbench.runtime.vocabularies.steps import Merge

KINDS = ("wordpiece", "wordpiece-score", "bpe", "unigram")


@click.group()
def tokenizer() -> None:
    """Train tokenizers on text, compare them, and show how they split words."""


@tokenizer.command()
@click.argument("source", type=PROJECT, metavar="FILE_OR_PROJECT")
@click.argument("out", type=PROJECT, metavar="OUTDIR")
@click.option(
    "--type",
    "kind",
    type=click.Choice(KINDS),
    default="wordpiece",
    show_default=True,
    help=_(
        "Training algorithm; wordpiece-score merges the pair with the highest f(ab) / (f(a) f(b))."
    ),
)
@click.option("--size", type=int, default=8000, show_default=True, help=_("Vocabulary size."))
@click.option("--cased", is_flag=True, help=_("Do not convert the text to lower case."))
@click.option(
    "--min-count",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help=_("Minimum frequency of a pair or a token."),
)
@as_json
def train(
    source: Path, out: Path, kind: str, size: int, cased: bool, min_count: int, as_json: bool
) -> None:
    """Train a tokenizer on a text file (one text per line) or on the texts of a project.

    OUTDIR is a new folder with tokenizer.json. Ctrl+C cancels.
    """
    from workbench.operations.models import tokenizers as operations

    what = _("Learning the tokenizer")
    with (
        session(None) as opened,
        opened.progress(_("Learning"), what=what, quiet=as_json) as watch,
    ):
        result = operations.learn(
            opened.queue,
            _texts(source),
            out,
            kind=kind,
            size=size,
            lowercase=not cased,
            min_count=min_count,
            watch=watch,
        )
    if as_json:
        emit(result)
    else:
        message = _(
            "{output}: learned in {seconds:.1f} s. Vocabulary size: {size:,}. Words in the "
            "text: {words:,}.",
            **result,
        )
        say(message)


@tokenizer.command()
@click.argument("first")
@click.argument("second")
@click.argument("source", type=PROJECT, metavar="FILE_OR_PROJECT")
@as_json
def compare(first: str, second: str, source: Path, as_json: bool) -> None:
    """Compare two tokenizers on a text file (one text per line) or on the texts of a project.

    FIRST and SECOND are names from `models list`, model folders or folders with tokenizer.json.
    """
    from workbench.operations.models import tokenizers as operations

    comparison = operations.compare((first, second), _texts(source))
    if as_json:
        emit([{"name": name, **fit.to_json()} for name, fit in comparison.items()])
        return
    table(operations.fit_columns(next(iter(comparison.values())).cut), comparison.items())


@tokenizer.command()
@click.argument("model", required=False)
@click.argument("words", nargs=-1)
@click.option(
    "--merges",
    "source",
    type=PROJECT,
    metavar="FILE_OR_PROJECT",
    help=_("Show the first merges on this text, by score and by count."),
)
@click.option(
    "--steps",
    type=click.IntRange(1, 1000),
    default=10,
    show_default=True,
    help=_("Number of merges to show."),
)
@as_json
def show(
    model: str | None, words: tuple[str, ...], source: Path | None, steps: int, as_json: bool
) -> None:
    """Show how the tokenizer of MODEL splits WORDS, step by step for WordPiece.

    With --merges, show how WordPiece chooses its first merges: by the score f(ab) / (f(a) f(b))
    and by the count.
    """
    from workbench.operations.models import tokenizers as operations

    if source is not None:
        counts = operations.counts_of(_texts(source))
        by_rule = {rule: operations.merges(counts, rule, steps) for rule in ("score", "count")}
        if as_json:
            emit({rule: [row.to_json() for row in rows] for rule, rows in by_rule.items()})
        else:
            _show_merges(by_rule)
        return
    if model is None or not words:
        raise click.UsageError(_("MODEL and WORDS, or --merges, are required."))
    divided = operations.divide(model, words)
    if as_json:
        emit([_division(division) for division in divided])
    else:
        for division in divided:
            _show_division(division)


def _texts(source: Path) -> Iterator[str]:
    from workbench.operations.models import vectors
    from workbench.pretraining.texts import Texts

    if source.suffix == paths.PROJECT_SUFFIX:
        with reading(source) as project:
            yield from vectors.texts_of(project)
    else:
        note_links_out([source])
        for document in Texts([source]):
            yield from document


MERGES = (
    Column(_("Merge"), lambda row: row.merged),
    Column(_("First"), lambda row: row.first),
    Column(_("Second"), lambda row: row.second),
    Column("f(ab)", lambda row: row.count),
    Column("f(a)", lambda row: row.first_count),
    Column("f(b)", lambda row: row.second_count),
    Column(_("Score"), lambda row: row.score, kind=ValueKind.NUMBER, digits=6),
)


def _show_merges(by_rule: dict[str, list[Merge]]) -> None:
    titles = {"score": _("By score f(ab) / (f(a) f(b)):"), "count": _("By count f(ab):")}
    for rule, rows in by_rule.items():
        say(titles[rule])
        table(MERGES, rows)
        say()


def _division(division: Division) -> dict[str, Any]:
    steps = [
        {"position": s.position, "tried": [*s.tried], "found": s.found} for s in division.steps
    ]
    return {"word": division.word, "units": [*division.units], "steps": steps}


def _show_division(division: Division) -> None:
    say(
        _(
            "{word}: {tokens}",
            word=plain(division.word),
            tokens=" ".join(map(plain, division.units)),
        )
    )
    for step in division.steps:
        message = ngettext(
            "Position {at}: {found}, after {n} longer candidate",
            "Position {at}: {found}, after {n} longer candidates",
            len(step.tried) - 1,
        )
        none = _("Position {at}: no match; the whole word is unknown")
        chosen = message if step.found else none
        say("  " + chosen.format(at=step.position, found=plain(step.found), n=len(step.tried) - 1))
