"""A search for settings in the running application: two trials, pause, continue, use the best."""

import pytest

from tests.journeys.hand import PATIENCE
from workbench.operations.application.sample import create_sample
from workbench.ui.panels.train.experiments.state import SEARCH

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(600)]


def test_a_search_is_paused_found_again_and_its_best_settings_are_used(hand, tmp_path):
    file = create_sample(tmp_path)
    assert hand.app.open_project(file, page="train")
    state = search_of(hand)
    state.choose(layer="class", model="starter-bert", trials="2")
    hand.wait(lambda: state.ranges and state.work, "no ranges are suggested")
    for row in state.ranges:
        state.change_range(row.name, on=row.name == "batch_size")
    for name, value in (("epochs", "1"), ("train_limit", "16"), ("max_length", "16")):
        state.add_range(name) if name not in names(state) else None
        state.change_range(name, on=True, scale="list", values=value)

    hand.click("Start experiment")
    hand.wait(lambda: state.work.cells[0].status == "running", "nothing is trained", PATIENCE)
    state.pause()
    hand.wait(lambda: state.work.status == "paused", "is not paused", PATIENCE)
    assert [cell.status for cell in state.work.cells] == ["done"]

    hand.app.close_project()
    hand.app.open_project(file, page="train")
    state = search_of(hand)
    hand.wait(lambda: state.work and state.work.spec.name == "search-1", "is not found again")
    assert state.work.cells[0].reused
    hand.click("Continue experiment")
    hand.wait(lambda: state.work.status == "done", "does not end", PATIENCE)
    assert [cell.status for cell in state.work.trials] == ["done", "done"]

    hand.wait(lambda: state.verdict and state.verdict.n == 2, "no verdict", PATIENCE)
    hand.click("Use these settings")
    batch = state.work.best.values["batch_size"]
    assert hand.app.window.panel("train").state.values["batch_size"] == str(batch)


def search_of(hand):
    panel = hand.app.window.panel("train")
    panel.experiments.show(True, SEARCH)
    return panel.experiments.part(SEARCH)


def names(state):
    return {row.name for row in state.ranges}
