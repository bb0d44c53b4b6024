"""The learning curve of the instant model, with advice when to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from workbench.base.i18n import _
from workbench.ui.widgets.button import Button
from workbench.ui.widgets.chart import CIRCLE, SQUARE, Axis, Chart, Series
from workbench.ui.widgets.chart_legend import ChartLegend
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.words import words

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.instant import InstantState


class LearningDialog(Dialog):
    """Score and agreement of predictions over the number of labels."""

    def __init__(self, parent: QWidget, state: InstantState) -> None:
        super().__init__(
            parent,
            _("Learning curve"),
            _(
                "Score on held-out labels (dev, else each fifth of the labels in turn), and "
                "agreement (Cohen's kappa) of the predictions with those 10 labels before, on "
                "documents without a label. Active learning selects hard documents, so the "
                "score without dev is cautious."
            ),
            width=620,
        )
        points = state.learning_points
        scored = [one for one in points if one.score is not None]
        agreed = [one for one in points if one.agreement is not None]
        chart = Chart(
            _("Learning curve"), Axis(_("labelled documents")), Axis(_("fraction of 1"), 0.0, 1.0)
        )
        chart.setMinimumHeight(240)
        series = [
            Series(
                _("Score"),
                tuple(float(one.labels) for one in scored),
                tuple(float(one.score or 0) for one in scored),
                marker=CIRCLE,
            ),
            Series(
                _("Agreement"),
                tuple(float(one.labels) for one in agreed),
                tuple(float(one.agreement or 0) for one in agreed),
                "muted",
                dashed=True,
                marker=SQUARE,
            ),
        ]
        chart.set_series(series)
        legend = ChartLegend()
        legend.set(series)
        self.put(words(state.learning_advice, weight=500, wrap=True), chart, legend)
        self.end(None, Button(_("Close"), "", "primary", on=self.accept))
