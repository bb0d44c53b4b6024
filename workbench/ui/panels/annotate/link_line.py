"""What the texts show of a relation: the line that says what to do, the chosen one, the labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.base.i18n import _
from workbench.text.labels import Label, Layer
from workbench.text.relations import directed
from workbench.ui.widgets import span_layout
from workbench.ui.widgets.words import words

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.actions import AnnotateActions
    from workbench.ui.panels.annotate.document_pane import DocumentText


class LinkLine:
    """`words` says what to do while a relation is being made."""

    def __init__(self, state: AnnotateActions) -> None:
        self._state = state
        self.words = words("", "small", "accent", wrap=True)

    def render(self, texts: Sequence[DocumentText]) -> None:
        span = self._state.span_of.get(self._state.linking or 0)
        self.words.setVisible(span is not None)
        for text in texts:
            text.set_linked((span_layout.GOLD, span.id) if span is not None else None)
        if span is None:
            return
        content = self._state.shown_doc.document.content(span.field)[span.start : span.end]
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
        row, spans = self._state.chosen_relation(), self._state.span_of
        ends = [spans.get(id) for id in (row.from_span, row.to_span)] if row else []
        for text in texts:
            here = [span for span in ends if span is not None and span.field == text.field]
            text.choose(self._state.chosen if here else None)
            if here:
                text.show_range(min(span.start for span in here), max(item.end for item in here))


def signed(state: AnnotateActions, layer: Layer) -> tuple[Label, ...]:
    """The labels of a layer as its bar shows them: those of relations with their direction."""
    found = state.with_keys(layer)
    if not layer.traits.between_spans:
        return found
    signs = [_("→ {label}") if directed(layer, item.name) else _("– {label}") for item in found]
    named = zip(found, signs, strict=True)
    return tuple(replace(label, name=sign.format(label=label.name)) for label, sign in named)
