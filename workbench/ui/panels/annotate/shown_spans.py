"""The spans that Annotate draws in the texts: gold, suggestions, predictions and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _
from workbench.ui import theme
from workbench.ui.widgets import span_layout
from workbench.ui.widgets.span_layout import TextSpan

if TYPE_CHECKING:
    from workbench.storage.annotations import SpanRow
    from workbench.ui.panels.annotate.acts import AnnotateActs

# name and colour of a span whose label is not loaded or was deleted
NO_LABEL = ("?", theme.NO_LABEL)


class ShownSpans:
    """What is drawn for the rows of the state; unchanged rows keep their objects."""

    def __init__(self, state: AnnotateActs) -> None:
        self.state = state
        self._made: dict[
            int, tuple[object, TextSpan]
        ] = {}  # span id → its row, and what is displayed for it
        self._looks: dict[int | None, tuple[str, Any]] = {}
        self._missed: frozenset[int] = frozenset()

    def by_text(self) -> dict[str, list[TextSpan]]:
        """The spans of each text: gold, open suggestions, and in error review the run's false
        positives.
        """
        state = self.state
        looks: dict[int | None, tuple[str, Any]] = {
            id: (label.name, label.colour or label.position)
            for id, (_layer, label) in state.label_of.items()
        }
        extra, missed = state.differences[:2]
        if looks != self._looks or missed != self._missed:
            self._looks, self._missed = looks, missed
            self._made.clear()
        tags = {layer.id for layer in state.tag_layers}
        others = tags | {layer.id for layer in state.active if layer.traits.asks}
        rows = state.spans if not tags else [r for r in state.spans if r.layer_id not in tags]
        known = self._made
        made = {
            row.id: kept if (kept := known.get(row.id)) and kept[0] is row else self._make(row)
            for row in rows
        }
        self._made = made
        shown = [one for _row, one in made.values()]
        fields = {row.field for row in rows}
        found = {
            field: shown
            if len(fields) == 1
            else [made[row.id][1] for row in rows if row.field == field]
            for field in fields
        }
        for row in () if state.errors else state.suggestions:
            if row.start is not None and row.end is not None and row.layer_id not in others:
                name, tint = looks.get(row.label_id, NO_LABEL)
                found.setdefault(row.field, []).append(
                    TextSpan(
                        row.start, row.end, name, tint, row.id, span_layout.SUGGESTED, row.score
                    )
                )
        if answers := self._answers():
            field = state.shown_doc.document.fields[0]
            found[field] = [*found.get(field, ()), *answers]
        learned = next((layer.labels for layer in state.layers if layer.id == state.run_layer), ())
        tints = {label.name: label.colour or label.position for label in learned}
        for number, one in enumerate(() if state.run_layer in tags else extra, 1):
            tint = tints.get(one.label, NO_LABEL[1])
            found.setdefault(one.field, []).append(
                TextSpan(
                    one.start, one.end, one.label, tint, number, span_layout.PREDICTED, one.score
                )
            )
        return found

    def _answers(self) -> list[TextSpan]:
        """The answers of the current question in the text."""
        shown = self.state.shown_answers
        return [
            TextSpan(one.start, one.end, _("answer"), 0, one.id, one.kind, one.score)
            for one in shown
        ]

    def _make(self, row: SpanRow) -> tuple[object, TextSpan]:
        name, tint = self._looks.get(row.label_id, NO_LABEL)
        note = _("missed") if row.id in self._missed else ""
        if row.chain is not None:
            name, tint = _("{chain} · {label}").format(chain=row.chain, label=name), row.chain - 1
        return row, TextSpan(
            row.start, row.end, name, tint, row.id, span_layout.GOLD, None, note, parts=row.parts
        )
