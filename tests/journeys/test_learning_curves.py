"""Learning curves in the real window with the real starter model: choices, runs, read-off, runs
in Results.
"""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit

from tests.journeys.hand import PATIENCE

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(900)]


def test_from_the_choices_to_the_labels_that_are_needed_and_the_runs(forked_workers, hand):
    hand.click("Open the sample project")
    hand.wait(lambda: hand.app.window.page == "annotate", "the sample is not open")
    hand.click("Train")
    hand.click("Experiments")
    hand.click("Learning curves")
    state = hand.app.window.panel("train").experiments.part("curves")
    hand.wait(lambda: state.work is not None, "no experiment", PATIENCE)

    chooses_one_system_and_small_parts(hand, state)
    trains_and_reads_off(hand, state)
    moves_the_target(hand, state)
    lists_the_runs(hand, state)


def chooses_one_system_and_small_parts(hand, state):
    state.add_setting("epochs")
    state.change_setting(0, value="1")
    hand.click("Random BiLSTM")
    hand.click("Fine-tuned BERT")
    sizes = hand.find("Numbers of labels", kind=QLineEdit)
    sizes.setFocus()
    hand.replace("6, 8, 10, 12")
    hand.key(Qt.Key.Key_Return)
    hand.wait(lambda: state.work and state.work.spec.sizes == (6, 8, 10, 12), "not planned")
    state.choose(draws=1)
    hand.wait(lambda: len(state.cells) == 4 and state.rungs[0].id == "frozen-bert", "not planned")


def trains_and_reads_off(hand, state):
    hand.click("Start experiment")
    hand.wait(lambda: state.work.status == "done", "not trained", PATIENCE * 4)
    hand.wait(lambda: state.result and len(state.result.rows[0].series.points) == 4, "no curve")
    assert "Frozen BERT" in state.sentence
    assert hand.rows("Read off") == 1


def moves_the_target(hand, state):
    before = state.goal
    hand.press("Plot of the learning curves", Qt.Key.Key_Right)
    assert state.goal == pytest.approx(before + 0.01)


def lists_the_runs(hand, state):
    hand.click("Show runs")
    hand.wait(lambda: hand.app.window.page == "results", "no results")
    selection = hand.app.window.panel("results").state.selection
    hand.wait(lambda: len(selection.listed) == 4, "the runs are not listed")
    assert all(run.name.startswith("curves-frozen-bert") for run in selection.listed)
