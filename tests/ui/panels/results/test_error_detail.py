"""Titles of the decisions about an error."""

from workbench.text.mistakes import LABEL, MISSED, SPURIOUS, Mistake
from workbench.ui.panels.results.error_detail import Titles

NAMED = Titles(
    "Change to {label}", "Keep {label}", remove="Remove {label}", add="Add {label}", without="Leave"
)


def test_a_decision_without_a_label_on_one_side_adds_or_removes_the_other():
    changed = Mistake(LABEL, "A", "B", 0.9, 2.0)
    missed, spurious = Mistake(MISSED, "A", "", 0.9, 2.0), Mistake(SPURIOUS, "", "B", 0.9, 2.0)

    assert NAMED.decisions(changed) == ("Change to B", "Keep A")
    assert NAMED.decisions(missed) == ("Remove A", "Keep A")
    assert NAMED.decisions(spurious) == ("Add B", "Leave")
    assert {Titles().decisions(m) for m in (changed, missed, spurious)} == {
        ("Accept prediction", "Keep gold")
    }
