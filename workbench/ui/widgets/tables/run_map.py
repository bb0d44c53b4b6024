"""The model map of a run: which blocks are frozen, trained, unfrozen later, tied or new."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from workbench.base.i18n import _
from workbench.operations.runs.block_states import FROZEN, INSERTED, NEW, TRAINED, UNUSED
from workbench.ui.style import formats, theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.layout import row, scrolled
from workbench.ui.widgets.tables.block_map import BlockMap, Mark

if TYPE_CHECKING:
    from workbench.operations.runs.block_states import MarkedBlock

WORDS = {
    FROZEN: _("frozen"),
    TRAINED: _("trained"),
    INSERTED: _("frozen, with trained LoRA matrices"),
    NEW: _("new, trained"),
    UNUSED: _("not used"),
}
Shown = Callable[[Sequence["MarkedBlock"]], None]


class RunMapDialog(Dialog):
    """`ask(show, fail)` computes the blocks and calls one of both."""

    def __init__(
        self,
        parent: QWidget | None,
        title: str,
        ask: Callable[[Shown, Callable[[Exception], None]], None],
    ):
        super().__init__(parent, _("Model map"), title, width=560)
        self._over = False
        inside = QFrame()
        self._layout = QVBoxLayout(inside)
        self._layout.setContentsMargins(0, 0, 8, 0)
        area = scrolled(inside)
        area.setMinimumHeight(theme.px(420))
        self._message = words(_("Reading the weights…"), "small", "muted", wrap=True)
        self.put(self._message, area)
        self.end(None, Button(_("Close"), on=self.accept))
        ask(self._show, self._fail)

    def done(self, result: int) -> None:
        """Also called on Escape and the close button."""
        self._over = True
        super().done(result)

    def _fail(self, error: Exception) -> None:
        if not self._over:
            self._message.hide()
            self.fault(str(error))

    def _show(self, blocks: Sequence[MarkedBlock]) -> None:
        if self._over:
            return
        message = _(
            "Hatched: frozen. Bar: trained. Thick outline: new. Dashed: tied or not used. Click a "
            "block for its parts."
        )
        self._message.setText(message)
        marks = [Mark(block.block, block.state, state_words(block)) for block in blocks]
        total = sum(block.block.parameters for block in blocks if not block.block.head)
        self._layout.addWidget(BlockMap(marks, total))
        count = sum(block.trained for block in blocks)
        name = _("Trained in this run")
        figure = _("{n} and the head", n=formats.count(count))
        self._layout.addWidget(row(words(name, "small", "muted"), None, words(figure, weight=600)))
        self._layout.addStretch(1)


def state_words(marked: MarkedBlock) -> str:
    """What a training does with a block."""
    if marked.epoch:
        return _("trained from epoch {n}", n=marked.epoch)
    return WORDS[marked.state]
