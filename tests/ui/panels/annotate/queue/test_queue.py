"""The queue of Annotate: its filters, the next document, skipping."""

import pytest

from tests.held import Held
from tests.ui.panels.annotate.test_session import key_of, label_id, layer_id
from workbench.operations.annotation import annotate, suggestion_edits
from workbench.operations.annotation.annotate import TO_DO, NewSuggestion
from workbench.storage.documents import documents
from workbench.storage.runs import runs
from workbench.text.dataset import Record
from workbench.text.document import Document


def keys(state) -> list[str]:
    return [row.key for row in state.queue.rows(state.queue.ids)]


def suggest(state, keys_of_documents, label="good", layer="mood", run=None):
    every = {row.key: row.id for row in state.queue.rows(annotate.queue(state.project))}
    rows = [
        NewSuggestion(every[key], layer_id(state, layer), label_id(state, label))
        for key in keys_of_documents
    ]
    suggestion_edits.add_suggestions(state.project, run, rows, kind="rule", ref="test")


@pytest.fixture
def noted(context):
    """Messages as (text, what their button does)."""
    result = []
    context.note = lambda text, undo=False, *, action="": result.append((text, undo))
    return result


# ---------------------------------------------------------------- filters


def test_the_queue_can_be_narrowed_to_what_is_unlabelled(state):
    state.session.switch_layer(layer_id(state, "names"), False)
    state.session.label(label_id(state, "good"))
    state.submission.submit()
    state.queue.narrow(state=TO_DO)

    assert keys(state) == ["k1", "k2", "k3", "k4", "pair"]
    assert (state.queue.total, state.queue.left) == (6, 5)
    assert state.queue.filters == ((0, "Unlabelled"),)


def test_filters_hold_all_at_once_and_are_cleared_together(state):
    suggest(state, ["k1", "k2"])
    with state.project.edit("split"):
        documents.set_split(state.project.db, [state.queue.ids[2]], "dev")
    state.queue.narrow(suggested=True)
    assert keys(state) == ["k1", "k2"] and key_of(state) == "k1"
    state.queue.narrow(split="dev")
    assert keys(state) == ["k2"] and key_of(state) == "k2"
    assert [words for _field, words in state.queue.filters] == ["With suggestions", "Split: dev"]

    state.queue.clear_filters()
    assert len(state.queue.ids) == 6 and key_of(state) == "k2"


def test_the_queue_can_be_narrowed_to_a_label_and_to_a_file(state):
    state.session.label(label_id(state, "bad"))
    with state.project.edit("more"):
        source = state.project.source("import", "more.csv")
        record = Record(Document("late", (("text", "Too late."),)))
        documents.add(state.project.db, [record], source_id=source)
    state.queue.narrow(label_id=label_id(state, "bad"))
    assert keys(state) == ["k0"]
    state.queue.clear_filters()
    state.queue.narrow(source="more.csv")
    assert keys(state) == ["late"] and state.queue.filters == ((0, "File: more.csv"),)


def test_what_no_longer_passes_goes_when_another_document_is_opened(state):
    state.queue.narrow(state="pending")
    state.session.label(label_id(state, "good"))
    assert key_of(state) == "k0" and "k0" in keys(state)  # it is still open
    state.queue.step(1)

    assert key_of(state) == "k1" and keys(state) == ["k1", "k2", "k3", "k4", "pair"]


def test_undo_brings_a_document_back_into_the_narrowed_queue(state):
    state.queue.narrow(state="pending")
    state.session.label(label_id(state, "good"))
    state.queue.step(1)
    state.project.undo()

    assert key_of(state) == "k0" and keys(state)[0] == "k0"


def test_a_document_opened_from_elsewhere_is_listed_while_it_is_open(state):
    suggest(state, ["k1"])
    state.queue.narrow(suggested=True)
    state.session.open(annotate.queue(state.project)[3])
    assert keys(state) == ["k1", "k3"] and state.queue.place == 1
    state.queue.step(-1)

    assert keys(state) == ["k1"]


def test_where_nothing_passes_the_document_stays_open(state):
    state.queue.narrow(state="discarded")

    assert keys(state) == [] and key_of(state) == "k0" and state.queue.place is None
    assert not state.queue.step(1) and key_of(state) == "k0"


def test_submitting_goes_through_the_narrowed_queue_alone(state, noted):
    state.session.switch_layer(layer_id(state, "names"), False)
    suggest(state, ["k1", "k4"])
    state.queue.narrow(suggested=True)
    seen = []
    for _turn in range(2):
        seen.append(key_of(state))
        state.accept()
        state.submission.submit()

    assert seen == ["k1", "k4"]
    text, undo = noted[-1]
    assert text == "All documents in this part of the queue are labelled."
    undo()
    assert state.queue.narrowed.empty and len(state.queue.ids) == 6


def test_documents_that_are_done_are_gone_through_one_after_the_other(state):
    state.session.switch_layer(layer_id(state, "names"), False)
    for _turn in range(3):
        state.session.label(label_id(state, "good"))
        state.submission.submit()
    state.queue.narrow(state="submitted")
    seen = []
    for _turn in range(3):
        seen.append(key_of(state))
        state.submission.submit()

    assert seen == ["k0", "k1", "k2"]


def test_suggestions_that_a_run_adds_meanwhile_come_into_the_queue(state):
    suggest(state, ["k1"])
    state.queue.narrow(suggested=True)
    suggest(state, ["k3"])

    assert keys(state) == ["k1", "k3"]


def test_a_filter_by_a_label_that_is_deleted_goes(state):
    from workbench.operations.schema import labels

    state.session.label(label_id(state, "bad"))
    state.queue.narrow(label_id=label_id(state, "bad"))
    labels.delete_label(state.project, state.queue.narrowed.label_id)

    assert state.queue.narrowed.empty and len(state.queue.ids) == 6


def test_errors_of_a_run_leave_the_filters_as_they_are(state):
    with state.project.write():
        run = runs.add(state.project.db, "first", layer_id=layer_id(state, "mood"))
    state.queue.narrow(state=TO_DO)
    state.review.show_errors(run.id, state.queue.ids[1:3])
    assert keys(state) == ["k1", "k2"]
    state.session.leave_review()

    assert len(state.queue.ids) == 6 and state.queue.filters


# ---------------------------------------------------------------- suggestions of a run


def test_the_link_after_suggesting_opens_the_first_document_with_suggestions(state):
    with state.project.write():
        run = runs.add(state.project.db, "first", layer_id=layer_id(state, "mood"))
    suggest(state, ["k2", "k4"], run=run.id)
    assert key_of(state) == "k0"
    state.queue.show_suggestions(run.id)

    assert key_of(state) == "k2" and keys(state) == ["k2", "k4"]
    assert [row.run_id for row in state.session.suggestions] == [run.id]


def test_the_layer_of_the_run_is_shown_with_its_suggestions(state):
    with state.project.write():
        run = runs.add(state.project.db, "first", layer_id=layer_id(state, "mood"))
    suggest(state, ["k3"], run=run.id)
    state.session.switch_layer(layer_id(state, "mood"), False)
    state.queue.show_suggestions(run.id)

    assert key_of(state) == "k3" and len(state.session.suggestions) == 1


def test_the_first_document_with_suggestions_may_be_the_one_that_is_open(state):
    suggest(state, ["k0", "k2"])
    state.queue.show_suggestions()

    assert key_of(state) == "k0"


def test_without_suggestions_everything_stays_and_that_is_reported(state, noted):
    state.queue.show_suggestions()

    assert key_of(state) == "k0" and state.queue.narrowed.empty and len(state.queue.ids) == 6
    assert noted[-1][0] == "There are no suggestions in the selected layers."


# ---------------------------------------------------------------- skipping


def test_skipping_says_what_it_did_and_can_be_undone(state, noted):
    state.queue.skip()
    text, undo = noted[-1]
    assert text == "Skipped k0; moved to the end of the queue."
    assert key_of(state) == "k1" and keys(state)[-1] == "k0"

    undo()
    assert key_of(state) == "k0" and keys(state)[0] == "k0"
    assert state.queue.skipped == ()


def test_skipping_where_all_is_done_goes_on_in_the_queue(state):
    for id in state.queue.ids:
        annotate.discard(state.project, id, [layer.id for layer in state.session.layers])
    state.session.open(state.queue.ids[1])
    state.queue.skip()

    assert key_of(state) == "k2" and keys(state) == ["k0", "k2", "k3", "k4", "pair", "k1"]


def test_the_only_document_of_the_queue_cannot_be_skipped(state, noted):
    suggest(state, ["k1"])
    state.queue.narrow(suggested=True)
    state.queue.skip()

    assert key_of(state) == "k1" and noted[-1][0] == "This is the only document in the queue."
    assert state.queue.skipped == ()


@pytest.fixture
def large(state, monkeypatch):
    """The state, as if its queue were too long to be read at once, and its held back work."""
    monkeypatch.setattr("workbench.ui.panels.annotate.queue.queue.LARGE_QUEUE", 3)
    return state, Held(state.context)


def test_the_queue_of_an_earlier_filter_does_not_replace_the_present_one(large):
    state, held = large
    state.queue.narrow(split="dev")
    state.queue.narrow(split=None)
    read = held.asking("read")

    held.answer(*reversed(read))

    assert keys(state) == ["k0", "k1", "k2", "k3", "k4", "pair"]


def test_a_queue_that_is_read_for_other_layers_replaces_that_of_the_former_ones(large):
    state, held = large
    state.session.switch_layer(layer_id(state, "pairs"), False)
    state.session.switch_layer(layer_id(state, "mood"), False)
    state.session.switch_layer(layer_id(state, "names"), False)
    state.session.switch_layer(layer_id(state, "pairs"), True)
    read = held.asking("read")

    held.answer(*reversed(read))

    assert keys(state) == ["pair"]


def test_a_document_that_is_finished_while_the_queue_is_read_falls_out(large):
    state, held = large
    state.queue.narrow(state=TO_DO)
    (read,) = held.asking("read")
    held.compute(read)
    ids = [layer.id for layer in state.session.layers if layer.texts == 1]
    annotate.discard(state.project, 4, ids, origin="another page")

    held.answer(read)

    assert "k3" not in keys(state) and "k2" in keys(state)


def test_the_number_of_documents_left_is_that_of_the_last_count(large):
    state, held = large
    ids = [layer.id for layer in state.session.layers]
    state.queue._count()
    (counted,) = held.asking("open_count")
    held.compute(counted)
    annotate.discard(state.project, 2, ids)
    annotate.discard(state.project, 3, ids)
    counts = held.asking("open_count")

    held.answer(*reversed(counts))

    assert state.queue.left == annotate.open_count(state.project, tuple(ids))


def test_the_progress_of_other_layers_is_measured_at_once(large):
    state, held = large
    state.queue._measure()  # a minute has not passed
    assert len(held) == 0

    state.session.switch_layer(layer_id(state, "names"), False)
    state.queue._measure()
    state.session.switch_layer(layer_id(state, "pairs"), False)
    state.queue._measure()
    measured = held.asking("progress")
    held.answer(*reversed(measured))

    assert len(measured) == 2
    assert [of.name for of in state.queue.progress.layers] == ["mood"]
