"""The next documents of the queue are predicted before they are opened."""

import pytest

from tests import panel_tasks
from workbench.jobs.spec import JobSpec
from workbench.operations.annotation import annotate, preannotate
from workbench.operations.annotation.preannotate import FAILED, IDLE, RUNNING, WAITING, QueuePlace
from workbench.storage.queries.listing import Filter
from workbench.storage.runs import runs


@pytest.fixture
def context(queue):
    return panel_tasks.context(queue=queue)


@pytest.fixture
def predicting(context):
    """The predictions that have been asked for; called, they run."""
    return panel_tasks.hold(context, "predictions")


@pytest.fixture
def made(project, queue, trained, context, predicting):
    """A pre-annotation by the run of `trained`, at the first document, in file order."""
    found = preannotate.Preannotation(project, queue, context)
    found.use((trained,))
    yield found
    found.close()
    assert not queue.changed.listeners


@pytest.fixture
def predict_next(queue, predicting, answers):
    """Let the oldest prediction run; returns its job."""

    def run():
        jobs = []
        answers("praise")
        worker = queue.worker
        queue.worker = lambda job: (jobs.append(job), worker(job))
        predicting.pop(0)()
        return jobs[0]

    return run


def place(project, open, *, in_file_order=True):
    ids = annotate.queue(project)
    return QueuePlace(ids, open, Filter() if in_file_order else None)


def test_unfinished_documents_after_the_open_one_are_predicted_in_one_job(
    project, queue, trained, topics, predict_next, made
):
    ids, before = topics[1], project.undo_title

    made.follow(place(project, ids[0]))
    assert made.status == RUNNING and (made.ready, made.wanted) == (0, 4)
    job = predict_next()

    assert set(runs.predicted(project.db, trained.id)) >= set(ids[-4:])
    assert (made.status, made.ready, made.wanted) == (IDLE, 4, 4)
    assert job not in queue.jobs  # a list of jobs that grows with every few documents helps nobody
    assert project.undo_title == before


def test_documents_that_come_later_are_predicted_next(
    project, queue, topics, add_texts, predict_next, made
):
    made.follow(place(project, topics[1][0]))
    predict_next()
    later = add_texts(["late again", " "])

    made.follow(place(project, topics[1][-1]))

    job = predict_next()
    assert job.spec.params["total"] == 1  # nothing to predict in the empty one
    assert later[0] in runs.predicted(project.db, made.runs[0].id)
    assert (made.ready, made.wanted) == (2, 2)  # the open one, and the new one


def test_the_order_of_the_queue_decides_what_comes_next(project, topics):
    layer, ids = topics
    order = [ids[-2], ids[0], ids[-4], ids[-1], ids[-3]]

    found = preannotate.upcoming(project, layer, QueuePlace(order, ids[-4]), 2)

    assert found == [ids[-4], ids[-1]]


def test_finished_documents_of_a_long_queue_are_passed_at_once(project, topics, monkeypatch):
    layer, ids = topics
    monkeypatch.setattr(preannotate, "CHUNK", 2)
    monkeypatch.setattr(preannotate, "FAR", 2)

    found = preannotate.upcoming(project, layer, place(project, ids[0]), 9)

    assert found == list(ids[-4:])


def test_nothing_is_predicted_while_a_training_waits_for_the_device(
    project, queue, topics, predicting, made
):
    queue.add(JobSpec("a:b", title="Train", device="cpu"))

    made.follow(place(project, topics[1][0]))
    assert made.status == WAITING and not predicting
    queue.jobs[-1].start()

    assert made.status == RUNNING and len(predicting) == 1  # it has the CPU beside a training


def test_a_failure_is_told_and_not_repeated_before_the_user_asks(
    project, queue, topics, predicting, made
):
    made.follow(place(project, topics[1][0]))
    queue.worker = lambda job: job.end("failed", message="No space left.")
    predicting.pop()()

    made.follow(place(project, topics[1][-1]))
    assert made.status == FAILED and made.message == "No space left." and not predicting
    made.retry()

    assert made.status == RUNNING and len(predicting) == 1


def test_the_newest_run_of_a_layer_is_one_of_the_choices(project, topics, trained):
    layer = topics[0]

    assert preannotate.resolved(project, {layer.id: preannotate.NEWEST}) == (trained,)
    assert preannotate.resolved(project, {layer.id: trained.id + 1}) == ()


def test_the_end_of_a_job_for_runs_chosen_before_does_not_stop_the_present_ones(
    project, queue, topics, trained, predicting, predict_next, made
):
    made.follow(place(project, topics[1][0]))
    before = predicting.pop()

    made.use(())
    made.use((trained,))
    assert made.status == RUNNING and len(predicting) == 1
    before()

    assert made.status == RUNNING and made.message == ""
    predict_next()
    assert (made.status, made.ready) == (IDLE, 4)
