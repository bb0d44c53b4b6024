"""`occurrences`: find all occurrences of a text, and label them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.base.errors import SpecError
from workbench.base.i18n import _, ngettext
from workbench.base.watch import Watch
from workbench.cli.output import ProgressLine, as_json, emit, say, table
from workbench.cli.session import interrupts, project_argument, reading, session
from workbench.text.columns import Column

if TYPE_CHECKING:
    from workbench.operations.annotation.annotate import Filter
    from workbench.operations.annotation.occurrences import Occurrence, OccurrenceQuery, Occurrences
    from workbench.project.project import Project

SHOWN = 20  # lines without --json


def label_id(project: Project, name: str, layer: str | None) -> int:
    """The id of a label, of any layer or of the one named. Raises SpecError unless it is unique."""
    from workbench.operations.schema import labels

    every = labels.layers(project)
    searched = [item for item in every if layer in (None, item.name)]
    if layer is not None and not searched:
        raise SpecError(
            _("The project has no layer {layer!r}.", layer=layer),
            hint=_("Its layers: {known}.", known=", ".join(item.name for item in every)),
        )
    matches = [
        (item.name, label.id) for item in searched for label in item.labels if label.name == name
    ]
    if not matches:
        message = (
            _("The project has no label {name!r}.")
            if layer is None
            else _("The layer {layer!r} has no label {name!r}.")
        )
        known = ", ".join(dict.fromkeys(label.name for item in searched for label in item.labels))
        raise SpecError(
            message.format(name=name, layer=layer),
            hint=_("Its labels: {known}.", known=known or _("none")),
        )
    if len(matches) > 1:
        message = _("The label {name!r} is in several layers: {layers}.")
        raise SpecError(
            message.format(name=name, layers=", ".join(text for text, _id in matches)),
            hint=_("Choose one with --layer."),
        )
    return matches[0][1] or 0


@click.command()
@project_argument
@click.argument("text")
@click.option("--label", "name", required=True, metavar="NAME", help=_("The span label to add."))
@click.option("--layer", metavar="NAME", help=_("The layer of the label, if several have it."))
@click.option("--any-part", is_flag=True, help=_("Match inside words, too."))
@click.option("--any-case", is_flag=True, help=_("Ignore case."))
@click.option("--document", "key", metavar="KEY", help=_("Only in the document with this key."))
@click.option(
    "--add",
    "added",
    type=click.Choice(("gold", "suggestions")),
    help=_("Add the label to all unlabelled occurrences, as one undo step. [default: list them]"),
)
@as_json
def occurrences(
    file: Path,
    text: str,
    name: str,
    layer: str | None,
    any_part: bool,
    any_case: bool,
    key: str | None,
    added: str | None,
    as_json: bool,
) -> None:
    """Find all occurrences of TEXT in the documents of FILE, and label them.

    Places that have the label already, or overlap another span, are listed as such and left out.
    """
    from workbench.operations.annotation import occurrences as operations

    def request_for(project: Project) -> OccurrenceQuery:
        return operations.OccurrenceQuery(
            text,
            label_id(project, name, layer),
            _where(project, key),
            whole_words=not any_part,
            match_case=not any_case,
        )

    if added is None:
        with reading(file) as project:
            result = operations.find_occurrences(project, request_for(project))
        _report(result, None, as_json)
        return
    gold = added == "gold"
    with session(file) as opened:
        progress = ProgressLine(_("Labelling"), quiet=as_json)
        watch, request = Watch(progress.show), request_for(opened.project)
        with interrupts(lambda _count: None, post=opened.mailbox, at_once=watch.cancel):
            result = operations.find_occurrences(
                opened.project, request, watch=watch.part(0.0, 0.5)
            )
            free = [row for row in result.rows if row.is_free(gold=gold)]
            done = operations.label_occurrences(
                opened.project, request, free, gold=gold, watch=watch.part(0.5, 1.0)
            )
        progress.end()
    _report(result, done, as_json)


def _where(project: Project, key: str | None) -> Filter:
    from workbench.operations.annotation.annotate import Filter
    from workbench.operations.inspecting.inspect import by_key
    from workbench.text.rows import row_id

    return Filter() if key is None else Filter(ids=[row_id(by_key(project, key))])


def _report(result: Occurrences, done: int | None, as_json: bool) -> None:
    from workbench.operations.annotation import occurrences as operations

    if as_json:
        emit(
            {
                "occurrences": [_as_dict(row) for row in result.rows],
                "documents": result.documents,
                "complete": not result.cut,
                "added": done,
            }
        )
        return
    columns = (
        Column(_("Document"), lambda row: row.key),
        Column(_("Occurrence"), _in_context),
        Column(_("State"), operations.state_words),
    )
    table(columns, result.rows[:SHOWN])
    message = ngettext("{n:,} occurrence found.", "{n:,} occurrences found.", len(result.rows))
    say(message)
    if result.cut:
        say(_("There are more occurrences; the search stopped after these."))
    if done is not None:
        say(ngettext("Labelled {n:,} place.", "Labelled {n:,} places.", done))


def _in_context(row: Occurrence) -> str:
    return f"{row.before[-30:]}[{row.text}]{row.after[:30]}"


def _as_dict(row: Occurrence) -> dict[str, object]:
    return {
        "document": row.key,
        "field": row.field,
        "start": row.start,
        "end": row.end,
        "text": row.text,
        "status": row.status,
        "other": row.other or None,
    }
