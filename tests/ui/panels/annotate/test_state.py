"""The Annotate state, without a window."""

import pytest

from workbench.operations.annotation import annotate, document_view, suggestion_edits
from workbench.operations.annotation.annotate import NewSuggestion
from workbench.operations.schema import label_groups, labels
from workbench.project.project import Project
from workbench.storage.labels import labels as stored_labels
from workbench.storage.queries import listing
from workbench.storage.runs import runs
from workbench.text.fields import ClassScores, Prediction, SpanScores
from workbench.text.spans import Span
from workbench.ui.panels.annotate.actions import AnnotateActions
from workbench.ui.panels.annotate.differences import Differences
from workbench.ui.panels.annotate.state import SpanTarget


def label_id(state, name: str) -> int:
    return next(id for id, (_layer, label) in state.label_of.items() if label.name == name)


def layer_id(state, name: str) -> int:
    return next(layer.id for layer in state.layers if layer.name == name)


def found(state) -> list[tuple[str, str]]:
    """The spans of the document as (text, label)."""
    names = {id: label.name for id, (_layer, label) in state.label_of.items()}
    return [
        (state.doc.document.content(r.field)[r.start : r.end], names[r.label_id])
        for r in state.spans
    ]


def key_of(state) -> str:
    return state.doc.document.key


def suggest(state, *rows, run=None):
    made = [NewSuggestion(state.document_id, *row) for row in rows]
    suggestion_edits.add_suggestions(state.project, run, made, kind="rule", ref="test")


# ---------------------------------------------------------------- opening and navigation


def test_it_opens_at_the_first_document_with_something_to_do(state, context):
    assert key_of(state) == "k0"
    state.switch_layer(layer_id(state, "names"), False)
    state.label(label_id(state, "good"))
    state.submit()
    again = AnnotateActions(context)

    assert key_of(again) == "k1"
    again.close()


def test_next_and_previous_walk_the_queue_and_stop_at_its_ends(state):
    state.step(-1)
    assert key_of(state) == "k0"
    for _turn in range(9):
        state.step(1)
    assert key_of(state) == "pair"


def test_only_the_layers_that_fit_a_document_are_shown(state):
    assert [layer.name for layer in state.active] == ["mood", "names"]
    state.step(1)
    state.open(state.ids[-1])

    assert [layer.name for layer in state.active] == ["pairs"]


def test_switching_layers_off_is_remembered_and_narrows_the_queue(state, context):
    state.switch_layer(layer_id(state, "pairs"), False)
    again = AnnotateActions(context)

    assert len(state.ids) == 5
    assert [layer.name for layer in again.layers if layer.id in again.off] == ["pairs"]
    again.close()


def test_a_skipped_document_comes_last_and_nothing_changes(state):
    before = state.project.undo_title
    state.skip()

    assert key_of(state) == "k1"
    assert state.rows(state.ids)[-1].key == "k0"
    assert state.project.undo_title == before and state.state_of_document == "pending"


def test_when_all_are_skipped_the_first_skipped_comes_again(state):
    for _turn in range(6):
        state.skip()

    assert key_of(state) == "k0"


# ---------------------------------------------------------------- labelling


def test_a_span_label_marks_the_target_and_the_new_span_is_chosen(state):
    state.label(label_id(state, "PER"), SpanTarget("text", 0, 3))

    assert found(state) == [("Ada", "PER")]
    assert state.chosen_span().start == 0
    assert state.state_of_document == "draft"


def test_a_label_relabels_the_chosen_span_whatever_the_target(state):
    state.label(label_id(state, "PER"), SpanTarget("text", 0, 3))
    state.label(label_id(state, "LOC"), SpanTarget("text", 8, 11))

    assert found(state) == [("Ada", "LOC")]


def test_what_is_chosen_in_right_to_left_text_is_what_is_stored(state):
    state.open(state.ids[3])
    text = state.doc.document.text
    start = text.index("באוטובוס")
    state.label(label_id(state, "PER"), SpanTarget("text", start, start + 8))

    assert found(state) == [("באוטובוס", "PER")]


def test_a_class_label_sets_replaces_and_clears(state):
    for name, wanted in (("good", {"good"}), ("bad", {"bad"}), ("bad", set())):
        state.label(label_id(state, name))
        assert {state.label_of[id][1].name for id in state.marked} == wanted


def below(state, parent: str, *names: str) -> None:
    ids = [label_id(state, name) for name in names]
    label_groups.set_parent(state.project, ids, label_id(state, parent))


def test_the_key_of_a_label_steps_through_its_sublabels(state):
    below(state, "PER", "LOC", "TIME")
    person = label_id(state, "PER")
    assert not state.step_sublabel(person)  # nothing is selected
    state.label(person, SpanTarget("text", 0, 3))

    seen = []
    for _press in range(3):
        assert state.step_sublabel(person)
        seen += found(state)

    assert seen == [("Ada", "LOC"), ("Ada", "TIME"), ("Ada", "PER")]
    state.project.undo()
    assert found(state) == [("Ada", "TIME")]


def test_a_class_is_cleared_after_its_last_sublabel(state):
    below(state, "good", "bad")
    good = label_id(state, "good")
    state.label(good)

    for wanted in ({"bad"}, set()):
        assert state.step_sublabel(good)
        assert {state.label_of[id][1].name for id in state.marked} == wanted
    assert not state.step_sublabel(good)


def test_sublabels_without_a_key_show_that_of_their_parent_with_the_presses(state):
    below(state, "PER", "LOC", "TIME")
    labels.set_key(state.project, label_id(state, "TIME"), "")
    layer = next(layer for layer in state.active if layer.name == "names")

    shown = [(with_key.name, with_key.key) for with_key in state.with_keys(layer)]
    assert shown == [("PER", "1"), ("LOC", "2"), ("TIME", "1×3")]


def test_labels_used_last_come_first_also_after_the_project_was_opened_again(state, context):
    assert not state.order_of_use()
    for name in ("LOC", "TIME", "LOC"):
        state.label(label_id(state, name), SpanTarget("text", 0, 3))

    wanted = {label_id(state, "LOC"): 0, label_id(state, "TIME"): 1}
    assert state.order_of_use() == wanted
    again = AnnotateActions(context)
    assert again.order_of_use() == wanted
    again.close()


def test_delete_grow_and_undo(state):
    state.label(label_id(state, "PER"), SpanTarget("text", 0, 3))
    state.resize(0, 11)
    assert found(state) == [("Ada met Bob", "PER")]

    state.resize(5, 5)  # an empty span is not created
    state.delete_chosen()
    assert found(state) == [] and state.chosen is None

    state.project.undo()
    assert found(state) == [("Ada met Bob", "PER")]
    state.project.undo()
    assert found(state) == [("Ada", "PER")]


def test_undoing_what_was_done_to_another_document_brings_that_one_up(state):
    state.label(label_id(state, "PER"), SpanTarget("text", 0, 3))
    state.step(1)
    state.project.undo()

    assert key_of(state) == "k0" and found(state) == []


def test_keys_are_those_of_the_shown_layers(state):
    assert {key: state.label_of[id][1].name for key, id in state.keys.items()} == {
        "1": "PER",
        "2": "LOC",
        "3": "TIME",
        "q": "good",
        "w": "bad",
    }


def test_tab_goes_through_spans_and_suggestions_in_order_of_the_text(state):
    state.label(label_id(state, "LOC"), SpanTarget("text", 15, 20))
    state.choose(None)
    state.label(label_id(state, "PER"), SpanTarget("text", 0, 3))
    suggest(state, (layer_id(state, "names"), label_id(state, "PER"), 8, 11, "text", 0.7))
    state.choose(None)
    seen = []
    for _turn in range(4):
        state.choose_step(1, "text", 1)  # the caret stands in the first word
        row = state.chosen_span() or state.chosen_suggestion()
        seen.append(row.start)

    assert seen == [8, 15, 0, 8]
    state.choose_step(-1, "text", 0)
    assert state.chosen_span().start == 0


# ---------------------------------------------------------------- suggestions


def test_accept_takes_the_chosen_suggestion_else_the_first_and_chooses_the_next(state):
    names, person = layer_id(state, "names"), label_id(state, "PER")
    suggest(
        state,
        (names, person, 0, 3, "text", 0.9),
        (names, person, 8, 11, "text", 0.8),
        (names, person, 15, 20, "text", 0.6),
    )
    state.choose(("suggested", state.suggestions[1].id))
    state.accept()

    assert found(state) == [("Bob", "PER")]
    assert state.chosen_suggestion().start == 15
    state.choose(None)
    state.reject()
    assert [row.start for row in state.suggestions] == [15] and state.chosen is None


def test_accept_all_takes_those_that_are_sure_enough_as_one_step(state, context):
    names, person = layer_id(state, "names"), label_id(state, "PER")
    suggest(state, (names, person, 0, 3, "text", 0.9), (names, person, 8, 11, "text", 0.5))
    state.set_sure(0.8)
    state.accept_all()

    assert found(state) == [("Ada", "PER")] and len(state.suggestions) == 1
    state.project.undo()
    assert found(state) == [] and len(state.suggestions) == 2


def test_a_label_key_on_a_chosen_suggestion_corrects_it_in_one_step(state):
    suggest(state, (layer_id(state, "names"), label_id(state, "PER"), 15, 20, "text", 0.9))
    state.choose(("suggested", state.suggestions[0].id))
    state.label(label_id(state, "LOC"))

    assert found(state) == [("Paris", "LOC")] and state.suggestions == ()
    state.project.undo()
    assert found(state) == [] and len(state.suggestions) == 1


# ---------------------------------------------------------------- submit, discard


def test_submit_goes_on_and_a_class_layer_without_a_class_stays_draft_and_is_reported(
    state, context
):
    first = state.document_id
    state.submit()

    assert key_of(state) == "k1"
    doc = document_view.view(state.project, first)
    assert doc.states == {layer_id(state, "mood"): "draft", layer_id(state, "names"): "submitted"}
    assert any("mood has no class yet" in message for message in context.message)


def states_of(state, document_id) -> dict[str, str]:
    known = document_view.view(state.project, document_id).states
    return {layer.name: known[layer.id] for layer in state.layers if layer.id in known}


def test_submitting_a_class_says_nothing_about_spans_that_nobody_looked_for(state, context):
    first = state.document_id
    state.label(label_id(state, "good"))
    state.submit()

    assert states_of(state, first) == {"mood": "submitted", "names": "pending"}
    assert context.message == ["Submitted k0 in mood only: names has no labels."]
    assert list(context.offered) == ["Undo", "Label only mood", "Always submit names too"]
    assert key_of(state) == "k1"


def test_spans_that_were_deleted_or_suggestions_that_were_rejected_are_an_answer(state):
    state.label(label_id(state, "PER"), SpanTarget("text", 0, 3))
    first = state.document_id
    state.step(1)
    suggest(state, (layer_id(state, "names"), label_id(state, "LOC"), 0, 3))
    second = state.document_id
    state.open(first)
    state.choose(("gold", state.spans[0].id))
    state.delete_chosen()
    state.label(label_id(state, "good"))
    state.submit()
    state.open(second)
    state.reject()
    state.label(label_id(state, "bad"))
    state.submit()

    for id in (first, second):
        assert states_of(state, id) == {"mood": "submitted", "names": "submitted"}


def test_the_layers_to_label_are_chosen_once_after_a_submission(state, context):
    state.label(label_id(state, "good"))
    state.submit()
    context.offered["Label only mood"]()
    assert [layer.name for layer in state.active] == ["mood"] and state.left == 4 + 1  # and a pair

    context.message.clear()
    state.label(label_id(state, "bad"))
    state.submit()
    assert not context.message and state.left == 3 + 1


def test_always_submits_untouched_layers_from_then_on(state, context):
    first = state.document_id
    state.label(label_id(state, "good"))
    state.submit()
    context.offered["Always submit names too"]()
    context.message.clear()
    second = state.document_id
    state.label(label_id(state, "bad"))
    state.submit()

    assert not context.message
    for id in (first, second):
        assert states_of(state, id) == {"mood": "submitted", "names": "submitted"}


def test_a_chosen_layer_without_labels_is_submitted_and_named_until_always(state, context):
    names = layer_id(state, "names")
    state.switch_layer(names, False)
    state.switch_layer(names, True)
    first = state.document_id
    state.label(label_id(state, "good"))
    state.submit()
    assert states_of(state, first) == {"mood": "submitted", "names": "submitted"}
    assert context.message == ["Submitted k0 without a label in names."]
    assert list(context.offered) == ["Undo", "Always"] and state.tells_empty

    context.offered["Always"]()
    context.message.clear()
    state.label(label_id(state, "good"))
    state.submit()
    assert not context.message and not state.tells_empty

    state.tell_empty(True)
    state.label(label_id(state, "good"))
    state.submit()
    assert context.message == ["Submitted k2 without a label in names."]


# ---------------------------------------------------------------- layers to label


def finish_some(state, documents=2):
    state.switch_layer(layer_id(state, "names"), False)
    for _turn in range(documents):
        state.label(label_id(state, "good"))
        state.submit()


def test_a_layer_that_is_added_leaves_finished_documents_finished(state, context):
    finish_some(state)
    before = state.left, state.rows(list(state.ids))

    labels.add_layer(state.project, "topic", "class", labels=("war", "peace"))

    assert [layer.name for layer in state.active] == ["mood"]
    assert (state.left, state.rows(list(state.ids))) == before
    assert "The new layer topic is not among the layers that you label." in context.message
    context.offered["Label topic"]()
    assert [layer.name for layer in state.active] == ["mood", "topic"] and state.left == 5 + 1


def test_a_layer_added_while_no_page_was_open_leaves_finished_documents_finished(state, context):
    finish_some(state)
    state.close()
    labels.add_layer(state.project, "topic", "class", labels=("war", "peace"))
    again = AnnotateActions(context)

    assert [layer.name for layer in again.active] == ["mood"] and again.left == 3 + 1
    again.close()


def test_a_layer_that_is_added_before_a_document_is_finished_is_labelled(state):
    state.label(label_id(state, "good"))
    labels.add_layer(state.project, "topic", "class", labels=("war", "peace"))

    assert [layer.name for layer in state.active] == ["mood", "names", "topic"]


def test_a_layer_for_other_documents_is_labelled(state):
    finish_some(state)
    labels.add_layer(state.project, "nearness", "score", texts=2)

    assert layer_id(state, "nearness") not in state.off


def test_layers_hidden_by_an_earlier_version_stay_hidden(state, context):
    uid = next(layer.uid for layer in state.layers if layer.name == "names")
    state.close()
    context.settings.window = {"annotate.off": {state.project.uid: [uid]}}
    again = AnnotateActions(context)
    again.label(label_id(again, "good"))
    again.submit()

    assert [layer.name for layer in again.active] == ["mood"] and not context.message
    again.close()


def test_submit_touches_only_the_layers_that_are_switched_on(state):
    state.switch_layer(layer_id(state, "mood"), False)
    first = state.document_id
    state.submit()

    assert document_view.view(state.project, first).states[layer_id(state, "mood")] == "pending"
    assert document_view.view(state.project, first).states[layer_id(state, "names")] == "submitted"


def test_the_queue_shows_the_state_in_the_layers_that_are_switched_on(state):
    first = state.document_id
    state.switch_layer(layer_id(state, "mood"), False)
    state.submit()
    state.open(first)
    assert [row.state for row in state.rows([first])] == [
        "submitted"
    ] and state.state_of_document == "submitted"

    state.switch_layer(layer_id(state, "mood"), True)
    state.open(first)
    assert [row.state for row in state.rows([first])] == [
        "draft"
    ] and state.state_of_document == "draft"


def test_editing_leaves_a_submitted_document_submitted(state):
    state.switch_layer(layer_id(state, "pairs"), True)  # as chosen
    state.label(label_id(state, "good"))
    first = state.document_id
    state.submit()
    state.open(first)
    state.label(label_id(state, "PER"), SpanTarget("text", 0, 3))

    assert state.state_of_document == "submitted"


def test_discard_goes_on_and_is_taken_back_by_the_same_key(state):
    first = state.document_id
    state.discard()
    assert key_of(state) == "k1"

    state.open(first)
    assert state.state_of_document == "discarded"
    state.discard()
    assert state.state_of_document == "draft"


def test_when_all_is_done_it_says_so_and_stays(state, context):
    for id in list(state.ids):
        state.open(id)
        state.discard()

    assert (
        "All documents are labelled." not in context.message[-1]
    )  # the note of the discarding stands
    assert state.left == 0 and not state.next_unlabelled()


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
    state.label(label_id(state, "PER"), SpanTarget("text", 0, 3))
    first, second = state.ids[0], state.ids[1]
    layer = next(layer for layer in state.layers if layer.name == "names")
    answer = Prediction((SpanScores((Span(8, 11, "PER", score=0.9),)),))
    run = add_run(
        state.project,
        layer,
        "tag",
        {first: answer, second: Prediction((SpanScores((Span(4, 6, "TIME", score=0.8),)),))},
    )

    state.show_errors(run, (second, first), first)
    differences = state.differences
    assert [(span.start, span.label) for span in differences.spans] == [(8, "PER")]
    assert differences.missed == {state.spans[0].id} and differences.labels == ()

    state.next_error()
    assert state.document_id == second
    state.next_error()
    assert state.document_id == first and list(state.ids) == [second, first]
    state.leave_errors()
    assert len(state.ids) == 6 and state.predicted is None


def test_a_class_that_the_run_gave_otherwise_is_reported(state):
    state.label(label_id(state, "good"))
    layer = next(layer for layer in state.layers if layer.name == "mood")
    run = add_run(
        state.project,
        layer,
        "classify",
        {state.document_id: Prediction((ClassScores(("good", "bad"), (0.1, 0.9)),))},
    )
    state.show_errors(run, (state.document_id,))

    assert state.differences == Differences(labels=("bad",))
    state.label(label_id(state, "bad"))
    assert state.differences == Differences()


# ---------------------------------------------------------------- changes elsewhere


def test_a_deleted_document_gives_way_to_another(state):
    from workbench.operations.documents import corpus

    corpus.delete_documents(state.project, [state.document_id])

    assert key_of(state) == "k1" and len(state.ids) == 5


def test_renamed_and_deleted_labels_show_at_once(state):
    state.label(label_id(state, "PER"), SpanTarget("text", 0, 3))
    labels.rename_label(state.project, label_id(state, "PER"), "PERSON")
    assert found(state) == [("Ada", "PERSON")]

    labels.delete_label(state.project, label_id(state, "PERSON"))
    assert found(state) == [] and state.chosen is None


def test_without_documents_nothing_is_shown_and_an_import_brings_the_first_up(filled, context):
    from workbench.operations.documents import corpus

    corpus.delete_documents(filled, list(annotate.queue(filled)))
    state = AnnotateActions(context)
    assert state.doc is None and not state.can_edit
    for act in (state.submit, state.skip, state.discard, state.accept, state.delete_chosen):
        act()

    filled.undo()
    assert key_of(state) == "k0"
    state.close()


def test_a_read_only_project_is_shown_and_never_written(filled, context):
    context.project = other = Project.open(filled.path, read_only=True)
    state = AnnotateActions(context)

    state.label(label_id(state, "PER"), SpanTarget("text", 0, 3))
    state.submit()
    state.discard()
    assert found(state) == [] and key_of(state) == "k0" and not state.can_edit
    state.close()
    other.close()


@pytest.mark.parametrize("names", [("mood",), ("mood", "names")])
def test_the_guideline_is_that_of_the_layers_shown_each_once(state, names):
    for name in names[1:]:
        labels.set_guideline(
            state.project, layer_id(state, name), "# Mood\n\nOf the whole message."
        )

    assert state.guideline == "# Mood\n\nOf the whole message."


# ---------------------------------------------------------------- keys of class labels


def test_where_only_class_layers_are_shown_their_keys_are_digits(state):
    state.switch_layer(layer_id(state, "names"), False)
    assert {key: state.label_of[id][1].name for key, id in state.keys.items()} == {
        "1": "good",
        "2": "bad",
        "q": "good",
        "w": "bad",
    }
    mood = next(layer for layer in state.active if layer.name == "mood")
    assert [label.key for label in state.with_keys(mood)] == ["1", "2"]

    state.switch_layer(layer_id(state, "names"), True)
    assert [label.key for label in state.with_keys(mood)] == ["q", "w"]


def test_a_key_of_two_labels_is_shown_and_works_for_the_first_alone(state):
    per, loc = label_id(state, "PER"), label_id(state, "LOC")
    with state.project.edit("as an older version imported it"):
        stored_labels.update_label(state.project.db, loc, key="1")

    assert state.keys["1"] == per and loc not in state.shown_keys


def test_a_pair_has_no_spans_so_its_classes_have_digits(state):
    state.open(state.ids[-1])

    assert [state.shown_keys[label.id] for label in state.active[0].labels] == ["1", "2"]


def test_a_key_that_somebody_chose_stays(state):
    labels.set_key(state.project, label_id(state, "bad"), "g")
    state.switch_layer(layer_id(state, "names"), False)

    assert {state.label_of[id][1].name: key for id, key in state.shown_keys.items()} == {
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
        ids = list(state.ids)[key : key + len(answers)]
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
        state.show_errors(run.id, ids)
        return run

    return review


def tagged(*spans, cut=False):
    return Prediction((SpanScores(tuple(Span(*span) for span in spans)),), cut)


def test_accept_makes_the_answer_gold_and_opens_the_next_error(state, reviewed, context):
    state.label(label_id(state, "LOC"), SpanTarget("text", 0, 3))  # Ada
    state.choose(None)
    state.label(label_id(state, "LOC"), SpanTarget("text", 15, 20))  # Paris
    right = (15, 20, "LOC", "text", 0.9)
    run = reviewed(tagged((0, 3, "PER", "text", 0.8), right), tagged((4, 6, "LOC")))
    steps = state.project.undo_title
    state.accept()

    assert key_of(state) == "k1"
    assert context.message[-1] == "Accepted the prediction of first as gold for k0."
    state.next_error(-1)
    assert found(state) == [("Ada", "PER"), ("Paris", "LOC")]
    ada = next(row for row in state.spans if row.start == 0)
    assert ada.score == 0.8 and state.differences == Differences()
    state.project.undo()
    assert state.project.undo_title == steps
    assert found(state) == [("Ada", "LOC"), ("Paris", "LOC")]
    assert state.run.id == run.id


def test_accept_takes_a_class_in_place_of_gold(state, reviewed):
    state.label(label_id(state, "good"))
    answer = Prediction((ClassScores(("good", "bad"), (0.3, 0.7)),))
    reviewed(answer, layer="mood")
    state.accept()

    assert {state.label_of[id][1].name for id in state.marked} == {"bad"}
    (mark,) = state.doc.marks
    assert mark.score == 0.7


def test_reject_keeps_gold_and_opens_the_next_error(state, reviewed):
    state.label(label_id(state, "LOC"), SpanTarget("text", 0, 3))
    reviewed(tagged((0, 3, "PER")), tagged((4, 6, "LOC")))
    state.reject()

    assert key_of(state) == "k1"
    state.next_error()
    assert found(state) == [("Ada", "LOC")]


def test_spans_inside_others_and_behind_the_part_that_was_read_are_kept(state, reviewed):
    """A run predicts flat spans of the text that it read: neither of these is an error."""
    for name, start, end in (("PER", 0, 11), ("LOC", 8, 11), ("LOC", 15, 20)):
        state.choose(None)
        state.label(label_id(state, name), SpanTarget("text", start, end))
    reviewed(tagged((0, 3, "PER"), cut=True))
    missed = state.differences.missed
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
    state.leave_errors()
    suggest(state, (layer_id(state, "names"), label_id(state, "PER"), 8, 11, "text", 0.7))
    state.accept()

    assert found(state) == [("Bob", "PER")]


def test_the_document_selected_elsewhere_is_opened_when_the_page_is_shown(state):
    project, ids = state.project, list(state.ids)
    assert project.selection == ()  # the first document has opened by itself
    state.open(ids[1])
    assert project.selection == (ids[1],)

    project.select((ids[2],), "data")
    assert state.document_id == ids[1]
    state.follow()
    assert state.document_id == ids[2]
    project.select(ids[:2], "data")  # several: the open one stays
    state.follow()
    assert state.document_id == ids[2]


def test_an_error_review_does_not_leave_its_documents(reviewed, state):
    reviewed(tagged())
    before = state.document_id
    state.project.select((next(id for id in listing.ids(state.project.db) if id != before),), "x")
    state.follow()
    assert state.document_id == before and state.errors
