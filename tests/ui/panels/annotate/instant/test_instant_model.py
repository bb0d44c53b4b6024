"""The instant model while it is on: vectors, labels as they change, order."""

from pathlib import Path

import pytest

from tests import panel_tasks
from tests.held import Held
from tests.inline import InlineHost, InlineQueue
from workbench.base import scratch
from workbench.base.errors import JobFailed
from workbench.operations.annotation import annotate, instant, instant_curve
from workbench.operations.annotation.instant_curve import CurvePoint
from workbench.operations.inspecting import inspect
from workbench.ui.panels.annotate.instant.instant_model import READY, STARTING, VECTORS, Instant


@pytest.fixture
def context(project):
    queue = InlineQueue()
    yield panel_tasks.context(project=project, queue=queue)
    queue.close()


@pytest.fixture
def started(context, tiny_model, monkeypatch):
    """started(layer) → its instant model with vectors of a tiny model, all in this process."""
    models, hosts, held = [], [], panel_tasks.hold(context, "compute_vectors")

    def host(spec, **named):
        hosts.append(spec)
        return InlineHost(spec, **named)

    monkeypatch.setattr("workbench.jobs.host.Host", host)

    def work():
        while held:
            held.pop(0)()

    def start(layer, *, working=True):
        """working: until the vectors of the tiny model are computed."""
        model = Instant(context, layer)
        models.append(model)
        model.start(inspect.of_folder(str(tiny_model)))
        if working:
            work()
        return model

    start.work, start.jobs, start.hosts = work, context.queue, hosts

    yield start
    for model in models:
        model.close()


def test_classes_are_learned_and_the_rest_is_ordered(project, topics, started):
    layer, ids = topics
    model = started(layer)

    assert (model.status, model.labelled) == (READY, 12)  # test stays unseen
    assert sorted(model.order.ids) == sorted(ids[-4:]) and model.order.source == "instant model"
    ((label, start, end, sure),) = model.answers[ids[-1]]
    assert label in (0, 1) and start is end is None and 0.5 <= sure <= 1


def test_a_new_label_is_learned_at_once(project, topics, started):
    layer, ids = topics
    model = started(layer)
    annotate.set_class(project, ids[-1], layer.labels[0].id)
    annotate.submit(project, ids[-1], [layer.id])

    model.labels_changed([ids[-1]])

    assert model.labelled == 13 and ids[-1] not in model.order.ids
    model.labels_changed(None)
    assert model.labelled == 13


def test_a_draft_with_a_class_is_learned_before_it_is_submitted(project, topics, started):
    layer, ids = topics
    model = started(layer)
    annotate.set_class(project, ids[-1], layer.labels[0].id)

    model.labels_changed([ids[-1]])

    assert model.labelled == 13 and ids[-1] in model.order.ids
    annotate.clear_class(project, ids[-1], layer.id, layer.labels[0].id)
    model.labels_changed([ids[-1]])
    assert model.labelled == 12


def test_documents_imported_later_join_the_order(project, topics, started, add_texts):
    layer, _ids = topics
    model = started(layer)
    before = model.order

    (later,) = add_texts(["the lift is late"])
    model.documents_changed()
    assert model.indexing and model.order is before and model.status == READY
    started.work()

    assert later in model.order.ids and model.labelled == 12 and not model.indexing
    model.documents_changed()
    assert not model.indexing  # nothing is new


def test_the_curve_goes_on_when_the_project_is_opened_again(project, topics, started):
    layer, ids = topics
    first = started(layer)
    first.close()
    (point,) = first.points
    instant_curve.keep(project, layer, first.model, (CurvePoint(10, 0.5, 10, None), point))

    again = started(layer)

    assert again.points == (CurvePoint(10, 0.5, 10, None), point)
    instant_curve.keep(project, layer, "another model", again.points)
    assert instant_curve.kept(project, layer, again.model) == ()


def test_spans_are_learned_from_words(project, add_layer, add_documents, started):
    layer = add_layer("names", "span", ("PER",))
    rows = [(f"then Ada came {n}", None, "submitted", "names", [(5, 8, "PER")]) for n in range(12)]
    ids = add_documents([*rows, ("then Ada came", None, None, "names", None)])

    model = started(layer)

    assert model.labelled == 12 and list(model.order.ids) == [ids[-1]]
    assert [row[:3] for row in model.answers[ids[-1]]] == [[0, 5, 8]]


def test_fewer_than_ten_labels_give_no_order(project, add_layer, add_documents, started):
    layer = add_layer("topic")
    add_documents([("one text", None, "submitted", "topic", "praise")] * 4)

    model = started(layer)

    assert (model.status, model.labelled, model.order) == (READY, 4, None)


def test_labels_that_change_while_it_learns_are_learned_after_it(project, topics, started, context):
    layer, ids = topics
    model, held = started(layer), Held(context)
    model.labels_changed(None)
    held.compute(0)
    annotate.discard(project, ids[0], [layer.id])
    annotate.set_class(project, ids[-1], layer.labels[0].id)
    annotate.submit(project, ids[-1], [layer.id])
    model.labels_changed([ids[0]])
    model.labels_changed([ids[-1]])
    assert len(held) == 1

    held.answer(0)
    assert model.labelled == 12
    held.rest()

    assert len(held) == 2 and model.labelled == 12
    assert ids[-1] not in model.order.ids and ids[0] not in model.order.ids


def test_a_process_that_has_ended_learns_from_all_labels_again(
    project, topics, started, monkeypatch
):
    layer, ids = topics
    model = started(layer)
    answer = InlineHost.ask_now

    def crash(host, *_request):
        host._answer = None
        raise JobFailed("The model process ended unexpectedly.")

    monkeypatch.setattr(InlineHost, "ask_now", crash)
    model.labels_changed([ids[0]])
    assert model.message.startswith("The model process ended") and model.status == READY
    monkeypatch.setattr(InlineHost, "ask_now", answer)

    model.labels_changed([ids[0]])

    assert model.labelled == 12


def test_labels_that_a_large_change_has_removed_are_no_longer_learned(project, topics, started):
    layer, ids = topics
    model = started(layer)
    annotate.set_class(project, ids[-1], layer.labels[0].id)
    annotate.submit(project, ids[-1], [layer.id])
    model.labels_changed([ids[-1]])
    project.undo(2)

    model.labels_changed(None)

    assert model.labelled == 12 and ids[-1] in model.order.ids


def test_documents_that_come_while_the_vectors_are_looked_up_are_looked_up_too(
    topics, started, context, add_texts
):
    model, held = started(topics[0]), Held(context)
    model.documents_changed()
    held.compute(0)
    add_texts(["late again"])
    model.documents_changed()
    assert len(held) == 1

    held.answer(0)

    assert len(held) == 2


def test_trainings_do_not_wait_for_its_vectors_and_it_computes_with_one_thread(
    project, topics, started
):
    started(topics[0])

    (job,) = started.jobs.jobs
    assert job.spec.background and job.status == "done"
    assert {spec.env["OMP_NUM_THREADS"] for spec in started.hosts} == {"1"}


def test_it_learns_from_words_until_the_vectors_are_computed(project, topics, started):
    layer, ids = topics

    model = started(layer, working=False)

    assert (model.status, model.vectors, model.labelled) == (READY, instant.WORDS, 12)
    assert model.indexing and model.order.source == "instant model (words)"
    assert sorted(model.order.ids) == sorted(ids[-4:]) and model.answers[ids[-1]]
    started.work()
    assert model.vectors == model.model != instant.WORDS and not model.indexing
    assert model.order.source == "instant model" and model.labelled == 12


def test_the_learning_curves_of_words_and_of_vectors_are_kept_apart(project, topics, started):
    layer, _ids = topics
    model = started(layer, working=False)
    of_words = model.points
    assert len(of_words) == 1

    started.work()

    assert len(model.points) == 1 and model.points[0].agreement is None
    assert instant_curve.kept(project, layer, instant.WORDS) == of_words
    assert instant_curve.kept(project, layer, model.model) == model.points


def test_labels_that_are_given_while_it_learns_from_words_are_learned_from_vectors_too(
    project, topics, started
):
    layer, ids = topics
    model = started(layer, working=False)
    annotate.set_class(project, ids[-1], layer.labels[0].id)
    annotate.submit(project, ids[-1], [layer.id])
    model.labels_changed([ids[-1]])
    assert model.labelled == 13 and model.vectors == instant.WORDS

    started.work()

    assert model.labelled == 13 and ids[-1] not in model.order.ids
    assert model.vectors == model.model


def test_documents_are_learned_from_vectors_and_words_whose_texts_are_deleted_at_the_end(
    project, topics, started
):
    model = started(topics[0])
    words, both = (spec.params for spec in started.hosts)
    assert "index" not in words and "index" in both and words["texts"] == both["texts"]
    texts = Path(both["texts"])
    assert texts.is_file()

    model.close()

    assert not texts.parent.exists()


def test_spans_are_learned_from_vectors_alone_once_they_are_computed(
    project, add_layer, add_documents, started
):
    layer = add_layer("names", "span", ("PER",))
    rows = [(f"then Ada came {n}", None, "submitted", "names", [(5, 8, "PER")]) for n in range(12)]
    add_documents(rows)

    started(layer)

    words, vectors = (spec.params for spec in started.hosts)
    assert "texts" not in vectors and not Path(words["texts"]).exists()


def test_without_vectors_it_goes_on_with_words_and_says_why(context, topics, started):
    layer, ids = topics
    model = started(layer, working=False)

    context.cancel(VECTORS)
    started.work()

    assert (model.status, model.vectors) == (READY, instant.WORDS) and model.message
    assert not model.indexing and sorted(model.order.ids) == sorted(ids[-4:])


def test_vectors_that_exist_are_used_at_once(project, topics, started):
    started(topics[0]).close()

    model = started(topics[0], working=False)

    assert model.vectors == model.model and not model.indexing
    assert {"index", "texts"} <= started.hosts[-1].params.keys()


def test_the_time_left_for_the_vectors_is_told_with_each_report(project, topics, started):
    model = started(topics[0], working=False)
    told = []
    model.progressed.connect(lambda: told.append((model.computed, model.seconds_left)))

    started.work()

    assert told[0] == (0.0, None) and told[-1][0] == 1.0 and told[-1][1] == 0.0
    assert [share for share, _left in told] == sorted(share for share, _left in told)


def test_vectors_are_not_computed_before_the_first_answer_from_words(context, topics, started):
    held = panel_tasks.hold(context, "learn")

    model = started(topics[0])
    assert model.status == STARTING and not model.indexing
    held.pop()()

    assert model.status == READY and model.indexing


def test_turned_off_while_the_documents_are_read_it_leaves_no_files(
    context, project, topics, tiny_model
):
    before = set(scratch.root().glob("*"))
    held, model = Held(context), Instant(context, topics[0])
    model.start(inspect.of_folder(str(tiny_model)))
    held.compute(0)
    assert len({path for path in scratch.root().iterdir() if path.is_dir()} - before) == 1

    model.close()
    held.answer(0)
    held.forget(0)

    assert set(scratch.root().glob("*")) <= before and not context.queue.jobs
