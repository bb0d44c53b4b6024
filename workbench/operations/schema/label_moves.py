"""Moving labels with their annotations to another layer; one undo step."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.operations.schema.label_changes import check_in, documents_of, name_of, place_of
from workbench.project import backup
from workbench.project.project import Project
from workbench.storage.labels import label_moves as stored
from workbench.storage.labels import labels as store
from workbench.text.labels import Layer
from workbench.text.relations import span_layer
from workbench.text.rows import row_id

__all__ = ["layers_for", "move", "move_text"]


def layers_for(project: Project, layer_id: int) -> tuple[Layer, ...]:
    """The layers that labels of this layer can be moved to."""
    own = store.layer(project.db, layer_id)
    return tuple(
        layer
        for layer in store.layers(project.db)
        if layer.id != own.id and _refusal(own, layer) is None
    )


def move_text(project: Project, label_ids: Sequence[int], layer_id: int) -> str:
    """What `move` would do, as sentences, or why it cannot be done."""
    try:
        ids = check_move(project, label_ids, layer_id)
    except WorkbenchError as refused:
        return str(refused)
    use = store.usage(project.db, ids)
    layer = store.layer(project.db, layer_id).name
    message = ngettext(
        "{n:,} annotation in {documents} moves to the layer {layer}.",
        "{n:,} annotations in {documents} move to the layer {layer}.",
        use["annotations"],
        documents=documents_of(use["documents"]),
        layer=layer,
    )
    sentences = [message]
    if more := len(ids) - len(set(label_ids)):
        along = ngettext(
            "{n:,} sublabel is moved as well.", "{n:,} sublabels are moved as well.", more
        )
        sentences.append(along)
    for connection in stored.connections(project.db, ids):
        follows = ngettext(
            "{relations} then connects spans of {layer}, with its {n:,} relation.",
            "{relations} then connects spans of {layer}, with its {n:,} relations.",
            connection.inside,
        )
        name = store.layer(project.db, connection.layer_id).name
        sentences.append(follows.format(relations=name, layer=layer, n=connection.inside))
    if divided := stored.divided_chains(project.db, ids):
        message = ngettext(
            "{n:,} chain is divided, as it also has spans with other labels.",
            "{n:,} chains are divided, as they also have spans with other labels.",
            divided,
        )
        sentences.append(message)
    return " ".join(sentences)


def move(
    project: Project,
    label_ids: Sequence[int],
    layer_id: int,
    *,
    origin: object = None,
    watch: Watch = QUIET,
) -> int:
    """Move labels of a layer with their annotations and sublabels to another layer; returns the
    number of annotations and suggestions moved. Chains get numbers that are free there.

    Raises WorkbenchError where `check_move` does.
    """
    below = store.sublabels(project.db, label_ids)
    ids = check_move(project, label_ids, layer_id)
    names = ", ".join(name_of(project, id) for id in ids)
    target = store.layer(project.db, layer_id)
    title = _("Move {names} to {layer}", names=names, layer=target.name)
    touched = store.usage(project.db, ids)["documents"]
    backup.before(project, backup.RELABEL, touched, watch=watch.part(0.0, 0.2))
    moved, body = 0, watch.part(0.2, 0.9)
    with project.edit(title, origin=origin, watch=watch.part(0.9, 1.0)):
        stored.prepare(project.db, ids, layer_id)
        for place, id in enumerate(ids):
            part = body.part(place / len(ids), (place + 1) / len(ids))
            moved += stored.change_layer(project.db, id, layer_id, watch=part)
        for id, parent_id in below.items():
            store.set_parent(project.db, id, parent_id)
    return moved


def check_move(project: Project, label_ids: Sequence[int], layer_id: int) -> list[int]:
    """The labels that move: these and their sublabels.

    Raises WorkbenchError if that layer cannot hold them, has a label of that name, or allows one
    label per document or token and has one already where the moved ones are; if relations would
    connect spans of two layers, or of another layer than that relation layer connects.
    """
    target = store.layer(project.db, layer_id)
    source, _label = place_of(project, label_ids[0])
    if (refusal := _refusal(source, target)) is not None:
        raise WorkbenchError(refusal)
    ids = list(dict.fromkeys([*label_ids, *store.sublabels(project.db, label_ids)]))
    for id in ids:
        check_in(project, id, source)
        if (name := name_of(project, id)) in target.names:
            raise WorkbenchError(
                _("{layer} already has a label named {name!r}.", layer=target.name, name=name),
                hint=_("Rename one of them first; after the move they can be merged."),
            )
    _check_room(project, ids, target)
    _check_connections(project, ids, source)
    if target.traits.between_spans:
        _check_spans(project, ids, source, target)
    return ids


def _refusal(source: Layer, target: Layer) -> str | None:
    """Why labels of a layer cannot be moved to another one; None if they can."""
    if source.id == target.id:
        return _("The labels are already in the layer {layer}.", layer=target.name)
    if source.texts != target.texts or not target.traits.holds(source.traits):
        return _(
            "The layer {layer} cannot hold labels of the layer {source}.",
            layer=target.name,
            source=source.name,
        )
    return None


def _check_room(project: Project, label_ids: Sequence[int], target: Layer) -> None:
    """Raises WorkbenchError if documents would get two labels in a layer for one."""
    if target.traits.several:
        return
    if documents := stored.taken(project.db, label_ids, row_id(target)):
        message = ngettext(
            "{n:,} document has a label in the layer {layer} already, which allows only one.",
            "{n:,} documents have a label in the layer {layer} already, which allows only one.",
            documents,
        )
        raise WorkbenchError(
            message.format(n=documents, layer=target.name),
            hint=_("Move the labels to a layer for several labels, or to a new layer."),
        )


def _check_connections(project: Project, label_ids: Sequence[int], source: Layer) -> None:
    """Raises WorkbenchError if a relation layer would connect spans of two layers."""
    for connection in stored.connections(project.db, label_ids):
        if connection.others:
            message = ngettext(
                "The layer {relations} connects spans of one layer, and {n:,} relation has spans "
                "of {layer} with other labels.",
                "The layer {relations} connects spans of one layer, and {n:,} relations have spans "
                "of {layer} with other labels.",
                connection.others,
            )
            name = store.layer(project.db, connection.layer_id).name
            raise WorkbenchError(
                message.format(relations=name, n=connection.others, layer=source.name),
                hint=_("Move all labels that its relations connect, or delete these relations."),
            )


def _check_spans(project: Project, label_ids: Sequence[int], source: Layer, target: Layer) -> None:
    """Raises WorkbenchError if the target connects spans of another layer than the relations."""
    of, others = span_layer(source), span_layer(target)
    if others in ("", of):
        return
    if n := store.usage(project.db, label_ids)["relations"]:
        message = ngettext(
            "The layer {layer} connects spans of {others}; {n:,} relation connects spans of {of}.",
            "The layer {layer} connects spans of {others}; {n:,} relations connect spans of {of}.",
            n,
        )
        raise WorkbenchError(
            message.format(layer=target.name, others=others, n=n, of=of),
            hint=_("Choose a relation layer for spans of {of}, or add one.", of=of),
        )
