"""Which jobs run at the same time: the rule by itself, and in a queue that starts no process."""

import json
from dataclasses import dataclass

import pytest

from tests.inline import InlineQueue
from workbench.jobs import events, turns
from workbench.jobs.spec import JobSpec


class StillQueue(InlineQueue):
    """Jobs start and go on until `end` is called."""

    def _start(self, job):
        job.status = "running"
        self._tell(job, events.Started(1, "2000-01-01T00:00:00+00:00"))

    def end(self, job):
        self._over(job, events.Finished("done"))


@pytest.fixture
def queue():
    made = StillQueue()
    yield made
    made.close()


def long(queue, name, device="cpu"):
    return queue.add(JobSpec("t:t", device=device, title=f"Train {name}", name=name))


def short(queue, name="Predict", device="cpu"):
    return queue.add(JobSpec("t:t", device=device, title=name, short=True))


@dataclass
class Placed:
    spec: JobSpec
    first: bool = False


def placed(*, device="cpu", short=False, first=False, background=False):
    return Placed(JobSpec("t:t", device=device, short=short, background=background), first)


def test_a_job_waits_for_what_runs_on_its_device_alone():
    here, there, nowhere = placed(), placed(device="cuda"), placed(device="")

    assert turns.in_the_way(placed(), [here, there, nowhere]) == (here,)
    assert turns.in_the_way(placed(device=""), [here, nowhere]) == ()


def test_on_the_cpu_a_short_job_waits_for_short_ones_alone_and_on_an_accelerator_for_all():
    training, prediction = placed(), placed(short=True)
    there = placed(device="cuda")

    assert turns.in_the_way(placed(short=True), [training, prediction]) == (prediction,)
    assert turns.in_the_way(placed(short=True, device="cuda"), [there]) == (there,)
    assert turns.in_the_way(placed(short=True, device="cuda", first=True), [there]) == ()


@pytest.mark.parametrize(("cores", "threads"), [(1, 1), (2, 1), (4, 1), (8, 2), (32, 8)])
def test_a_job_beside_another_on_the_cpu_gets_a_quarter_of_the_threads(cores, threads):
    assert turns.threads_beside(placed(short=True), [placed()], cores) == threads
    assert turns.threads_beside(placed(), [], cores) == 0
    assert turns.threads_beside(placed(device="cuda"), [placed(device="cuda")], cores) == 0


def test_a_prediction_runs_beside_a_training_with_few_threads(queue):
    training, prediction = long(queue, "first"), short(queue)

    assert training.status == prediction.status == "running"
    written = json.loads((prediction.folder / "job.json").read_text())
    assert written["threads"] == prediction.spec.threads >= 1
    assert training.spec.threads == 0


def test_a_waiting_job_says_for_which_run_it_waits_and_when_that_changes(queue):
    first, second, third = long(queue, "first"), long(queue, "second"), long(queue, "third")
    assert (first.behind, second.behind, third.behind) == ("", "first", "first")
    heard = []
    third.changed.connect(heard.append)

    queue.end(first)
    assert third.behind == "second" and heard == [events.Queued("second")]
    queue.end(second)
    assert third.status == "running" and third.behind == ""


def test_a_prediction_behind_a_training_on_an_accelerator_can_begin_beside_it(queue):
    long(queue, "first", "cuda")
    prediction = short(queue, device="cuda")
    assert prediction.behind == "first" and prediction.can_run_first

    prediction.run_first()
    assert prediction.status == "running" and not prediction.can_run_first
    assert prediction.spec.threads == 0


def test_a_training_that_goes_first_is_the_next_one(queue):
    first, second, third = (long(queue, name) for name in ("first", "second", "third"))
    assert not first.can_run_first and not second.can_run_first and third.can_run_first

    third.run_first()
    assert second.behind == "first" and not third.can_run_first and second.can_run_first
    queue.end(first)
    assert third.status == "running" and second.behind == "third"


def test_predictions_do_not_keep_a_training_from_its_turn(queue):
    job = short(queue)
    training, another = long(queue, "first"), short(queue, "Another")
    assert training.behind == "Predict" and another.behind == "Predict"

    queue.end(job)
    assert training.status == "running" and another.status == "running"


def test_no_other_job_waits_for_one_in_the_background_on_the_cpu_or_shares_threads_with_it():
    behind, prediction = placed(short=True, background=True), placed(short=True)

    assert turns.in_the_way(placed(), [behind]) == ()
    assert turns.in_the_way(prediction, [behind]) == ()
    assert turns.in_the_way(behind, [prediction, placed()]) == (prediction,)
    assert turns.threads_beside(placed(), [behind], 8) == 0
    assert turns.threads_beside(behind, [placed()], 8) == 2
    there = placed(short=True, background=True, device="cuda")
    assert turns.in_the_way(placed(device="cuda"), [there]) == (there,)
