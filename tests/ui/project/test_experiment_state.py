"""How a page waits for the runs of an experiment. No window, no worker."""

from dataclasses import replace

import pytest

from tests import panel_tasks
from tests.operations.conftest import STARTER, HeldQueue
from workbench.base.settings import Settings
from workbench.base.watch import QUIET
from workbench.operations.experiments.experiment import Cell, Experiment
from workbench.operations.runs import run_recorder
from workbench.project.project import Project
from workbench.training.spec import TrainSpec
from workbench.ui.project.experiment_state import ExperimentState


class RoomyQueue(HeldQueue):
    """A cluster with room for two; the test ends the jobs."""

    def run(self, spec, watch=QUIET):
        return {"places": 2}


@pytest.fixture
def context(copy_sample, tmp_path):
    project = Project.open(copy_sample(tmp_path))
    queue = RoomyQueue()
    wiring = run_recorder.wire(project, queue)
    yield panel_tasks.context(
        project=project,
        queue=queue,
        settings=Settings(),
        run=lambda work, done, failed=None: done(work()),
        commands_changed=lambda: None,
    )
    wiring.close()
    project.close()


@pytest.fixture
def state(context):
    """A state with an experiment of four seeds on a cluster, which was started."""
    state = ExperimentState(context)
    base = TrainSpec("classify", "class", STARTER, "starter-bert", 1, {"epochs": 1})
    specs = [replace(base, seed=seed) for seed in range(1, 5)]
    cells = [Cell("g", "G", "", spec.seed, "train", spec) for spec in specs]
    state.plan(lambda: Experiment(context.project, cells, task="classify"))
    state.choose_cluster("127.0.0.1")
    state.start()
    yield state
    state.close()


def end(job):
    job.start()
    job.end("done", {"scores": {"dev": {"macro_f1": 0.5}}, "seconds": 1.0})


def test_a_page_follows_every_run_that_a_cluster_computes(state, context):
    first, second = context.queue.jobs
    assert state.is_live(first) and state.is_live(second)
    second.progress = {"step": 1, "total": 2}
    second.start()
    assert [cell.fraction for cell in state.cells[:2]] == [None, 0.5]

    end(second)
    assert [cell.status for cell in state.cells] == ["running", "done", "running", "waiting"]

    for number in (0, 2, 3):
        end(context.queue.jobs[number])
    assert [cell.status for cell in state.cells] == ["done"] * 4
    assert state.work.status == "done" and len(context.queue.jobs) == 4


def test_a_run_that_ends_while_the_next_one_is_prepared_is_not_missed(state, context, monkeypatch):
    first, second = context.queue.jobs
    prepare = Experiment._prepare

    def meanwhile(*values):
        if not second.over:
            end(second)
        return prepare(*values)

    monkeypatch.setattr(Experiment, "_prepare", meanwhile)
    end(first)

    assert [cell.status for cell in state.cells] == ["done", "done", "running", "running"]
