"""The views of continuations: steps, cuts, surprisal, samples that are kept."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt

from tests.ui.panels.inspect.test_neighbours import Page
from workbench.base.events import ALL
from workbench.inspection.next_words.info import NextToken, NextWords
from workbench.inspection.samples.info import SampledText, Samples
from workbench.inspection.spec import WordRow
from workbench.inspection.surprisal.info import Surprisal
from workbench.operations.inspecting.retained_samples import KeptSample
from workbench.ui.panels.inspect.inspector_state import InspectorState
from workbench.ui.panels.inspect.views.next_words import NextWordsView
from workbench.ui.panels.inspect.views.samples import SamplesView
from workbench.ui.panels.inspect.views.surprisal import SurprisalView

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


def shown(qtbot, kind, id, result):
    state = InspectorState(Texts(), id)
    view = kind(state)
    qtbot.addWidget(view)
    view.resize(900, 700)
    state.result = result
    view.show_state(ALL)
    return view


@pytest.fixture
def steps(qtbot):
    return shown(qtbot, NextWordsView, "next_words", STEP)


def test_the_table_names_what_is_cut_off(steps):
    steps.state.options = {"top_k": 2}
    steps.show_state(ALL)

    model = steps._table.model()
    cells = [[model.index(row, column).data() for column in (0, 1, 3)] for row in range(4)]
    assert cells[1] == ["2", "␣tram", "20.0"] and cells[3] == ["3", "␣a", "–"]
    assert "cut by top-k 2: 2 tokens kept, 98 left out" in cells[2][0]


def test_enter_adds_the_selected_token_and_backspace_goes_back(steps, qtbot):
    steps._table.setFocus()
    qtbot.keyClick(steps._table, Qt.Key.Key_Down)
    qtbot.keyClick(steps._table, Qt.Key.Key_Return)
    assert steps.page.asked[-1] == {"added": "5,9", "typed": ""}

    steps.state.asking = False
    qtbot.keyClick(steps._table, Qt.Key.Key_Backspace)
    assert steps.page.asked[-1] == {"added": "", "typed": ""}


def test_a_text_of_its_own_stands_behind_its_source(qtbot):
    view = shown(qtbot, NextWordsView, "next_words", replace(STEP, apart=True))

    assert [word.text for word in view._strip.words] == ["Late", "again", "→", "␣the", "    "]


def test_another_token_is_typed(steps, qtbot):
    qtbot.keyClicks(steps._typed, "driver")
    qtbot.keyClick(steps._typed, Qt.Key.Key_Return)

    assert steps.page.asked[-1] == {"added": "5", "typed": " driver"}


def test_a_wrong_number_is_named_and_not_asked(steps):
    field = steps._fields[2]
    field._line.setText("3")
    field._line.editingFinished.emit()

    assert "top_p is '3'" in field.error() and not steps.page.asked


def test_surprisal_is_painted_with_its_figures(qtbot):
    words = (WordRow(0, 4, "text", "Late"), WordRow(5, 10, "text", "again"))
    view = shown(qtbot, SurprisalView, "surprisal", Surprisal(words, (None, 10.0), 2))

    assert [word.caption for word in view._strip.words] == ["", "10.0"]
    assert dict(view._figures.values)["Perplexity per token"] == "32.0"  # 2 ** (10 / 2)


def test_a_sample_is_kept_with_its_settings_and_removed(qtbot):
    view = shown(qtbot, SamplesView, "samples", Samples((SampledText("by a bus", 3, -2.5),)))

    view._table.opened.emit(view._table.rows()[0])
    (kept,) = view.page.kept
    assert (kept.text, kept.settings["seed"], kept.settings["top_p"]) == ("by a bus", 1, 1.0)
    assert view._title.text() == "1 kept sample"

    view._kept.choose({0})
    view._kept.removed.emit()
    assert view.page.kept == [] and view._kept.rows() == []


def test_sampling_again_takes_the_next_seed(qtbot):
    view = shown(qtbot, SamplesView, "samples", Samples((SampledText("by a bus", 3, -2.5),)))

    view._again()

    assert view.page.asked[-1] == {"seed": 2, "part": 5}


def test_samples_that_go_on_can_be_stopped(qtbot):
    drawn = Samples((SampledText("by a bus", 3, -2.5),), rest=7)
    view = shown(qtbot, SamplesView, "samples", drawn)
    view.state.continuing = True
    view.show_state(frozenset({"continuing"}))
    assert view._note.text() == "7 more tokens…" and view._stop.isVisibleTo(view)

    view._stop.click()
    view.show_state(frozenset({"continuing"}))

    assert not view._stop.isVisibleTo(view) and len(view._table.rows()) == 1
