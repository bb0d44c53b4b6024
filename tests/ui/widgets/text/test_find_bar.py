import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from workbench.ui.widgets.text.find_bar import FindBar


@pytest.fixture
def bar(look, qtbot):
    made = FindBar()
    qtbot.addWidget(made)
    made.resize(500, 40)
    made.show()
    return made


@pytest.mark.parametrize(
    ("current", "count", "cut", "said"),
    [
        (2, 17, False, "3 of 17"),
        (0, 1, False, "1 of 1"),
        (None, 0, False, "No matches"),
        (None, 1, False, "1 match"),
        (None, 2, False, "2 matches"),
        (4, 100_000, True, "5 of more than 100,000"),
    ],
)
def test_the_count_says_which_of_how_many(bar, current, count, cut, said):
    bar.line.setText("tram")
    bar.show_count(current, count, cut=cut, searching=False)

    assert bar.count_text() == said


def test_nothing_is_counted_for_an_empty_field(bar):
    bar.show_count(None, 0, cut=False, searching=False)
    assert bar.count_text() == ""


def test_typing_searches_a_moment_later_and_enter_at_once(bar, qtbot):
    with qtbot.waitSignal(bar.typed) as typed:
        QTest.keyClicks(bar.line, "tram")
    assert typed.args == ["tram"]

    steps = []
    bar.stepped.connect(steps.append)
    QTest.keyClick(bar.line, Qt.Key.Key_Return)
    QTest.keyClick(bar.line, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert steps == [1, -1]
    QTest.keyClicks(bar.line, "s")
    with qtbot.waitSignal(bar.typed, timeout=50) as typed:
        QTest.keyClick(bar.line, Qt.Key.Key_Return)
    assert typed.args == ["trams"]


def test_escape_leaves_from_the_field_and_from_a_button(bar, qtbot):
    left = []
    bar.left.connect(lambda: left.append(1))
    QTest.keyClick(bar.line, Qt.Key.Key_Escape)
    bar._case.setFocus()
    QTest.keyClick(bar._case, Qt.Key.Key_Escape)

    assert left == [1, 1]


def test_showing_a_search_emits_nothing(bar, qtbot):
    received = []
    for signal in (bar.cased, bar.whole, bar.typed):
        signal.connect(received.append)
    bar.show_search("tram", match_case=True, whole_words=True)

    assert bar.line.text() == "tram" and bar._case.isChecked() and bar._words.isChecked()
    assert received == []
