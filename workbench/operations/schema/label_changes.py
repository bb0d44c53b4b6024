"""Changes of a label set that take the annotations along: merge and split; see `label_moves` for
moving to another layer.

Every call is one undo step; the functions named `…_message` describe it beforehand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.operations.schema import labels as operations
from workbench.project import backup
from workbench.project.project import Project
from workbench.storage.labels import label_changes as stored
from workbench.storage.labels import labels as store
from workbench.storage.labels.label_changes import LabelUse
from workbench.text.labels import Label, Layer
from workbench.text.rows import row_id

__all__ = ["SHOWN", "LabelUse", "merge", "merge_text", "split", "uses"]

SHOWN = 20_000  # uses of a label that can be chosen from


def merge_text(project: Project, label_ids: Sequence[int], into: int) -> str:
    """What `merge` would do, as sentences."""
    others = [id for id in label_ids if id != into]
    use = store.usage(project.db, others)
    count = use["annotations"]
    message = ngettext(
        "{n:,} annotation in {documents} becomes {label}.",
        "{n:,} annotations in {documents} become {label}.",
        count,
        documents=documents_of(use["documents"]),
        label=name_of(project, into),
    )
    if twice := stored.twice(project.db, others, into):
        dropped = ngettext(
            "{n:,} of them is dropped, because it would be a duplicate.",
            "{n:,} of them are dropped, because they would be duplicates.",
            twice,
        )
        message = f"{message} {dropped}"
    if joined := stored.joined_chains(project.db, [*others, into]):
        chains = ngettext(
            "{n:,} chain is joined with another one, as both have a mention at the same place.",
            "{n:,} chains are joined with others, as they have a mention at the same place.",
            joined,
        )
        message = f"{message} {chains}"
    if equal := stored.equal_relations(project.db, [*others, into]):
        dropped = ngettext(
            "{n:,} relation of these spans is dropped, because it would connect a span with "
            "itself or be a duplicate.",
            "{n:,} relations of these spans are dropped, because they would connect a span "
            "with itself or be duplicates.",
            equal,
        )
        message = f"{message} {dropped}"
    if below := set(store.sublabels(project.db, others)) - {*others, into}:
        parent = place_of(project, into)[1].parent
        if parent in {name_of(project, id) for id in others}:
            parent = ""
        handed = ngettext(
            "{n:,} sublabel moves to {label}.", "{n:,} sublabels move to {label}.", len(below)
        )
        handed = handed.format(n=len(below), label=parent or name_of(project, into))
        message = f"{message} {handed}"
    return message


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
    layer, _into = place_of(project, into)
    others = [id for id in dict.fromkeys(label_ids) if id != into]
    if not others:
        raise WorkbenchError(
            _("Merging needs at least two labels."), hint=_("Choose another label, too.")
        )
    for id in others:
        check_in(project, id, layer)
    names = ", ".join(name_of(project, id) for id in others)
    title = _("Merge {names} into {label}", names=names, label=name_of(project, into))
    touched = store.usage(project.db, others)["documents"]
    backup.before(project, backup.RELABEL, touched, watch=watch.part(0.0, 0.2))
    with project.edit(title, origin=origin, watch=watch.part(0.9, 1.0)):
        changed, body = 0, watch.part(0.2, 0.9)
        for place, id in enumerate(others):
            part = body.part(place / len(others), (place + 1) / len(others))
            changed += stored.relabel(project.db, id, into, watch=part)
            stored.hand_on(project.db, id, into)
            store.delete_label(project.db, id)
    return changed


def uses(project: Project, label_id: int) -> tuple[LabelUse, ...]:
    """What `split` can choose from: texts of spans, relations or documents, at most `SHOWN`."""
    return tuple(stored.uses(project.db, label_id, SHOWN))


def split(
    project: Project,
    label_id: int,
    name: str,
    *,
    ids: Iterable[int] | None = None,
    document_ids: Iterable[int] | None = None,
    origin: object = None,
    watch: Watch = QUIET,
) -> tuple[int, int]:
    """Give some annotations of a label the label `name` of the layer, which is added if it is new.

    `ids`: these spans or relations; `document_ids`: all in these documents. Returns the id of that
    label and the number of annotations changed. Raises WorkbenchError if nothing is chosen.
    """
    layer, label = place_of(project, label_id)
    rows = None if ids is None else tuple(ids)
    documents = None if document_ids is None else tuple(document_ids)
    if not (rows or documents):
        raise WorkbenchError(
            _("No annotations are chosen."), hint=_("Choose those that get the new label.")
        )
    title = _("Split {label} into {name}", label=label.name, name=name)
    with project.edit(title, origin=origin, watch=watch.part(0.9, 1.0)):
        to = operations.add_labels(project, row_id(layer), [name])[name.strip()]
        if to == label_id:
            raise WorkbenchError(
                _("The annotations already have the label {name}.", name=label.name),
                hint=_("Type another name."),
            )
        changed = stored.relabel(
            project.db,
            label_id,
            to,
            ids=rows,
            document_ids=documents,
            watch=watch.part(0.0, 0.9),
        )
    return to, changed


def place_of(project: Project, label_id: int) -> tuple[Layer, Label]:
    """The layer of a label, and the label. Raises WorkbenchError if it was deleted."""
    try:
        layer_id, label = store.label(project.db, label_id)
    except KeyError:
        raise WorkbenchError(_("This label has been deleted.")) from None
    return store.layer(project.db, layer_id), label


def check_in(project: Project, label_id: int, layer: Layer) -> None:
    """Raises WorkbenchError if the label is not in the layer."""
    other, label = place_of(project, label_id)
    if other.id != layer.id:
        raise WorkbenchError(
            _("{label} is not a label of the layer {layer}.", label=label.name, layer=layer.name),
            hint=_("Move it to that layer first."),
        )


def name_of(project: Project, label_id: int) -> str:
    return place_of(project, label_id)[1].name


def documents_of(count: int) -> str:
    return ngettext("{n:,} document", "{n:,} documents", count)
