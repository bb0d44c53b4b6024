"""`adjudicate`: decide where people differ; the result is the person “gold”."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.errors import SpecError
from workbench.base.i18n import _, ngettext
from workbench.cli.output import as_json, emit, note, plain, say, table
from workbench.cli.session import project_argument, reading, session
from workbench.operations.people.reliability import METHODS
from workbench.text.columns import Column, ValueKind

if TYPE_CHECKING:
    from workbench.operations.people.adjudication import Difference, Mark, Overview, Sheet
    from workbench.operations.people.reliability import Estimate
    from workbench.project.project import Project
    from workbench.storage.annotation.people import Person
    from workbench.text.labels import Layer

REOPEN = "open"  # in place of a decision


@click.group()
def adjudicate() -> None:
    """Decide where people differ; the result is the person “gold”."""


_between = click.option(
    "--between",
    "names",
    multiple=True,
    metavar="NAME",
    help=_("A person; may be repeated. [default: all people with labels]"),
)
_layers = click.option(
    "--layer",
    "layer_names",
    multiple=True,
    metavar="NAME",
    help=_("A layer; may be repeated. [default: all layers that they submitted]"),
)
_key = click.argument("key", metavar="KEY")


def _chosen(
    project: Project, names: tuple[str, ...], layer_names: tuple[str, ...]
) -> tuple[tuple[Person, ...], tuple[Layer, ...]]:
    from workbench.operations.people import adjudication, people
    from workbench.operations.schema import labels

    persons = tuple(people.named(project, name) for name in dict.fromkeys(names))
    persons = persons or adjudication.participants(project)
    layers = tuple(labels.layer_named(project, name) for name in dict.fromkeys(layer_names))
    return persons, layers or adjudication.layers_of(project, persons)


@adjudicate.command("list")
@project_argument
@_between
@_layers
@as_json
def list_documents(
    file: Path, names: tuple[str, ...], layer_names: tuple[str, ...], as_json: bool
) -> None:
    """List the documents of FILE in which people differ, and how many decisions are left."""
    from workbench.operations.people import adjudication as operations

    with session(file, read_only=True) as opened:
        persons, layers = _chosen(opened.project, names, layer_names)
        with opened.working(_("Adjudication"), quiet=as_json) as watch:
            overview = operations.overview(opened.project, persons, layers, watch=watch)
    if as_json:
        emit(overview.to_json())
    else:
        _show_overview(overview)


def _show_overview(overview: Overview) -> None:
    columns = (
        Column(_("Key"), lambda row: row.key),
        Column(_("Open"), lambda row: row.open, kind=ValueKind.COUNT),
        Column(_("Differences"), lambda row: row.total, kind=ValueKind.COUNT),
        Column(_("Gold"), lambda row: row.submitted, kind=ValueKind.FLAG),
        Column(_("Text"), lambda row: row.text[:60]),
    )
    table(columns, overview.rows)
    say(_("{decided:,} of {n:,} decided", decided=overview.decided, n=overview.total))
    if overview.agreed:
        say(
            ngettext(
                "{n:,} document has layers without differences that are not gold yet:"
                " `adjudicate begin`",
                "{n:,} documents have layers without differences that are not gold yet:"
                " `adjudicate begin`",
                overview.agreed,
            )
        )


@adjudicate.command()
@project_argument
@_between
@_layers
@as_json
def begin(file: Path, names: tuple[str, ...], layer_names: tuple[str, ...], as_json: bool) -> None:
    """Take what people agree on in FILE, and make the person “gold” the gold of the layers.

    Layers of documents that only one person submitted are taken as they are. What gold has
    already stays, so begin again after a merge.
    """
    from workbench.operations.people import adjudication as operations

    with session(file) as opened:
        persons, layers = _chosen(opened.project, names, layer_names)
        with opened.working(_("Adjudication"), quiet=as_json) as watch:
            n = operations.begin(opened.project, persons, layers, watch=watch)
    if as_json:
        emit({"documents": n})
    else:
        say(
            ngettext(
                "{n:,} document has layers without differences, which are gold now",
                "{n:,} documents have layers without differences, which are gold now",
                n,
            )
        )


def _sheet(
    project: Project, key: str, names: tuple[str, ...], layer_names: tuple[str, ...]
) -> Sheet:
    from workbench.operations.people import adjudication as operations

    id = operations.document_named(project, key)
    return operations.sheet(project, id, *_chosen(project, names, layer_names))


@adjudicate.command()
@project_argument
@_key
@_between
@_layers
@as_json
def show(
    file: Path, key: str, names: tuple[str, ...], layer_names: tuple[str, ...], as_json: bool
) -> None:
    """Show the differences in the document KEY of FILE: what each person says, what was taken."""
    with reading(file) as project:
        sheet = _sheet(project, key, names, layer_names)
    if as_json:
        emit(sheet.to_json())
        return
    columns = [
        Column(_("No."), lambda row: row[0], kind=ValueKind.COUNT),
        Column(_("Layer"), lambda row: row[1].layer.name),
        Column(_("Difference"), lambda row: row[1].title),
    ]
    for number, person in enumerate(sheet.annotators):
        columns.append(Column(person.name, partial(_version, number)))
    columns.append(Column(_("Taken"), lambda row: sheet.take_title(row[1].taken)))
    columns.append(Column(_("Note"), lambda row: row[1].note))
    table(columns, list(enumerate(sheet.differences, 1)))


def _version(person: int, row: tuple[int, Difference]) -> str:
    return _said(row[1], person)


def _words(person: int, row: tuple[str, list[str]]) -> str:
    return row[1][person]


def _said(difference: Difference, person: int) -> str:
    version = difference.versions[person]
    return "" if version is None else "; ".join(map(_mark, version)) or "–"


def _mark(mark: Mark) -> str:
    is_class = mark.start is None or mark.ends is not None or not mark.label
    return plain(mark.text if is_class else f"{mark.label}: {mark.text}")


@adjudicate.command()
@project_argument
@_key
@click.argument("difference", type=click.IntRange(1), metavar="NUMBER")
@click.argument("take", metavar="TAKE")
@click.option("--alike", is_flag=True, help=_("Decide all equal cases in the same way."))
@click.option("--dry-run", is_flag=True, help=_("List the cases, without deciding them."))
@click.option("--note", "text", default=None, metavar="TEXT", help=_("Note for discussion."))
@_between
@_layers
@as_json
def decide(
    file: Path,
    key: str,
    difference: int,
    take: str,
    alike: bool,
    dry_run: bool,
    text: str | None,
    names: tuple[str, ...],
    layer_names: tuple[str, ...],
    as_json: bool,
) -> None:
    """Decide a difference of the document KEY of FILE, by its NUMBER in `adjudicate show`.

    TAKE is the name of a person, both, neither, edited (gold stays as it is there), or open.
    Equal cases have the same layer, labels and kind; of boundaries, also the same words at the
    edge, or words of the same class.
    """
    from workbench.operations.people import adjudication as operations

    with session(file, read_only=dry_run) as opened:
        project = opened.project
        sheet = _sheet(project, key, names, layer_names)
        if difference > len(sheet.differences):
            raise SpecError(_("{key} has no difference {n}.", key=key, n=difference))
        every, warnings = [sheet.differences[difference - 1]], dict[str, None]()
        with opened.working(_("Adjudication"), quiet=as_json) as watch:
            if alike:
                every += operations.equal_cases(
                    project, every[0], sheet.annotators, sheet.layers, watch=watch
                )
            if not dry_run:
                if text is not None:
                    operations.discuss(project, every[0], text)
                if take == REOPEN:
                    for item in every:
                        warnings |= dict.fromkeys(operations.undo_decision(project, sheet, item))
                else:
                    named = sheet.take_named(take)
                    warnings |= dict.fromkeys(
                        operations.decide_alike(project, sheet, every, named, watch=watch)
                    )
        keys = operations.keys(project, every)
    for warning in warnings:
        note(warning)
    rows = [
        (keys[item.document_id], [_said(item, at) for at in range(len(sheet.annotators))])
        for item in every
    ]
    if as_json:
        emit([{"key": key, "versions": versions} for key, versions in rows])
        return
    columns = [Column(_("Key"), lambda row: row[0])]
    for number, person in enumerate(sheet.annotators):
        columns.append(Column(person.name, partial(_words, number)))
    table(columns, rows)


@adjudicate.command()
@project_argument
@click.argument("keys", nargs=-1, metavar="[KEY]...")
@_between
@_layers
@as_json
def submit(
    file: Path,
    keys: tuple[str, ...],
    names: tuple[str, ...],
    layer_names: tuple[str, ...],
    as_json: bool,
) -> None:
    """Submit documents of FILE as gold. [default: all in which every difference is decided]"""
    from workbench.operations.people import adjudication as operations

    with session(file) as opened:
        project = opened.project
        ids = [operations.document_named(project, key) for key in keys]
        persons, layers = _chosen(project, names, layer_names)
        with opened.working(_("Adjudication"), quiet=as_json) as watch:
            n, warnings = operations.submit_decided(
                project, persons, layers, ids=ids or None, watch=watch
            )
    for warning in warnings:
        note(warning)
    if as_json:
        emit({"documents": n, "warnings": list(warnings)})
    else:
        say(ngettext("{n:,} document submitted", "{n:,} documents submitted", n))


@adjudicate.command()
@project_argument
@click.option("--layer", "layer_name", default="", metavar="NAME", help=_("Name of the layer."))
@_between
@click.option("--method", type=click.Choice(METHODS), default=METHODS[0], show_default=True)
@click.option("--suggest", is_flag=True, help=_("Store the result as suggestions."))
@as_json
def majority(
    file: Path,
    layer_name: str,
    names: tuple[str, ...],
    method: Any,
    suggest: bool,
    as_json: bool,
) -> None:
    """Estimate the labels of a layer of FILE from those of all people, and their reliability.

    The majority leaves ties open. Dawid–Skene weighs people by their reliability, which is
    estimated from their agreement; it needs labels of three people or more to be of use.
    """
    from workbench.operations.people import agreement, reliability

    with session(file, read_only=not suggest) as opened:
        project = opened.project
        layer = agreement.layer_named(project, layer_name)
        persons, _layers_of = _chosen(project, names, (layer.name,))
        with opened.working(_("Adjudication"), quiet=as_json) as watch:
            result = reliability.estimate(project, layer, persons, method=method, watch=watch)
        count = reliability.suggest(project, result) if suggest else 0
    if as_json:
        emit({**result.to_json(), "suggested": count})
    else:
        _show_estimate(result, count if suggest else None)


def _show_estimate(result: Estimate, count: int | None) -> None:
    columns = (
        Column(_("Name"), lambda row: row.person.name),
        Column(_("Items"), lambda row: row.items, kind=ValueKind.COUNT),
        Column(_("Accuracy"), lambda row: row.accuracy, kind=ValueKind.NUMBER),
    )
    table(columns, result.people)
    say(
        ngettext(
            "{n:,} item labelled by two or more, {open:,} left open",
            "{n:,} items labelled by two or more, {open:,} left open",
            result.items,
            open=result.open,
        )
    )
    if count is not None:
        say(ngettext("{n:,} suggestion stored", "{n:,} suggestions stored", count))
