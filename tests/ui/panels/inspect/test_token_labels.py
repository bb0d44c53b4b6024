"""The label distribution of every word: what is painted, selected, and shown in a narrow pane."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtWidgets import QCheckBox

from tests.ui.panels.inspect.shown import Page, named, renew, show, texts
from workbench.inspection.spec import TokenRow, WordRow
from workbench.inspection.token_scores.info import PredictedWord, TokenLabels
from workbench.ui.panels.inspect.views.token_labels import NARROW_WIDTH

TEXT = "Ada met Bob in Paris."
PARIS = (("B-LOC", 0.6), ("O", 0.3), ("B-PER", 0.1))
TOKENS = (
    TokenRow("ada", "ada", 4, 0, 3, "text", 0, best=(("B-PER", 0.98),), entropy=0.14),
    TokenRow("met", "met", 5, 4, 7, "text", 1, best=(("O", 0.99),), entropy=0.08),
    TokenRow("paris", "paris", 6, 15, 20, "text", 2, best=PARIS, entropy=1.3),
)
WORDS = tuple(
    WordRow(start, end, "text", TEXT[start:end]) for start, end in ((0, 3), (4, 7), (15, 20))
)
RESULT = TokenLabels(TOKENS, WORDS, labels=("PER", "LOC"))  # certain, certain, in doubt


@pytest.fixture
def view(qtbot):
    page = Page(TEXT)
    page.chosen_token, page.view, page.second = None, "token_scores", ""
    page.choose_token = lambda token: page.update(chosen_token=token)
    view = show(qtbot, "token_scores", RESULT, page=page)
    page.changed.connect(view.show_state)
    return view


def words(view):
    return view.part("words").words


def labels(view):
    return [row.name for row in view.part("labels").rows()]


def test_certain_words_recede_and_doubtful_ones_are_boxed_with_their_shares(view):
    ada, met, paris = words(view)

    assert (ada.caption, bool(ada.ground)) == ("B-PER 98", True)
    assert (met.caption, met.ground, met.ink) == ("", "", "muted")
    assert [share.name for share in paris.shares] == ["B-LOC", "O", "B-PER"] and paris.frame


def test_words_are_sorted_by_entropy_on_demand(view):
    named(view, "By entropy").click()
    assert [word.text for word in words(view)] == ["Paris", "Ada", "met"]

    named(view, "Text order").click()
    assert [word.text for word in words(view)] == ["Ada", "met", "Paris"]


def test_a_selected_word_shows_all_its_labels_below(view):
    assert "Paris" in texts(view) and labels(view) == ["B-LOC", "O", "B-PER"]  # most doubtful

    view.part("words").chosen.emit(0)

    assert view.page.chosen_token == 0 and view.part("table").chosen_rows()[0].text == "Ada"
    assert "Ada" in texts(view) and "Paris" not in texts(view) and labels(view) == ["B-PER"]


def test_the_token_that_another_view_selects_is_followed(view):
    view.page.choose_token(1)

    assert view.part("words").number == 1 and labels(view) == ["O"]
    assert "met 5 · offsets 4–7" in texts(view)


def test_a_word_has_the_prediction_with_the_temperature_that_its_distribution_is_without(view):
    renew(view, replace(RESULT, predicted=(PredictedWord(15, 20, "LOC", 0.549),), temperature=1.5))

    message = "Softmax of the logits, without the temperature of predictions (1.50)"
    assert {"Paris", "Predicted: LOC, 54.9%", message} <= set(texts(view))
    view.part("words").chosen.emit(0)
    assert "Predicted: LOC, 54.9%" not in texts(view)  # nothing is predicted for this word


def test_all_labels_and_logits_are_shown_and_saved_on_demand(view):
    shares = np.array([[0.98, 0.01, 0.01], [0.005, 0.99, 0.005], [0.1, 0.3, 0.6]], np.float32)
    every = {"outputs": ("B-PER", "O", "B-LOC"), "probabilities": shares, "logits": np.log(shares)}
    table = view.part("labels")
    assert table.isColumnHidden(2) and "Softmax of the logits" in texts(view)

    view.findChild(QCheckBox).click()
    assert view.page.asked[-1]["logits"]
    renew(view, replace(RESULT, basis="marginals", **every))

    assert labels(view) == ["B-LOC", "O", "B-PER"]
    assert table.rows()[0].logit == pytest.approx(np.log(0.6), abs=1e-6)
    assert not table.isColumnHidden(2) and "Marginals of the CRF" in texts(view)
    head, *rows = view.data()
    assert head[5:] == [
        "B-PER", "O", "B-LOC", "Logit of B-PER", "Logit of O", "Logit of B-LOC",
    ]  # fmt: skip
    assert len(rows[2]) == 11


@pytest.mark.parametrize("width", [NARROW_WIDTH - 170, NARROW_WIDTH + 170])
def test_a_narrow_pane_shows_the_words_above_alone_and_cuts_no_column(view, width):
    view.resize(width, 500)
    view.show()

    assert view.part("table").isVisible() is (width > NARROW_WIDTH)
    for table in (view.part("table"), view.part("labels")):
        header = table.horizontalHeader()
        for at in range(table.model().columnCount()):
            if table.isVisible() and not table.isColumnHidden(at):
                assert header.sectionSize(at) >= table.sizeHintForColumn(at)
    assert labels(view) == ["B-LOC", "O", "B-PER"]  # of the doubtful word
    assert len(view.data()) == 4  # the saved data have all words
