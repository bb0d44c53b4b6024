"""File ▸ Open recent: the same projects as on the Welcome page."""

import pytest

from workbench.ui.shell import recent, window_commands


@pytest.fixture
def app(app):
    """As after the start without a project: the Welcome page is shown."""
    app.window.go("welcome")
    return app


@pytest.fixture
def submenu(app):
    """The entries of the submenu as it opens: text → action."""

    def opened():
        app.window.menus.menus["File"].aboutToShow.emit()
        entry = next(entry for entry in app.window.menus.entries if entry.command.id == "recent")
        entry.submenu.aboutToShow.emit()
        return {action.text(): action for action in entry.submenu.actions() if action.text()}

    return opened


def entry(app):
    app.window.menus.menus["File"].aboutToShow.emit()
    return next(entry for entry in app.window.menus.entries if entry.command.id == "recent")


def test_without_recent_projects_the_submenu_rests(app):
    app.settings.recent = []

    assert not entry(app).action.isEnabled()


def test_a_project_is_opened_and_one_that_is_missing_cannot_be(
    app, project_file, tmp_path, submenu
):
    gone = tmp_path / "gone & lost.glossbench"
    app.settings.recent = [str(project_file), str(gone)]

    first, second, *_rest = submenu().items()
    assert not second[1].isEnabled()
    assert "gone && lost" in second[0] and "not found" in second[0]

    first[1].trigger()
    assert app.project.path == project_file


def test_the_list_is_cleared_and_comes_back_with_undo(app, project_file, submenu, qtbot):
    app.settings.recent = [str(project_file)]
    app.recent_changed.emit()
    welcome = app.window.panel("welcome").state
    assert [entry.name for entry in welcome.recent] == ["small"]

    submenu()["&Clear list"].trigger()
    assert app.settings.recent == [] and welcome.recent == ()

    app.window.note_line._undo.click()
    assert app.settings.recent == [str(project_file)] and len(welcome.recent) == 1


def test_a_long_folder_is_elided_in_the_middle(tmp_path):
    name = str(tmp_path / ("very-long-" * 10) / "corpus" / "one.glossbench")

    (project,) = recent.projects([name])
    title = window_commands.recent_title(project)
    assert title.startswith("one") and "…" in title and "corpus" in title
    assert len(title) < 90
