"""Layers and their labels as values."""

from __future__ import annotations

from collections.abc import Container, Mapping
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


def free_key(kind: str, used: Container[str]) -> str:
    """The next free key for a new label of a layer of this kind, "" when all are taken."""
    wanted = SPAN_KEYS if kind in ("span", "tag") else CLASS_KEYS
    return next((key for key in wanted if key not in used), "")
