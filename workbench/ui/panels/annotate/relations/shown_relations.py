"""The relations of a document in its texts: arcs, and the hint while one is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.base.i18n import _
from workbench.text.labels import Label, Layer
from workbench.text.relations import directed
from workbench.ui.panels.annotate.differences import differences
from workbench.ui.panels.annotate.session import GOLD, Name
from workbench.ui.style import formats
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.text import span_layout
from workbench.ui.widgets.text.arc_layout import TextArc

if TYPE_CHECKING:
    from workbench.operations.annotation.annotate import RelationRow, SpanRow
    from workbench.text.spans import Span
    from workbench.ui.panels.annotate.document_text import DocumentText
    from workbench.ui.panels.annotate.relations.relations import RelationTool
    from workbench.ui.panels.annotate.session import DocumentSession

# kind and id of its name, label, spans, score
DashedArc = tuple[str, int, "tuple[Layer, Label] | None", "tuple[Span, Span]", float | None]
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
        for kind, id, label, pair, score in (*self._suggested(), *self._predicted()):
            arc = self._dashed(label, pair, score, (kind, id))
            arcs.setdefault(pair[0].field, []).append(arc)
        return arcs

    def _suggested(self) -> Iterator[DashedArc]:
        session = self.tool.session
        for row in () if session.errors else session.suggestions:
            if row.ends is not None:
                label = session.label_of.get(row.label_id or 0)
                yield span_layout.SUGGESTED, row.id, label, row.ends, row.score

    def _predicted(self) -> Iterator[DashedArc]:
        """In error review, the relations that gold lacks."""
        for number, relation in enumerate(differences(self.tool.session).relations, 1):
            ends = relation.from_span, relation.to_span
            label = self._reviewed_label(relation.label)
            yield span_layout.PREDICTED, number, label, ends, relation.score

    def _reviewed_label(self, name: str) -> tuple[Layer, Label] | None:
        session = self.tool.session
        known = session.label_of.values()
        return next((p for p in known if p[0].id == session.run_layer and p[1].name == name), None)

    def _dashed(
        self,
        known: tuple[Layer, Label] | None,
        ends: tuple[Span, Span],
        score: float | None,
        name: Name,
    ) -> TextArc:
        """A suggested or predicted relation, with its score."""
        kind, id = name
        label = known[1] if known else None
        title = label.name if label else "?"
        tint = (label.colour or label.position) if label else self._no_label
        text = "" if score is None else f" · {formats.decimal(score, 2)}"
        first, second = ((span.start, span.end) for span in ends)
        has_direction = known is None or directed(known[0], title)
        return TextArc(
            first, second, f"{title}{text} ?", tint, id, has_direction, kind=kind,
            short=f"{title} ?",
        )  # fmt: skip

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


class LinkLine:
    """`words` says what to do while a relation is being made."""

    def __init__(self, tool: RelationTool) -> None:
        self._tool = tool
        self.words = words("", "small", "accent", wrap=True)

    def render(self, texts: Sequence[DocumentText]) -> None:
        span = self._tool.session.span_of.get(self._tool.linking or 0)
        self.words.setVisible(span is not None)
        for text in texts:
            text.set_linked((span_layout.GOLD, span.id) if span is not None else None)
        if span is None:
            return
        content = self._tool.session.shown_doc.document.content(span.field)[span.start : span.end]
        message = _(
            "From “{text}”: choose the target with Tab or the mouse, then press Enter or the "
            "key of a label. Esc cancels."
        )
        if span.chain is not None:
            message = _(
                "Chain {chain}, “{text}”: choose a span of another chain with Tab or the "
                "mouse. Enter merges both chains, Shift+Enter moves only this span. Esc "
                "cancels."
            )
        self.words.setText(message.format(text=" ".join(content.split()), chain=span.chain))

    def show_relation(self, texts: Sequence[DocumentText]) -> None:
        """Draw the selected relation as chosen, and scroll to its spans."""
        row, spans = self._tool.chosen_relation(), self._tool.session.span_of
        ends = [spans.get(id) for id in (row.from_span, row.to_span)] if row else []
        self.show_ends(texts, [span for span in ends if span is not None])

    def show_ends(self, texts: Sequence[DocumentText], ends: Sequence[SpanRow | Span]) -> None:
        """Draw the selected relation, or suggestion of one, between these spans as chosen."""
        for text in texts:
            here = [span for span in ends if span.field == text.field]
            text.choose(self._tool.session.chosen if here else None)
            if here:
                text.show_range(min(span.start for span in here), max(item.end for item in here))


def signed(session: DocumentSession, layer: Layer) -> tuple[Label, ...]:
    """The labels of a layer as its bar shows them: those of relations with their direction."""
    labels = session.keys.with_keys(layer)
    if not layer.traits.between_spans:
        return labels
    signs = [_("→ {label}") if directed(layer, item.name) else _("– {label}") for item in labels]
    named = zip(labels, signs, strict=True)
    return tuple(replace(label, name=sign.format(label=label.name)) for label, sign in named)
