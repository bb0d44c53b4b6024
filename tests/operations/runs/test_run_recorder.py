"""Job events become run rows: every ending, and what is kept of it."""

import json
from pathlib import Path

import pytest

from tests.operations.conftest import HeldQueue
from workbench.base import paths
from workbench.jobs.events import Finished, Output, to_json
from workbench.jobs.worker import write_result
from workbench.operations.runs import results, run_recorder, train
from workbench.project.project import Project
from workbench.storage.runs import runs
from workbench.training.spec import TrainSpec

STARTER = str(paths.resource("models/starter-bert"))


@pytest.fixture
def wiring(project, queue):
    wiring = run_recorder.wire(project, queue)
    yield wiring
    wiring.close()


@pytest.fixture
def started(project, queue, wiring, topics):
    """(run, job) of a running training."""
    run = train.start(
        project, queue, TrainSpec("classify", "topic", STARTER, "starter", name="first")
    )
    queue.jobs[0].start()
    return run, queue.jobs[0]


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


def evaluated(step, accuracy):
    scores = {"accuracy": accuracy}
    return Output({"kind": "evaluated", "step": step, "split": "dev", "scores": scores})


def saved(step):
    return Output({"kind": "saved", "step": step})


def test_the_score_of_a_running_run_is_that_of_its_kept_checkpoint(project, started):
    run, job = started
    job.tell(evaluated(1, 0.5))
    assert results.run(project, run.id).scores == {}

    job.tell(saved(1))
    job.tell(evaluated(2, 0.3))

    now = results.run(project, run.id)
    assert now.status == "running" and now.scores == {"dev": {"accuracy": 0.5}}


def leave_result(job, finished):
    """What the worker leaves in the run's folder at its end."""
    Path(job.spec.folder).mkdir(parents=True, exist_ok=True)
    write_result(Path(job.spec.folder), finished)


RESULT = {"scores": {"dev": {"accuracy": 0.5}}, "best_step": 1}
ENDINGS = {
    "stopped": Finished("stopped", RESULT),
    "done": Finished("done", RESULT),
    "failed": Finished("failed", message="The loss diverged."),
}


@pytest.mark.parametrize("status", ENDINGS)
def test_an_ending_while_the_project_was_closed_is_recorded_when_it_opens(
    project, queue, started, status
):
    run, job = started
    leave_result(job, ENDINGS[status])
    project.close()

    again = Project.open(project.path)
    wiring = run_recorder.wire(again, HeldQueue())

    now = results.run(again, run.id)
    assert now.status == status
    assert now.scores == ENDINGS[status].result.get("scores", {})
    wiring.close()
    again.close()


def test_a_run_cancelled_while_the_project_was_closed_is_deleted_when_it_opens(project, started):
    _run, job = started
    leave_result(job, Finished("cancelled"))
    project.close()

    again = Project.open(project.path)
    wiring = run_recorder.wire(again, HeldQueue())

    assert runs.all(again.db) == () and not Path(job.spec.folder).exists()
    wiring.close()
    again.close()


def test_a_run_that_outlived_its_project_is_running_again_when_it_opens(
    project, queue, wiring, started
):
    run, job = started
    job.events = [evaluated(1, 0.5), saved(1), evaluated(2, 0.3)]
    wiring.close()
    project.close()

    again = Project.open(project.path)
    wiring = run_recorder.wire(again, queue)

    now = results.run(again, run.id)
    assert (now.status, now.scores) == ("running", {"dev": {"accuracy": 0.5}})
    job.end("stopped", RESULT)
    assert results.run(again, run.id).status == "stopped"
    wiring.close()
    again.close()


def test_a_worker_that_lost_its_window_leaves_an_interrupted_run_with_its_checkpoint(
    project, started
):
    run, job = started
    leave_result(job, Finished("interrupted", RESULT))
    (Path(job.spec.folder) / "model").mkdir()
    (Path(job.spec.folder) / "model" / "glossbench.json").write_text("{}")
    project.close()

    again = Project.open(project.path)
    wiring = run_recorder.wire(again, HeldQueue())
    assert results.run(again, run.id).status == "interrupted"

    run_recorder.keep_checkpoint(again, run.id)
    assert results.run(again, run.id).scores == {"dev": {"accuracy": 0.5}}
    wiring.close()
    again.close()


def test_a_result_that_cannot_be_taken_over_leaves_the_project_usable(project, started):
    run, job = started
    leave_result(job, Finished("done", RESULT))
    (Path(job.spec.folder) / "predictions.jsonl").write_text("{torn")
    project.close()

    again = Project.open(project.path)
    wiring = run_recorder.wire(again, HeldQueue())

    assert results.run(again, run.id).status == "interrupted"
    wiring.close()
    again.close()


def test_a_score_on_test_counts_as_a_look_and_keeps_the_fingerprint_of_the_set(project, started):
    run, job = started

    job.end("done", {"scores": {"dev": {"accuracy": 0.5}, "test": {"accuracy": 0.4}}})

    now = results.run(project, run.id)
    assert now.seen_test == 1 and len(now.test_fingerprint) == 32


def test_the_test_set_of_a_run_is_that_of_its_own_gold(project, started):
    run, job = started
    row = {"n": 1, "fingerprint": "f" * 32, "scores": {"accuracy": 0.4}, "per_label": []}

    job.end("done", {"scores": {"test": {"accuracy": 0.4}}, "evaluations": {"test": row}})

    now = results.run(project, run.id)
    assert now.test_fingerprint == "f" * 32 and results.original(now, "test").n == 1


def test_a_cancelled_run_goes_with_its_folder(project, started):
    run, job = started
    (Path(job.spec.folder) / "model").mkdir(parents=True)

    job.end("cancelled")

    assert runs.all(project.db) == () and not paths.run_folder(project.path, run.id).exists()


@pytest.mark.parametrize(
    ("status", "word"),
    [("failed", "diverged"), ("crashed", "ended unexpectedly"), ("out_of_memory", "max_length")],
)
def test_a_run_that_fails_says_what_happened(project, started, status, word):
    run, job = started

    job.end(status, message="The loss diverged." if status == "failed" else "")

    now = results.run(project, run.id)
    assert now.status == status and word in (now.result["message"] + now.result["hint"])


def test_another_project_does_not_hear_of_it(project, queue, started, tmp_path):
    other = Project.create(tmp_path / "other.glossbench")
    wiring = run_recorder.wire(other, queue)

    started[1].end("done", {"scores": {}})

    assert runs.all(other.db) == ()
    wiring.close()
    other.close()


def test_a_run_that_nobody_finished_is_interrupted_and_its_checkpoint_can_be_kept(
    project, queue, topics
):
    run = train.start(
        project, queue, TrainSpec("classify", "topic", STARTER, "starter", name="first")
    )
    folder = paths.run_folder(project.path, run.id)
    (folder / "model").mkdir(parents=True)
    (folder / "model" / "glossbench.json").write_text("{}")
    text = [
        {"kind": "evaluated", "step": 4, "split": "dev", "scores": {"accuracy": 0.6}},
        {"kind": "saved", "step": 4},
        {"kind": "step", "step": 5},
    ]
    (folder / "events.jsonl").write_text(
        "".join(json.dumps({"type": "output", "payload": message}) + "\n" for message in text)
        + '{"cut'
    )
    project.close()
    again = Project.open(project.path)
    assert results.run(again, run.id).status == "interrupted" and run_recorder.checkpoint_found(
        again, run.id
    )

    run_recorder.keep_checkpoint(again, run.id)

    now = results.run(again, run.id)
    assert (now.status, now.scores, now.result["best_step"]) == (
        "stopped",
        {"dev": {"accuracy": 0.6}},
        4,
    )
    again.close()


def test_the_kept_checkpoint_is_that_of_the_last_continuation(project, started):
    """By hand: after step 5, then after step 6, the run went back to its state."""
    run, job = started
    folder = Path(job.spec.folder)
    (folder / "model").mkdir(parents=True)
    (folder / "model" / "glossbench.json").write_text("{}")
    messages = [
        *(Output({"kind": "step", "step": number}) for number in (1, 2, 3, 4)),
        *(evaluated(4, 0.4), saved(4)),
        *(Output({"kind": "step", "step": number}) for number in range(5, 13)),
        Output({"kind": "resumed", "step": 5}),
        *(Output({"kind": "step", "step": 6}), evaluated(6, 0.6), saved(6)),
        *(Output({"kind": "state", "step": 6}), Output({"kind": "step", "step": 7})),
        Output({"kind": "resumed", "step": 6}),
        *(Output({"kind": "step", "step": number}) for number in (7, 8)),
    ]
    lines = [json.dumps(to_json(message)) for message in messages]
    (folder / "events.jsonl").write_text("\n".join([*lines[:3], '{"type": "o', *lines[3:], ""]))
    job.end("crashed")

    run_recorder.keep_checkpoint(project, run.id)

    now = results.run(project, run.id)
    assert (now.result["best_step"], now.result["steps"]) == (6, 8)
    assert now.scores == {"dev": {"accuracy": 0.6}}


def test_stop_and_keep_keeps_the_checkpoint_of_a_worker_that_dies_while_it_stops(project, started):
    run, job = started
    folder = Path(job.spec.folder)
    (folder / "model").mkdir(parents=True)
    (folder / "model" / "glossbench.json").write_text("{}")
    text = [to_json(evaluated(1, 0.5)), to_json(saved(1))]
    (folder / "events.jsonl").write_text("".join(json.dumps(message) + "\n" for message in text))

    job.ending = "stop"
    job.end("crashed", message="The worker did not stop in time and was terminated.")

    now = results.run(project, run.id)
    assert (now.status, now.scores) == ("stopped", {"dev": {"accuracy": 0.5}})


def test_without_a_model_there_is_nothing_to_keep(project, queue, topics):
    run = train.start(
        project, queue, TrainSpec("classify", "topic", STARTER, "starter", name="first")
    )

    assert not run_recorder.checkpoint_found(project, run.id)


def test_the_end_of_a_deleted_run_is_ignored(project, started):
    run, job = started
    project.delete_run(run.id)

    job.end("done", RESULT)

    assert runs.all(project.db) == ()
