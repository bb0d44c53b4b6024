"""A model that stays loaded, played by a target that doubles numbers."""

import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.jobs import job_targets
from workbench.base.errors import Cancelled, JobFailed, WorkbenchError
from workbench.base.watch import Watch
from workbench.jobs.host import Host
from workbench.jobs.serving import QUIET, _answer_all, newest
from workbench.jobs.spec import JobSpec

pytestmark = pytest.mark.process


@pytest.fixture(autouse=True)
def targets(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))


@pytest.fixture
def host():
    host = Host(JobSpec("job_targets:doubler"))
    yield host
    host.close()


def test_a_host_that_is_not_waited_for_ends_on_a_thread(host):
    host.ask_now({"value": 4})
    child, folder = host._child, host.folder

    host.close(wait=False)
    assert host.status == "closed"
    for thread in threading.enumerate():
        if thread.name == "glossbench-host-end":
            assert not thread.daemon, "the application would end before the child is killed"
            thread.join(10)
    assert child.ended and not folder.exists()


def test_a_host_answers_many_requests_with_one_load(host):
    assert host.ask_now({"value": 4}) == {"value": 8}
    first = host.pid
    assert host.ask_now({"value": 5}) == {"value": 10}
    assert host.pid == first
    assert host.status == "ready"


def test_the_limit_of_an_answer_leaves_out_the_time_until_the_model_is_loaded():
    slow = Host(JobSpec("job_targets:doubler", {"loading": 0.6}))
    try:
        assert slow.ask_now({"value": 4}, timeout=0.5) == {"value": 8}
        with pytest.raises(JobFailed, match="did not respond"):
            slow.ask_now({"value": 4, "pause": 2.0}, timeout=0.1)
    finally:
        slow.close()


def test_a_task_waits_for_its_answer_until_it_is_cancelled_or_the_host_is_closed(host):
    ended = []
    watches = [Watch(), Watch(), Watch()]

    def ask(watch, pause):
        try:
            ended.append(host.ask_now({"value": 4, "pause": pause}, watch=watch))
        except WorkbenchError as error:
            ended.append(error)

    def start(watch, pause):
        thread = threading.Thread(target=ask, args=(watch, pause))
        thread.start()
        return thread

    answered = start(watches[0], 0.0)
    host.dispatch.wait(lambda: not answered.is_alive(), 30)
    assert ended == [{"value": 8}]

    watches[1].cancel()
    start(watches[1], 30.0).join(10)
    assert isinstance(ended[1], Cancelled)

    dropped = start(watches[2], 30.0)
    host.close()
    dropped.join(10)
    assert "closed" in str(ended[2])


def test_a_task_whose_request_was_replaced_by_a_newer_one_ends_when_it_is_cancelled(host):
    ended, watch = [], Watch()

    def ask(value, watch):
        try:
            ended.append(host.ask_now({"value": value}, watch=watch, kind="inspect"))
        except Cancelled:
            ended.append("cancelled")

    first = threading.Thread(target=ask, args=(1, watch))
    second = threading.Thread(target=ask, args=(2, Watch()))
    first.start()
    host.dispatch.wait(lambda: host.busy, 10)
    second.start()
    host.dispatch.wait(lambda: not second.is_alive(), 30)
    watch.cancel()
    first.join(10)

    assert ended == [{"value": 4}, "cancelled"]


def test_of_one_kind_only_the_newest_is_answered(host):
    host.ask_now({"value": 0})
    got = []
    for value in range(5):
        host.ask(
            "inspect",
            {"value": value, "pause": 0.05},
            lambda answer, error: got.append(answer["value"]),
        )
    host.ask("other", {"value": 50}, lambda answer, error: got.append(answer["value"]))

    assert host.dispatch.wait(lambda: len(got) == 2, 20)
    assert sorted(got) == [8, 100]


def test_arrays_come_back_as_arrays_and_leave_no_file(host):
    answer = host.ask_now({"array": True})

    assert answer["scores"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert list(host.folder.glob("*.npy")) == []


def test_answers_are_read_off_the_main_thread_and_one_that_cannot_be_is_an_error():
    threads = []

    def read(raw):
        threads.append(threading.current_thread())
        return raw["value"]

    host = Host(JobSpec("job_targets:doubler"), read=read)
    try:
        assert host.ask_now({"value": 4}) == 8
        with pytest.raises(JobFailed, match="cannot be read: KeyError") as failed:
            host.ask_now({"array": True})
        assert "KeyError: 'value'" in failed.value.details
        assert host.ask_now({"value": 1}) == 2
    finally:
        host.close()
    assert threading.main_thread() not in threads


def test_an_error_in_one_answer_is_reported_and_the_next_is_answered(host):
    with pytest.raises(JobFailed, match="That text is empty") as known:
        host.ask_now({"bad": True})
    with pytest.raises(JobFailed, match="KeyError: 'value'") as bug:
        host.ask_now({"wrong": True})
    assert host.ask_now({"value": 1}) == {"value": 2}
    assert known.value.details == ""  # the message says it all
    assert "job_targets.py" in bug.value.details and "Traceback" in bug.value.details


def test_a_panic_in_one_answer_is_reported_and_the_same_process_answers_the_next(host):
    assert host.ask_now({"value": 1}) == {"value": 2}
    before = host.pid

    with pytest.raises(JobFailed, match="PanicException: .*retry-limit"):
        host.ask_now({"panic": True})

    assert host.ask_now({"value": 2}) == {"value": 4}
    assert host.pid == before


def test_a_crash_is_reported_and_the_next_request_loads_again(host):
    with pytest.raises(JobFailed, match="ended unexpectedly") as crash:
        host.ask_now({"die": True})
    assert host.status == "crashed" and crash.value.details == host.details
    assert host.ask_now({"value": 1}) == {"value": 2}


def test_a_model_that_cannot_be_loaded_says_why(tmp_path):
    host = Host(JobSpec("job_targets:doubler", {"broken": True}))
    try:
        with pytest.raises(JobFailed, match="config.json is missing"):
            host.ask_now({"value": 1})
        assert host.status == "failed"
    finally:
        host.close()


def test_a_sleeping_host_wakes_with_the_next_request(host):
    host.ask_now({"value": 1})
    first = host.pid

    host.sleep()

    assert host.status == "asleep"
    assert host.ask_now({"value": 2}) == {"value": 4}
    assert host.pid != first


def test_closing_deletes_the_folder(host):
    host.ask_now({"value": 1})

    host.close()

    assert not host.folder.exists()
    got = []
    host.ask("x", {}, lambda answer, error: got.append(error))
    host.dispatch.drain()
    assert isinstance(got[0], JobFailed)


class Asked:
    """Stands in for the commands of a parent that sends `arriving`, one list per look.

    waits: seconds of each look.
    """

    ending = ""

    def __init__(self, *arriving):
        self.arriving, self.waits = list(arriving), []

    def waiting(self, seconds=0.0):
        self.waits.append(seconds)
        return self.arriving.pop(0) if self.arriving else []

    def next(self):
        return None


def test_steps_that_prepare_later_answers_run_between_requests():
    heard = []
    request = {"id": 1, "kind": "inspect", "request": {}}

    def answer(_request):
        heard.append("answer")
        return {}

    answer.idle_steps = (heard.append(step) or step for step in ("first", "second"))
    server = SimpleNamespace(answer=lambda *_given: answer({}))
    commands = Asked([request], [], [{**request, "id": 2}])
    _answer_all(answer, server, SimpleNamespace(write=lambda message: None), commands)

    assert heard == ["answer", "first", "answer", "second"]
    assert commands.waits[:2] == [0.0, QUIET]  # a user who types is not kept waiting
    assert commands.waits[-1] == 0.0  # nothing is left to do


def test_a_step_that_fails_ends_the_preparation_and_not_the_answers(capsys):
    numbers = []
    request = {"id": 1, "kind": "inspect", "request": {}}

    def answer(_request):
        return {}

    def steps():
        job_targets.panic()
        yield

    answer.idle_steps = steps()
    server = SimpleNamespace(answer=lambda *_given: answer({}))
    channel = SimpleNamespace(write=lambda message: numbers.append(message["id"]))
    _answer_all(answer, server, channel, Asked([request], [], [{**request, "id": 2}]))

    assert numbers == [1, 2]
    assert "PanicException" in capsys.readouterr().err


def test_newest_keeps_the_order_of_kinds():
    asked = [{"kind": "a", "id": 1}, {"kind": "b", "id": 2}, {"kind": "a", "id": 3}]

    assert [request["id"] for request in newest(asked)] == [2, 3]
