"""Layers on the Train page: the figure of copied levels, and the table of layer weights."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QWidget

from tests.ui.panels.train.experiments.test_repeat import named, shown_runs, texts
from workbench.jobs import threads
from workbench.operations.runs import train
from workbench.training.spec import TrainSpec
from workbench.ui.panels.train.experiments.layers_state import MULTITASK, WEIGHTS
from workbench.ui.panels.train.experiments.state import LAYERS
from workbench.ui.widgets.charts.chart import Chart
from workbench.ui.widgets.tables.table import Table


@pytest.fixture
def page(forked_workers, app, copy_sample, tmp_path, qtbot, tiny_model):
    assert app.open_project(copy_sample(tmp_path), page="train")
    panel = app.window.panel("train")
    qtbot.waitUntil(lambda: panel.state.ready, timeout=30_000)
    yield panel
    qtbot.waitUntil(threads.idle, timeout=30_000)


def test_without_a_run_the_page_says_what_is_missing(page, app):
    app.window.go("train", experiment=LAYERS)

    assert "Train a model first" in page.experiments.part(LAYERS).error
    assert not named(page.view, "Start experiment").isEnabled()


@pytest.mark.process
@pytest.mark.timeout(900)
def test_levels_of_a_run_are_copied_and_drawn(page, app, qtbot, tiny_model):
    project, queue = page.state.project, page.state.context.queue
    small = {"epochs": 1, "train_limit": 16, "freeze": "embeddings"}
    spec = TrainSpec("classify", "class", str(tiny_model), "tiny", 1, small, name="small")
    run = train.start(project, queue, spec)
    qtbot.waitUntil(lambda: train.run(project, run.id).status == "done", timeout=600_000)
    app.window.go("train", experiment=LAYERS)
    seeds = named(page.view, "Seeds", QLineEdit)
    seeds.setText("1")
    seeds.editingFinished.emit()
    state = page.experiments.part(LAYERS)
    assert len(state.cells) == 2 + 3 * 4 and state.cells[0].reused  # E, 1, 2 by four; base, none

    for cell in state.cells[4:]:  # one level is enough here
        cell.spec = None
    qtbot.mouseClick(named(page.view, "Continue experiment"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: state.work.status == "done", timeout=600_000)

    chart = named(page.view, "Scores by number of copied levels", Chart)
    assert [line.name for line in chart.series] == ["BnB", "BnB+", "AnB", "AnB+"]
    assert [len(line.x) for line in chart.series] == [2, 2, 1, 1]
    rows = texts(named(page.view, "Scores of the layers", Table))
    assert rows[0][0] == "0" and rows[1][0] == "E" and len({*rows[0][1:]}) == 1

    state.choose(kind=WEIGHTS)
    qtbot.waitUntil(lambda: len(shown_runs(page.view)) == 4)
    assert [row[0] for row in shown_runs(page.view)][0] == "Last layer"
    assert not named(page.view, "Run (B)", QWidget).isHidden()


@pytest.mark.process
@pytest.mark.timeout(900)
def test_a_run_on_several_layers_is_compared_with_each_alone(page, app, qtbot, tiny_model):
    project, queue = page.state.project, page.state.context.queue
    small = {"epochs": 1, "train_limit": 16, "also": "pairs"}
    spec = TrainSpec("classify", "class", str(tiny_model), "tiny", 1, small, name="both")
    app.window.go("train", experiment=LAYERS)
    state = page.experiments.part(LAYERS)
    state.choose(kind=MULTITASK, seeds="1")
    assert "Train several layers together first" in state.error

    run = train.start(project, queue, spec)
    qtbot.waitUntil(lambda: train.run(project, run.id).status == "done", timeout=600_000)
    state.refresh()

    assert [item.name for item in state.targets] == ["both (pairs)", "both"]
    qtbot.waitUntil(lambda: len(shown_runs(page.view)) == 6)
    assert [row[0] for row in shown_runs(page.view)] == [
        "pairs alone", "pairs together", "pairs together, then alone",
        "class alone", "class together", "class together, then alone",
    ]  # fmt: skip
    rows = texts(named(page.view, "Scores of the layers", Table))
    assert rows[1][2].replace(".", "").isdecimal()  # together, as it was trained before
