"""How the height of the card is divided: lines of the text first, then labels and values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.ui.panels.annotate.label_bars import LINE, BarStack, share
from workbench.ui.style import theme
from workbench.ui.widgets.layout import layout_of

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from workbench.ui.panels.annotate.document_text import DocumentText
    from workbench.ui.panels.annotate.tokens.token_pane import TokenPane
    from workbench.ui.panels.annotate.values.editors import ValueStack

ABOVE_LABELS = 60  # pixels at 100%: the lines between text and labels, and a line of text
SIDE = 22  # minimum margin beside the text, in pixels
LINES_IN_SIGHT = 3  # of a text beside any number of label bars
_UNSET = 0


class CardLayout:
    """Divides the height of `card` among its texts, its stacks of labels, and its values."""

    def __init__(self, card: QWidget, stacks: Sequence[BarStack], values: ValueStack) -> None:
        self._card, self._stacks, self._values = card, stacks, values

    def fit(self, texts: Sequence[DocumentText], tokens: TokenPane) -> None:
        """Labels get the lines that the text does not need, at most half of the height, and leave
        some lines of the text in sight; so do values. Of the text and its tokens, the one with the
        focus gets what is left.
        """
        card = self._card
        needed = sum(text.content_height() for text in texts)
        if not tokens.isHidden():
            needed = card.height()  # a token grid uses all the height there is
        text = min(needed + theme.px(ABOVE_LABELS), card.height() // 2)
        beside = self._beside(texts, tokens)
        lines = self.for_lines(texts)
        filled = sum(1 for stack in self._stacks if stack.bars)
        self._values.set_room(card.height() - beside - lines - filled * theme.px(LINE))
        values = self._values.sizeHint().height() if self._values.editors else 0
        share(
            self._stacks,
            free=card.height() - max(text + 2 * SIDE, beside + values),
            room=card.height() - beside - values - lines,
        )
        self._hold(texts, tokens, card.height() - beside - values)

    def _beside(self, texts: Sequence[DocumentText], tokens: TokenPane) -> int:
        """The minimum height of the card without labels, values, and the lines that are held."""
        for part in (*texts, tokens):
            part.setMinimumHeight(_UNSET)
        layout = layout_of(self._card)
        layout.activate()
        parts: list[QWidget] = [stack for stack in self._stacks if stack.bars]
        if self._values.editors:
            parts.append(self._values)
        return layout.minimumSize().height() - sum(part.sizeHint().height() for part in parts)

    def _hold(self, texts: Sequence[DocumentText], tokens: TokenPane, room: int) -> None:
        """Hold lines of a text beside which there are tokens, or a row of these."""
        if tokens.isHidden() or len(texts) != 1:
            return
        room -= sum(stack.sizeHint().height() for stack in self._stacks if stack.bars)
        first: QWidget = texts[0]
        height = min(texts[0].content_height() + 2, texts[0].height_of_lines(LINES_IN_SIGHT))
        if tokens.grid.hasFocus():
            first, height = tokens, tokens.grid.row_height()
        least = first.minimumSizeHint().height()
        if room > 0 and height > least:
            first.setMinimumHeight(min(height, least + room))

    def for_lines(self, texts: Sequence[DocumentText]) -> int:
        """Pixels beyond the minimum of the texts that some of their lines need."""
        lines = max(1, LINES_IN_SIGHT // len(texts)) if texts else 0
        least = (text.height_of_lines(lines) - text.minimumSizeHint().height() for text in texts)
        return max(0, sum(least))

    def spare(self, texts: Sequence[DocumentText], tokens: TokenPane) -> int:
        """Pixels of the minimum of the card that it can do without: further lines of labels and
        values, and lines of texts that are held.
        """
        stacks = (stack.sizeHint().height() for stack in self._stacks if stack.bars)
        spare = sum(max(0, height - theme.px(LINE)) for height in stacks)
        if self._values.editors:
            spare += max(0, self._values.sizeHint().height() - self._values.least())
        held = (part.minimumHeight() - part.minimumSizeHint().height() for part in (*texts, tokens))
        return spare + sum(max(0, height) for height in held)
