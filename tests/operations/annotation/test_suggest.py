"""Suggestions of a run: for which documents, replacement, and rejected ones."""

from workbench.operations.annotation import annotate, suggest, suggestion_edits
from workbench.operations.documents import corpus


def ask(project, queue, run, answer_job=None, label="praise", **more):
    collected = []
    job = suggest.suggest(
        project, queue, run, lambda value, error: collected.append((value, error)), **more
    )
    if job:
        answer_job(job, label)
    value, error = collected[0]
    assert error is None
    return value


def test_documents_that_nobody_has_begun_get_suggestions_and_stay_pending(
    project, queue, trained, topics, answer_job
):
    before = corpus.info(project)["states"]

    answer = ask(project, queue, trained, answer_job)

    assert (answer.documents, answer.suggestions) == (4, 4) and corpus.info(project)[
        "states"
    ] == before
    (row,) = annotate.view(project, topics[1][-1]).suggestions
    assert (row.source, row.score, row.kind) == ("first", 0.9, "class")


def test_asking_again_replaces_open_ones_and_rejected_ones_do_not_return(
    project, queue, trained, topics, answer_job
):
    _layer, ids = topics
    ask(project, queue, trained, answer_job)
    suggestion_edits.reject(project, [annotate.view(project, ids[-1]).suggestions[0].id])

    answer = ask(project, queue, trained)

    assert (answer.documents, answer.suggestions) == (4, 3)
    assert (
        annotate.view(project, ids[-1]).suggestions == ()
        and len(annotate.view(project, ids[-2]).suggestions) == 1
    )


def test_only_chosen_documents_of_the_layer_are_asked_about(
    project, queue, trained, topics, add_documents, answer_job
):
    pair = add_documents([(("one", "other"), None, None, "topic", None)])[0]

    answer = ask(project, queue, trained, answer_job, ids=[pair, topics[1][-1], topics[1][0]])

    assert answer.documents == 1


def test_a_label_that_is_gone_is_not_suggested(project, queue, trained, topics, answer_job):
    from workbench.storage.labels import labels

    with project.edit("delete label"):
        labels.delete_label(project.db, topics[0].label("praise").id)

    assert ask(project, queue, trained, answer_job).suggestions == 0


def test_reading_and_writing_many_documents_can_go_to_another_thread(
    project, queue, trained, topics, answer_job
):
    work, collected = [], []

    suggest.suggest(
        project,
        queue,
        trained,
        lambda value, error: collected.append(value),
        background=lambda act, done: work.append((act, done)),
    )
    while work:  # each part as a thread would do it, its end told afterwards
        act, done = work.pop(0)
        done(act(), None)
        if queue.jobs[-1].status == "waiting":
            answer_job(queue.jobs[-1], "praise")

    assert collected[0].suggestions == 4
