"""Suggestions of a run: for which documents, replacement, and rejected ones."""

from workbench.operations.annotation import document_view, suggest, suggestion_edits
from workbench.operations.documents import corpus
from workbench.operations.runs import predict
from workbench.storage.documents import documents


def test_documents_that_nobody_has_begun_get_suggestions_and_stay_pending(
    project, queue, trained, topics, answers
):
    answers("praise")
    before = corpus.info(project)["states"]

    answer = suggest.suggest(project, queue, trained)

    assert (answer.documents, answer.suggestions) == (4, 4) and corpus.info(project)[
        "states"
    ] == before
    (row,) = document_view.view(project, topics[1][-1]).suggestions
    assert (row.source, row.score, row.kind) == ("first", 0.9, "class")


def test_asking_again_replaces_open_ones_and_rejected_ones_do_not_return(
    project, queue, trained, topics, answers
):
    answers("praise")
    _layer, ids = topics
    suggest.suggest(project, queue, trained)
    suggestion_edits.reject(project, [document_view.view(project, ids[-1]).suggestions[0].id])

    answer = suggest.suggest(project, queue, trained)

    assert (answer.documents, answer.suggestions) == (4, 3)
    assert (
        document_view.view(project, ids[-1]).suggestions == ()
        and len(document_view.view(project, ids[-2]).suggestions) == 1
    )


def test_only_chosen_documents_of_the_layer_are_asked_about(
    project, queue, trained, topics, add_documents, answers
):
    answers("praise")
    pair = add_documents([(("one", "other"), None, None, "topic", None)])[0]

    answer = suggest.suggest(project, queue, trained, ids=[pair, topics[1][-1], topics[1][0]])

    assert answer.documents == 1


def test_a_label_that_is_gone_is_not_suggested(project, queue, trained, topics, answers):
    answers("praise")
    from workbench.storage.labels import labels

    with project.edit("delete label"):
        labels.delete_label(project.db, topics[0].label("praise").id)

    assert suggest.suggest(project, queue, trained).suggestions == 0


def test_weights_of_eight_bits_suggest_and_leave_stored_predictions_alone(
    project, queue, trained, topics, answers, monkeypatch
):
    answers("praise")
    monkeypatch.setattr(predict, "usable", lambda model, name: model)

    answer = suggest.suggest(project, queue, trained)

    assert answer.suggestions == 4 and "weights of 8 bits" in answer.note
    assert "int8" in [job.spec.params.get("weights") for job in queue.jobs]
    records = list(documents.records(project.db, ids=topics[1][-4:]))
    assert predict.stored(project, trained, [record.document for record in records]) == {}
