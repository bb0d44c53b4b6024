"""The filters of the Data page: a query, the choices beside it, and documents sent from elsewhere.

No Qt.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.base.events import State
from workbench.base.i18n import _
from workbench.operations.documents import corpus
from workbench.text.queries import query_edit
from workbench.text.queries.query import Term
from workbench.text.rows import row_id
from workbench.ui.project.opened import opened
from workbench.ui.project.query_text import QueryText

if TYPE_CHECKING:
    from workbench.text.labels import Layer
    from workbench.ui.panel import PanelContext


class DocumentFilter(State):
    """`query`: the filters as text; split, label and state are conditions in it. `query_changes`: a
    number that changes with it.

    `only`: only these documents, with a caption. `layers`: available ones; `off`: ids of hidden
    ones.
    """

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context, self.project = context, opened(context)
        self.query = QueryText(context)
        self.query_changes = 0
        self.listen(self.query.changed, self._query_changed)
        self.only: tuple[tuple[int, ...], str] | None = None
        self.layers: tuple[Layer, ...] = ()
        self.off: frozenset[int] = frozenset()

    def _query_changed(self, _fields: frozenset[str]) -> None:
        self.update(query_changes=self.query_changes + 1)

    def close(self) -> None:
        self.query.close()
        super().close()

    @property
    def shown(self) -> tuple[Layer, ...]:
        """The layers that are not hidden."""
        return tuple(layer for layer in self.layers if layer.id not in self.off)

    @property
    def shown_ids(self) -> tuple[int, ...]:
        return tuple(layer.id for layer in self.shown if layer.id is not None)

    @property
    def filtered(self) -> bool:
        return bool(self.query.query.nodes or self.only)

    @property
    def split(self) -> str | None:
        """The split that the query asks for; None for all splits or another condition."""
        return self._value("split")

    @property
    def state(self) -> str | None:
        """The state that the query asks for; None for all states or another condition."""
        return self._value("state")

    def asks(self, key: str) -> bool:
        """Whether the query has a condition with this key."""
        return any(term.key == key for term in self.query.query.terms())

    def _value(self, key: str) -> str | None:
        condition = self.query.query.value(key)
        return condition.values[0] if condition is not None and not condition.name else None

    @property
    def label(self) -> tuple[int, int | None] | None:
        """Layer id and label id that the query asks for; None as label id for all of the layer."""
        layer, label = (self.query.query.value(key) for key in ("layer", "label"))
        if layer is not None and label is None:
            return next(
                ((row_id(item), None) for item in self.shown if item.name == layer.values[0]), None
            )
        if label is None or layer is not None:
            return None
        return next(iter(self._labels_of(label)), None)

    def _labels_of(self, term: Term) -> list[tuple[int, int]]:
        return [
            (row_id(layer), row_id(label))
            for layer in self.shown
            for label in layer.labels
            if label.name == term.values[0] and term.name in ("", layer.name)
        ]

    @property
    def filter(self) -> corpus.Filter:
        ids = self.only[0] if self.only else None
        text, rest = self.query.query.parted()
        return corpus.Filter(text=text, query=rest, queue_layers=self.shown_ids, ids=ids)

    def set_filter(self, **values: Any) -> None:
        """`text` of the query, `split`, `label` and `state` in it, `only`: change any of them."""
        self.update(only=values.pop("only", self.only))
        text = values.pop("text", self.query.text)
        for key, value in values.items():
            if key == "label":
                text = self._with_label(text, value)
            else:
                text = query_edit.with_term(text, key, query_edit.term(key, value) if value else "")
        self.query.set(text)

    def _with_label(self, text: str, label_filter: tuple[int, int | None] | None) -> str:
        text = query_edit.with_term(text, "layer", "")
        layer = next(
            (layer for layer in self.layers if label_filter and layer.id == label_filter[0]), None
        )
        if label_filter is None or layer is None:
            return query_edit.with_term(text, "label", "")
        if label_filter[1] is None:
            text = query_edit.with_term(text, "label", "")
            return query_edit.with_term(text, "layer", query_edit.term("layer", layer.name))
        name = next(label.name for label in layer.labels if label.id == label_filter[1])
        several = sum(label.name == name for layer in self.layers for label in layer.labels) > 1
        condition = query_edit.term("label", name, name=layer.name if several else "")
        return query_edit.with_term(text, "label", condition)

    def clear_filters(self) -> None:
        self.set_filter(text="", only=None)

    def show_only(self, ids: Sequence[int], caption: str) -> None:
        """Show only these documents, until the caption is closed."""
        self.set_filter(text="", only=(tuple(ids), caption or _("Selected documents")))

    def drop_lost(self) -> None:
        """Remove a filter by a deleted label or hidden layer, which would hide every document."""
        query = self.query.query
        label, layer = query.value("label"), query.value("layer")
        if label is not None and not label.patterns[0] and not self._labels_of(label):
            self.query.put("label", "")
        if layer is not None and layer.values[0] not in {layer.name for layer in self.shown}:
            self.query.put("layer", "")
