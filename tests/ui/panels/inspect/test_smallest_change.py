"""The view of the smallest change that turns a class."""

from tests.ui.panels.inspect.test_neighbours import Page
from workbench.base.events import ALL
from workbench.inspection.smallest_change.info import Change, SmallestChange, Trial
from workbench.inspection.spec import WordRow
from workbench.ui.panels.inspect.shown import Shown
from workbench.ui.panels.inspect.views.smallest_change import SmallestChangeView

WORDS = (WordRow(0, 4, "text", "Late"), WordRow(5, 10, "text", "again"))
DELETED = Change("delete", ((0, ""),), "again", "praise", 0.6, True)
REPLACED = Change("replace", ((1, "today"),), "Late today", "delay", 0.7, False)
TRIALS = (Trial(0, "", "praise", 0.6, 0.5), Trial(1, "today", "delay", 0.7, 0.2))


def shown(qtbot, *changes):
    state = Shown(Page(), "smallest_change")
    view = SmallestChangeView(state)
    qtbot.addWidget(view)
    view.resize(700, 600)
    state.result = SmallestChange(WORDS, "delay", 0.9, changes, TRIALS)
    view.show_state(ALL)
    return view


def test_changed_words_are_marked_and_the_class_they_lead_to_is_named(qtbot):
    view = shown(qtbot, DELETED, REPLACED)

    assert view._told["delete"].text() == (
        "Deleting the marked words turns the class to praise, 60 %."
    )
    assert view._told["replace"].text() == (
        "No replacement tried turns the class; it stays delay, 70 %."
    )
    assert [word.caption for word in view._strips["delete"].words] == ["deleted", ""]
    assert [word.caption for word in view._strips["replace"].words] == ["", "today"]


def test_single_changes_are_listed_with_their_effect(qtbot):
    view = shown(qtbot, DELETED)

    model = view._table.model()
    rows = [[model.index(row, column).data() for column in (0, 1, 2, 4)] for row in range(2)]
    assert rows[0] == ["Late", "(deleted)", "praise 60", "50.0"]
    assert rows[1] == ["again", "today", "delay 70", "20.0"]
    assert view._told["replace"].text().startswith("No replacements:")
