"""Plots of a run that trains: definitions on hover."""

from unittest.mock import MagicMock

from PySide6.QtWidgets import QPlainTextEdit

from tests.ui.tips import read
from workbench.jobs.events import Output
from workbench.ui.panels.train.live_view import EVERY, PRETRAINING, UPDATES, LiveRun
from workbench.ui.project.job_progress import JobProgress, follow
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


def step(number, norm):
    return {
        "kind": "step",
        "step": number,
        "total": 4,
        "epoch": 1,
        "losses": {"task": 1.0 / number},
        "learning_rate": number / 1000,
        "examples_per_second": 1.0,
        "memory_mb": 1,
        "seconds_left": 1.0,
        "gradient_norm": norm,
    }


def shown_run(qtbot, *payloads):
    """The page of a run that reported these events."""
    live = JobProgress(1, "run", "title", "classify", "running")
    for payload in payloads:
        follow(live, Output(payload))
    shown = LiveRun(MagicMock(live=live, job=None))
    qtbot.addWidget(shown)
    shown.render(frozenset({"run"}))
    return shown


def test_losses_of_a_stage_are_drawn_at_the_steps_of_the_stage(look, qtbot):
    """Pairs at the steps 1 and 2, then the head; and once more after it went back to step 3."""
    live = JobProgress(1, "run", "title", "classify", "running")
    pairs = [{**step(number, 1.0), "losses": {"contrastive": 0.2}} for number in (1, 2)]
    for payload in (*pairs, step(3, 1.0), step(4, 1.0)):
        follow(live, Output(payload))
    assert live.loss_steps["contrastive"] == [1, 2] and live.loss_steps["task"] == [3, 4]

    for payload in ({"kind": "resumed", "step": 3}, step(4, 1.0), step(5, 1.0)):
        follow(live, Output(payload))
    assert live.loss_steps["contrastive"] == [1, 2] and live.loss_steps["task"] == [3, 4, 5]

    for payload in ({"kind": "resumed", "step": 1}, pairs[1], step(3, 1.0)):
        follow(live, Output(payload))
    assert live.loss_steps["contrastive"] == [1, 2] and live.loss_steps["task"] == [3]
    assert live.losses["task"] == [1 / 3]


def test_rate_and_gradients_are_shown_beside_loss_and_score_where_asked(look, qtbot):
    plan = {"kind": "rate_plan", "clip": 1.0, "steps": [], "rates": {}}
    shown = shown_run(qtbot, plan, step(1, 3.0), step(2, None), step(3, 0.5))
    assert shown._updates.isHidden() and not shown._plots.isHidden()

    shown._curves.button(UPDATES).click()
    assert shown._plots.isHidden() and not shown._updates.isHidden()
    (rate,), (norm,) = shown._rate.curves.values(), shown._norm.curves.values()
    assert (rate.x, rate.y) == ([1, 2, 3], [0.001, 0.002, 0.003])
    assert (norm.x, norm.y) == ([1, 3], [3.0, 0.5])
    assert [entry.name for entry in shown._norm._samples()] == ["gradient norm", "clipping"]

    shown._curves.button(EVERY).click()
    assert not shown._plots.isHidden() and not shown._updates.isHidden()


def test_rates_of_parts_are_drawn_up_to_the_present_step(look, qtbot):
    rates = {"embeddings": [0.1, 0.2, 0.1], "layer_1": [0.2, 0.4, 0.2], "head": [0.3, 0.6, 0.3]}
    plan = {"kind": "rate_plan", "clip": 0.0, "steps": [1, 3, 5], "rates": rates}
    shown = shown_run(qtbot, plan, step(3, 0.5))

    shown._curves.button(UPDATES).click()

    curves = shown._rate.curves
    assert list(curves) == ["Embeddings", "Layer 1", "Head"]
    assert (curves["Head"].x, curves["Head"].y) == ([1, 3], [0.3, 0.6])
