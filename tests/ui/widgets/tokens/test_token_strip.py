"""The strip of subwords: wrapping, direction, keys."""

import pytest
from PySide6.QtCore import Qt

from workbench.ui.widgets.tokens.token_strip import PredictionLine, StripToken, TokenStrip, Word


def word(number, text="tram"):
    return Word(text, (StripToken(number, text, (PredictionLine("O", 0.9, "accent"),)),))


@pytest.fixture
def strip(look, qtbot):
    made = TokenStrip("Subwords")
    qtbot.addWidget(made)
    made.resize(400, 200)
    return made


def test_it_wraps_at_its_width_and_grows(strip):
    strip.set([word(number) for number in range(30)])

    assert max(item.area.right() for item in strip._placed) <= 400
    assert strip.minimumHeight() > 3 * strip._placed[0].area.height()
    narrow = strip.minimumHeight()
    strip.resize(1200, 200)
    strip.show()
    assert strip.minimumHeight() < narrow


def test_the_subwords_of_a_word_stand_together(strip):
    strip.set([Word("Northfield", (StripToken(0, "north"), StripToken(1, "##field"))), word(2)])

    first, second, third = strip._placed
    assert (first.word, second.word) == ("Northfield", "")
    assert first.area.right() < second.area.left() < third.area.left()


def test_arrows_move_the_choice_along_the_reading_direction(strip, qtbot):
    chosen = []
    strip.chosen.connect(chosen.append)
    strip.set([word(number) for number in range(3)], rtl=True)
    strip.choose(0)

    qtbot.keyClick(strip, Qt.Key.Key_Left)
    qtbot.keyClick(strip, Qt.Key.Key_Right)

    assert chosen == [1, 0]


def test_nothing_to_show_takes_no_room(strip):
    strip.set([])

    assert strip.minimumHeight() == 0


def test_a_long_text_is_laid_out_in_slices(strip, qtbot):
    """Words are taken from the iterator only as far as the layout has come."""
    taken = []

    def coming():
        for number in range(6000):
            taken.append(number)
            yield word(number)

    strip.set(coming())
    assert 0 < len(taken) < 6000 and len(strip._placed) == len(taken)

    qtbot.waitUntil(lambda: len(strip._placed) == 6000, timeout=20_000)
    assert strip._placed[-1].area.bottom() <= strip.minimumHeight()


def test_a_subword_chosen_before_it_is_laid_out_is_scrolled_to_later(look, qtbot):
    seen = []
    strip = TokenStrip("Subwords", see=seen.append)
    qtbot.addWidget(strip)
    strip.set(word(number) for number in range(6000))
    strip.choose(5999)
    assert seen == []

    qtbot.waitUntil(lambda: len(strip._placed) == 6000, timeout=20_000)
    assert seen == [strip._placed[-1].area]


def test_the_subword_under_a_point_is_found_in_every_row(strip):
    strip.set([word(number) for number in range(30)])

    result = [strip._at(placed.area.center()) for placed in strip._placed]
    assert result == strip._placed
    assert strip._at(strip._placed[-1].area.bottomRight() * 2) is None
