"""The first batches of a run: original text, tokens of the input, and targets of the loss."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from workbench.base.i18n import _, ngettext
from workbench.text.columns import ValueKind
from workbench.ui.dialogs.batch_state import BatchState, Boundary, Input
from workbench.ui.style import formats, theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.layout import card, clear, column, scrolled
from workbench.ui.widgets.tables.table import Column, Table
from workbench.ui.widgets.tokens.unit_flow import Unit, UnitFlow

MAX_INPUTS_SHOWN = 32  # inputs that are shown of a batch
MAX_LABELS_SHOWN = 8  # more are scrolled
LEGEND = _(
    "Outlined: predicted, with the target below. M: masked (dashed outline). R: replaced by a "
    "random token (thick outline). K: kept. A line above tokens marks a span."
)


class BatchDialog(Dialog):
    """Opens at once and shows the batches when they are there; closing it cancels the job."""

    def __init__(self, parent: QWidget | None, state: BatchState):
        super().__init__(parent, _("First batch"), width=1000)
        self.state = state
        self._meter = Meter(None, name=_("Progress"))
        self._rows = QVBoxLayout()
        self._rows.setSpacing(10)
        self._rows.setContentsMargins(0, 0, 8, 0)
        inside = QFrame()
        inside.setLayout(self._rows)
        self._area: QScrollArea = scrolled(inside)
        self._area.setMinimumHeight(theme.px(430))
        self._message = words(_("Loading the model and computing the batch…"), "small", "muted")
        self._changed = Callout("", "warn")
        legend = words(LEGEND, "caption", "muted", wrap=True)
        self._about = words("", "small", "muted", wrap=True)
        self.put(self._about, self._message, self._meter, self._changed, self._area, legend)
        self._back = Button(_("Previous batch"), "chevron-left", on=lambda: state.move(-1))
        self._next = Button(_("Next batch"), "chevron-right", on=lambda: state.move(1))
        self.end(self._back, self._next, None, Button(_("Close"), on=self.accept))
        state.listen(state.changed, lambda _fields: self.render())
        self.render()

    def done(self, result: int) -> None:
        """Also called on Escape and the close button."""
        self.state.close()
        super().done(result)

    def render(self) -> None:
        state, count = self.state, len(self.state.batches or ())
        waiting = state.batches is None and not state.error
        self._about.setText(state.about)
        self._meter.setVisible(waiting)
        self._message.setVisible(not state.error)
        self._back.setEnabled(state.number > 0)
        self._next.setEnabled(state.number + 1 < count)
        self.fault(state.error)
        message = _("The text has changed since the run. These are the batches of the text now.")
        self._changed.set(message if state.changed_text else "")
        clear(self._rows)
        if waiting or state.error:
            return
        inputs = state.shown
        predicted = sum(input_.predicted for input_ in inputs)
        message = ngettext(
            "Batch {number} of the run: {n} input.",
            "Batch {number} of the run: {n} inputs.",
            len(inputs),
            number=formats.count(state.number + 1),
            n=formats.count(len(inputs)),
        )
        at_positions = ngettext(
            "The loss is taken at {n} position.",
            "The loss is taken at {n} positions.",
            predicted,
            n=formats.count(predicted),
        )
        self._message.setText(f"{message} {at_positions}" if predicted else message)
        if state.balance:
            self._rows.addWidget(_balance(state))
        for input_ in inputs[:MAX_INPUTS_SHOWN]:
            self._rows.addWidget(_row(input_))
        more = len(inputs) - MAX_INPUTS_SHOWN
        if more > 0:
            text = ngettext(
                "… and {n} more input", "… and {n} more inputs", more, n=formats.count(more)
            )
            self._rows.addWidget(words(text, "small", "muted"))
        self._rows.addStretch(1)
        self._area.verticalScrollBar().setValue(0)


def _row(input_: Input) -> QFrame:
    units = [Unit(text, target, what) for text, target, what in input_.units]
    flow = UnitFlow(_("Model input: {input}", input=input_.title), units, input_.spans)
    parts: list[QWidget] = [words(input_.title, "small", wrap=True, weight=600)]
    if input_.original:
        parts.append(_named(_("Original text"), words(input_.original, "small", "text", wrap=True)))
    parts.append(_named(_("What the model gets"), flow))
    if input_.written:
        parts.append(_named(_("Written by the decoder"), words(input_.written, "small", wrap=True)))
    if input_.boundaries:
        parts.append(_boundaries(input_))
    return card(*parts, gap=8, margins=(14, 10, 14, 12))


def _boundaries(input_: Input) -> QFrame:
    """What the span boundary objective predicts in an input."""
    name = _("Predicted from the boundaries of spans")

    def best(row: Boundary) -> str:
        return ", ".join(f"{token} {formats.points(share)}" for token, share in row.best)

    columns = [
        Column(_("Token"), lambda row: row.token, 110),
        Column(_("Left boundary"), lambda row: row.left, 120),
        Column(_("Right boundary"), lambda row: row.right, 120),
        Column(_("Position"), lambda row: row.place, 80, kind=ValueKind.COUNT),
        Column(_("Own, %"), lambda row: row.own, 80, kind=ValueKind.SHARE),
        Column(_("Most probable, %"), best),
    ]
    table = Table(columns, name=name)
    table.set_rows(input_.boundaries)
    table.horizontalHeader().ensurePolished()
    table.fit_height(MAX_LABELS_SHOWN)
    return _named(name, table)


def _balance(state: BatchState) -> QFrame:
    """Shares and weights of the labels."""
    name = _("Labels of an expected batch")
    label, *numbers = state.balance_columns
    columns = [Column.of(label), *(Column.of(column, 150) for column in numbers)]
    table = Table(columns, name=name, sortable=True)
    table.set_rows(state.balance)
    table.horizontalHeader().ensurePolished()  # else it is measured without its style
    table.fit_height(MAX_LABELS_SHOWN)
    return card(words(name, "small", weight=600), table, gap=8, margins=(14, 10, 14, 12))


def _named(name: str, widget: QWidget) -> QFrame:
    return column(words(name, "caption", "faint"), widget, gap=2)
