"""`sources`: who or what made labels and suggestions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.base.errors import SpecError
from workbench.base.i18n import _, ngettext
from workbench.base.watch import Watch
from workbench.cli.output import as_json, emit, say, table
from workbench.cli.session import project_argument, reading, session
from workbench.text.columns import Column

if TYPE_CHECKING:
    from workbench.operations.annotation.provenance import OriginLabels
    from workbench.project.project import Project

_source = click.option(
    "--source", metavar="SOURCE", help=_("Only from this source, as `sources list` names it.")
)

_score = click.option(
    "--score", type=click.FloatRange(0, 1), help=_("Only with at least this score, or without one.")
)
_below = click.option(
    "--below", type=click.FloatRange(0, 1), help=_("Only with a lower score than this.")
)


@click.group()
def sources() -> None:
    """Who or what made labels and suggestions: people, imports, runs, patterns."""


@sources.command("list")
@project_argument
@as_json
def list_sources(file: Path, as_json: bool) -> None:
    """List the sources of FILE, with the labels they made and their open suggestions."""
    from workbench.operations.annotation import provenance

    with reading(file) as project:
        every = provenance.sources(project)
    columns = (
        Column(_("Source"), _id, key="source"),
        Column(_("Made by"), lambda source: source.title, key="title"),
        Column(_("Labels"), lambda source: source.labels, key="labels"),
        Column(_("Suggestions"), lambda source: source.suggestions, key="suggestions"),
        Column("", lambda source: source.first, key="first"),
        Column(_("Last"), lambda source: source.last, key="last"),
    )
    table(columns, every, as_json)


def _id(source: OriginLabels) -> str:
    kind, ref, by = source.origin
    return f"{kind}:{ref if by is None else by}"


def _chosen(project: Project, name: str) -> OriginLabels:
    from workbench.operations.annotation import provenance

    every = provenance.sources(project)
    for source in every:
        if name in (_id(source), source.title):
            return source
    raise SpecError(
        _("There is no source {name!r}.", name=name),
        hint=_("Its sources: {known}.", known=", ".join(map(_id, every)) or _("none")),
    )


@sources.command()
@project_argument
@_source
@_score
@_below
@as_json
def accept(
    file: Path, source: str | None, score: float | None, below: float | None, as_json: bool
) -> None:
    """Accept open suggestions of all documents of FILE, as one undo step."""
    done = _decide(file, source, score, below, accepts=True, quiet=as_json)
    if as_json:
        emit({"accepted": done})
    else:
        message = ngettext("Accepted {n:,} suggestion.", "Accepted {n:,} suggestions.", done)
        say(message)


@sources.command()
@project_argument
@_source
@_score
@_below
@as_json
def reject(
    file: Path, source: str | None, score: float | None, below: float | None, as_json: bool
) -> None:
    """Reject open suggestions of all documents of FILE, as one undo step."""
    done = _decide(file, source, score, below, accepts=False, quiet=as_json)
    if as_json:
        emit({"rejected": done})
    else:
        message = ngettext("Rejected {n:,} suggestion.", "Rejected {n:,} suggestions.", done)
        say(message)


def _decide(
    file: Path,
    source: str | None,
    score: float | None,
    below: float | None,
    *,
    accepts: bool,
    quiet: bool,
) -> int:
    from workbench.operations.annotation import provenance
    from workbench.operations.schema import labels
    from workbench.text.rows import row_id

    with session(file) as opened:
        project = opened.project
        layers = [row_id(layer) for layer in labels.layers(project)]
        origin = _chosen(project, source).origin if source is not None else None
        title = _("Accepting") if accepts else _("Rejecting")
        with opened.working(title, quiet=quiet) as watch:
            done = provenance.decide(
                project, layers, accept=accepts, origin=origin, least=score, below=below,
                watch=watch,
            )  # fmt: skip
    return done


@sources.command()
@project_argument
@click.argument("source")
@as_json
def revert(file: Path, source: str, as_json: bool) -> None:
    """Delete all labels and suggestions of SOURCE in FILE, as one undo step.

    Labels that were changed by hand since then are kept.
    """
    from workbench.operations.annotation import provenance

    with session(file) as opened:
        origin, watch = _chosen(opened.project, source).origin, Watch()
        with opened.cancelling(watch):
            labels, suggestions = provenance.revert(opened.project, origin, watch=watch)
    if as_json:
        emit({"labels": labels, "suggestions": suggestions})
    else:
        say(provenance.describe(labels, suggestions))
