"""Orders of the queue: computed from predictions or vectors, kept, without finished documents."""

from pathlib import Path

import pytest

from tests.inline import InlineQueue
from workbench.base.errors import Cancelled, SpecError
from workbench.base.watch import Watch
from workbench.operations.annotation import annotate, queue_list, queue_orders
from workbench.operations.annotation.queue_orders import OrderSpec
from workbench.operations.inspecting import inspect
from workbench.storage.documents import documents
from workbench.storage.runs import runs


@pytest.fixture
def order(project):
    """order(wanted) → the order, its jobs run in this process."""

    def compute(wanted):
        jobs = InlineQueue()
        try:
            return queue_orders.compute(project, jobs, wanted)
        finally:
            jobs.close()

    return compute


def predict(project, run, scores):
    """Store a prediction of praise with these probabilities, by document id."""
    rows = []
    for id, score in scores.items():
        payload = {"label": "praise", "scores": {"praise": score, "complaint": 1 - score}}
        rows.append((id, documents.get(project.db, id).text_hash, payload))
    with project.write("Store predictions"):
        runs.save_predictions(project.db, run.id, rows)


@pytest.fixture
def uncertain(project, trained, topics):
    """A run that has predicted the open documents: the third is the least certain."""
    layer, ids = topics
    predict(project, trained, dict(zip(ids[-4:], (0.9, 0.8, 0.5, 0.7), strict=True)))
    return trained


def test_unfinished_documents_are_ordered_by_uncertainty_and_kept(
    project, topics, uncertain, order
):
    layer, ids = topics
    a, b, c, d = ids[-4:]

    found = order(OrderSpec("least_confidence", layer, (uncertain,), share=0.0))

    assert list(found.ids) == [c, d, b, a]
    assert found.scores[d] == pytest.approx(0.3)
    again = queue_orders.kept(project, layer.id)
    assert again == found and list(again.ids) == list(found.ids) and again.source == "first"


def test_documents_that_are_labelled_since_are_not_listed(project, topics, uncertain, order):
    layer, ids = topics
    found = order(OrderSpec("margin", layer, (uncertain,), share=0.0))
    annotate.set_class(project, ids[-2], layer.labels[0].id)
    annotate.submit(project, ids[-2], [layer.id])

    listed = queue_list.next_documents(project, layer, found, 2)

    assert [document.id for document in listed.documents] == [ids[-1], ids[-3]] and listed.left == 3


def test_missing_predictions_are_computed_first(project, queue, trained, topics, answer_job):
    layer, ids = topics
    known, targets = [], []

    def worker(job):
        targets.append(job.spec.target)
        if job.spec.target != queue_orders.TARGET:
            return answer_job(job, "praise")
        known.extend(runs.payloads(project.db, trained.id, ids[-4:]))
        return job.end("cancelled")

    queue.worker = worker
    with pytest.raises(Cancelled):
        queue_orders.compute(project, queue, OrderSpec("entropy", layer, (trained,)))

    assert set(known) == set(ids[-4:]) and targets[-1] == queue_orders.TARGET
    assert queue_orders.kept(project, layer.id) is None
    assert not Path(queue.jobs[-1].spec.folder).exists()


def test_control_documents_are_marked(project, topics, uncertain, order):
    layer, _ids = topics

    found = order(OrderSpec("least_confidence", layer, (uncertain,), share=0.25))

    assert found.control == {found.ids[3]}


def test_diversity_reads_vectors_of_a_model(project, topics, tiny_model, order):
    layer, ids = topics
    model = inspect.of_folder(str(tiny_model))

    found = order(OrderSpec("diversity", layer, model=model, share=0.0))

    assert sorted(found.ids) == sorted(ids[-4:]) and found.source == model.title
    assert list(found.scores.values()) == sorted(found.scores.values(), reverse=True)


@pytest.mark.parametrize(
    ("strategy", "message"),
    [
        ("margin", "requires the predictions"),
        ("diversity", "requires vectors"),
        ("disagreement", "two runs"),
    ],
)
def test_what_a_strategy_lacks_is_said(project, queue, topics, strategy, message):
    with pytest.raises(SpecError, match=message):
        queue_orders.compute(project, queue, OrderSpec(strategy, topics[0]))


def test_a_damaged_order_is_none_and_documents_added_later_come_last(project, topics, order):
    layer, ids = topics
    found = order(OrderSpec("random", layer))

    arranged = queue_orders.arranged(found, [*ids[-4:], 999])
    (project.runs_folder / "queue" / f"{layer.id}.npz").write_bytes(b"damaged")

    assert list(arranged) == [*found.ids, 999]
    assert queue_orders.kept(project, layer.id) is None
    queue_orders.forget(project, layer.id)
    queue_orders.forget(project, layer.id)


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_an_order_that_is_cancelled_starts_no_further_job(
    project, queue, trained, topics, answer_job, when
):
    queue.jobs, watch = (), Watch()  # without the job that has trained the run

    def worker(job):
        answer_job(job, "praise")
        watch.cancel()

    queue.worker = worker
    if when == "before":
        watch.cancel()
    with pytest.raises(Cancelled):
        queue_orders.compute(
            project, queue, OrderSpec("entropy", topics[0], (trained,)), watch=watch
        )

    assert len(queue.jobs) == (when == "meanwhile")
    assert all(job.spec.target != queue_orders.TARGET for job in queue.jobs)
