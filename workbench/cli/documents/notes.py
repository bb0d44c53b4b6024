"""`notes`: notes and flags of documents."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.base.i18n import _, ngettext
from workbench.cli.documents.filters import checked, matching, where_option
from workbench.cli.output import as_json, emit, say, table
from workbench.cli.session import project_argument, reading, session
from workbench.text.columns import Column, ValueKind


@click.group()
def notes() -> None:
    """Notes and flags of documents."""


@notes.command("list")
@project_argument
@where_option
@as_json
def list_notes(file: Path, where: str, as_json: bool) -> None:
    """List the documents of FILE that have a note or a flag."""
    from workbench.operations.documents import corpus, queries

    with reading(file) as project:
        ids = queries.matching(project, "has:note,flag", matching(project, where))
        rows = corpus.rows(project, ids)
    columns = (
        Column(_("Key"), lambda row: row.key, key="key"),
        Column(_("Flags"), lambda row: row.flags, kind=ValueKind.NAMES, key="flags"),
        Column(_("Note"), lambda row: row.note, key="note"),
    )
    table(columns, rows, as_json)


@notes.command()
@project_argument
@click.argument("key", metavar="KEY")
@click.argument("text", metavar="TEXT")
@as_json
def write(file: Path, key: str, text: str, as_json: bool) -> None:
    """Write TEXT as the note on the document with this KEY; an empty text deletes the note."""
    from workbench.operations.documents import notes as operations
    from workbench.operations.inspecting.inspect import by_key
    from workbench.text.rows import row_id

    with session(file) as opened:
        document_id = row_id(by_key(opened.project, key))
        operations.set_note(opened.project, document_id, text)
        now = operations.of_document(opened.project, document_id).note()
    message = _("Note on {key} saved.") if now else _("Note on {key} deleted.")
    emit({"key": key, "note": now}) if as_json else say(message.format(key=key))


@notes.command()
@project_argument
@click.argument("name", metavar="NAME")
@click.option("--where", required=True, metavar="QUERY", help=_("The documents to flag."))
@click.option("--remove", is_flag=True, help=_("Remove the flag instead."))
@as_json
def flag(file: Path, name: str, where: str, remove: bool, as_json: bool) -> None:
    """Set the flag NAME for the documents of FILE that match a query, in one undo step."""
    from workbench.operations.documents import notes as operations
    from workbench.operations.documents import queries

    with session(file) as opened:
        checked(opened.project, where)
        ids = queries.matching(opened.project, where)
        changed = operations.set_flag(opened.project, ids, name, on=not remove)
    message = ngettext("{n:,} document changed.", "{n:,} documents changed.", changed)
    emit({"flag": name, "changed": changed}) if as_json else say(message)
