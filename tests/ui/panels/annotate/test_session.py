"""The Annotate state, without a window."""

import pytest

from workbench.operations.annotation import annotate, document_view, suggestion_edits
from workbench.operations.annotation.annotate import NewSuggestion
from workbench.operations.people import people
from workbench.operations.schema import guideline, label_groups, labels
from workbench.project.project import Project
from workbench.storage.labels import labels as stored_labels
from workbench.storage.queries import listing
from workbench.storage.runs import runs
from workbench.text.fields import Chains, ClassScores, Prediction, SpanScores
from workbench.text.spans import Span
from workbench.ui.panels.annotate.differences import Differences, differences
from workbench.ui.panels.annotate.session import SpanTarget
from workbench.ui.panels.annotate.state import Desk


def label_id(state, name: str) -> int:
    return next(id for id, (_layer, label) in state.session.label_of.items() if label.name == name)


def layer_id(state, name: str) -> int:
    return next(layer.id for layer in state.session.layers if layer.name == name)


def found(state) -> list[tuple[str, str]]:
    """The spans of the document as (text, label)."""
    names = {id: label.name for id, (_layer, label) in state.session.label_of.items()}
    return [
        (state.session.doc.document.content(r.field)[r.start : r.end], names[r.label_id])
        for r in state.session.spans
    ]


def key_of(state) -> str:
    return state.session.doc.document.key


def suggest(state, *rows, run=None):
    made = [NewSuggestion(state.session.document_id, *row) for row in rows]
    suggestion_edits.add_suggestions(state.project, run, made, kind="rule", ref="test")


# ---------------------------------------------------------------- opening and navigation


def test_it_opens_at_the_first_document_with_something_to_do(state, context):
    assert key_of(state) == "k0"
    state.session.switch_layer(layer_id(state, "names"), False)
    state.session.label(label_id(state, "good"))
    state.submission.submit()
    again = Desk(context)

    assert key_of(again) == "k1"
    again.close()


def test_next_and_previous_walk_the_queue_and_stop_at_its_ends(state):
    state.queue.step(-1)
    assert key_of(state) == "k0"
    for _turn in range(9):
        state.queue.step(1)
    assert key_of(state) == "pair"


def test_only_the_layers_that_fit_a_document_are_shown(state):
    assert [layer.name for layer in state.session.active] == ["mood", "names"]
    state.queue.step(1)
    state.session.open(state.queue.ids[-1])

    assert [layer.name for layer in state.session.active] == ["pairs"]


def test_switching_layers_off_is_remembered_and_narrows_the_queue(state, context):
    state.session.switch_layer(layer_id(state, "pairs"), False)
    again = Desk(context)

    assert len(state.queue.ids) == 5
    assert [layer.name for layer in again.session.layers if layer.id in again.session.off] == [
        "pairs"
    ]
    again.close()


def test_a_skipped_document_comes_last_and_nothing_changes(state):
    before = state.project.undo_title
    state.queue.skip()

    assert key_of(state) == "k1"
    assert state.queue.rows(state.queue.ids)[-1].key == "k0"
    assert state.project.undo_title == before and state.session.state_of_document == "pending"


def test_when_all_are_skipped_the_first_skipped_comes_again(state):
    for _turn in range(6):
        state.queue.skip()

    assert key_of(state) == "k0"


# ---------------------------------------------------------------- labelling


def test_a_span_label_marks_the_target_and_the_new_span_is_chosen(state):
    state.session.label(label_id(state, "PER"), SpanTarget("text", 0, 3))

    assert found(state) == [("Ada", "PER")]
    assert state.session.chosen_span().start == 0
    assert state.session.state_of_document == "draft"


def test_a_label_relabels_the_chosen_span_whatever_the_target(state):
    state.session.label(label_id(state, "PER"), SpanTarget("text", 0, 3))
    state.session.label(label_id(state, "LOC"), SpanTarget("text", 8, 11))

    assert found(state) == [("Ada", "LOC")]


def test_what_is_chosen_in_right_to_left_text_is_what_is_stored(state):
    state.session.open(state.queue.ids[3])
    text = state.session.doc.document.text
    start = text.index("באוטובוס")
    state.session.label(label_id(state, "PER"), SpanTarget("text", start, start + 8))

    assert found(state) == [("באוטובוס", "PER")]


def test_a_class_label_sets_replaces_and_clears(state):
    for name, wanted in (("good", {"good"}), ("bad", {"bad"}), ("bad", set())):
        state.session.label(label_id(state, name))
        assert {state.session.label_of[id][1].name for id in state.session.marked} == wanted


def below(state, parent: str, *names: str) -> None:
    ids = [label_id(state, name) for name in names]
    label_groups.set_parent(state.project, ids, label_id(state, parent))


def test_the_key_of_a_label_steps_through_its_sublabels(state):
    below(state, "PER", "LOC", "TIME")
    person = label_id(state, "PER")
    assert not state.session.step_sublabel(person)  # nothing is selected
    state.session.label(person, SpanTarget("text", 0, 3))

    seen = []
    for _press in range(3):
        assert state.session.step_sublabel(person)
        seen += found(state)

    assert seen == [("Ada", "LOC"), ("Ada", "TIME"), ("Ada", "PER")]
    state.project.undo()
    assert found(state) == [("Ada", "TIME")]


def test_a_class_is_cleared_after_its_last_sublabel(state):
    below(state, "good", "bad")
    good = label_id(state, "good")
    state.session.label(good)

    for wanted in ({"bad"}, set()):
        assert state.session.step_sublabel(good)
        assert {state.session.label_of[id][1].name for id in state.session.marked} == wanted
    assert not state.session.step_sublabel(good)


def test_sublabels_without_a_key_show_that_of_their_parent_with_the_presses(state):
    below(state, "PER", "LOC", "TIME")
    labels.set_key(state.project, label_id(state, "TIME"), "")
    layer = next(layer for layer in state.session.active if layer.name == "names")

    shown = [(with_key.name, with_key.key) for with_key in state.session.keys.with_keys(layer)]
    assert shown == [("PER", "1"), ("LOC", "2"), ("TIME", "1×3")]


def test_labels_used_last_come_first_also_after_the_project_was_opened_again(state, context):
    assert not state.session.keys.order_of_use()
    for name in ("LOC", "TIME", "LOC"):
        state.session.label(label_id(state, name), SpanTarget("text", 0, 3))

    wanted = {label_id(state, "LOC"): 0, label_id(state, "TIME"): 1}
    assert state.session.keys.order_of_use() == wanted
    again = Desk(context)
    assert again.session.keys.order_of_use() == wanted
    again.close()


def test_delete_grow_and_undo(state):
    state.session.label(label_id(state, "PER"), SpanTarget("text", 0, 3))
    state.spans.resize(0, 11)
    assert found(state) == [("Ada met Bob", "PER")]

    state.spans.resize(5, 5)  # an empty span is not created
    state.delete_chosen()
    assert found(state) == [] and state.session.chosen is None

    state.project.undo()
    assert found(state) == [("Ada met Bob", "PER")]
    state.project.undo()
    assert found(state) == [("Ada", "PER")]


def test_undoing_what_was_done_to_another_document_brings_that_one_up(state):
    state.session.label(label_id(state, "PER"), SpanTarget("text", 0, 3))
    state.queue.step(1)
    state.project.undo()

    assert key_of(state) == "k0" and found(state) == []


def test_keys_are_those_of_the_shown_layers(state):
    assert {
        key: state.session.label_of[id][1].name for key, id in state.session.keys.by_key.items()
    } == {
        "1": "PER",
        "2": "LOC",
        "3": "TIME",
        "q": "good",
        "w": "bad",
    }


def test_tab_goes_through_spans_and_suggestions_in_order_of_the_text(state):
    state.session.label(label_id(state, "LOC"), SpanTarget("text", 15, 20))
    state.session.choose(None)
    state.session.label(label_id(state, "PER"), SpanTarget("text", 0, 3))
    suggest(state, (layer_id(state, "names"), label_id(state, "PER"), 8, 11, "text", 0.7))
    state.session.choose(None)
    seen = []
    for _turn in range(4):
        state.spans.choose_step(1, "text", 1)  # the caret stands in the first word
        row = state.session.chosen_span() or state.session.chosen_suggestion()
        seen.append(row.start)

    assert seen == [8, 15, 0, 8]
    state.spans.choose_step(-1, "text", 0)
    assert state.session.chosen_span().start == 0


# ---------------------------------------------------------------- suggestions


def test_accept_takes_the_chosen_suggestion_else_the_first_and_chooses_the_next(state):
    names, person = layer_id(state, "names"), label_id(state, "PER")
    suggest(
        state,
        (names, person, 0, 3, "text", 0.9),
        (names, person, 8, 11, "text", 0.8),
        (names, person, 15, 20, "text", 0.6),
    )
    state.session.choose(("suggested", state.session.suggestions[1].id))
    state.accept()

    assert found(state) == [("Bob", "PER")]
    assert state.session.chosen_suggestion().start == 15
    state.session.choose(None)
    state.reject()
    assert [row.start for row in state.session.suggestions] == [15] and state.session.chosen is None


def test_accept_all_takes_those_that_are_sure_enough_as_one_step(state, context):
    names, person = layer_id(state, "names"), label_id(state, "PER")
    suggest(state, (names, person, 0, 3, "text", 0.9), (names, person, 8, 11, "text", 0.5))
    state.suggested.set_sure(0.8)
    state.suggested.accept_all()

    assert found(state) == [("Ada", "PER")] and len(state.session.suggestions) == 1
    state.project.undo()
    assert found(state) == [] and len(state.session.suggestions) == 2


def test_a_label_key_on_a_chosen_suggestion_corrects_it_in_one_step(state):
    suggest(state, (layer_id(state, "names"), label_id(state, "PER"), 15, 20, "text", 0.9))
    state.session.choose(("suggested", state.session.suggestions[0].id))
    state.session.label(label_id(state, "LOC"))

    assert found(state) == [("Paris", "LOC")] and state.session.suggestions == ()
    state.project.undo()
    assert found(state) == [] and len(state.session.suggestions) == 1


# ---------------------------------------------------------------- submit, discard


def test_submit_goes_on_and_a_class_layer_without_a_class_stays_draft_and_is_reported(
    state, context
):
    first = state.session.document_id
    state.submission.submit()

    assert key_of(state) == "k1"
    doc = document_view.view(state.project, first)
    assert doc.states == {layer_id(state, "mood"): "draft", layer_id(state, "names"): "submitted"}
    assert any("mood has no class yet" in message for message in context.message)


def states_of(state, document_id) -> dict[str, str]:
    known = document_view.view(state.project, document_id).states
    return {layer.name: known[layer.id] for layer in state.session.layers if layer.id in known}


def test_submitting_a_class_says_nothing_about_spans_that_nobody_looked_for(state, context):
    first = state.session.document_id
    state.session.label(label_id(state, "good"))
    state.submission.submit()

    assert states_of(state, first) == {"mood": "submitted", "names": "pending"}
    assert context.message == ["Submitted k0 in mood only: names has no labels."]
    assert list(context.offered) == ["Undo", "Label only mood", "Always submit names too"]
    assert key_of(state) == "k1"


def test_spans_that_were_deleted_or_suggestions_that_were_rejected_are_an_answer(state):
    state.session.label(label_id(state, "PER"), SpanTarget("text", 0, 3))
    first = state.session.document_id
    state.queue.step(1)
    suggest(state, (layer_id(state, "names"), label_id(state, "LOC"), 0, 3))
    second = state.session.document_id
    state.session.open(first)
    state.session.choose(("gold", state.session.spans[0].id))
    state.delete_chosen()
    state.session.label(label_id(state, "good"))
    state.submission.submit()
    state.session.open(second)
    state.reject()
    state.session.label(label_id(state, "bad"))
    state.submission.submit()

    for id in (first, second):
        assert states_of(state, id) == {"mood": "submitted", "names": "submitted"}


def test_the_layers_to_label_are_chosen_once_after_a_submission(state, context):
    state.session.label(label_id(state, "good"))
    state.submission.submit()
    context.offered["Label only mood"]()
    assert [layer.name for layer in state.session.active] == [
        "mood"
    ] and state.queue.left == 4 + 1  # and a pair

    context.message.clear()
    state.session.label(label_id(state, "bad"))
    state.submission.submit()
    assert not context.message and state.queue.left == 3 + 1


def test_always_submits_untouched_layers_from_then_on(state, context):
    first = state.session.document_id
    state.session.label(label_id(state, "good"))
    state.submission.submit()
    context.offered["Always submit names too"]()
    context.message.clear()
    second = state.session.document_id
    state.session.label(label_id(state, "bad"))
    state.submission.submit()

    assert not context.message
    for id in (first, second):
        assert states_of(state, id) == {"mood": "submitted", "names": "submitted"}


def test_a_chosen_layer_without_labels_is_submitted_and_named_until_always(state, context):
    names = layer_id(state, "names")
    state.session.switch_layer(names, False)
    state.session.switch_layer(names, True)
    first = state.session.document_id
    state.session.label(label_id(state, "good"))
    state.submission.submit()
    assert states_of(state, first) == {"mood": "submitted", "names": "submitted"}
    assert context.message == ["Submitted k0 without a label in names."]
    assert list(context.offered) == ["Undo", "Always"] and state.submission.tells_empty

    context.offered["Always"]()
    context.message.clear()
    state.session.label(label_id(state, "good"))
    state.submission.submit()
    assert not context.message and not state.submission.tells_empty

    state.submission.tell_empty(True)
    state.session.label(label_id(state, "good"))
    state.submission.submit()
    assert context.message == ["Submitted k2 without a label in names."]


# ---------------------------------------------------------------- layers to label


def finish_some(state, documents=2):
    state.session.switch_layer(layer_id(state, "names"), False)
    for _turn in range(documents):
        state.session.label(label_id(state, "good"))
        state.submission.submit()


def test_a_layer_that_is_added_leaves_finished_documents_finished(state, context):
    finish_some(state)
    before = state.queue.left, state.queue.rows(list(state.queue.ids))

    labels.add_layer(state.project, "topic", "class", labels=("war", "peace"))

    assert [layer.name for layer in state.session.active] == ["mood"]
    assert (state.queue.left, state.queue.rows(list(state.queue.ids))) == before
    assert "The new layer topic is not among the layers that you label." in context.message
    context.offered["Label topic"]()
    assert [layer.name for layer in state.session.active] == [
        "mood",
        "topic",
    ] and state.queue.left == 5 + 1


def test_a_layer_added_while_no_page_was_open_leaves_finished_documents_finished(state, context):
    finish_some(state)
    state.close()
    labels.add_layer(state.project, "topic", "class", labels=("war", "peace"))
    again = Desk(context)

    assert [layer.name for layer in again.session.active] == ["mood"] and again.queue.left == 3 + 1
    again.close()


def test_a_layer_that_is_added_before_a_document_is_finished_is_labelled(state):
    state.session.label(label_id(state, "good"))
    labels.add_layer(state.project, "topic", "class", labels=("war", "peace"))

    assert [layer.name for layer in state.session.active] == ["mood", "names", "topic"]


def test_a_layer_for_other_documents_is_labelled(state):
    finish_some(state)
    labels.add_layer(state.project, "nearness", "score", texts=2)

    assert layer_id(state, "nearness") not in state.session.off


def test_layers_hidden_by_an_earlier_version_stay_hidden(state, context):
    uid = next(layer.uid for layer in state.session.layers if layer.name == "names")
    state.close()
    context.settings.window = {"annotate.off": {state.project.uid: [uid]}}
    again = Desk(context)
    again.session.label(label_id(again, "good"))
    again.submission.submit()

    assert [layer.name for layer in again.session.active] == ["mood"] and not context.message
    again.close()


def test_submit_touches_only_the_layers_that_are_switched_on(state):
    state.session.switch_layer(layer_id(state, "mood"), False)
    first = state.session.document_id
    state.submission.submit()

    assert document_view.view(state.project, first).states[layer_id(state, "mood")] == "pending"
    assert document_view.view(state.project, first).states[layer_id(state, "names")] == "submitted"


def test_the_queue_shows_the_state_in_the_layers_that_are_switched_on(state):
    first = state.session.document_id
    state.session.switch_layer(layer_id(state, "mood"), False)
    state.submission.submit()
    state.session.open(first)
    assert [row.state for row in state.queue.rows([first])] == [
        "submitted"
    ] and state.session.state_of_document == "submitted"

    state.session.switch_layer(layer_id(state, "mood"), True)
    state.session.open(first)
    assert [row.state for row in state.queue.rows([first])] == [
        "draft"
    ] and state.session.state_of_document == "draft"


def test_editing_leaves_a_submitted_document_submitted(state):
    state.session.switch_layer(layer_id(state, "pairs"), True)  # as chosen
    state.session.label(label_id(state, "good"))
    first = state.session.document_id
    state.submission.submit()
    state.session.open(first)
    state.session.label(label_id(state, "PER"), SpanTarget("text", 0, 3))

    assert state.session.state_of_document == "submitted"


def test_discard_goes_on_and_is_taken_back_by_the_same_key(state):
    first = state.session.document_id
    state.submission.discard()
    assert key_of(state) == "k1"

    state.session.open(first)
    assert state.session.state_of_document == "discarded"
    state.submission.discard()
    assert state.session.state_of_document == "draft"


def test_when_all_is_done_it_says_so_and_stays(state, context):
    for id in list(state.queue.ids):
        state.session.open(id)
        state.submission.discard()

    assert (
        "All documents are labelled." not in context.message[-1]
    )  # the note of the discarding stands
    assert state.queue.left == 0 and not state.queue.next_unlabelled()


# ---------------------------------------------------------------- error review


def add_run(project, layer, task, answers) -> int:
    with project.write():
        run = runs.add(
            project.db,
            name="first",
            kind="train",
            layer_id=layer.id,
            spec={"task": task},
            status="done",
        )
        rows = [
            (id, document_view.view(project, id).document.text_hash, answer.to_json())
            for id, answer in answers.items()
        ]
        runs.save_predictions(project.db, run.id, rows)
    return run.id


def test_errors_show_what_the_run_said_beside_gold_and_one_key_leads_on(state):
    state.session.label(label_id(state, "PER"), SpanTarget("text", 0, 3))
    first, second = state.queue.ids[0], state.queue.ids[1]
    layer = next(layer for layer in state.session.layers if layer.name == "names")
    answer = Prediction((SpanScores((Span(8, 11, "PER", score=0.9),)),))
    run = add_run(
        state.project,
        layer,
        "tag",
        {first: answer, second: Prediction((SpanScores((Span(4, 6, "TIME", score=0.8),)),))},
    )

    state.review.show_errors(run, (second, first), first)
    differing = differences(state.session)
    assert [(span.start, span.label) for span in differing.spans] == [(8, "PER")]
    assert differing.missed == {state.session.spans[0].id} and differing.labels == ()

    state.queue.next_error()
    assert state.session.document_id == second
    state.queue.next_error()
    assert state.session.document_id == first and list(state.queue.ids) == [second, first]
    state.session.leave_review()
    assert len(state.queue.ids) == 6 and state.session.predicted is None


def test_chains_that_the_run_made_otherwise_are_reported_and_taken_over(state):
    """Gold is {Ada, Bob} {met}; the run says {Ada, met} {Bob}: the mentions are the same."""
    labels.add_layer(state.project, "people", "cluster", labels=("m",))
    layer = next(layer for layer in state.session.layers if layer.name == "people")
    id, label = state.session.document_id, layer.labels[0].id
    for place, chain in (((0, 3), 1), ((8, 11), 1), ((4, 7), 2)):
        annotate.add_span(state.project, id, *place, label, chain=chain)
    chains = Chains(
        tuple(
            Span(*place, "m", chain=chain, score=0.8)
            for place, chain in (((0, 3), 1), ((4, 7), 1), ((8, 11), 2))
        )
    )
    run = add_run(state.project, layer, "coreference", {id: Prediction((chains,))})

    state.review.show_errors(run, (id,), id)
    differing = differences(state.session)
    state.review.accept_answer()

    assert differing.spans == () and differing.missed == frozenset()
    assert [[mention.start for mention in chain] for chain in differing.chains] == [[0, 4], [8]]
    assert differences(state.session) == Differences()


def test_a_class_that_the_run_gave_otherwise_is_reported(state):
    state.session.label(label_id(state, "good"))
    layer = next(layer for layer in state.session.layers if layer.name == "mood")
    run = add_run(
        state.project,
        layer,
        "classify",
        {state.session.document_id: Prediction((ClassScores(("good", "bad"), (0.1, 0.9)),))},
    )
    state.review.show_errors(run, (state.session.document_id,))

    assert differences(state.session) == Differences(labels=("bad",))
    state.session.label(label_id(state, "bad"))
    assert differences(state.session) == Differences()


# ---------------------------------------------------------------- changes elsewhere


def test_a_deleted_document_gives_way_to_another(state):
    from workbench.operations.documents import corpus

    corpus.delete_documents(state.project, [state.session.document_id])

    assert key_of(state) == "k1" and len(state.queue.ids) == 5


def test_renamed_and_deleted_labels_show_at_once(state):
    state.session.label(label_id(state, "PER"), SpanTarget("text", 0, 3))
    labels.rename_label(state.project, label_id(state, "PER"), "PERSON")
    assert found(state) == [("Ada", "PERSON")]

    labels.delete_label(state.project, label_id(state, "PERSON"))
    assert found(state) == [] and state.session.chosen is None


def test_without_documents_nothing_is_shown_and_an_import_brings_the_first_up(filled, context):
    from workbench.operations.documents import corpus

    corpus.delete_documents(filled, list(annotate.queue(filled)))
    state = Desk(context)
    assert state.session.doc is None and not state.session.can_edit
    for act in (
        state.submission.submit,
        state.queue.skip,
        state.submission.discard,
        state.accept,
        state.delete_chosen,
    ):
        act()

    filled.undo()
    assert key_of(state) == "k0"
    state.close()


def test_a_read_only_project_is_shown_and_never_written(filled, context):
    context.project = other = Project.open(filled.path, read_only=True)
    state = Desk(context)

    state.session.label(label_id(state, "PER"), SpanTarget("text", 0, 3))
    state.submission.submit()
    state.submission.discard()
    assert found(state) == [] and key_of(state) == "k0" and not state.session.can_edit
    state.close()
    other.close()


@pytest.mark.parametrize("names", [("mood",), ("mood", "names")])
def test_the_guideline_is_that_of_the_layers_shown_each_once(state, names):
    for name in names[1:]:
        guideline.write(state.project, layer_id(state, name), "# Mood\n\nOf the whole message.")

    text = "# Mood\n\nOf the whole message."
    assert state.guideline.text.count(text) == 1


# ---------------------------------------------------------------- keys of class labels


def test_where_only_class_layers_are_shown_their_keys_are_digits(state):
    state.session.switch_layer(layer_id(state, "names"), False)
    assert {
        key: state.session.label_of[id][1].name for key, id in state.session.keys.by_key.items()
    } == {
        "1": "good",
        "2": "bad",
        "q": "good",
        "w": "bad",
    }
    mood = next(layer for layer in state.session.active if layer.name == "mood")
    assert [label.key for label in state.session.keys.with_keys(mood)] == ["1", "2"]

    state.session.switch_layer(layer_id(state, "names"), True)
    assert [label.key for label in state.session.keys.with_keys(mood)] == ["q", "w"]


def test_a_key_of_two_labels_is_shown_and_works_for_the_first_alone(state):
    per, loc = label_id(state, "PER"), label_id(state, "LOC")
    with state.project.edit("as an older version imported it"):
        stored_labels.update_label(state.project.db, loc, key="1")

    assert state.session.keys.by_key["1"] == per and loc not in state.session.keys.by_label


def test_a_pair_has_no_spans_so_its_classes_have_digits(state):
    state.session.open(state.queue.ids[-1])

    assert [state.session.keys.by_label[label.id] for label in state.session.active[0].labels] == [
        "1",
        "2",
    ]


def test_a_key_that_somebody_chose_stays(state):
    labels.set_key(state.project, label_id(state, "bad"), "g")
    state.session.switch_layer(layer_id(state, "names"), False)

    assert {
        state.session.label_of[id][1].name: key for id, key in state.session.keys.by_label.items()
    } == {
        "good": "1",
        "bad": "g",
    }


# ---------------------------------------------------------------- error review


@pytest.fixture
def reviewed(state):
    """Error review of a span run: `reviewed(prediction, …)` opens the documents with these
    predictions.
    """

    def review(*answers, layer="names", key=0):
        ids = list(state.queue.ids)[key : key + len(answers)]
        views = [document_view.view(state.project, id) for id in ids]
        with state.project.write():
            run = runs.add(
                state.project.db, "first", layer_id=layer_id(state, layer), status="done"
            )
            rows = [
                (id, view.document.text_hash, answer.to_json())
                for id, view, answer in zip(ids, views, answers, strict=True)
            ]
            runs.save_predictions(state.project.db, run.id, rows)
        state.review.show_errors(run.id, ids)
        return run

    return review


def tagged(*spans, cut=False):
    return Prediction((SpanScores(tuple(Span(*span) for span in spans)),), cut)


def test_accept_makes_the_answer_gold_and_opens_the_next_error(state, reviewed, context):
    state.session.label(label_id(state, "LOC"), SpanTarget("text", 0, 3))  # Ada
    state.session.choose(None)
    state.session.label(label_id(state, "LOC"), SpanTarget("text", 15, 20))  # Paris
    right = (15, 20, "LOC", "text", 0.9)
    run = reviewed(tagged((0, 3, "PER", "text", 0.8), right), tagged((4, 6, "LOC")))
    steps = state.project.undo_title
    state.accept()

    assert key_of(state) == "k1"
    assert context.message[-1] == "Accepted the prediction of first as gold for k0."
    state.queue.next_error(-1)
    assert found(state) == [("Ada", "PER"), ("Paris", "LOC")]
    ada = next(row for row in state.session.spans if row.start == 0)
    assert ada.score == 0.8 and differences(state.session) == Differences()
    state.project.undo()
    assert state.project.undo_title == steps
    assert found(state) == [("Ada", "LOC"), ("Paris", "LOC")]
    assert state.session.run.id == run.id


def test_accept_takes_a_class_in_place_of_gold(state, reviewed):
    state.session.label(label_id(state, "good"))
    answer = Prediction((ClassScores(("good", "bad"), (0.3, 0.7)),))
    reviewed(answer, layer="mood")
    state.accept()

    assert {state.session.label_of[id][1].name for id in state.session.marked} == {"bad"}
    (mark,) = state.session.doc.marks
    assert mark.score == 0.7


def test_reject_keeps_gold_and_opens_the_next_error(state, reviewed):
    state.session.label(label_id(state, "LOC"), SpanTarget("text", 0, 3))
    reviewed(tagged((0, 3, "PER")), tagged((4, 6, "LOC")))
    state.reject()

    assert key_of(state) == "k1"
    state.queue.next_error()
    assert found(state) == [("Ada", "LOC")]


def test_spans_inside_others_and_behind_the_part_that_was_read_are_kept(state, reviewed):
    """A run predicts flat spans of the text that it read: neither of these is an error."""
    for name, start, end in (("PER", 0, 11), ("LOC", 8, 11), ("LOC", 15, 20)):
        state.session.choose(None)
        state.session.label(label_id(state, name), SpanTarget("text", start, end))
    reviewed(tagged((0, 3, "PER"), cut=True))
    missed = differences(state.session).missed
    assert len(missed) == 1  # "Ada met Bob"
    state.accept()

    assert found(state) == [("Ada", "PER"), ("Bob", "LOC"), ("Paris", "LOC")]


def test_an_answer_with_a_label_that_is_gone_is_reported_and_changes_nothing(
    state, reviewed, context
):
    reviewed(tagged((0, 3, "PER")), tagged((0, 3, "LOC")))
    labels.delete_label(state.project, label_id(state, "PER"))
    state.accept()

    assert context.message[-1] == "Layer names no longer has the label PER."
    assert key_of(state) == "k0" and found(state) == []


def test_accept_still_takes_a_suggestion_outside_of_errors(state, reviewed):
    reviewed(tagged((0, 3, "PER")))
    state.session.leave_review()
    suggest(state, (layer_id(state, "names"), label_id(state, "PER"), 8, 11, "text", 0.7))
    state.accept()

    assert found(state) == [("Bob", "PER")]


def test_the_document_selected_elsewhere_is_opened_when_the_page_is_shown(state):
    project, ids = state.project, list(state.queue.ids)
    assert project.selection == ()  # the first document has opened by itself
    state.session.open(ids[1])
    assert project.selection == (ids[1],)

    project.select((ids[2],), "data")
    assert state.session.document_id == ids[1]
    state.session.follow()
    assert state.session.document_id == ids[2]
    project.select(ids[:2], "data")  # several: the open one stays
    state.session.follow()
    assert state.session.document_id == ids[2]


def test_an_error_review_does_not_leave_its_documents(reviewed, state):
    reviewed(tagged())
    before = state.session.document_id
    state.project.select((next(id for id in listing.ids(state.project.db) if id != before),), "x")
    state.session.follow()
    assert state.session.document_id == before and state.session.errors


def test_blind_mode_hides_suggestions_and_the_layers_of_others(state, context):
    suggest(state, (layer_id(state, "names"), label_id(state, "PER"), "text", 0, 3, 0.9))
    gold = people.add(context.project, "gold")
    people.set_gold(context.project, layer_id(state, "mood"), gold.id)
    assert len(state.session.suggestions) == 1
    assert {layer.name for layer in state.session.active} == {"mood", "names"}
    assert state.queue.rows([1])[0].suggestion_count == 1

    people.set_blind(context.project, True)

    assert state.session.suggestions == () and state.queue.rows([1])[0].suggestion_count == 0
    assert [layer.name for layer in state.session.active] == ["names"]
    assert not state.instant.can_toggle and not state.prefetch.can_choose
    state.instant.toggle()
    assert state.instant.model is None and "blind mode" in context.message[-1]
    again = Desk(context)
    assert again.session.suggestions == ()
    again.close()

    people.set_blind(context.project, False)
    assert len(state.session.suggestions) == 1 and len(state.session.active) == 2
