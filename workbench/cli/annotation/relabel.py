"""`relabel`: changes of a label set that take the annotations along."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.base.errors import SpecError
from workbench.base.i18n import _, ngettext
from workbench.base.watch import Watch
from workbench.cli.annotation.patterns import label_id
from workbench.cli.output import as_json, emit, say
from workbench.cli.session import project_argument, session
from workbench.text.labels import LAYER_KINDS
from workbench.text.rows import row_id
from workbench.text.snap import SNAPS, TITLES

if TYPE_CHECKING:
    from workbench.project.project import Project

_layer = click.option("--layer", metavar="NAME", help=_("The layer of the labels."))
_dry_run = click.option(
    "--dry-run", is_flag=True, help=_("Show what would change, without changing it.")
)


@click.group()
def relabel() -> None:
    """Add labels; rename, order, group, merge, split, move and delete them with annotations."""


@relabel.command()
@project_argument
@click.argument("layer")
@click.argument("labels", nargs=-1)
@click.option(
    "--kind",
    metavar="KIND",
    help=_("Create the layer, of this kind: {kinds}.", kinds=", ".join(LAYER_KINDS)),
)
@as_json
def add(file: Path, layer: str, labels: Sequence[str], kind: str | None, as_json: bool) -> None:
    """Add LABELS to LAYER of FILE; existing ones are kept as they are."""
    from workbench.operations.schema import labels as schema

    with session(file) as opened:
        project = opened.project
        existing = {item.name: item for item in schema.layers(project)}
        if kind:
            if layer in existing:
                raise SpecError(_("The project has a layer {name} already.", name=layer))
            schema.add_layer(project, layer, kind, labels=labels)
            added = list(labels)
        elif layer not in existing:
            raise SpecError(
                _("The project has no layer {name}.", name=layer),
                hint=_(
                    "Layers: {names}. To create it, use --kind.", names=", ".join(existing) or "–"
                ),
            )
        else:
            before = {label.name for label in existing[layer].labels}
            added = [name for name in dict.fromkeys(labels) if name not in before]
            if added:
                schema.add_labels(project, row_id(existing[layer]), added)
    if as_json:
        emit({"layer": layer, "added": added})
    else:
        message = _("Added to {layer}: {names}.")
        say(message.format(layer=layer, names=", ".join(added) or _("nothing")))


@relabel.command()
@project_argument
@click.argument("label")
@click.argument("name")
@_layer
@as_json
def rename(file: Path, label: str, name: str, layer: str | None, as_json: bool) -> None:
    """Rename LABEL of FILE to NAME."""
    from workbench.operations.schema import labels

    with session(file) as opened:
        labels.rename_label(opened.project, label_id(opened.project, label, layer), name)
    if as_json:
        emit({"renamed": label, "name": name})
    else:
        say(_("Renamed {label} to {name}.", label=label, name=name))


@relabel.command()
@project_argument
@click.argument("labels", nargs=-1, required=True)
@click.option("--into", required=True, metavar="LABEL", help=_("The label that remains."))
@_layer
@_dry_run
@as_json
def merge(
    file: Path, labels: Sequence[str], into: str, layer: str | None, dry_run: bool, as_json: bool
) -> None:
    """Merge LABELS of FILE into one label, with their annotations, patterns and relations."""
    from workbench.operations.schema import label_changes

    def describe(project: Project) -> str:
        ids = [label_id(project, name, layer) for name in labels]
        return label_changes.merge_text(project, ids, label_id(project, into, layer))

    if dry_run:
        _preview(file, "merged", describe, as_json)
        return

    def act(project: Project, watch: Watch) -> int:
        ids = [label_id(project, name, layer) for name in labels]
        target = label_id(project, into, layer)
        return label_changes.merge(project, ids, target, watch=watch)

    _report("merged", _run(file, _("Merging"), act, as_json), as_json)


@relabel.command()
@project_argument
@click.argument("label")
@click.argument("name")
@_layer
@click.option(
    "--text",
    "texts",
    multiple=True,
    metavar="TEXT",
    help=_("Spans with exactly this text get the new label; can be repeated."),
)
@click.option(
    "--containing",
    metavar="WORDS",
    help=_("Labels of documents that contain these words change to the new label."),
)
@as_json
def split(
    file: Path,
    label: str,
    name: str,
    layer: str | None,
    texts: Sequence[str],
    containing: str | None,
    as_json: bool,
) -> None:
    """Give some annotations with LABEL the label NAME, which is added if it is new."""
    from workbench.operations.documents import corpus
    from workbench.operations.schema import label_changes

    if bool(texts) == bool(containing):
        raise SpecError(
            _("Choose the annotations either with --text or with --containing."),
            hint=_("Example: relabel split FILE PER WOMAN --text Ada"),
        )

    def act(project: Project, watch: Watch) -> int:
        id = label_id(project, label, layer)
        ids = documents = None
        if texts:
            uses = label_changes.uses(project, id)
            ids = [id for use in uses if use.text in texts for id in use.ids]
        else:
            documents = corpus.filter_ids(project, corpus.Filter(text=containing or ""))
        return label_changes.split(project, id, name, ids=ids, document_ids=documents, watch=watch)[
            1
        ]

    _report("split", _run(file, _("Splitting"), act, as_json), as_json)


@relabel.command()
@project_argument
@click.argument("labels", nargs=-1, required=True)
@click.option("--to", "target", required=True, metavar="LAYER", help=_("The layer to move to."))
@_layer
@_dry_run
@as_json
def move(
    file: Path, labels: Sequence[str], target: str, layer: str | None, dry_run: bool, as_json: bool
) -> None:
    """Move LABELS of FILE with their annotations to another layer."""
    from workbench.operations.schema import label_moves
    from workbench.operations.schema import labels as schema
    from workbench.text.rows import row_id

    def describe(project: Project) -> str:
        ids = [label_id(project, name, layer) for name in labels]
        layer_id = row_id(schema.layer_named(project, target))
        label_moves.check_move(project, ids, layer_id)
        return label_moves.move_text(project, ids, layer_id)

    if dry_run:
        _preview(file, "moved", describe, as_json)
        return

    def act(project: Project, watch: Watch) -> int:
        ids = [label_id(project, name, layer) for name in labels]
        return label_moves.move(
            project, ids, row_id(schema.layer_named(project, target)), watch=watch
        )

    _report("moved", _run(file, _("Moving"), act, as_json), as_json)


@relabel.command()
@project_argument
@click.argument("labels", nargs=-1, required=True)
@_layer
@_dry_run
@as_json
def delete(
    file: Path, labels: Sequence[str], layer: str | None, dry_run: bool, as_json: bool
) -> None:
    """Delete LABELS of FILE with their annotations, suggestions and patterns. Can be undone."""
    from workbench.operations.schema import labels as operations

    def ids(project: Project) -> list[int]:
        return [label_id(project, name, layer) for name in labels]

    def act(project: Project, watch: Watch) -> int:
        operations.delete_labels(project, ids(project), watch=watch)
        return len(labels)

    if dry_run:
        _preview(
            file, "deleted", lambda project: operations.will_go(project, ids(project)), as_json
        )
        return
    deleted = _run(file, _("Deleting"), act, as_json)
    if as_json:
        emit({"deleted": deleted})
    else:
        say(ngettext("Deleted {n:,} label.", "Deleted {n:,} labels.", deleted))


@relabel.command()
@project_argument
@click.argument("labels", nargs=-1, required=True)
@_layer
@_dry_run
@as_json
def reorder(
    file: Path, labels: Sequence[str], layer: str | None, dry_run: bool, as_json: bool
) -> None:
    """Put LABELS of FILE first in their layer, in this order; the others keep theirs."""
    from workbench.operations.schema import labels as operations

    with session(file) as opened:
        project = opened.project
        ids = [label_id(project, name, layer) for name in labels]
        if dry_run:
            order = operations.ordered(project, ids)
        else:
            order = operations.reorder_labels(project, ids)
    if as_json:
        emit({"order": list(order)})
    else:
        say(", ".join(order))


@relabel.command()
@project_argument
@click.argument("labels", nargs=-1, required=True)
@click.option("--of", "parent", metavar="LABEL", help=_("Their parent; leave out for none."))
@_layer
@as_json
def parent(
    file: Path, labels: Sequence[str], parent: str | None, layer: str | None, as_json: bool
) -> None:
    """Make LABELS of FILE sublabels of another label, or labels of their own without --of.

    Queries and filters for the parent find sublabels, too. In training, sublabels are labels of
    their own.
    """
    from workbench.operations.schema import label_groups

    with session(file) as opened:
        ids = [label_id(opened.project, name, layer) for name in labels]
        of = None if parent is None else label_id(opened.project, parent, layer)
        label_groups.set_parent(opened.project, ids, of)
    if as_json:
        emit({"labels": list(labels), "parent": parent})
    elif parent is None:
        say(_("{names}: no parent.", names=", ".join(labels)))
    else:
        say(_("{names}: sublabels of {parent}.", names=", ".join(labels), parent=parent))


@relabel.command()
@project_argument
@click.argument("layer")
@click.argument("to", type=click.Choice(SNAPS))
@as_json
def snap(file: Path, layer: str, to: str, as_json: bool) -> None:
    """Set what spans of LAYER snap to in Annotate; existing spans are not changed."""
    from workbench.operations.schema import labels
    from workbench.text.rows import row_id

    with session(file) as opened:
        labels.set_snap(opened.project, row_id(labels.layer_named(opened.project, layer)), to)
    if as_json:
        emit({"layer": layer, "snap": to})
    else:
        say(_("New spans of {layer} snap to {what}.", layer=layer, what=_(TITLES[to])))


def _preview(file: Path, key: str, describe: Callable[[Project], str], quiet: bool) -> None:
    """Say what would be done: nothing has changed."""
    with session(file) as opened:
        words = describe(opened.project)
    if quiet:
        emit({key: 0, "told": words})
    else:
        say(words)


def _run(file: Path, title: str, act: Callable[[Project, Watch], int], quiet: bool) -> int:
    with session(file) as opened, opened.working(title, quiet=quiet) as watch:
        return act(opened.project, watch)


def _report(key: str, changed: int, as_json: bool) -> None:
    if as_json:
        emit({key: changed})
        return
    message = ngettext(
        "Changed {n:,} annotation or suggestion.",
        "Changed {n:,} annotations and suggestions.",
        changed,
    )
    say(message)
