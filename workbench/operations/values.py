"""Numbers and written texts of documents. Every call is one undo step."""

from __future__ import annotations

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.operations.annotate import check_layer, reopen_empty, start_draft
from workbench.project.project import Project
from workbench.storage import annotations as annotation_rows
from workbench.storage import documents, labels
from workbench.text.labels import NUMBERS, WRITTEN
from workbench.text.scale import Scale


def set_number(
    project: Project, document_id: int, layer_id: int, value: float, *, origin: object = None
) -> None:
    """Give the document a number. Raises WorkbenchError if it is not on the scale of the layer."""
    layer = labels.layer(project.db, layer_id)
    check_layer(documents.get(project.db, document_id), layer, NUMBERS)
    scale = Scale.of(layer.options)
    if not scale.holds(value):
        told = _("{value:g} is not on the scale of {layer}, {minimum:g} to {maximum:g}.")
        raise WorkbenchError(
            told.format(
                value=value, layer=layer.name, minimum=scale.minimum, maximum=scale.maximum
            ),
            hint=_("The scale can be changed on the Labels page."),
        )
    title = _("Set {layer} to {value:g}").format(layer=layer.name, value=value)
    _set_value(project, document_id, layer_id, value, title, origin)


def write_text(
    project: Project, document_id: int, layer_id: int, text: str, *, origin: object = None
) -> None:
    """Store the text written for a document as it is; a blank one removes it."""
    layer = labels.layer(project.db, layer_id)
    check_layer(documents.get(project.db, document_id), layer, WRITTEN)
    if not text.strip():
        clear_value(project, document_id, layer_id, origin=origin)
        return
    title = _("Write {layer}").format(layer=layer.name)
    _set_value(project, document_id, layer_id, text, title, origin)


def _set_value(
    project: Project,
    document_id: int,
    layer_id: int,
    value: float | str,
    title: str,
    origin: object,
) -> None:
    with project.edit(title, origin=origin):
        who, source = project.annotator_id, project.source("person")
        annotation_rows.set_value(
            project.db, document_id, layer_id, value, annotator_id=who, source_id=source
        )
        start_draft(project, document_id, layer_id)


def clear_value(
    project: Project, document_id: int, layer_id: int, *, origin: object = None
) -> None:
    """Remove the number or the written text; the state changes as in `clear_class`."""
    db, who = project.db, project.annotator_id
    name = labels.layer(db, layer_id).name
    with project.edit(_("Clear {layer}").format(layer=name), origin=origin):
        annotation_rows.clear_value(db, document_id, layer_id, who)
        annotation_rows.reset_untouched(db, [document_id], layer_id, who)
        reopen_empty(project, document_id, layer_id)
