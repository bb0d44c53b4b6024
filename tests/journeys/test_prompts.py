"""A grid of prompts in the real window with the real starter model: rows, runs, answers, a text."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QTabBar

from tests.journeys.hand import ALT, PATIENCE

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(900)]


def test_from_a_grid_of_prompts_to_the_answer_to_one_text(forked_workers, hand):
    hand.click("Open the sample project")
    hand.wait(lambda: hand.app.window.page == "annotate", "the sample is not open")
    hand.click("Prompts")
    hand.wait(lambda: len(hand.find("Preview").toPlainText()) > 40, "no prompt", PATIENCE)
    shows_tab(hand, 2)

    adds_rows_for_no_and_one_example(hand)
    runs_the_missing_cells(hand)
    compares_the_answers(hand)
    opens_a_text_and_returns(hand)


def shows_tab(hand, number):
    bar = hand.find("Parts of the page", kind=QTabBar)
    hand.qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(number).center())


def adds_rows_for_no_and_one_example(hand):
    def act(dialog):
        numbers = hand.find("Numbers of examples", within=dialog)
        numbers.selectAll()
        hand.qtbot.keyClicks(numbers, "0, 1")
        hand.click("Add", within=dialog)

    hand.in_dialog(lambda: hand.click("Add rows"), act)
    hand.wait(lambda: hand.rows("Grid") == 2, "no rows")
    seeds = hand.find("Seeds", kind=QLineEdit)
    seeds.setFocus()
    hand.replace("1")
    hand.key(Qt.Key.Key_Return)


def runs_the_missing_cells(hand):
    hand.click("Run 2 missing cells")
    state = hand.app.window.panel("prompts").state.grid
    hand.wait(
        lambda: state.missing == 0 and state.result and all(row.runs for row in state.result.rows),
        "cells are missing",
        PATIENCE,
    )
    assert "best now" in state.result.verdict.sentence


def compares_the_answers(hand):
    hand.click_row("Grid", 0)
    hand.press("Grid", Qt.Key.Key_Return)
    answers = hand.app.window.panel("prompts").state.answers
    hand.wait(lambda: answers.comparison is not None, "no answers", PATIENCE)
    assert len(answers.comparison.runs) == 2
    hand.wait(lambda: len(answers.exchanges) == 2, "what was sent is not shown")
    assert all(exchange.sent for exchange in answers.exchanges)


def opens_a_text_and_returns(hand):
    hand.find("Documents").button("all").click()
    hand.wait(lambda: hand.rows("Answers") > 5)
    hand.click_row("Answers", 3)
    hand.press("Answers", Qt.Key.Key_Return)
    hand.wait(lambda: hand.app.window.page == "annotate", "the text is not opened")
    chosen = hand.app.window.panel("prompts").state.answers.document
    assert hand.app.window.panel("annotate").state.session.document_id == chosen

    hand.key(Qt.Key.Key_Left, ALT)
    hand.wait(lambda: hand.app.window.page == "prompts", "Back does not return")
    answers = hand.app.window.panel("prompts").state.answers
    hand.wait(lambda: answers.row is not None and answers.row.document_id == chosen)
