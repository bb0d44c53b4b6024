"""The History dock in a window."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QTableView

from tests.ui.context import choose, open_menu
from workbench.operations.schema import labels


def test_the_dock_lists_the_steps_and_goes_back_by_a_button_or_enter(app, project_file, qtbot):
    app.open_project(project_file, page="labels")
    app.window.toggle_dock("history", True)
    dock = app.window._panels["history"].view
    table = next(
        table for table in dock.findChildren(QTableView) if table.accessibleName() == "History"
    )
    assert [table.model().index(row, 0).data() for row in range(3)] == [
        "Add documents",
        "Add layer spans",
        "Add layer class",
    ]

    table.selectRow(1)
    back = next(
        button
        for button in dock.findChildren(QAbstractButton)
        if button.accessibleName() == "Undo back to here"
    )
    qtbot.mouseClick(back, Qt.MouseButton.LeftButton)
    assert [layer.name for layer in labels.layers(app.project)] == ["class"]

    table.selectRow(0)
    qtbot.keyClick(table, Qt.Key.Key_Return)
    assert [layer.name for layer in labels.layers(app.project)] == ["class", "spans"]


def test_without_steps_it_says_so(app, tmp_path):
    from workbench.project.project import Project

    Project.create(tmp_path / "empty.glossbench").close()
    app.open_project(tmp_path / "empty.glossbench", page="labels")
    app.window.toggle_dock("history", True)
    assert not app.window._panels["history"].view.table.isVisible()


def test_beside_jobs_each_dock_has_half_of_the_window(app, project_file, qtbot):
    app.open_project(project_file, page="labels")
    app.window.resize(1280, 800)
    for dock in ("jobs", "history"):
        app.window.toggle_dock(dock, True)

    widths = {name: app.window._docks[name] for name in ("jobs", "history")}
    qtbot.waitUntil(lambda: abs(widths["jobs"].width() - widths["history"].width()) < 20)


def test_the_current_step_is_marked_and_moves_with_undo(app, project_file, qtbot):
    app.open_project(project_file, page="labels")
    app.window.toggle_dock("history", True)
    table = app.window._panels["history"].view.table

    def states():
        return [table.model().index(row, 1).data() for row in range(3)]

    assert states() == ["current", "", ""]
    app.undo()
    qtbot.waitUntil(lambda: states() == ["undone", "current", ""])


def test_a_step_has_a_context_menu_and_its_moment_in_a_tooltip(app, project_file, qtbot):
    app.open_project(project_file, page="labels")
    app.window.toggle_dock("history", True)
    table = app.window._panels["history"].view.table
    when = table.model().index(0, 3)
    assert when.data(Qt.ItemDataRole.ToolTipRole).startswith("today, ")
    assert when.data() in when.data(Qt.ItemDataRole.ToolTipRole)

    choose(open_menu(table, table.visualRect(when).center()), "Undo back to here")
    assert app.project.history(1)[0].undone
