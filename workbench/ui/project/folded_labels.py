"""Which labels have their sublabels folded in Annotate, stored per project."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from workbench.text.rows import row_id
from workbench.ui.project.opened import opened

if TYPE_CHECKING:
    from workbench.text.labels import Label, Layer
    from workbench.ui.panel import PanelContext

FOLDING_THRESHOLD = (
    24  # labels of a layer from which on sublabels are folded unless the user unfolds them
)
_KEY = "annotate.folded"  # project uid → uid of a label → whether its sublabels are folded


def groups(layer: Layer) -> dict[int, tuple[int, ...]]:
    """Ids of the labels that have sublabels, with the ids of these."""
    below: dict[str, list[int]] = {}
    for label in layer.labels:
        if label.parent:
            below.setdefault(label.parent, []).append(row_id(label))
    return {
        row_id(label): tuple(below[label.name]) for label in layer.labels if label.name in below
    }


def folded(context: PanelContext, layer: Layer) -> frozenset[int]:
    """Ids of the labels whose sublabels are folded."""
    if not layer.grouped:
        return frozenset()
    chosen = context.settings.window.get(_KEY, {}).get(opened(context).uid, {})
    usual = len(layer.labels) > FOLDING_THRESHOLD
    parents = groups(layer)
    return frozenset(
        row_id(label)
        for label in layer.labels
        if row_id(label) in parents and chosen.get(label.uid, usual)
    )


def fold(context: PanelContext, labels: Iterable[Label], folded: bool) -> None:
    """Fold or unfold the sublabels of these labels."""
    window, uid = context.settings.window, opened(context).uid
    projects = dict(window.get(_KEY, {}))
    projects[uid] = {**projects.get(uid, {}), **{label.uid: folded for label in labels}}
    window[_KEY] = projects
    context.settings.save()
