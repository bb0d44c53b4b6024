"""The History dock as a person sees it."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QTableView

from workbench.operations import labels


def test_the_dock_lists_the_steps_and_goes_back_by_a_button_or_enter(app, project_file, qtbot):
    app.open_project(project_file, page="labels")
    app.window.toggle_dock("history", True)
    dock = app.window._panels["history"].view
    table = next(one for one in dock.findChildren(QTableView) if one.accessibleName() == "History")
    assert [table.model().index(row, 0).data() for row in range(3)] == [
        "Add documents",
        "Add layer spans",
        "Add layer class",
    ]

    table.selectRow(1)
    back = next(
        one
        for one in dock.findChildren(QAbstractButton)
        if one.accessibleName() == "Undo back to here"
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
