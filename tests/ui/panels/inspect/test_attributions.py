"""The views of attributions and of weights: signs, targets, figures."""

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QComboBox

from tests.ui.panels.inspect.shown import Page, cells, choose, figures, items, named, renew, show
from tests.ui.panels.inspect.shown import texts as texts_of
from workbench.inspection.attributions.info import OCCLUSION, Attributions, Target
from workbench.inspection.spec import WordRow
from workbench.inspection.word_weights.info import FeatureWeight, WordWeights

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
    return show(qtbot, "attributions", RESULT, page=Page("Late again!"), size=(900, 700))


def test_words_that_lower_the_score_have_a_dashed_line_and_a_minus(view):
    late, again, mark = view.part("words").words

    assert (late.caption, late.dashed) == ("+0.50", False)
    assert (again.caption, again.dashed, again.rule) == ("−0.25", True, "warn")
    assert (mark.ground, mark.ink) == ("", "faint")
    assert [row[1] for row in view.part("bars").rows] == ["Late", "again"]


def test_targets_are_named_by_words_label_and_probability(view):
    names = items(named(view, "Target"))

    assert names == ["Late again: TIME, 70%", "Late: B-TIME, 80%"]
    choose(view, "Target", 1)
    assert view.page.asked[-1] == {"target": "word:0:B-TIME"}


def test_the_sum_stands_beside_what_it_should_be(view):
    values = figures(view)

    assert values["Sum of attributions"] == "+0.300"  # 0.5 - 0.25 + 0.05
    assert values["F(x) − F(baseline)"] == "+0.310"
    assert values["Convergence delta"] == "−0.0100"


def test_opening_a_word_explains_its_tag(view):
    view.part("words").opened.emit(0)
    assert view.page.asked[-1] == {"target": "word:0:B-TIME"}


def test_a_word_and_its_bar_are_selected_together(view):
    view.part("bars").chosen.emit(1)
    assert view.part("words").number == 1


def test_a_number_and_the_ends_of_an_answer_are_named_as_such(view):
    number = Target("number", "", 0.0, value=3.42)
    renew(view, replace(RESULT, targets=(number,), target="number"))
    assert items(named(view, "Target")) == ["Number: 3.420"]
    assert not named(view, "Score").isEnabled()

    ends = (
        Target("start:0", "late", 0.8, question="When?"),
        Target("end:0", "", 0.6, question="When?"),
    )
    renew(view, replace(RESULT, targets=ends, target="end:0"))
    assert items(named(view, "Target")) == [
        "Start of “late”, 80% · When?",
        "End of “no answer in the text”, 60% · When?",
    ]
    assert named(view, "Score").isEnabled()


def test_a_temperature_that_the_score_is_without_is_named(view):
    renew(view, replace(RESULT, temperature=1.5))

    remark = "without the temperature of predictions (1.50)"
    assert any(text.endswith(remark) for text in texts_of(view))


def test_a_short_text_leaves_no_gap_below_its_words(view, qtbot):
    view.show()
    qtbot.waitExposed(view)

    words, bars = (view.part(id).parentWidget().parentWidget() for id in ("words", "bars"))
    assert words.height() <= view.part("words").minimumHeight() + 2
    assert bars.y() - (words.y() + words.height()) < 30


def test_words_that_training_has_not_seen_are_grey_and_the_sum_is_the_log_odds(qtbot):
    target = Target("class:bad", "bad", 0.7)
    features = (FeatureWeight("late", 1, 0.8, 1.5, 1.2),)
    result = WordWeights(
        WORDS[:2], (1.2, 0.0), -0.35, 0.85, target.id, (target,), features, against="good"
    )

    view = show(qtbot, "word_weights", result)

    late, again = named(view, "Words with their contributions").words
    assert (late.caption, late.ink, again.ink) == ("+1.20", "text", "faint")
    assert cells(named(view, "Words and word pairs"), 4) == [["+1.200"]]
    assert figures(view)["Log odds against good"] == "+0.850"
    assert view.data()[1] == ["late", 1, 0.8, 1.5, 1.2]


def test_words_left_out_have_no_method_to_choose(qtbot):
    target = Target("class:bad", "bad", 0.7)
    result = Attributions(WORDS[:2], (0.4, None), 0.0, OCCLUSION, target.id, (target,), 0.7)

    view = show(qtbot, "words_left_out", result)

    assert [box.accessibleName() for box in view.findChildren(QComboBox)] == ["Target"]
    assert [word.caption for word in view.part("words").words] == ["+0.40", ""]
