"""`models list|info|catalogue|recommend|add|remove`."""

from __future__ import annotations

import copy
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.base.i18n import _, ngettext
from workbench.base.sizes import size
from workbench.cli.output import as_json, emit, plain, say, table
from workbench.cli.session import PROJECT
from workbench.text.columns import Column, ValueKind, numbered

if TYPE_CHECKING:
    from workbench.models.spec import ModelInfo
    from workbench.models.spec.catalogue import Published
    from workbench.operations.models.recommend import Ranked


@click.group()
def models() -> None:
    """List, describe, add and remove pretrained models.

    Models are the starters, added folders and models in the Hugging Face cache.
    """


@models.command("list")
@as_json
def list_models(as_json: bool) -> None:
    """List every model. A model that cannot be used is listed with the reason."""
    from workbench.operations.models import installed as operations

    cards = operations.list()
    if as_json:
        emit([operations.to_json(model) for model in cards])
        return
    columns = (
        Column(_("Name"), lambda info: info.name),
        Column(_("Family"), lambda info: info.architecture or None),
        Column(_("Parameters"), _millions),
        Column(_("Layers"), lambda info: info.layers or None),
        Column(_("Width"), lambda info: info.width or None),
        Column(_("Size"), lambda info: info.size_bytes or 0, kind=ValueKind.BYTES),
        Column(_("Licence"), lambda info: info.licence or None),
        Column(_("Problem"), _problem),
    )
    table(columns if any(info.problems for info in cards) else columns[:-1], cards)


def _millions(model: ModelInfo | Published) -> str | None:
    return _("{n:,.1f} M", n=model.parameters / 1e6) if model.parameters else None


def _problem(info: ModelInfo) -> str:
    """Short reason why it cannot be used; `models info` shows the full message."""
    if info.only_untrusted:
        return _("pickled weights, not confirmed")
    more = len(info.problems) - 1
    if more > 0:
        return ngettext(
            "{problem}; {n} more problem",
            "{problem}; {n} more problems",
            more,
            problem=info.problems[0],
        )
    return info.problems[0] if info.problems else ""


@models.command("info")
@click.argument("name", metavar="NAME")
@as_json
def info(name: str, as_json: bool) -> None:
    """Show the card and the blocks of one model, by name or folder. The model is not loaded.

    A model with problems is shown too; the exit code is then 1.
    """
    from workbench.models import spec
    from workbench.models.spec.blocks import model_map
    from workbench.operations.models import installed as operations

    card = operations.info(name)
    if as_json:
        emit({**operations.to_json(card), "map": model_map(card).to_json()})
    else:
        _show(card)
        _show_blocks(card)
    if card.problems and not card.only_untrusted:
        raise spec.unusable(card)


def _show(card: ModelInfo) -> None:
    from workbench.operations.models import installed as operations

    for key, value in operations.to_json(card).items():
        if key != "files" and value not in (None, "", [], {}, 0, False):
            words = "; ".join(card.problems) if key == "problems" else _words(value)
            say(f"{key + ':':<14} {plain(words)}")
    for name, count in card.files:
        say(f"{'':<14} {size(count):>8}  {plain(name)}")


def _show_blocks(card: ModelInfo) -> None:
    """A table of blocks; nothing for files that do not tell."""
    from workbench.models.spec.blocks import STATES, model_map

    blocks = model_map(card)
    if not blocks.blocks:
        return
    say()
    rows = [
        (
            block.words(),
            f"{block.parameters:,}",
            block.per_layer(),
            _(STATES[block.state]) if block.state else "",
        )
        for block in blocks.blocks
    ]
    total = (_("Total without heads"), f"{blocks.total:,}", "", "")
    table(numbered((_("Block"), _("Parameters"), _("Per layer"), _("Note"))), [*rows, total])


def _words(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


@models.command("catalogue")
@click.option(
    "--search",
    default="",
    help=_("Words to search for in name, paper, objective, corpus or hub id."),
)
@click.option(
    "--sort",
    type=click.Choice(("name", "paper", "year", "parameters", "objective", "direction", "licence")),
    help=_("Column to sort by. [default: by family]"),
)
@as_json
def catalogue(search: str, sort: str | None, as_json: bool) -> None:
    """List published systems with paper, year, size, objective, corpus, licence and hub id.

    Works offline. Systems that are installed are marked.
    """
    from workbench.models.spec.catalogue import DIRECTIONS
    from workbench.operations.models.installed import published

    entries = published(search, sort or "")
    if as_json:
        emit([published.to_json() for published in entries])
        return
    if not entries:
        say(_("No model matches."))
        return
    columns = (
        Column(_("Name"), lambda entry: entry.name),
        Column(_("Paper"), lambda entry: entry.paper),
        Column(_("Year"), lambda entry: entry.year),
        Column(_("Parameters"), _millions),
        Column(_("Objective"), lambda entry: entry.objectives),
        Column(_("Direction"), lambda entry: _(DIRECTIONS[entry.direction])),
        Column(_("Licence"), lambda entry: entry.licence or None),
        Column(_("Hub id"), lambda entry: entry.hub or None),
        Column(_("Installed"), lambda entry: entry.installed or None, kind=ValueKind.FLAG),
    )
    table(columns, entries)


@models.command("recommend")
@click.argument("source", type=PROJECT, metavar="PROJECT")
@click.option("--model", "names", multiple=True, help=_("Measure only these models."))
@click.option(
    "--sample", "count", type=click.IntRange(1), default=200, show_default=True, help=_("Texts.")
)
@click.option("--seed", type=int, default=1, show_default=True, help=_("Random seed."))
@as_json
def recommend(source: Path, names: tuple[str, ...], count: int, seed: int, as_json: bool) -> None:
    """Measure which installed model suits the texts of a project.

    Unknown words, tokens per word, truncated texts and perplexity on a sample. Perplexity is
    compared within one kind only.
    """
    from workbench.cli.session import reading, session
    from workbench.operations.models import installed as operations
    from workbench.operations.models import recommend as operation
    from workbench.operations.models.vectors import texts_of

    cards = [operations.find(name) for name in names] or list(operations.list())
    with reading(source) as project:
        texts = operation.sample(texts_of(project), count, seed)
    what = _("The measurement")
    with (
        session(None) as opened,
        opened.progress(_("Measuring"), what=what, quiet=as_json) as watch,
    ):
        fits = operation.measure(opened.queue, cards, texts, seed=seed, watch=watch)
    rows = operation.ranked(fits)
    if as_json:
        message = operation.recommendation(rows)
        emit(
            {"texts": len(texts), "recommendation": message, "models": [r.to_json() for r in rows]}
        )
    else:
        _show_ranking(rows)


FORMER = copy.copy(recommend)  # by its former name, for scripts
FORMER.hidden = True
models.add_command(FORMER, "suit")


def _show_ranking(rows: tuple[Ranked, ...]) -> None:
    from workbench.operations.models import recommend as operation

    table(operation.columns(), rows)
    say(operation.recommendation(rows))


@models.command("add")
@click.argument("folder", type=click.Path(path_type=Path), metavar="FOLDER")
@click.option(
    "--allow-pickle",
    is_flag=True,
    help=_(
        "Accept pickled weights. Loading them can run arbitrary code: only use a source you trust."
    ),
)
@as_json
def add(folder: Path, allow_pickle: bool, as_json: bool) -> None:
    """Add a model FOLDER (config.json, weights, tokenizer) to the list, so it can be selected by
    name.
    """
    from workbench.models import spec
    from workbench.operations.models import installed as operations

    card = spec.card(folder.absolute())
    if card.only_untrusted and not allow_pickle and not as_json:
        _show(card)
    added = operations.add(folder, allow_pickle=allow_pickle)
    emit(operations.to_json(added)) if as_json else say(
        _("{name} was added.", name=plain(added.name))
    )


@models.command("remove")
@click.argument("name", metavar="NAME")
@click.option("--yes", is_flag=True, help=_("Delete files without confirmation."))
@as_json
def remove(name: str, yes: bool, as_json: bool) -> None:
    """Remove a model from the list, by name or folder.

    The files of an added folder are kept. A model that Glossbench downloaded is deleted after
    confirmation. The starters cannot be removed.
    """
    from workbench.operations.models import installed as operations

    planned = operations.removal(name)
    if planned.deletes and not yes and sys.stdin.isatty():
        yes = click.confirm(
            _("Delete {size} of {name}?", size=size(planned.deletes), name=name), err=True
        )
    done = operations.remove(name, delete=yes)
    report = {"name": done.card.name, "path": done.card.path, "deleted_bytes": done.deletes}
    if as_json:
        emit(report)
    elif done.deletes:
        say(_("{name} was deleted.", name=plain(done.card.name)))
    else:
        message = _(
            "{name} was removed from the list. Its files remain in {path}.",
            name=plain(done.card.name),
            path=plain(done.card.path),
        )
        say(message)
