"""In place of labels: the scale and the statistics of a layer of numbers or written texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QLineEdit, QSizePolicy, QVBoxLayout, QWidget

from workbench.base.i18n import _, ngettext
from workbench.text.labels import NUMBERS
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import column, row

if TYPE_CHECKING:
    from workbench.ui.panels.labels.state import LabelsState, ShownValues

TALL = 150  # height of the histogram, pixels at 100%
UNDER, OVER = 18, 16  # height of the numbers below and above the bars, pixels at 100%


class HistogramBars(QWidget):
    """Bars of the numbers of documents in ranges of equal width."""

    def __init__(self) -> None:
        super().__init__()
        self._bins: tuple[tuple[float, float, int], ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(theme.px(TALL))
        self.setAccessibleName(_("Documents by value"))

    def set_bins(self, bins: tuple[tuple[float, float, int], ...]) -> None:
        self._bins = bins
        message = [
            _(
                "{low} to {high}: {n}",
                low=formats.significant(low, 4),
                high=formats.significant(high, 4),
                n=formats.count(count),
            )
            for low, high, count in bins
        ]
        self.setAccessibleDescription(", ".join(message))
        escaping.set_tip(self, "\n".join(message))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        if not self._bins:
            return
        painter = QPainter(self)
        painter.setFont(theme.font("caption"))
        under, over = theme.px(UNDER), theme.px(OVER)
        room, slot = self.height() - under - over, self.width() / len(self._bins)
        most = max(count for _low, _high, count in self._bins) or 1
        for number, (low, _high, count) in enumerate(self._bins):
            high = room * count / most
            bar = QRectF(slot * number + 1, over + room - high, slot - 2, high)
            painter.fillRect(bar, theme.qcolour("accent"))
            painter.setPen(theme.qcolour("text"))
            above = QRectF(slot * number, bar.top() - over, slot, over)
            painter.drawText(above, Qt.AlignmentFlag.AlignCenter, formats.count(count))
            painter.setPen(theme.qcolour("muted"))
            below = QRectF(slot * number + 1, self.height() - under, slot, under)
            left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(below, left, formats.significant(low, 4))
        painter.setPen(QPen(theme.qcolour("line"), 1))
        painter.drawLine(0, over + room, self.width(), over + room)


class ValuesPage(QWidget):
    """The scale of a layer of numbers, and a histogram of the values of its documents."""

    def __init__(self, state: LabelsState) -> None:
        super().__init__()
        self.state = state
        self.ends = QLineEdit(), QLineEdit(), QLineEdit()
        titles = _("Minimum"), _("Maximum"), _("Step")
        self._fields = [
            TitledField(title, box) for title, box in zip(titles, self.ends, strict=True)
        ]
        self._set = Button(_("Change scale"), "check", on=self._change)
        self._scale = row(*((field, 1) for field in self._fields), column(None, self._set), gap=12)
        self._message = words("", "small", "muted", wrap=True)
        self.histogram = HistogramBars()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 14, 20, 14)
        layout.setSpacing(14)
        for part in (self._scale, self._message, self.histogram):
            layout.addWidget(part)
        layout.addStretch(1)
        for box in self.ends:
            box.returnPressed.connect(self._change)

    def _change(self) -> None:
        self.state.set_scale(*(box.text() for box in self.ends))

    def render(self) -> None:
        values = self.state.values
        layer = self.state.layer
        if values is None or layer is None:
            return
        numbers = layer.layer.traits.record == NUMBERS
        self._scale.setVisible(numbers)
        self._set.setEnabled(self.state.editable)
        for box, value in zip(self.ends, values.scale, strict=True):
            box.setText(formats.typed(value))
            box.setReadOnly(not self.state.editable)
        self._message.setText(_summary(values, numbers=numbers))
        self.histogram.setVisible(values.found.count > 0)
        self.histogram.set_bins(values.found.bins)


def _summary(layer_values: ShownValues, *, numbers: bool) -> str:
    statistics = layer_values.found
    if not statistics.count:
        if numbers:
            return _("No document has a number yet. Numbers are set in Annotate, or imported.")
        return _("No text has been written yet. Texts are written in Annotate, or imported.")
    values = {
        "n": formats.count(statistics.count),
        "mean": formats.significant(statistics.mean, 4),
        "sd": formats.significant(statistics.deviation, 4),
        "low": formats.significant(statistics.low, 4),
        "high": formats.significant(statistics.high, 4),
    }
    if numbers:
        message = ngettext(
            "{n} document, mean {mean}, standard deviation {sd}, from {low} to {high}.",
            "{n} documents, mean {mean}, standard deviation {sd}, from {low} to {high}.",
            statistics.count,
        )
    else:
        message = ngettext(
            "{n} text, {mean} characters on average, from {low} to {high}.",
            "{n} texts, {mean} characters on average, from {low} to {high}.",
            statistics.count,
        )
    return message.format(**values)
