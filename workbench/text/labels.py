"""Layers and their labels as values."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field

KINDS = (
    "class",
    "multi",
    "score",
    "span",
    "tag",
    "relation",
    "answer",
    "cluster",
    "choice",
    "text",
)
SPAN_KEYS = "123456789"
CLASS_KEYS = (
    "qwertyiopsdfghjklzcvbnm"  # letters without A, X and U, which accept, reject and unselect
)
LONGEST_NAME = 1000  # of a layer, a label or a key, in characters


@dataclass(frozen=True, slots=True)
class Label:
    """`colour` is "" for the colour of its position, else #RRGGBB; `key` is "" or one character."""

    name: str
    colour: str = ""
    key: str = ""
    description: str = ""
    position: int = 0
    id: int | None = None
    uid: str = ""


@dataclass(frozen=True, slots=True)
class Layer:
    """One thing that is labelled: `kind` is one of KINDS; `texts` says how many texts a document of this layer has."""

    name: str
    kind: str
    labels: tuple[Label, ...] = ()
    texts: int = 1
    guideline: str = ""
    options: Mapping[str, object] = field(
        default_factory=dict, hash=False
    )  # the rest of layer.options
    id: int | None = None
    uid: str = ""

    def label(self, name: str) -> Label:
        """Raises KeyError if the layer has no such label."""
        for one in self.labels:
            if one.name == name:
                return one
        raise KeyError(name)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.labels)


def keys_without_spans(
    labels: Sequence[Label], automatic: Container[str], used: Container[str]
) -> dict[int, str]:
    """Label id → key, where only class layers are shown: 1 to 9 for the first labels.

    A label keeps a key that somebody chose, that is one not in `automatic`, the first letters that
    labels get by themselves. `used`: keys that are taken.
    """
    digits = iter([digit for digit in SPAN_KEYS if digit not in used])
    found = {}
    for label in labels:
        chosen = label.key and label.key not in automatic
        found[label.id] = label.key if chosen else next(digits, label.key)
    return {id: key for id, key in found.items() if id is not None and key}


def free_key(kind: str, used: Container[str]) -> str:
    """The next free key for a new label of a layer of this kind, "" when all are taken."""
    wanted = SPAN_KEYS if kind in ("span", "tag") else CLASS_KEYS
    return next((key for key in wanted if key not in used), "")
