"""The views of continuations: steps, cuts, samples that are kept."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit

from tests.ui.panels.inspect.shown import Page, cells, named, renew, show, texts
from workbench.base.events import ALL
from workbench.inspection.next_words.info import NextToken, NextWords
from workbench.inspection.samples.info import SampledText, Samples
from workbench.operations.inspecting.retained_samples import KeptSample
from workbench.ui.widgets.controls.button import Button

ROWS = (
    NextToken(7, "␣bus", 0.4, 0.8),
    NextToken(9, "␣tram", 0.1, 0.2),
    NextToken(3, "␣a", 0.05, 0),
)
STEP = NextWords((5,), ("␣the",), (0.3,), ROWS, 2, 100, "top-k", (3.0, 2.5))


class Texts(Page):
    def __init__(self):
        super().__init__()
        self.document, self.kept = type("Typed", (), {"text": "Late again"})(), []

    def kept_samples(self):
        return tuple(self.kept)

    def keep_sample(self, text, settings):
        self.kept.append(KeptSample("Late again", text, "gpt", settings))

    def drop_sample(self, sample):
        self.kept.remove(sample)


def shown(qtbot, id, result):
    return show(qtbot, id, result, page=Texts(), size=(900, 700))


@pytest.fixture
def steps(qtbot):
    return shown(qtbot, "next_words", STEP)


def test_the_table_names_what_is_cut_off(steps):
    steps.state.options = {"top_k": 2}
    steps.show_state(ALL)

    rows = cells(steps.part("tokens"), 0, 1, 3)
    assert rows[1] == ["2", "␣tram", "20.0"] and rows[3] == ["3", "␣a", "–"]
    assert "cut by top-k 2: 2 tokens kept, 98 left out" in rows[2][0]
    assert steps.part("tokens").columnSpan(2, 0) == 4


def test_enter_adds_the_selected_token_and_backspace_goes_back(steps, qtbot):
    table = steps.part("tokens")
    table.setFocus()
    qtbot.keyClick(table, Qt.Key.Key_Down)
    qtbot.keyClick(table, Qt.Key.Key_Return)
    assert steps.page.asked[-1] == {"added": "5,9", "typed": ""}

    steps.state.asking = False
    qtbot.keyClick(table, Qt.Key.Key_Backspace)
    assert steps.page.asked[-1] == {"added": "", "typed": ""}


def test_each_step_begins_at_its_most_probable_token(steps):
    steps.part("tokens").selectRow(1)

    renew(steps, replace(STEP, added=(5, 9)))

    assert steps.part("tokens").chosen_rows()[0][0] == 1


def test_a_text_of_its_own_stands_behind_its_source(qtbot):
    view = shown(qtbot, "next_words", replace(STEP, apart=True))

    words = [word.text for word in view.part("words").words]
    assert words == ["Late", "again", "→", "␣the", "    "]


def test_another_token_is_typed(steps, qtbot):
    entry = named(steps, "Another token", QLineEdit)
    qtbot.keyClicks(entry, "driver")
    qtbot.keyClick(entry, Qt.Key.Key_Return)

    assert steps.page.asked[-1] == {"added": "5", "typed": " driver"} and entry.text() == ""


def test_a_wrong_number_is_named_and_not_asked(steps):
    entry = named(steps, "Top-p", QLineEdit)
    entry.setText("3")
    entry.editingFinished.emit()

    assert any("top_p is '3'" in text for text in texts(steps)) and not steps.page.asked


DRAWN = Samples((SampledText("by a bus", 3, -2.5),))


def test_a_sample_is_kept_with_its_settings_and_removed(qtbot):
    view = shown(qtbot, "samples", DRAWN)
    assert not view.part("kept").isVisibleTo(view)

    view.part("samples").opened.emit(view.part("samples").rows()[0])
    (kept,) = view.page.kept
    assert (kept.text, kept.settings["seed"], kept.settings["top_p"]) == ("by a bus", 1, 1.0)
    assert "1 kept sample" in texts(view) and view.part("kept").isVisibleTo(view)

    view.part("kept").choose({0})
    view.part("kept").removed.emit()
    assert view.page.kept == [] and not view.part("kept").isVisibleTo(view)


def test_kept_samples_are_shown_before_anything_is_sampled(qtbot):
    page = Texts()
    page.keep_sample("by a bus", {"seed": 1})

    view = show(qtbot, "samples", None, page=page)

    assert cells(view.part("kept")) == [["Late again by a bus", "gpt", "Seed 1"]]


def test_sampling_again_takes_the_next_seed(qtbot):
    view = shown(qtbot, "samples", DRAWN)

    named(view, "Sample again", Button).click()

    assert view.page.asked[-1] == {"seed": 2, "part": 5}


def test_samples_that_go_on_can_be_stopped(qtbot):
    view = shown(qtbot, "samples", replace(DRAWN, rest=7))
    stop = named(view, "Stop", Button)
    view.state.continuing = True
    view.show_state(frozenset({"continuing"}))
    assert "7 more tokens…" in texts(view) and stop.isVisibleTo(view)

    stop.click()
    view.show_state(frozenset({"continuing"}))

    assert not stop.isVisibleTo(view) and len(view.part("samples").rows()) == 1
