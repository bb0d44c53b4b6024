"""The rules of relation layers: which labels of spans a relation may connect, and its direction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.storage.annotation import relations as stored
from workbench.storage.labels import labels as store
from workbench.text import relations
from workbench.text.relations import Pair, allowed, directed

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.storage.staging.staging import ConnectedLabels, StagedLayer
    from workbench.text.labels import Layer


def set_rules(
    project: Project,
    layer_id: int,
    *,
    spans: str,
    undirected: Iterable[str],
    pairs: Mapping[str, Sequence[Pair]],
    origin: object = None,
) -> None:
    """Set which layer's spans a relation layer connects, and which labels; one undo step.

    See `text.relations`. Relations that are there stay, but for those that are equal to another one
    now that their label has no direction. Raises WorkbenchError if the layer has
    relations and another layer of spans is chosen, or if there is no such layer.
    """
    layer = store.layer(project.db, layer_id)
    others = store.layers(project.db)
    there = [other for other in others if other.name == spans and other.traits.in_text]
    if spans and not (there and there[0].texts == layer.texts):
        raise WorkbenchError(_("There is no layer of spans named {name}.", name=spans))
    was = relations.span_layer(layer)
    used = any(
        store.counts(project.db).get(label.id, 0) for label in layer.labels if label.id is not None
    )
    if spans != was and used and any(other.name == was for other in others):
        raise WorkbenchError(
            _("{layer} has relations between spans of {spans}.", layer=layer.name, spans=was),
            hint=_("Add another relation layer for the other spans."),
        )
    options = relations.with_rules(layer, spans=spans, undirected=undirected, pairs=pairs)
    with project.edit(_("Change rules of {layer}", layer=layer.name), origin=origin):
        store.update_layer(project.db, layer_id, options=options)
        stored.drop_equal_undirected(project.db, [layer_id])


def chain_counts(project: Project) -> dict[int, int]:
    """Layer id → number of chains of coreferent spans in all documents."""
    return stored.chain_counts(project.db)


def broken(connected: Iterable[ConnectedLabels], staged: StagedLayer, layer: Layer) -> list[str]:
    """Sentences on relations of an import that the rules of the layer do not allow."""
    message = []
    for connected_labels in connected:
        if connected_labels.layer != staged.n or allowed(
            layer, connected_labels.label, connected_labels.from_label, connected_labels.to_label
        ):
            continue
        sentence = ngettext(
            "Layer {layer} does not allow {label} {arrow}; line {line} has such a relation. "
            "It was imported and is marked in the list.",
            "Layer {layer} does not allow {label} {arrow}; there are {n:,} such relations, the "
            "first in line {line}. They were imported and are marked in the list.",
            connected_labels.relations,
            layer=layer.name,
            label=connected_labels.label,
            arrow=arrow(
                layer,
                connected_labels.label,
                connected_labels.from_label,
                connected_labels.to_label,
            ),
            line=connected_labels.line,
        )
        message.append(sentence)
    return message


def arrow(layer: Layer, label: str, from_label: str, to_label: str) -> str:
    """ "PER → ORG", or "PER – ORG" for a label without a direction."""
    sign = "→" if directed(layer, label) else "–"
    return f"{from_label} {sign} {to_label}"
