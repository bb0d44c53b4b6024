"""A damaged project is recovered; one whose file was moved or overwritten is saved as a copy."""

import shutil
import subprocess
import sys

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QFileDialog

from workbench.operations.documents import corpus
from workbench.operations.schema import labels as schema
from workbench.project.check import check
from workbench.project.project import Project
from workbench.storage.connections import identity
from workbench.ui.dialogs.project_file import Damaged, Moved


@pytest.fixture
def dialog(app, qtbot, project_file):
    """The dialog of a project that was cut off."""
    data = project_file.read_bytes()
    project_file.write_bytes(data[: len(data) // 4 * 3])
    assert not app.open_project(project_file)
    (found,) = app.window.findChildren(Damaged)
    qtbot.waitUntil(lambda: not found.state.title, timeout=30_000)
    return found


def test_what_can_be_recovered_is_told_and_nothing_was_changed(dialog, app, project_file):
    before = project_file.read_bytes()

    assert dialog.isVisible() and dialog._recover.isEnabled()
    assert "can be recovered" in dialog._message.text()
    assert dialog._lost.toPlainText().splitlines() == list(dialog.state.recovered.lost) != []
    dialog.reject()

    assert project_file.read_bytes() == before and app.project is None


def test_the_rest_is_recovered_and_opened(dialog, app, qtbot, project_file):
    documents = dialog.state.recovered.documents

    dialog._recover.click()
    qtbot.waitUntil(lambda: app.project is not None, timeout=30_000)

    assert app.project.path.name == f"{project_file.stem} recovered.glossbench"
    assert corpus.counts(app.project).documents == documents
    assert check(app.project.path) == []
    assert not any(item.isVisible() for item in app.window.findChildren(Damaged))


@pytest.fixture
def edited(app, project_file):
    """The application with a project in which a layer was added."""
    if sys.platform == "win32":
        pytest.skip("an open file cannot be moved there")
    app.open_project(project_file)
    schema.add_layer(app.project, "mine", "class", labels=["A"])
    return app


def edit(app):
    try:
        schema.add_layer(app.project, "more", "class")
    except Exception as error:
        app.fail(error)


def dialogs(app):
    return [item for item in app.window.findChildren(Moved) if item.isVisible()]


def dialog_of(app):
    (found,) = dialogs(app)
    return found


def layer_names(project):
    return [layer.name for layer in schema.layers(project)]


def save_to(dialog, path, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_args, **_named: (str(path), ""))
    dialog._save.click()


def answered(app, act):
    """Ask whether the window may close, with `act(dialog)` as the answer of the user."""
    seen = []

    def answer():
        dialog = QApplication.activeModalWidget()
        seen.append(dialog.windowTitle())
        act(dialog)

    QTimer.singleShot(20, answer)
    return app.may_close(), seen


def test_an_edit_of_a_renamed_project_offers_a_copy_which_has_everything(
    edited, qtbot, project_file, tmp_path, monkeypatch
):
    project_file.rename(project_file.with_name("renamed.glossbench"))
    edit(edited)
    dialog = dialog_of(edited)
    assert dialog.windowTitle() == "The project file is gone"
    assert dialog.state.suggested == project_file
    target = tmp_path / "copy.glossbench"

    save_to(dialog, target.with_suffix(""), monkeypatch)
    qtbot.waitUntil(lambda: edited.project.path == target, timeout=30_000)

    assert "mine" in layer_names(edited.project) and not edited.project.moved
    assert not dialogs(edited) and check(target) == []
    assert not identity.log_of(project_file).exists()
    edit(edited)
    assert "more" in layer_names(edited.project)


def test_a_copy_takes_the_place_of_a_deleted_project(edited, qtbot, project_file, monkeypatch):
    old = edited.project
    project_file.unlink()
    edit(edited)

    save_to(dialog_of(edited), project_file, monkeypatch)
    qtbot.waitUntil(lambda: edited.project not in (old, None), timeout=30_000)

    assert edited.project.path == project_file and "mine" in layer_names(edited.project)
    assert not edited.project.read_only and check(project_file) == []


def test_a_project_that_replaced_the_open_one_is_left_as_it_is(
    edited, qtbot, project_file, tmp_path, monkeypatch
):
    with_other = tmp_path / "other.glossbench"
    other = Project.create(with_other)
    other.close()
    shutil.copy(with_other, with_other.with_name("part"))
    with_other.with_name("part").replace(project_file)
    edit(edited)
    dialog = dialog_of(edited)
    assert dialog.windowTitle() == "The project file was replaced"
    assert dialog.state.suggested.parent == project_file.parent

    save_to(dialog, dialog.state.suggested, monkeypatch)
    qtbot.waitUntil(lambda: edited.project.path != project_file, timeout=30_000)
    assert "mine" in layer_names(edited.project)
    assert edited.open_project(project_file)

    assert not corpus.any_documents(edited.project) and layer_names(edited.project) == []
    assert check(project_file) == []


def test_a_project_that_is_overwritten_by_an_older_state_is_saved_as_a_copy(
    edited, qtbot, project_file, monkeypatch
):
    older = project_file.with_name("older")
    subprocess.run(["cp", project_file, older], check=True)
    schema.add_layer(edited.project, "second", "class")
    subprocess.run(["cp", older, project_file], check=True)
    edit(edited)
    dialog = dialog_of(edited)
    assert dialog.windowTitle() == "The project file was overwritten"

    save_to(dialog, dialog.state.suggested, monkeypatch)
    qtbot.waitUntil(lambda: edited.project.path != project_file, timeout=30_000)

    assert layer_names(edited.project)[-2:] == ["mine", "second"] and not edited.project.moved
    assert project_file.read_bytes() == older.read_bytes() and check(project_file) == []


def test_a_copy_of_what_is_left_of_an_overwritten_project_says_what_it_lacks(
    edited, qtbot, project_file, tmp_path, monkeypatch
):
    Project.create(tmp_path / "other.glossbench").close()
    subprocess.run(["cp", tmp_path / "other.glossbench", project_file], check=True)
    edit(edited)
    dialog = dialog_of(edited)

    save_to(dialog, dialog.state.suggested, monkeypatch)
    qtbot.waitUntil(lambda: bool(dialog.state.fault), timeout=30_000)

    assert "Not all of the project could be saved" in dialog.state.fault
    dialog._back.click()
    may, titles = answered(edited, lambda asking: asking._lose.click())
    assert may and titles == ["The project file was overwritten"]


def test_the_file_that_is_there_now_can_be_opened_instead(edited, project_file, tmp_path):
    Project.create(tmp_path / "other.glossbench").close()
    (tmp_path / "other.glossbench").replace(project_file)
    QTimer.singleShot(20, lambda: QApplication.activeModalWidget()._lose.click())

    assert edited.open_project(project_file)

    assert layer_names(edited.project) == [] and not edited.project.read_only


def test_a_copy_that_cannot_be_written_is_reported(edited, qtbot, project_file, monkeypatch):
    project_file.unlink()
    edit(edited)
    dialog = dialog_of(edited)
    there = project_file.with_name("there.glossbench")
    there.write_bytes(b"mine")

    save_to(dialog, there, monkeypatch)
    qtbot.waitUntil(lambda: bool(dialog.state.fault), timeout=30_000)

    assert "exists already" in dialog.state.fault and there.read_bytes() == b"mine"
    assert dialog.isVisible() and dialog._save.isEnabled()
    dialog._back.click()


def test_the_message_closes_when_the_file_is_moved_back(edited, qtbot, project_file):
    aside = project_file.rename(project_file.with_name("aside.glossbench"))
    edit(edited)
    assert dialogs(edited)

    aside.rename(project_file)
    qtbot.waitUntil(lambda: not dialogs(edited), timeout=10_000)

    edit(edited)
    assert "more" in layer_names(edited.project)


def test_closing_asks_and_going_back_keeps_the_project_open(edited, project_file):
    project_file.unlink()

    may, seen = answered(edited, lambda dialog: dialog._back.click())

    assert not may and seen == ["The project file is gone"]
    assert "mine" in layer_names(edited.project)


def test_closing_with_a_copy_has_all_in_the_copy(edited, project_file, tmp_path, monkeypatch):
    project_file.unlink()
    target = tmp_path / "copy.glossbench"

    may, seen = answered(edited, lambda dialog: save_to(dialog, target, monkeypatch))
    edited.close_project()

    assert may and len(seen) == 1 and str(target) in edited.settings.recent
    project = Project.open(target, read_only=True)
    assert "mine" in layer_names(project)
    project.close()
