"""Sessions are made in the background after a training, and after a prediction without one."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from workbench.base.settings import Settings
from workbench.jobs.spec import JobSpec
from workbench.operations.runs import sessions


class Jobs:
    """A queue that starts nothing."""

    def __init__(self):
        self.jobs, self.spare, self.ahead = [], self, ()

    def load_ahead(self, target, argument):
        self.ahead = target, argument

    def add(self, spec):
        self.jobs.append(SimpleNamespace(spec=spec, over=False))


def job(tmp_path, *, purpose="train", status="done", **result):
    params = {"run": {"purpose": purpose}, "model": str(tmp_path / "other" / "model")}
    spec = JobSpec("x:y", params, str(tmp_path / "run"), name="a run")
    return SimpleNamespace(spec=spec, status=status, result=result, folder=tmp_path / "run")


def test_a_training_that_has_ended_gets_a_session_nobody_waits_for(tmp_path):
    queue = Jobs()

    sessions.ended(queue, job(tmp_path), Settings())

    (added,) = queue.jobs
    assert added.spec.params["model"] == str(tmp_path / "run" / "model")
    assert (added.spec.device, added.spec.background, added.spec.forget) == ("cpu", True, True)


def test_so_does_a_run_that_has_predicted_without_one(tmp_path):
    queue = Jobs()

    sessions.ended(queue, job(tmp_path, purpose="predict", session_missing=True), Settings())

    assert queue.jobs[0].spec.params["model"] == str(tmp_path / "other" / "model")


def test_a_session_that_was_used_is_loaded_by_the_next_spare_worker(tmp_path):
    queue = Jobs()

    sessions.ended(queue, job(tmp_path, purpose="predict", with_session=True), Settings())

    assert queue.ahead == (sessions.AHEAD, str(tmp_path / "other" / "model"))
    assert queue.jobs == []


def test_one_job_makes_the_session_of_a_model(tmp_path):
    queue = Jobs()

    for _time in range(2):
        sessions.ended(queue, job(tmp_path), Settings())

    assert len(queue.jobs) == 1


@pytest.mark.parametrize(
    ("changes", "user"),
    [
        ({"status": "failed"}, {}),
        ({"purpose": "predict"}, {}),
        ({"purpose": "baseline"}, {}),
        ({}, {"sessions": False}),
        ({}, {"device": "cuda"}),
    ],
)
def test_no_session_is_made_that_would_not_be_used(tmp_path, changes, user):
    queue, settings = Jobs(), replace(Settings(), **user)
    settings.save()

    sessions.ended(queue, job(tmp_path, **changes), settings)

    assert queue.jobs == []
