"""`duplicates` and `overlap`: equal and similar texts, also in text files."""

from __future__ import annotations

from dataclasses import asdict, replace
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.errors import SpecError
from workbench.base.i18n import _, ngettext
from workbench.base.records import to_plain
from workbench.base.terms import term
from workbench.base.watch import Watch
from workbench.cli.documents.filters import matching, where_option
from workbench.cli.output import as_json, emit, note_links_out, say, table
from workbench.cli.session import progress_line, project_argument, reading, session
from workbench.text.columns import Column, ValueKind

if TYPE_CHECKING:
    from workbench.operations.documents.duplicates import Duplicates
    from workbench.project.project import Project


FIXES = ("train", "held-out", "remove")
MOST_SHOWN = 50  # groups that are printed


@click.command()
@project_argument
@click.option(
    "--near",
    type=click.FloatRange(0.3, 1.0),
    help=_(
        "Also find near-duplicates with at least this Jaccard similarity; 0.8 suits most texts."
    ),
)
@click.option(
    "--shingle",
    type=click.IntRange(1, 10),
    default=2,
    show_default=True,
    help=_("Number of words per n-gram; the similarity compares sets of n-grams."),
)
@where_option
@click.option("--leaks", is_flag=True, help=_("Only groups with documents in several splits."))
@click.option(
    "--fix",
    type=click.Choice(FIXES),
    help=_(
        "Put each leaking group into one split: the first of train, dev and test that it has "
        "(train), the last (held-out), or remove its documents from all but the last (remove)."
    ),
)
@click.option(
    "--alike",
    type=click.Choice(["gold", "suggestions"]),
    help=_("Copy labels to duplicates that are not labelled yet."),
)
@click.option("--keep-one", is_flag=True, help=_("Delete all but the first document of a group."))
@as_json
def duplicates(
    file: Path,
    near: float | None,
    shingle: int,
    where: str,
    leaks: bool,
    fix: str | None,
    alike: str | None,
    keep_one: bool,
    as_json: bool,
) -> None:
    """List the documents of FILE that have equal or similar texts.

    Every change is one undo step. Documents in different splits leak: a test score on them is too
    high. Ctrl+C cancels.
    """
    from workbench.operations.documents import duplicates as operations

    acts = [text for text in (fix, alike, keep_one or None) if text]
    if len(acts) > 1:
        raise click.UsageError(_("Choose one of --fix, --alike and --keep-one."))
    watch, done = Watch(), dict[str, Any]()
    if acts:
        with session(file) as opened, opened.cancelling(watch):
            result = _find(opened.project, near, shingle, where, leaks, watch)
            value = operations.to_json(opened.project, result)
            done = _act(opened.project, result, fix, alike, watch)
    else:
        with reading(file) as project:
            result = _find(project, near, shingle, where, leaks, watch)
            value = operations.to_json(project, result)
    if as_json:
        emit({**value, "done": done or None})
    else:
        _show(value, done)


def _find(
    project: Project, near: float | None, size: int, where: str, leaks: bool, watch: Watch
) -> Duplicates:
    from workbench.operations.documents import duplicates as operations

    ids = matching(project, where)
    result = operations.find(project, ids, near=near, size=size, watch=watch)
    return replace(result, groups=result.leaks) if leaks else result


def _act(
    project: Project, result: Duplicates, fix: str | None, alike: str | None, watch: Watch
) -> dict[str, Any]:
    from workbench.operations.annotation import label_alike
    from workbench.operations.documents import corpus
    from workbench.operations.documents import duplicates as operations

    if not result.shown:
        raise SpecError(_("There are no such duplicates, so nothing was changed."))
    if fix:
        fixed = operations.fix_leaks(project, result.leaks, fix, watch=watch)
        return {"act": "fix", "documents": fixed}
    if alike:
        suggest = alike == "suggestions"
        copied = label_alike.label_alike(project, result.shown, suggest=suggest, watch=watch)
        return {"act": "alike", **asdict(copied)}
    deleted = corpus.delete_documents(project, result.surplus, watch=watch)
    return {"act": "keep-one", "documents": deleted}


def _show(value: dict[str, Any], done: dict[str, Any]) -> None:
    groups = value["groups"]
    n = len(groups)
    message = ngettext(
        "{n:,} group of duplicates among {all:,} documents, {leaks:,} of them across splits.",
        "{n:,} groups of duplicates among {all:,} documents, {leaks:,} of them across splits.",
        n,
    )
    say(message.format(n=n, all=value["documents"], leaks=value["leaks"]))
    columns = (
        Column(_("Kind"), _kind),
        Column(_("Similarity"), itemgetter("similarity"), kind=ValueKind.NUMBER, digits=2),
        Column(_("Documents"), _members),
    )
    if groups:
        table(columns, groups[:MOST_SHOWN])
    if done:
        n = done["documents"]
        say(ngettext("{n:,} document changed.", "{n:,} documents changed.", n))
    if done.get("lost"):
        message = ngettext(
            "{n:,} label could not be aligned with the other text.",
            "{n:,} labels could not be aligned with the other text.",
            done["lost"],
        )
        say(message)


def _kind(group: dict[str, Any]) -> str:
    return _("leak") if group["leak"] else _("duplicate") if group["exact"] else _("similar")


def _members(group: dict[str, Any]) -> str:
    pairs = zip(group["keys"][:4], group["splits"][:4], strict=True)
    names = [f"{key} ({term(split)})" if split else key for key, split in pairs]
    return ", ".join(names) + (" …" if group["keys"][4:] else "")


MOST_DOCUMENTS = 20  # documents that are printed
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
    chosen = "" if split == ALL else split
    with reading(file) as project, progress_line(_("Comparing")) as watch:
        result = operations.overlap(project, texts, split=chosen, size=ngram, watch=watch)
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
        table(operations.columns(), result.rows[:MOST_DOCUMENTS])
