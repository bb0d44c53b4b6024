"""`filters`, and the option `--where QUERY` of commands that take documents."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.base.errors import SpecError
from workbench.base.i18n import _, ngettext
from workbench.cli.output import as_json, emit, say, table
from workbench.cli.session import project_argument, reading, session
from workbench.text.columns import Column, ValueKind, record
from workbench.text.queries.query import KEYS, QueryError

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.text.queries.query import Query


where_option = click.option(
    "--where",
    default="",
    metavar="QUERY",
    help=_(
        "Only documents that match a query as in the search bar, for example "
        "'label:PER -state:submitted'. `glossbench filters keys` lists its keys."
    ),
)


def checked(project: Project, text: str) -> Query:
    """Read the query. Raises SpecError that shows where it is wrong."""
    from workbench.operations.documents import queries

    try:
        return queries.check(project, text)
    except QueryError as error:
        marked = f"{text[: error.at]}»{text[error.at : error.end]}«{text[error.end :]}"
        sentence = _("{message} In the query: {query}", message=error.message, query=marked)
        raise SpecError(sentence, hint=error.hint) from error


def matching(project: Project, text: str) -> array[int] | None:
    """Ids of the documents that match the option; None if it is not given."""
    from workbench.operations.documents import queries

    if not text.strip():
        return None
    checked(project, text)
    return queries.matching(project, text)


_name = click.argument("name", metavar="NAME")
_query = click.argument("query", metavar="QUERY")


@click.group()
def filters() -> None:
    """Saved filters: named queries, for the search bar, the queue, and slices of results."""


@filters.command("keys")
@as_json
def list_keys(as_json: bool) -> None:
    """List the keys of queries.

    All conditions of a query must hold. OR between two conditions, or a comma between values:
    at least one of them. A minus sign negates a condition. Parentheses group conditions.
    """
    columns = (
        Column(_("Key"), lambda row: row[0], key="key"),
        Column(_("Meaning"), lambda row: _(row[1].title), key="title"),
        Column(_("Example"), lambda row: row[1].example, key="example"),
        Column(_("Values"), lambda row: row[1].choices, kind=ValueKind.NAMES),
    )
    table(columns, KEYS.items(), as_json)


@filters.command("list")
@project_argument
@as_json
def list_filters(file: Path, as_json: bool) -> None:
    """List the saved filters of FILE."""
    from workbench.operations.documents import queries

    with reading(file) as project:
        saved = queries.filters(project)
    columns = (
        Column(_("Name"), lambda saved: saved.name, key="name"),
        Column(_("Query"), lambda saved: saved.query, key="query"),
    )
    table(columns, saved, as_json)


@filters.command()
@project_argument
@_query
@as_json
def find(file: Path, query: str, as_json: bool) -> None:
    """List the keys of the documents of FILE that match QUERY."""
    from workbench.operations.documents import corpus, queries

    with reading(file) as project:
        checked(project, query)
        ids = queries.matching(project, query)
        rows = corpus.rows(project, ids)
    columns = (
        Column(_("Key"), lambda row: row.key, key="key"),
        Column(_("Split"), lambda row: row.split, key="split", display=lambda row: row.split or ""),
        Column(_("State"), lambda row: row.state, key="state"),
    )
    if as_json:
        emit({"query": query, "documents": [record(columns, row) for row in rows]})
        return
    table(columns, rows)
    message = ngettext("{n:,} document matches.", "{n:,} documents match.", len(rows))
    say(message)


@filters.command()
@project_argument
@_name
@_query
@as_json
def save(file: Path, name: str, query: str, as_json: bool) -> None:
    """Save QUERY in FILE under NAME, in place of an earlier filter of that name."""
    from workbench.operations.documents import queries

    with session(file) as opened:
        checked(opened.project, query)
        queries.save_filter(opened.project, name, query)
    _report(name, query, _("Saved filter {name}."), as_json)


@filters.command()
@project_argument
@_name
@click.argument("new", metavar="NEW")
@as_json
def rename(file: Path, name: str, new: str, as_json: bool) -> None:
    """Rename the saved filter NAME of FILE to NEW, also in the filters that refer to it."""
    from workbench.operations.documents import queries

    with session(file) as opened:
        chosen = queries.filter_named(opened.project, name)
        queries.rename_filter(opened.project, chosen.id, new)
    _report(new, chosen.query, _("Renamed to {name}."), as_json)


@filters.command()
@project_argument
@_name
@as_json
def delete(file: Path, name: str, as_json: bool) -> None:
    """Delete the saved filter NAME of FILE. Documents are not affected."""
    from workbench.operations.documents import queries

    with session(file) as opened:
        chosen = queries.filter_named(opened.project, name)
        queries.delete_filter(opened.project, chosen.id)
    _report(name, chosen.query, _("Deleted filter {name}."), as_json)


def _report(name: str, query: str, message: str, as_json: bool) -> None:
    emit({"name": name, "query": query}) if as_json else say(message.format(name=name))
