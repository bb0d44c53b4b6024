"""File ▸ Versions: save, open read-only, restore and delete a version."""

import pytest

from workbench.operations.documents import corpus
from workbench.project import backup
from workbench.ui.dialogs.versions import VersionQuestion, Versions


@pytest.fixture
def dialog(app, qtbot, project_file):
    app.open_project(project_file)
    found = Versions(app)
    qtbot.addWidget(found)
    yield found
    qtbot.waitUntil(lambda: not found.state.title, timeout=30_000)
    found.state.close()


@pytest.fixture
def saved(dialog, qtbot):
    """The dialog with one version, which is selected."""
    dialog.name.setText("first pass")
    dialog.save()
    qtbot.waitUntil(lambda: dialog.table.model().rowCount() == 1, timeout=30_000)
    dialog.table.selectRow(0)
    return dialog


def test_a_version_is_saved_under_its_name(saved, app):
    (version,) = backup.versions(app.project.path)

    assert version.name == "first pass" and saved.name.text() == ""
    assert saved._restore.isEnabled() and saved._view.isEnabled()


def test_nothing_can_be_restored_without_a_version(dialog):
    assert not dialog._restore.isEnabled() and not dialog._view.isEnabled()
    assert dialog._stack.currentIndex() == 1


def test_a_version_is_restored_and_the_project_is_open_again(saved, app, qtbot, monkeypatch):
    path, before = app.project.path, corpus.counts(app.project).documents
    corpus.delete_documents(app.project, corpus.filter_ids(app.project, corpus.Filter())[:1])
    monkeypatch.setattr(VersionQuestion, "exec", lambda _question: True)

    saved._restore_chosen()
    qtbot.waitUntil(lambda: saved.state.over, timeout=30_000)

    assert app.project.path == path and not app.project.read_only
    assert corpus.counts(app.project).documents == before
    assert len(saved.state.versions) == 2
    assert "restored" in app.window.note_line.text()


def test_a_version_opens_read_only_and_is_no_recent_project(saved, app):
    (version,) = saved.state.versions

    saved._view_chosen()

    assert app.project.path == version.path and app.project.read_only
    assert str(version.path) not in app.settings.recent


def test_a_version_is_deleted_only_after_a_question(saved, monkeypatch):
    answers = iter((False, True))
    monkeypatch.setattr(VersionQuestion, "exec", lambda _question: next(answers))

    saved._delete_chosen()
    assert len(saved.state.versions) == 1
    saved._delete_chosen()
    assert saved.state.versions == ()


def test_a_failure_is_shown_and_the_project_stays_open(saved, app, qtbot, monkeypatch):
    (version,) = saved.state.versions
    path = app.project.path
    version.path.write_bytes(b"no project")
    monkeypatch.setattr(VersionQuestion, "exec", lambda _question: True)

    saved._restore_chosen()
    qtbot.waitUntil(lambda: bool(saved.state.fault), timeout=30_000)

    assert "is not a Glossbench project" in saved.state.fault
    assert app.project.path == path and not saved.state.over
