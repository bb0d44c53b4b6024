"""Plots of a run that trains: definitions on hover."""

from unittest.mock import MagicMock

from tests.ui.tips import read
from workbench.ui.panels.train.live_view import PRETRAINING, LiveRun


def test_the_perplexities_of_a_language_model_have_their_definitions_on_hover(look, qtbot):
    shown = LiveRun(MagicMock(), PRETRAINING)
    qtbot.addWidget(shown)
    shown._build()

    tip = read(shown._score.toolTip())
    assert "Perplexity per token: exp of the mean negative log-likelihood of the tokens" in tip
    assert "Perplexity per word: exp of the negative log-likelihood of the text divided" in tip
