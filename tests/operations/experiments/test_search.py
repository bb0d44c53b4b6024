"""A search runs trials within its ranges, goes on after an interruption, and ends in its budget."""

from dataclasses import replace

import pytest

from workbench.base.errors import WorkbenchError
from workbench.jobs.events import Output
from workbench.operations.experiments import experiment, search
from workbench.operations.experiments.search import Search, SearchSpec
from workbench.operations.experiments.search_ranges import parse
from workbench.operations.models import installed
from workbench.operations.runs import run_folders, run_recorder
from workbench.storage.runs import runs
from workbench.training.spec import TrainSpec, options

OPTIONS = {option.name: option for option in options("classify")}


@pytest.fixture
def wiring(project, queue):
    wiring = run_recorder.wire(project, queue)
    yield wiring
    wiring.close()


@pytest.fixture
def base(topics):
    model = next(model for model in installed.list() if model.name == "starter-bert")
    return TrainSpec("classify", "topic", model.path, model.name, family=model.family)


@pytest.fixture
def begin(project, wiring, base):
    """begin(trials=…) → a search for rate, epochs and batch size; known: one that is continued."""

    def make(known=(), **more):
        texts = more.pop("ranges", None) or {
            "learning_rate": "1e-5..1e-4:log",
            "epochs": "1..5",
            "batch_size": "8, 16",
        }
        ranges = tuple(parse(OPTIONS[name], text) for name, text in texts.items())
        own = replace(base, seed=more.pop("seed_of_runs", 1))
        spec = SearchSpec(own, ranges, **{"trials": 4, **more})
        return Search(project, spec, known)

    return make


def again(project, work):
    """The search as it is found after a restart."""
    spec = search.all_kept(project)[work.spec.name]
    return Search(project, spec, search.trials(project, spec))


def score_of(spec):
    """A score that a person could have computed: best at a rate of 3e-5 and 5 epochs."""
    rate = spec["options"].get("learning_rate", 1e-4)
    return round(0.9 - 3000 * abs(rate - 3e-5) + 0.01 * spec["options"].get("epochs", 3), 4)


def finish(job, score=None, status="done", **more):
    job.start()
    score = score_of(job.spec.params["spec"]) if score is None else score
    scores = {"dev": {"macro_f1": score, "accuracy": score}}
    ends = status in ("done", "stopped")
    job.end(status, {"scores": scores, "seconds": 60.0} if ends else None, **more)


def run(work, queue, worker=finish):
    queue.worker = worker
    experiment.run(work, queue)
    return work


def values(work):
    return [dict(cell.values) for cell in work.trials]


def test_the_defaults_and_the_trials_are_trained_within_the_ranges(queue, begin):
    work = run(begin(trials=5), queue)

    assert (work.status, work.error) == ("done", "")
    assert [cell.status for cell in work.cells] == ["done"] * 6
    assert work.cells[0].run.name == "search-1-defaults"
    assert "learning_rate" not in work.cells[0].spec.options
    for cell in work.trials:
        assert 1e-5 <= cell.values["learning_rate"] <= 1e-4
        assert cell.values["epochs"] in range(1, 6) and cell.values["batch_size"] in (8, 16)
        assert cell.run.spec["options"] == cell.values and cell.run.spec["seed"] == 1
    best = max(work.trials, key=work.score_of)
    assert work.best is best


@pytest.mark.parametrize("sampler", ["tpe", "random"])
def test_the_same_seed_gives_the_same_trials_also_after_an_interruption(
    project, queue, begin, sampler
):
    whole = run(begin(trials=6, sampler=sampler), queue)
    other = run(begin(trials=6, sampler=sampler, seed=2), queue)
    broken = begin(trials=6, sampler=sampler, seed_of_runs=2)  # does not use runs of the first

    def pause(job):
        finish(job)
        if len(broken.trials) == 3:
            broken.pause()

    run(broken, queue, pause)
    assert (broken.status, len(broken.trials)) == ("paused", 3)
    work = run(again(project, broken), queue)

    assert values(work) == values(whole) and work.status == "done"
    assert values(other) != values(whole)


def test_a_search_whose_process_was_killed_repeats_the_trial_that_was_running(
    project, queue, begin
):
    work = begin()

    class Killed(BaseException):
        pass

    def kill(job):
        if len(work.trials) == 2:
            raise Killed
        finish(job)

    with pytest.raises(Killed):
        run(work, queue, kill)
    asked = values(work)
    for item in runs.all(project.db):  # as opening the project does
        if item.status in runs.UNFINISHED:
            with project.write():
                runs.update(project.db, item.id, status="interrupted")

    found = again(project, work)
    assert values(found) == asked
    assert [cell.status for cell in found.cells] == ["done", "done", "waiting"]
    run(found, queue)

    assert values(found)[:2] == asked and len(found.trials) == 4
    assert [trial.state for trial in search.trials(project, found.spec)] == ["complete"] * 4


def test_a_trial_that_ended_before_the_study_was_told_is_not_trained_again(
    project, queue, begin, monkeypatch
):
    work = begin(trials=2)
    monkeypatch.setattr(search.search_study.Study, "tell", lambda *_args, **_more: None)
    run(work, queue)
    monkeypatch.undo()
    n = len(queue.jobs)

    found = run(again(project, work), queue)

    assert len(queue.jobs) == n and [cell.status for cell in found.trials] == ["done"] * 2
    assert [trial.state for trial in search.trials(project, found.spec)] == ["complete"] * 2


def evaluate(job, number, of, score):
    """Report the score of a part of the training."""
    step = 10 * number // of
    payload = {"kind": "evaluated", "step": step, "split": "dev", "scores": {"macro_f1": score}}
    job.progress = {"step": step, "total": 10}
    job.events.append(Output(payload))


def test_weak_trials_are_stopped_and_count_with_what_they_have(project, queue, begin):
    work = begin(trials=8)
    stopped = []

    def worker(job):
        job.start()
        n = len(work.trials)
        curve = (0.2, 0.25, 0.3, 0.35) if n == 7 else (0.5, 0.6, 0.7, 0.71 + 0.01 * n)
        for number, score in enumerate(curve, 1):
            if job.asked == "stop":
                stopped.append((n, number))
                break
            evaluate(job, number, len(curve), score)
            work.follow(queue, job)
        scores = {"dev": {"macro_f1": curve[number - 1]}}
        status = "stopped" if job.asked == "stop" else "done"
        job.end(status, {"scores": scores, "seconds": 1.0})

    run(work, queue, worker)

    weak = work.trials[6]
    assert stopped == [(7, 2)]
    assert (weak.status, weak.is_stopped, weak.run.status) == ("done", True, "stopped")
    assert weak.run.listing.tags == (search.STOPPED_EARLY,)
    assert weak not in work.finished and work.best is work.trials[7]
    states = [trial.state for trial in search.trials(project, work.spec) if not trial.is_default]
    assert states == ["complete"] * 6 + ["pruned", "complete"]

    found = again(project, work)
    assert found.trials[6].is_stopped and found.trials[6].run.id == weak.run.id


def test_without_early_stopping_every_trial_is_trained_to_the_end(queue, begin):
    work = begin(trials=8, prune=False)

    def worker(job):
        job.start()
        evaluate(job, 1, 2, 0.1)
        work.follow(queue, job)
        assert job.asked != "stop"
        job.end("done", {"scores": {"dev": {"macro_f1": 1 / len(queue.jobs)}}, "seconds": 1.0})

    run(work, queue, worker)

    assert len(work.finished) == 8


def test_a_cancelled_search_keeps_its_trials_and_goes_on_with_the_one_that_was_running(
    project, queue, begin
):
    work = begin()

    def cancel(job):
        if len(work.trials) == 2:
            job.start()
            work.cancel(queue)
            job.end("cancelled")
        else:
            finish(job)

    run(work, queue, cancel)
    assert work.status == "paused"
    assert [cell.status for cell in work.trials] == ["done", "waiting"]
    asked = values(work)

    run(work, queue)
    assert values(work)[:2] == asked and [cell.status for cell in work.trials] == ["done"] * 4


def test_a_trial_that_the_user_stops_is_no_failure_and_goes_on_at_the_next_start(
    project, queue, begin
):
    work = begin()

    def stop(job):
        finish(job, status="stopped" if len(work.trials) == 2 else "done")

    run(work, queue, stop)
    assert work.status == "paused"
    assert [cell.status for cell in work.trials] == ["done", "waiting"]

    work, asked = again(project, work), values(work)
    run(work, queue)
    assert values(work)[:2] == asked and [cell.status for cell in work.trials] == ["done"] * 4


def test_a_budget_of_minutes_starts_no_trial_after_them(queue, begin, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(search.time, "monotonic", lambda: now[0])
    work = begin(trials=None, minutes=2.5)

    def take_a_minute(job):
        now[0] += 60
        finish(job)

    run(work, queue, take_a_minute)

    assert (work.status, len(work.trials), work.minutes) == ("done", 3, 3.0)
    assert work.seconds_left == 0


def test_a_larger_budget_continues_a_finished_search(project, queue, begin):
    work = run(begin(trials=2), queue)
    longer = replace(work.spec, trials=4)

    found = run(Search(project, longer, search.trials(project, longer)), queue)

    assert len(found.trials) == 4 and values(found)[:2] == values(work)
    assert search.all_kept(project)["search-1"].trials == 4


def test_a_search_ends_when_every_combination_was_tried(queue, begin):
    work = run(begin(trials=40, ranges={"batch_size": "8, 16"}), queue)

    assert work.status == "done" and work.total == 3
    assert {cell.values["batch_size"] for cell in work.trials} == {8, 16}
    assert len(queue.jobs) == 3  # with that of the defaults; equal settings use a run again


def test_a_failed_trial_is_told_and_three_one_after_another_pause_the_search(project, queue, begin):
    def fail_second(job):
        if job.spec.name == "search-1-2":
            finish(job, status="failed", message="Out of luck.")
        else:
            finish(job)

    work = run(begin(), queue, fail_second)
    assert [cell.status for cell in work.trials] == ["done", "failed", "done", "done"]
    failed = again(project, work).trials[1]
    assert (failed.status, failed.message) == ("failed", "Out of luck.")

    broken = begin(seed_of_runs=3)
    run(broken, queue, lambda job: finish(job, status="failed", message="Out of luck."))

    assert broken.status == "paused" and len(broken.trials) == 3
    assert "Out of luck." in broken.error


def test_only_the_best_trial_is_listed_and_keeps_its_weights(project, queue, begin):
    work = begin()

    def save(job):
        folder = run_folders.model(project, job.spec.params["run"]["id"])
        run_folders.owned_folder.create(folder)
        (folder / run_folders.DESCRIPTION).write_text("{}")
        finish(job)

    run(work, queue, save)

    best = work.best
    for cell in work.trials:
        assert runs.get(project.db, cell.run.id).listing.archived is (cell is not best)
        assert run_folders.has_model(project, cell.run.id) is (cell is best)
    assert run_folders.has_model(project, work.cells[0].run.id)


def test_a_trial_whose_run_was_deleted_keeps_its_score(project, queue, begin):
    work = run(begin(), queue)
    score = work.score_of(work.trials[0])
    project.delete_run(work.trials[0].run.id)

    found = again(project, work)

    assert found.trials[0].run is None and found.score_of(found.trials[0]) == score


def test_changed_labels_pause_a_search(project, queue, begin, add_documents):
    work = run(begin(trials=2), queue)
    add_documents([("brand new", "train", "submitted", "topic", "praise")])

    longer = replace(work.spec, trials=4)
    found = run(Search(project, longer, search.trials(project, longer)), queue)

    assert found.status == "paused" and "Start a new search" in found.error
    assert len(found.trials) == 2


def test_the_defaults_are_told_to_the_sampler_where_they_lie_within_the_ranges(
    project, queue, begin
):
    around = {"learning_rate": "1e-5..1e-3:log", "epochs": "1..40"}
    inside = run(begin(trials=1, ranges=around), queue)
    outside = run(begin(trials=1, ranges={"epochs": "100..101"}), queue)

    assert [trial.is_default for trial in search.trials(project, inside.spec)] == [True, False]
    assert [trial.is_default for trial in search.trials(project, outside.spec)] == [False]


def test_the_verdict_warns_of_the_best_of_many(queue, begin):
    work = begin()
    assert work.verdict().sentence == "No trial is finished yet."

    run(work, queue)

    verdict = work.verdict()
    best = f"Trial {work.best.number}: Macro F1 {100 * work.score_of(work.best):.1f} on dev"
    assert verdict.sentence.startswith(best) and verdict.n == 4
    assert verdict.sentence.endswith("best of 4 on dev: expect a lower score on test.")
    assert verdict.default == work.score_of(work.cells[0])


def test_the_verdict_says_that_the_defaults_are_as_good(project, queue, begin):
    work = run(begin(trials=2), queue, lambda job: finish(job, 0.5))

    assert work.verdict().sentence.endswith("No trial is better than the defaults.")
    columns = {column.key: column for column in work.columns()}
    assert columns["minutes"].value(again(project, work).cells[0]) == 1.0  # of its run


def test_importance_needs_ten_trials(queue, begin):
    work = run(begin(), queue)

    with pytest.raises(WorkbenchError, match="Needs 10 trials, has 4"):
        work.importance(queue)


def test_the_report_has_every_trial(queue, begin):
    work = run(begin(), queue)

    report = work.report()
    assert report["best"] == work.best.number and report["ranges"]["batch_size"] == "8, 16"
    assert report["trials"][0]["learning_rate"] == work.trials[0].values["learning_rate"]
    assert report["defaults"]["macro_f1"] == work.score_of(work.cells[0])
    assert [row["trial"] for row in report["trials"]] == [1, 2, 3, 4]


def test_suggested_ranges_lie_around_the_automatic_values(project, base):
    suggested = {item.range.name: item for item in search.suggest(project, base)}

    assert suggested["learning_rate"].range.text() == "3e-5..3e-4:log"
    assert suggested["batch_size"].range.values == (8, 16, 32)
    assert not suggested["weight_decay"].on and "lora_rank" not in suggested
    lora = search.suggest(project, replace(base, options={"method": "lora"}))
    assert {"lora_rank", "lora_dropout"} <= {item.range.name for item in lora}


def test_a_search_without_data_says_so(project, queue, base, begin):
    work = begin()
    work.spec = replace(work.spec, base=replace(base, layer="nothing"))

    run(work, queue)

    assert work.status == "paused" and work.error


def test_several_trials_are_chosen_at_a_time_on_a_cluster_and_the_same_again(
    project, queue, begin, monkeypatch
):
    monkeypatch.setattr(search.Search, "places", 3)
    whole = run(begin(trials=8, sampler="tpe"), queue)
    broken = begin(trials=8, sampler="tpe", seed_of_runs=2)

    def pause(job):
        finish(job)
        if len(broken.trials) == 6:
            broken.pause()

    run(broken, queue, pause)
    assert broken.status == "paused"
    work = run(again(project, broken), queue)

    assert values(work) == values(whole) and len(whole.trials) == 8
    assert len({str(trial) for trial in values(whole)}) == 8
    assert [cell.status for cell in work.trials] == ["done"] * 8
