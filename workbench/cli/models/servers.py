"""`servers list|add|remove|test`."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from workbench.base.i18n import _
from workbench.cli.output import as_json, emit, plain, say, table
from workbench.text.columns import Column

if TYPE_CHECKING:
    from workbench.prompting.servers import Server


@click.group()
def servers() -> None:
    """List, add, test and remove servers of language models.

    These are servers with the interface of OpenAI: llama.cpp, Ollama, vLLM, LM Studio,
    `transformers serve`, hosted ones. Keys are kept in the key store of the system.
    """


@servers.command("list")
@as_json
def list_servers(as_json: bool) -> None:
    """List every server with its models and what they can do, as tested."""
    from workbench.operations.prompts import servers as operations

    listed = operations.listed()
    if as_json:
        emit([server.to_json() for server in listed])
        return
    pairs = [(server, model) for server in listed for model in server.models or ("",)]
    columns = (
        Column(_("Address"), lambda pair: pair[0].address),
        Column(_("Title"), lambda pair: pair[0].title or None),
        Column(_("Model"), lambda pair: pair[1] or None),
        Column(_("Can"), lambda pair: _can(*pair)),
    )
    table(columns, pairs)


def _can(server: Server, model: str) -> str:
    from workbench.operations.prompts import servers as operations

    probe = server.probes.get(model)
    return operations.abilities(probe.can) if probe else _("not tested")


@servers.command("add")
@click.argument("address", metavar="URL")
@click.option("--title", help=_("Display name. [default: its host and port]"))
@click.option("--model", default="", help=_("Model to test. [default: the only one]"))
@click.option("--key", is_flag=True, help=_("Ask for the key; without a terminal it is read."))
@click.option("--price-in", type=float, help=_("Price of a million tokens of prompts."))
@click.option("--price-out", type=float, help=_("Price of a million tokens of replies."))
@click.option("--concurrency", type=int, help=_("Requests at the same time. [default: 4]"))
@click.option("--time-limit", type=float, help=_("Time limit of a request, s. [default: 120]"))
@click.option("--no-test", is_flag=True, help=_("Add it without asking it for its models."))
@as_json
def add(
    address: str,
    title: str | None,
    model: str,
    key: bool,
    no_test: bool,
    as_json: bool,
    **settings: float | None,
) -> None:
    """Add the server at URL, or change one, and test it.

    The test sends no text of a project. A server that does not answer is not added. A key is
    never an argument, which other users of the computer could read.
    """
    from workbench.operations.prompts import servers as operations

    values: dict[str, Any] = {name: value for name, value in settings.items() if value is not None}
    if title is not None:
        values["title"] = title
    with operations.adding(address, _key() if key else "") as server:
        server = replace(server, **values)
        if not no_test:
            server = _tested(server, model, quiet=as_json)
        elif model:
            server = replace(server, models=tuple(dict.fromkeys([*server.models, model])))
        operations.save(server)
    _show(server, as_json)


def _key() -> str:
    if sys.stdin.isatty():
        key: str = click.prompt(_("Key"), hide_input=True, err=True)
    else:
        key = sys.stdin.readline()
    if not key.strip():
        raise click.UsageError(_("The key is empty."))
    return key.strip()


@servers.command("test")
@click.argument("address", metavar="URL")
@click.option("--model", default="", help=_("Model to test. [default: the only one]"))
@as_json
def test(address: str, model: str, as_json: bool) -> None:
    """Ask a server for its models, and find out what MODEL can do.

    URL is an address or a title of `servers list`.
    """
    from workbench.operations.prompts import servers as operations

    server = _tested(operations.find(address), model, quiet=as_json)
    operations.save(server)
    _show(server, as_json)


def _tested(server: Server, model: str, *, quiet: bool) -> Server:
    from workbench.cli.session import session
    from workbench.operations.prompts import servers as operations

    title = _("Testing {server}", server=server.name)
    with (
        session(None) as opened,
        opened.progress(title, what=_("The test"), quiet=quiet) as watch,
    ):
        return operations.tested(opened.queue, server, model, watch=watch)


def _show(server: Server, as_json: bool) -> None:
    if as_json:
        emit(server.to_json())
        return
    say(plain(f"{server.address} ({server.where})"))
    for model in server.models:
        say(plain(_("{model}: {can}", model=model, can=_can(server, model))))


@servers.command("remove")
@click.argument("address", metavar="URL")
@as_json
def remove(address: str, as_json: bool) -> None:
    """Remove a server, and its key from the key store. URL is an address or a title."""
    from workbench.operations.prompts import servers as operations

    server = operations.find(address)
    operations.remove(server.address)
    emit({"address": server.address}) if as_json else say(
        _("{server} is removed.", server=plain(server.name))
    )
