"""Changes of a label set that take the annotations along: merge, split, move to another layer.

Every call is one undo step; the functions named `…_told` describe it beforehand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.operations import labels as operations
from workbench.project.project import Project
from workbench.storage import label_changes as stored
from workbench.storage import labels as store
from workbench.storage.label_changes import Use
from workbench.text.labels import Label, Layer
from workbench.text.rows import row_id

__all__ = [
    "SHOWN", "Use", "layers_for", "merge", "merge_told", "move", "move_told", "split", "uses",
]  # fmt: skip

SHOWN = 20_000  # uses of a label that can be chosen from


def merge_told(project: Project, label_ids: Sequence[int], into: int) -> str:
    """What `merge` would do, as sentences."""
    others = [id for id in label_ids if id != into]
    use = store.usage(project.db, others)
    count = use["marks"] + use["spans"]
    told = ngettext(
        "{n:,} annotation in {documents} becomes {label}.",
        "{n:,} annotations in {documents} become {label}.",
        count,
    ).format(n=count, documents=_documents(use["documents"]), label=_name(project, into))
    if twice := stored.twice(project.db, others, into):
        dropped = ngettext(
            "{n:,} of them is dropped, because it would stand there twice.",
            "{n:,} of them are dropped, because they would stand there twice.",
            twice,
        )
        told = f"{told} {dropped.format(n=twice)}"
    if below := set(store.sublabels(project.db, others)) - {*others, into}:
        parent = _place(project, into)[1].parent
        if parent in {_name(project, id) for id in others}:
            parent = ""
        handed = ngettext(
            "{n:,} sublabel goes to {label}.", "{n:,} sublabels go to {label}.", len(below)
        )
        handed = handed.format(n=len(below), label=parent or _name(project, into))
        told = f"{told} {handed}"
    return told


def merge(
    project: Project,
    label_ids: Sequence[int],
    into: int,
    *,
    origin: object = None,
    watch: Watch = QUIET,
) -> int:
    """Give all annotations, suggestions, patterns and relations of labels to the label `into` and
    delete these labels. Returns the number of annotations and suggestions changed.

    Raises WorkbenchError if the labels are not in one layer, or if there is nothing to merge.
    """
    layer, _into = _place(project, into)
    others = [id for id in dict.fromkeys(label_ids) if id != into]
    if not others:
        raise WorkbenchError(
            _("Merging needs at least two labels."), hint=_("Choose another label, too.")
        )
    for id in others:
        _in_layer(project, id, layer)
    names = ", ".join(_name(project, id) for id in others)
    title = _("Merge {names} into {label}").format(names=names, label=_name(project, into))
    with project.edit(title, origin=origin, watch=watch.part(0.9, 1.0)):
        changed, body = 0, watch.part(0.0, 0.9)
        for place, id in enumerate(others):
            part = body.part(place / len(others), (place + 1) / len(others))
            changed += stored.relabel(project.db, id, into, watch=part)
            stored.hand_on(project.db, id, into)
            store.delete_label(project.db, id)
    return changed


def uses(project: Project, label_id: int) -> tuple[Use, ...]:
    """What `split` can choose from: texts of spans or documents, at most `SHOWN`."""
    return tuple(stored.uses(project.db, label_id, SHOWN))


def split(
    project: Project,
    label_id: int,
    name: str,
    *,
    span_ids: Iterable[int] | None = None,
    document_ids: Iterable[int] | None = None,
    origin: object = None,
    watch: Watch = QUIET,
) -> tuple[int, int]:
    """Give some annotations of a label the label `name` of the layer, which is added if it is new.

    `span_ids`: these spans; `document_ids`: all in these documents. Returns the id of that label
    and the number of annotations changed. Raises WorkbenchError if nothing is chosen.
    """
    layer, label = _place(project, label_id)
    spans = None if span_ids is None else tuple(span_ids)
    documents = None if document_ids is None else tuple(document_ids)
    if not (spans or documents):
        raise WorkbenchError(
            _("No annotations are chosen."), hint=_("Choose those that get the new label.")
        )
    title = _("Split {label} into {name}").format(label=label.name, name=name)
    with project.edit(title, origin=origin, watch=watch.part(0.9, 1.0)):
        to = operations.add_labels(project, row_id(layer), [name])[name.strip()]
        if to == label_id:
            raise WorkbenchError(
                _("The annotations have the label {name} already.").format(name=label.name),
                hint=_("Type another name."),
            )
        changed = stored.relabel(
            project.db,
            label_id,
            to,
            span_ids=spans,
            document_ids=documents,
            watch=watch.part(0.0, 0.9),
        )
    return to, changed


def layers_for(project: Project, layer_id: int) -> tuple[Layer, ...]:
    """The layers that labels of this layer can be moved to."""
    own = store.layer(project.db, layer_id)
    return tuple(
        layer
        for layer in store.layers(project.db)
        if layer.id != own.id and _refusal(own, layer) is None
    )


def move_told(project: Project, label_ids: Sequence[int], layer_id: int) -> str:
    """What `move` would do, as sentences."""
    ids = _with_sublabels(project, label_ids)
    use = store.usage(project.db, ids)
    count = use["marks"] + use["spans"]
    told = ngettext(
        "{n:,} annotation in {documents} goes to the layer {layer}.",
        "{n:,} annotations in {documents} go to the layer {layer}.",
        count,
    ).format(
        n=count,
        documents=_documents(use["documents"]),
        layer=store.layer(project.db, layer_id).name,
    )
    if more := len(ids) - len(set(label_ids)):
        along = ngettext("{n:,} sublabel moves along.", "{n:,} sublabels move along.", more).format(
            n=more
        )
        told = f"{told} {along}"
    return told


def _with_sublabels(project: Project, label_ids: Sequence[int]) -> list[int]:
    return list(dict.fromkeys([*label_ids, *store.sublabels(project.db, label_ids)]))


def move(
    project: Project,
    label_ids: Sequence[int],
    layer_id: int,
    *,
    origin: object = None,
    watch: Watch = QUIET,
) -> int:
    """Move labels of a layer with their annotations and sublabels to another layer; returns the
    number of annotations and suggestions moved.

    Raises WorkbenchError if that layer cannot hold them, has a label of that name, or allows one
    label per document or token and has one already where the moved ones are.
    """
    target = store.layer(project.db, layer_id)
    source, _label = _place(project, label_ids[0])
    if (refusal := _refusal(source, target)) is not None:
        raise WorkbenchError(refusal)
    below = store.sublabels(project.db, label_ids)
    label_ids = _with_sublabels(project, label_ids)
    for id in label_ids:
        _in_layer(project, id, source)
        if (name := _name(project, id)) in target.names:
            raise WorkbenchError(
                _("{layer} already has a label named {name!r}.").format(
                    layer=target.name, name=name
                ),
                hint=_("Rename one of them first; after the move they can be merged."),
            )
    _check_room(project, label_ids, target)
    names = ", ".join(_name(project, id) for id in label_ids)
    title = _("Move {names} to {layer}").format(names=names, layer=target.name)
    moved, body = 0, watch.part(0.0, 0.9)
    with project.edit(title, origin=origin, watch=watch.part(0.9, 1.0)):
        for place, id in enumerate(label_ids):
            part = body.part(place / len(label_ids), (place + 1) / len(label_ids))
            moved += stored.change_layer(project.db, id, layer_id, watch=part)
        for id, parent_id in below.items():
            store.set_parent(project.db, id, parent_id)
    return moved


def _refusal(source: Layer, target: Layer) -> str | None:
    """Why labels of a layer cannot be moved to another one; None if they can."""
    if source.id == target.id:
        return _("The labels are in the layer {layer} already.").format(layer=target.name)
    if source.texts != target.texts or not target.traits.holds(source.traits):
        return _("The layer {layer} cannot hold labels of the layer {source}.").format(
            layer=target.name, source=source.name
        )
    return None


def _check_room(project: Project, label_ids: Sequence[int], target: Layer) -> None:
    """Raises WorkbenchError if documents would get two labels in a layer for one."""
    if target.traits.several:
        return
    if documents := stored.taken(project.db, label_ids, row_id(target)):
        told = ngettext(
            "{n:,} document has a label in the layer {layer} already, which allows only one.",
            "{n:,} documents have a label in the layer {layer} already, which allows only one.",
            documents,
        )
        raise WorkbenchError(
            told.format(n=documents, layer=target.name),
            hint=_("Move the labels to a layer for several labels, or to a new layer."),
        )


def _place(project: Project, label_id: int) -> tuple[Layer, Label]:
    """The layer of a label, and the label. Raises WorkbenchError if it was deleted."""
    try:
        layer_id, label = store.label(project.db, label_id)
    except KeyError:
        raise WorkbenchError(_("This label has been deleted.")) from None
    return store.layer(project.db, layer_id), label


def _in_layer(project: Project, label_id: int, layer: Layer) -> None:
    other, label = _place(project, label_id)
    if other.id != layer.id:
        raise WorkbenchError(
            _("{label} is not a label of the layer {layer}.").format(
                label=label.name, layer=layer.name
            ),
            hint=_("Move it to that layer first."),
        )


def _name(project: Project, label_id: int) -> str:
    return _place(project, label_id)[1].name


def _documents(count: int) -> str:
    return ngettext("{n:,} document", "{n:,} documents", count).format(n=count)
