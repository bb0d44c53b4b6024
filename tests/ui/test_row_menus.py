"""Context menus on documents, runs, models and jobs do the same as buttons and menus."""

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QTableView

from tests import panel_tasks
from tests.ui.context import choose, open_menu
from workbench.jobs.spec import JobSpec


def on_row(view: QTableView, row: int):
    return open_menu(view, view.visualRect(view.model().index(row, 1)).center())


@pytest.fixture
def data(app, project_file, qtbot):
    app.open_project(project_file, page="data")
    panel = app.window.panel("data")
    qtbot.waitUntil(lambda: len(panel.state.selection.ids) == 3)
    return panel


def settle(app, qtbot):
    from workbench.jobs import threads

    qtbot.waitUntil(lambda: threads.idle() and not app.working)


def test_a_document_is_opened_copied_and_given_a_split_and_a_class(app, data, qtbot):
    choose(on_row(data.view.table, 1), "Copy text")
    assert QGuiApplication.clipboard().text() == "A fine day."

    choose(on_row(data.view.table, 1), "Set split/dev")
    settle(app, qtbot)
    choose(on_row(data.view.table, 1), "Set class/good")
    settle(app, qtbot)
    (row,) = data.state.selection.rows([data.state.selection.ids[1]])
    assert row.split == "dev" and row.classes == (("class", "good"),)

    choose(on_row(data.view.table, 1), "Open in Annotate")
    qtbot.waitUntil(lambda: app.window.page == "annotate")
    state = app.window.panel("annotate").state.session
    qtbot.waitUntil(lambda: state.doc is not None and state.doc.document.key == "k1")


def test_many_documents_are_copied_whole_and_deleted_at_once(app, data, qtbot):
    data.view.table.selectAll()
    found = on_row(data.view.table, 0)
    assert not found["Open in Annotate"].isEnabled()
    choose(found, "Copy texts")
    assert QGuiApplication.clipboard().text().splitlines() == [
        "Ada met Bob in Paris.",
        "A fine day.",
        "A bad day in Rome.",
    ]

    choose(on_row(data.view.table, 0), "Delete 3 documents")
    settle(app, qtbot)
    assert not app.any_documents()


def test_a_run_has_the_lines_of_the_run_menu_with_their_keys(app, scored_file, qtbot):
    app.open_project(scored_file, page="results")
    panel = app.window.panel("results")
    runs = panel.view._runs

    found = open_menu(runs, runs.visualRect(runs.model().index(1, 0)).center())
    assert panel.state.selection.chosen == (runs.rows()[1].id,)
    assert found["Delete run…"].text().endswith("\tCtrl+Del")
    assert not found["Export model"].isEnabled()  # its weights are missing
    choose(found, "Copy name")
    assert QGuiApplication.clipboard().text() == runs.rows()[1].name


def test_a_model_is_trained_with_and_its_path_copied(app, project_file, qtbot):
    app.open_project(project_file, page="models")
    view = app.window.panel("models").view
    qtbot.waitUntil(lambda: view._card is not None)
    card = view._card
    assert card.info.name == "starter-bert"

    choose(open_menu(card, card.rect().center()), "Copy path")
    assert QGuiApplication.clipboard().text() == card.info.path
    choose(open_menu(card, card.rect().center()), "Train with this")
    qtbot.waitUntil(lambda: app.window.page == "train")
    assert app.window.panel("train").state.model == "starter-bert"


def test_a_job_is_cancelled_and_taken_off_the_list(look, qtbot, inline_jobs):
    from workbench.ui.panels.jobs.state import JobsState
    from workbench.ui.panels.jobs.view import JobsView

    state = JobsState(panel_tasks.context(queue=inline_jobs))
    view = JobsView(state)
    qtbot.addWidget(view)
    job = inline_jobs.add(JobSpec("tests.jobs.job_targets:counts", {"total": 4}, title="Count"))
    row = view.list.rows[job.id] if view.list.rows else None
    view.show()
    row = row or view.list.rows[job.id]
    assert not open_menu(row, row.rect().center())["Remove from list"].isEnabled()

    choose(open_menu(row, row.rect().center()), "Cancel")
    inline_jobs.wait(job)
    choose(open_menu(row, row.rect().center()), "Remove from list")
    assert inline_jobs.jobs == () and state.jobs == ()
    state.close()
