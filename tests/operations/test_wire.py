"""Job events become run rows: every ending, and what is kept of it."""

import json
from pathlib import Path

import pytest

from workbench.base import paths
from workbench.jobs.events import Output
from workbench.operations import results, train, wire
from workbench.project.project import Project
from workbench.storage import runs
from workbench.training.spec import TrainSpec


@pytest.fixture
def started(project, queue, topics):
    """(run, job) of a training under way, wired."""
    wiring = wire.wire(project, queue)
    run = train.start(
        project, queue, TrainSpec("classify", "topic", "starter", "starter", name="first")
    )
    queue.jobs[0].start()
    yield run, queue.jobs[0]
    wiring.close()


def test_a_run_goes_from_waiting_to_running_to_done_with_scores_and_answers(project, trained):
    assert (
        trained.status,
        trained.scores["dev"]["accuracy"],
        trained.versions,
        trained.seconds,
    ) == ("done", 0.75, {"torch": "2"}, 1.5)
    assert (
        trained.result["best_step"] == 2
        and trained.seen_test == 0
        and trained.base_fingerprint == "ab"
    )
    assert len(runs.predictions(project.db, trained.id)) == 4


def test_scores_on_dev_are_seen_while_the_run_goes_on(project, started):
    run, job = started

    job.tell(Output({"kind": "evaluated", "step": 1, "split": "dev", "scores": {"accuracy": 0.5}}))

    now = results.run(project, run.id)
    assert now.status == "running" and now.scores == {"dev": {"accuracy": 0.5}}


def test_a_score_on_test_counts_as_a_look_and_keeps_the_fingerprint_of_the_set(project, started):
    run, job = started

    job.end("done", {"scores": {"dev": {"accuracy": 0.5}, "test": {"accuracy": 0.4}}})

    now = results.run(project, run.id)
    assert now.seen_test == 1 and len(now.test_fingerprint) == 32


def test_a_cancelled_run_goes_with_its_folder(project, started):
    run, job = started
    (Path(job.spec.folder) / "model").mkdir(parents=True)

    job.end("cancelled")

    assert runs.all(project.db) == () and not paths.run_folder(project.path, run.id).exists()


@pytest.mark.parametrize(
    ("status", "word"), [("failed", "diverged"), ("crashed", "died"), ("out_of_memory", "batch")]
)
def test_a_run_that_fails_says_what_happened(project, started, status, word):
    run, job = started

    job.end(status, message="The loss diverged." if status == "failed" else "")

    now = results.run(project, run.id)
    assert now.status == status and word in (now.result["message"] + now.result["hint"])


def test_another_project_does_not_hear_of_it(project, queue, started, tmp_path):
    other = Project.create(tmp_path / "other.glossbench")
    wiring = wire.wire(other, queue)

    started[1].end("done", {"scores": {}})

    assert runs.all(other.db) == ()
    wiring.close()
    other.close()


def test_a_run_that_nobody_finished_is_interrupted_and_its_checkpoint_can_be_kept(
    project, queue, topics
):
    run = train.start(
        project, queue, TrainSpec("classify", "topic", "starter", "starter", name="first")
    )
    folder = paths.run_folder(project.path, run.id)
    (folder / "model").mkdir(parents=True)
    (folder / "model" / "config.json").write_text("{}")
    told = [
        {"kind": "evaluated", "step": 4, "split": "dev", "scores": {"accuracy": 0.6}},
        {"kind": "saved", "step": 4},
        {"kind": "step", "step": 5},
    ]
    (folder / "events.jsonl").write_text(
        "".join(json.dumps({"type": "output", "payload": one}) + "\n" for one in told) + '{"cut'
    )
    project.close()
    again = Project.open(project.path)
    assert results.run(again, run.id).status == "interrupted" and wire.checkpoint_found(
        again, run.id
    )

    wire.keep_checkpoint(again, run.id)

    now = results.run(again, run.id)
    assert (now.status, now.scores, now.result["best_step"]) == (
        "stopped",
        {"dev": {"accuracy": 0.6}},
        4,
    )
    again.close()


def test_without_a_model_there_is_nothing_to_keep(project, queue, topics):
    run = train.start(
        project, queue, TrainSpec("classify", "topic", "starter", "starter", name="first")
    )

    assert not wire.checkpoint_found(project, run.id)
