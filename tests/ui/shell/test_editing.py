"""Cut, Copy, Paste, Select all and Find of the Edit menu apply to the focused widget."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit


def titles(app, menu="Edit"):
    app.window.menus.menus[menu].aboutToShow.emit()
    actions = app.window.menus.menus[menu].actions()
    return {action.text().replace("&", ""): action for action in actions if action.text()}


def enabled(app, *names):
    result = titles(app)
    return tuple(result[name].isEnabled() for name in names)


@pytest.fixture
def line(app, qtbot):
    made = QLineEdit("Ada met Bob", app.window.centralWidget())
    made.show()
    made.setFocus()
    return made


def test_cut_copy_and_paste_act_on_the_field_with_the_focus(app, line):
    line.setSelection(0, 4)
    titles(app)["Cut"].trigger()
    assert line.text() == "met Bob" and QGuiApplication.clipboard().text() == "Ada "

    line.setCursorPosition(7)
    titles(app)["Paste"].trigger()
    assert line.text() == "met BobAda "

    titles(app)["Select all"].trigger()
    titles(app)["Copy"].trigger()
    assert QGuiApplication.clipboard().text() == "met BobAda "


def test_nothing_chosen_nothing_to_cut_and_a_read_only_field_takes_nothing(app, line):
    QGuiApplication.clipboard().setText("text")
    assert enabled(app, "Cut", "Copy", "Paste", "Select all") == (False, False, True, True)

    line.selectAll()
    assert enabled(app, "Cut", "Copy", "Paste", "Select all") == (True, True, True, False)

    line.setReadOnly(True)
    assert enabled(app, "Cut", "Copy", "Paste") == (False, True, False)


def test_a_password_is_not_copied(app, line):
    line.setEchoMode(QLineEdit.EchoMode.Password)
    line.selectAll()

    assert enabled(app, "Copy") == (False,)


def test_the_text_of_annotate_is_copied_as_it_is_stored(app, project_file, qtbot):
    app.open_project(project_file, page="annotate")
    view = app.window.panel("annotate").view
    text = view._document_pane.text
    text.setFocus()
    text.select(0, 7)

    titles(app)["Copy"].trigger()
    assert QGuiApplication.clipboard().text() == "Ada met"
    titles(app)["Select all"].trigger()
    assert text.selection == (0, 21)

    app.window.menuBar().setFocus(Qt.FocusReason.MenuBarFocusReason)  # as the Alt key does
    titles(app)["Copy"].trigger()
    assert QGuiApplication.clipboard().text() == "Ada met Bob in Paris."


def test_find_leads_to_the_find_bar_of_annotate_and_to_the_search_of_data(app, project_file, qtbot):
    app.open_project(project_file, page="annotate")
    titles(app)["Find"].trigger()
    assert app.window.panel("annotate").state.finder.shown

    app.window.go("data")
    state = app.window.panel("data").state
    qtbot.waitUntil(lambda: state.selection.total == 3)
    titles(app)["Find"].trigger()
    assert app.window.focusWidget() is app.window.panel("data").view._filters.search

    app.window.go("labels")
    assert enabled(app, "Find") == (False,)
