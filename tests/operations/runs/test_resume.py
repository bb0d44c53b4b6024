"""Runs that continue from their state, in their own row."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.base import paths
from workbench.base.errors import SpecError, WorkbenchError
from workbench.jobs import events
from workbench.operations.experiments import experiment
from workbench.operations.experiments.experiment import Cell, Experiment
from workbench.operations.models import installed
from workbench.operations.runs import results, resume, run_recorder, train, training_curves
from workbench.storage.documents import documents
from workbench.storage.runs import runs
from workbench.storage.runs.runs import Listing
from workbench.training import resume as writing
from workbench.training import states
from workbench.training.spec import TrainSpec

TRIALS = Listing("trials", archived=True)
FAST = {"epochs": 3, "batch_size": 2, "device": "cpu", "precision": "fp32", "learning_rate": 0.01}


@pytest.fixture(autouse=True)
def states_after_each_update(monkeypatch):
    monkeypatch.setattr(writing, "LEAST", 0.0)
    monkeypatch.setattr(writing, "SHARE", float("inf"))


@pytest.fixture
def wired(project, inline_jobs, topics):
    wiring = run_recorder.wire(project, inline_jobs)
    yield inline_jobs
    wiring.close()


@pytest.fixture
def begin(project, wired, tiny_model):
    """begin(name, end=…, at=…) → a run that ended, or was stopped or cancelled at a step."""

    def begin(name="first", *, end="", at=4):
        spec = TrainSpec("classify", "topic", str(tiny_model), "tiny", options=FAST, name=name)
        run = train.start(project, wired, spec)
        return follow(project, wired, run, end, at)

    return begin


def follow(project, queue, run, end="", at=0):
    job = train.job_of(queue, project, run.id)

    def act(event):
        if end and isinstance(event, events.Output) and event.payload.get("step") == at:
            {"stop": job.stop, "cancel": job.cancel}[end]()

    job.changed.connect(act)
    record(job)
    queue.wait(job)
    return results.run(project, run.id)


def record(job):
    """As the channel of a worker does."""

    def write(event):
        with open(job.folder / "events.jsonl", "a") as file:
            file.write(json.dumps(events.to_json(event)) + "\n")

    job.changed.connect(write)


def go_on(project, queue, run, **options):
    prepared = resume.prepare(project, run, **options)
    return resume.start(project, queue, prepared)


def test_a_stopped_run_continues_in_its_row_without_doubled_points(project, wired, begin):
    run = begin(end="stop")
    assert run.status == "stopped" and run.result["steps"] == 4

    started = go_on(project, wired, run)
    assert (started.id, started.status) == (run.id, "waiting")
    done = follow(project, wired, run)

    assert done.status == "done" and done.result["steps"] == 12
    steps, _losses = training_curves.training_curves(project, run.id).loss
    assert steps == tuple(range(1, 13))
    assert len(runs.predictions(project.db, run.id)) == 4


def test_a_run_that_has_ended_needs_more_epochs(project, wired, begin):
    run = begin()
    with pytest.raises(SpecError, match="has trained 3 of 3 epochs") as refused:
        resume.prepare(project, run)
    assert "4 to 1000" in refused.value.hint

    go_on(project, wired, run, epochs=5)
    done = follow(project, wired, run)

    assert (done.status, done.result["steps"]) == ("done", 20)
    assert done.spec["options"]["epochs"] == done.spec["resolved"]["epochs"] == 5


def test_only_the_last_run_of_a_project_keeps_its_state(project, begin):
    first = begin("first")
    assert resume.can_resume(project, first)

    second = begin("second", end="stop")

    assert not resume.can_resume(project, first) and resume.can_resume(project, second)
    with pytest.raises(WorkbenchError, match="no state"):
        resume.prepare(project, first)


def test_a_state_is_deleted_with_its_run_and_links_count_once(project, begin):
    run = begin()
    folder = paths.run_folder(project.path, run.id)
    model = sum(file.stat().st_size for file in (folder / "model").rglob("*"))

    assert results.disk_space(project, run.id) < 2 * model + states.size(folder)
    results.delete(project, run.id)

    assert not folder.exists()


def test_a_continued_run_that_is_cancelled_is_kept(project, wired, begin):
    run = begin(end="stop")
    go_on(project, wired, run)

    again = follow(project, wired, run, "cancel", 7)

    assert again.status == "interrupted" and "continued again" in again.failure.message
    assert resume.can_resume(project, again)
    assert run_recorder.checkpoint_found(project, run.id)


def test_a_continued_run_that_is_cancelled_before_it_begins_is_as_it_was(project, wired, begin):
    run = begin(end="stop")
    go_on(project, wired, run)

    wired._over(train.job_of(wired, project, run.id), events.Finished("cancelled"))

    assert results.run(project, run.id) == run


@pytest.mark.parametrize("refused", [True, False], ids=["refused", "cancelled"])
def test_a_run_that_was_not_continued_keeps_the_result_of_its_worker(
    project, wired, begin, refused
):
    run = begin(end="stop")
    path = paths.run_folder(project.path, run.id) / "result.json"
    path.write_text('{"kind": "finished", "status": "stopped"}')
    if refused:
        refuse(project, run)

    go_on(project, wired, run)
    assert not path.exists()
    if refused:
        follow(project, wired, run)
    else:
        wired._over(train.job_of(wired, project, run.id), events.Finished("cancelled"))

    assert path.read_text() == '{"kind": "finished", "status": "stopped"}'


def test_a_training_finds_the_models_of_its_settings_again_where_they_are_now(
    project, wired, tiny_model, tmp_path
):
    part = Path(shutil.copytree(tiny_model, tmp_path / "here" / "part"))
    installed.add(part)
    spec = TrainSpec(
        "classify", "topic", installed.find("bilstm").path, "bilstm", family="bilstm",
        options={**FAST, "embeddings": "words+part", "lstm_width": 8}, name="first",
    )  # fmt: skip
    run = follow(project, wired, train.start(project, wired, spec), "stop", 4)
    installed.remove(part)
    with pytest.raises(WorkbenchError, match="There is no model 'part'"):
        shutil.move(part.parent, tmp_path / "there")
        resume.prepare(project, run)

    installed.add(tmp_path / "there" / "part")
    go_on(project, wired, run)

    assert follow(project, wired, run).status == "done"


def refuse(project, run):
    """Let the worker refuse to continue a run, as for another model in its place."""
    path = paths.run_folder(project.path, run.id) / "state" / "state.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "model": "other"}))


@pytest.mark.parametrize("end", ["", "stop"])
def test_a_run_that_cannot_continue_stays_as_it_was(project, wired, begin, end):
    run = begin(end=end)
    refuse(project, run)

    go_on(project, wired, run, epochs=7)
    again = follow(project, wired, run)

    assert again == run and run.scores["dev"]
    job = train.job_of(wired, project, run.id)
    assert job.status == "failed" and "weights of the pretrained model differ" in job.message
    planned = resume.prepare(project, run, epochs=None if end else 4).job.params
    assert planned["spec"]["options"]["epochs"] == planned["plan"]["epochs"] == (3 if end else 4)


def test_a_refused_run_stays_as_it_was_if_its_end_is_recorded_later(project, wired, begin):
    run = begin()
    refuse(project, run)
    go_on(project, wired, run, epochs=7)
    follow(project, wired, run)
    with project.write("as after a crash of the window"):
        runs.update(project.db, run.id, status="interrupted", spec={}, scores={})

    run_recorder.wire(project, wired).close()

    assert results.run(project, run.id) == run


@pytest.mark.parametrize(
    ("changed", "why"), [({"format": 2}, "another version"), ({"bytes": 1}, "state is damaged")]
)
def test_a_state_that_cannot_be_read_is_refused_at_once(project, begin, changed, why):
    run = begin(end="stop")
    path = paths.run_folder(project.path, run.id) / "state" / "state.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))

    with pytest.raises(WorkbenchError, match=why):
        resume.prepare(project, run)


def test_a_longer_training_that_is_cancelled_before_it_begins_leaves_the_run(project, wired, begin):
    run = begin()
    go_on(project, wired, run, epochs=7)
    assert results.run(project, run.id).spec["options"]["epochs"] == 7

    wired._over(train.job_of(wired, project, run.id), events.Finished("cancelled"))

    assert results.run(project, run.id) == run


def test_a_run_is_not_started_twice_and_not_after_it_was_deleted(project, wired, begin):
    run = begin(end="stop")
    first, second = resume.prepare(project, run), resume.prepare(project, run)
    resume.start(project, wired, first)

    with pytest.raises(WorkbenchError, match="'first' is now waiting"):
        resume.start(project, wired, second)
    done = follow(project, wired, run)
    again = resume.prepare(project, done, epochs=5)
    states.remove(paths.run_folder(project.path, run.id))
    with pytest.raises(WorkbenchError, match="no state"):
        resume.start(project, wired, again)
    project.delete_run(run.id)
    with pytest.raises(WorkbenchError, match="was deleted"):
        resume.start(project, wired, again)


def test_a_killed_run_waits_for_its_worker_to_end(project, wired, begin, monkeypatch):
    run = begin(end="stop")
    monkeypatch.setattr(resume, "is_alive", lambda _folder: True)

    with pytest.raises(WorkbenchError, match="has not ended yet"):
        resume.prepare(project, run)


def test_missing_training_data_is_named(project, begin):
    run = begin(end="stop")
    for file in (project.runs_folder / "data").iterdir():
        file.unlink()

    with pytest.raises(WorkbenchError, match="training data of run 'first' is missing"):
        resume.prepare(project, run)


def test_a_run_that_is_running_or_has_no_state_cannot_be_continued(project, begin):
    run = begin(end="stop")
    assert not resume.can_resume(project, replace(run, status="running"))

    states.remove(paths.run_folder(project.path, run.id))

    assert not resume.can_resume(project, run)


def experiment_of(project, tiny_model, **options):
    """An experiment whose only cell has the settings of `begin`."""
    spec = TrainSpec("classify", "topic", str(tiny_model), "tiny", options={**FAST, **options})
    cell = Cell("g", "G", "", spec.seed, "train", spec, listing=TRIALS)
    return Experiment(project, [cell], task="classify")


@pytest.mark.parametrize("status", ["interrupted", "stopped"])
def test_an_experiment_goes_on_with_the_run_that_was_interrupted(
    project, wired, begin, tiny_model, status
):
    whole = begin("whole")
    project.delete_run(whole.id)
    run = begin(end="stop")
    with project.write():
        runs.update(project.db, run.id, status=status)
        runs.organise(project.db, run.id, TRIALS)

    work = experiment_of(project, tiny_model)
    experiment.run(work, wired)

    (cell,) = work.cells
    assert (work.status, cell.status, cell.run.id) == ("done", "done", run.id), work.error
    assert cell.run.result["steps"] == whole.result["steps"] and len(wired.jobs) == 3
    assert cell.run.result["weights_sha256"] == whole.result["weights_sha256"]
    assert cell.run.listing == TRIALS


@pytest.mark.parametrize("differs", ["settings", "labels", "state", "experiment"])
def test_a_run_of_other_settings_or_labels_or_without_a_state_is_not_continued(
    project, wired, begin, tiny_model, topics, differs
):
    run = begin(end="stop")
    if differs != "experiment":
        with project.write():
            runs.organise(project.db, run.id, TRIALS)
    if differs == "labels":
        with project.edit("Move"):
            documents.set_split(project.db, [topics[1][0]], "test")
    if differs == "state":
        states.remove(paths.run_folder(project.path, run.id))

    options = {"learning_rate": 0.02} if differs == "settings" else {}
    work = experiment_of(project, tiny_model, **options)
    experiment.run(work, wired)

    (cell,) = work.cells
    assert work.status == "done" and cell.run.id != run.id
    assert results.run(project, run.id).status == "stopped"


def test_an_experiment_trains_again_what_cannot_continue(project, wired, begin, tiny_model):
    run = begin(end="stop")
    refuse(project, run)
    with project.write():
        runs.organise(project.db, run.id, TRIALS)
    work = experiment_of(project, tiny_model)

    experiment.run(work, wired)
    (cell,) = work.cells
    assert cell.status == "failed" and "weights of the pretrained model" in cell.message
    experiment.run(work, wired)

    assert cell.status == "done" and cell.run.id != run.id
