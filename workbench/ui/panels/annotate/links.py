"""Keys and mouse for relations, chains and parts of spans in Annotate, and what the texts show
while a relation is made. `view` is the page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect

from workbench.base.i18n import _
from workbench.text.labels import TEXT, Label, Layer
from workbench.text.relations import directed
from workbench.text.rows import row_id
from workbench.ui.panels.annotate.state import SpanTarget
from workbench.ui.widgets.controls.label_palette import LabelChoice
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.text import span_layout

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.actions import AnnotateActions
    from workbench.ui.panels.annotate.document_pane import DocumentText
    from workbench.ui.panels.annotate.view import AnnotateView


class Links:
    """What needs the text of the page as well as the state."""

    def __init__(self, view: AnnotateView) -> None:
        self._view, self._state = view, view.state

    def enter(self, *, only_this: bool = False) -> None:
        """Enter: finish the relation that is being made, else the unit or document."""
        if self._state.linking is None:
            self._state.finish_unit()
        elif not self._state.finish_link(only_this=only_this):
            self._view.open_palette()

    def connect(self, name: tuple[str, int], target: tuple[str, int]) -> None:
        """The mouse connected two spans."""
        if not self._state.connect(name, target):
            self._view.open_palette()

    def choices(self) -> list[LabelChoice]:
        """What the palette offers, the labels used last first."""
        state = self._state
        if choices := [LabelChoice(label, layer.name) for layer, label in state.link_choices()]:
            return choices
        layers = sorted(state.active, key=lambda layer: not layer.traits.in_text)
        choices = [
            LabelChoice(label, layer.name) for layer in layers for label in state.with_keys(layer)
        ]
        order = state.order_of_use()
        return sorted(choices, key=lambda item: order.get(row_id(item.label), len(order)))

    def place(self) -> QRect | None:
        """Where the text is that a label of a span layer would be given to, in coordinates of the
        page, with the rows of spans below it; None without such a layer, or if it is out of sight.
        """
        if not any(layer.traits.editor == TEXT for layer in self._state.active):
            return None
        text = self._view.document_pane.text
        span = self._state.chosen_span()
        chosen = (span.start, span.end) if span is not None and span.field == text.field else None
        offsets = text.selection or chosen or text.target
        viewport = text.viewport()
        if offsets is None or not text.isVisible():
            return None
        start, end = offsets
        first, last = text.rect_of(start), text.rect_of(max(start, end - 1))
        left = last.left() if last.top() > first.top() else first.left()
        foot = last.bottom() + text.lanes_below(end)
        if foot < 0 or first.top() > viewport.height():
            return None
        around = QRect(int(left), int(first.top()), 1, int(foot - first.top()))
        return around.translated(viewport.mapTo(self._view, QPoint(0, 0)))

    @staticmethod
    def target(text: DocumentText, snap: str = "") -> SpanTarget | None:
        """What a label would mark in a text; `snap`: to what the spans of its layer snap."""
        offsets = text.target_in(snap) if snap else text.target
        return SpanTarget(text.field, *offsets) if offsets else None

    def join_chain(self) -> None:
        self._mention(self._state.join_chain)

    def new_chain(self) -> None:
        self._mention(self._state.new_chain)

    def _mention(self, act: Callable[[SpanTarget | None], None]) -> None:
        """Label the selected text; the words are a span afterwards, and no longer selected."""
        before = self._state.chosen
        act(self.target(self._view.document_pane.text))
        self._view.leave_selection(before)

    def add_part(self) -> None:
        self._state.add_part(self.target(self._view.document_pane.text))

    def sign(self, sign: str) -> bool:
        """Chains: `=` adds the text to the current one, `+` starts one; `&` adds a part."""
        actions = {"&": self.add_part}
        if self._state.chain_layers:
            actions |= {"=": self.join_chain, "+": self.new_chain}
        if sign not in actions:
            return False
        actions[sign]()
        return True


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
    labels = state.with_keys(layer)
    if not layer.traits.between_spans:
        return labels
    signs = [_("→ {label}") if directed(layer, item.name) else _("– {label}") for item in labels]
    named = zip(labels, signs, strict=True)
    return tuple(replace(label, name=sign.format(label=label.name)) for label, sign in named)
