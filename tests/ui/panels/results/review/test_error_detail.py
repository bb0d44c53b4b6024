"""Titles of the decisions about an error."""

from workbench.text.document import Document, with_choices
from workbench.text.labels import Layer
from workbench.text.mistakes import LABEL, MISSED, SPURIOUS, Mistake
from workbench.text.result_views import ANSWERS, NUMBER
from workbench.ui.panels.results.review.error_detail import Titles, both_texts

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


def test_titles_name_neither_a_question_nor_a_number_off_the_scale():
    asked = Mistake(LABEL, "Who met Bob?", "Who met Bob?", 0.9, 2.0, (0, 3), (8, 11))
    number = Mistake(LABEL, "0.6", "3.874", 0.0, 3.274)
    unread = Mistake(LABEL, "0.6", "–", 0.0, 9.0)
    scale = {"minimum": 0.0, "maximum": 5.0, "step": 0.1}

    assert NAMED.of_layer(asked, Layer("qa", "answer"), ANSWERS) == (
        "Accept prediction",
        "Keep gold",
    )
    rated = Layer("rating", "score", options=scale)
    assert NAMED.of_layer(number, rated, NUMBER) == ("Change to 3.9", "Keep 0.6")
    assert NAMED.of_layer(unread, rated, NUMBER)[1] == "Keep 0.6"


def test_all_choices_of_a_document_are_shown_with_their_numbers():
    asked = with_choices("a", "When?", ("Often.", "At 7.", "No."), "On Sundays?")
    pair = Document("b", (("text", "It rains."), ("text_b", "It is dry.")))

    (_field, prompt), (_choice, choices) = both_texts(asked)

    assert prompt == "When?\n\nOn Sundays?"
    assert choices == "1  Often.\n\n2  At 7.\n\n3  No."
    assert both_texts(pair) == pair.texts
