"""What the Data page shows and does, without a window."""

import pytest

from workbench.operations import annotate, corpus
from workbench.storage import labels
from workbench.ui.panels.data.state import DataState


@pytest.fixture
def state(context):
    state = DataState(context)
    yield state
    state.close()


def keys(state):
    return [one.key for one in state.rows(state.ids)]


def test_all_documents_are_shown_at_first(state):
    assert keys(state) == ["k0", "k1", "k2"] and state.total == 3 and not state.filtered


def test_search_and_filters_hold_at_once(state):
    state.set_filter(text="day")
    assert keys(state) == ["k1", "k2"]
    state.set_filter(state="submitted")
    assert keys(state) == []
    state.clear_filters()
    assert len(keys(state)) == 3


def test_a_late_answer_is_dropped(state, context):
    context.held = []
    state.set_filter(text="day")
    state.set_filter(text="")
    for work, done, _failed in reversed(context.held):
        done(work())

    assert len(state.ids) == 3 and not state.searching


def test_bulk_acts_change_the_chosen_and_offer_undo(state, context):
    state.choose(state.ids[1:])

    state.set_split("dev")
    assert corpus.info(context.project)["splits"]["dev"] == 2 and context.notes[-1] == (
        "2 documents moved to dev.",
        True,
    )

    layer = labels.layer_by_name(context.project.db, "class")
    state.set_class(layer, layer.label("good"))
    state.set_state(layer, "submitted")
    assert corpus.info(context.project)["states"]["submitted"] == 2

    state.delete()
    assert corpus.counts(context.project).documents == 1 and context.notes[-1] == (
        "2 documents deleted.",
        True,
    )


def test_a_change_elsewhere_marks_the_page_stale_and_its_rows(state, context):
    annotate.set_class(
        context.project,
        state.ids[0],
        labels.layer_by_name(context.project.db, "class").label("bad").id,
    )

    assert state.stale and state.touched == frozenset({state.ids[0]})
    state.look_again()
    assert state.rows(state.ids[:1])[0].classes == (("class", "bad"),) and not state.stale


def test_documents_sent_from_another_page_stand_alone(state):
    state.show_only(state.ids[1:2], "Errors of first")

    assert keys(state) == ["k1"] and state.filtered
    state.set_filter(only=None)
    assert len(keys(state)) == 3


def test_a_deleted_layer_leaves_no_filter_behind(state, context):
    layer = labels.layer_by_name(context.project.db, "class")
    state.set_filter(label=(layer.id, None))
    with context.project.edit("delete"):
        labels.delete_layer(context.project.db, layer.id)

    assert state.label is None


def test_splits_say_what_they_did(state, context):
    state.make_splits()

    assert context.notes[-1] == ("Nothing is submitted yet, so there is nothing to split.", False)


def test_enter_leads_to_annotate(state, context):
    state.open(state.ids[2])

    assert context.went == [("annotate", {"document": state.ids[2]})]
