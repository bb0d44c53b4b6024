"""A new run has a row, a folder and a job, or leaves nothing behind."""

from pathlib import Path

import pytest

from workbench.base import paths
from workbench.base.errors import JobFailed, WorkbenchError
from workbench.jobs.spec import JobSpec
from workbench.operations.runs import new_runs
from workbench.storage.runs import runs


def job(folder, about):
    return JobSpec("target", {"run": about}, str(folder))


def test_the_job_of_a_run_knows_it_and_works_in_its_folder(project, queue):
    run = new_runs.queued(project, queue, "train", "first", job)

    (added,) = queue.jobs
    assert added.spec.params["run"] == {"project": project.uid, "id": run.id, "purpose": "train"}
    assert Path(added.spec.folder) == paths.run_folder(project.path, run.id)
    assert Path(added.spec.folder).is_dir()


@pytest.mark.parametrize("error", [OSError(28, "No space left"), JobFailed("The queue is closed")])
def test_a_run_whose_job_cannot_be_added_leaves_nothing(project, queue, error):
    def fails(folder, _about):
        raise error

    with pytest.raises(WorkbenchError, match="No space left|queue is closed"):
        new_runs.queued(project, queue, "train", "first", fails)

    assert runs.all(project.db) == () and queue.jobs == ()
    assert not paths.run_folder(project.path, 1).exists()
