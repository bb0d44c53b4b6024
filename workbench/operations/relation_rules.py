"""The rules of relation layers: which labels of spans a relation may connect, and its direction."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from workbench.base.i18n import ngettext
from workbench.text.relations import allowed, directed

if TYPE_CHECKING:
    from workbench.storage.staging import ConnectedLabels, StagedLayer
    from workbench.text.labels import Layer


def broken(found: Iterable[ConnectedLabels], staged: StagedLayer, layer: Layer) -> list[str]:
    """Sentences on relations of an import that the rules of the layer do not allow."""
    told = []
    for one in found:
        if one.layer != staged.n or allowed(layer, one.label, one.from_label, one.to_label):
            continue
        sentence = ngettext(
            "Layer {layer} does not allow {label} {arrow}; line {line} has such a relation. "
            "It was imported and is marked in the list.",
            "Layer {layer} does not allow {label} {arrow}; there are {n:,} such relations, the "
            "first in line {line}. They were imported and are marked in the list.",
            one.count,
        )
        told.append(
            sentence.format(
                layer=layer.name,
                label=one.label,
                arrow=arrow(layer, one.label, one.from_label, one.to_label),
                n=one.count,
                line=one.line,
            )
        )
    return told


def arrow(layer: Layer, label: str, from_label: str, to_label: str) -> str:
    """ "PER → ORG", or "PER – ORG" for a label without a direction."""
    sign = "→" if directed(layer, label) else "–"
    return f"{from_label} {sign} {to_label}"
