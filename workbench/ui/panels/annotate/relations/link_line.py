"""What the texts show while a relation is made, and of the selected one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.base.i18n import _
from workbench.text.labels import Label, Layer
from workbench.text.relations import directed
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.text import span_layout

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.document_text import DocumentText
    from workbench.ui.panels.annotate.relations.relations import RelationTool
    from workbench.ui.panels.annotate.session import DocumentSession


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
        for text in texts:
            here = [span for span in ends if span is not None and span.field == text.field]
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
