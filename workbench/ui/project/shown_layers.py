"""The layers that the user labels: one choice for Data and Annotate, stored per project.

Columns, counts, filters, states and progress of both pages refer to these layers. They are all
layers until the user chooses; a layer that is added to a project with finished documents is not
labelled until the user chooses it, so that finished documents stay finished.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from workbench.base.i18n import _, ngettext
from workbench.operations.annotation import annotate
from workbench.operations.people import people
from workbench.text.rows import row_id
from workbench.ui.project.opened import opened

if TYPE_CHECKING:
    from workbench.text.labels import Layer
    from workbench.ui.panel import PanelContext

# project uid → uids of layers: those that are not labelled; all that were there when this was last
# read; those labelled when the user chose; those submitted without labels and without a message
_OFF, _SEEN, _CHOSEN = "annotate.off", "annotate.seen", "annotate.chosen"
_EMPTY = "annotate.empty"


def hidden(context: PanelContext, layers: Sequence[Layer]) -> frozenset[int]:
    """Ids of the layers that are not labelled."""
    off, known = _uids(context, _OFF), _uids(context, _SEEN)
    if not set(known).issuperset(layer.uid for layer in layers):
        if off and not known:  # chosen before new layers were told from others
            _keep(context, _CHOSEN, [layer.uid for layer in layers if layer.uid not in off])
        new = [layer for layer in layers if known and layer.uid not in known]
        aside = [layer for layer in new if _would_reopen(context, layer, layers, {*off, *_of(new)})]
        off = [*off, *_of(aside)]
        _keep(context, _OFF, off)
        _keep(context, _SEEN, [*known, *(uid for uid in _of(layers) if uid not in known)])
        context.settings.save()
        if aside:
            _tell(context, aside, layers)
    return frozenset(layer.id for layer in layers if layer.id is not None and layer.uid in off)


def hide(context: PanelContext, layers: Iterable[Layer]) -> None:
    """Label all but these layers, as the user chose; `project.layers_shown` notifies the pages."""
    off = _of(layers)
    _keep(context, _OFF, off)
    _keep(context, _CHOSEN, [uid for uid in _uids(context, _SEEN) if uid not in off])
    context.settings.save()
    opened(context).layers_shown.emit()


def choose(context: PanelContext) -> None:
    """The user has chosen the layers that are labelled now."""
    off = _uids(context, _OFF)
    _keep(context, _CHOSEN, [uid for uid in _uids(context, _SEEN) if uid not in off])
    context.settings.save()


def chosen(context: PanelContext) -> bool:
    """Whether the user has chosen the layers to label, or who handed the project out."""
    return bool(_uids(context, _CHOSEN)) or people.is_handed_out(opened(context))


def empty_is_told(context: PanelContext, layer: Layer) -> bool:
    """Whether a message says that a document is submitted without labels in the layer."""
    return layer.uid not in _uids(context, _EMPTY)


def tell_empty(context: PanelContext, layers: Iterable[Layer], tell: bool) -> None:
    """Say from now on that a document is submitted without labels in these layers, or not."""
    uids = _of(layers)
    others = [uid for uid in _uids(context, _EMPTY) if uid not in uids]
    _keep(context, _EMPTY, others if tell else [*others, *uids])
    context.settings.save()


def _would_reopen(
    context: PanelContext, new: Layer, layers: Iterable[Layer], off: set[str]
) -> bool:
    """Whether documents would no longer be finished if the layer were labelled, too."""
    others = [row_id(item) for item in layers if item.texts == new.texts and item.uid not in off]
    return bool(others) and annotate.any_finished(opened(context), others)


def _tell(context: PanelContext, aside: Sequence[Layer], layers: Iterable[Layer]) -> None:
    names = ", ".join(layer.name for layer in aside)
    message = ngettext(
        "The new layer {names} is not among the layers that you label.",
        "The new layers {names} are not among the layers that you label.",
        len(aside),
    )

    def label() -> None:
        off = {*_uids(context, _OFF)} - {*_of(aside)}
        hide(context, [layer for layer in layers if layer.uid in off])

    context.note(message.format(names=names), label, action=_("Label {names}", names=names))


def _of(layers: Iterable[Layer]) -> list[str]:
    return [layer.uid for layer in layers]


def _uids(context: PanelContext, key: str) -> list[str]:
    uids: list[str] = context.settings.window.get(key, {}).get(opened(context).uid, [])
    return uids


def _keep(context: PanelContext, key: str, uids: list[str]) -> None:
    window = context.settings.window
    window[key] = {**window.get(key, {}), opened(context).uid: uids}
