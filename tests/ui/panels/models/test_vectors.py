"""Analogies and data sets of words: the dialog's state and its tables."""

import numpy as np
import pytest
from PySide6.QtWidgets import QLineEdit

from tests import panel_tasks
from tests.held import Held
from tests.vector_files import native_of, text_of
from workbench.base.errors import ModelError
from workbench.models import spec
from workbench.ui.panels.models.vectors_dialogs import AnalogiesDialog
from workbench.ui.panels.models.vectors_state import AnalogiesState

# King and queen differ from man and woman by (0, 0, 3); the last word is near by its direction only
WORDS = ("man", "king", "woman", "queen", "princess", "bus")
VECTORS = ((1, 0, 0), (1, 0, 3), (0, 1, 0), (0, 1, 3), (0, 9, 30), (-3, -3, 0))


@pytest.fixture(scope="module")
def card(tmp_path_factory):
    path = tmp_path_factory.mktemp("words") / "words.txt"
    path.write_text(text_of(np.array(VECTORS, float), WORDS))
    return spec.card(path)


@pytest.fixture
def state(card):
    state = AnalogiesState(panel_tasks.context(), card)
    yield state
    state.close()


def words(state):
    return [item.word for item in state.neighbours]


@pytest.fixture
def sets(tmp_path):
    pairs = [("man", "woman", 1), ("king", "queen", 2), ("queen", "princess", 3), ("x", "y", 4)]
    lines = ["word1,word2,similarity", *(f"{a},{b},{score}" for a, b, score in pairs)]
    (tmp_path / "pairs.csv").write_text("\n".join(lines))
    (tmp_path / "family.txt").write_text(": family\nman king woman queen\nman king woman bus\n")
    return [tmp_path / "pairs.csv", tmp_path / "family.txt"]


def test_the_nearest_word_depends_on_the_measure(state):
    state.complete()
    assert words(state)[0] == "queen" and set(state.terms).isdisjoint(words(state))

    state.choose("dot")
    assert words(state)[0] == "princess"  # the longest vector in this direction

    state.choose("euclid")
    assert words(state)[0] == "queen" and state.neighbours[0].score == pytest.approx(0)


def test_unknown_words_are_named_and_missing_ones_wait(state):
    state.ask("man", "king", "zeppelin")
    assert "'zeppelin' has no vector" in state.error

    state.ask("man", "", "woman")
    assert "'zeppelin'" in state.error and not state.busy  # nothing was asked


def test_what_was_typed_while_the_words_are_opened_is_answered(state):
    held = Held(state.context)
    state.ask("man", "king", "woman")
    state.ask("king", "man", "queen")
    assert len(held) == 1  # the words are opened once

    held.answer(0)
    assert state.busy
    held.rest()

    assert len(held) == 2 and not state.busy and words(state)[0] == "woman"


def test_words_that_cannot_be_opened_are_told_and_tried_again(state):
    held = Held(state.context)
    state.complete()
    held.fail(0, ModelError("The file is damaged."))
    assert state.error == "The file is damaged." and not state.busy

    state.complete()
    held.rest()

    assert words(state)[0] == "queen" and state.error == ""


def test_data_sets_are_measured_by_the_chosen_measure(state, sets):
    state.evaluate(sets)
    pairs, family = state.results

    assert (state.measured, pairs.coverage, pairs.used) == ("cosine", 0.75, 3)
    assert pairs.spearman == pytest.approx(1.0)  # 0, 0.9, near 1
    assert (family.questions, family.correct) == (2, 1)

    state.by = "dot"
    state.evaluate()
    assert state.measured == "dot" and state.results[1].correct == 0


def test_a_file_that_is_no_data_set_is_named_and_closing_cancels(state, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("word1,word2,similarity\na,b,c\n")
    state.evaluate([path])
    assert "line 2" in state.error and state.results == ()

    state.error, held = "", Held(state.context)
    state.evaluate([path])
    state.close()
    held.rest()
    assert state.error == ""  # nothing is shown any more


def test_an_evaluation_that_is_cancelled_shows_nothing(state, sets):
    state.complete()
    held = Held(state.context)
    state.evaluate(sets)

    state.stop()
    held.rest()

    assert state.results == () and state.error == "" and not state.busy


def test_the_dialog_shows_words_and_scores(qtbot, state, sets):
    dialog = AnalogiesDialog(None, state)
    qtbot.addWidget(dialog)

    assert [line.text() for line in dialog.findChildren(QLineEdit)][:3] == ["man", "king", "woman"]
    assert dialog.neighbours.rows()[0].word == "queen"

    dialog.lines[2].setText("queen")
    dialog._ask()
    assert dialog.neighbours.rows()[0].word != "queen"

    state.evaluate(sets)
    model = dialog.results.model()
    cells = [[model.index(row, at).data() for at in range(5)] for row in range(2)]
    assert cells == [["pairs", "4", "75.0", "1.000", "–"], ["family", "2", "100.0", "–", "50.0"]]
    assert all(dialog.results.isColumnHidden(column) for column in (5, 6))


def test_a_fasttext_model_is_also_measured_with_its_ngrams(qtbot, sets, tmp_path):
    values = np.array(VECTORS, np.float32)
    grams = np.random.default_rng(1).normal(size=(20, 3)).astype(np.float32)
    (tmp_path / "grams.bin").write_bytes(native_of(values, grams, WORDS))
    state = AnalogiesState(panel_tasks.context(), spec.card(tmp_path / "grams.bin"))
    dialog = AnalogiesDialog(None, state)
    qtbot.addWidget(dialog)

    state.evaluate(sets)
    model = dialog.results.model()

    assert not any(dialog.results.isColumnHidden(column) for column in (5, 6))
    assert [model.index(0, at).data() for at in (2, 5)] == ["75.0", "100.0"]
    assert [model.index(1, at).data() for at in (5, 6)] == ["–", "–"]
