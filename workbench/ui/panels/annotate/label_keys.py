"""The keys of the labels of a document, and which labels are offered first. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from workbench.operations.schema import labels
from workbench.text.labels import (
    CLASS_KEYS,
    NUMBER,
    SPAN_KEYS,
    TEXT,
    TOKENS,
    Label,
    Layer,
    keys_without_spans,
)
from workbench.text.rows import row_id
from workbench.ui.project import recent_labels

if TYPE_CHECKING:
    from workbench.operations.annotation.document_view import DocumentView
    from workbench.project.project import Project
    from workbench.ui.panel import PanelContext

MANY_CLASSES = 20  # classes above which a document is offered the first ones instead of all
FIRST = 5  # most probable ones, and latest ones


def steps(layer: Layer) -> bool:
    """Whether the key of a label steps through its sublabels when it is pressed again.

    Not for tags of tokens: after each, the next token is selected.
    """
    return layer.traits.takes_labels and layer.traits.editor != TOKENS


def _stored(labels: Iterable[Label]) -> Mapping[str, int]:
    """Key → label id; a key of several labels, as in older projects, is that of the first."""
    keys: dict[str, int] = {}
    for label in labels:
        if label.key:
            keys.setdefault(label.key, row_id(label))
    return keys


class FirstLabels(NamedTuple):
    """Ids of the labels that are offered before all others. `chances`: probabilities of `likely`,
    empty if these are the most frequent ones.
    """

    likely: tuple[int, ...]
    chances: Mapping[int, float]
    recent: tuple[int, ...]


def has_many(layer: Layer) -> bool:
    """Whether a document is offered the first labels of a layer instead of all."""
    flag = layer.traits.on_document and not layer.traits.in_choices
    return flag and layer.traits.takes_labels and len(layer.labels) > MANY_CLASSES


class _Model(Protocol):
    """What is known here of the instant model."""

    @property
    def is_on(self) -> bool: ...
    def class_chances(self, layer: Layer) -> list[tuple[int, float]]: ...


class _Session(Protocol):
    """What is known here of a `DocumentSession`."""

    context: PanelContext
    project: Project
    document_id: int | None
    doc: DocumentView | None
    layers: tuple[Layer, ...]

    @property
    def active(self) -> tuple[Layer, ...]: ...
    @property
    def model(self) -> _Model: ...


class LabelKeys:
    """What the layers of the open document offer: labels with keys, and those used last."""

    def __init__(self, session: _Session) -> None:
        self._session = session
        # computed once for the layers before them: each row of each painted list asks for them
        self._keyed: tuple[tuple[object, ...], dict[int, tuple[Label, ...]]] = ((), {})
        self._often: tuple[object, dict[int, int]] = (None, {})
        # first labels by layer, for a document, its layers, and whether the instant model is on
        self._first: tuple[tuple[object, ...], dict[int, FirstLabels]] = ((), {})

    def first_labels(self, layer: Layer) -> FirstLabels | None:
        """The labels of a layer with many that are offered first; None for other layers. They stay
        the same while a document is open, once the instant model has predicted it.
        """
        if not has_many(layer) or self._session.doc is None:
            return None
        session = self._session
        basis = session.document_id, id(session.layers), session.model.is_on
        if self._first[0] != basis:
            self._first = basis, {}
        by_layer = self._first[1]
        first = by_layer.get(row_id(layer))
        if first is None or (not first.chances and self._session.model.class_chances(layer)):
            by_layer[row_id(layer)] = self._choose_first(layer)
        return by_layer[row_id(layer)]

    def _choose_first(self, layer: Layer) -> FirstLabels:
        chances = dict(self._session.model.class_chances(layer)[:FIRST])
        likely = tuple(chances)
        if not likely:
            likely = self._frequent(layer)
        latest = recent_labels.latest(self._session.context, layer.labels)
        return FirstLabels(likely, chances, tuple(id for id in latest if id not in likely)[:FIRST])

    def _frequent(self, layer: Layer) -> tuple[int, ...]:
        """The most frequent labels as of when the layers were read: they keep their keys."""
        if self._often[0] is not self._session.layers:
            self._often = self._session.layers, labels.counts(self._session.project)
        counts = self._often[1]
        often = sorted(layer.labels, key=lambda label: -counts.get(row_id(label), 0))
        return tuple(row_id(label) for label in often[:FIRST])

    def _first_keys(self) -> Mapping[int, str]:
        """Label id → its key, of the first labels of a layer with many: letters while digits are
        those of spans.
        """
        layer = next((layer for layer in self._session.active if has_many(layer)), None)
        first = self.first_labels(layer) if layer is not None else None
        if first is None:
            return {}
        digits = not self._digits_are_taken
        rows = (first.likely, first.recent) if digits else (first.likely,)
        sets = (SPAN_KEYS, CLASS_KEYS) if digits else (CLASS_KEYS,)
        return {
            id: key
            for ids, keys in zip(rows, sets, strict=True)
            for id, key in zip(ids, keys, strict=False)
        }

    @property
    def by_key(self) -> Mapping[str, int]:
        """Key → label id, of the visible labels.

        A stored key works in addition to the displayed one.
        """
        labels = [label for layer in self._session.active for label in layer.labels]
        return {**_stored(labels), **{key: id for id, key in self.by_label.items()}}

    @property
    def by_label(self) -> Mapping[int, str]:
        """Label id → the key shown on its chip: digits first if no span layer is shown. The keys of
        the first labels of a layer with many are those of no other label.
        """
        first = self._first_keys()
        others = {id: key for id, key in self._usual_keys().items() if key not in first.values()}
        return {**others, **first}

    @property
    def _digits_are_taken(self) -> bool:
        """Whether digits are the keys of spans, or write numbers."""
        kinds = (layer.traits for layer in self._session.active)
        return any(kind.in_text or kind.editor == NUMBER for kind in kinds)

    def _usual_keys(self) -> Mapping[int, str]:
        labels = [label for layer in self._session.active for label in layer.labels]
        if not self._session.doc or self._digits_are_taken:
            return {id: key for key, id in _stored(labels).items()}
        texts = self._session.doc.document.form
        together = [layer for layer in self._session.layers if layer.texts == texts]
        count = sum(len(layer.labels) for layer in together if layer.traits.on_document)
        used = {label.key for label in labels}
        return keys_without_spans(labels, CLASS_KEYS[:count], used)

    def with_keys(self, layer: Layer) -> tuple[Label, ...]:
        """The labels of a layer with the displayed keys.

        A sublabel without a key has that of its parent with the number of presses.
        """
        form = self._session.doc.document.form if self._session.doc else None
        basis = self._session.active, self._session.layers, form, self._first_keys()
        if self._keyed[0] != basis:
            self._keyed = basis, {}
        by_layer = self._keyed[1]
        if row_id(layer) not in by_layer:
            by_layer[row_id(layer)] = self._with_keys(layer)
        return by_layer[row_id(layer)]

    def _with_keys(self, layer: Layer) -> tuple[Label, ...]:
        keys = {**self.by_label, **self._presses(layer)}
        return tuple(
            label
            if keys.get(row_id(label), "") == label.key
            else replace(label, key=keys.get(row_id(label), ""))
            for label in layer.labels
        )

    def _presses(self, layer: Layer) -> Mapping[int, str]:
        """Sublabel without a key → how often the key of its parent is pressed for it."""
        keys, presses = self.by_label, {}
        for parent in layer.labels if layer.grouped and steps(layer) else ():
            key = keys.get(row_id(parent), "")
            for number, sublabel in enumerate(layer.sublabels(parent.name) if key else (), 2):
                if not keys.get(row_id(sublabel)):
                    presses[row_id(sublabel)] = f"{key}×{number}"
        return presses

    @property
    def latest_labels(self) -> tuple[Label, ...]:
        """The labels of the span layers, with their keys: those used last first."""
        layers = [layer for layer in self._session.active if layer.traits.editor == TEXT]
        labels = [label for layer in layers for label in self.with_keys(layer)]
        order = self.order_of_use()
        return tuple(sorted(labels, key=lambda item: order.get(row_id(item), len(order))))

    def order_of_use(self) -> Mapping[int, int]:
        """Label id → its place among the labels used last in this project."""
        labels = (label for layer in self._session.layers for label in layer.labels)
        ids = recent_labels.latest(self._session.context, labels)
        return {id: number for number, id in enumerate(ids)}
