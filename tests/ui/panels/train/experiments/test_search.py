"""The search on the Train page: ranges and budget, trials, plot, table and importance."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QCheckBox, QLabel, QLineEdit, QWidget

from workbench.jobs import threads
from workbench.operations.experiments import experiment, search
from workbench.operations.experiments.search import Importance, Verdict
from workbench.operations.experiments.search_study import Trial
from workbench.storage.runs.runs import Run
from workbench.ui.panels.train.experiments import search_state
from workbench.ui.panels.train.experiments.search_results import SearchResults
from workbench.ui.panels.train.experiments.side import ExperimentSide
from workbench.ui.panels.train.experiments.state import SEARCH
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.charts.parallel_plot import ParallelPlot
from workbench.ui.widgets.charts.row_plot import RowPlot
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.tables.table import Table


@pytest.fixture
def page(app, copy_sample, tmp_path, qtbot):
    assert app.open_project(copy_sample(tmp_path), page="train")
    panel = app.window.panel("train")
    qtbot.waitUntil(lambda: panel.state.ready, timeout=30_000)
    panel.experiments.show(True, SEARCH)
    state = state_of(panel)
    state.choose(layer="class", model="starter-bert")
    qtbot.waitUntil(lambda: bool(state.ranges) and state.work is not None, timeout=30_000)
    yield panel
    qtbot.waitUntil(threads.idle, timeout=30_000)


def state_of(panel):
    return panel.experiments.part(SEARCH)


def named(view, kind, name):
    fitting = (
        widget
        for widget in view.findChildren(kind)
        if (widget.accessibleName() == name or getattr(widget, "text", str)() == name)
        and widget.isVisible()
    )
    return next(fitting, None)


def run(number, score, status="done"):
    result = {"seconds": 60.0}
    scores = {"dev": {"macro_f1": score}}
    return Run(
        number, str(number), f"search-1-{number}", "train", None, 1, "class", {}, status, scores,
        result, {}, "", "f", "", 0, "",
    )  # fmt: skip


@pytest.fixture
def ended(page):
    """The page with twelve trials: the fourth is the best, the last was stopped early."""
    state, work = state_of(page), state_of(page).work
    work.spec = replace(work.spec, name="search-1", trials=20)
    for number in range(1, 13):
        values = {
            "learning_rate": 5e-5 * number,
            "epochs": 8 + number,
            "batch_size": (8, 16, 32)[number % 3],
            "dropout": 0.02 * number,
            "freeze": number % 3,
            "warmup": 0.01 * number,
        }
        values = {item.name: values[item.name] for item in work.spec.varied}
        cell = work._cell(number, Trial(number, values, "complete"))
        cell.run, cell.seconds = run(number, 0.6 + (0.2 if number == 4 else 0.01 * number)), 60.0
        work.cells = (*work.cells, cell)
    last = work.cells[-1]
    last.ends_early, last.run = True, run(12, 0.3, "stopped")
    state.importance = (
        Importance("learning_rate", 0.6, 0.4, 0.8),
        Importance("epochs", 0.2, 0.1, 0.3),
    )
    state.verdict = Verdict("Trial 4 is best.", 4)
    state.changed.emit(frozenset({"work"}))
    return page


def test_ranges_around_the_automatic_values_are_offered(page):
    rate = named(page.view, QLineEdit, "Lowest value of Learning rate")

    assert rate.text() == "4e-5"
    assert named(page.view, QCheckBox, "Learning rate").isChecked()
    assert not named(page.view, QCheckBox, "Weight decay").isChecked()
    assert named(page.view, QWidget, "Start experiment").isEnabled()


def test_a_wrong_range_is_told_at_its_row_and_blocks_the_start(page, qtbot):
    low = named(page.view, QLineEdit, "Lowest value of Learning rate")

    low.setText("2")
    low.editingFinished.emit()

    state = state_of(page)
    assert "expected a number" in state.errors["learning_rate"] and not state.can_start
    low.setText("1e-5")
    low.editingFinished.emit()
    assert not state.errors and state.can_start
    assert state.work.spec.ranges[0].low == 1e-5


def test_the_budget_is_trials_or_minutes(page):
    state = state_of(page)

    state.choose(budget=search_state.MINUTES, minutes="12.5")
    assert (state.work.spec.trials, state.work.spec.minutes) == (None, 12.5)
    state.choose(minutes="never")
    assert "above 0" in state.errors["minutes"] and not state.can_start
    state.choose(budget=search_state.TRIALS, trials="7")
    assert state.work.spec.trials == 7 and state.can_start


def test_a_setting_can_be_added_and_removed(page, qtbot):
    state = state_of(page)

    state.add_range("train_limit")
    state.change_range("train_limit", values="100")
    assert state.work.spec.base.options == {"train_limit": 100}
    qtbot.waitUntil(lambda: named(page.view, QWidget, "Remove Training documents") is not None)
    named(page.view, QWidget, "Remove Training documents").click()
    assert "train_limit" not in {row.name for row in state.ranges}


def test_a_failed_trial_says_so_with_its_reason_and_one_score_has_ticks_around_it(ended):
    state = state_of(ended)
    failed, first = state.work.cells[2], state.work.cells[1]
    failed.status, failed.run, failed.message = "failed", None, "Out of memory."
    assert state.text_of(failed) == "failed"

    state.work.cells = (state.work.cells[0], first, failed)
    assert state.scales[-1].low < state.work.score_of(first) < state.scales[-1].high
    state.changed.emit(frozenset({"work"}))
    table = named(ended.view, Table, "Trials")
    tips = [table.rows_model.columns[1].tip(row) for row in table.rows()]
    assert "Out of memory." in tips


def test_what_is_going_on_and_why_it_ended_is_visible_without_scrolling(ended, app, qtbot):
    state = state_of(ended)
    app.window.resize(1280, 800)
    for cell in state.work.cells[2:6]:
        cell.status, cell.run, cell.message = "failed", None, "Out of memory."
    state.work.status, state.work.error = "paused", "Labels were changed."
    state.changed.emit(frozenset({"work"}))

    assert state.live.message == "Labels were changed.\n4 runs failed: Out of memory."
    (side,) = ended.view.findChildren(ExperimentSide)
    callouts = [item for item in side.findChildren(Callout) if item.isVisible()]
    qtbot.waitUntil(lambda: bool(callouts) and not callouts[-1].visibleRegion().isEmpty())
    assert len(callouts) == 1


def test_runs_that_were_deleted_on_another_page_are_gone_on_the_return(ended, app, qtbot):
    state = state_of(ended)
    experiment.keep(app.project, search.FILE, "search-1", state.work.spec.to_json())
    state.new()  # reads the searches
    state.open("search-1")
    (empty,) = ended.view.findChildren(SearchResults)[0].findChildren(EmptyState)
    assert empty.isVisible() and state.is_opening
    assert "Opening the search…" in [label.text() for label in empty.findChildren(QLabel)]
    qtbot.waitUntil(lambda: state.work is not None)
    work = state.work
    deleted = replace(run(99, 0.5), spec=work.spec.base.to_json())
    work.cells[0].run, work.cells[0].status = deleted, "done"

    app.window.go("results")
    app.window.go("train")

    qtbot.waitUntil(lambda: state.work is not None and state.work is not work)
    assert state.name == "search-1" and state.work.cells[0].run is None


def test_a_line_and_its_row_are_selected_together(ended, qtbot):
    plot, table = named(ended.view, ParallelPlot, "Trials"), named(ended.view, Table, "Trials")

    table.choose({3})
    table.chosen.emit()
    assert plot.chosen_key == 3
    plot.setFocus()
    qtbot.keyClick(plot, Qt.Key.Key_Home)
    assert plot.chosen_key == 4  # the best is first
    assert [cell.number for cell in table.chosen_rows()] == [4]
    assert "Trial 4" in plot.accessibleDescription()


def test_dragging_along_an_axis_keeps_a_part_and_escape_clears(ended, qtbot):
    plot, table = named(ended.view, ParallelPlot, "Trials"), named(ended.view, Table, "Trials")
    n, area = len(table.rows()), plot.rect()

    last = len(plot.axes) - 1
    x, top = round(plot._x(last, area.toRectF())), round(plot._y(1.0, area.toRectF()))
    half = round(plot._y(0.75, area.toRectF()))
    qtbot.mousePress(plot, Qt.MouseButton.LeftButton, pos=QPoint(x, top))
    qtbot.mouseMove(plot, QPoint(x, half))
    qtbot.mouseRelease(plot, Qt.MouseButton.LeftButton, pos=QPoint(x, half))
    kept = [cell.number for cell in table.rows()]
    assert 4 in kept and 12 not in kept and len(kept) < n

    plot.setFocus()
    qtbot.keyClick(plot, Qt.Key.Key_Escape)
    assert len(table.rows()) == n and not plot.is_filtered


def test_a_part_of_an_axis_can_be_kept_by_keys(ended, qtbot):
    plot = named(ended.view, ParallelPlot, "Trials")
    plot.setFocus()

    for _axis in plot.axes:
        qtbot.keyClick(plot, Qt.Key.Key_Right)
    for _step in range(4):
        qtbot.keyClick(plot, Qt.Key.Key_Up, Qt.KeyboardModifier.ShiftModifier)

    assert 12 not in plot.kept_keys and 4 in plot.kept_keys
    assert plot.accessibleDescription().endswith(f"lines kept {len(plot.kept_keys)}, of 12")


def test_the_plot_is_saved_as_numbers_and_pictures(ended, tmp_path):
    plot = named(ended.view, ParallelPlot, "Trials")

    plot.save_numbers(tmp_path / "a.csv")
    plot.save_picture(tmp_path / "a.svg")
    plot.save_picture(tmp_path / "a.png")

    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert lines[0].startswith("Trial,learning_rate,epochs") and lines[0].endswith("macro_f1")
    assert len(lines) == 13 and (tmp_path / "a.svg").stat().st_size > 1000
    state_of(ended).save_table(tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_text().startswith("trial,macro_f1,learning_rate")


def test_importance_is_shown_with_intervals_from_ten_trials(ended):
    plot, state = named(ended.view, RowPlot, "Importance of settings"), state_of(ended)
    assert [row.name for row in plot.rows] == ["Learning rate", "Epochs"]
    assert "80% interval 40 to 80" in plot.tip(0)

    state.importance = ()
    state.work.cells = state.work.cells[:5]
    state.changed.emit(frozenset({"work"}))
    assert not plot.isVisible()
    assert any(
        getattr(widget, "text", str)() == "Needs 10 trials, has 4."
        for widget in ended.view.findChildren(QWidget)
    )


def test_the_settings_of_the_best_trial_fill_the_form_of_a_run(ended):
    named(ended.view, QWidget, "Use these settings").click()

    assert not ended.experiments.shown
    assert ended.state.layer == "class" and ended.state.model == "starter-bert"
    assert float(ended.state.values["learning_rate"]) == pytest.approx(2e-4)


def test_a_search_begins_with_the_settings_of_a_run(page, qtbot):
    spec = replace(state_of(page).work.spec.base, options={"method": "lora", "train_limit": 50})

    page.shown(experiment=SEARCH, spec=spec)

    state = state_of(page)
    qtbot.waitUntil(lambda: "lora_rank" in {row.name for row in state.ranges}, timeout=30_000)
    assert state.work.spec.base.options == {"method": "lora", "train_limit": 50}
