import queue
import sys
import threading
import weakref

import pytest

from tests.jobs import job_targets
from workbench.base.errors import Cancelled
from workbench.jobs import threads
from workbench.jobs.dispatch import Mailbox


def interrupt():
    raise KeyboardInterrupt


def test_work_runs_in_a_thread_and_its_result_comes_to_the_main_one():
    mailbox, got = Mailbox(), []

    threads.run(
        threading.get_ident,
        lambda result, error: got.append((result, error, threading.get_ident())),
        dispatch=mailbox,
    )

    assert mailbox.wait(lambda: bool(got), 10)
    result, error, where = got[0]
    assert error is None
    assert result != threading.get_ident() == where


def test_an_error_is_handed_over():
    mailbox, got = Mailbox(), []

    threads.run(lambda: 1 / 0, lambda result, error: got.append(error), dispatch=mailbox)

    assert mailbox.wait(lambda: bool(got), 10)
    assert isinstance(got[0], ZeroDivisionError)


@pytest.mark.parametrize("end", [job_targets.panic, sys.exit, interrupt])
def test_a_panic_or_a_request_to_exit_fails_its_task_and_no_thread_ends(end):
    mailbox, errors, got = Mailbox(), [], []

    for _ in range(threads.SIZE + 1):
        threads.run(end, lambda _result, error: errors.append(error), dispatch=mailbox)
    threads.run(lambda: 5, lambda result, _error: got.append(result), dispatch=mailbox)

    assert mailbox.wait(lambda: got == [5] and len(errors) == threads.SIZE + 1, 20)
    assert all("in a library" in str(error) and "Traceback" in error.details for error in errors)


def test_nothing_is_reported_after_cancel_and_the_work_can_see_it():
    mailbox, got, seen, go = Mailbox(), [], [], threading.Event()
    token = threads.Token()

    def work():
        go.wait(10)
        try:
            token.check()
        except Cancelled:
            seen.append(True)

    threads.run(work, lambda result, error: got.append(result), dispatch=mailbox, token=token)
    token.cancel()
    go.set()

    assert mailbox.wait(threads.idle, 10)
    mailbox.drain()
    assert (got, seen) == ([], [True]) or (got, seen) == (
        [],
        [],
    )  # cancelled before it began is fine too


def test_many_pieces_of_work_share_a_few_threads():
    mailbox, got = Mailbox(), []

    for number in range(50):
        threads.run(
            lambda number=number: number, lambda result, error: got.append(result), dispatch=mailbox
        )

    assert mailbox.wait(lambda: len(got) == 50, 10)
    assert sorted(got) == list(range(50))
    assert (
        sum(thread.name.startswith(threads.NAME) for thread in threading.enumerate())
        <= threads.SIZE
    )


def test_what_a_task_refers_to_is_given_up_where_its_result_is_taken():
    mailbox, ended = Mailbox(), []

    class Kept:
        def done(self, _result, _error):
            pass

    kept = Kept()
    weakref.finalize(kept, lambda: ended.append(threading.current_thread()))
    threads.run(lambda: None, kept.done, dispatch=mailbox)
    del kept
    assert mailbox.wait(lambda: bool(ended), 30)
    assert ended == [threading.current_thread()]


def test_what_an_error_refers_to_is_given_up_there_too():
    calls, taken, ended = queue.SimpleQueue(), threading.Event(), []

    class Widget:
        def fail(self):
            raise ValueError

    def dispatch(call):
        calls.put(call)
        taken.wait(30)  # the other thread is still in its task when the outcome has been taken

    widget = Widget()
    weakref.finalize(widget, lambda: ended.append(threading.current_thread()))
    threads.run(widget.fail, lambda _result, _error: None, dispatch=dispatch)
    del widget
    calls.get(timeout=30)()
    assert ended == [threading.current_thread()]
    taken.set()
