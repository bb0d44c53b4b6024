"""Card of the Quality part: confidence and share of correct decisions, and the temperature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFrame, QVBoxLayout

from workbench.base.i18n import _, ngettext
from workbench.ui.panels.results.quality.state import QualityState
from workbench.ui.style import escaping, formats, theme
from workbench.ui.style.formats import points
from workbench.ui.style.interval_text import interval_method, named_interval, pair_of
from workbench.ui.widgets.charts.axes import Axis
from workbench.ui.widgets.charts.chart import Bar, Chart, Series
from workbench.ui.widgets.charts.legend import CIRCLE, SQUARE
from workbench.ui.widgets.charts.saving import save_menu
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import card, column, row

if TYPE_CHECKING:
    from workbench.metrics.evaluation import Measured
    from workbench.operations.evaluation.quality import Calibrated

UNIT = (0.0, 1.0)  # range of an axis
ERROR_HELP = _(
    "Expected calibration error: mean difference of confidence and share correct over "
    "ten bins, weighted by their number (Guo et al. 2017)"
)
PIVOTAL = _(
    "That of the error is pivotal, because resampling increases differences in the bins "
    "(Kumar et al. 2019); with few decisions, it can be below the error."
)


class ReliabilityCard(QFrame):
    """Confidence and share of correct decisions, before and after temperature scaling."""

    def __init__(self, state: QualityState):
        super().__init__()
        self._state = state
        self.chart = Chart(
            _("Reliability"),
            Axis(_("confidence; grey: share of decisions"), *UNIT),
            Axis(_("share correct"), *UNIT),
            empty=_("The run has no predictions with a probability on this split."),
            diagonal=True,
        )
        self._bins: tuple[tuple[int, ...], ...] = ((), ())  # bin of each point of both curves
        self.chart.opened.connect(self._open)
        self._before, self._after = words("", "small", "warn"), words("", "small", "accent")
        self._before_range, self._after_range = (words("", "caption", "muted") for _end in "ab")
        self._temperature = words("", "small")
        self._message = words("", "caption", "muted", wrap=True)
        self._use = Button(_("Use temperature"), small=True, on=self._toggle)
        side = column(
            column(self._before, self._before_range, gap=0),
            column(self._after, self._after_range, gap=0),
            self._temperature,
            self._message,
            self._use,
            None,
        )
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
        calibrated = self._state.loaded.calibrated if self._state.loaded is not None else None
        if calibrated is not None:
            self._state.use_temperature(not calibrated.in_use)

    def show_state(self) -> None:
        loaded = self._state.loaded
        calibrated = loaded.calibrated if loaded is not None else None
        self.setVisible(calibrated is not None)
        if calibrated is None:
            return
        final = calibrated.before if calibrated.after is None else calibrated.after
        series, bins = [], []
        curves = (
            (_("before"), calibrated.before, "warn", True, SQUARE),
            (_("after"), calibrated.after, "accent", False, CIRCLE),
        )
        for (name, reliability, tone, dashed, mark), intervals in zip(
            curves, calibrated.intervals, strict=False
        ):
            if reliability is None:
                continue
            used = [at for at, count in enumerate(reliability.count) if count]
            xs = tuple(float(reliability.confidence[at]) for at in used)
            ys = tuple(float(reliability.correct[at]) for at in used)
            notes = tuple(
                _bin_text(int(reliability.count[at]), intervals.correct[at]) for at in used
            )
            curve = Series(name, xs, ys, tone, dashed, mark, notes)
            if reliability is final:  # whiskers of both would cover each other
                low, high = _whiskers([intervals.correct[at] for at in used])
                curve = replace(curve, low=low, high=high)
            series.append(curve)
            bins.append(tuple(used))
        self._bins = tuple(bins)
        width, every = 1 / len(final.count), max(1, int(final.count.sum()))
        bars = [Bar(at * width, width, int(count) / every) for at, count in enumerate(final.count)]
        self.chart.set_series(series, bars)
        self._tell(calibrated)

    def _tell(self, calibrated: Calibrated) -> None:
        error = _("■ before: ECE {value}") if calibrated.after is not None else _("ECE {value}")
        self._before.setText(error.format(value=points(calibrated.before.error)))
        tip = f"{ERROR_HELP}\n{interval_method()} {PIVOTAL}"
        for part in (self._before, self._before_range, self._after, self._after_range):
            escaping.set_tip(part, tip)
        after, has = calibrated.after, calibrated.after is not None
        for field, intervals in zip(
            (self._before_range, self._after_range), calibrated.intervals, strict=False
        ):
            field.setText(named_interval(pair_of(intervals.error)))
        for part in (self._after, self._after_range, self._temperature):
            part.setVisible(has)
        if after is not None:
            self._after.setText(_("● after: ECE {value}", value=points(after.error)))
            message = _("Temperature {value}", value=formats.decimal(calibrated.temperature, 2))
            self._temperature.setText(message)
        self._use.setVisible(calibrated.can_scale)
        self._use.setEnabled(not self._state.project.read_only)
        self._use.set_text(_("Stop using it") if calibrated.in_use else _("Use temperature"))
        text = _("Fitted on dev. Predictions keep their labels.")
        if calibrated.in_use:
            text = _("Used in predictions and export. Labels do not change.")
        self._message.setText(text if has else "")


def _bin_text(n: int, correct: Measured) -> str:
    message = ngettext("{n:,} decision", "{n:,} decisions", n)
    return " · ".join(part for part in (message, named_interval(pair_of(correct))) if part)


def _whiskers(shares: Sequence[Measured]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """(low, high) of each share; the share itself where there is no interval."""
    pairs = [pair_of(measured) or (measured.value or 0.0,) * 2 for measured in shares]
    return tuple(low for low, _high in pairs), tuple(high for _low, high in pairs)


def fill_frame(frame: QFrame, inner: QFrame) -> None:
    layout = QVBoxLayout(frame)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.addWidget(inner)
