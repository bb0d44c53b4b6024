"""The relations of the open document as arcs of its texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.ui.panels.annotate.session import GOLD
from workbench.ui.widgets.text.arc_layout import TextArc

if TYPE_CHECKING:
    from workbench.operations.annotation.annotate import RelationRow, SpanRow
    from workbench.ui.panels.annotate.relations.relations import RelationTool

Made = tuple[object, object, object, TextArc]


class ShownArcs:
    """Keeps the arcs of unchanged relations, so that an edit places only the changed lines."""

    def __init__(self, tool: RelationTool, no_label: int | str) -> None:
        """`no_label`: the tint of a relation whose label was deleted."""
        self.tool, self._no_label = tool, no_label
        self._made: dict[int, Made] = {}
        self._layers: object = None

    def by_text(self) -> dict[str, list[TextArc]]:
        """Name of a text → its arcs. Relations between two texts are only in the list."""
        tool, spans = self.tool, self.tool.session.span_of
        if self._layers is not tool.session.layers:
            self._layers, self._made = tool.session.layers, {}
        known, self._made = self._made, {}
        arcs: dict[str, list[TextArc]] = {}
        for row in tool.session.relations:
            ends = spans.get(row.from_span), spans.get(row.to_span)
            if ends[0] is None or ends[1] is None or ends[0].field != ends[1].field:
                continue
            entry = known.get(row.id)
            if (
                entry is None
                or entry[0] is not row
                or entry[1] is not ends[0]
                or entry[2] is not ends[1]
            ):
                entry = row, *ends, self._make(row, ends[0], ends[1])
            self._made[row.id] = entry
            arcs.setdefault(ends[0].field, []).append(entry[3])
        return arcs

    def _make(self, row: RelationRow, span: SpanRow, other: SpanRow) -> TextArc:
        known = self.tool.session.label_of.get(row.label_id) if row.label_id is not None else None
        label = known[1] if known else None
        return TextArc(
            (span.start, span.end),
            (other.start, other.end),
            label.name if label else "?",
            (label.colour or label.position) if label else self._no_label,
            row.id,
            self.tool.is_directed(row),
            ((GOLD, span.id), (GOLD, other.id)),
            self.tool.is_allowed(row),
        )

    def label_of_chosen(self) -> frozenset[int]:
        """The label of the selected relation, to outline its chip."""
        row = self.tool.chosen_relation()
        return frozenset() if row is None or row.label_id is None else frozenset([row.label_id])
