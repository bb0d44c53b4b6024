"""The option `--where QUERY` of commands that take documents."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import click

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.text.queries.query import QueryError

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
