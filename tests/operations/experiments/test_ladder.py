"""The ladder trains rungs × decoders × seeds one after another and uses finished runs again."""

from dataclasses import replace

import pytest

from workbench.base.errors import SpecError
from workbench.operations.experiments import experiment, ladder
from workbench.operations.experiments.ladder import (
    Ladder,
    LadderSpec,
    decoder_title,
    keep,
    last,
)
from workbench.operations.experiments.ladder_rungs import Rung, named, parse
from workbench.operations.runs import run_recorder
from workbench.storage.runs import runs


@pytest.fixture
def wiring(project, queue):
    wiring = run_recorder.wire(project, queue)
    yield wiring
    wiring.close()


@pytest.fixture
def climb(project, queue, wiring, topics):
    """climb(rungs=…, seeds=…) → a ladder over layer topic."""

    def make(*rungs, seeds=(1, 2), **more):
        spec = LadderSpec(
            "classify", "topic", named(rungs or ("frozen-vectors", "bert")), seeds, **more
        )
        return Ladder(project, spec)

    return make


@pytest.fixture
def train(queue):
    """train(work, end, …): run it; each function ends the next job, the last one all others."""

    def run(work, *ends):
        left = list(ends or (finish,))
        queue.worker = lambda job: (left.pop(0) if len(left) > 1 else left[0])(job)
        experiment.run(work, queue)

    return run


def finish(job, score=0.5, status="done", **more):
    job.start()
    result = {"scores": {"dev": {"macro_f1": score, "accuracy": score}}, "seconds": 60.0}
    job.end(status, result if status == "done" else None, **more)


def states(work):
    return [cell.status for cell in work.cells]


def test_runs_follow_one_another_on_the_same_data(project, queue, climb, train):
    work, counts = climb(), []

    train(work, lambda job: (counts.append(len(queue.jobs)), finish(job, 0.1 * len(counts))))

    specs = [job.spec.params["spec"] for job in queue.jobs]
    assert counts == [1, 2, 3, 4]
    assert work.status == "done" and states(work) == ["done"] * 4
    assert [(spec["model_name"], spec["seed"]) for spec in specs] == [
        ("starter-glove", 1),
        ("starter-glove", 2),
        ("starter-bert", 1),
        ("starter-bert", 2),
    ]
    assert len({str(job.spec.params["splits"]) for job in queue.jobs}) == 1
    assert runs.all(project.db)[0].name == "ladder-frozen-vectors-1"


def test_a_repeated_experiment_uses_finished_runs_again(queue, climb, train):
    first = climb()

    def cancelled(job):
        first.cancel(queue)
        assert job.asked == "cancel"
        job.end("cancelled")

    train(first, lambda job: finish(job, 0.25), cancelled)
    assert (first.status, states(first)) == ("paused", ["done", *["waiting"] * 3])

    second = climb()
    assert (states(second), second.cells[0].reused) == (["done", *["waiting"] * 3], True)
    train(second)

    assert queue.jobs[2].spec.params["spec"]["seed"] == 2
    assert second.score_of(second.cells[0]) == 0.25


def test_runs_on_other_labels_are_not_used_again(queue, climb, train, add_documents):
    train(climb("bert", seeds=(1,)))
    add_documents([("brand new", "train", "submitted", "topic", "praise")])

    second = climb("bert", seeds=(1,))
    train(second)

    assert states(second) == ["done"] and len(queue.jobs) == 2


def test_labels_changed_between_two_runs_pause_the_experiment(queue, climb, train, add_documents):
    work = climb("bert")

    def change_and_finish(job):
        add_documents([("brand new", "train", "submitted", "topic", "praise")])
        finish(job)

    train(work, change_and_finish)
    assert work.status == "paused" and "were changed" in work.error

    train(work)
    assert work.status == "done" and states(work) == ["done", "done"] and len(queue.jobs) == 3


def test_a_failed_run_does_not_stop_the_others_and_is_tried_again(queue, climb, train):
    work = climb("bert")
    train(
        work,
        lambda job: finish(job, status="out_of_memory", message="Out of memory at step 41."),
        finish,
    )
    assert work.cells[0].status == "failed" and "step 41" in work.cells[0].message
    assert (work.status, states(work)) == ("done", ["failed", "done"])

    train(work)

    assert states(work) == ["done", "done"] and len(queue.jobs) == 3


def test_a_pause_waits_for_the_current_run(queue, climb, train):
    work = climb("bert")

    def pause_and_finish(job):
        work.pause()
        assert work.status == "pausing" and not job.asked
        finish(job)

    train(work, pause_and_finish)

    assert (work.status, states(work), len(queue.jobs)) == ("paused", ["done", "waiting"], 1)


def test_progress_of_the_current_run_is_that_of_its_steps(climb, train):
    work, shares = climb("bert", seeds=(1,)), []

    def step_and_finish(job):
        if job.status == "waiting":
            job.start()
            job.progress = {"step": 10, "total": 40}
            return
        shares.append(work.cells[0].fraction)
        finish(job)

    train(work, step_and_finish)

    assert shares == [0.25] and work.cells[0].fraction is None


def test_a_rung_without_its_models_is_left_out_with_the_reason(climb, train):
    work = climb("frozen-elmo", "bert", seeds=(1,), parts={"elmo": "my-elmo"})
    train(work)

    assert (work.status, states(work)) == ("done", ["missing", "done"])
    assert work.cells[0].message == "my-elmo is not installed"


def test_a_rung_has_defaults_of_its_own_until_they_are_set(climb, project):
    rung = Rung("slow", "Slow", "starter-bert", usually={"epochs": "20"})

    def epochs(**settings):
        work = Ladder(project, LadderSpec("classify", "topic", (rung,), settings=settings))
        return work.cells[0].spec.option("epochs")

    assert (epochs(), epochs(epochs="2")) == (20, 2)


def test_settings_reach_the_rungs_that_have_them(climb):
    work = climb(
        seeds=(1,),
        settings={"epochs": "2", "freeze": "embeddings", "bert.epochs": "1"},
    )

    assert [cell.spec.options for cell in work.cells] == [
        {"epochs": 2, "method": "frozen"},
        {"epochs": 1, "freeze": "embeddings"},
    ]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"settings": {"epoch": "2"}}, "No rung has the setting 'epoch'"),
        ({"settings": {"gpt.epochs": "2"}}, "no rung 'gpt'"),
        ({"settings": {"epochs": "many"}}, "epochs is 'many'"),
    ],
)
def test_wrong_settings_are_refused_before_the_start(climb, more, message):
    with pytest.raises(SpecError, match=message):
        climb(**more)


def test_data_that_cannot_be_trained_on_is_reported_once(project, queue, wiring, add_layer):
    add_layer("empty")
    work = Ladder(project, LadderSpec("classify", "empty", named(())))

    experiment.run(work, queue)

    assert work.status == "paused" and "submitted" in work.error and not queue.jobs


def test_the_layer_gives_the_task_and_its_decoders(project, topics, add_layer):
    add_layer("names", "span")

    assert (ladder.task_of(project, "names"), ladder.task_of(project, "topic")) == (
        "tag",
        "classify",
    )
    assert ladder.decoders("tag") == ("crf", "greedy") and ladder.decoders("classify") == ("",)
    assert (decoder_title("tag", "crf"), decoder_title("classify", "")) == ("CRF", "")
    with pytest.raises(SpecError, match="no layer 'x'"):
        ladder.task_of(project, "x")


def test_the_description_of_a_started_experiment_is_kept_with_the_runs(project, climb):
    own = parse("Mine: starter-bert method=frozen layers=mix")
    settings = {"epochs": "5", "bert.epochs": "2"}
    work = climb(seeds=(4, 7), parts={"vectors": "starter-vectors"}, settings=settings)
    mine = replace(work.spec, rungs=(*work.spec.rungs, own))

    work.check()
    stored = last(project)
    keep(project, mine)
    assert stored == work.spec and last(project, "topic") == mine and last(project, "other") is None

    (project.runs_folder / "ladder.json").write_text('{"topic": {"rungs": 3}}')
    assert last(project, "topic") is None
