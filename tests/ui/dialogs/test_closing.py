"""Confirmations when the window or the project is closed while jobs are running."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QDialog, QPushButton

from tests.inline import InlineQueue
from workbench.base.errors import ProjectDamaged, ProjectError, WorkbenchError
from workbench.jobs.events import Finished
from workbench.jobs.spec import JobSpec
from workbench.jobs.worker import write_result
from workbench.operations.annotation import values
from workbench.operations.schema import labels
from workbench.storage.documents import documents
from workbench.storage.runs import runs
from workbench.ui.dialogs.closing import ClosingQuestion

SPEC = {"task": "classify", "layer": "class", "model": "x", "model_name": "x", "seed": 1}
TARGET = "tests.jobs.job_targets:waits"


class Held(InlineQueue):
    """A queue whose running jobs do nothing until they are asked to end."""

    def _run(self, job):
        pass

    def _end(self, job, how):
        running = job.status == "running"
        super()._end(job, how)
        if running:
            self.ended(job, "stopped" if how == "stop" else "cancelled")

    def ended(self, job, status):
        """The worker of a job has ended and written its result."""
        finished = Finished(status, {"scores": {"dev": {"accuracy": 0.5}}})
        write_result(job.folder, finished)
        self.dispatch(lambda: self._over(job, finished))


@pytest.fixture
def held(app, project_file):
    """The application with a project open and a queue of held jobs."""
    queue = Held(dispatch=app.dispatch)
    queue.changed.connect(app._jobs_changed)
    app.__dict__["queue"], app._queue_used = queue, True
    app.open_project(project_file, page="train")
    return app


def add_run(app, tmp_path, name="first"):
    """A training of the open project, queued as by `operations.runs.train`."""
    with app.project.write():
        run = runs.add(app.project.db, name, "train", spec=SPEC)
    about = {"project": app.project.uid, "id": run.id, "purpose": "train"}
    folder = app.project.runs_folder / f"{run.id:04d}"
    spec = JobSpec(TARGET, {"run": about}, str(folder), title=f"Train {name}", stoppable=True)
    return run, add(app, spec)


def add(app, spec, device="cpu"):
    path = str(app.project.path)
    return app.queue.add(replace(spec, project=path, device=device))


def add_prediction(app):
    return add(app, JobSpec(TARGET, {"run": {}}, title="Predict with first"), device="")


def answer(monkeypatch, name):
    """Press the button of the next dialog; returns the titles of the dialogs shown."""
    asked = []

    def press():
        question = QApplication.activeModalWidget()
        asked.append(question.windowTitle())
        getattr(question, name).click()

    def run(question):
        QTimer.singleShot(0, press)
        return QDialog.exec(question)

    monkeypatch.setattr(ClosingQuestion, "exec", run)
    return asked


def button(app, name):
    """The visible button with this name on the current page."""
    result = app.window.stack.currentWidget().findChildren(QPushButton)
    return next(
        (item for item in result if item.accessibleName() == name and item.isVisible()), None
    )


def stored(path):
    from workbench.project.project import Project

    project = Project.open(path, read_only=True)
    result = {run.name: (run.status, run.scores) for run in runs.all(project.db)}
    project.close()
    return result


def test_closing_the_project_asks_and_going_back_leaves_the_run_alone(held, tmp_path, monkeypatch):
    _run, job = add_run(held, tmp_path)
    asked = answer(monkeypatch, "_back")

    close = next(entry for entry in held.window.menus.entries if entry.command.id == "close")
    close.action.trigger()

    assert asked == ["1 job is still running"]
    assert held.project is not None and job.status == "running" and not job.ending
    held.stop_jobs()


def test_stop_and_keep_records_the_run_as_stopped_before_the_project_closes(
    held, project_file, tmp_path, monkeypatch
):
    add_run(held, tmp_path)
    answer(monkeypatch, "_stop")

    held.leave_project()

    assert held.project is None
    assert stored(project_file) == {"first": ("stopped", {"dev": {"accuracy": 0.5}})}


def test_cancel_deletes_the_run_and_closes(held, project_file, tmp_path, monkeypatch):
    add_run(held, tmp_path)
    add_run(held, tmp_path, "second")
    answer(monkeypatch, "_cancel")

    held.leave_project()

    assert held.project is None and stored(project_file) == {}


def test_a_run_that_continues_is_picked_up_again_by_its_project(
    held, project_file, tmp_path, monkeypatch, qtbot
):
    run, job = add_run(held, tmp_path)
    prediction = add_prediction(held)
    answer(monkeypatch, "_continue")
    held.leave_project()
    assert (job.status, prediction.status) == ("running", "cancelled")

    held.open_project(project_file, page="train")
    assert runs.get(held.project.db, run.id).status == "running"
    assert held.window.panel("train").state.live.run_id == run.id

    held.queue.ended(job, "done")
    qtbot.waitUntil(lambda: job.over)
    assert runs.get(held.project.db, run.id).status == "done"


def test_a_run_that_ends_while_its_project_is_closed_has_its_result_when_it_opens_again(
    held, project_file, tmp_path, monkeypatch, qtbot
):
    run, job = add_run(held, tmp_path)
    answer(monkeypatch, "_continue")
    held.leave_project()

    job.stop()
    qtbot.waitUntil(lambda: job.over)
    held.open_project(project_file, page="results")

    assert runs.get(held.project.db, run.id).status == "stopped"


def test_opening_another_project_asks_and_a_file_that_cannot_be_opened_stops_nothing(
    held, tmp_path, monkeypatch, user_dir
):
    _run, job = add_run(held, tmp_path)
    asked = answer(monkeypatch, "_back")
    broken = tmp_path / "broken.glossbench"
    broken.write_bytes(b"junk")

    assert not held.open_project(broken)
    assert asked == [] and job.status == "running"

    held.act("sample")
    assert len(asked) == 1 and held.project.path.stem == "small"
    assert not list(user_dir.rglob("*.glossbench"))  # no unwanted copy
    held.stop_jobs()


def test_opening_the_open_project_again_only_shows_it(held, project_file, tmp_path, monkeypatch):
    add_run(held, tmp_path)
    asked = answer(monkeypatch, "_back")

    assert held.open_project(project_file, page="results")

    assert asked == [] and held.window.page == "results" and not held.project.read_only
    held.stop_jobs()


def test_the_question_closes_by_itself_when_the_job_ends(held, tmp_path, qtbot):
    _run, job = add_run(held, tmp_path)
    question = ClosingQuestion(held, project_only=True)
    qtbot.addWidget(question)
    question.show()

    with qtbot.waitSignal(question.accepted):
        held.queue.ended(job, "done")


def test_a_prediction_can_only_be_cancelled(held, qtbot):
    add_prediction(held)
    question = ClosingQuestion(held, project_only=True)
    qtbot.addWidget(question)
    question.show()

    shown = [item.isVisible() for item in (question._stop, question._continue, question._cancel)]
    assert shown == [False, False, True]
    question.reject()
    held.stop_jobs()


def test_the_welcome_page_lists_the_runs_and_leads_back_to_their_project(
    held, project_file, tmp_path, monkeypatch, qtbot
):
    _run, job = add_run(held, tmp_path)
    answer(monkeypatch, "_continue")
    held.leave_project()
    qtbot.waitUntil(lambda: button(held, "Go to project small") is not None)

    button(held, "Go to project small").click()
    assert held.project.path == project_file and held.window.page == "train"
    held.go("welcome")
    qtbot.waitUntil(lambda: button(held, "Stop and keep best") is not None)
    button(held, "Stop and keep best").click()
    qtbot.waitUntil(lambda: job.status == "stopped")
    assert not held.window.panel("welcome").view._running.isVisible()


def test_a_background_job_is_ended_without_a_question(held):
    job = held.queue.add(JobSpec(TARGET, {}, background=True))
    held.qt.processEvents()
    assert job.status == "running"

    assert held.active_jobs() == [] and held.may_close()
    held.queue.close()

    assert job.status == "cancelled"


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
    state.session.open(documents.ids(app.project.db, documents.Filter())[0])

    def full(*_args, **_named):
        raise FULL

    stored = values.write_text
    monkeypatch.setattr(values, "write_text", full)
    app.room = lambda: monkeypatch.setattr(values, "write_text", stored)
    app.written = lambda: next(documents.records(app.project.db)).written.get("summary")
    state.values.write(labels.layers(app.project)[-1], "In short: 👩‍👩‍👧")
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
        disk.setattr("workbench.operations.schema.guideline.write", _raise)
        state.set_guideline(layer, "# Rules")
        may, seen = answered(app, lambda dialog: dialog._back.click())

    assert not may and seen and state.guidelines.of(layer, "") == "# Rules"
    assert app.may_close() and labels.layers(app.project)[0].guideline == "# Rules"


def _raise(*_args, **_named):
    raise FULL


def test_the_message_of_a_failed_change_goes_with_the_next_change_that_is_saved(writing):
    writing.window.panel("annotate").state.values.save_texts()
    assert writing.window.banner.text().startswith("The disk is full.")
    assert writing.window.banner.isVisibleTo(writing.window)
    assert writing.window.status._saved.text() == "Not saved"

    writing.room()
    writing.window.panel("annotate").state.values.save_texts()

    assert not writing.window.banner.isVisibleTo(writing.window)
    assert writing.window.status._saved.text() == "Saved"


@pytest.mark.parametrize("error", [WorkbenchError("No model."), ProjectDamaged("Damaged.")])
def test_other_messages_stay_until_they_are_closed(app, project_file, error):
    app.open_project(project_file, page="annotate")
    app.fail(error)

    labels.add_layer(app.project, "late", "class", labels=["x"])

    assert app.window.banner.isVisibleTo(app.window)
