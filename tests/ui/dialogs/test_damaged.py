"""A damaged project: the window says what can be recovered, and recovers it."""

import pytest

from workbench.operations.documents import corpus
from workbench.project.check import check
from workbench.ui.dialogs.damaged import Damaged


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
