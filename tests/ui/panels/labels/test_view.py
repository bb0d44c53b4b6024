"""The Labels page in a window."""

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QTableView,
    QWidget,
)

from workbench.operations.annotation import annotate
from workbench.operations.schema import labels
from workbench.ui.dialogs.new_project import all_kinds
from workbench.ui.panels.labels.dialogs import AddLayer


@pytest.fixture
def panel(app, project_file):
    assert app.open_project(project_file, page="labels")
    return app.window.panel("labels")


def named(panel, name, kind=QWidget):
    return next(
        widget for widget in panel.view.findChildren(kind) if widget.accessibleName() == name
    )


def cells(table, column):
    return [table.model().index(row, column).data() for row in range(table.model().rowCount())]


def type_into(table, row, column, text, qtbot):
    """Edit a cell like a user: select it, press F2, type, press Enter."""
    table.setCurrentIndex(table.model().index(row, column))
    table.setFocus()
    qtbot.keyClick(table, Qt.Key.Key_F2)
    editor = next(field for field in table.findChildren(QLineEdit) if field.isVisible())
    editor.setText(text)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: table.state() == QTableView.State.NoState)


def test_layers_stand_left_and_their_labels_in_the_middle(panel):
    layers, table = (
        named(panel, "Layers", QTableView),
        named(panel, "Labels of the layer", QTableView),
    )
    assert cells(layers, 0) == ["class", "spans"] and cells(table, 0) == ["good", "bad"]

    layers.selectRow(1)
    assert cells(table, 0) == ["PER", "LOC"] and cells(table, 1) == ["1", "2"]


def test_name_key_and_description_are_edited_in_place(panel, qtbot):
    table = named(panel, "Labels of the layer", QTableView)
    for column, text in ((0, "fine"), (1, "z"), (3, "what is good")):
        type_into(table, 0, column, text, qtbot)

    label = labels.layers(panel.state.project)[0].labels[0]
    assert (label.name, label.key, label.description) == ("fine", "z", "what is good")


def test_a_key_that_is_taken_is_reported_and_the_cell_shows_the_old_one(panel, qtbot):
    table = named(panel, "Labels of the layer", QTableView)
    type_into(table, 0, 1, "w", qtbot)

    assert "already the key of bad" in panel.context.window.banner.text()
    assert cells(table, 1) == ["q", "w"]


def test_undo_right_after_adding_a_label_takes_it_back(panel, qtbot, app):
    new = named(panel, "New label", QLineEdit)
    with qtbot.waitActive(app.window):
        app.window.activateWindow()
    new.setFocus()
    qtbot.keyClicks(new, "late")
    qtbot.keyClick(new, Qt.Key.Key_Return)
    assert cells(named(panel, "Labels of the layer", QTableView), 0) == ["good", "bad", "late"]

    qtbot.keyClick(new, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert cells(named(panel, "Labels of the layer", QTableView), 0) == ["good", "bad"]


def test_a_label_is_added_by_typing_and_return(panel, qtbot):
    new = named(panel, "New label", QLineEdit)
    new.setFocus()
    qtbot.keyClicks(new, "mixed")
    qtbot.keyClick(new, Qt.Key.Key_Return)

    assert cells(named(panel, "Labels of the layer", QTableView), 0) == ["good", "bad", "mixed"]
    assert new.text() == ""


def test_delete_removes_the_chosen_labels_and_the_note_offers_undo(panel, qtbot):
    table = named(panel, "Labels of the layer", QTableView)
    table.selectRow(0)
    assert "does not affect any annotations" in panel.state.will_go
    qtbot.keyClick(table, Qt.Key.Key_Delete)
    assert cells(table, 0) == ["bad"]

    note = panel.context.window.note_line
    assert note.text() == "good was deleted."
    qtbot.mouseClick(
        next(
            button
            for button in note.findChildren(QAbstractButton)
            if button.accessibleName() == "Undo"
        ),
        Qt.MouseButton.LeftButton,
    )
    assert cells(table, 0) == ["good", "bad"]


def test_a_colour_is_given_by_a_swatch_and_taken_back(panel, qtbot):
    named(panel, "Labels of the layer", QTableView).selectRow(0)
    qtbot.mouseClick(named(panel, "Colour green", QAbstractButton), Qt.MouseButton.LeftButton)
    assert labels.layers(panel.state.project)[0].labels[0].colour.startswith("#")
    qtbot.mouseClick(named(panel, "Default", QAbstractButton), Qt.MouseButton.LeftButton)
    assert labels.layers(panel.state.project)[0].labels[0].colour == ""


def test_the_guideline_is_written_kept_and_read(panel, qtbot):
    qtbot.mouseClick(named(panel, "Write", QAbstractButton), Qt.MouseButton.LeftButton)
    editor = named(panel, "Guideline text", QPlainTextEdit)
    qtbot.keyClicks(editor, "# Rules")
    qtbot.mouseClick(named(panel, "Read", QAbstractButton), Qt.MouseButton.LeftButton)

    assert labels.layers(panel.state.project)[0].guideline == "# Rules"
    assert named(panel, "Guideline preview").toPlainText() == "Rules"


def test_what_was_typed_into_the_guideline_is_kept_when_the_layer_changes_or_the_project_closes(
    panel, qtbot, app, project_file
):
    qtbot.mouseClick(named(panel, "Write", QAbstractButton), Qt.MouseButton.LeftButton)
    editor = named(panel, "Guideline text", QPlainTextEdit)
    qtbot.keyClicks(editor, "one")
    named(panel, "Layers", QTableView).selectRow(1)
    assert editor.toPlainText() == ""
    qtbot.keyClicks(editor, "two")
    app.close_project()

    from workbench.project.project import Project

    project = Project.open(project_file)
    assert [layer.guideline for layer in labels.layers(project)] == ["one", "two"]
    project.close()


def test_undo_of_a_guideline_shows_the_earlier_one(panel, qtbot):
    panel.state.set_guideline(panel.state.layer.id, "first")
    panel.state.set_guideline(panel.state.layer.id, "second")
    panel.state.project.undo()
    assert named(panel, "Guideline text", QPlainTextEdit).toPlainText() == "first"


def test_a_layer_is_added_through_the_dialog(panel, qtbot):
    def fill():
        dialog = QApplication.activeModalWidget()
        dialog.name.setText("topic")
        dialog.labels.setPlainText("bus, train\ntram")
        dialog.make()

    QTimer.singleShot(0, fill)
    panel.view.ask_layer()

    assert panel.state.layer.layer.names == ("bus", "train", "tram")


def test_the_dialog_stays_open_on_a_name_that_is_taken(panel):
    seen = []

    def fill():
        dialog = QApplication.activeModalWidget()
        dialog.name.setText("class")
        dialog.make()
        seen.append((dialog.isVisible(), dialog._name_field.error()))
        dialog.reject()

    QTimer.singleShot(0, fill)
    panel.view.ask_layer()
    assert seen[0][0] and "already" in seen[0][1]


def test_a_layer_of_numbers_is_added_with_its_scale(panel):
    seen = []

    def fill():
        dialog = QApplication.activeModalWidget()
        seen.append(dialog.scale[0].isVisible())
        dialog.kind.setCurrentIndex(dialog.kind.findData("number"))
        seen.append(dialog.scale[0].isVisible())
        dialog.scale[0].setText("7")
        dialog.make()
        seen.append(dialog._fault.text())
        dialog.scale[0].setText("-2,5")
        dialog.make()

    QTimer.singleShot(0, fill)
    panel.view.ask_layer()

    assert seen[:2] == [False, True] and "7 to 5 in steps of 1 is not a scale" in seen[2]
    assert panel.state.values.scale == (-2.5, 5.0, 1.0)


def test_without_layers_the_page_leads_to_the_first_one(app, tmp_path):
    from workbench.project.project import Project

    Project.create(tmp_path / "empty.glossbench").close()
    app.open_project(tmp_path / "empty.glossbench", page="labels")
    panel = app.window.panel("labels")
    assert named(panel, "Add first layer…").isVisible() and not named(panel, "Layers").isVisible()


def test_another_page_can_ask_for_a_layer(panel, app):
    app.go("labels", layer=panel.state.layers[1].id)
    assert panel.state.layer.layer.name == "spans"


def test_every_control_has_a_name_and_none_is_wider_than_the_page(panel, qtbot):
    panel.context.app.window.resize(1280, 800)
    named(panel, "Labels of the layer", QTableView).selectRow(0)
    qtbot.wait(20)

    for button in panel.view.findChildren(QAbstractButton):
        if button.isVisible():
            assert button.accessibleName() or button.text(), button
            assert button.mapTo(panel.view, button.rect().topRight()).x() <= panel.view.width()


def test_undo_of_a_note_never_takes_back_a_later_step_in_its_place(panel, qtbot):
    named(panel, "Labels of the layer", QTableView).selectRow(0)
    panel.state.delete_chosen()
    panel.state.add_label("later")

    note = panel.context.window.note_line
    qtbot.mouseClick(
        next(
            button
            for button in note.findChildren(QAbstractButton)
            if button.accessibleName() == "Undo"
        ),
        Qt.MouseButton.LeftButton,
    )

    assert [row.label.name for row in panel.state.labels] == ["bad", "later"]
    assert "Another change was made" in note.text()


def in_dialog(act):
    """Call `act(dialog)` when the next dialog is open."""
    QTimer.singleShot(0, lambda: act(QApplication.activeModalWidget()))


def test_labels_are_merged_split_and_moved_in_dialogs(panel, qtbot):
    project, state = panel.state.project, panel.state
    spans = labels.layers(project)[1]
    labels.add_layer(project, "places", "span")
    person, place = (label.id for label in spans.labels)
    annotate.add_span(project, 1, 0, 3, person)
    annotate.add_span(project, 2, 0, 4, person)
    state.refresh()
    state.choose_layer(spans.id)

    def split(dialog):
        dialog.name.setText("NAME")
        dialog.table.selectRow(0)
        assert "1 annotation gets the label NAME." in describe(dialog)
        qtbot.keyClick(dialog.table, Qt.Key.Key_Return)  # where the rows are chosen

    state.choose([person])
    in_dialog(split)
    named(panel, "Split…").click()
    assert [row.count for row in state.labels] == [1, 0, 1]

    def move(dialog):
        assert "1 annotation in 1 document moves to the layer places." in describe(dialog)
        qtbot.keyClick(dialog, Qt.Key.Key_Return)

    state.choose([state.labels[2].id])
    in_dialog(move)
    named(panel, "Move…").click()
    assert [row.layer.names for row in state.layers][1:] == [("PER", "LOC"), ("NAME",)]

    def merge(dialog):
        assert dialog.into.currentText() == "PER"  # the one used most
        qtbot.keyClick(dialog, Qt.Key.Key_Return)

    state.choose([person, place])
    in_dialog(merge)
    named(panel, "Merge…").click()
    assert [row.label.name for row in state.labels] == ["PER"]
    state.choose([person])
    assert named(panel, "Merge…").toolTip() == "The layer has no other label."


def describe(dialog):
    return " ".join(label.text() for label in dialog.findChildren(QLabel))


def test_a_label_is_indented_by_key_and_its_parent_is_shown(panel, app):
    table = named(panel, "Labels of the layer", QTableView)
    table.selectRow(1)
    table.setFocus()

    commands = {entry.command.id: entry.action for entry in app.window.menus.entries}
    assert commands["labels.indent"].shortcut().toString() == "Ctrl+]"
    commands["labels.indent"].trigger()
    parent = named(panel, "Parent label", QComboBox)

    assert panel.state.chosen_rows[0].label.parent == "good"
    assert parent.currentText() == "good" and parent.isVisible()
    assert [parent.itemText(n) for n in range(parent.count())] == ["none", "good"]
    commands["labels.outdent"].trigger()
    assert panel.state.chosen_rows[0].label.parent == "" and parent.currentText() == "none"


def test_each_kind_of_a_new_layer_is_explained_by_an_example(panel):
    dialog = AddLayer(panel.view, panel.state)

    samples = {}
    for kind in all_kinds():
        dialog.kind.setCurrentIndex(dialog.kind.findData(kind.id))
        texts = [label.text() for label in dialog.findChildren(QLabel)]
        samples[kind.id] = [text for text in texts if text.startswith("Example: ")]

    assert samples["class"] == ["Example: “The 42 was late again.” → delay"]
    assert all("→" in sample for (sample,) in samples.values())
    assert len({sample for (sample,) in samples.values()}) == len(samples)
    dialog.deleteLater()


@pytest.mark.parametrize("name", ["Delete label", "Delete layer"])
def test_after_a_deletion_a_second_enter_deletes_nothing_more(panel, app, qtbot, name):
    app.window.activateWindow()
    qtbot.waitUntil(app.window.isActiveWindow)
    panel.state.choose([panel.state.labels[0].id])
    before = len(panel.state.layers) if name == "Delete layer" else len(panel.state.labels)
    button = named(panel, name, QAbstractButton)
    button.setFocus()
    qtbot.waitUntil(button.hasFocus)

    for _press in range(2):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
        qtbot.wait(50)

    after = len(panel.state.layers) if name == "Delete layer" else len(panel.state.labels)
    assert after == before - 1
    assert QApplication.focusWidget().property("kind") != "danger"
