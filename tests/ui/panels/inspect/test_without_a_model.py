"""The views of baselines and ensembles."""

from types import SimpleNamespace

import pytest

from tests.ui.panels.inspect.test_neighbours import Page
from workbench.base.events import ALL
from workbench.inspection.attributions.info import OCCLUSION, Attributions, Target
from workbench.inspection.members.info import Members, MemberScores
from workbench.inspection.spec import WordRow
from workbench.inspection.tag_counts.info import TagCounts, WordCounts
from workbench.inspection.tag_features.info import (
    TagFeature,
    TagFeatures,
    TaggedWord,
    TagTransition,
)
from workbench.inspection.word_weights.info import FeatureWeight, WordWeights
from workbench.text.labels import Label
from workbench.ui.panels.inspect.inspector_state import InspectorState
from workbench.ui.panels.inspect.views.attributions import AttributionsView
from workbench.ui.panels.inspect.views.members import MembersView
from workbench.ui.panels.inspect.views.tag_counts import TagCountsView
from workbench.ui.panels.inspect.views.tag_features import TagFeaturesView
from workbench.ui.panels.inspect.views.word_weights import WordWeightsView

WORDS = (WordRow(0, 4, "text", "Late"), WordRow(5, 8, "text", "bus"))


@pytest.fixture
def shown(qtbot):
    """shown(view class, inspector, result) → the view with this result."""

    def show(kind, inspector, result):
        page = Page()
        page.document = SimpleNamespace(text="Late bus")
        page.labels = {"bad": Label("bad"), "PER": Label("PER")}
        state = InspectorState(page, inspector)
        view = kind(state)
        qtbot.addWidget(view)
        state.result = result
        view.show_state(ALL)
        return view

    return show


def texts(table, column):
    return [table.model().index(n, column).data() for n in range(table.model().rowCount())]


def test_words_that_training_has_not_seen_are_grey_and_the_sum_is_the_log_odds(shown):
    target = Target("class:bad", "bad", 0.7)
    features = (FeatureWeight("late", 1, 0.8, 1.5, 1.2),)
    result = WordWeights(
        WORDS, (1.2, 0.0), -0.35, 0.85, target.id, (target,), features, against="good"
    )

    view = shown(WordWeightsView, "word_weights", result)

    late, bus = view._strip.words
    assert (late.caption, late.ink, bus.ink) == ("+1.20", "text", "faint")
    assert texts(view._table, 4) == ["+1.200"]
    assert view._figures.values[-1] == ("Log odds against good", "+0.850")
    assert view.data()[1] == ["late", 1, 0.8, 1.5, 1.2]


def test_each_run_of_an_ensemble_has_a_column_beside_the_mean(shown):
    members = (MemberScores("first", "bad", (0.9, 0.1)), MemberScores("second", "good", (0.3, 0.7)))
    view = shown(MembersView, "members", Members(("bad", "good"), members, (0.6, 0.4)))

    assert [texts(view.table, at) for at in (1, 2, 3)] == [
        ["60.0", "40.0"],
        ["90.0", "10.0"],
        ["30.0", "70.0"],
    ]
    assert "bad: first" in view._note.text() and "good: second" in view._note.text()
    assert view.data() == [
        ["Class", "Mean", "first", "second"],
        ["bad", 0.6, 0.9, 0.3],
        ["good", 0.4, 0.1, 0.7],
    ]


def test_counts_of_unknown_words_are_those_of_all_words(shown):
    ada = WordCounts(0, 3, "Ada", "B-PER", True, (("B-PER", 2), ("O", 1)))
    zoe = WordCounts(4, 7, "Zoe", "O", False, (("O", 6), ("B-PER", 3)))
    view = shown(TagCountsView, "tag_counts", TagCounts((ada, zoe)))

    assert texts(view._table, 4) == ["B-PER 2, O 1", "all words: O 6, B-PER 3"]
    assert view._note.text() == "1 word is not in the training documents"
    assert view.data()[1:3] == [["Ada", 0, 3, "B-PER", 2, True], ["Ada", 0, 3, "O", 1, True]]


def test_a_word_is_explained_by_the_weights_of_its_features_and_its_transitions(shown):
    words = (TaggedWord(0, 4, "Late", "B-PER", 1.5), TaggedWord(5, 8, "bus", "O", 2.0))
    own = (TagFeature("word late", 2.0), TagFeature("capitalized", -0.5))
    steps = (TagTransition("B-PER", "O", 0.25),)
    tags, strongest = ("O", "B-PER"), (TagFeature("suffix am", 3.0),)
    result = TagFeatures(words, 0, "B-PER", tags, own, 1.5, steps, strongest, 1200)
    view = shown(TagFeaturesView, "tag_features", result)

    assert [word.caption for word in view._strip.words] == ["B-PER", ""]
    assert texts(view._own, 1) == ["+2.000", "−0.500"] and texts(view._strongest, 0) == [
        "suffix am"
    ]
    assert [value for _name, value in view._figures.values] == ["+1.500", "+0.250", "+1.750"]
    assert view._count.text() == "1,200 features"
    assert view.data()[1:] == [
        ["Late", "B-PER", "word late", 2.0],
        ["Late", "B-PER", "capitalized", -0.5],
        ["Late", "B-PER", "B-PER → O", 0.25],
        ["", "B-PER", "suffix am", 3.0],
    ]


def test_choosing_a_word_asks_for_its_predicted_tag(shown):
    words = (TaggedWord(0, 4, "Late", "B-PER", 1.5), TaggedWord(5, 8, "bus", "O", 2.0))
    result = TagFeatures(words, 0, "B-PER", ("O", "B-PER"), (), 1.5, (), (), 0)
    view = shown(TagFeaturesView, "tag_features", result)
    view.state.options = {"word": 0, "tag": "O"}

    view._strip.chosen.emit(1)

    assert (view.state.options["word"], view.state.options["tag"]) == (1, "")


def test_words_left_out_have_no_method_to_choose(shown):
    target = Target("class:bad", "bad", 0.7)
    result = Attributions(WORDS, (0.4, None), 0.0, OCCLUSION, target.id, (target,), 0.7)

    view = shown(AttributionsView, "words_left_out", result)

    assert view._choices == {} and [word.caption for word in view._strip.words] == ["+0.40", ""]
