"""`generate`: let a model continue a text or answer a message."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.errors import JobFailed
from workbench.base.i18n import _, ngettext
from workbench.cli.output import as_json, emit, note, plain, say
from workbench.cli.runs.prompt import asked_model
from workbench.cli.runs.prompt_options import free_text_options
from workbench.cli.session import CommandSession, key_values, session

if TYPE_CHECKING:
    from workbench.jobs.spec import JobSpec
    from workbench.prompting.generation import GenerationRequest, Reply, ReplyToken


@click.command()
@click.argument("model")
@click.argument("text", required=False)
@click.option(
    "--chat", is_flag=True, help=_("TEXT is a message to the model, not a text to continue.")
)
@click.option("--system", default="", help=_("Instruction before the message, with --chat."))
@click.option("--backend", metavar="ID", help=_("Prompt backend. [default: local]"))
@click.option(
    "--server",
    metavar="URL",
    help=_("Ask a model of this server, an address or a title of `servers list`."),
)
@click.option(
    "--set",
    "options",
    multiple=True,
    callback=key_values,
    metavar="KEY=VALUE",
    help=_("Set an option of the backend."),
)
@free_text_options
@click.option(
    "--device", default="auto", show_default=True, help=_("Device to compute on: auto, cpu, cuda.")
)
@click.option(
    "--add-to",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help=_("Add the texts to this project, as documents that say how they were written."),
)
@click.option("--yes-send", is_flag=True, help=_("Agree that TEXT is sent to a server."))
@as_json
def generate(
    model: str,
    text: str | None,
    chat: bool,
    system: str,
    backend: str | None,
    server: str | None,
    options: dict[str, str],
    device: str,
    add_to: Path | None,
    yes_send: bool,
    as_json: bool,
    **settings: Any,
) -> None:
    """Let MODEL continue TEXT, or answer it with --chat. Without TEXT, standard input is read.

    MODEL is a name of `models list`, a folder, or a model of another backend. Replies are printed
    as they are written; several samples one after the other. With --json each has its tokens with
    natural log-probabilities, and the most probable tokens at each place.
    """
    from workbench.operations.prompts import free_text, prompt_models, servers
    from workbench.prompting.generation import SYSTEM, USER, Message

    if server and backend:
        raise click.UsageError(_("--server and --backend exclude each other."))
    content = sys.stdin.read() if text is None else text
    decoding = free_text.decoding(settings)
    turns = (Message(SYSTEM, system),) * bool(system) + (Message(USER, content),)
    requests = free_text.requests(
        decoding, text="" if chat else content, messages=turns if chat else ()
    )
    with session(add_to) as opened:
        chosen, card = asked_model(opened, backend, server, model)
        free_text.check(card, chat=chat)
        _agree(servers.remote_address(chosen, card.path), yes_send)
        spec = free_text.host(card, chosen, prompt_models.options(chosen, options), device)
        replies = _written(opened, spec, requests, quiet=as_json)
        if as_json:
            emit({"model": card.name, "replies": [reply.to_json() for reply in replies]})
        if add_to is not None:
            before = "" if chat else content
            written = [
                free_text.Written(content, before + reply.text, request.decoding.seed)
                for request, reply in zip(requests, replies, strict=True)
                if reply.text
            ]
            ids = free_text.save_documents(opened.project, written, card.name, decoding)
            added = ngettext("Added {n} document.", "Added {n} documents.", len(ids))
            note(added)


def _agree(address: str, yes: bool) -> None:
    """Ask whether the text may be sent to a server that is not on this computer.

    Raises ConsentNeeded without a terminal, Abort if the user says no.
    """
    if not address or yes:
        return
    from workbench.operations.prompts import servers

    if not sys.stdin.isatty():
        raise servers.ConsentNeeded(address)
    click.confirm(_("Send the text to {address}?", address=address), abort=True, err=True)


def _written(
    opened: CommandSession, spec: JobSpec, requests: Sequence[GenerationRequest], *, quiet: bool
) -> tuple[Reply, ...]:
    """The replies; unless `quiet`, the first one is printed while it is written."""
    from workbench.base.watch import Watch
    from workbench.jobs.host import Host
    from workbench.operations.prompts import free_text

    def show(tokens: Sequence[tuple[int, ReplyToken]]) -> None:
        if not quiet:
            click.echo(_plain("".join(token.text for at, token in tokens if at == 0)), nl=False)

    host, watch = Host(spec, dispatch=opened.mailbox), Watch()
    try:
        with opened.cancelling(watch):
            replies = free_text.write(host, requests, show, watch=watch)
    finally:
        host.close()
    for number, reply in enumerate(replies):
        if reply.error:
            raise JobFailed(reply.error)
        if not quiet:
            say(_plain(reply.text) if number else "")
    return replies


def _plain(text: str) -> str:
    """Without what controls a terminal, but in lines."""
    return "\n".join(map(plain, text.split("\n")))
