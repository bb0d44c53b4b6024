"""The view of attributions: signs, targets, figures."""

from dataclasses import replace

import pytest

from tests.ui.panels.inspect.test_neighbours import Page
from workbench.base.events import ALL
from workbench.inspection.attributions.info import Attributions, Target
from workbench.inspection.spec import WordRow
from workbench.ui.panels.inspect.inspector_state import InspectorState
from workbench.ui.panels.inspect.views.attributions import AttributionsView

WORDS = (
    WordRow(0, 4, "text", "Late"),
    WordRow(5, 10, "text", "again"),
    WordRow(11, 12, "text", "!"),
)
TARGETS = (Target("span:0:1:TIME", "TIME", 0.7, 0, 1), Target("word:0:B-TIME", "B-TIME", 0.8, 0, 0))
RESULT = Attributions(
    WORDS,
    (0.5, -0.25, None),
    0.05,
    "integrated_gradients",
    TARGETS[0].id,
    TARGETS,
    0.7,
    0.39,
    -0.01,
)


@pytest.fixture
def view(qtbot):
    page = Page()
    page.document = type("Typed", (), {"text": "Late again!"})()
    state = InspectorState(page, "attributions")
    view = AttributionsView(state)
    qtbot.addWidget(view)
    view.resize(900, 700)
    state.result = RESULT
    view.show_state(ALL)
    return view


def test_words_that_lower_the_score_have_a_dashed_line_and_a_minus(view):
    late, again, mark = view._strip.words

    assert (late.caption, late.dashed) == ("+0.50", False)
    assert (again.caption, again.dashed, again.rule) == ("−0.25", True, "warn")
    assert (mark.ground, mark.ink) == ("", "faint")
    assert [row[1] for row in view._bars.rows] == ["Late", "again"]


def test_targets_are_named_by_words_label_and_probability(view):
    names = [view._target.itemText(n) for n in range(view._target.count())]

    assert names == ["Late again: TIME, 70%", "Late: B-TIME, 80%"]
    view._target.setCurrentIndex(1)
    view._target.activated.emit(1)
    assert view.page.asked[-1] == {"target": "word:0:B-TIME"}


def test_the_sum_stands_beside_what_it_should_be(view):
    figures = dict(view._figures.values)

    assert figures["Sum of attributions"] == "+0.300"  # 0.5 - 0.25 + 0.05
    assert figures["F(x) − F(baseline)"] == "+0.310"
    assert figures["Convergence delta"] == "−0.0100"


def test_opening_a_word_explains_its_tag(view):
    view._strip.opened.emit(0)
    assert view.page.asked[-1] == {"target": "word:0:B-TIME"}


def test_a_number_and_the_ends_of_an_answer_are_named_as_such(view):
    number = Target("number", "", 0.0, value=3.42)
    view.state.result = replace(RESULT, targets=(number,), target="number")
    view.show_state(ALL)
    assert view._target.itemText(0) == "Number: 3.420"
    assert not view._choices["score"].isEnabled()

    ends = (
        Target("start:0", "late", 0.8, question="When?"),
        Target("end:0", "", 0.6, question="When?"),
    )
    view.state.result = replace(RESULT, targets=ends, target="end:0")
    view.show_state(ALL)
    names = [view._target.itemText(at) for at in (0, 1)]
    assert names == [
        "Start of “late”, 80% · When?",
        "End of “no answer in the text”, 60% · When?",
    ]
    assert view._choices["score"].isEnabled()


def test_a_temperature_that_the_score_is_without_is_named(view):
    view.state.result = replace(RESULT, temperature=1.5)
    view.show_state(ALL)

    assert view._note.text().endswith("without the temperature of predictions (1.50)")


def test_a_short_text_leaves_no_gap_below_its_words(view, qtbot):
    view.show()
    qtbot.waitExposed(view)

    words, bars = view._scroll, view._bar_scroll
    assert words.height() <= view._strip.minimumHeight() + 2
    assert bars.y() - (words.y() + words.height()) < 30
