"""File ▸ People: who labels, and what the status bar says of it."""

from contextlib import closing

import pytest
from PySide6.QtWidgets import QApplication

from workbench.base import settings
from workbench.operations.people import people
from workbench.project.project import Project
from workbench.ui.dialogs.people import People, PersonDialog
from workbench.ui.widgets.controls.button import Button


@pytest.fixture
def named(app, project_file):
    """The application of Ada with her project, in which Ben is, too."""
    people.introduce(app.settings, {"name": "Ada"})
    with closing(Project.open(project_file)) as project:
        people.add(project, "Ben")
    app.open_project(project_file)
    return app


@pytest.fixture
def dialog(named, qtbot):
    dialog = People(named)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: dialog.state.rows is not None)
    yield dialog
    dialog.state.close()


def accept_next(qtbot, monkeypatch):
    """Answer the next dialog with its primary button."""

    def act(dialog):
        button = next(b for b in dialog.findChildren(Button) if b.property("kind") == "primary")
        button.click()
        return dialog.result()

    monkeypatch.setattr("PySide6.QtWidgets.QDialog.exec", act)


def test_people_are_added_and_changed(dialog, named, qtbot):
    add = PersonDialog(dialog, dialog.state.save)
    qtbot.addWidget(add)
    add.fields.name.setText("Ben")
    add.save()
    assert "already" in add.fields._name.error()

    add.fields.name.setText("Cleo de Witt")
    add.save()
    qtbot.waitUntil(lambda: len(dialog.table.rows()) == 3)

    edit = PersonDialog(dialog, dialog.state.save, dialog.state.chosen.person)
    qtbot.addWidget(edit)
    edit.fields.name.setText("Cleo Witt")
    edit.fields.swatches.picked.emit("#aa3377")
    edit.save()
    cleo = people.named(named.project, "Cleo Witt")
    assert (cleo.initials, cleo.colour) == ("CW", "#aa3377")


def test_the_own_name_is_remembered_for_other_projects(dialog, named, qtbot):
    edit = PersonDialog(dialog, dialog.state.save, dialog.state.chosen.person)
    qtbot.addWidget(edit)
    edit.fields.name.setText("Ada King")
    edit.save()

    assert settings.load().annotator == named.project.annotator_name == "Ada King"


def test_labelling_as_another_person_is_marked_until_it_is_undone(
    dialog, named, qtbot, monkeypatch
):
    status = named.window.status
    assert status._person.text().strip() == "Ada"
    dialog.table.selectRow(1)
    accept_next(qtbot, monkeypatch)

    dialog.work_as.click()

    assert named.project.annotator_name == "Ben"
    assert status._person.text().strip() == "Labelling as Ben"
    qtbot.waitUntil(lambda: "not as this computer's user" in dialog._current.text())
    named.undo()
    qtbot.waitUntil(lambda: status._person.text().strip() == "Ada")
    assert named.project.annotator_name == "Ada"


def test_gold_of_a_layer_and_blind_mode(dialog, named, qtbot):
    dialog.table.selectRow(1)
    dialog.gold.click()
    entry = next(action for action in dialog._menu.actions() if action.text() == "class")
    entry.trigger()
    dialog._menu.hide()
    qtbot.waitUntil(lambda: dialog.table.rows()[1].gold == ("class",))

    dialog.blind.click()
    assert people.is_blind(named.project) and "class" in dialog._hidden.text()
    assert named.window.status._blind.isVisibleTo(named.window.status)


def test_a_file_written_for_somebody_asks_once_whether_that_is_the_user(
    app, project_file, tmp_path, monkeypatch, qtbot
):
    path = tmp_path / "for Ben.glossbench"
    with monkeypatch.context() as elsewhere, closing(Project.open(project_file)) as project:
        from workbench.operations.people import hand_out

        elsewhere.setattr(settings, "load", lambda: settings.Settings(person_uids=["e" * 16]))
        ben = people.add(project, "Ben")
        hand_out.hand_out(project, {ben.id: [1, 2]}, {ben.id: path})

    app.open_project(path)
    assert app.window.status._person.text().strip() == "Labelling as Ben"
    button = app.window.note_line.findChildren(Button)[0]
    assert button.text().strip() == "This is me"
    button.click()

    assert app.window.status._person.text().strip() == ""
    assert settings.load().annotator == "Ben" and settings.load().own_uid() == ben.uid


def test_the_list_is_read_again_by_keys_alone(dialog, qtbot):
    assert QApplication.focusWidget() is dialog.table or dialog.table.hasFocus()
    assert [row.person.name for row in dialog.table.rows()] == ["Ada", "Ben"]
