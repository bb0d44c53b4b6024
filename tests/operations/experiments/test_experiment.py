"""Means, spread and gain over seeds, calculated by hand; runs of several kinds."""

from dataclasses import replace

import pytest

from tests.operations.conftest import STARTER, HeldQueue
from tests.operations.prompts.test_prompt import answer_all, spec
from workbench.base.errors import JobFailed
from workbench.base.watch import QUIET
from workbench.jobs.events import Finished
from workbench.operations.experiments.experiment import Cell, Experiment, run, to_json
from workbench.operations.runs import run_recorder
from workbench.storage.runs.runs import Listing, Run
from workbench.training.spec import TrainSpec


def cell(group, series, seed, score=None):
    made = Cell(group, group.title(), series, seed, "train", None)
    if score is not None:
        made.status, made.run = "done", finished(seed, score)
    return made


def finished(seed, score):
    result = {
        "seconds": 60.0 * seed,
        "used": {"dev": 4},
        "parameters": 1000,
        "trained_parameters": 10,
    }
    return Run(
        seed, "", f"r{seed}", "train", None, 1, "names", {}, "done", {"dev": {"span_f1": score}},
        result, {}, "", "f", "", 0, "",
    )  # fmt: skip


@pytest.fixture
def experiment(project):
    cells = [cell("no", "crf", seed, 0.5 + 0.1 * seed) for seed in (1, 2, 3)]
    cells += [cell("yes", "crf", 1, 0.85), cell("yes", "greedy", 1, 0.8)]
    return Experiment(project, cells, task="tag")


def test_a_row_has_mean_spread_gain_and_errors_removed(experiment):
    first, second = experiment.rows

    summary = first.first
    assert summary.mean == pytest.approx(0.7) and summary.sd == pytest.approx(0.1)
    assert summary.band == (pytest.approx(0.6), pytest.approx(0.8))
    assert (summary.minutes, summary.parameters, summary.trained) == (2.0, 1000, 10)
    assert first.gain is None and first.by_series["greedy"].mean is None
    assert second.gain.absolute == pytest.approx(0.15)
    assert second.gain.errors_removed == pytest.approx(0.5)
    assert second.by_series["greedy"].sd is None


def test_the_report_lists_every_run(experiment):
    raw = to_json(experiment, experiment.rows[0].first)

    assert (raw["n"], raw["low"], raw["high"]) == (3, pytest.approx(0.6), pytest.approx(0.8))
    assert [run["run"] for run in raw["runs"]] == ["r1", "r2", "r3"]


def test_the_time_left_is_that_of_finished_runs_of_the_same_group(experiment, project):
    waiting = [cell("no", "greedy", 2), cell("yes", "greedy", 2)]
    half = cell("yes", "greedy", 3)
    half.status, half.fraction = "running", 0.5
    longer = Experiment(project, [*experiment.cells, *waiting, half], task="tag")

    assert Experiment(project, waiting, task="tag").seconds_left is None
    assert longer.seconds_left == pytest.approx(120 + 60 + 30)


@pytest.fixture
def prompts(project, queue, topics):
    """prompts() → an experiment of prompts with no and two examples, two seeds each."""
    wiring = run_recorder.wire(project, queue)

    def make():
        cells = [
            Cell(str(shots), f"{shots} examples", "balanced", seed, "prompt", asked)
            for shots in (0, 2)
            for seed in (1, 2)
            for asked in [spec(shots=shots, seed=seed, layer="topic")]
        ]
        return Experiment(project, cells, task="classify")

    yield make
    wiring.close()


@pytest.mark.process  # the worker that renders templates
def test_an_experiment_of_prompts_is_cancelled_and_resumed(queue, prompts):
    first = prompts()

    def work(job):
        job.start()
        if len(queue.jobs) == 2:
            first.cancel(queue)
            job.end("cancelled")
        else:
            answer_all(job, "praise")
            job.end("done", {"n": 4, "seconds": 1.0, "language_model": "masked", "versions": {}})

    queue.worker = work
    run(first, queue)
    assert (first.status, [cell.status for cell in first.cells]) == (
        "paused",
        ["done", *["waiting"] * 3],
    )

    second = prompts()
    assert second.cells[0].reused
    run(second, queue)

    assert [cell.status for cell in second.cells] == ["done"] * 4 and len(queue.jobs) == 5
    assert [row.first.scores for row in second.rows] == [{1: 1 / 3, 2: 1 / 3}] * 2


class Growing(Experiment):
    """Adds a cell with one more example after each that has ended, up to three."""

    def more(self):
        n = len(self.cells)
        asked = spec(shots=n, order="random", layer="topic")
        listing = Listing(group="Growing", tags=(str(n),))
        return [Cell(str(n), "", "", 1, "prompt", asked, listing=listing)] if n < 3 else ()


@pytest.mark.process  # the worker that renders templates
def test_cells_are_added_while_it_runs_and_a_run_that_is_stopped_early_counts(
    project, queue, topics
):
    wiring = run_recorder.wire(project, queue)
    experiment = Growing(project, (), task="classify")

    def work(job):
        job.start()
        answer_all(job, "praise")
        if len(queue.jobs) == 2:
            experiment.stop_early(queue, *experiment.running)
        job.end(
            "stopped" if len(queue.jobs) == 2 else "done",
            {"n": 4, "seconds": 1.0, "language_model": "masked", "versions": {}},
        )

    queue.worker = work
    run(experiment, queue)
    wiring.close()

    assert experiment.status == "done"
    assert [cell.status for cell in experiment.cells] == ["done"] * 3
    assert [cell.run.status for cell in experiment.cells] == ["done", "stopped", "done"]
    assert experiment.score_of(experiment.cells[1]) == pytest.approx(1 / 3)
    assert experiment.cells[2].run.listing == Listing("Growing", ("2",))


def test_a_cell_whose_kind_cannot_be_prepared_fails_with_the_reason(project, queue):
    published = Cell("m", "M", "", 1, "published", spec())
    experiment = Experiment(project, [published], task="classify")

    run(experiment, queue)

    assert (experiment.status, published.status) == ("done", "failed")
    assert "cannot be started" in published.message


class FarQueue(HeldQueue):
    """A cluster with room for two: jobs begin when they are added, the first job that is waited for
    ends once no other can begin.
    """

    def __init__(self, places=2):
        super().__init__()
        self.places, self.most = places, 0

    def run(self, spec, watch=QUIET):
        assert spec.target == "workbench.jobs.cluster:places"
        assert spec.params == {"address": "ray://127.0.0.1:10001"}
        return {"places": self.places}

    def wait(self, job, timeout=None):
        self.most = max(self.most, sum(not job.over for job in self.jobs))
        job.start()
        job.end("done", {"scores": {"dev": {"macro_f1": 0.5}}, "seconds": 1.0})
        return True


@pytest.fixture
def trainings(project, topics):
    """trainings(n) → an experiment of so many seeds on a cluster on the loopback."""

    def make(n):
        options = {"epochs": 1, "device": "cpu"}
        base = TrainSpec("classify", "topic", STARTER, "starter-bert", 1, options)
        specs = [replace(base, seed=seed) for seed in range(1, n + 1)]
        cells = [Cell("g", "G", "", spec.seed, "train", spec) for spec in specs]
        work = Experiment(project, cells, task="classify")
        work.run_on = "127.0.0.1"
        return work

    return make


@pytest.fixture
def far(project):
    queue = FarQueue()
    wiring = run_recorder.wire(project, queue)
    yield queue
    wiring.close()


def test_as_many_runs_are_computed_on_a_cluster_as_it_has_room_for(far, trainings):
    work = trainings(5)

    run(work, far)

    assert (work.status, far.most, len(far.jobs)) == ("done", 2, 5)
    assert [cell.status for cell in work.cells] == ["done"] * 5
    assert {job.spec.run_on for job in far.jobs} == {"ray://127.0.0.1:10001"}
    assert len({cell.run.id for cell in work.cells}) == 5


@pytest.mark.parametrize(("at_once", "run_on", "most"), [(3, "127.0.0.1", 3), (3, "", 1)])
def test_fewer_or_more_runs_at_a_time_can_be_asked_for_on_a_cluster_only(
    far, trainings, at_once, run_on, most
):
    work = trainings(4)
    work.run_on, work.at_once = run_on, at_once

    run(work, far)

    assert (work.status, far.most) == ("done", most)


def test_all_runs_that_are_computed_end_before_an_experiment_pauses(far, trainings):
    work = trainings(5)
    steps = work.steps(far)
    answer, step = None, None
    while not isinstance(step, tuple) or len(step) < 2:
        step = steps.send(answer)
        answer = step() if callable(step) else None
    first, second = step

    work.pause()
    assert [item.id for item in steps.send((second, ended_well(far, 1)))] == [first.id]
    assert work.status == "pausing" and work.cells[0].status == "running"
    with pytest.raises(StopIteration):
        steps.send((first, ended_well(far, 0)))

    assert work.status == "paused"
    assert [cell.status for cell in work.cells] == ["done"] * 2 + ["waiting"] * 3


def ended_well(queue, number):
    job = queue.jobs[number]
    queue.wait(job)
    return Finished(job.status, job.result)


def test_cancel_ends_every_run_that_is_computed(far, trainings, monkeypatch):
    work = trainings(5)

    def cancel(job, _timeout=None):
        if work.status == "running":
            work.cancel(far)
        assert job.asked == "cancel"
        job.end("cancelled")
        return True

    monkeypatch.setattr(far, "wait", cancel)
    run(work, far)

    assert (work.status, len(far.jobs)) == ("paused", 2)
    assert [cell.status for cell in work.cells] == ["waiting"] * 5


def test_a_cluster_that_cannot_be_used_pauses_with_the_reason(far, trainings, monkeypatch):
    def run_job(_spec, _watch=QUIET):
        raise JobFailed("Ray is not installed.")

    monkeypatch.setattr(far, "run", run_job)
    work = trainings(2)
    run(work, far)

    assert (work.status, work.error, far.jobs) == ("paused", "Ray is not installed.", ())
