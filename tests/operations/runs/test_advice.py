"""What a finished training suggests next: from curves and baselines of known scores."""

import json
from dataclasses import replace

import pytest

from workbench.base import paths
from workbench.operations.runs import advice, baselines, rerun, results, run_recorder
from workbench.operations.runs.advice import rise
from workbench.operations.runs.kinds import contract as kinds
from workbench.storage.runs import runs
from workbench.tasks.spec import score_title


@pytest.fixture
def folder(project, trained, queue):
    """The folder of the run, with its job; its curve is level."""
    folder = paths.run_folder(project.path, trained.id)
    queue.jobs[0].spec.write(folder / "job.json")
    return folder


def write_curve(folder, *values):
    """Evaluations of a training of one step each."""
    rows = [{"kind": "step", "step": 1, "losses": {"task": 1.0}}]
    rows += [
        {"kind": "evaluated", "split": "dev", "step": step, "scores": {"macro_f1": value}}
        for step, value in enumerate(values, 1)
    ]
    text = "".join(json.dumps({"type": "output", "payload": row}) + "\n" for row in rows)
    (folder / "events.jsonl").write_text(text, encoding="utf-8")


def text(_name, value):
    return f"{value:.2f}"


def test_a_rising_curve_suggests_twice_the_epochs(project, trained, folder):
    write_curve(folder, 0.1, 0.2, 0.3, 0.9)  # of 4 dev documents: the error at 0.3 is 0.24

    found = advice.advice(project, trained).rising

    assert (found.before, found.last) == (0.2, 0.9)
    assert found.epochs == rerun.more_epochs(trained)
    assert found.sentence(text) == (
        f"{score_title('macro_f1')} on dev was still rising when the training ended: "
        "0.20 → 0.90 in its last third."
    )
    write_curve(folder, 0.1, 0.5, 0.7, 0.7)
    assert advice.advice(project, trained).rising is None
    write_curve(folder, 0.1, 0.2, 0.3, 0.9)
    assert advice.advice(project, replace(trained, status="stopped")) == advice.Advice()


def test_twice_the_epochs_are_those_of_the_plan_and_end_at_the_limit(project, trained):
    plan = {
        "epochs": 7, "batch_size": 8, "learning_rate": 1e-4, "max_length": 64,
        "steps_per_epoch": 2, "evaluate_every": 2, "best_by": "macro_f1",
    }  # fmt: skip
    ran = replace(trained, spec={**trained.spec, "resolved": plan})
    assert rerun.more_epochs(ran) == 14
    ran = replace(trained, spec={**trained.spec, "resolved": {**plan, "epochs": 800}})
    assert rerun.more_epochs(ran) == 1000

    prepared = rerun.prepare(project, trained, longer=True)

    assert prepared.spec.option("epochs") == rerun.more_epochs(trained)


def test_quick_baselines_are_measured_once_and_are_no_runs(project, trained, folder, inline_jobs):
    with project.write():
        runs.update(project.db, trained.id, scores={"dev": {"macro_f1": 0.1}})
    run = results.run(project, trained.id)
    unmeasured = advice.advice(project, run).unmeasured
    assert unmeasured == ("majority", "svm")

    found = advice.measure(project, inline_jobs, run, unmeasured)

    assert found == advice.advice(project, run) and found.unmeasured == ()
    assert (found.below.own, found.below.run) == (0.1, None)
    assert 0.1 < found.below.value <= 1
    assert "--model baseline:" in found.below.hint
    assert [run.name for run in results.all_runs(project)] == ["first"]


def test_a_baseline_that_is_a_run_is_named_and_one_that_is_worse_is_not(
    project, trained, folder, inline_jobs
):
    wiring = run_recorder.wire(project, inline_jobs)
    kinds.start(project, inline_jobs, baselines.prepare(project, "majority", "classify"))
    inline_jobs.wait(inline_jobs.jobs[-1])
    wiring.close()
    low = replace(trained, scores={"dev": {"macro_f1": 0.2}})  # the majority of 2 + 2 has 1/3

    found = advice.advice(project, low)

    assert found.unmeasured == ("svm",)
    assert found.below.value == pytest.approx(1 / 3)
    assert found.below.run.spec["baseline"] == "majority"
    assert found.below.run.name in found.below.hint
    assert "0.33" in found.below.sentence(text) and "0.20" in found.below.sentence(text)
    assert advice.advice(project, trained).below is None  # 0.7


def test_a_baseline_that_fails_is_not_tried_again(project, trained, folder, inline_jobs, queue):
    queue.worker = lambda job: job.end("failed", message="no")

    advice.measure(project, queue, trained, ("svm",))

    assert advice.advice(project, trained).unmeasured == ("majority",)


def test_baselines_are_not_measured_without_the_data_of_the_run(project, trained):
    assert advice.advice(project, trained).unmeasured == ()


def test_a_curve_whose_last_third_gained_more_than_the_noise_of_dev_is_rising():
    curve = (0.2, 0.3, 0.4, 0.5, 0.53, 0.58)

    assert rise(curve, 100) == (0.5, 0.58)
    assert rise(curve, 25) is None  # 8 points are within one standard error of 10


@pytest.mark.parametrize(
    "curve",
    [
        (0.2, 0.5, 0.7, 0.71, 0.70, 0.72),  # level: 2 points of noise
        (0.2, 0.3, 0.4, 0.5, 0.7, 0.6),  # the best is not the last
        (0.2, 0.3, 0.4, 0.5, 0.7, 0.7),  # level at the end
        (0.5, 0.6, 0.7, 0.2, 0.3, 0.71),  # back to where it was before
        (0.9,),  # one evaluation shows no direction
        (),
    ],
)
def test_other_curves_are_not_rising(curve):
    assert rise(curve, 100) is None


def test_two_evaluations_are_enough_and_a_score_of_zero_has_noise_too():
    assert rise((0.0, 0.4), 50) == (0.0, 0.4)
    assert rise((0.0, 0.05), 10) is None
    assert rise((-0.2, 0.6), 50) == (-0.2, 0.6)  # a correlation
