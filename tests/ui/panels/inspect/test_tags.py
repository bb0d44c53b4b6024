"""Views of tags without a neural network: counts, features, transitions."""

import numpy as np
from PySide6.QtCore import Qt

from tests.ui.panels.inspect.shown import Page, cells, figures, named, show, texts
from workbench.inspection.tag_counts.info import TagCounts, WordCounts
from workbench.inspection.tag_features.info import (
    TagFeature,
    TagFeatures,
    TaggedWord,
    TagTransition,
)
from workbench.inspection.transitions.info import TransitionScores
from workbench.text.labels import Label


def test_transitions_are_a_labelled_matrix_with_start_and_end(qtbot):
    step = np.array([[0.5, 1.0, np.nan], [0.25, -0.5, 2.0], [0.0, 0.125, 1.5]])
    no_step = np.zeros((3, 3), bool)
    no_step[0, 2] = True
    tags, no_start = ("O", "B-PER", "I-PER"), np.array([False, False, True])
    result = TransitionScores(
        tags,
        ("PER",),
        np.array([0.5, 1, np.nan]),
        step,
        np.array([0.1, 0.2, -0.3]),
        no_start,
        no_step,
    )
    view = show(qtbot, "transitions", result)
    view.grab()

    table = named(view, "Transitions")
    assert cells(table)[:3] == [
        ["+0.50", "+1.00", "–", "–"],
        ["+0.50", "+1.00", "–", "+0.10"],
        ["+0.25", "−0.50", "+2.00", "+0.20"],
    ]
    down, across = Qt.Orientation.Vertical, Qt.Orientation.Horizontal
    model = table.model()
    assert [model.headerData(n, down) for n in range(4)] == ["start", "O", "B-PER", "I-PER"]
    assert [model.headerData(n, across) for n in range(4)] == ["O", "B-PER", "I-PER", "end"]
    assert "from −0.50 to +2.00" in texts(view)
    tip = model.index(1, 2).data(Qt.ItemDataRole.ToolTipRole)
    assert "O → I-PER: not allowed" in tip
    assert view.data()[:3] == [
        ["", "O", "B-PER", "I-PER", "end"],
        ["start", 0.5, 1.0, "", ""],
        ["O", 0.5, 1.0, "", 0.1],
    ]


def labelled():
    page = Page("Late bus")
    page.labels = {"PER": Label("PER")}
    return page


def test_counts_of_unknown_words_are_those_of_all_words(qtbot):
    ada = WordCounts(0, 3, "Ada", "B-PER", True, (("B-PER", 2), ("O", 1)))
    zoe = WordCounts(4, 7, "Zoe", "O", False, (("O", 6), ("B-PER", 3)))
    view = show(qtbot, "tag_counts", TagCounts((ada, zoe)), page=labelled())

    table = named(view, "Words with their tags")
    assert cells(table, 4) == [["B-PER 2, O 1"], ["all words: O 6, B-PER 3"]]
    assert "1 word is not in the training documents" in texts(view)
    assert view.data()[1:3] == [["Ada", 0, 3, "B-PER", 2, True], ["Ada", 0, 3, "O", 1, True]]


WORDS = (TaggedWord(0, 4, "Late", "B-PER", 1.5), TaggedWord(5, 8, "bus", "O", 2.0))


def test_a_word_is_explained_by_the_weights_of_its_features_and_its_transitions(qtbot):
    own = (TagFeature("word late", 2.0), TagFeature("capitalized", -0.5))
    steps = (TagTransition("B-PER", "O", 0.25),)
    tags, strongest = ("O", "B-PER"), (TagFeature("suffix am", 3.0),)
    result = TagFeatures(WORDS, 0, "B-PER", tags, own, 1.5, steps, strongest, 1200)
    view = show(qtbot, "tag_features", result, page=labelled())

    assert [word.caption for word in named(view, "Words with tags").words] == ["B-PER", ""]
    assert cells(named(view, "Features of the word"), 1) == [["+2.000"], ["−0.500"]]
    assert cells(named(view, "Strongest features of the tag"), 0) == [["suffix am"]]
    assert [*figures(view).values()] == ["+1.500", "+0.250", "+1.750"]
    assert "1,200 features" in texts(view)
    assert view.data()[1:] == [
        ["Late", "B-PER", "word late", 2.0],
        ["Late", "B-PER", "capitalized", -0.5],
        ["Late", "B-PER", "B-PER → O", 0.25],
        ["", "B-PER", "suffix am", 3.0],
    ]


def test_choosing_a_word_asks_for_its_predicted_tag(qtbot):
    result = TagFeatures(WORDS, 0, "B-PER", ("O", "B-PER"), (), 1.5, (), (), 0)
    view = show(qtbot, "tag_features", result, page=labelled(), options={"word": 0, "tag": "O"})

    named(view, "Words with tags").chosen.emit(1)

    assert view.page.asked[-1] == {"word": 1, "tag": ""}
