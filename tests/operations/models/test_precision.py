"""What a worker measured is kept in the user's settings and given to the next training."""

import os

from workbench.base import settings
from workbench.jobs.spec import JobSpec
from workbench.operations.models import precision


def reports(params, folder):
    """Job target: a measurement among other events."""
    yield {"kind": "log", "line": "x"}
    yield {"kind": "precision_trial", "key": params["key"], "speedup": params["speedup"]}
    return {}


def remembering(queue, user):
    return queue.changed.connect(lambda _job, event: precision.remember(event, user))


def report(queue, key, speedup):
    spec = JobSpec(f"{__name__}:reports", {"key": key, "speedup": speedup}, device="")
    queue.wait(queue.add(spec))


def test_a_measurement_goes_into_the_settings_and_the_latest_counts(inline_jobs):
    drop = remembering(inline_jobs, settings.load())

    report(inline_jobs, "cpu a", 0.4)
    report(inline_jobs, "cpu b", 3)
    report(inline_jobs, "cpu a", 0.5)
    drop()
    report(inline_jobs, "cpu c", 1.0)

    assert precision.known() == {"cpu a": 0.5, "cpu b": 3.0}


def test_settings_that_cannot_be_written_do_not_end_the_job(inline_jobs):
    user = settings.Settings()
    user.path.parent.parent.mkdir(parents=True, exist_ok=True)
    user.path.parent.write_text("a file in the place of the folder")
    remembering(inline_jobs, user)

    report(inline_jobs, "cpu", 2.0)

    assert inline_jobs.jobs[0].status == "done" and user.precision_trials == {"cpu": 2.0}
    os.unlink(user.path.parent)


def test_only_so_many_measurements_are_kept(inline_jobs, monkeypatch):
    monkeypatch.setattr(precision, "MAX_TRIALS", 2)
    remembering(inline_jobs, settings.load())

    for number in range(4):
        report(inline_jobs, f"cpu {number}", 1.0)

    assert list(precision.known()) == ["cpu 2", "cpu 3"]
