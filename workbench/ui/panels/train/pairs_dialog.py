"""The co-occurrence table of GloVe: the pairs with the largest counts, and f(X) of each."""

from __future__ import annotations

import math

from PySide6.QtWidgets import QLineEdit, QWidget

from workbench.base.i18n import _, ngettext
from workbench.ui.panels.train.pairs_state import PairsState
from workbench.ui.style import formats, theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import call, words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.tables.table import Column, Table, ValueKind

COLUMNS = (
    Column(_("Word"), lambda pair: pair.word, 170, sort=lambda pair: pair.word),
    Column(_("Context"), lambda pair: pair.context, sort=lambda pair: pair.context),
    Column(
        _("X"),
        lambda pair: pair.count,
        110,
        kind=ValueKind.NUMBER,
        digits=2,
        hint=_("Sum of 1 / distance over all occurrences of the pair within the window"),
    ),
    Column(_("log X"), lambda pair: math.log(pair.count), 90, kind=ValueKind.NUMBER, digits=2),
    Column(
        _("f(X)"),
        lambda pair: pair.weight,
        90,
        kind=ValueKind.NUMBER,
        hint=_("Weight of the pair in the loss: min(1, (X / x_max)^alpha)"),
    ),
)


class PairsDialog(Dialog):
    """Opens at once and shows the table when it is there; closing it cancels the counting."""

    def __init__(self, parent: QWidget | None, state: PairsState):
        hint = _(
            "GloVe fits the product of two vectors to log X, weighted by f(X) (Pennington et al. "
            "2014)."
        )
        super().__init__(parent, _("Co-occurrences"), hint, width=760)
        self.state = state
        self._meter = Meter(0.0, name=_("Progress"))
        self._search = QLineEdit()
        self._search.setPlaceholderText(_("Only pairs with the word…"))
        self._search.setClearButtonEnabled(True)
        self._search.textChanged.connect(state.set_filter)
        call(self._search, _("Word of the pairs"))
        self.table = Table(
            COLUMNS, name=_("Pairs"), key=lambda pair: (pair.word, pair.context), sortable=True
        )
        self.table.setMinimumHeight(theme.px(360))
        self._message = words(_("Counting…"), "small", "muted", wrap=True)
        self.put(self._meter, self._search, self.table, self._message)
        self.end(None, Button(_("Close"), on=self.accept))
        state.listen(state.changed, lambda _fields: self.render())
        self.render()

    def done(self, result: int) -> None:
        """Also called on Escape and the close button."""
        self.state.close()
        super().done(result)

    def render(self) -> None:
        state = self.state
        self._meter.setVisible(state.pairs is None and not state.error)
        self._meter.set(state.share)
        self.fault(state.error)
        if state.pairs is None:
            return
        self.table.set_rows(state.shown)
        message = ngettext(
            "{words} words, {tokens} tokens, {n} different pair; the {top} largest are listed. "
            "Window {window}, x_max {x_max}, alpha {alpha}.",
            "{words} words, {tokens} tokens, {n} different pairs; the {top} largest are listed. "
            "Window {window}, x_max {x_max}, alpha {alpha}.",
            state.total,
            words=formats.count(state.words),
            tokens=formats.count(state.tokens),
            n=formats.count(state.total),
            top=formats.count(len(state.pairs)),
            window=formats.count(state.options["window"]),
            x_max=formats.significant(state.options["x_max"]),
            alpha=formats.significant(state.options["alpha"]),
        )
        self._message.setText(message)
