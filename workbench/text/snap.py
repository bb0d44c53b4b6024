"""What the ends of new and changed spans of a layer move to: an option of the layer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from workbench.base.i18n import N_

if TYPE_CHECKING:
    from workbench.text.labels import Layer

OPTION = "snap"
OFF, GRAPHEME, WORD, SENTENCE = "off", "grapheme", "word", "sentence"
TITLES: Mapping[str, str] = {
    WORD: N_("words"),
    GRAPHEME: N_("characters"),
    SENTENCE: N_("sentences"),
    OFF: N_("nothing"),
}
SNAPS = tuple(TITLES)
_BY_SIZE = (OFF, GRAPHEME, WORD, SENTENCE)


def snap_of(layer: Layer) -> str:
    """One of SNAPS. Letters of scripts without spaces are words of their own."""
    snap = layer.options.get(OPTION)
    return snap if isinstance(snap, str) and snap in SNAPS else WORD


def finest(layers: Iterable[Layer]) -> str:
    """What a selection snaps to if it may become a span of each of these layers."""
    return min(map(snap_of, layers), key=_BY_SIZE.index, default=WORD)


def with_snap(layer: Layer, snap: str) -> dict[str, object]:
    """The options of the layer with another one; the default is not stored."""
    options = {name: value for name, value in layer.options.items() if name != OPTION}
    return options if snap == WORD else {**options, OPTION: snap}
