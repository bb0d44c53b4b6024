"""The view of span scores: a triangle of first and last words, one label or the best one."""

from dataclasses import replace

import numpy as np
import pytest

from tests.ui.panels.inspect.shown import Page, choose, named, renew, show, texts
from workbench.inspection.span_scores.info import CandidateWord, SpanScoreTable
from workbench.text.spans import Span
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.tables.heat_table import CELL

TEXT = "Ada of York"
WORDS = (CandidateWord("Ada", 0, 3), CandidateWord("of", 4, 6), CandidateWord("York", 7, 11))
SCORES = np.zeros((3, 3, 2), np.float32)
SCORES[0, 2] = 0.9, 0.05  # Ada of York
SCORES[2, 0] = 0.1, 0.8  # York
SPANS = (Span(0, 11, "PER", score=0.9), Span(7, 11, "LOC", score=0.8))
RESULT = SpanScoreTable((), WORDS, SCORES, ("PER", "LOC"), True, SPANS, 1, 1, 1)


@pytest.fixture
def view(qtbot):
    return show(qtbot, "span_scores", RESULT, page=Page(TEXT))


def cells(view):
    model = view.part("table").model()
    return [[model.index(row, at).data(CELL) for at in range(3)] for row in range(3)]


def test_spans_stand_at_their_first_and_last_word_and_predicted_ones_are_framed(view):
    found = cells(view)

    assert found[0][2].text == "PER 90.0" and found[0][2].marked
    assert found[2][2].text == "LOC 80.0" and found[2][2].marked
    assert found[0][0].text == "" and not found[0][0].blank  # a candidate of low probability
    assert [found[1][0].blank, found[2][0].blank, found[2][1].blank] == [True] * 3
    assert "6 candidates · 2 predicted · 1 rejected because of overlap" in texts(view)


def test_the_most_probable_span_is_told_with_all_its_labels(view):
    sentence = "Ada of York: PER 90.0%, LOC 5.0%, no label 5.0%"
    assert sentence in texts(view)

    view.part("table").choose(1, 0)  # no span ends before it begins

    assert sentence not in texts(view)


def test_the_most_probable_span_of_a_longer_text_is_scrolled_to(view):
    words = tuple(CandidateWord("word", 5 * at, 5 * at + 4) for at in range(40))
    scores = np.zeros((40, 3, 2), np.float32)
    scores[38, 1] = 0.9, 0.05
    view.clear()
    view.resize(800, 400)
    view.show()

    renew(view, replace(RESULT, words=words, scores=scores, spans=()))

    table = view.part("table")
    cell = table.visualRect(table.currentIndex())
    assert table.viewport().rect().contains(cell) and not cell.isEmpty()


def test_one_label_can_be_shown_alone(view):
    choose(view, "Label", 2)

    found = cells(view)

    assert (found[0][2].text, found[0][2].marked) == ("5.0", False)
    assert (found[2][2].text, found[2][2].marked) == ("80.0", True)


def test_the_parts_of_a_long_text_are_paged(view):
    back, on = (named(view, name, Button) for name in ("Previous part", "Next part"))
    assert not on.isVisibleTo(view)

    renew(view, SpanScoreTable((), WORDS, SCORES, ("PER", "LOC"), True, SPANS, 0, 1, 2))
    back.click()
    assert view.state.option("part") == 1
    on.click()

    assert on.isVisibleTo(view) and "Part 1 of 2" in texts(view)
    assert view.state.option("part") == 2


def test_the_data_are_a_row_for_each_candidate(view):
    head, first, *rest = view.data()

    assert head == ["Start", "End", "Text", "PER", "LOC"]
    assert first[:3] == [0, 3, "Ada"] and len(rest) == 5
    assert rest[-1] == [7, 11, "York", pytest.approx(0.1), pytest.approx(0.8)]


def test_nothing_stands_where_the_model_changed(view):
    view.clear()

    assert view.part("table").model().rowCount() == 0
    assert not any(text.startswith("Ada of York") for text in texts(view))


def test_a_temperature_is_named_and_no_label_has_its_own_probability(view):
    none = np.full((3, 3), 0.25, np.float32)
    renew(view, replace(RESULT, temperature=1.5, none=none))

    remark = "1 rejected because of overlap · temperature 1.50 applied"
    assert any(text.endswith(remark) for text in texts(view))
    assert "Ada of York: PER 90.0%, LOC 5.0%, no label 25.0%" in texts(view)
