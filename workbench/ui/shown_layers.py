"""The layers that the user works in: one choice for Data and Annotate, stored per project.

Columns, counts, filters and states of both pages refer to these layers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from workbench.ui.opened import opened

if TYPE_CHECKING:
    from workbench.text.labels import Layer
    from workbench.ui.panel import PanelContext

_KEY = "annotate.off"  # project uid → uids of layers


def hidden(context: PanelContext, layers: Iterable[Layer]) -> frozenset[int]:
    """Ids of the hidden layers."""
    uids = context.settings.window.get(_KEY, {}).get(opened(context).uid, [])
    return frozenset(layer.id for layer in layers if layer.id is not None and layer.uid in uids)


def hide(context: PanelContext, layers: Iterable[Layer]) -> None:
    """Hide exactly these layers; `project.layers_shown` notifies the pages."""
    kept = dict(context.settings.window.get(_KEY, {}))
    kept[opened(context).uid] = [layer.uid for layer in layers]
    context.settings.window[_KEY] = kept
    context.settings.save()
    opened(context).layers_shown.emit()
