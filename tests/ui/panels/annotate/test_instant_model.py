"""The instant model in a project: vectors, labels as they change, order and advice."""

from pathlib import Path

import pytest

from tests.inline import InlineHost, InlineQueue
from workbench.base import scratch
from workbench.operations.annotation import annotate, instant, instant_curve
from workbench.operations.annotation.instant import Instant
from workbench.operations.annotation.instant_curve import Point, advice
from workbench.operations.application.background import here
from workbench.operations.inspecting import inspect


@pytest.fixture
def started(project, tiny_model, monkeypatch):
    """started(layer) → its instant model with vectors of a tiny model, all in this process."""
    mail, models = [], []
    jobs = InlineQueue(dispatch=mail.append)
    hosts = []

    def host(spec, **named):
        hosts.append(spec)
        return InlineHost(spec, **named)

    monkeypatch.setattr("workbench.jobs.host.Host", host)

    def work():
        while mail:
            mail.pop(0)()

    def start(layer, *, working=True):
        """working: until the vectors of the tiny model are computed."""
        model = Instant(project, jobs, layer, here)
        models.append(model)
        model.start(inspect.of_folder(str(tiny_model)))
        if working:
            work()
        return model

    start.work, start.jobs, start.hosts = work, jobs, hosts

    yield start
    for model in models:
        model.close()
    jobs.close()


def test_classes_are_learned_and_the_rest_is_ordered(project, topics, started):
    layer, ids = topics
    model = started(layer)

    assert (model.status, model.labelled) == (instant.READY, 12)  # test stays unseen
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
    assert model.indexing and model.order is before and model.status == instant.READY
    started.work()

    assert later in model.order.ids and model.labelled == 12 and not model.indexing
    model.documents_changed()
    assert not model.indexing  # nothing is new


def test_the_curve_goes_on_when_the_project_is_opened_again(project, topics, started):
    layer, ids = topics
    first = started(layer)
    first.close()

    again = started(layer)

    assert again.points == first.points and len(again.points) == 1
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

    assert (model.status, model.labelled, model.order) == (instant.READY, 4, None)


def points(*pairs):
    return [Point(10 * at, score, 20, kappa) for at, (score, kappa) in enumerate(pairs, 1)]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (points((0.5, None), (0.6, 0.8)), "2 more points"),
        (points((0.5, 0.8), (0.6, 0.9), (0.7, 0.95)), "score still rises with"),
        (points((0.7, 0.8), (0.7, 0.9), (0.7, 0.95)), "predictions still change"),
        (points((0.6, 0.99), (0.65, 1.0), (0.7, 0.99)), "held-out labels still rises"),
        (points((0.7, 0.99), (0.71, 1.0), (0.705, 0.99)), "unlikely to help"),
        (points((None, 0.99), (None, 1.0), (None, 0.99)), "unlikely to help"),
    ],
)
def test_advice_follows_the_last_three_points(given, words):
    assert words in advice(given)


@pytest.fixture
def reading(project, topics, tiny_model, started):
    """A model whose next readings of all labels are held back, as (work, done)."""
    model, held = started(topics[0]), []
    model._background = lambda work, done: held.append((work, done))
    model.held = held
    return model


def test_labels_that_were_read_before_a_change_do_not_replace_it(project, topics, reading):
    layer, ids = topics
    reading.labels_changed(None)
    work, done = reading.held[0]
    before = work()
    annotate.discard(project, ids[0], [layer.id])
    annotate.set_class(project, ids[-1], layer.labels[0].id)
    annotate.submit(project, ids[-1], [layer.id])
    reading.labels_changed([ids[0], ids[-1]])
    assert reading.labelled == 12

    done(before, None)

    assert reading.labelled == 12 and ids[-1] not in reading.order.ids


def test_an_earlier_reading_of_all_labels_does_not_replace_a_later_one(project, topics, reading):
    layer, ids = topics
    reading.labels_changed(None)
    before = reading.held[0][0]()
    annotate.discard(project, ids[0], [layer.id])
    reading.labels_changed(None)

    reading.held[1][1](reading.held[1][0](), None)
    reading.held[0][1](before, None)

    assert reading.labelled == 11


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
    project, topics, reading, add_texts
):
    reading.documents_changed()
    work, done = reading.held[0]
    before = work()
    add_texts(["late again"])
    reading.documents_changed()
    assert len(reading.held) == 1

    done(before, None)

    assert len(reading.held) == 2


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

    assert (model.status, model.vectors, model.labelled) == (instant.READY, instant.WORDS, 12)
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


def test_without_vectors_it_goes_on_with_words_and_says_why(project, topics, started, monkeypatch):
    layer, ids = topics
    model = started(layer, working=False)

    started.jobs.jobs[0].cancel()
    started.work()

    assert (model.status, model.vectors) == (instant.READY, instant.WORDS) and model.message
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


def test_vectors_are_not_computed_before_the_first_answer_from_words(
    project, topics, started, monkeypatch
):
    asked = []
    monkeypatch.setattr(InlineHost, "ask", lambda self, *asking: asked.append((self, asking)))

    model = started(topics[0])
    assert model.status == instant.STARTING and not started.jobs.jobs
    host, (_kind, request, done) = asked[0]
    done(host.ask_now(request), None)

    assert model.status == instant.READY and model.indexing


def test_turned_off_while_the_documents_are_read_it_leaves_no_files(project, topics, tiny_model):
    before = set(scratch.root().glob("*"))
    held, jobs = [], InlineQueue()
    model = Instant(project, jobs, topics[0], lambda work, done: held.append((work, done)))
    model.start(inspect.of_folder(str(tiny_model)))
    (work, done) = held[0]
    found = work()
    assert len({path for path in scratch.root().iterdir() if path.is_dir()} - before) == 2

    model.close()
    done(found, None)

    assert set(scratch.root().glob("*")) <= before and not jobs.jobs
    jobs.close()
