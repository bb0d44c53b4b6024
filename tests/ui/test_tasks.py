"""Tasks of a panel: the newest of a key wins, nothing arrives after the end."""

import threading
import time
from functools import partial

import pytest
from PySide6.QtWidgets import QApplication

from tests import panel_tasks
from tests.held import Held
from workbench.base.errors import Cancelled, WorkbenchError
from workbench.base.watch import Watch
from workbench.ui.app import Dispatch


@pytest.fixture
def context():
    return panel_tasks.context()


@pytest.fixture
def held(context):
    return Held(context)


def test_the_newest_task_of_a_key_wins_and_the_watch_of_an_older_one_is_cancelled(context, held):
    got, watches = [], []

    def work(text, *, watch):
        watches.append(watch)
        return text

    context.task("a", partial(work, "old"), got.append)
    held.compute(0)
    context.task("a", partial(work, "new"), got.append)
    context.task("b", lambda: "other", got.append)
    held.answer(2, 1, 0)

    assert got == ["other", "new"]
    assert [watch.cancelled for watch in watches] == [True, False]


def test_waiting_lasts_until_the_answer(context, held):
    context.task("a", lambda: 1, lambda _result: None)
    assert context.waiting("a") and not context.waiting("b")

    held.answer(0)

    assert not context.waiting("a")


def test_a_dropped_task_and_those_of_a_closed_panel_answer_nothing(context, held):
    got = []
    for key in "ab":
        context.task(key, lambda: 1, got.append, failed=got.append)

    context.drop("a")
    context.tasks.close()
    held.answer(0)
    held.fail(1, WorkbenchError("Too late."))
    context.task("c", lambda: 2, got.append)

    assert got == [] and len(held) == 2


def test_an_error_is_shown_unless_it_is_taken(context):
    taken, error = [], WorkbenchError("The disk is full.")

    def work():
        raise error

    context.task("a", work, lambda _result: None)
    context.task("a", work, lambda _result: None, failed=taken.append)

    assert context.faults == taken == [error]


def test_a_cancelled_task_leaves_a_note_if_it_has_a_title(context, held):
    context.task("a", lambda watch: watch.at(0.5), print, title="Read")
    context.task("b", lambda watch: watch.at(0.5), print, title="Write", writes=True)
    context.task("c", lambda watch: watch.at(0.5), print)

    for key in "abc":
        context.cancel(key)
    held.answer(0, 1, 2)

    assert context.notes == ["Read: cancelled.", "Write: cancelled. No changes were made."]
    assert context.faults == []


def test_one_task_writes_at_a_time(context, held):
    got = []
    context.task("a", lambda: 1, got.append, title="First", writes=True)
    context.task("b", lambda: 2, got.append, title="Second", writes=True)

    held.rest()
    context.task("b", lambda: 3, got.append, title="Second", writes=True)
    held.rest()

    assert got == [1, 3] and [str(fault) for fault in context.faults] == [
        "“First” is still running."
    ]


def test_a_task_that_writes_goes_on_after_the_panel_is_closed_without_an_answer(context, held):
    got = []

    def write(watch):
        watch.at(0.5)
        got.append("written")

    context.task("a", write, got.append, title="Write", writes=True)
    context.tasks.close()
    held.rest()

    assert got == ["written"]


def test_progress_is_told_while_the_task_is_wanted(context):
    shares = []

    def work(watch: Watch):
        watch.at(0.25)
        watch.wait_behind("a training")

    context.task(
        "a", work, lambda _none: None, progress=lambda w: shares.append((w.share, w.behind))
    )

    assert shares == [(0.25, ""), (0.25, "a training")]


def test_what_a_worker_yields_is_told_until_the_task_is_cancelled(context):
    events = []

    def work(watch: Watch):
        watch.event({"step": 1})
        watch.cancel()
        watch.event({"step": 2})

    context.task("a", work, lambda _none: None, on_event=events.append)

    assert events == [{"step": 1}]


def test_the_window_shows_a_task_that_takes_long_and_cancels_it(app, qtbot):
    gate, failures = threading.Event(), []

    def work(watch):
        gate.wait(20)
        watch.at(1.0)

    app.tasks.start("a", work, print, failed=failures.append, title="Read it all")
    qtbot.waitUntil(app.work.line.isVisible)
    assert app.work.line.accessibleName() == "Read it all" and not app.working
    app.work.line.cancelled.emit()
    gate.set()
    qtbot.waitUntil(lambda: bool(failures))

    assert isinstance(failures[0], Cancelled) and not app.work.line.isVisible()


def test_the_window_offers_no_cancel_for_what_cannot_be_cancelled(app, qtbot):
    from PySide6.QtWidgets import QPushButton

    gate = threading.Event()
    app.tasks.start("a", lambda: gate.wait(20), lambda _done: None, title="Read it all")
    qtbot.waitUntil(app.work.line.isVisible)

    assert not app.work.line.findChild(QPushButton).isVisible()
    gate.set()
    qtbot.waitUntil(lambda: not app.work.line.isVisible())


def test_closing_a_project_waits_for_what_is_written_and_cancels_the_rest(app, project_file):
    app.open_project(project_file, page="data")
    context, got = app.window.panel("data").context, []
    reading, writing, cancelled = threading.Event(), threading.Event(), threading.Event()

    def read(watch):
        reading.set()
        while not watch.cancelled:
            time.sleep(0.01)
        cancelled.set()

    def write(project):
        with project.edit("Write"):
            writing.set()
            time.sleep(0.2)
        return "written"

    context.task("read", read, got.append, failed=got.append)
    context.task("write", partial(write, context.project), got.append, title="Write", writes=True)
    assert reading.wait(20) and writing.wait(20)
    app.close_project()

    assert got == ["written"] and cancelled.wait(20)


def test_a_page_follows_the_training_of_a_run_until_it_is_closed(app, scored_file, inline_jobs):
    from workbench.jobs.spec import JobSpec
    from workbench.operations.runs import results

    app.open_project(scored_file, page="data")
    app.queue.changed, heard = inline_jobs.changed, []
    context = app.window.panel("data").context
    first, second = sorted(results.all_runs(app.project), key=lambda run: run.id)
    context.follow(second, lambda job, _event: heard.append(job))
    about = {"project": app.project.uid, "purpose": "train"}

    for run in (first, second):
        spec = JobSpec("builtins:dict", {"run": {**about, "id": run.id}}, device=run.name)
        job = inline_jobs.add(spec)
    before, _closed = tuple(heard), context.close()
    job.cancel()

    assert before == (job,) and tuple(heard) == before


def test_nothing_is_called_after_the_application_has_closed(qapp, qtbot):
    dispatch, called = Dispatch(), []
    thread = threading.Thread(target=lambda: dispatch(lambda: called.append("before")))
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: called == ["before"])

    dispatch.close()
    thread = threading.Thread(target=lambda: dispatch(lambda: called.append("after")))
    thread.start()
    thread.join()
    QApplication.processEvents()

    assert called == ["before"]
