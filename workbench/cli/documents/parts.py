"""`parts`: split documents into sentences or paragraphs, and join them again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.base.i18n import _, ngettext
from workbench.base.watch import Watch
from workbench.cli.documents.filters import matching, where_option
from workbench.cli.output import as_json, emit, note, say
from workbench.cli.session import project_argument, reading, session
from workbench.text.sentences import PARAGRAPH, SENTENCE

if TYPE_CHECKING:
    from workbench.operations.documents.parts import Divided
    from workbench.project.project import Project

Act = Callable[["Project", list[int], Watch], "Divided"]


@click.group()
def parts() -> None:
    """Split documents into sentences or paragraphs, and join them again."""


@parts.command("split")
@project_argument
@click.option(
    "--unit",
    type=click.Choice([SENTENCE, PARAGRAPH]),
    default=SENTENCE,
    show_default=True,
    help=_("Unit that becomes a separate document."),
)
@where_option
@click.option("--dry-run", is_flag=True, help=_("Count the parts without splitting."))
@as_json
def split(file: Path, unit: str, where: str, dry_run: bool, as_json: bool) -> None:
    """Replace documents of FILE by their sentences or paragraphs, with the labels in them.

    Parts keep the key of their document and their place in it (metadata part_of, part_start,
    part_end), stay in one group, and can be joined again. Documents that cannot be divided without
    loss, such as those with a class, are left as they are. One undo step.
    """
    from workbench.operations.documents import parts as operations

    if dry_run:
        with reading(file) as project:
            divided = operations.preview(project, _ids(project, where), unit)
    else:
        divided = _run(
            file,
            _("Splitting"),
            where,
            lambda project, ids, watch: operations.split(project, ids, unit, watch=watch),
            as_json,
        )
    message = _("{documents} become {parts}.") if dry_run else _("{documents} became {parts}.")
    _report(divided, message, as_json)


@parts.command("join")
@project_argument
@where_option
@as_json
def join(file: Path, where: str, as_json: bool) -> None:
    """Join the parts of documents of FILE again, with the labels in them.

    A class of a part becomes a span over it, in a layer of its own. All parts of a document have
    to be there; `--where` has to find one of them. One undo step.
    """
    from workbench.operations.documents import parts as operations

    divided = _run(
        file,
        _("Joining"),
        where or "meta.part_of:*",
        lambda project, ids, watch: operations.join(project, ids, watch=watch),
        as_json,
    )
    _report(divided, _("{documents} were joined from {parts}."), as_json)


def _ids(project: Project, where: str) -> list[int]:
    from workbench.operations.documents import queries

    ids = matching(project, where)
    return list(queries.matching(project, "") if ids is None else ids)


def _run(file: Path, title: str, where: str, act: Act, quiet: bool) -> Divided:
    with session(file) as opened, opened.working(title, quiet=quiet) as watch:
        return act(opened.project, _ids(opened.project, where), watch)


def _report(divided: Divided, message: str, as_json: bool) -> None:
    from workbench.operations.documents import parts as operations

    if as_json:
        emit({"documents": divided.documents, "parts": divided.parts, "kept": dict(divided.kept)})
        return
    item = ngettext("{n:,} document", "{n:,} documents", divided.documents)
    many = ngettext("{n:,} part", "{n:,} parts", divided.parts)
    say(message.format(documents=item, parts=many))
    if left := operations.describe(divided):
        note(left)
