"""Sublabels: labels with a parent in their layer, one level deep. Every call is one undo step."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.project.project import Project
from workbench.storage.labels import labels as store
from workbench.text.labels import Label, Layer


def set_parent(
    project: Project, label_ids: Sequence[int], parent_id: int | None, *, origin: object = None
) -> None:
    """Make labels sublabels of a label of their layer, or labels of their own (`parent_id` None).

    Raises WorkbenchError if the parent is in another layer or a sublabel itself, or if one of the
    labels has sublabels: groups are one level deep.
    """
    for id in label_ids:
        layer_id, label = _label(project, id)
        _check_parent(store.layer(project.db, layer_id), label, parent_id)
    names = ", ".join(_label(project, id)[1].name for id in label_ids)
    title = _("Remove {names} from its group", names=names)
    if parent_id is not None:
        parent = _label(project, parent_id)[1].name
        title = _("Make {names} a sublabel of {parent}", names=names, parent=parent)
    with project.edit(title, origin=origin):
        for id in label_ids:
            store.set_parent(project.db, id, parent_id)


def _check_parent(layer: Layer, label: Label, parent_id: int | None) -> None:
    if parent_id is None:
        return
    parent = next((label for label in layer.labels if label.id == parent_id), None)
    message = hint = ""
    if parent is None:
        message = _("The parent of {name} must be a label of the layer {layer}.")
        hint = _("Move the label to that layer first.")
    elif layer.traits.in_choices:
        message = _("The labels of {layer} are the numbers of choices and have no sublabels.")
        hint = _("Use a layer of classes.")
    elif parent.id == label.id:
        message = _("{name} cannot be a sublabel of itself.")
        hint = _("Choose another parent.")
    elif parent.parent:
        message = _("{parent} is a sublabel of {above}; sublabels have no sublabels.")
        hint = _("Choose {above} as parent.", above=parent.parent)
    elif layer.sublabels(label.name):
        message = _("{name} has sublabels and cannot become a sublabel of {parent}.")
        hint = _("Give its sublabels another parent first.")
    if message:
        names = {"parent": parent.name, "above": parent.parent} if parent else {}
        message = message.format(name=label.name, layer=layer.name, **names)
        raise WorkbenchError(message, hint=hint)


def left_alone(project: Project, label_ids: Sequence[int]) -> str:
    """A sentence on the sublabels that lose their parent with these labels; "" for none."""
    left = set(store.sublabels(project.db, label_ids)) - set(label_ids)
    return ngettext(
        "{n:,} sublabel remains, without a parent.",
        "{n:,} sublabels remain, without a parent.",
        len(left),
    ) * bool(left)


def _label(project: Project, label_id: int) -> tuple[int, Label]:
    try:
        return store.label(project.db, label_id)
    except KeyError:
        raise WorkbenchError(_("This label has been deleted.")) from None
