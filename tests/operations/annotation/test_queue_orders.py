"""Orders of the queue: computed from predictions or vectors, kept, without finished documents."""

import pytest

from tests.inline import InlineQueue
from workbench.base.errors import Cancelled, SpecError
from workbench.operations.annotation import annotate, queue_list, queue_orders
from workbench.operations.annotation.queue_orders import Wanted
from workbench.operations.application.background import here
from workbench.operations.inspecting import inspect
from workbench.storage.documents import documents
from workbench.storage.runs import runs


@pytest.fixture
def order(project):
    """order(wanted) → the order, its jobs run in this process."""

    def compute(wanted):
        mail, ended = [], []
        jobs = InlineQueue(dispatch=mail.append)
        computation = queue_orders.Computation(
            project, jobs, wanted, lambda *result: ended.append(result)
        )
        computation.start()
        while mail:
            mail.pop(0)()
        jobs.close()
        assert not computation.folder.exists()
        ((found, error),) = ended
        assert error is None
        return found

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

    found = order(Wanted("least_confidence", layer, (uncertain,), share=0.0))

    assert list(found.ids) == [c, d, b, a]
    assert found.scores[d] == pytest.approx(0.3)
    again = queue_orders.kept(project, layer.id)
    assert again == found and list(again.ids) == list(found.ids) and again.source == "first"


def test_documents_that_are_labelled_since_are_not_listed(project, topics, uncertain, order):
    layer, ids = topics
    found = order(Wanted("margin", layer, (uncertain,), share=0.0))
    annotate.set_class(project, ids[-2], layer.labels[0].id)
    annotate.submit(project, ids[-2], [layer.id])

    listed = queue_list.next_documents(project, layer, found, 2)

    assert [document.id for document in listed.documents] == [ids[-1], ids[-3]] and listed.left == 3


def test_missing_predictions_are_computed_first(project, queue, trained, topics, answer_job):
    layer, ids = topics
    ended = []
    wanted = Wanted("entropy", layer, (trained,))
    computation = queue_orders.Computation(
        project, queue, wanted, lambda *result: ended.append(result)
    )

    computation.start()
    answer_job(computation.job, "praise")
    job = computation.job

    assert runs.payloads(project.db, trained.id, ids[-4:]).keys() == set(ids[-4:])
    assert job.spec.target == queue_orders.TARGET and not ended
    job.start()
    job.end("cancelled")
    assert isinstance(ended[0][1], Cancelled) and not computation.folder.exists()


def test_control_documents_are_marked(project, topics, uncertain, order):
    layer, _ids = topics

    found = order(Wanted("least_confidence", layer, (uncertain,), share=0.25))

    assert found.control == {found.ids[3]}


def test_diversity_reads_vectors_of_a_model(project, topics, tiny_model, order):
    layer, ids = topics
    model = inspect.of_folder(str(tiny_model))

    found = order(Wanted("diversity", layer, model=model, share=0.0))

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
        queue_orders.Computation(
            project, queue, Wanted(strategy, topics[0]), lambda *_result: None
        ).start()


def test_a_damaged_order_is_none_and_documents_added_later_come_last(project, topics, order):
    layer, ids = topics
    found = order(Wanted("random", layer))

    arranged = queue_orders.arranged(found, [*ids[-4:], 999])
    (project.runs_folder / "queue" / f"{layer.id}.npz").write_bytes(b"damaged")

    assert list(arranged) == [*found.ids, 999]
    assert queue_orders.kept(project, layer.id) is None
    queue_orders.forget(project, layer.id)
    queue_orders.forget(project, layer.id)


@pytest.fixture
def delayed(project, queue, trained, topics):
    """(computation, step, ended): as in the window, work is done later, one part by each step()."""
    layer, _ids = topics
    waiting, ended = [], []
    queue.jobs = ()  # without the one that has trained the run

    def step():
        here(*waiting.pop(0))

    computation = queue_orders.Computation(
        project,
        queue,
        Wanted("entropy", layer, (trained,)),
        lambda *result: ended.append(result),
        lambda work, done: waiting.append((work, done)),
    )
    computation.start()
    return computation, step, ended


def test_predictions_that_a_window_computes_in_the_background_can_be_cancelled(queue, delayed):
    computation, step, ended = delayed
    while not queue.jobs:
        step()

    computation.cancel()

    (job,) = queue.jobs
    assert computation.job is job and job.asked == "cancel"
    job.end("cancelled")
    step()  # reads what the job has left
    assert isinstance(ended[0][1], Cancelled) and not computation.folder.exists()


def test_no_job_begins_after_work_in_the_background_that_was_cancelled(queue, delayed):
    computation, step, ended = delayed

    computation.cancel()
    step()

    assert queue.jobs == () and isinstance(ended[0][1], Cancelled)
