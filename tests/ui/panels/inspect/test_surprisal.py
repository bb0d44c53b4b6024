"""Views of unexpected words: clicks mask, tables show what is expected, words are painted."""

from dataclasses import replace

from PySide6.QtCore import Qt

from tests.ui.panels.inspect.shown import Page, cells, figures, named, renew, texts
from tests.ui.panels.inspect.shown import show as show_view
from workbench.inspection.masked_words.info import FromBoundary, MaskedPosition, MaskedWords
from workbench.inspection.spec import PAGE_TOKENS, WordRow
from workbench.inspection.surprisal.info import Surprisal
from workbench.ui.widgets.controls.button import Button

WORDS = (WordRow(0, 4, "text", "Late"), WordRow(5, 10, "text", "again"))
BEST = (("here", 0.6), ("again", 0.25))
MASKED = MaskedWords(WORDS, (MaskedPosition(1, "again", 0.25, 2, 1.5, BEST),), (9.0, 2.0), 2)
NONE = MaskedWords(WORDS, (), (9.0, 2.0), 2, True, 0.75)


def show(qtbot, result):
    return show_view(qtbot, "masked_words", result, page=Page("Late again"), size=(900, 500))


def test_a_key_masks_the_selected_word_and_unmasks_it(qtbot):
    view = show(qtbot, NONE)
    strip = view.part("words")
    qtbot.keyClick(strip, Qt.Key.Key_Right)
    qtbot.keyClick(strip, Qt.Key.Key_Right)
    qtbot.keyClick(strip, Qt.Key.Key_Space)
    assert view.page.asked[-1] == {"words": "1", "part": PAGE_TOKENS}

    renew(view, MASKED)
    qtbot.keyClick(strip, Qt.Key.Key_Space)
    assert view.page.asked[-1] == {"words": "", "part": PAGE_TOKENS}


def test_the_expected_tokens_of_a_masked_one_are_listed(qtbot):
    view = show(qtbot, MASKED)

    assert [pair[1] for pair in named(view, "Expected tokens").rows()] == list(BEST)
    assert cells(named(view, "Masked tokens")) == [["again", "again", "25.0", "2", "1.5"]]


def test_what_is_expected_from_the_boundary_is_listed_beside(qtbot):
    boundary = FromBoundary("[CLS]", "[SEP]", 1, 0.05, 4, (("soon", 0.5), ("here", 0.125)))
    position = replace(MASKED.positions[0], boundary=boundary)
    view = show(qtbot, replace(MASKED, positions=(position,)))

    listed = named(view, "Expected tokens")
    assert cells(listed) == [
        ["1", "here", "60.0", "soon", "50.0"],
        ["2", "again", "25.0", "here", "12.5"],
    ]
    line = "From the boundary: “again” at position 1 between “[CLS]” and “[SEP]” has 5.0%, rank 4."
    assert line in texts(view)
    renew(view, MASKED)
    assert [listed.isColumnHidden(at) for at in (2, 3, 4)] == [False, True, True]


def test_the_rest_of_a_long_text_is_scored_on_request_and_can_be_stopped(qtbot):
    view = show(qtbot, MaskedWords(WORDS, (), (9.0,), 1, rest=1))
    more, stop = (named(view, name, Button) for name in ("Score the rest", "Stop"))
    rest = "1 later word is not scored yet; each token takes one forward pass."
    assert any(text.endswith(rest) for text in texts(view))
    assert stop.isHidden()

    view.page.view, view.page.second = "masked_words", ""
    more.click()
    assert view.page.asked[-1] == {"part": PAGE_TOKENS, "all": True}
    view.show_state(frozenset({"continuing"}))
    assert more.isHidden() and any("Scoring: 1 of 2 words…" in text for text in texts(view))

    stop.click()
    view.show_state(frozenset({"continuing"}))
    assert not view.state.continuing and not more.isHidden() and stop.isHidden()


def test_perplexity_and_the_next_sentence_stand_below(qtbot):
    view = show(qtbot, NONE)

    assert figures(view)["Pseudo-perplexity per word"] == "45.3"  # 2 ** 5.5
    assert figures(view)["Second sentence follows, %"] == "75.0"
    assert [word.caption for word in view.part("words").words] == ["9.0", ""]


def test_surprisal_is_painted_with_its_figures(qtbot):
    view = show_view(qtbot, "surprisal", Surprisal(WORDS, (None, 10.0), 2))

    assert [word.caption for word in view.part("words").words] == ["", "10.0"]
    assert figures(view)["Perplexity per token"] == "32.0"  # 2 ** (10 / 2)

    view.part("table").selectRow(1)
    assert view.part("words").number == 1
    view.part("words").chosen.emit(0)
    assert view.part("table").chosen_rows() == [(0, "Late", None)]
