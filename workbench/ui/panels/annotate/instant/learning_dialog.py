"""The learning curve of the instant model, or of rounds of training again, with advice to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from workbench.base.i18n import _
from workbench.ui.widgets.charts.axes import Axis
from workbench.ui.widgets.charts.chart import Chart, Series
from workbench.ui.widgets.charts.legend import CIRCLE, SQUARE, ChartLegend
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import combo
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.dialog import Dialog

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.instant.instant import InstantTool, LearningCurve


class LearningDialog(Dialog):
    """Score and agreement of predictions over the number of labels."""

    def __init__(self, parent: QWidget | None, tool: InstantTool) -> None:
        super().__init__(
            parent,
            _("Learning curve"),
            _(
                "Score on held-out labels, and agreement (Cohen's kappa) with the predictions of "
                "the point before. Active learning selects difficult documents: without a dev "
                "split, the score underestimates the model."
            ),
            width=620,
        )
        self._curves: tuple[LearningCurve, ...] = ()
        self._of = combo(name=_("Learning curve of"))
        self._advice = words("", weight=500, wrap=True)
        self._message = words("", "small", "muted", wrap=True)
        self._chart = Chart(
            _("Learning curve"),
            Axis(_("labelled documents"), whole=True),
            Axis(_("score, agreement"), 0.0, 1.0),
            empty=_("Scores appear here after each training, and while the instant model is on."),
        )
        self._chart.setMinimumHeight(240)
        self._legend = ChartLegend()
        self.put(self._of, self._advice, self._message, self._chart, self._legend)
        self.end(None, Button(_("Close"), "", "primary", on=self.accept))
        self._of.currentIndexChanged.connect(lambda _index: self._show())
        self._advice.setText(_("Reading the predictions of the runs…"))
        tool.read_curves(self._take)

    def _take(self, curves: tuple[LearningCurve, ...]) -> None:
        self._curves = curves
        self._of.blockSignals(True)
        self._of.clear()
        for curve in curves:
            self._of.addItem(curve.title)
        self._of.blockSignals(False)
        self._of.setVisible(len(curves) > 1)
        self._show()

    def _show(self) -> None:
        at = self._of.currentIndex()
        curve = self._curves[at] if 0 <= at < len(self._curves) else None
        none = _("No run has been trained yet, and the instant model is off.")
        self._advice.setText(curve.advice if curve is not None else none)
        self._message.setText(curve.message if curve is not None else "")
        points = curve.points if curve is not None else ()
        scored = [point for point in points if point.score is not None]
        agreed = [point for point in points if point.agreement is not None]
        series = [
            Series(
                _("Score"),
                tuple(float(point.labels) for point in scored),
                tuple(float(point.score or 0) for point in scored),
                marker=CIRCLE,
            ),
            Series(
                _("Agreement"),
                tuple(float(point.labels) for point in agreed),
                tuple(float(point.agreement or 0) for point in agreed),
                "muted",
                dashed=True,
                marker=SQUARE,
            ),
        ]
        self._chart.set_series(series)
        self._legend.set(series)
