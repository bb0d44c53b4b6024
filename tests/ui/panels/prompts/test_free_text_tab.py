"""The tab Free text: a real model writes into it."""

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QPushButton, QToolTip

from tests.ui.tips import read
from workbench.prompting.generation import GenerationRequest, Message, ReplyToken
from workbench.ui.panels.prompts.free_text_state import Sample
from workbench.ui.panels.prompts.free_text_tab import ReplyText


@pytest.fixture
def text(qtbot):
    made = ReplyText("Sample 1")
    qtbot.addWidget(made)
    made.resize(300, 200)
    made.show()
    return made


def test_tokens_are_appended_and_shown_as_they_are(text):
    tokens = [ReplyToken("<b>so"), ReplyToken(" 😀\n")]
    text.show_tokens(tokens)
    tokens.append(ReplyToken("&amp;"))

    text.show_tokens(tokens)

    assert text.toPlainText() == "<b>so 😀\n&amp;"


def test_the_token_at_the_cursor_is_told(text, qtbot):
    text.show_tokens([ReplyToken("so"), ReplyToken(" 😀"), ReplyToken("!")])

    with qtbot.waitSignal(text.token_chosen) as chosen:
        cursor = text.textCursor()
        cursor.setPosition(3)
        text.setTextCursor(cursor)

    assert chosen.args == [1]


def test_a_tip_names_the_probability_and_the_alternatives(text):
    text.show_tokens([ReplyToken("so", -0.6931, (("so", -0.6931), ("not", -2.3026)))])
    event = QHelpEvent(QEvent.Type.ToolTip, QPoint(8, 10), text.mapToGlobal(QPoint(8, 10)))

    QApplication.sendEvent(text.viewport(), event)

    tip = read(QToolTip.text())
    assert "so  50.0%" in tip and "not  10.0%" in tip


def test_right_to_left_text_begins_at_the_right(text):
    text.show_tokens([ReplyToken("القطار"), ReplyToken(" متأخر")])

    assert text.document().defaultTextOption().alignment() == Qt.AlignmentFlag.AlignRight


@pytest.mark.process
def test_a_model_writes_into_the_page_and_can_be_led_elsewhere(
    make_panel, copy_sample, tmp_path, qtbot
):
    panel = make_panel("prompts", copy_sample(tmp_path))
    panel.state.show("free-text")
    state = panel.state.free_text
    state.set_settings({"max_tokens": "6", "temperature": "0"})
    state.set_text("The tram was")

    state.write()
    qtbot.waitUntil(lambda: bool(state.samples) and not state.running, timeout=60_000)
    state.show_token(0, 2)

    tab = panel.view.tab("free-text")
    (shown,) = tab.findChildren(ReplyText)
    assert shown.toPlainText() == state.samples[0].text and len(state.samples[0].tokens) == 6
    other = state.shown_token.others[1][0]
    names = {button.accessibleName(): button for button in tab.findChildren(QPushButton)}
    names[other.replace(" ", "␣")].click()
    assert shown.hasFocus()
    qtbot.waitUntil(lambda: not state.running, timeout=60_000)
    assert state.samples[0].tokens[2].text == other and len(state.samples[0].tokens) == 6


def test_the_reply_at_the_end_of_a_long_conversation_is_shown(
    make_panel, copy_sample, tmp_path, qtbot
):
    panel = make_panel("prompts", copy_sample(tmp_path))
    panel.state.show("free-text")
    state, tab = panel.state.free_text, panel.view.tab("free-text")
    turns = tuple(Message("user", f"{number}\n" * 9) for number in range(9))

    state.update(mode="chat", running=True, turns=turns, samples=(Sample(GenerationRequest()),))

    (reply,) = tab.findChildren(ReplyText)
    qtbot.waitUntil(lambda: reply.visibleRegion().boundingRect().height() == reply.height())
    state.update(running=False)
