"""Relations, chains and parts of spans: making and changing them in Annotate. No Qt.

A relation starts at the selected span (`start_link`); the next selected span is its target, and a
label, or Enter if only one is allowed, makes it. Between spans of a layer of chains, the same
actions merge chains.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.base.i18n import _
from workbench.operations.annotation import annotate
from workbench.operations.annotation import relations as relate
from workbench.operations.annotation.annotate import RelationRow, SpanRow
from workbench.text.labels import Label, Layer
from workbench.text.relations import allowed, allowed_labels, directed, span_layer
from workbench.text.rows import row_id
from workbench.ui.panels.annotate.session import GOLD, LINKED, DocumentSession, Name, SpanTarget
from workbench.ui.panels.annotate.tool import EditorTool
from workbench.ui.shell.custom_keys import first_key

Chain = tuple[int, int]  # layer id, number of the chain


class RelationTool(EditorTool):
    """`linking`: the span from which a relation is being made.

    `chain`: the chain that was last chosen or changed in this document. `link_label`: the label
    that a relation being made will have, None to ask for it.
    """

    def __init__(self, session: DocumentSession) -> None:
        super().__init__(session)
        self.linking: int | None = None
        self.chain: Chain | None = None
        self.link_label: int | None = None
        self._last_span: int | None = None  # the span selected last, for another part
        self.listen(session.changed, self._session_changed)
        self.listen(session.opened, lambda _before: self.update(linking=None))

    def _session_changed(self, fields: frozenset[str]) -> None:
        if fields & {"doc", "spans"} and self.linking not in self.session.span_of:
            self.update(linking=None)
        span = _gold(self.session) if "chosen" in fields else None
        if span is not None:
            self._last_span = span.id
            if span.chain is not None:
                self.chain = span.layer_id, span.chain

    def label(self, layer: Layer, label: Label, target: SpanTarget | None) -> None:
        self.relate(row_id(label))

    def step(self, layer: Layer, group: Sequence[int]) -> bool:
        return self._step_row(self.chosen_relation(), group)

    def delete_chosen(self) -> bool:
        relation = self.chosen_relation()
        if relation is not None:
            self.delete_relation(relation.id)
        return relation is not None

    @property
    def relation_layers(self) -> tuple[Layer, ...]:
        """The selected layers that connect spans."""
        return tuple(layer for layer in self.session.active if layer.traits.between_spans)

    @property
    def can_link(self) -> bool:
        """Whether spans of this document can be connected."""
        return self.session.can_edit and bool(self.relation_layers or self.session.chain_layers)

    def chosen_relation(self) -> RelationRow | None:
        if self.session.chosen is None or self.session.chosen[0] != LINKED:
            return None
        return next(
            (row for row in self.session.relations if row.id == self.session.chosen[1]), None
        )

    def is_directed(self, row: RelationRow) -> bool:
        known = self.session.label_of.get(row.label_id) if row.label_id is not None else None
        return known is None or directed(known[0], known[1].name)

    def is_allowed(self, row: RelationRow) -> bool:
        """Whether the rules of its layer allow a relation."""
        known = self.session.label_of.get(row.label_id) if row.label_id is not None else None
        ends = [self._label_of_span(id) for id in (row.from_span, row.to_span)]
        return known is None or allowed(known[0], known[1].name, *ends)

    def _label_of_span(self, span_id: int) -> str:
        span = self.session.span_of.get(span_id)
        known = (
            self.session.label_of.get(span.label_id) if span and span.label_id is not None else None
        )
        return known[1].name if known else ""

    def start_link(self) -> None:
        """Start a relation, or a merge of chains, at the selected span."""
        span = _gold(self.session)
        if not self.can_link:
            return
        if span is None:
            self.context.note(_("Select a span first; a relation starts there."))
        elif not self.linkable(span):
            self.context.note(
                _("No selected layer connects spans of this layer. Rules are on the Labels page.")
            )
        else:
            self.link_label = None
            self.update(linking=span.id)

    def linkable(self, span: SpanRow) -> bool:
        """Whether a shown layer connects spans of the layer of this one, or merges their chains."""
        if any(layer.id == span.layer_id for layer in self.session.chain_layers):
            return True
        name = self._layer_name(span.layer_id)
        return any(span_layer(layer) == name for layer in self.relation_layers)

    def _layer_name(self, layer_id: int) -> str:
        return next((layer.name for layer in self.session.layers if layer.id == layer_id), "")

    def leave_link(self) -> None:
        self.link_label = None
        self.update(linking=None)

    @property
    def link_target(self) -> SpanRow | None:
        """The selected span, if a relation from another one is being made."""
        span = _gold(self.session)
        return span if span is not None and self.linking not in (None, span.id) else None

    def link_choices(self) -> tuple[tuple[Layer, Label], ...]:
        """The labels that a relation to the selected span may have."""
        target = self.link_target
        if target is None or self.linking is None:
            return ()
        ends = self._label_of_span(self.linking), self._label_of_span(target.id)
        of = self._layer_name(target.layer_id)
        return tuple(
            (layer, layer.label(name))
            for layer in self.relation_layers
            if span_layer(layer) == of
            for name in allowed_labels(layer, *ends)
        )

    def finish_link(self, *, only_this: bool = False) -> bool:
        """Make the relation if its label is known, or merge the chains.

        `only_this`: only the first span goes to the chain of the second. False if the label must be
        asked for.
        """
        target = self.link_target
        if target is None or self.linking is None:
            self.context.note(_("Select another span as the target, or press Esc."))
            return True
        if not self._in_one_layer(target):
            return True
        if any(layer.id == target.layer_id for layer in self.session.chain_layers):
            act = relate.move_to_chain if only_this else relate.merge_chains
            self._chain_act(act, self.linking, target.id)
            return True
        labels = self.link_choices()
        known = self.link_label or (row_id(labels[0][1]) if len(labels) == 1 else None)
        if known is not None:
            self._connect(self.linking, target.id, known)
        elif not labels:
            self.context.note(_("No label may connect these spans; see the rules on Labels."))
        return known is not None or not labels

    def _in_one_layer(self, target: SpanRow) -> bool:
        """Whether the target is in the layer of the first span; else a message says so."""
        source = self.session.span_of.get(self.linking or 0)
        if source is None or source.layer_id == target.layer_id:
            return True
        message = _(
            "Choose a target in the layer of the first span, {layer}, or press Esc.",
            layer=self._layer_name(source.layer_id),
        )
        self.context.note(message)
        return False

    def connect(self, name: Name, target: Name) -> bool:
        """The mouse connected two spans; as `finish_link`."""
        if not self.can_link:
            return True
        self.session.choose(name)
        self.start_link()
        if self.linking is None:
            return True
        self.session.choose(target)
        return self.finish_link()

    def relate(self, label_id: int) -> None:
        """A relation label was picked: relabel the selected relation, make the relation, or start
        one with this label at the selected span.
        """
        if (row := self.chosen_relation()) is not None:
            self.session.attempt(relate.relabel_relation, row.id, label_id)
        elif (target := self.link_target) is not None and self.linking is not None:
            if self._in_one_layer(target):
                self._connect(self.linking, target.id, label_id)
        else:
            self.start_link()
            self.link_label = label_id if self.linking is not None else None

    def _connect(self, from_span: int, to_span: int, label_id: int) -> None:
        id = self.session.attempt(relate.add_relation, from_span, to_span, label_id)
        if id is not None:
            self.leave_link()
            self.session.choose((LINKED, id))

    def reverse(self) -> None:
        """Exchange the ends of the selected relation."""
        if self.session.can_edit and (row := self.chosen_relation()) is not None:
            self.session.attempt(relate.reverse_relation, row.id)

    def delete_relation(self, relation_id: int) -> None:
        if self.session.can_edit:
            self.session.attempt(relate.delete_relation, relation_id)

    def _chain_hint(self) -> str:
        key = first_key(self.context.settings, "annotate.chain-new", "+")
        if not key:
            return _("Select a span of the chain first, or start a new chain in the menu.")
        return _("Select a span of the chain first, or press {key} for a new chain.", key=key)

    def join_chain(self, target: SpanTarget | None) -> None:
        """Label the selected text as part of the current chain."""
        layer = self._chain_layer()
        if layer is None or not self.session.can_edit or target is None:
            return
        if self.chain is None:
            self.context.note(self._chain_hint())
            return
        of_chain = [row for row in self.session.spans if (row.layer_id, row.chain) == self.chain]
        label = of_chain[-1].label_id if of_chain else None
        self._mention(target, label or row_id(layer.labels[0]), self.chain[1])

    def new_chain(self, target: SpanTarget | None) -> None:
        """Split the selected span off into a chain of its own, or start one with the text."""
        layer, span = self._chain_layer(), _gold(self.session)
        if layer is None or not self.session.can_edit:
            return
        if span is not None and span.chain is not None:
            self._chain_act(relate.split_off, span.id)
        elif target is not None:
            self._mention(target, row_id(layer.labels[0]), None)

    def _chain_layer(self) -> Layer | None:
        """The layer of the current chain, else the first one with labels."""
        layers = [layer for layer in self.session.chain_layers if layer.labels]
        current = [layer for layer in layers if self.chain and layer.id == self.chain[0]]
        return next(iter(current or layers), None)

    def _mention(self, target: SpanTarget, label_id: int, chain: int | None) -> None:
        id = self.session.attempt(
            annotate.add_span, self.session.document_id, target.start, target.end, label_id,
            field=target.field, chain=chain,
        )  # fmt: skip
        if id is not None:
            self.session.choose((GOLD, id))

    def _chain_act(self, act: Callable[..., int], *args: int) -> None:
        chain = self.session.attempt(act, *args)
        span = _gold(self.session)
        self.leave_link()
        if chain is not None and span is not None:
            self.chain = span.layer_id, chain

    @property
    def growing(self) -> SpanRow | None:
        """The span selected last, to which the selected text can be added as a part."""
        return self.session.span_of.get(self._last_span) if self._last_span is not None else None

    def add_part(self, target: SpanTarget | None) -> None:
        """Add the selected text to the span that was selected last."""
        span = self.growing
        if not self.session.can_edit or target is None:
            return
        if span is None or span.field != target.field:
            self.context.note(_("Select a span, then the words to add to it."))
            return
        self.session.attempt(relate.add_part, span.id, target.start, target.end)
        self.session.choose((GOLD, span.id))

    def remove_part(self, position: int) -> None:
        """Remove the part at a position from the selected span."""
        span = _gold(self.session)
        if self.session.can_edit and span is not None:
            self.session.attempt(relate.remove_part, span.id, position)


def _gold(session: DocumentSession) -> SpanRow | None:
    """The selected span, also one of a layer that is not shown."""
    if session.chosen is None or session.chosen[0] != GOLD:
        return None
    return session.span_of.get(session.chosen[1])
