"""Texts that could not be stored: the question when the window closes, and its answers."""

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from workbench.base.errors import ProjectDamaged, ProjectError, WorkbenchError
from workbench.operations.annotation import values
from workbench.operations.schema import labels
from workbench.storage.documents import documents

FULL = ProjectError("The disk is full.", hint="Free up disk space.")


@pytest.fixture
def writing(app, project_file, monkeypatch):
    """The application with a text that is written for the first document, and a full disk.

    `writing.room()` frees space.
    """
    app.open_project(project_file, page="annotate")
    labels.add_layer(app.project, "summary", "text")
    app.window.go("annotate")
    state = app.window.panel("annotate").state
    state.open(documents.ids(app.project.db, documents.Filter())[0])

    def full(*_args, **_named):
        raise FULL

    stored = values.write_text
    monkeypatch.setattr(values, "write_text", full)
    app.room = lambda: monkeypatch.setattr(values, "write_text", stored)
    app.written = lambda: next(documents.records(app.project.db)).written.get("summary")
    state.write(labels.layers(app.project)[-1], "In short: 👩‍👩‍👧")
    yield app
    app.room()


def answered(app, act):
    """Ask whether the window may close, with `act(dialog)` as the answer of the user."""
    seen = []

    def answer():
        dialog = QApplication.activeModalWidget()
        seen.append(dialog.windowTitle())
        act(dialog)

    QTimer.singleShot(20, answer)
    return app.may_close(), seen


def test_closing_with_a_text_that_cannot_be_stored_asks_and_going_back_keeps_it(writing):
    may, seen = answered(writing, lambda dialog: dialog._back.click())

    assert not may and seen == ["1 text could not be saved"]
    state = writing.window.panel("annotate").state
    assert [item.text for item in state.unsaved_texts()] == ["In short: 👩‍👩‍👧"]
    assert "layer summary" in state.unsaved_texts()[0].place


def test_the_question_says_why_and_shows_the_text(writing):
    shown = []

    def look(dialog):
        shown.append(dialog._shown.toPlainText())
        dialog._lose.click()

    may, _seen = answered(writing, look)

    assert may and "In short: 👩‍👩‍👧" in shown[0] and "layer summary" in shown[0]


def test_the_text_can_be_saved_to_a_file(writing, tmp_path):
    file = tmp_path / "kept.txt"

    may, _seen = answered(writing, lambda dialog: dialog.save_to(file))

    assert may and file.read_text(encoding="utf-8").endswith("In short: 👩‍👩‍👧\n")
    assert list(tmp_path.glob(".*.part")) == []


def test_a_file_that_cannot_be_written_is_reported_and_the_question_stays(writing, tmp_path):
    def save(dialog):
        dialog.save_to(tmp_path / "no" / "folder.txt")
        faults.append(dialog._fault.text())
        dialog._back.click()

    faults = []
    may, _seen = answered(writing, save)

    assert not may and "could not be written" in faults[0]


def test_the_question_closes_when_there_is_room_again(writing):
    def free(dialog):
        dialog.try_again()
        assert dialog.isVisible()
        writing.room()
        dialog.try_again()

    may, _seen = answered(writing, free)

    assert may and writing.written() == "In short: 👩‍👩‍👧"


def test_nothing_is_asked_when_all_could_be_stored(writing):
    writing.room()

    assert writing.may_close() and writing.written() == "In short: 👩‍👩‍👧"


def test_a_guideline_that_cannot_be_stored_is_kept_and_asked_about(app, project_file, monkeypatch):
    app.open_project(project_file, page="labels")
    state = app.window.panel("labels").state
    layer = state.layers[0].id
    with monkeypatch.context() as disk:
        disk.setattr("workbench.operations.schema.labels.set_guideline", _raise)
        state.set_guideline(layer, "# Rules")
        may, seen = answered(app, lambda dialog: dialog._back.click())

    assert not may and seen and state.guidelines.of(layer, "") == "# Rules"
    assert app.may_close() and labels.layers(app.project)[0].guideline == "# Rules"


def _raise(*_args, **_named):
    raise FULL


def test_the_message_of_a_failed_change_goes_with_the_next_change_that_is_saved(writing):
    writing.window.panel("annotate").state.save_texts()
    assert writing.window.banner.text().startswith("The disk is full.")
    assert writing.window.banner.isVisibleTo(writing.window)
    assert writing.window.status._saved.text() == "Not saved"

    writing.room()
    writing.window.panel("annotate").state.save_texts()

    assert not writing.window.banner.isVisibleTo(writing.window)
    assert writing.window.status._saved.text() == "Saved"


@pytest.mark.parametrize("error", [WorkbenchError("No model."), ProjectDamaged("Damaged.")])
def test_other_messages_stay_until_they_are_closed(app, project_file, error):
    app.open_project(project_file, page="annotate")
    app.fail(error)

    labels.add_layer(app.project, "late", "class", labels=["x"])

    assert app.window.banner.isVisibleTo(app.window)
