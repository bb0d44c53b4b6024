"""Several processes train one model as one process does: on loopback, with gloo, on the CPU."""

from pathlib import Path

import pytest
from safetensors.torch import load_file

from workbench.jobs.queue import Queue
from workbench.jobs.spec import JobSpec
from workbench.text.dataset import write
from workbench.training import loop
from workbench.training.events import Step
from workbench.training.spec import TrainSpec

# without dropout, whose masks each process draws for itself
EXACT = {
    "epochs": 2,
    "learning_rate": 1e-3,
    "device": "cpu",
    "precision": "fp32",
    "dropout": 0.0,
    "batch_size": 5,  # of 16 documents: parts of 3 and 2, and of 1 and 0 in the last batch
}


def alone(spec, data, folder):
    """The loss of each step, and the weights, of a training in this process."""
    folder.mkdir()
    steps = [event for event in loop.train(spec, data, folder) if isinstance(event, Step)]
    return [step.losses["task"] for step in steps], load_file(folder / "model/model.safetensors")


def trained(spec, data, folder, target="workbench.training.loop:run", stop_at=0, **more):
    """A training by two processes that has ended; stop_at: the step after which it is stopped."""
    folder.mkdir(exist_ok=True)
    write(folder / "data.jsonl", data.layers, data.records, ids=True)
    params = {"spec": spec.to_json(), "data": str(folder / "data.jsonl"), **more}
    queue = Queue()
    try:
        job = queue.add(JobSpec(target, params, str(folder), processes=2, stoppable=True))
        if stop_at:
            assert queue.dispatch.wait(lambda: job.progress.get("step", 0) >= stop_at, 100)
            job.stop()
        assert queue.wait(job, 200)
    finally:
        queue.close(keep=False)
    return job


def together(spec, data, folder, target="workbench.training.loop:run"):
    job = trained(spec, data, folder, target)
    assert job.status == "done", job.message + job.details
    losses = []
    for event in job.events:
        payload = getattr(event, "payload", {})
        if payload.get("kind") == "step":
            earlier = payload.get("earlier", {}).get("losses", {}).get("task", ())
            losses += [*earlier, payload["losses"]["task"]]
    return losses, load_file(folder / "model/model.safetensors")


@pytest.mark.process
@pytest.mark.parametrize(
    "task, data, options",
    [
        ("classify", "classes", {"accumulation": 2}),
        ("tag", "tags", {"grad_clip": 0.1}),  # texts of 6 and 8 tokens
    ],
)
def test_two_processes_compute_what_one_does(task, data, options, request, tiny_model, tmp_path):
    data = request.getfixturevalue(data)
    options = {**EXACT, **options}
    spec = TrainSpec(task, data.layers[0].name, str(tiny_model), "tiny", 1, options)

    losses, weights = alone(spec, data, tmp_path / "alone")
    shared, summed = together(spec, data, tmp_path / "together")

    assert len(shared) == 8 // options.get("accumulation", 1)
    assert shared == pytest.approx(losses, abs=1e-5)
    assert max(float((weights[name] - summed[name]).abs().max()) for name in weights) < 1e-5


@pytest.mark.process
@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "task, data, target", [("classify", "classes", "backward"), ("tag", "tags", "forward")]
)
def test_memory_that_is_short_in_one_process_divides_the_batches_of_all(
    task, data, target, request, tiny_model, tmp_path, monkeypatch
):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    data = request.getfixturevalue(data)
    spec = TrainSpec(task, data.layers[0].name, str(tiny_model), "tiny", 1, EXACT)

    losses, weights = alone(spec, data, tmp_path / "alone")
    shared, summed = together(spec, data, tmp_path / "both", f"rank_targets:{target}")

    assert shared == pytest.approx(losses, abs=1e-5)
    assert max(float((weights[name] - summed[name]).abs().max()) for name in weights) < 1e-5
    log = (tmp_path / "both/events.jsonl").read_text()
    assert log.count("Out of memory. Continuing with micro-batches of 3 examples") == 1


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_two_processes_continue_with_the_random_numbers_of_each(classes, tiny_model, tmp_path):
    """Dropout draws from the generators of each process."""
    options = {**EXACT, "dropout": 0.3, "epochs": 12}
    spec = TrainSpec("classify", classes.layers[0].name, str(tiny_model), "tiny", 1, options)

    whole = trained(spec, classes, tmp_path / "whole")
    stopped = trained(spec, classes, tmp_path / "parts", stop_at=3)
    rest = trained(spec, classes, tmp_path / "parts", resume=True)

    assert (whole.status, stopped.status, rest.status) == ("done", "stopped", "done")
    assert 3 <= stopped.result["steps"] < whole.result["steps"] == rest.result["steps"]
    assert rest.result["weights_sha256"] == whole.result["weights_sha256"]
