"""Topics of the classes of a layer: their parents, else the first letters of their names. No Qt."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from workbench.base.i18n import _
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.text.labels import Label, Layer


class Topic(NamedTuple):
    name: str
    labels: tuple[Label, ...]


def topics(layer: Layer) -> tuple[Topic, ...]:
    """A parent with its sublabels is a topic, and labels that are neither are the last one; in a
    layer without sublabels, the names with the same first letter, in alphabetical order.
    """
    if not layer.grouped:
        return _by_letter(layer.labels)
    parents = {label.parent for label in layer.labels if label.parent}
    single = [label for label in layer.labels if not label.parent and label.name not in parents]
    first = (label for label in layer.labels if label.name in parents and not label.parent)
    groups = [Topic(label.name, (label, *layer.sublabels(label.name))) for label in first]
    return (*groups, *([Topic(_("Other"), tuple(single))] if single else []))


def _by_letter(labels: tuple[Label, ...]) -> tuple[Topic, ...]:
    by_letter: dict[str, list[Label]] = {}
    for label in sorted(labels, key=lambda label: _folded(label.name)):
        by_letter.setdefault(_folded(label.name)[:1].upper(), []).append(label)
    return tuple(Topic(letter, tuple(labels)) for letter, labels in by_letter.items())


def _folded(name: str) -> str:
    """Without case and accents, so that É is among E."""
    split = unicodedata.normalize("NFKD", name.strip().casefold())
    return "".join(char for char in split if not unicodedata.combining(char)) or name


def coloured(topics: tuple[Topic, ...]) -> Mapping[int, Label]:
    """Label id → the label in the colour of its topic: that of the parent if the user chose one."""
    return {
        row_id(label): replace(label, colour=_colour(topic), position=number)
        for number, topic in enumerate(topics)
        for label in topic.labels
    }


def _colour(topic: Topic) -> str:
    first = topic.labels[0]
    return first.colour if first.name == topic.name else ""
