"""Relations between two spans of a document, and the rules of a relation layer.

The rules are entries of `Layer.options`: `spans` is the name of the layer whose spans are
connected; `undirected` lists the labels without a direction; `pairs` maps a label to the allowed
pairs of labels of spans, in which "" stands for any label. A label without pairs connects any.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.text.labels import Layer
from workbench.text.spans import Place, Span

SPANS, UNDIRECTED, PAIRS = "spans", "undirected", "pairs"  # keys of Layer.options
ANY = ""  # any label of a span

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Relation:
    """A labelled relation from one span to another. Both lie in one layer of the same document.

    directed: whether the label has a direction, by the rules of its layer.
    """

    label: str
    from_span: Span
    to_span: Span
    score: float | None = None
    id: int | None = None
    directed: bool = True

    @property
    def place(self) -> tuple[str, Place, Place]:
        """What tells the relation from the others of its layer."""
        return self.label, self.from_span.place, self.to_span.place


def layer_of_ends(spans: Mapping[str, Iterable[Span]], relation: Relation) -> str:
    """The layer that has both spans of a relation. Raises KeyError if there is none.

    spans: layer → spans of a document.
    """
    ends = {relation.from_span.place, relation.to_span.place}
    for name, layer_spans in spans.items():
        if ends <= {span.place for span in layer_spans}:
            return name
    raise KeyError(relation.label)


def span_layer(layer: Layer) -> str:
    """The name of the layer whose spans a relation layer connects; "" if none is chosen."""
    return str(layer.options.get(SPANS) or "")


def directed(layer: Layer, label: str) -> bool:
    return label not in _names(layer.options.get(UNDIRECTED))


def pairs(layer: Layer, label: str) -> tuple[Pair, ...]:
    """The allowed pairs of labels of spans; () if any may be connected."""
    rules = layer.options.get(PAIRS)
    listed = rules.get(label, ()) if isinstance(rules, Mapping) else ()
    listed = listed if isinstance(listed, (list, tuple)) else ()
    return tuple(
        (str(pair[0]), str(pair[1]))
        for pair in listed
        if isinstance(pair, (list, tuple)) and len(pair) == 2
    )


def allowed(layer: Layer, label: str, from_label: str, to_label: str) -> bool:
    """Whether a relation with this label may connect spans with these labels."""
    rules = pairs(layer, label)
    if not rules or _fits(rules, from_label, to_label):
        return True
    return not directed(layer, label) and _fits(rules, to_label, from_label)


def allowed_labels(layer: Layer, from_label: str, to_label: str) -> tuple[str, ...]:
    """The labels of relations that may connect spans with these labels, in order of the layer."""
    return tuple(name for name in layer.names if allowed(layer, name, from_label, to_label))


def with_rules(
    layer: Layer,
    *,
    spans: str,
    undirected: Iterable[str],
    pairs: Mapping[str, Iterable[Pair]],
) -> dict[str, Any]:
    """The options of the layer with these rules, without empty entries."""
    other_options = {
        name: value
        for name, value in layer.options.items()
        if name not in (SPANS, UNDIRECTED, PAIRS)
    }
    listed = {label: [list(pair) for pair in some] for label, some in pairs.items()}
    rules = {
        SPANS: spans,
        UNDIRECTED: sorted(undirected),
        PAIRS: {label: some for label, some in listed.items() if some},
    }
    return {**other_options, **{name: value for name, value in rules.items() if value}}


def renamed_label(layer: Layer, of: str, old: str, new: str | None) -> dict[str, Any]:
    """The options of a relation layer after a label of the layer `of` was renamed.

    `new` None: the label was deleted, and with it the pairs that name it. If `new` is a label of
    the layer already, the old one was merged into it: it connects what either of them could.
    """

    def changed(name: str) -> str | None:
        return new if name == old else name

    rules = {label: pairs(layer, label) for label in layer.names}
    undirected: list[str | None] = list(_names(layer.options.get(UNDIRECTED)))
    if of == layer.name:
        if new in rules and old in rules:
            either = (*rules[new], *rules[old]) if rules[new] and rules[old] else ()
            rules = {**rules, new: either}
            del rules[old]
            undirected = [name for name in undirected if name != old]
        else:
            rules = {name: some for label, some in rules.items() if (name := changed(label))}
            undirected = [changed(name) for name in _names(layer.options.get(UNDIRECTED))]
    if of == span_layer(layer):
        rules = {
            label: tuple(
                (first, second)
                for a, b in some
                if (first := changed(a)) is not None and (second := changed(b)) is not None
            )
            for label, some in rules.items()
        }
    return with_rules(
        layer,
        spans=span_layer(layer),
        undirected=[name for name in undirected if name],
        pairs={label: tuple(dict.fromkeys(some)) for label, some in rules.items()},
    )


def moved_rules(source: Layer, target: Layer, labels: Iterable[str]) -> dict[str, Any]:
    """The options of a relation layer that gets labels of another relation layer.

    Their rules go along if both connect the same spans, or if the target had none yet.
    """
    of, moved = span_layer(source), tuple(labels)
    if span_layer(target) not in ("", of):
        return dict(target.options)
    own = {name: pairs(target, name) for name in target.names}
    undirected = [name for name in moved if not directed(source, name)]
    return with_rules(
        target,
        spans=of,
        undirected=[*_names(target.options.get(UNDIRECTED)), *undirected],
        pairs={**own, **{name: pairs(source, name) for name in moved}},
    )


def follow_spans(layer: Layer, spans: str, known: Container[str]) -> dict[str, Any]:
    """The options of a relation layer whose spans were moved to the layer `spans`.

    known: the labels of that layer; pairs with others are left out.
    """
    return with_rules(
        layer,
        spans=spans,
        undirected=_names(layer.options.get(UNDIRECTED)),
        pairs={
            label: [
                pair for pair in pairs(layer, label) if all(a == ANY or a in known for a in pair)
            ]
            for label in layer.names
        },
    )


def _names(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, (list, tuple)) else ()


def _fits(rules: Iterable[Pair], from_label: str, to_label: str) -> bool:
    return any(a in (ANY, from_label) and b in (ANY, to_label) for a, b in rules)
