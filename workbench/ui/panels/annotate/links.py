"""Keys and mouse for relations, chains and parts of spans in Annotate. `view` is the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect

from workbench.text.labels import TEXT
from workbench.text.rows import row_id
from workbench.ui.panels.annotate.state import Target
from workbench.ui.widgets.label_palette import Choice

if TYPE_CHECKING:
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

    def choices(self) -> list[Choice]:
        """What the palette offers, the labels used last first."""
        state = self._state
        if found := [Choice(label, layer.name) for layer, label in state.link_choices()]:
            return found
        layers = sorted(state.active, key=lambda layer: not layer.traits.in_text)
        found = [Choice(label, layer.name) for layer in layers for label in state.with_keys(layer)]
        order = state.order_of_use()
        return sorted(found, key=lambda item: order.get(row_id(item.label), len(order)))

    def place(self) -> QRect | None:
        """Where the text is that a label of a span layer would be given to, in coordinates of the
        page, with the rows of spans below it; None without such a layer, or if it is out of sight.
        """
        if not any(layer.traits.editor == TEXT for layer in self._state.active):
            return None
        text = self._view.document_pane.text
        span = self._state.chosen_span()
        chosen = (span.start, span.end) if span is not None and span.field == text.field else None
        found = text.selection or chosen or text.target
        viewport = text.viewport()
        if found is None or not text.isVisible():
            return None
        start, end = found
        first, last = text.rect_of(start), text.rect_of(max(start, end - 1))
        left = last.left() if last.top() > first.top() else first.left()
        foot = last.bottom() + text.lanes_below(end)
        if foot < 0 or first.top() > viewport.height():
            return None
        around = QRect(int(left), int(first.top()), 1, int(foot - first.top()))
        return around.translated(viewport.mapTo(self._view, QPoint(0, 0)))

    @staticmethod
    def target(text: DocumentText, snap: str = "") -> Target | None:
        """What a label would mark in a text; `snap`: to what the spans of its layer snap."""
        found = text.target_in(snap) if snap else text.target
        return Target(text.field, *found) if found else None

    def join_chain(self) -> None:
        self._mention(self._state.join_chain)

    def new_chain(self) -> None:
        self._mention(self._state.new_chain)

    def _mention(self, act: Callable[[Target | None], None]) -> None:
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
