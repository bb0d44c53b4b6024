"""The instant model in Annotate: its suggestions are stored when they are decided on."""

import pytest

from tests.inline import InlineHost, InlineQueue
from tests.panel_tasks import hold
from tests.ui.panels.annotate.test_session import key_of, label_id
from workbench.operations.annotation import document_view, provenance, queue_orders
from workbench.operations.inspecting.inspect import of_folder
from workbench.operations.schema import labels
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document


@pytest.fixture
def learning(context, filled, tiny_model, monkeypatch):
    """A state with the instant model on, twelve more documents labelled, its vectors not yet
    computed.
    """
    from workbench.ui.panels.annotate.state import Desk

    monkeypatch.setattr("workbench.jobs.host.Host", InlineHost)
    models = (of_folder(str(tiny_model)),)
    monkeypatch.setattr(queue_orders, "vector_models", lambda _settings=None: models)
    with filled.edit("Add documents"):
        records = [
            Record(
                Document(f"m{n}", (("text", ("what a fine day", "so late again")[n % 2]),)),
                {"mood": "submitted"},
                {"mood": (("good", "bad")[n % 2],)},
            )
            for n in range(12)
        ]
        documents.add(filled.db, records, source_id=filled.source("person"))
    context.queue, vectors = InlineQueue(), hold(context, "compute_vectors")
    state = Desk(context)
    state.instant.toggle()
    state.vectors = vectors
    yield state
    state.close()
    context.queue.close()


@pytest.fixture
def learned(learning):
    """With the vectors computed."""
    work(learning)
    return learning


def work(state):
    """Compute the vectors of the documents."""
    while state.vectors:
        state.vectors.pop(0)()


def test_predictions_are_suggested_without_a_step_in_the_history(learned):
    before = learned.project.undo_title

    (row,) = [suggestion for suggestion in learned.session.suggestions if suggestion.label_id != 0]

    assert row.id < 0 and learned.session.origins.maker(row) == "instant model"
    assert learned.project.undo_title == before
    assert document_view.view(learned.project, learned.session.document_id).suggestions == ()


def test_accepting_stores_the_label_with_its_source_in_one_step(learned):
    (row,) = learned.session.suggestions
    here = learned.session.document_id

    learned.accept()

    (mark,) = document_view.view(learned.project, here).marks
    assert mark.label_id == row.label_id and provenance.origin_of(mark).ref == "instant"
    assert learned.session.suggestions == ()
    learned.project.undo()
    assert document_view.view(learned.project, here).marks == ()
    assert len(learned.session.suggestions) == 1


def test_a_rejected_prediction_does_not_return(learned):
    here = learned.session.document_id

    learned.reject()
    learned.session.open(here)

    assert learned.session.suggestions == ()


def test_a_new_label_is_learned_and_the_queue_goes_on_in_its_order(learned):
    before, key = learned.instant.model.labelled, key_of(learned)
    learned.session.switch_layer(labels.layers(learned.project)[1].id, False)

    learned.session.label(label_id(learned, "good"))
    learned.submission.submit()

    assert learned.instant.model.labelled == before + 1 and key_of(learned) != key
    assert learned.queue.queue_order is learned.instant.model.order
    assert "Learned from 13 documents" in learned.instant.line


def test_its_order_stays_when_another_layer_is_selected(learned):
    other = labels.layers(learned.project)[1].id
    for on in (False, True):
        learned.session.switch_layer(other, on)
        assert learned.queue.queue_order is learned.instant.model.order


def test_turning_it_off_ends_its_process_and_its_suggestions(learned):
    learned.instant.toggle()

    assert (
        learned.instant.model is None
        and learned.session.suggestions == ()
        and learned.queue.queue_order is None
    )


def test_it_is_on_again_when_the_project_is_opened_again(learned):
    from workbench.ui.panels.annotate.state import Desk

    again = Desk(learned.context)
    assert (
        again.instant.model is not None
        and again.instant.model.layer.name == "mood"
        and again.queue.follows
    )
    again.instant.toggle()
    again.close()

    third = Desk(learned.context)
    assert third.instant.model is None
    third.close()


def test_a_class_that_is_given_is_learned_at_once_and_no_other_is_suggested(learned):
    before = learned.instant.model.labelled
    (row,) = learned.session.suggestions
    other = next(item for item in ("good", "bad") if label_id(learned, item) != row.label_id)

    learned.session.label(label_id(learned, other))

    assert learned.instant.model.labelled == before + 1 and learned.session.suggestions == ()


def test_the_queue_counts_suggestions_that_are_not_stored(learned):
    ids = list(learned.queue.ids)

    counts = {row.key: row.suggestion_count for row in learned.queue.rows(ids)}

    assert {counts[f"k{n}"] for n in range(5)} == {1}
    assert sum(counts.values()) == 5  # none in the pair, which another layer is for


def test_kept_suggestions_are_found_and_decided_on_like_those_of_a_run(learned):
    (row,) = learned.session.suggestions
    learned.suggested.reject(row.id)
    before = learned.project.undo_title

    learned.instant.keep()

    assert learned.context.message[-1] == "Kept 4 suggestions of the instant model."
    stored = [document_view.view(learned.project, id).suggestions for id in learned.queue.ids]
    assert sum(map(len, stored)) == 4  # the rejected one does not return
    learned.queue.query.set("has:suggestion")
    assert len(learned.queue.ids) == 4
    learned.suggested.decide_everywhere(accept=True, origin=provenance.origin_of(row), least=0.0)
    learned.project.undo()
    learned.project.undo()
    assert learned.project.undo_title == before


def test_keeping_again_replaces_those_kept_before(learned):
    learned.instant.keep()
    learned.instant.keep()

    stored = [document_view.view(learned.project, id).suggestions for id in learned.queue.ids]
    assert sum(map(len, stored)) == 5


def test_in_a_read_only_project_the_instant_model_is_off_and_says_why(
    context, filled, tiny_model, monkeypatch
):
    from workbench.ui.panels.annotate.instant.instant import _ON
    from workbench.ui.panels.annotate.state import Desk

    models = (of_folder(str(tiny_model)),)
    monkeypatch.setattr(queue_orders, "vector_models", lambda _settings=None: models)
    said = []
    context.note = lambda text, **_more: said.append(text)
    context.settings.window[_ON] = {filled.uid: labels.layers(filled)[0].uid}
    context.project = other = Project.open(filled.path, read_only=True)

    state = Desk(context)
    state.instant.toggle()

    assert state.instant.model is None and "read-only" in state.instant.line
    assert said == [state.instant.line]
    state.close()
    other.close()


def test_until_its_vectors_are_computed_it_says_that_it_learns_from_words_and_how_far_they_are(
    learning,
):
    (row,) = [suggestion for suggestion in learning.session.suggestions if suggestion.label_id != 0]
    assert learning.session.origins.maker(row) == "instant model (words)"
    assert "Learned from 12 documents" in learning.instant.line
    assert "Learning from words; vectors of" in learning.instant.line
    lines = []
    learning.instant.model.progressed.connect(lambda: lines.append(learning.instant.line))

    work(learning)

    assert "0%" in lines[0] and "100%, 0:00 left" in lines[-1]
    assert "·" not in learning.instant.model.model_name  # without what else the model can do
    assert (
        f"Learning from words and vectors of {learning.instant.model.model_name}."
        in learning.instant.line
    )
    (row,) = learning.session.suggestions
    assert learning.session.origins.maker(row) == "instant model"


def test_a_label_that_is_accepted_from_words_keeps_that_source(learning):
    here = learning.session.document_id

    learning.accept()
    work(learning)

    (mark,) = document_view.view(learning.project, here).marks
    assert provenance.origin_of(mark).ref == "instant-words"


def test_suggestions_kept_from_words_are_replaced_by_those_from_vectors(learning):
    learning.instant.keep()
    assert learning.context.message[-1] == "Kept 5 suggestions of the instant model."

    work(learning)
    learning.instant.keep()

    stored = [document_view.view(learning.project, id).suggestions for id in learning.queue.ids]
    assert {row.source_ref for rows in stored for row in rows} == {"instant"}
    assert sum(map(len, stored)) == 5


def test_the_learning_curve_says_what_it_was_learned_from(learning):
    messages = []
    learning.instant.read_curves(lambda curves: messages.append(curves[0].message))

    work(learning)
    learning.instant.read_curves(lambda curves: messages.append(curves[0].message))

    assert messages[0].startswith("Learned from words; a new curve begins")
    assert messages[1].startswith(
        f"Learned from words and vectors of {learning.instant.model.model_name}."
    )
