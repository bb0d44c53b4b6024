"""Plots of a run that trains: definitions on hover."""

from unittest.mock import MagicMock

from PySide6.QtWidgets import QPlainTextEdit

from tests.ui.tips import read
from workbench.ui.panels.train.live_view import PRETRAINING, LiveRun
from workbench.ui.widgets.charts.live_plot import LivePlot


def test_the_perplexities_of_a_language_model_have_their_definitions_on_hover(look, qtbot):
    shown = LiveRun(MagicMock(), PRETRAINING)
    qtbot.addWidget(shown)
    shown._build()

    tip = read(shown._score.toolTip())
    assert "Perplexity per token: exp of the mean negative log-likelihood of the tokens" in tip
    assert "Perplexity per word: exp of the negative log-likelihood of the text divided" in tip


def test_plots_are_twice_as_high_as_the_log(look, qtbot):
    shown = LiveRun(MagicMock(), PRETRAINING)
    qtbot.addWidget(shown)
    shown._build()
    shown.layout().setCurrentIndex(1)
    shown.resize(800, 700)
    shown.show()
    plots, log = shown.findChildren(LivePlot), shown.findChild(QPlainTextEdit)

    qtbot.waitUntil(lambda: plots[0].height() > 1.8 * log.parentWidget().height())
    assert plots[0].height() == plots[1].height() and log.height() >= log.minimumHeight()
    assert log.geometry().bottom() < log.parentWidget().height()
