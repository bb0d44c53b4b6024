"""`models list|add|info`."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.base.i18n import _
from workbench.cli.output import as_json, emit, say, size, table


@click.group()
def models() -> None:
    """List, add and describe pretrained models: the starters, folders on disk, the Hugging Face cache."""


@models.command("list")
@as_json
def list_models(as_json: bool) -> None:
    """Show every model that can be trained from or asked."""
    from workbench.operations import models as operations

    found = operations.list()
    if as_json:
        emit([one.to_json() for one in found])
        return
    head = (
        _("Name"),
        _("Family"),
        _("Parameters"),
        _("Layers"),
        _("Width"),
        _("Size"),
        _("Licence"),
    )
    table(head, [_row(one) for one in found])


def _row(info) -> tuple:
    parameters = _("{n:.1f} M").format(n=info.parameters / 1e6) if info.parameters else None
    return (
        info.name,
        info.family,
        parameters,
        info.layers,
        info.width,
        size(info.size_bytes or 0),
        info.licence or None,
    )


@models.command("info")
@click.argument("name", metavar="NAME")
@as_json
def info(name: str, as_json: bool) -> None:
    """Show the card of one model, by name or folder. Nothing is loaded."""
    from workbench.operations import models as operations

    card = operations.info(name).to_json()
    if as_json:
        emit(card)
        return
    for key, value in card.items():
        if value not in (None, "", [], {}):
            say(
                f"{key + ':':<14} {', '.join(map(str, value)) if isinstance(value, list) else value}"
            )


@models.command("add")
@click.argument("folder", type=click.Path(path_type=Path), metavar="FOLDER")
@click.option(
    "--allow-pickle",
    is_flag=True,
    help=_(
        "Take a model whose weights are pickled. Loading such a file can run code; only from a source you trust."
    ),
)
@as_json
def add(folder: Path, allow_pickle: bool, as_json: bool) -> None:
    """Remember a model FOLDER (config.json, weights, tokenizer), so it can be chosen by name."""
    from workbench.operations import models as operations

    found = operations.add(folder, allow_pickle=allow_pickle)
    emit(found.to_json()) if as_json else say(_("{name} can be used now.").format(name=found.name))
