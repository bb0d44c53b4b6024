"""The spare worker: imports early, is used up by a job or a host, and is replaced."""

from pathlib import Path

import pytest

from workbench.jobs import spare as module
from workbench.jobs.host import Host
from workbench.jobs.queue import Queue
from workbench.jobs.spare import Spare, Warm
from workbench.jobs.spec import JobSpec

pytestmark = pytest.mark.process


@pytest.fixture(autouse=True)
def targets(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    monkeypatch.setattr(module, "LEAST_MEMORY", 0)


@pytest.fixture
def queue():
    queue = Queue(warm=Warm(("colorsys",), "job_targets:report"))
    yield queue
    queue.close(keep=False)


def stand(queue):
    received = []
    queue.reported.connect(received.append)
    queue.spare.prepare()
    assert queue.dispatch.wait(lambda: bool(received), 20)
    return received[0]


def test_a_spare_reports_and_the_next_job_finds_the_modules_imported(queue, tmp_path):
    assert stand(queue) == {"best": "cpu"}
    pid = queue.spare._child.pid

    job = queue.add(JobSpec("job_targets:modules", {}, str(tmp_path / "job")))

    assert queue.wait(job, 20)
    assert job.result == {"colorsys": True}
    assert job.events[1].pid == pid


def test_a_spare_has_loaded_what_the_next_job_will_probably_need(queue, tmp_path):
    queue.spare.load_ahead("job_targets:load", "a model")
    stand(queue)

    job = queue.add(JobSpec("job_targets:loaded", {}, str(tmp_path / "job")))

    assert queue.wait(job, 20)
    assert job.result == {"loaded": ["a model"]}


def test_a_crash_of_a_job_in_the_spare_has_its_log(queue, tmp_path):
    stand(queue)

    job = queue.add(JobSpec("job_targets:segfaults", {}, str(tmp_path / "job")))

    assert queue.wait(job, 20)
    assert job.status == "crashed" and "last words" in job.details


def test_a_host_takes_the_spare(queue):
    stand(queue)
    pid = queue.spare._child.pid
    host = Host(JobSpec("job_targets:doubler"), spare=queue.spare)
    try:
        assert host.ask_now({"value": 21}) == {"value": 42}
        assert host.pid == pid
    finally:
        host.close()


def test_a_job_with_an_environment_of_its_own_starts_afresh(queue, tmp_path):
    stand(queue)

    job = queue.add(
        JobSpec("job_targets:modules", {}, str(tmp_path / "job"), env={"HF_HUB_OFFLINE": "0"})
    )

    assert queue.wait(job, 20)
    assert job.result == {"colorsys": False}


def test_a_module_that_cannot_be_imported_is_left_to_the_job_that_needs_it():
    queue = Queue(warm=Warm(("no_such_module", "colorsys"), "job_targets:report"))
    try:
        assert stand(queue) == {"best": "cpu"} and queue.spare.standing
    finally:
        queue.close(keep=False)


def test_there_is_no_spare_where_memory_is_short(monkeypatch):
    monkeypatch.setattr(module, "LEAST_MEMORY", 100)
    spare = Spare(Warm(("colorsys",)), free_memory=lambda: 99)

    spare._begin()

    assert not spare.standing
