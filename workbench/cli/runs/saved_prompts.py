"""Commands of `prompts` for the prompts of a project: list, show, diff, rename, duplicate, …"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.i18n import _
from workbench.cli.output import as_json, emit, say, table
from workbench.cli.session import project_argument, reading, session
from workbench.text.columns import Column, record

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.prompting.spec import PromptSpec

SIGNS = {"added": "+ ", "removed": "- ", "same": "  "}
_name = click.argument("name", metavar="NAME")
_of_version = click.argument("name", metavar="NAME[@VERSION]")


@click.command("list")
@project_argument
@click.option("--versions", "every", is_flag=True, help=_("Earlier versions too."))
@as_json
def list_prompts(file: Path, every: bool, as_json: bool) -> None:
    """List the prompts of FILE in their latest versions, with the score of the latest run on dev.

    A run belongs to a version if it has the same settings.
    """
    from workbench.operations.prompts import prompt_versions

    with reading(file) as project:
        rows = prompt_versions.rows(project)
    shown = [row for row in rows if every or row.is_latest]
    table(prompt_versions.columns(), shown, as_json)


@click.command("show")
@project_argument
@_of_version
@as_json
def show(file: Path, name: str, as_json: bool) -> None:
    """Print a prompt of FILE: its template and all settings, by default of the latest version."""
    from workbench.operations.prompts import prompt_versions

    with reading(file) as project:
        prompt, version = prompt_versions.version_named(project, name)
        spec = prompt_versions.spec_of(prompt, version)
        (row,) = (
            row
            for row in prompt_versions.rows(project)
            if (row.name, row.number) == (prompt.name, version.number)
        )
    settings = prompt_versions.settings(spec)
    if as_json:
        about = record(prompt_versions.columns(), row)
        rows = [{"key": it.key, "title": it.title, "value": it.value} for it in settings]
        return emit(
            {
                **about,
                "template": spec.template,
                "settings": rows,
                "spec": prompt_versions.stored(spec),
            }
        )
    say(prompt_versions.name_of(spec))
    columns = (
        Column(_("Setting"), lambda row: row.title),
        Column(_("Value"), lambda row: row.value),
    )
    table(columns, settings)
    say()
    say(spec.template)


@click.command("diff")
@project_argument
@click.argument("before", metavar="NAME[@VERSION]")
@click.argument("after", metavar="[NAME[@VERSION]]", required=False)
@as_json
def diff(file: Path, before: str, after: str | None, as_json: bool) -> None:
    """Print what the second prompt of FILE has that the first has not.

    With one name: what its latest version has changed, or what was changed since the version.
    """
    from workbench.operations.prompts import prompt_versions

    with reading(file) as project:
        first, second = _pair(project, before, after)
    difference = prompt_versions.difference(first, second)
    if as_json:
        return emit(
            {
                "before": prompt_versions.name_of(first),
                "after": prompt_versions.name_of(second),
                **difference.to_json(),
            }
        )
    say(f"{prompt_versions.name_of(first)} → {prompt_versions.name_of(second)}")
    for change in difference.settings:
        say(change.text)
    for line in difference.template:
        say(SIGNS[line.kind] + line.text)
    if not difference:
        say(_("Both versions are equal."))


def _pair(project: Project, before: str, after: str | None) -> tuple[PromptSpec, PromptSpec]:
    from workbench.operations.prompts import prompt_versions

    prompt, version = prompt_versions.version_named(project, before)
    first = prompt_versions.spec_of(prompt, version)
    if after is not None:
        return first, prompt_versions.spec_of(*prompt_versions.version_named(project, after))
    if version is not prompt.versions[-1]:
        return first, prompt_versions.spec_of(prompt, prompt.versions[-1])
    earlier = prompt.versions[max(0, len(prompt.versions) - 2)]
    return prompt_versions.spec_of(prompt, earlier), first


@click.command("rename")
@project_argument
@_name
@click.argument("new", metavar="NEW")
@as_json
def rename(file: Path, name: str, new: str, as_json: bool) -> None:
    """Rename the prompt NAME of FILE to NEW."""
    from workbench.operations.prompts import prompt_versions

    with session(file) as opened:
        prompt_versions.rename(opened.project, name, new)
        report = _report(opened.project, new)
    _say(report, _("Renamed to {name}."), as_json)


@click.command("duplicate")
@project_argument
@_of_version
@click.argument("new", metavar="[NEW]", default="")
@as_json
def duplicate(file: Path, name: str, new: str, as_json: bool) -> None:
    """Copy a version of a prompt of FILE, by default the latest one, to a prompt of its own."""
    from workbench.operations.prompts import prompt_versions

    with session(file) as opened:
        copy = prompt_versions.duplicate(opened.project, name, new)
        report = _report(opened.project, copy.name)
    _say(report, _("Copied to {name}."), as_json)


@click.command("restore")
@project_argument
@click.argument("name", metavar="NAME@VERSION")
@as_json
def restore(file: Path, name: str, as_json: bool) -> None:
    """Make an earlier version of a prompt of FILE the latest one."""
    from workbench.operations.prompts import prompt_versions

    with session(file) as opened:
        prompt, version = prompt_versions.version_named(opened.project, name)
        prompt_versions.restore(opened.project, prompt.name, version.number)
        report = _report(opened.project, prompt.name)
    _say(report, _("Restored as version {version} of {name}."), as_json)


@click.command("delete")
@project_argument
@_name
@as_json
def delete(file: Path, name: str, as_json: bool) -> None:
    """Delete the prompt NAME of FILE with all versions; its runs stay."""
    from workbench.operations.prompts import prompt_versions

    with session(file) as opened:
        report = _report(opened.project, name)
        prompt_versions.delete(opened.project, name)
    _say(report, _("Deleted prompt {name}."), as_json)


def _report(project: Project, name: str) -> dict[str, Any]:
    from workbench.operations.prompts import prompt_versions

    prompt = prompt_versions.named(project, name)
    return {"name": prompt.name, "version": prompt.versions[-1].number}


def _say(report: dict[str, Any], message: str, as_json: bool) -> None:
    if as_json:
        emit(report)
    else:
        say(message.format(**report))


COMMANDS = (list_prompts, show, diff, rename, duplicate, restore, delete)
