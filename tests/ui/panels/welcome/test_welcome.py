"""The Welcome page: recent projects, missing ones, the sample."""

import os
import time

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


@pytest.fixture
def app(app):
    """As after the start without a project: the Welcome page is shown."""
    app.window.go("welcome")
    return app


def named(app, name):
    view = app.window.stack.currentWidget()
    return next(
        (
            widget
            for widget in view.findChildren(QWidget)
            if widget.accessibleName() == name and widget.isVisible()
        ),
        None,
    )


def recent(app, *files):
    app.settings.recent = [str(file) for file in files]
    app.window.panel("welcome").state.refresh()
    app.qt.processEvents()


def test_three_ways_to_begin_have_their_names(app):
    for name in ("Open the sample project", "New project…", "Open…"):
        assert named(app, name) is not None


def test_a_recent_project_opens_with_one_click(app, qtbot, project_file):
    recent(app, project_file)

    qtbot.mouseClick(named(app, "Open small"), Qt.MouseButton.LeftButton)
    assert app.project.path == project_file


def test_a_missing_project_is_marked_and_can_be_located(app, project_file, tmp_path):
    gone = tmp_path / "gone.glossbench"
    recent(app, gone)
    state = app.window.panel("welcome").state
    assert state.recent[0].missing and named(app, "Locate gone") is not None

    state.locate(str(gone), str(project_file))
    assert app.project.path == project_file
    assert str(gone) not in app.settings.recent


def test_a_project_is_taken_off_the_list_and_can_be_put_back(app, qtbot, project_file):
    recent(app, project_file)

    qtbot.mouseClick(named(app, "Remove small from the list"), Qt.MouseButton.LeftButton)
    assert app.settings.recent == [] and project_file.exists()
    qtbot.mouseClick(app.window.note_line._undo, Qt.MouseButton.LeftButton)
    assert app.settings.recent == [str(project_file)]


def test_the_sample_is_copied_to_the_documents_once_and_opened_again(app, qtbot, user_dir):
    sample = named(app, "Open the sample project")
    qtbot.mouseClick(sample, Qt.MouseButton.LeftButton)
    first = app.project.path
    assert first.is_relative_to(user_dir / "Documents")

    app.close_project()
    app.act("sample")
    assert app.project.path == first and first.name in app.window.note_line.text()


def test_a_new_copy_of_the_sample_is_one_click(app, qtbot, user_dir):
    app.act("sample")
    first = app.project.path
    app.act("sample")

    qtbot.mouseClick(app.window.note_line._undo, Qt.MouseButton.LeftButton)
    assert app.project.path != first and app.project.path.parent == first.parent

    newest = app.project.path
    app.close_project()
    app.act("sample")
    assert app.project.path == newest


def test_a_file_written_a_minute_ago_is_of_today(app, project_file):
    os.utime(project_file, (time.time(), time.time()))
    recent(app, project_file)

    assert app.window.panel("welcome").state.recent[0].when.startswith("today")


def test_what_is_new_are_the_highlights_of_the_newest_version():
    from workbench.ui.panels.welcome.state import read

    newer = "### Highlights\n\n- **One**.\n- Two: more\n  words\n- Three\n\n### All\n\n- Rest\n"
    text = f"# Changes\n\n## 2.0\n\nWords.\n\n{newer}\n## 1.0\n\n### Highlights\n\n- Old.\n"

    assert read(text, 2) == ("2.0", ("One", "Two: more words"))
    assert read("## 2.0\n\n- Detail\n") == ("2.0", ())
    assert read("", 2) == ("", ())


def test_the_page_shows_what_is_new_and_leads_to_all_changes(app, monkeypatch):
    from workbench.ui.dialogs.about import ChangesDialog

    shown = []
    monkeypatch.setattr(ChangesDialog, "exec", lambda self: shown.append(self.text.toPlainText()))

    named(app, "All changes…").click()

    state = app.window.panel("welcome").state
    assert len(state.news) == 6 and state.version
    assert all(4 < len(entry.split()) < 16 for entry in state.news), state.news
    assert not any("glossbench" in entry or "--" in entry for entry in state.news)
    assert "Changes" in shown[0] and state.version in shown[0]


def test_the_steps_are_to_be_read_and_do_not_look_like_buttons(app):
    from PySide6.QtWidgets import QAbstractButton, QLabel

    view = app.window.stack.currentWidget()
    step = next(label for label in view.findChildren(QLabel) if label.text() == "2. Label")

    above = step.parentWidget()
    while above is not view:
        assert not isinstance(above, QAbstractButton) and above.property("part") != "card"
        above = above.parentWidget()


def test_who_labels_is_asked_once_and_named_in_the_next_project(app, qtbot, tmp_path):
    from contextlib import closing

    from workbench.project.project import Project

    name = named(app, "Name")
    qtbot.keyClicks(name, "Ada Lovelace")
    qtbot.keyClick(name, Qt.Key.Key_Return)

    assert named(app, "Name") is None
    with closing(Project.create(tmp_path / "new.glossbench")) as project:
        assert project.annotator_name == "Ada Lovelace"
    app.window.go("welcome")
    assert named(app, "Name") is None


def test_who_labels_is_not_asked_again_after_not_now(app, qtbot):
    assert named(app, "Name") is not None

    qtbot.mouseClick(named(app, "Not now"), Qt.MouseButton.LeftButton)

    assert named(app, "Name") is None and not app.settings.is_named
