"""Tags of tokens in Annotate: the state, and the page by keys."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from workbench.operations.annotation import suggestion_edits
from workbench.operations.annotation.annotate import NewSuggestion
from workbench.operations.schema import labels
from workbench.storage.runs import runs
from workbench.text.fields import Prediction, WordTag, WordTags
from workbench.ui.panels.annotate.tokens import tokens
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.chip import ChipButton

Key = Qt.Key


@pytest.fixture
def tagging(state):
    """The state with a tag layer, all other layers hidden."""
    labels.add_layer(state.project, "pos", "tag", labels=["NOUN", "VERB", "DET"])
    for layer in state.session.layers:
        state.session.switch_layer(layer.id, layer.name in ("pos", "pairs"))
    return state


def tags(state) -> dict[str, str]:
    """Token → tag, of the tagged tokens."""
    text, names = state.session.doc.document.text, state.session.label_of
    return {
        text[slice(*place)]: names[rows[0].label_id][1].name
        for place, rows in state.tokens.tags().items()
    }


def label(state, name):
    return next(found for _layer, found in state.session.label_of.values() if found.name == name)


def word(state):
    return state.session.doc.document.text[slice(*state.tokens.token_place)]


def test_a_label_tags_the_chosen_token_and_leads_to_the_next(tagging):
    first = word(tagging)

    tagging.session.label(label(tagging, "NOUN").id)
    second = word(tagging)
    tagging.session.label(label(tagging, "VERB").id)

    assert tags(tagging) == {first: "NOUN", second: "VERB"} and tagging.tokens.token == 2


def test_another_tag_takes_the_place_of_the_one_there(tagging):
    first = word(tagging)
    for name in ("NOUN", "VERB"):
        tagging.tokens.choose_token(0)
        tagging.session.label(label(tagging, name).id)

    assert tags(tagging) == {first: "VERB"}
    tagging.project.undo()
    assert tags(tagging) == {first: "NOUN"}


def test_a_tag_is_cleared_and_a_suggestion_rejected_where_there_is_none(tagging):
    (layer,) = tagging.session.tag_layers
    tagging.session.label(label(tagging, "NOUN").id)
    place = tagging.tokens.token_place
    suggestion_edits.add_suggestions(
        tagging.project,
        None,
        [NewSuggestion(tagging.session.document_id, layer.id, label(tagging, "DET").id, *place)],
        kind="rule",
    )

    tagging.tokens.clear_tag()
    assert tagging.tokens.suggested_tags() == {} and len(tags(tagging)) == 1
    tagging.tokens.choose_token(0)
    tagging.tokens.clear_tag()

    assert tags(tagging) == {}


def test_an_accepted_suggestion_becomes_the_tag_and_leads_on(tagging):
    (layer,) = tagging.session.tag_layers
    suggestion_edits.add_suggestions(
        tagging.project,
        None,
        [
            NewSuggestion(
                tagging.session.document_id,
                layer.id,
                label(tagging, "DET").id,
                *tagging.tokens.token_place,
            )
        ],
        kind="rule",
    )
    first = word(tagging)

    assert tagging.tokens.accept_tag() and not tagging.tokens.accept_tag()
    assert tags(tagging) == {first: "DET"} and tagging.tokens.token == 1


def suggest_tags(state, *given):
    """Suggestions of a rule: (number of the token, label, score)."""
    layer = state.session.tag_layers[0].id
    rows = [
        NewSuggestion(
            state.session.document_id,
            layer,
            label(state, name).id,
            *state.tokens.tokens[at],
            "text",
            score,
        )
        for at, name, score in given
    ]
    suggestion_edits.add_suggestions(state.project, None, rows, kind="rule")


def test_the_rest_is_accepted_in_one_step_and_tagged_tokens_keep_their_tag(tagging):
    tagging.session.label(label(tagging, "NOUN").id)
    suggest_tags(tagging, (0, "DET", 0.9), (1, "DET", 0.4), (1, "VERB", 0.6), (3, "NOUN", None))

    tagging.tokens.accept_other_tags()

    text = tagging.session.doc.document.text
    words = [text[slice(*place)] for place in tagging.tokens.tokens]
    assert tags(tagging) == {words[0]: "NOUN", words[1]: "VERB", words[3]: "NOUN"}
    assert tagging.context.message == ["Accepted 2 suggestions."]
    tagging.project.undo()
    assert tags(tagging) == {words[0]: "NOUN"}


def test_tags_that_are_not_stored_yet_are_accepted_and_rejected(tagging, monkeypatch):
    from workbench.operations.annotation import live_suggestions

    (layer,) = tagging.session.tag_layers
    here = tagging.session.document_id
    answers = [[0, *tagging.tokens.tokens[0], 0.8], [1, *tagging.tokens.tokens[1], 0.7]]
    rows = live_suggestions.of_instant(here, layer, answers, "text")
    monkeypatch.setattr(tagging.instant, "suggested_for", lambda _doc: rows)
    tagging.session.open(here)
    first = word(tagging)

    assert tagging.tokens.accept_tag() and tags(tagging) == {first: "NOUN"}
    tagging.tokens.clear_tag()

    assert tagging.tokens.suggested_tags() == {} and tags(tagging) == {first: "NOUN"}


def given(state):
    """The tag of the selected token."""
    return [state.session.label_of[row.label_id][1].name for row in state.tokens.token_tags()]


def test_steps_lead_through_the_tags_by_probability_and_then_in_order(tagging, monkeypatch):
    verb, noun = label(tagging, "VERB").id, label(tagging, "NOUN").id
    monkeypatch.setattr(tagging.instant, "tag_chances", lambda *_place: [(verb, 0.7), (noun, 0.2)])
    found = []
    for way in (1, 1, 1, 1, -1):
        tagging.tokens.step_tag(way)
        found += given(tagging)
        monkeypatch.setattr(tagging.instant, "tag_chances", lambda *_place: [])  # it has a tag

    assert found == ["VERB", "NOUN", "DET", "VERB", "DET"] and tagging.tokens.token == 0
    tagging.project.undo()
    assert given(tagging) == []  # all steps on a token are undone as one
    tagging.project.redo()
    assert given(tagging) == ["DET"]


def test_steps_lead_to_the_next_best_tags_of_the_run_that_made_the_suggestion(tagging):
    (layer,), project, place = (
        tagging.session.tag_layers,
        tagging.project,
        tagging.tokens.token_place,
    )
    others = ("VERB", 0.25), ("gone", 0.1), ("NOUN", 0.05)
    answer = Prediction((WordTags((WordTag(*place, "DET", 0.6, others),)),))
    with project.write():
        run = runs.add(project.db, "first", layer_id=layer.id, status="done")
        text_hash = tagging.session.doc.document.text_hash
        runs.save_predictions(
            project.db, run.id, [(tagging.session.document_id, text_hash, answer.to_json())]
        )
    made = [NewSuggestion(tagging.session.document_id, layer.id, label(tagging, "DET").id, *place)]
    suggestion_edits.add_suggestions(project, run.id, [replace(made[0], score=0.6)])

    names = {found.id: found.name for found in layer.labels}

    def offers():
        return [(names[offer.label_id], offer.score) for offer in tagging.tokens.token_offers()]

    assert offers() == [("DET", 0.6), ("VERB", 0.25), ("NOUN", 0.05)]
    tagging.tokens.step_tag(1)
    assert offers() == [("DET", 0.6), ("VERB", 0.25), ("NOUN", 0.05)]  # now none is a suggestion
    tagging.tokens.step_tag(1)

    assert given(tagging) == ["VERB"]


def test_steps_after_another_edit_are_undone_alone(tagging):
    tagging.tokens.step_tag(1)
    tagging.tokens.choose_token(1)
    tagging.tokens.step_tag(1)
    tagging.tokens.choose_token(0)
    tagging.tokens.step_tag(1)
    tagging.project.undo()

    assert given(tagging) == ["NOUN"]


def test_steps_change_the_layer_of_the_selected_tag_or_of_the_last_one(tagging):
    labels.add_layer(tagging.project, "case", "tag", labels=["NOM", "ACC"])
    tagging.session.label(label(tagging, "ACC").id)
    tagging.tokens.step_tag(1)
    assert given(tagging) == ["NOM"]

    tagging.tokens.choose_token(0)
    tagging.session.label(label(tagging, "NOUN").id)
    row = next(row for row in tagging.session.spans if row.label_id == label(tagging, "ACC").id)
    tagging.session.choose(("gold", row.id))
    tagging.tokens.step_tag(1)

    assert sorted(given(tagging)) == ["NOM", "NOUN"]


def test_without_suggestions_steps_follow_the_order_of_the_layer(tagging):
    tagging.tokens.step_tag(-1)
    assert given(tagging) == ["DET"]
    tagging.tokens.choose_token(1)
    tagging.tokens.step_tag(1)
    assert given(tagging) == ["NOUN"]


def test_a_tag_chosen_in_the_list_chooses_its_token(tagging):
    tagging.tokens.choose_token(1)
    tagging.session.label(label(tagging, "NOUN").id)
    tagging.tokens.choose_token(0)

    tagging.session.choose(("gold", tagging.session.spans[0].id))

    assert tagging.tokens.token == 1


def test_the_token_chosen_stays_within_the_text(tagging):
    tagging.tokens.choose_token(10_000)
    assert tagging.tokens.token == len(tagging.tokens.tokens) - 1
    tagging.tokens.choose_token(-5)
    assert tagging.tokens.token == 0


def test_a_long_text_is_shown_by_the_page(tagging, monkeypatch):
    monkeypatch.setattr(tokens, "PAGE", 2)

    assert list(tagging.tokens.token_page) == [0, 1]
    tagging.tokens.choose_token(2)
    assert tagging.tokens.token_page.start == 2


@pytest.fixture
def view(tagging, open_view):
    made = open_view(tagging)
    made.take_focus()
    return made


def test_the_tokens_stand_in_place_of_the_text_and_take_the_keys(view, qtbot):
    state, grid = view.state, view._document_pane.tokens.grid
    assert grid.hasFocus() and not view._document_pane.texts[0].isVisible()
    keys = {
        found.name: key
        for key, id in state.tokens.tag_keys.items()
        for found in [state.session.label_of[id][1]]
    }
    first = word(state)

    qtbot.keyClicks(grid, keys["VERB"])
    assert tags(state) == {first: "VERB"} and grid.number == 1
    qtbot.keyClick(grid, Key.Key_Left)
    qtbot.keyClick(grid, Key.Key_Backspace)

    assert tags(state) == {} and grid.number == 0


def test_shift_with_up_and_down_steps_through_tags_and_alone_they_move(view, qtbot):
    state, grid = view.state, view.document_pane.tokens.grid
    suggest_tags(state, (0, "VERB", 0.9))

    qtbot.keyClick(grid, Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert given(state) == ["VERB"] and grid.number == 0
    qtbot.keyClick(grid, Key.Key_Up, Qt.KeyboardModifier.ShiftModifier)
    assert given(state) == ["DET"] and grid.number == 0
    count = len(state.session.spans)
    qtbot.keyClick(grid, Key.Key_Down)

    assert grid.number > 0 and len(state.session.spans) == count


def test_a_low_window_shows_fewer_suggestions_and_nothing_over_another(view, qtbot):
    suggest_tags(view.state, *((at, "DET", 0.5) for at in range(5)))
    table, side = view.right.suggestions, view.right
    name = "Accept all confident suggestions"
    accept = next(item for item in side.findChildren(Button) if item.accessibleName() == name)
    high = table.height()

    view.resize(1100, view.minimumSizeHint().height())
    side.resize(side.width(), 430)
    qtbot.waitUntil(lambda: table.height() < high)

    below = accept.mapTo(side, accept.rect().topLeft()).y()
    assert below >= table.mapTo(side, table.rect().bottomLeft()).y()


def test_shift_a_accepts_the_tags_of_all_other_tokens(view, qtbot):
    state, grid = view.state, view.document_pane.tokens.grid
    suggest_tags(state, (0, "DET", 0.9), (2, "NOUN", 0.8))

    qtbot.keyClick(grid, Key.Key_A, Qt.KeyboardModifier.ShiftModifier)

    assert sorted(tags(state).values()) == ["DET", "NOUN"] and grid.number == 0


def test_m_lists_the_occurrences_of_the_selected_token_with_its_tag(view, qtbot):
    state, grid, pane = view.state, view.document_pane.tokens.grid, view.occurrences
    state.tokens.step_tag(1)
    state.tokens.step_tag(1)

    qtbot.keyClicks(grid, "m")

    assert pane.state.text == "Ada" and pane.state.label_id == label(state, "VERB").id
    qtbot.waitUntil(lambda: pane.state.share is None)
    assert [row.text for row in pane.state.found.rows] == ["Ada"]
    pane.leave()


def test_the_side_shows_the_token_with_its_tag_and_what_is_suggested(view, qtbot, monkeypatch):
    state, side = view.state, view.right.token
    suggest_tags(state, (0, "DET", 0.6), (1, "NOUN", 0.9))
    noun, verb = label(state, "NOUN").id, label(state, "VERB").id
    state.tokens.choose_token(1)
    monkeypatch.setattr(state.instant, "tag_chances", lambda *_place: [(noun, 0.9), (verb, 0.08)])
    state.tokens.choose_token(0)

    def chips():
        return [item for item in side.findChildren(ChipButton) if not item.isHidden()]

    qtbot.waitUntil(lambda: [item.text() for item in chips()] == ["NOUN", "DET", "VERB"])
    texts = [part.text() for part in side.findChildren(QLabel)]
    assert "Token “Ada”" in texts and f"1 of {len(state.tokens.tokens)}" in texts

    chips()[1].click()

    assert tags(state) == {"Ada": "DET"} and state.tokens.token == 1


def test_with_a_span_layer_the_text_stands_above_the_tokens(view):
    state = view.state
    names = next(layer for layer in state.session.layers if layer.name == "names")

    state.session.switch_layer(names.id, True)

    assert view._document_pane.texts[0].isVisible() and view._document_pane.tokens.isVisible()
    assert [cell.text for cell in view._document_pane.tokens.grid._cells][:1] == [word(state)]


def test_tags_are_not_drawn_as_spans_in_the_text(view):
    state = view.state
    state.session.label(label(state, "NOUN").id)

    assert view.first.spans == []


def test_without_a_layer_of_tags_there_are_no_tokens(view):
    state = view.state
    for layer in state.session.tag_layers:
        state.session.switch_layer(layer.id, False)

    assert not view._document_pane.tokens.isVisible()
