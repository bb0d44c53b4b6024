"""Senses of the uses of a word: spans of a layer, so that they are saved, exported and undone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.base.i18n import _
from workbench.operations.annotation import annotate
from workbench.operations.schema import labels
from workbench.storage.documents import documents
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.project.project import Project

LAYER = "senses"  # that is added for the first sense


def layers(project: Project) -> tuple[str, ...]:
    """Layers whose labels can be taken as senses: those of documents with one text."""
    return tuple(layer.name for layer in labels.layers(project) if layer.texts == 1)


def assignable(project: Project) -> tuple[str, ...]:
    """The layers of senses in which single uses can be labelled."""
    return tuple(
        layer.name for layer in labels.layers(project) if layer.texts == 1 and layer.traits.in_text
    )


def names(project: Project, layer: str) -> tuple[str, ...]:
    """The labels of a layer, () if there is none of this name."""
    return next((item.names for item in labels.layers(project) if item.name == layer), ())


def assign(project: Project, layer: str, sense: str, places: Sequence[tuple[int, int, int]]) -> int:
    """Label uses (document, start, end) with a sense, one step that can be undone.

    A use that has a label in the layer gets another one. Layer and label are added if they are
    missing. Documents that the layer does not apply to, such as pairs, are skipped; returns how
    many uses were labelled. Raises WorkbenchError for a layer without spans, or an invalid name.
    """
    with project.edit(_("Assign sense {name}", name=sense)):
        existing = next((item for item in labels.layers(project) if item.name == layer), None)
        id = row_id(existing) if existing is not None else labels.add_layer(project, layer, "span")
        texts = existing.texts if existing is not None else 1
        label = labels.add_labels(project, id, (sense,))[sense]
        records = {
            row_id(record.document): record
            for record in documents.records(
                project.db, layers=(layer,), ids=[document for document, _start, _end in places]
            )
        }
        fitting = [
            place
            for place in places
            if place[0] in records and len(records[place[0]].document.texts) == texts
        ]
        for document, start, end in fitting:
            spans = records[document].spans.get(layer, ())
            same = next((span for span in spans if (span.start, span.end) == (start, end)), None)
            if same is not None and same.id is not None:
                annotate.relabel_span(project, same.id, label)
            else:
                annotate.add_span(project, document, start, end, label)
    return len(fitting)
