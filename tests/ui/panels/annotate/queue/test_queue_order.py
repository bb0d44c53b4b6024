"""Orders of the queue in Annotate: computed, followed, kept, and left again."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests import panel_tasks
from tests.inline import InlineQueue
from tests.ui.panels.annotate.queue.test_queue import keys
from tests.ui.panels.annotate.test_session import key_of, label_id, layer_id
from workbench.operations.annotation import queue_orders
from workbench.ui.panels.annotate.queue.queue import FILES, INSTANT


@pytest.fixture
def mail(context):
    """Orders that are being computed; called, they end."""
    context.queue = InlineQueue()
    yield panel_tasks.hold(context, "compute")
    context.queue.close()


def choose(state, mail, strategy, share=0.0):
    assert state.queue.choose_order(strategy, layer_id(state, "mood"), [], "", share)
    while mail:
        mail.pop(0)()


def test_the_queue_follows_a_random_order_and_labelled_documents_fall_out(state, mail):
    choose(state, mail, "random")
    drawn = keys(state)

    assert sorted(drawn) == sorted(["k0", "k1", "k2", "k3", "k4", "pair"])
    assert drawn[-1] == "pair" and key_of(state) == drawn[0]  # a layer of single texts
    assert state.queue.order_title == "Random"
    state.session.switch_layer(layer_id(state, "names"), False)
    state.session.label(label_id(state, "good"))
    state.submission.submit()
    assert key_of(state) == drawn[1]
    state.queue.step(1)
    assert keys(state) == drawn[1:]


def test_the_order_goes_on_when_the_project_is_opened_again(state, context, mail):
    from workbench.ui.panels.annotate.state import Desk

    choose(state, mail, "random")

    again = Desk(context)

    assert keys(again) == keys(state) and again.queue.queue_order == state.queue.queue_order
    again.close()


def test_an_order_whose_plugin_is_disabled_is_kept_without_scores(state, mail):
    choose(state, mail, "random")
    drawn = keys(state)

    state.queue.update(queue_order=replace(state.queue.queue_order, strategy="gone.middle"))

    assert keys(state) == drawn and state.queue.order_title == "gone.middle (needs the plugin gone)"
    assert "Enable the plugin gone" in state.queue.missing_order
    assert [state.queue.queue_note(id) for id in state.queue.ids] == [""] * len(drawn)


def test_file_order_shows_every_document_again(state, mail):
    choose(state, mail, "random")

    choose(state, mail, FILES)

    assert keys(state) == ["k0", "k1", "k2", "k3", "k4", "pair"] and state.queue.queue_order is None
    assert queue_orders.kept(state.project, layer_id(state, "mood")) is None


def test_a_skipped_document_comes_last(state, mail):
    choose(state, mail, "random")
    drawn = keys(state)

    state.queue.skip()

    assert keys(state) == [*drawn[1:], drawn[0]] and key_of(state) == drawn[1]


def test_a_strategy_without_a_run_says_so(state, context, mail):
    assert not state.queue.choose_order("margin", layer_id(state, "mood"), [], "", 0.1)
    assert "requires the predictions of a run" in context.message[-1] and not state.queue.computing


def test_scores_and_control_documents_are_shown(state, mail):
    from dataclasses import replace

    choose(state, mail, "random", share=0.5)
    ids = list(state.queue.ids)
    assert {state.queue.queue_note(id) for id in ids} == {""}  # random numbers say nothing

    state.queue.queue_order = replace(state.queue.queue_order, strategy="margin")

    notes = [state.queue.queue_note(id) for id in ids]
    assert notes[-1] == "" and notes[0].startswith(("0.", "1."))  # the pair has no score
    assert notes[1].startswith("control 0.")


def test_the_end_of_an_order_that_another_one_has_replaced_is_not_shown(state, context, mail):
    assert state.queue.choose_order("random", layer_id(state, "mood"), [], "", 0.0)

    choose(state, mail, "random", share=0.5)

    assert not state.queue.computing and state.queue.queue_order.share == 0.5


def test_an_order_that_is_still_computed_does_not_replace_that_of_the_instant_model(state, mail):
    used = []
    assert state.queue.choose_order("random", layer_id(state, "mood"), [], "", 0.0)
    assert state.queue.computing
    model = SimpleNamespace(use=lambda *how: used.append(how), order=None)

    state.instant.model = model
    state.queue.choose_order("margin", layer_id(state, "mood"), [INSTANT], "", 0.1)
    while mail:
        mail.pop(0)()
    state.instant.model = None

    assert used == [("margin", 0.1)] and not state.queue.computing
    assert state.queue.queue_order is None and state.context.message == []
