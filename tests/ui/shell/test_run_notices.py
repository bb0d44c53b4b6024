"""The message about a run that ends while another page is shown, with the way to its results."""

from types import SimpleNamespace

import pytest
from PySide6.QtWidgets import QPushButton

from workbench.base import owned_folder, paths
from workbench.jobs.events import Finished
from workbench.jobs.spec import JobSpec
from workbench.operations.models.pretrain import TARGET
from workbench.operations.runs import results
from workbench.storage.runs import runs

TRAINED = {"scores": {}, "best_step": 3, "steps": 4}


@pytest.fixture
def run(app, scored_file):
    """A run of the open project that trains, while Data is shown."""
    assert app.open_project(scored_file, page="data")
    run = results.all_runs(app.project)[0]
    with app.project.write():
        runs.update(app.project.db, run.id, status="running")
    return run


def end(app, run, event, purpose="train"):
    about = {"project": app.project.uid, "id": run.id, "purpose": purpose}
    folder = paths.run_folder(app.project.path, run.id)
    spec = SimpleNamespace(params={"run": about}, folder=str(folder), project="", target="")
    app.settings.sessions = False  # the job has trained nothing
    job = SimpleNamespace(spec=spec, ending="", over=True, status=event.status, result={})
    app.queue.changed.emit(job, event)


def press(line, name):
    next(b for b in line.findChildren(QPushButton) if b.accessibleName() == name).click()


def test_a_run_that_ends_while_another_page_is_shown_is_reported_with_its_results(app, run, qtbot):
    end(app, run, Finished("done", TRAINED))
    assert app.window.note_line.text() == f"“{run.name}” has finished."

    press(app.window.note_line, "Show results")
    assert app.window.page == "results"
    assert app.window.panel("results").state.selection.run.id == run.id


def test_a_run_without_a_result_is_reported_with_its_cause(app, run):
    end(app, run, Finished("out_of_memory", message="No room."))

    assert app.window.note_line.text() == f"“{run.name}” has no result: out of memory."


def test_nothing_is_said_on_the_page_that_shows_the_run_nor_of_a_cancelled_one(app, run):
    app.go("train")
    end(app, run, Finished("done", TRAINED))
    assert not app.window.note_line.text()

    app.go("data")
    end(app, run, Finished("cancelled"))
    assert not app.window.note_line.text()


def test_a_pretraining_that_ends_without_its_page_is_listed(app, tmp_path):
    out = tmp_path / "mine"
    owned_folder.create(out)
    job = SimpleNamespace(
        spec=JobSpec(TARGET, {"out": str(out)}), status="done", over=True, result={}
    )

    app.queue.changed.emit(job, Finished("done"))

    assert app.settings.model_folders == [str(out)] == app.settings.pickle_allowed
