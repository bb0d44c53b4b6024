"""Layers alone, together, and again from the model of all: which runs, and from what."""

from dataclasses import replace

import pytest

from workbench.base.errors import SpecError
from workbench.operations.experiments import experiment
from workbench.operations.experiments.multitask import Multitask
from workbench.operations.runs import results, run_recorder, train
from workbench.storage.runs import runs
from workbench.training.spec import TrainSpec

FAST = {"epochs": 1, "batch_size": 4, "device": "cpu", "precision": "fp32", "learning_rate": 0.01}


@pytest.fixture
def target(project, topics, add_layer, add_documents, tiny_model):
    add_layer("people", "span", ("PER", "LOC"))
    add_documents(
        [
            ("Ada met Bob.", split, "submitted", "people", [(0, 3, "PER"), (8, 11, "PER")])
            for split in ("train",) * 6 + ("dev",) * 2
        ]
    )
    options = {**FAST, "also": "people", "task_alpha": 0.5}
    return TrainSpec("classify", "topic", str(tiny_model), "tiny", options=options, name="both")


@pytest.fixture
def queue(project, inline_jobs):
    wiring = run_recorder.wire(project, inline_jobs)
    yield inline_jobs
    wiring.close()


def test_each_layer_is_trained_alone_together_and_again_from_the_model_of_all(
    project, target, queue
):
    work = Multitask(project, target, (1, 2))
    assert work.total == 12 and len(work.cells) == 8 and not work.complete

    experiment.run(work, queue)

    assert work.status == "done" and work.complete
    assert [row.title for row in work.rows] == [
        "topic alone", "topic together", "topic together, then alone",
        "people alone", "people together", "people together, then alone",
    ]  # fmt: skip
    assert all(len(row.first.scores) == 2 for row in work.rows)
    alone, together, tuned = (row.first.cells[1] for row in work.rows[3:])
    assert "also" not in alone.spec.options and "task_alpha" not in tuned.spec.options
    assert together.run.spec["options"]["also"] == "classify:topic"
    assert tuned.run.spec["chain"] == ["tiny", together.run.name]
    assert all(run.listing.archived for run in runs.all(project.db))
    assert len(runs.all(project.db)) == 12


def test_finished_runs_are_used_again_and_deltas_are_over_the_layer_alone(project, target, queue):
    run = train.start(project, queue, replace(target, seed=1))
    queue.wait(train.job_of(queue, project, run.id))
    first = Multitask(project, target, (1,))
    assert [cell.status for cell in first.cells if cell.series == "together"] == ["done", "done"]
    assert [cell.series for cell in first.cells][-2:] == ["tuned", "tuned"]
    experiment.run(first, queue)

    again = Multitask(project, target, (1,))

    assert all(cell.status == "done" and cell.reused for cell in again.cells)
    alone, together, _tuned = again.rows[:3]
    assert again.delta(alone) is None
    assert again.delta(together) == pytest.approx(together.first.mean - alone.first.mean)
    assert {row["score"] for row in again.report()["rows"]} == {"macro_f1", "span_f1"}
    assert results.run(project, run.id).name in {
        cell["run"] for row in again.report()["rows"] for cell in row["runs"]
    }


def test_a_run_on_one_layer_is_refused(project, target):
    single = {name: value for name, value in target.options.items() if name != "also"}
    with pytest.raises(SpecError, match="both is trained on one layer only"):
        Multitask(project, replace(target, options=single))
