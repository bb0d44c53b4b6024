"""The view of the smallest change that turns a class."""

from dataclasses import replace

from tests.ui.panels.inspect.test_neighbours import Page
from workbench.base.events import ALL
from workbench.inspection.attributions.info import Target
from workbench.inspection.smallest_change.info import Change, SmallestChange, Trial
from workbench.inspection.spec import WordRow
from workbench.operations.inspecting.inspect import InspectableModel
from workbench.ui.panels.inspect.inspector_state import InspectorState
from workbench.ui.panels.inspect.views.smallest_change import SmallestChangeView

WORDS = (WordRow(0, 4, "text", "Late"), WordRow(5, 10, "text", "again"))
DELETED = Change("delete", ((0, ""),), "again", "praise", 0.6, True)
REPLACED = Change("replace", ((1, "today"),), "Late today", "delay", 0.7, False)
TRIALS = (Trial(0, "", "praise", 0.6, 0.5), Trial(1, "today", "delay", 0.7, 0.2))


def shown(qtbot, *changes):
    state = InspectorState(Page(), "smallest_change")
    view = SmallestChangeView(state)
    qtbot.addWidget(view)
    view.resize(700, 600)
    state.result = SmallestChange(WORDS, "delay", 0.9, changes, TRIALS)
    view.show_state(ALL)
    return view


def test_changed_words_are_marked_and_the_class_they_lead_to_is_named(qtbot):
    view = shown(qtbot, DELETED, REPLACED)

    assert view._message["delete"].text() == (
        "Deleting the marked words changes the prediction to praise, 60%."
    )
    assert view._message["replace"].text() == (
        "No replacement that was tried changes the prediction; it remains delay, 70%."
    )
    assert [word.caption for word in view._strips["delete"].words] == ["deleted", ""]
    assert [word.caption for word in view._strips["replace"].words] == ["", "today"]


def test_single_changes_are_listed_with_their_effect(qtbot):
    view = shown(qtbot, DELETED)

    model = view._table.model()
    rows = [[model.index(row, column).data() for column in (0, 1, 2, 4)] for row in range(2)]
    assert rows[0] == ["Late", "(deleted)", "praise, 60", "50.0"]
    assert rows[1] == ["again", "today", "delay, 70", "20.0"]
    assert view._message["replace"].text().startswith("No replacements:")


def test_a_search_that_goes_on_shows_what_it_has_and_can_be_stopped(qtbot):
    view = shown(qtbot, DELETED, replace(REPLACED, words=()))
    view.state.result = replace(view.state.result, searching="replace", tried=40)
    view.state.continuing = True
    view.show_state(ALL)

    assert view._message["delete"].text().startswith("Deleting the marked words")
    assert view._message["replace"].text() == ""
    assert view._hint.text() == "Searching: 40 changed texts tried…"
    assert view._stop.isVisibleTo(view) and not view._more.isVisibleTo(view)

    view._stop.click()
    view.show_state(frozenset({"continuing"}))

    assert view._hint.text() == "The search was stopped after 40 changed texts."
    assert view._more.isVisibleTo(view) and not view._stop.isVisibleTo(view)


def test_a_text_from_right_to_left_keeps_its_order(qtbot):
    view = shown(qtbot, DELETED)
    assert not view._strips["delete"]._rtl
    words = tuple(
        replace(word, text=text) for word, text in zip(WORDS, ("تأخر", "الترام"), strict=True)
    )
    view.state.result = replace(view.state.result, words=words)

    view.show_state(ALL)

    assert view._strips["delete"]._rtl


def test_the_table_stays_readable_until_the_next_result_arrives(qtbot):
    view = shown(qtbot, DELETED)

    view.state.result = None  # the text has changed
    view.show_state(frozenset({"result"}))

    assert view._table.model().index(1, 0).data() == "again"


def test_the_decision_and_the_model_of_the_words_are_chosen(qtbot):
    view = shown(qtbot, DELETED)
    view.page.choices = tuple(
        InspectableModel("k", name, f"/{name}", gives=(gives,))
        for name, gives in (("starter-bert", "masked_lm"), ("gpt", "next_lm"))
    )
    targets = (Target("word:0:", "", 0.9, 0, 0), Target("word:1:B-T", "B-T", 0.4, 1, 1))
    view.state.result = replace(view.state.result, target="word:0:", targets=targets)
    view.show_state(ALL)

    assert [view._target.itemText(at) for at in range(2)] == [
        "Late: no label, 90%",
        "again: B-T, 40%",
    ]
    view._target.setCurrentIndex(1)
    view._target.activated.emit(1)
    assert view.page.asked[-1] == {"target": "word:1:B-T", "part": 16}
    names = [view._proposer.itemText(at) for at in range(view._proposer.count())]
    assert names == ["Model of the run, else starter-bert", "No model", "starter-bert"]
    view._proposer.setCurrentIndex(2)
    view._proposer.activated.emit(2)
    assert view.page.asked[-1]["proposer"] == "/starter-bert"


def test_a_number_has_a_step_and_its_changes_are_numbers(qtbot):
    view = shown(qtbot)
    change = Change("delete", ((0, ""),), "again", "", 0.0, False, 2.25)
    view.state.result = SmallestChange(
        WORDS,
        "",
        0.0,
        (change,),
        (Trial(0, "", "", 0.0, 0.25, value=2.25),),
        target="number",
        targets=(Target("number", "", 0.0, value=2.0),),
    )
    view.show_state(ALL)

    assert (
        view._message["delete"].text()
        == "No deletion that was tried changes the prediction; it remains 2.250."
    )
    assert view._note.text() == "predicted: 2.000" and not view._step.isHidden()
    assert view._table.model().index(0, 4).data() == "0.250"
