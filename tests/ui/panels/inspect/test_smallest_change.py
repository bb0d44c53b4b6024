"""The view of the smallest change that turns a class."""

from dataclasses import replace

from tests.ui.panels.inspect.shown import cells, choose, items, named, renew, show, texts
from workbench.inspection.attributions.info import Target
from workbench.inspection.smallest_change.info import Change, SmallestChange, Trial
from workbench.inspection.spec import WordRow
from workbench.operations.inspecting.inspect import InspectableModel
from workbench.ui.widgets.controls.button import Button

WORDS = (WordRow(0, 4, "text", "Late"), WordRow(5, 10, "text", "again"))
DELETED = Change("delete", ((0, ""),), "again", "praise", 0.6, True)
REPLACED = Change("replace", ((1, "today"),), "Late today", "delay", 0.7, False)
TRIALS = (Trial(0, "", "praise", 0.6, 0.5), Trial(1, "today", "delay", 0.7, 0.2))


def shown(qtbot, *changes):
    result = SmallestChange(WORDS, "delay", 0.9, changes, TRIALS)
    return show(qtbot, "smallest_change", result, size=(700, 600))


def captions(view, strip):
    return [word.caption for word in named(view, strip).words]


def test_changed_words_are_marked_and_the_class_they_lead_to_is_named(qtbot):
    view = shown(qtbot, DELETED, REPLACED)

    assert {
        "Deleting the marked words changes the prediction to praise, 60%.",
        "No replacement that was tried changes the prediction; it remains delay, 70%.",
    } <= set(texts(view))
    assert captions(view, "Deleted words") == ["deleted", ""]
    assert captions(view, "Replaced words") == ["", "today"]


def test_single_changes_are_listed_with_their_effect(qtbot):
    view = shown(qtbot, DELETED)

    assert cells(named(view, "Single changes"), 0, 1, 2, 4) == [
        ["Late", "(deleted)", "praise, 60", "50.0"],
        ["again", "today", "delay, 70", "20.0"],
    ]
    assert any(text.startswith("No replacements:") for text in texts(view))


def test_a_search_that_goes_on_shows_what_it_has_and_can_be_stopped(qtbot):
    view = shown(qtbot, DELETED, replace(REPLACED, words=()))
    view.state.continuing = True
    renew(view, replace(view.state.result, searching="replace", tried=40))

    assert "Deleting the marked words changes the prediction to praise, 60%." in texts(view)
    assert not any("eplacement" in text and "tried" in text for text in texts(view))
    assert "Searching: 40 changed texts tried…" in texts(view)
    stop, more = (named(view, name, Button) for name in ("Stop", "Continue"))
    assert stop.isVisibleTo(view) and not more.isVisibleTo(view)

    stop.click()
    view.show_state(frozenset({"continuing"}))

    assert "The search was stopped after 40 changed texts." in texts(view)
    assert more.isVisibleTo(view) and not stop.isVisibleTo(view)


def test_a_text_from_right_to_left_keeps_its_order(qtbot):
    view = shown(qtbot, DELETED)
    strip = named(view, "Deleted words")
    first = lambda: strip.area(0).left() - strip.area(1).left()  # noqa: E731
    assert first() < 0
    words = tuple(
        replace(word, text=text) for word, text in zip(WORDS, ("تأخر", "الترام"), strict=True)
    )

    renew(view, replace(view.state.result, words=words))

    assert first() > 0


def test_the_table_stays_readable_until_the_next_result_arrives(qtbot):
    view = shown(qtbot, DELETED)

    view.state.result = None  # the text has changed
    view.show_state(frozenset({"result"}))

    assert cells(named(view, "Single changes"), 0)[1] == ["again"]


def test_the_decision_and_the_model_of_the_words_are_chosen(qtbot):
    view = shown(qtbot, DELETED)
    view.page.choices = tuple(
        InspectableModel("k", name, f"/{name}", gives=(gives,))
        for name, gives in (("starter-bert", "masked_lm"), ("gpt", "next_lm"))
    )
    targets = (Target("word:0:", "", 0.9, 0, 0), Target("word:1:B-T", "B-T", 0.4, 1, 1))
    renew(view, replace(view.state.result, target="word:0:", targets=targets))

    assert items(named(view, "Decision")) == ["Late: no label, 90%", "again: B-T, 40%"]
    choose(view, "Decision", 1)
    assert view.page.asked[-1] == {"target": "word:1:B-T", "part": 16}
    names = items(named(view, "Replacements from"))
    assert names == ["Model of the run, else starter-bert", "No model", "starter-bert"]
    choose(view, "Replacements from", 2)
    assert view.page.asked[-1]["proposer"] == "/starter-bert"


def test_a_number_has_a_step_and_its_changes_are_numbers(qtbot):
    view = shown(qtbot)
    change = Change("delete", ((0, ""),), "again", "", 0.0, False, 2.25)
    targets = (Target("number", "", 0.0, value=2.0),)
    trials = (Trial(0, "", "", 0.0, 0.25, value=2.25),)
    assert "Step" not in texts(view)

    number = SmallestChange(WORDS, "", 0.0, (change,), trials, target="number", targets=targets)
    renew(view, number)

    message = "No deletion that was tried changes the prediction; it remains 2.250."
    assert {message, "predicted: 2.000", "Step"} <= set(texts(view))
    assert cells(named(view, "Single changes"), 4) == [["0.250"]]
