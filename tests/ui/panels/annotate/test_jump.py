"""Going to words by keys in Annotate."""

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from workbench.ui.panels.annotate.jump import find_word
from workbench.ui.panels.annotate.view import AnnotateView

Key = Qt.Key


@pytest.mark.parametrize(
    ("text", "letters", "after", "found"),
    [
        ("Ada and Adam", "ad", 0, 0),
        ("Ada and Adam", "AD", 1, 8),
        ("Ada and Adam", "ad", 9, 0),  # from the beginning again
        ("a road", "oa", 0, 3),  # no word begins so: within one
        ("(NAG) fell", "na", 0, 1),
        ("东京塔", "京", 0, 1),
        ("Ada", "x", 0, None),
        ("a.b (c", "(", 0, 4),
        ("as of a (b) c", "a ", 1, 6),  # a whole word
        ("as of a (b) c", "b ", 0, 9),
    ],
)
def test_words_are_found_by_their_first_letters(text, letters, after, found):
    assert find_word(text, letters, after) == found


@pytest.fixture
def text(state, look, qtbot):
    view = AnnotateView(state)
    qtbot.addWidget(view)
    view.resize(1100, 700)
    with qtbot.waitActive(view):
        view.show()
        view.activateWindow()
    view.take_focus()
    yield view.first
    view.deleteLater()


def chosen(text) -> str:
    return text.chosen_text()


def test_two_letters_select_a_word_and_the_next_key_labels_it(state, text):
    words = text.text.text.split()
    word = next(word for word in words[1:] if len(word) > 2 and word.isalpha())
    before = len(state.session.spans)
    QTest.keyClicks(text, "'" + word[:2].lower())
    assert chosen(text).lower().startswith(word[:2].lower())
    QTest.keyClicks(text, "1")
    assert len(state.session.spans) == before + 1
    other = next(
        item for item in words if item[:2].isalpha() and item[:2].lower() != word[:2].lower()
    )
    QTest.keyClicks(text, "'" + other[:2] + "1")
    assert len(state.session.spans) == before + 2  # the first one was not labelled again


def test_a_space_ends_a_word_of_one_letter_and_does_not_skip_the_document(state, text):
    text.set_text("As John M. Ford said to A")
    here = state.session.document_id

    QTest.keyClicks(text, "'m ")
    assert chosen(text) == "M"
    QTest.keyClicks(text, "'a ")
    assert chosen(text) == "A"
    QTest.keyClicks(text, "' ")
    assert chosen(text) == "A" and state.session.document_id == here


def test_without_spaces_all_letters_typed_are_selected(text):
    text.set_text("我在北京大学读书")
    for letters, marked in (("'北京", "北京"), ('"大学', "北京大学"), ("'读", "读")):
        for letter in letters:
            press = QKeyEvent(QEvent.Type.KeyPress, 0, Qt.KeyboardModifier.NoModifier, letter)
            QApplication.sendEvent(text, press)
        assert chosen(text) == marked


def test_the_second_key_extends_the_selection(text):
    first, second = [part for part in text.text.text.split() if len(part) > 2 and part.isalpha()][
        :2
    ]
    QTest.keyClicks(text, "'" + first[:2])
    QTest.keyClicks(text, '"' + second[:2])
    assert chosen(text).startswith(first) and chosen(text).endswith(second)


def test_twice_goes_to_the_next_word_with_the_same_letters(text):
    text.set_text("Ada met Adam and Adele")
    QTest.keyClicks(text, "'ad")
    assert chosen(text) == "Ada"
    QTest.keyClicks(text, "''")
    assert chosen(text) == "Adam"


def test_escape_restores_the_selection_and_enter_ends_after_one_letter(state, text):
    text.set_text("Ada met Bo and Cy")
    text.select(0, 3)
    QTest.keyClicks(text, "'b")
    assert chosen(text) == "Bo"
    QTest.keyClick(text, Key.Key_Escape)
    assert chosen(text) == "Ada"
    document = state.session.document_id
    QTest.keyClicks(text, "'c")
    QTest.keyClick(text, Key.Key_Return)
    assert chosen(text) == "Cy" and state.session.document_id == document


def test_letters_that_no_word_has_leave_the_selection(text):
    text.set_text("Ada met Bo")
    text.select(0, 3)
    QTest.keyClicks(text, "'qx")
    assert chosen(text) == "Ada"


def test_other_keys_end_it(text):
    text.set_text("Ada met Bo")
    QTest.keyClicks(text, "'")
    QTest.keyClick(text, Key.Key_End)
    QTest.keyClicks(text, ",")
    assert text.caret == text.text.text.index("Bo")


def test_comma_and_full_stop_move_by_words(text):
    text.set_text("Ada met Bo")
    QTest.keyClicks(text, "..")
    assert text.caret == 8
    QTest.keyClicks(text, ",")
    assert text.caret == 4
