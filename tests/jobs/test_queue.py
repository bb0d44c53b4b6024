"""Jobs in real worker processes, with targets that import nothing heavy."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import psutil
import pytest

from workbench.base import processors, scratch
from workbench.base.errors import Cancelled, JobFailed
from workbench.base.process_start import TELEMETRY_OFF
from workbench.base.watch import Watch
from workbench.jobs import steps, threads
from workbench.jobs.events import Finished, Output, Queued, Started, recorded
from workbench.jobs.process import Grace
from workbench.jobs.queue import Queue
from workbench.jobs.spec import JobSpec

pytestmark = pytest.mark.process
HERE = Path(__file__).parent
QUICK = Grace(stop=0.5, stop_limit=1.0, cancel=0.5, kill=1.0)


@pytest.fixture(autouse=True)
def targets(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(HERE))


@pytest.fixture
def queue():
    queue = Queue(grace=QUICK)
    yield queue
    queue.close(keep=False)


def spec(target, tmp_path, /, device="cpu", **params):
    return JobSpec(f"job_targets:{target}", params, str(tmp_path / target), device=device)


def until_text(queue, job, kind="step"):
    assert queue.dispatch.wait(
        lambda: any(
            isinstance(event, Output) and event.payload["kind"] == kind for event in job.events
        ),
        20,
    )


def records(folder):
    return [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]


def alive(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_job_reports_its_steps_and_ends_with_its_result(queue, tmp_path):
    heard = []
    queue.changed.connect(lambda job, event: heard.append(type(event)))

    job = queue.add(spec("counts", tmp_path, total=3))

    assert queue.wait(job, 20)
    assert (job.status, job.result, job.progress["step"]) == ("done", {"steps": 3}, 3)
    assert heard[0] is Queued and heard[1] is Started and heard[-1] is Finished
    assert records(job.folder)[-1] == {
        "type": "finished",
        "status": "done",
        "result": {"steps": 3},
        "message": "",
        "hint": "",
        "details": "",
    }
    assert json.loads((job.folder / "result.json").read_text())["result"] == {"steps": 3}


def test_every_step_arrives_in_at_most_ten_messages_a_second(queue, tmp_path):
    messages = []
    queue.changed.connect(lambda _job, event: messages.append(event))
    begun = time.monotonic()

    job = queue.add(spec("counts", tmp_path, total=300, pause=0.002))
    assert queue.wait(job, 30)

    sent = [
        message
        for message in messages
        if isinstance(message, Output) and message.payload["kind"] == "step"
    ]
    assert len(sent) <= 10 * (time.monotonic() - begun) + 2
    for events in (sent, job.events, recorded(job.folder / "events.jsonl")):
        assert every_step(events) == list(range(1, 301))
    assert job.progress["step"] == 300 and "earlier" not in job.progress


def every_step(output):
    payloads = [message.payload for message in output if isinstance(message, Output)]
    return [
        n for payload in payloads if payload["kind"] == "step" for n in steps.curves(payload)[0]
    ]


def test_stop_keeps_the_best(queue, tmp_path):
    job = queue.add(spec("counts", tmp_path, total=1000, pause=0.02))
    until_text(queue, job)

    job.stop()

    assert queue.wait(job, 20)
    assert job.status == "stopped"
    assert (job.folder / "best.txt").read_text() == str(job.result["steps"])


def test_cancel_closes_the_target_and_nothing_is_written(queue, tmp_path):
    job = queue.add(spec("counts", tmp_path, total=1000, pause=0.02))
    until_text(queue, job)

    job.cancel()

    assert queue.wait(job, 20)
    assert job.status == "cancelled"
    assert not (job.folder / "best.txt").exists()


def test_cancel_after_stop_still_discards(queue, tmp_path):
    job = queue.add(spec("hangs", tmp_path))
    until_text(queue, job, "tick")

    job.stop()
    job.cancel()

    assert queue.wait(job, 20)
    assert job.status == "cancelled"


def test_an_exception_ends_the_job_with_message_and_traceback(queue, tmp_path):
    job = queue.add(spec("fails", tmp_path))

    assert queue.wait(job, 20)
    assert (job.status, job.message) == ("failed", "ValueError: row 7 is odd")
    assert "Traceback" in job.details and "Traceback" in job.log_file.read_text()


def test_a_message_meant_for_a_person_keeps_its_hint(queue, tmp_path):
    job = queue.add(spec("refuses", tmp_path))

    assert queue.wait(job, 20)
    assert (job.status, job.message, job.hint) == (
        "failed",
        "Layer 'x' is empty.",
        "Label something.",
    )


@pytest.mark.parametrize("torch", [False, True])
def test_lack_of_memory_has_an_ending_of_its_own(queue, tmp_path, torch):
    job = queue.add(spec("runs_out_of_memory", tmp_path, torch=torch))

    assert queue.wait(job, 20)
    assert job.status == "out_of_memory"
    assert "memory" in job.message and "smaller batch" in job.hint


@pytest.mark.skipif(sys.platform == "win32", reason="return codes of signals")
def test_a_segmentation_fault_is_reported_with_return_code_and_the_end_of_the_log(queue, tmp_path):
    job = queue.add(spec("segfaults", tmp_path))
    after = queue.add(JobSpec("job_targets:counts", {}, str(tmp_path / "after")))

    assert queue.wait(after, 30)
    assert job.status == "crashed"
    assert "-11 (SIGSEGV)" in job.message
    assert "last words" in job.details
    assert json.loads((job.folder / "result.json").read_text())["status"] == "crashed"
    assert after.status == "done"  # the queue goes on


def test_a_silent_target_is_ended_and_the_line_that_it_was_running_is_told(queue, tmp_path):
    job = queue.add(replace(spec("hangs", tmp_path), silent=0.2))

    assert queue.wait(job, 20)
    assert job.status == "crashed" and "no progress for 0.2 s" in job.message
    assert 'job_targets.py", line' in job.details and "in hangs" in job.details


def test_a_target_that_calls_exit_is_a_failure_and_no_silence(queue, tmp_path):
    job = queue.add(spec("leaves", tmp_path))

    assert queue.wait(job, 20)
    assert (job.status, job.message) == ("failed", "SystemExit: 3")


def test_a_child_that_ignores_stop_is_ended_after_the_grace_time(queue, tmp_path):
    job = queue.add(spec("ignores_stop", tmp_path))
    until_text(queue, job, "tick")

    job.stop()

    assert queue.wait(job, 20)
    assert job.status == "crashed"
    assert "did not stop in time" in job.message


def test_a_child_that_hangs_is_killed_on_cancel_with_what_it_started(queue, tmp_path):
    job = queue.add(spec("has_child", tmp_path))
    until_text(queue, job, "child")
    grandchild = next(event.payload["pid"] for event in job.events if isinstance(event, Output))

    job.cancel()

    assert queue.wait(job, 20)
    assert job.status == "cancelled"
    assert queue.dispatch.wait(lambda: not alive(grandchild), 10)


def test_a_stray_print_goes_to_the_log_and_not_into_the_channel(queue, tmp_path):
    job = queue.add(spec("prints", tmp_path))

    assert queue.wait(job, 20)
    assert (job.status, job.result) == ("done", {"ok": True})
    assert '"status": "failed"' in job.log_file.read_text()


def test_jobs_of_one_device_run_one_after_the_other_and_others_at_once(queue, tmp_path):
    first = queue.add(spec("ignores_stop", tmp_path))
    second = queue.add(JobSpec("job_targets:counts", {}, str(tmp_path / "second"), device="cpu"))
    free = queue.add(JobSpec("job_targets:counts", {}, str(tmp_path / "free"), device=""))

    assert queue.wait(free, 20)
    assert (first.status, second.status) == ("running", "waiting")

    first.cancel()
    assert queue.wait(second, 20)
    assert second.status == "done"


def test_a_waiting_job_is_cancelled_without_ever_starting(queue, tmp_path):
    first = queue.add(spec("ignores_stop", tmp_path))
    second = queue.add(JobSpec("job_targets:counts", {}, str(tmp_path / "second")))

    second.stop()

    assert second.status == "cancelled"
    assert first.status == "running"
    assert not (second.folder / "events.jsonl").exists()


def test_temporary_folders_that_a_job_reads_go_with_the_last_event(queue, tmp_path):
    texts = scratch.make("texts")
    job = queue.add(replace(spec("counts", tmp_path), scratch=(str(texts),)))
    assert texts.is_dir()

    queue.wait(job, 20)

    assert job.status == "done" and not texts.exists()


def test_a_temporary_folder_goes_with_the_last_event(queue, tmp_path):
    job = queue.add(JobSpec("job_targets:counts", {}))
    seen = []
    job.changed.connect(
        lambda event: seen.append(job.folder.exists()) if isinstance(event, Finished) else None
    )

    assert queue.wait(job, 20)
    assert seen == [True]
    assert not job.folder.exists()


def test_a_worker_is_offline_low_in_priority_and_light(queue, tmp_path):
    wanted = {"EXTRA": "yes", "ORT_DISABLE_TELEMETRY": "0"}
    job = queue.add(JobSpec("job_targets:environment", {}, str(tmp_path / "e"), env=wanted))

    assert queue.wait(job, 20)
    assert job.result["nice"] >= 10
    assert job.result["heavy"] == []
    assert (job.result["HF_HUB_OFFLINE"], job.result["EXTRA"]) == ("1", "yes")
    assert {name: job.result[name] for name in TELEMETRY_OFF} == TELEMETRY_OFF
    assert int(job.result["OMP_NUM_THREADS"]) >= 1


@pytest.mark.skipif(not hasattr(os, "nice"), reason="priorities are those of POSIX")
def test_a_job_in_the_foreground_has_the_priority_of_the_application(queue, tmp_path):
    job = queue.add(replace(spec("environment", tmp_path), foreground=True))

    assert queue.wait(job, 20)
    assert job.result["nice"] == os.nice(0)


@pytest.mark.skipif(not hasattr(os, "nice"), reason="priorities are those of POSIX")
def test_a_job_in_the_background_has_a_lower_priority_than_others(queue, tmp_path):
    job = queue.add(replace(spec("environment", tmp_path), background=True))

    assert queue.wait(job, 20)
    assert job.result["nice"] == 19


def test_a_short_job_beside_a_long_one_gets_its_part_of_the_threads(queue, tmp_path, monkeypatch):
    monkeypatch.setattr(processors, "physical_cores", lambda: 8)
    long = queue.add(spec("counts", tmp_path, total=1000, pause=0.05))
    until_text(queue, long)

    short = queue.add(replace(spec("environment", tmp_path), short=True))
    assert queue.wait(short, 20) and long.status == "running"
    assert short.result["OMP_NUM_THREADS"] == "2"
    alone = queue.add(replace(spec("environment", tmp_path / "again", device="other"), short=True))
    assert queue.wait(alone, 20) and alone.spec.threads == 0


def test_closing_the_queue_stops_running_jobs_and_reports_their_ends(tmp_path):
    queue = Queue(grace=QUICK)
    running = queue.add(spec("counts", tmp_path, total=1000, pause=0.02))
    waiting = queue.add(JobSpec("job_targets:counts", {}, str(tmp_path / "second")))
    until_text(queue, running)

    queue.close()

    assert (running.status, waiting.status) == ("stopped", "cancelled")
    with pytest.raises(JobFailed):
        queue.add(spec("counts", tmp_path))


def test_a_folder_that_cannot_be_written_is_reported_at_once(queue, tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(JobFailed, match="cannot be written"):
        queue.add(JobSpec("job_targets:counts", {}, str(tmp_path / "file" / "below")))


def test_the_same_job_by_hand_gives_the_same_result(tmp_path):
    JobSpec("job_targets:counts", {"total": 4}).write(tmp_path / "job.json")

    done = subprocess.run(
        [sys.executable, "-m", "workbench", "worker", str(tmp_path)],
        stdin=subprocess.PIPE,
        capture_output=True,
        text=True,
        timeout=30,
        cwd=HERE.parents[1],
    )

    lines = [json.loads(line) for line in done.stdout.splitlines()]
    # standard input ends at once here, which counts as stop
    assert lines[-1]["status"] in ("done", "interrupted")
    assert lines == records(tmp_path)


PARENT = """
import sys
from workbench.jobs.queue import Queue
from workbench.jobs.spec import JobSpec
queue = Queue()
job = queue.add(JobSpec("job_targets:counts", {"total": 100000, "pause": 0.02}, sys.argv[1]))
queue.dispatch.wait(lambda: bool(job.progress), 20)
print(job.pid, flush=True)
queue.wait(job)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_when_the_parent_is_killed_the_worker_keeps_its_best_and_ends(tmp_path):
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path / "run")],
        stdout=subprocess.PIPE,
        text=True,
        cwd=HERE.parents[1],
    )
    worker = psutil.Process(int(parent.stdout.readline()))

    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()

    worker.wait(20)
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert result["status"] == "interrupted" and result["result"]
    assert (tmp_path / "run" / "best.txt").exists()
    assert records(tmp_path / "run")[-1]["status"] == "interrupted"


SCRATCH_PARENT = """
import sys
sys.path.insert(0, "tests/jobs")
from workbench.jobs.host import Host
from workbench.jobs.queue import Queue
from workbench.jobs.spec import JobSpec
if sys.argv[1] == "host":
    owner = Host(JobSpec("job_targets:doubler"))
    owner.ask_now({"value": 1})
else:
    queue = Queue()
    owner = queue.add(JobSpec("job_targets:" + sys.argv[1]))
    queue.dispatch.wait(lambda: owner.progress)
print(owner.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
@pytest.mark.parametrize("kind", ["ignores_stop", "hangs", "host"])
def test_when_the_parent_is_killed_the_worker_deletes_its_temporary_folder(kind):
    parent = subprocess.Popen(
        [sys.executable, "-c", SCRATCH_PARENT, kind],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=HERE.parents[1],
    )
    worker = psutil.Process(int(parent.stdout.readline()))
    assert any(scratch.root().rglob("*.json"))

    parent.kill()
    parent.wait()

    worker.wait(30)
    assert list(scratch.root().iterdir()) == []
    parent.stdin.close()
    parent.stdout.close()


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_killed_worker_is_a_crash(queue, tmp_path):
    job = queue.add(spec("ignores_stop", tmp_path))
    until_text(queue, job, "tick")

    os.kill(job.pid, signal.SIGKILL)

    assert queue.wait(job, 20)
    assert job.status == "crashed"
    assert "SIGKILL" in job.message


def test_wait_without_a_mailbox_is_refused():
    queue = Queue(dispatch=lambda fn: fn())

    with pytest.raises(RuntimeError, match="event loop"):
        queue.wait(None)


def test_run_waits_for_a_job_and_forwards_what_it_reports(queue, tmp_path):
    told = []

    result = queue.run(spec("counts", tmp_path, total=3), Watch(on_event=told.append))

    assert result == {"steps": 3}
    assert [payload["step"] for payload in told if payload["kind"] == "step"][-1] == 3


def test_a_wait_reports_only_progress_that_is_new(queue, tmp_path):
    shares = []

    queue.run(spec("counts", tmp_path, total=2, pause=0.4), Watch(shares.append))

    assert 1.0 in shares and len(shares) <= 8


def test_run_raises_what_the_worker_reports(queue, tmp_path):
    with pytest.raises(JobFailed) as caught:
        queue.run(spec("fails", tmp_path))

    assert caught.value.message and "Traceback" in caught.value.details


def test_begin_returns_a_job_that_goes_on_once_it_is_ready(queue, tmp_path):
    job = queue.begin(replace(spec("goes_on", tmp_path), stoppable=True), "ready")

    assert job.status == "running" and not job.over
    job.stop()
    assert queue.wait(job, 20)
    assert (job.status, job.result) == ("stopped", {"stopped": True})
    assert [line["type"] for line in records(job.folder)] == ["started", "output", "finished"]


def test_begin_raises_the_failure_of_a_job_that_is_never_ready(queue, tmp_path):
    with pytest.raises(JobFailed, match="is empty"):
        queue.begin(spec("refuses", tmp_path), "ready")


def test_run_cancels_the_job_of_a_cancelled_watch(queue, tmp_path):
    watch = Watch(on_event=lambda _payload: watch.cancel())

    with pytest.raises(Cancelled):
        queue.run(spec("counts", tmp_path, total=1000, pause=0.02), watch)

    assert queue.jobs[0].status == "cancelled"


def test_an_interrupted_wait_cancels_the_job(queue, tmp_path):
    job = queue.add(spec("counts", tmp_path, total=1000, pause=0.02))
    interrupts = iter((KeyboardInterrupt,))

    def interrupt(_share):
        for error in interrupts:
            raise error

    with pytest.raises(KeyboardInterrupt):
        queue.result(job, Watch(interrupt))

    assert job.status == "cancelled"


def test_a_job_that_is_forgotten_is_not_listed_however_it_ends(queue, tmp_path):
    got, failing = [], spec("fails", tmp_path)

    with pytest.raises(JobFailed):
        queue.run(failing, forget=True)
    assert queue.jobs == ()

    work = partial(queue.run, failing, forget=True)
    threads.run(work, lambda _result, error: got.append(error), dispatch=queue.dispatch)
    assert queue.dispatch.wait(lambda: bool(got), 20) and queue.jobs == ()


def test_run_in_a_task_adds_its_job_on_the_main_thread(queue, tmp_path):
    got, where = [], []
    queue.changed.connect(lambda _job, _event: where.append(threading.current_thread()))
    work = partial(queue.run, spec("counts", tmp_path, total=3))

    threads.run(work, lambda *given: got.append(given), dispatch=queue.dispatch)

    assert queue.dispatch.wait(lambda: bool(got), 20)
    assert got == [({"steps": 3}, None)] and set(where) == {threading.main_thread()}


def test_a_task_cancels_the_job_that_it_waits_for(queue, tmp_path):
    got, watch = [], Watch(on_event=lambda _payload: watch.cancel())
    work = partial(queue.run, spec("counts", tmp_path, total=1000, pause=0.02), watch)

    threads.run(work, lambda _result, error: got.append(error), dispatch=queue.dispatch)

    assert queue.dispatch.wait(lambda: bool(got), 20)
    assert isinstance(got[0], Cancelled) and queue.jobs[0].status == "cancelled"


def test_tasks_that_wait_for_jobs_leave_the_threads_to_those_that_compute(queue, tmp_path):
    got, ended, watch = [], [], Watch()
    long = spec("counts", tmp_path, total=1000, pause=0.02)
    for _number in range(threads.SIZE + 1):
        work = partial(queue.run, replace(long, folder=""), watch)
        threads.run(work, lambda _result, error: ended.append(error), dispatch=queue.dispatch)
    assert queue.dispatch.wait(lambda: len(queue.jobs) == threads.SIZE + 1, 20)

    threads.run(lambda: "computed", lambda *given: got.append(given), dispatch=queue.dispatch)

    assert queue.dispatch.wait(lambda: bool(got), 20) and not ended
    watch.cancel()
    assert queue.dispatch.wait(lambda: len(ended) == threads.SIZE + 1 and threads.idle(), 20)
    alive = [thread for thread in threading.enumerate() if thread.name.startswith(threads.NAME)]
    assert len(alive) <= threads.SIZE


def test_run_on_the_thread_of_an_event_loop_is_refused():
    with pytest.raises(RuntimeError, match="event loop"):
        Queue(dispatch=lambda act: act()).run(JobSpec("job_targets:counts"))
