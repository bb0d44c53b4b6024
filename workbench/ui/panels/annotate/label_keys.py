"""Labels of the selected layers, their keys and guidelines. No Qt."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from workbench.base.i18n import _
from workbench.operations.schema import labels
from workbench.text.labels import (
    CLASS_KEYS,
    NUMBER,
    SPAN_KEYS,
    TOKENS,
    Label,
    Layer,
    keys_without_spans,
)
from workbench.text.rows import row_id
from workbench.ui.panels.annotate.instant import InstantState
from workbench.ui.panels.annotate.label_topics import Topic, coloured, topics
from workbench.ui.project import recent_labels

MANY_CLASSES = 20  # classes above which a document is offered the first ones instead of all
COUNTING = 0.05  # share of the time in which the documents of each label are counted
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


class LabelKeys(InstantState):
    """What the layers of the open document offer."""

    # computed once for the layers before them: each row of each painted list asks for them
    _active: tuple[tuple[Layer, ...], object, tuple[Layer, ...]] = ((), None, ())
    _label_of: tuple[tuple[Layer, ...], dict[int, tuple[Layer, Label]]] = ((), {})
    _keyed: tuple[tuple[object, ...], dict[int, tuple[Label, ...]]] = ((), {})

    _often: tuple[object, dict[int, int]] = (None, {})
    _topics: tuple[object, tuple[tuple[Topic, ...], Mapping[int, Label]]] = (None, ((), {}))
    _documents_with: tuple[int | None, float, Mapping[int, int]] = (None, 0.0, {})
    _first: tuple[int | None, object, dict[int, FirstLabels]] = (None, None, {})

    def first_labels(self, layer: Layer) -> FirstLabels | None:
        """The labels of a layer with many that are offered first; None for other layers. They stay
        the same while a document is open, once the instant model has predicted it.
        """
        if not has_many(layer) or self.doc is None:
            return None
        if self._first[0] != self.document_id or self._first[1] is not self.layers:
            self._first = self.document_id, self.layers, {}
        by_layer = self._first[2]
        first = by_layer.get(row_id(layer))
        if first is None or (not first.chances and self.class_chances(layer)):
            by_layer[row_id(layer)] = self._choose_first(layer)
        return by_layer[row_id(layer)]

    def by_topic(self, layer: Layer) -> tuple[tuple[Topic, ...], Mapping[int, Label]]:
        """The topics of a layer, and label id → the label with its key and the colour of its
        topic.
        """
        keyed = self.with_keys(layer)
        if self._topics[0] is not keyed:
            layer_topics = topics(replace(layer, labels=keyed))
            self._topics = keyed, (layer_topics, coloured(layer_topics))
        return self._topics[1]

    def documents_with(self) -> Mapping[int, int]:
        """Label id → number of documents, as of when the open document was opened; as of before
        where counting would take more than a small share of the time.
        """
        document, again, counts = self._documents_with
        now = time.perf_counter()
        if document != self.document_id and now >= again:
            counts = labels.counts(self.project)
            took = time.perf_counter() - now
            self._documents_with = self.document_id, now + took / COUNTING, counts
        return counts

    def toggle_instant(self) -> None:
        self._first = None, None, {}
        super().toggle_instant()

    def instant_on(self, layer: Layer) -> tuple[str, str]:
        """What the instant model does in a layer, as sentences, and what a button that turns it on
        or off there says; "" for a layer that it does not learn.
        """
        is_on = self.instant is not None
        learned = self.instant.layer if self.instant is not None else self.instant_layer
        if learned is None or learned.id != layer.id or (not is_on and self.project.read_only):
            return "", ""
        return (self.instant_line, _("Turn off")) if is_on else ("", _("Turn on instant model"))

    def _choose_first(self, layer: Layer) -> FirstLabels:
        chances = dict(self.class_chances(layer)[:FIRST])
        likely = tuple(chances)
        if not likely:
            likely = self._frequent(layer)
        latest = recent_labels.latest(self.context, layer.labels)
        return FirstLabels(likely, chances, tuple(id for id in latest if id not in likely)[:FIRST])

    def _frequent(self, layer: Layer) -> tuple[int, ...]:
        """The most frequent labels as of when the layers were read: they keep their keys."""
        if self._often[0] is not self.layers:
            self._often = self.layers, labels.counts(self.project)
        counts = self._often[1]
        often = sorted(layer.labels, key=lambda label: -counts.get(row_id(label), 0))
        return tuple(row_id(label) for label in often[:FIRST])

    def _first_keys(self) -> Mapping[int, str]:
        """Label id → its key, of the first labels of a layer with many: letters while digits are
        those of spans.
        """
        layer = next((layer for layer in self.active if has_many(layer)), None)
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
    def active(self) -> tuple[Layer, ...]:
        """The selected layers that apply to this document."""
        if self.doc is None:
            return ()
        layers, off = self.doc.layers, self.off
        if self._active[0] is not layers or self._active[1] is not off:
            editable = (layer for layer in layers if layer.traits.editor and layer.id not in off)
            self._active = layers, off, tuple(editable)
        return self._active[2]

    @property
    def label_of(self) -> Mapping[int, tuple[Layer, Label]]:
        if self._label_of[0] is not self.layers:
            entries = {
                row_id(label): (layer, label) for layer in self.layers for label in layer.labels
            }
            self._label_of = self.layers, entries
        return self._label_of[1]

    @property
    def keys(self) -> Mapping[str, int]:
        """Key → label id, of the visible labels.

        A stored key works in addition to the displayed one.
        """
        labels = [label for layer in self.active for label in layer.labels]
        return {**_stored(labels), **{key: id for id, key in self.shown_keys.items()}}

    @property
    def shown_keys(self) -> Mapping[int, str]:
        """Label id → the key shown on its chip: digits first if no span layer is shown. The keys of
        the first labels of a layer with many are those of no other label.
        """
        first = self._first_keys()
        others = {id: key for id, key in self._usual_keys().items() if key not in first.values()}
        return {**others, **first}

    @property
    def _digits_are_taken(self) -> bool:
        """Whether digits are the keys of spans, or write numbers."""
        kinds = (layer.traits for layer in self.active)
        return any(kind.in_text or kind.editor == NUMBER for kind in kinds)

    def _usual_keys(self) -> Mapping[int, str]:
        labels = [label for layer in self.active for label in layer.labels]
        if not self.doc or self._digits_are_taken:
            return {id: key for key, id in _stored(labels).items()}
        texts = self.doc.document.form
        together = [layer for layer in self.layers if layer.texts == texts]
        count = sum(len(layer.labels) for layer in together if layer.traits.on_document)
        used = {label.key for label in labels}
        return keys_without_spans(labels, CLASS_KEYS[:count], used)

    def with_keys(self, layer: Layer) -> tuple[Label, ...]:
        """The labels of a layer with the displayed keys.

        A sublabel without a key has that of its parent with the number of presses.
        """
        form = self.doc.document.form if self.doc else None
        basis = self.active, self.layers, form, self._first_keys()
        if self._keyed[0] != basis:
            self._keyed = basis, {}
        by_layer = self._keyed[1]
        if row_id(layer) not in by_layer:
            by_layer[row_id(layer)] = self._with_keys(layer)
        return by_layer[row_id(layer)]

    def _with_keys(self, layer: Layer) -> tuple[Label, ...]:
        keys = {**self.shown_keys, **self._presses(layer)}
        return tuple(
            label
            if keys.get(row_id(label), "") == label.key
            else replace(label, key=keys.get(row_id(label), ""))
            for label in layer.labels
        )

    def _presses(self, layer: Layer) -> Mapping[int, str]:
        """Sublabel without a key → how often the key of its parent is pressed for it."""
        keys, presses = self.shown_keys, {}
        for parent in layer.labels if layer.grouped and steps(layer) else ():
            key = keys.get(row_id(parent), "")
            for number, sublabel in enumerate(layer.sublabels(parent.name) if key else (), 2):
                if not keys.get(row_id(sublabel)):
                    presses[row_id(sublabel)] = f"{key}×{number}"
        return presses

    @property
    def guideline(self) -> str:
        """Markdown: the guidelines of the selected layers, each once."""
        parts: dict[str, list[str]] = {}
        for layer in self.active or self.layers:
            if layer.guideline.strip():
                parts.setdefault(layer.guideline.strip(), []).append(layer.name)
        if len(parts) < 2:
            return "".join(parts)
        return "\n\n---\n\n".join(
            f"# {', '.join(names)}\n\n{text}" for text, names in parts.items()
        )

    @property
    def has_labels(self) -> bool:
        kinds = (
            layer.labels or layer.traits.asks or not layer.traits.has_labels
            for layer in self.layers
        )
        return any(kinds)
