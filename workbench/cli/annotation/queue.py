"""`queue`: the next documents to label, in the order of a strategy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.i18n import _, ngettext
from workbench.base.registry import registry
from workbench.cli.documents.filters import matching, where_option
from workbench.cli.output import as_json, emit, say, table
from workbench.cli.session import CommandSession, layer_option, project_argument, session
from workbench.text.columns import Column

if TYPE_CHECKING:
    from workbench.operations.annotation.queue_list import Listed
    from workbench.operations.annotation.queue_orders import OrderSpec, QueueOrder

KEPT, FILES = "kept", "file"  # besides the strategies


def _orders() -> str:
    return ", ".join((KEPT, FILES, *registry().ids("strategy")))


@click.command()
@project_argument
@layer_option
@click.option(
    "--order",
    default=KEPT,
    show_default=True,
    metavar="ORDER",
    help=_("One of: {orders}.", orders=_orders()),
)
@click.option(
    "--run",
    "run_names",
    multiple=True,
    metavar="NAME",
    help=_("A run whose predictions order the documents; twice for disagreement."),
)
@click.option(
    "--model", metavar="NAME", help=_("A pretrained model whose vectors order the documents.")
)
@click.option(
    "--control",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.1,
    show_default=True,
    help=_("Share of random documents."),
)
@click.option("--seed", type=int, default=1, show_default=True, help=_("Seed of the random part."))
@click.option(
    "-n", "count", type=click.IntRange(min=0), default=20, show_default=True,
    help=_("Number of documents."),
)  # fmt: skip
@where_option
@as_json
def queue(
    file: Path,
    layer_name: str,
    order: str,
    run_names: tuple[str, ...],
    model: str | None,
    control: float,
    seed: int,
    count: int,
    where: str,
    as_json: bool,
) -> None:
    """List the next documents of FILE to label in a layer, in the order of a strategy.

    Documents that are submitted or discarded in the layer are left out. An order is computed once
    and kept with the project, where Annotate uses it: list it again with `--order kept`, return to
    file order with `--order file`. Strategies of uncertainty read predictions of a run, diversity
    reads vectors of a pretrained model. Scores are high for documents that are likely to help; of
    control documents, which are drawn at random, they are shown for comparison. --where chooses
    among the documents of the order; it does not change the order.
    """
    from workbench.operations.annotation import queue_list, queue_orders
    from workbench.operations.evaluation import folds

    with session(file, read_only=order == KEPT) as opened:
        layer = folds.layer_named(opened.project, layer_name)
        only = matching(opened.project, where)
        if order == FILES:
            queue_orders.forget(opened.project, layer.id or 0)
        elif order != KEPT:
            spec = _wanted(opened, layer, order, run_names, model, control, seed)
            _computed(opened, spec)
        stored = queue_orders.kept(opened.project, layer.id or 0)
        listed = queue_list.next_documents(opened.project, layer, stored, count, only=only)
    _show(layer.name, stored, listed, as_json=as_json)


def _wanted(
    opened: CommandSession,
    layer: Any,
    order: str,
    run_names: tuple[str, ...],
    model: str | None,
    control: float,
    seed: int,
) -> OrderSpec:
    from workbench.operations.annotation import queue_orders
    from workbench.operations.inspecting import inspect
    from workbench.operations.runs import results

    runs = tuple(results.run_named(opened.project, name) for name in run_names)
    vectors = inspect.of_folder(model) if model else None
    return queue_orders.OrderSpec(order, layer, runs, vectors, control, seed)


def _computed(opened: CommandSession, spec: OrderSpec) -> QueueOrder:
    """Compute and keep an order; Ctrl+C cancels."""
    from workbench.operations.annotation import queue_orders

    with opened.progress(_("Ordering")) as watch:
        return queue_orders.compute(opened.project, opened.queue, spec, watch=watch)


def _show(layer: str, order: QueueOrder | None, listed: Listed, *, as_json: bool) -> None:
    if as_json:
        emit(
            {
                "layer": layer,
                "order": order.strategy if order is not None else FILES,
                "source": order.source if order is not None else "",
                "control": order.share if order is not None else 0.0,
                "seed": order.seed if order is not None else None,
                "at": order.at if order is not None else None,
                "left": listed.left,
                "documents": [document.to_json() for document in listed.documents],
            }
        )
        return
    left = ngettext(
        "{layer}: {n:,} document to label",
        "{layer}: {n:,} documents to label",
        listed.left,
        layer=layer,
    )
    say(left)
    title = order.title if order is not None else _("File order")
    say(f"{title} · {order.source}" if order is not None and order.source else title)
    columns = (
        Column(_("Key"), lambda document: document.key),
        Column(_("Text"), lambda document: document.text[:60]),
        Column(_("Score"), lambda document: document.score),
        Column("", lambda document: _("random control") if document.control else ""),
    )
    if listed.documents:
        table(columns, listed.documents)
