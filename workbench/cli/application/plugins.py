"""`plugins list|enable|disable|check`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from workbench.base.i18n import _
from workbench.cli.output import as_json, emit, note, plain, say, table
from workbench.text.columns import Column

if TYPE_CHECKING:
    from workbench.base.plugins import Plugin
    from workbench.operations.application.plugin_checks import CheckedContribution


@click.group()
def plugins() -> None:
    """List, enable, disable and check plugins.

    A plugin is a folder with plugin.toml and Python code. Plugins are searched for in the folder
    `plugins` of the user's data, in the plugin folders of the settings, and in installed packages.
    """


@plugins.command("list")
@as_json
def list_plugins(as_json: bool) -> None:
    """List every plugin with its contributions. No plugin code is run."""
    from workbench.base import settings
    from workbench.operations.application import plugin_checks
    from workbench.operations.application import plugins as operations

    statuses = operations.all_plugins()
    if as_json:
        emit([status.to_json() for status in statuses])
        return
    columns = (
        Column(_("Id"), lambda status: status.plugin.id),
        Column(_("Version"), lambda status: status.plugin.version),
        Column(_("State"), lambda status: _(operations.STATES[status.state])),
        Column(_("Adds"), lambda status: "; ".join(operations.adds(status.plugin)) or None),
        Column(_("Folder"), lambda status: str(status.plugin.folder)),
    )
    table(columns, statuses)
    for status in statuses:
        if status.error:
            say(f"{plain(status.plugin.id)}: {plain(status.error)}")
        _warn(status.plugin.warnings)
    message = _(
        "{id} was not checked since its files, Glossbench or Python changed. "
        "Run `glossbench plugins check {id}`."
    )
    for plugin in plugin_checks.changed(settings.load()):
        note(message.format(id=plain(plugin.id)))


@plugins.command("enable")
@click.argument("name", metavar="PLUGIN")
@click.option("--yes", is_flag=True, help=_("Skip the confirmation, for scripts."))
@as_json
def enable(name: str, yes: bool, as_json: bool) -> None:
    """Enable PLUGIN, an id or a folder, after checking it as `plugins check` does.

    Its code runs with your user rights: it can read and change your files and use the network.
    """
    from workbench.operations.application import plugin_checks
    from workbench.operations.application import plugins as operations

    plugin = operations.find(name)
    message = _(
        "Plugins run Python code with your user rights: they can read and change your files and use"
        " the network. Enable {name} only if you trust its author."
    )
    if not yes and not plugin.fault:
        note(message.format(name=plain(plugin.name)))
        click.confirm(_("Enable it?"), abort=True, err=True)
    if not plugin.fault:
        plugin_checks.ensure_checked(plugin, _check(plugin, quiet=as_json))
    operations.enable(plugin)
    _warn(plugin.warnings)
    status = next(status for status in operations.all_plugins() if status.plugin.key == plugin.key)
    emit(status.to_json()) if as_json else say(_("{name} is enabled.", name=plain(plugin.name)))


@plugins.command("disable")
@click.argument("name", metavar="PLUGIN")
@as_json
def disable(name: str, as_json: bool) -> None:
    """Disable PLUGIN, an id or a folder. Its files are kept."""
    from workbench.operations.application import plugins as operations

    plugin = operations.find(name)
    operations.disable(plugin)
    emit({"id": plugin.id, "state": operations.DISABLED}) if as_json else say(
        _("{name} is disabled.", name=plain(plugin.name))
    )


@plugins.command("check")
@click.argument("name", metavar="PLUGIN")
@as_json
@click.pass_context
def check(context: click.Context, name: str, as_json: bool) -> None:
    """Import everything that PLUGIN contributes and check it against the contracts.

    Runs its code in a process of its own. A contribution whose import takes more than 120 s fails.
    PLUGIN is an id or a folder. Names in plugin.toml that nothing reads are reported as warnings.
    The exit code is 1 if a check fails.
    """
    from workbench.operations.application import plugin_checks
    from workbench.operations.application import plugins as operations

    plugin = operations.find(name)
    _warn(plugin.warnings)
    if plugin.fault and not as_json:
        say(plain(plugin.fault))
    checked = () if plugin.fault else _check(plugin, quiet=as_json)
    for contribution in checked if not as_json else ():
        _show(contribution)
    if as_json:
        emit(
            {
                "id": plugin.id,
                "error": plugin.fault,
                "warnings": list(plugin.warnings),
                "checked": [asdict(contribution) for contribution in checked],
            }
        )
    if plugin.fault or plugin_checks.first_error(checked):
        context.exit(1)
    operations.passed(plugin)


def _check(plugin: Plugin, *, quiet: bool) -> tuple[CheckedContribution, ...]:
    """Check a plugin in a worker, whose end is not that of the command. Ctrl+C cancels."""
    from workbench.cli.session import session
    from workbench.operations.application import plugin_checks

    with (
        session(None) as opened,
        opened.progress(_("Checking"), what=_("The check"), quiet=quiet) as watch,
    ):
        return plugin_checks.check_in_worker(opened.queue, plugin, watch=watch)


def _show(checked: CheckedContribution) -> None:
    say(f"{checked.kind} {plain(checked.id)}: {plain(checked.error) or _('ok')}")
    for line in checked.details.splitlines():
        say(f"  {plain(line)}")


def _warn(warnings: Sequence[str]) -> None:
    for warning in warnings:
        note(_("Warning: {warning}", warning=plain(warning)))
