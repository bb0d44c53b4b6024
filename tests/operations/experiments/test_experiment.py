"""Means, spread and gain over seeds, calculated by hand; runs of several kinds."""

import pytest

from tests.operations.prompts.test_prompt import answer_all, spec
from workbench.operations.experiments.experiment import Cell, Experiment, run, to_json
from workbench.operations.runs import run_recorder
from workbench.storage.runs.runs import Run


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


def test_a_cell_whose_kind_cannot_be_prepared_fails_with_the_reason(project, queue):
    published = Cell("m", "M", "", 1, "published", spec())
    experiment = Experiment(project, [published], task="classify")

    run(experiment, queue)

    assert (experiment.status, published.status) == ("done", "failed")
    assert "cannot be started" in published.message
