"""Back on the Results page: from the editor to the errors, and to what led to them."""

import pytest
from PySide6.QtWidgets import QLabel, QLineEdit, QTableView

from workbench.ui.widgets.charts.chart import Chart


@pytest.fixture
def panel(app, scored_file, qtbot):
    assert app.open_project(scored_file, page="data")
    app.go("results")
    panel = app.window.panel("results")
    qtbot.waitUntil(lambda: panel.state.selection.details is not None)
    return panel


def table(panel, qtbot, name):
    """The table with this name, once it is visible."""

    def found():
        tables = panel.view.findChildren(QTableView)
        named = (table for table in tables if table.accessibleName() == name)
        return next((table for table in named if table.isVisible()), None)

    qtbot.waitUntil(lambda: found() is not None)
    return found()


def arrived(panel, page):
    window = panel.context.app.window
    return window.page == page and window._steps is None


def test_back_leads_from_the_editor_to_the_errors_of_a_slice_and_to_the_slice(panel, qtbot):
    state, window = panel.state, panel.context.app.window
    state.update(part="quality")
    slices = table(panel, qtbot, "Slices")
    field = next(
        edit
        for edit in panel.view.findChildren(QLineEdit)
        if edit.accessibleName() == "Regular expression of a new slice"
    )
    qtbot.keyClicks(field, "number [1-5]\r")
    qtbot.waitUntil(lambda: slices.model().rowCount() == 1)
    slices.setFocus()
    slices.selectRow(0)
    (chosen,) = slices.chosen_rows()
    slices.opened.emit(chosen)
    qtbot.waitUntil(lambda: bool(state.browser.shown))
    caption, error = state.browser.caption, state.browser.shown[-1].identity
    state.browser.choose(error)
    state.browser.open()
    qtbot.waitUntil(lambda: arrived(panel, "annotate"))

    window.back()
    assert (window.page, state.part) == ("results", "errors")
    assert (state.browser.caption, state.browser.chosen) == (caption, error) and caption
    window.back()
    assert (window.page, state.part) == ("results", "quality")
    assert window.focusWidget() is slices and slices.chosen_rows() == [chosen]
    window.back()
    assert window.page == "data" and not window.can_go_back


def test_back_restores_each_restriction_of_the_errors(panel, qtbot):
    state, window = panel.state, panel.context.app.window
    cell = lambda: (state.part, state.browser.filters.gold, state.browser.caption)  # noqa: E731
    state.browser.open_cell("good", "bad")
    first = cell()
    qtbot.waitUntil(lambda: bool(state.browser.shown))
    state.browser.open_cell("bad", "good")
    assert cell() != first

    window.back()
    assert cell() == first
    assert {item.mistake.gold for item in state.browser.shown} == {"good"}
    window.back()
    assert cell() == ("scores", "", "")


def test_back_leads_from_a_run_to_the_board_and_from_there_to_the_run_before(panel, qtbot):
    state, window = panel.state, panel.context.app.window
    before = state.selection.run.name
    state.update(view="board")
    board = table(panel, qtbot, "Board")
    qtbot.waitUntil(lambda: board.model().rowCount() == 2)
    other = next(entry for entry in state.board.rows() if entry.run.name != before)
    board.opened.emit(other)
    qtbot.waitUntil(lambda: state.selection.matrix is not None)
    state.browser.open_cell("good", "bad")
    assert (state.view, state.selection.run.name) == ("runs", other.run.name)

    window.back()
    assert (state.view, state.selection.run.name, state.part) == ("runs", other.run.name, "scores")
    window.back()
    assert (state.view, state.selection.run.name) == ("board", before)


def test_back_restores_the_documents_that_the_data_page_was_limited_to(panel):
    app, window = panel.context.app, panel.context.app.window
    for ids, caption in (([1], "first"), ([2, 3], "second")):
        app.go("data", ids=ids, caption=caption)
        app.go("results")

    filters = window.panel("data").state.selection.filters
    window.back()
    assert filters.only == ((2, 3), "second")
    window.back()
    window.back()
    assert window.page == "data" and filters.only == ((1,), "first")


def test_back_leads_from_the_wrong_decisions_to_the_marked_point_of_the_curve(panel, qtbot):
    state, window = panel.state, panel.context.app.window
    state.update(part="quality")

    def curve():
        charts = panel.view.findChildren(Chart)
        named = (chart for chart in charts if chart.accessibleName() == "Precision and recall")
        return next((chart for chart in named if chart.isVisible()), None)

    def message():
        texts = (label.text() for label in panel.view.findChildren(QLabel) if label.isVisible())
        return next(text for text in texts if "Click the point again" in text)

    qtbot.waitUntil(lambda: curve() is not None)
    chart, first = curve(), message()
    chart.moved.emit(0, 0)
    marked = message()
    assert marked != first and marked.startswith("Average precision ")
    chart.opened.emit(0, 0)
    assert state.part == "errors"

    window.back()
    qtbot.waitUntil(lambda: curve() is not None)
    assert message() == marked
