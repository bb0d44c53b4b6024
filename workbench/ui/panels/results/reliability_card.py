"""Card of the Quality part: confidence and share of correct decisions, and the temperature."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFrame, QVBoxLayout

from workbench.base.i18n import _, ngettext
from workbench.ui import formats, plain, theme
from workbench.ui.formats import points
from workbench.ui.panels.results.quality_state import QualityState
from workbench.ui.widgets.button import Button
from workbench.ui.widgets.chart import CIRCLE, SQUARE, Axis, Bar, Chart, Series, save_menu
from workbench.ui.widgets.layout import card, column, row
from workbench.ui.widgets.words import words

if TYPE_CHECKING:
    from workbench.operations.quality import Calibrated

UNIT = (0.0, 1.0)  # range of an axis


class ReliabilityCard(QFrame):
    """Confidence and share of correct decisions, before and after temperature scaling."""

    def __init__(self, state: QualityState):
        super().__init__()
        self._state = state
        self.chart = Chart(
            _("Reliability"),
            Axis(_("confidence; grey: share of decisions"), *UNIT),
            Axis(_("share correct"), *UNIT),
            diagonal=True,
        )
        self._bins: tuple[tuple[int, ...], ...] = ((), ())  # bin of each point of both curves
        self.chart.opened.connect(self._open)
        self._before, self._after = words("", "small", "warn"), words("", "small", "accent")
        self._temperature = words("", "small")
        self._message = words("", "caption", "muted", wrap=True)
        self._use = Button(_("Use temperature"), small=True, on=self._toggle)
        side = column(self._before, self._after, self._temperature, self._message, self._use, None)
        side.setFixedWidth(theme.px(150))
        head = row(
            words(_("Reliability"), weight=600),
            None,
            save_menu("reliability", _("Save the reliability diagram"), self.chart),
        )
        fill_frame(self, card(head, (row((self.chart, 1), side), 1)))

    def _open(self, series: int, at: int) -> None:
        self._state.open_bin(series, self._bins[series][at])

    def _toggle(self) -> None:
        found = self._state.loaded.calibrated if self._state.loaded is not None else None
        if found is not None:
            self._state.use_temperature(not found.in_use)

    def show_state(self) -> None:
        loaded = self._state.loaded
        found = loaded.calibrated if loaded is not None else None
        self.setVisible(found is not None)
        if found is None:
            return
        shown = found.before if found.after is None else found.after
        series, bins = [], []
        for name, reliability, tone, dashed, mark in (
            (_("before"), found.before, "warn", True, SQUARE),
            (_("after"), found.after, "accent", False, CIRCLE),
        ):
            if reliability is None:
                continue
            used = [at for at, count in enumerate(reliability.count) if count]
            xs = tuple(float(reliability.confidence[at]) for at in used)
            ys = tuple(float(reliability.correct[at]) for at in used)
            notes = tuple(_decisions(int(reliability.count[at])) for at in used)
            series.append(Series(name, xs, ys, tone, dashed, mark, notes))
            bins.append(tuple(used))
        self._bins = tuple(bins)
        width, every = 1 / len(shown.count), max(1, int(shown.count.sum()))
        bars = [Bar(at * width, width, int(count) / every) for at, count in enumerate(shown.count)]
        self.chart.set_series(series, bars)
        self._tell(found)

    def _tell(self, found: Calibrated) -> None:
        error = _("■ before: ECE {value}") if found.after is not None else _("ECE {value}")
        self._before.setText(error.format(value=points(found.before.error)))
        plain.set_tip(
            self._before,
            _(
                "Expected calibration error: mean difference of confidence and share correct over "
                "ten bins, weighted by their number (Guo et al. 2017)"
            ),
        )
        after, has = found.after, found.after is not None
        for part in (self._after, self._temperature):
            part.setVisible(has)
        if after is not None:
            self._after.setText(_("● after: ECE {value}").format(value=points(after.error)))
            message = _("Temperature {value}")
            self._temperature.setText(message.format(value=formats.decimal(found.temperature, 2)))
        self._use.setVisible(found.can_scale)
        self._use.setEnabled(not self._state.project.read_only)
        self._use.set_text(_("Stop using it") if found.in_use else _("Use temperature"))
        text = _("Fitted on dev. Predictions keep their labels.")
        if found.in_use:
            text = _("Used in predictions and export. Labels do not change.")
        self._message.setText(text if has else "")


def _decisions(n: int) -> str:
    return ngettext("{n:,} decision", "{n:,} decisions", n).format(n=n)


def fill_frame(frame: QFrame, inner: QFrame) -> None:
    layout = QVBoxLayout(frame)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.addWidget(inner)
