"""Seeds and folds on the Train page: systems, runs, scores, and label errors from all folds."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget

from tests.ui.panels.train.test_state import context  # noqa: F401 (a fixture)
from workbench.jobs import threads
from workbench.operations.experiments.repeat import System
from workbench.operations.runs import run_folders
from workbench.storage.labels import labels
from workbench.training.spec import TrainSpec
from workbench.ui.panels.train.experiments.repeat_view import RepeatView
from workbench.ui.panels.train.experiments.side import CellTable
from workbench.ui.panels.train.experiments.state import REPEAT
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.job_view import JobView
from workbench.ui.widgets.tables.table import Table

SMALL = {"epochs": 1, "train_limit": 16}


def named(view, name, kind=QWidget):
    return next(
        widget
        for widget in view.findChildren(kind)
        if widget.accessibleName() == name and widget.isVisible()
    )


def texts(table):
    return [[column.text(row) for column in table.rows_model.columns] for row in table.rows()]


@pytest.fixture
def page(forked_workers, app, copy_sample, tmp_path, qtbot, tiny_model):
    assert app.open_project(copy_sample(tmp_path), page="train")
    panel = app.window.panel("train")
    qtbot.waitUntil(lambda: panel.state.ready, timeout=30_000)
    spec = TrainSpec("classify", "class", str(tiny_model), "tiny", options=SMALL, name="small")
    app.window.go("train", experiment=REPEAT, spec=spec)
    yield panel
    qtbot.waitUntil(threads.idle, timeout=30_000)


def test_the_settings_of_a_run_are_repeated_with_the_seeds_that_are_typed(page, qtbot):
    assert texts(named(page.view, "Systems", Table)) == [
        ["small", "tiny, epochs=1, train_limit=16"]
    ]
    assert [row[0] for row in texts(named(page.view, "Runs", Table))] == [
        "Seed 1", "Seed 2", "Seed 3",
    ]  # fmt: skip

    seeds = named(page.view, "Seeds", QLineEdit)
    seeds.setText("4")
    seeds.editingFinished.emit()
    folds = named(page.view, "Folds", QComboBox)
    folds.setCurrentIndex(folds.findData(3))
    folds.activated.emit(folds.currentIndex())

    expected = [["Fold 1", "–"], ["Fold 2", "–"], ["Fold 3", "–"]]
    qtbot.waitUntil(lambda: shown_runs(page.view) == expected)


def test_with_a_teacher_each_system_is_trained_without_and_with_it(page, app, qtbot):
    project = app.project
    with project.write():
        layer = labels.layer_by_name(project.db, "class")
        values = {"layer_id": layer.id, "spec": {"task": "classify", "layer": "class"}}
        run_folders.add_run(project, "big", status="done", **values)
    page.experiments.refresh()
    box = named(page.view, "Teacher", QComboBox)

    assert [box.itemText(number) for number in range(box.count())] == ["None", "big"]
    box.setCurrentIndex(1)
    box.activated.emit(1)

    qtbot.waitUntil(lambda: bool(shown_runs(page.view)) and len(shown_runs(page.view)[0]) == 3)
    state = page.experiments.part(REPEAT)
    titles = [row.title for row in state.rows]
    assert titles == ["small without a teacher", "small with a teacher", "Teacher: big"]


def test_runs_that_were_added_on_another_page_are_offered_on_the_return(page, app):
    app.window.go("results")
    with app.project.write():
        layer = labels.layer_by_name(app.project.db, "class")
        spec = {"task": "classify", "layer": "class", "model": "m", "model_name": "m"}
        run_folders.add_run(app.project, "new", status="done", layer_id=layer.id, spec=spec)
    assert page.experiments.part(REPEAT).addable == ()

    app.window.go("train")

    assert [run.name for run in page.experiments.part(REPEAT).addable] == ["new"]


def test_without_a_system_the_page_says_what_to_choose_and_shows_no_progress(page):
    page.experiments.part(REPEAT).choose(systems=())

    (view,) = page.view.findChildren(RepeatView)
    (note,) = [item for item in view.findChildren(Callout) if item.isVisible()]
    assert note.property("tone") == "accent"
    assert not any(item.isVisible() for item in view.findChildren(JobView))


def shown_runs(view):
    """Of the table of runs, [] before it is shown."""
    tables = [table for table in view.findChildren(CellTable) if table.isVisible()]
    return texts(tables[0]) if tables else []


def test_a_system_is_removed_and_nothing_can_be_started_without_one(page, qtbot):
    table = named(page.view, "Systems", Table)
    table.setFocus()
    table.selectRow(0)
    qtbot.keyClick(table, Qt.Key.Key_Delete)

    assert not named(page.view, "Start experiment").isEnabled()
    assert "Train a model first" in page.experiments.part(REPEAT).error


@pytest.mark.process
@pytest.mark.timeout(900)
def test_two_systems_are_trained_on_folds_and_label_errors_are_found(page, app, qtbot, tiny_model):
    state = page.experiments.part(REPEAT)
    other = TrainSpec("classify", "class", str(tiny_model), "tiny", options={**SMALL, "epochs": 2})
    state.choose(systems=(*state.systems, System("longer", other)), seeds="1", folds=2)
    assert not named(page.view, "Systems", Table).isHidden()

    qtbot.mouseClick(named(page.view, "Start experiment"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: state.work.status == "done", timeout=600_000)

    runs = texts(named(page.view, "Runs", Table))
    assert all(float(text) >= 0 for row in runs for text in row[1:]) and len(runs[0]) == 3
    first, second = texts(named(page.view, "Scores of the systems", Table))
    assert (first[0], second[0]) == ("small", "longer") and "±" in first[1] and " to " in first[2]
    ((system, compared, *_rest, pairs),) = texts(named(page.view, "Paired differences", Table))
    assert (system, compared, pairs) == ("longer", "small", "2")

    qtbot.mouseClick(named(page.view, "Find label errors"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: app.window.page == "results", timeout=30_000)
    results = app.window.panel("results")
    doubts = results.state.doubts
    qtbot.waitUntil(lambda: doubts.ranking is not None, timeout=30_000)
    assert results.state.view == "labels"
    assert (doubts.ranking.measured.folds, doubts.layer.name) == (2, "class")
