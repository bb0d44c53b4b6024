"""The view of masked words: clicks mask, tables show what is expected."""

import pytest
from PySide6.QtCore import Qt

from tests.ui.panels.inspect.test_neighbours import Page
from workbench.base.events import ALL
from workbench.inspection.masked_words.info import MaskedPosition, MaskedWords
from workbench.inspection.spec import PAGE_TOKENS, WordRow
from workbench.ui.panels.inspect.inspector_state import InspectorState
from workbench.ui.panels.inspect.views.masked_words import MaskedWordsView

WORDS = (WordRow(0, 4, "text", "Late"), WordRow(5, 10, "text", "again"))
BEST = (("here", 0.6), ("again", 0.25))
MASKED = MaskedWords(WORDS, (MaskedPosition(1, "again", 0.25, 2, 1.5, BEST),), (9.0, 2.0), 2)
NONE = MaskedWords(WORDS, (), (9.0, 2.0), 2, True, 0.75)


@pytest.fixture
def view(qtbot):
    page = Page()
    page.document = type("Typed", (), {"text": "Late again"})()
    state = InspectorState(page, "masked_words")
    view = MaskedWordsView(state)
    qtbot.addWidget(view)
    view.resize(900, 500)
    return view


def show(view, result):
    view.state.result, view.state.asking = result, False
    view.show_state(ALL)


def test_a_key_masks_the_selected_word_and_unmasks_it(view, qtbot):
    show(view, NONE)
    view._strip._take(1)
    qtbot.keyClick(view._strip, Qt.Key.Key_Space)
    assert view.page.asked[-1] == {"words": "1", "part": PAGE_TOKENS}

    show(view, MASKED)
    qtbot.keyClick(view._strip, Qt.Key.Key_Space)
    assert view.page.asked[-1] == {"words": "", "part": PAGE_TOKENS}


def test_the_expected_tokens_of_a_masked_one_are_listed(view):
    show(view, MASKED)

    assert [pair[1] for pair in view._best.rows()] == list(BEST)
    assert [view._masked.model().index(0, at).data() for at in range(5)] == [
        "again", "again", "25.0", "2", "1.5",
    ]  # fmt: skip


def test_the_rest_of_a_long_text_is_scored_on_request_and_can_be_stopped(view, qtbot):
    first = MaskedWords(WORDS, (), (9.0,), 1, rest=1)
    show(view, first)
    assert view._hint.text().endswith(
        "1 later word is not scored yet; each token takes one forward pass."
    )
    assert view._stop.isHidden()

    view.page.view, view.page.second = "masked_words", ""
    qtbot.mouseClick(view._more, Qt.MouseButton.LeftButton)
    assert view.page.asked[-1] == {"part": PAGE_TOKENS, "all": True}
    view.show_state(frozenset({"continuing"}))
    assert view._more.isHidden() and "Scoring: 1 of 2 words…" in view._hint.text()

    qtbot.mouseClick(view._stop, Qt.MouseButton.LeftButton)
    view.show_state(frozenset({"continuing"}))
    assert not view.state.continuing and not view._more.isHidden() and view._stop.isHidden()


def test_perplexity_and_the_next_sentence_stand_below(view):
    show(view, NONE)

    names = dict(view._figures.values)
    assert names["Pseudo-perplexity per word"] == "45.3"  # 2 ** 5.5
    assert names["Second sentence follows, %"] == "75.0"
    assert [word.caption for word in view._strip.words] == ["9.0", ""]
