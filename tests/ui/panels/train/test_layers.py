"""Layers on the Train page: their rates before a run, and their learned weights during one."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QPushButton

from tests.ui.panels.train.test_state import context, state  # noqa: F401 (fixtures)
from workbench.jobs.events import Output, Started
from workbench.training.methods.full.info import INFO
from workbench.training.plan import Plan
from workbench.training.rates import layer_steps
from workbench.training.spec import TrainSpec
from workbench.ui.panels.train.layer_steps import LayerSteps, Picture, colour_shares
from workbench.ui.project.job_progress import JobProgress, follow
from workbench.ui.style.run_text import LayerMix, gamma_text
from workbench.ui.widgets.charts.layer_bars import LayerBars, LayerMixes

PLAN = Plan(4, 8, 0.01, 128, 5, 5, "macro_f1")


def rates(**options):
    spec = TrainSpec("classify", "c", "model", options={"schedule": "constant", **options})
    return layer_steps(spec, PLAN, layers=3)


@pytest.fixture
def picture(qtbot):
    shown = Picture()
    qtbot.addWidget(shown)
    shown.resize(500, 200)
    shown.set_rates(rates(method="gradual"))
    return shown


def test_the_picture_shows_part_step_and_rate_at_every_place(picture):
    high = picture.height() - 1
    row = picture._row()

    assert picture.text_at(QPoint(499 - 2, 1)) == "Head, step 19, epoch 4: 1.0e-02"
    assert picture.text_at(QPoint(90, row + 1)) == "Layer 3, step 0, epoch 1: frozen"
    assert picture.text_at(QPoint(2, 1)) == "" == picture.text_at(QPoint(300, high))


def test_the_picture_is_described_in_words(picture):
    lines = picture.accessibleDescription().splitlines()

    assert lines[0] == "Embeddings: frozen" and lines[-1] == "Head: from 1.0e-02 to 1.0e-02"
    assert not picture.grab().isNull()


def test_a_click_freezes_a_part_with_those_below_and_a_second_one_trains_it(picture, qtbot):
    chosen, row = [], picture._row()
    picture.frozen_chosen.connect(chosen.append)
    left = Qt.MouseButton.LeftButton

    qtbot.mouseClick(picture, left, pos=QPoint(5, row + 2))  # it cannot be chosen
    for frozen in (0, 3):
        picture.set_rates(rates(), frozen)
        qtbot.mouseClick(picture, left, pos=QPoint(200, 2 * row + 2))  # layer 2
        qtbot.mouseClick(picture, left, pos=QPoint(200, 2))  # the head
    assert chosen == [3, 2]

    qtbot.keyClick(picture, Qt.Key.Key_Up)
    qtbot.keyClick(picture, Qt.Key.Key_Down)
    assert chosen == [3, 2, 4, 2]


@pytest.mark.parametrize("levels", range(5))
def test_a_number_of_frozen_parts_is_a_setting(levels):
    assert INFO.frozen(3, INFO.freezing(levels)) == levels


def test_the_page_freezes_where_the_method_can(state):  # noqa: F811
    assert state.frozen == 0
    state.freeze(3)
    assert state.values == {"freeze": "2"} and state.frozen == 3
    assert "%" in state.defaults_text()

    state.set_values({"method": "lora"})
    assert state.frozen is None


def test_layers_with_other_rates_are_told_apart_by_a_logarithmic_colour(qtbot):
    fold = LayerSteps(lambda: rates(layer_decay=10.0, gradual_unfreezing=True))
    qtbot.addWidget(fold)
    fold._more.click()

    found = np.array(rates(layer_decay=10.0, gradual_unfreezing=True).rates)
    shares = colour_shares(found)[:, -1]  # embeddings are frozen for five epochs, then the layers

    assert "logarithmic" in fold._message.text()
    assert [round(float(share), 2) for share in np.diff(shares[1:])] == pytest.approx(
        [float(np.diff(shares[1:]).mean())] * 3, abs=0.01
    )
    assert shares[-1] == 1.0 and shares[1] > 0.2


def test_equal_rates_have_a_linear_colour():
    found = np.array([[0.0, 0.0], [0.01, 0.005], [0.01, 0.005]])

    assert colour_shares(found).tolist() == [[0.0, 0.0], [1.0, 0.5], [1.0, 0.5]]
    assert colour_shares(np.zeros((2, 3))).tolist() == [[0.0] * 3] * 2


def test_the_picture_is_computed_only_while_it_is_shown(qtbot):
    asked = []
    fold = LayerSteps(lambda: asked.append(1) or rates())
    qtbot.addWidget(fold)
    fold.render()
    assert asked == []

    fold._more.click()
    fold.render()

    assert len(asked) == 2 and "1.0e-02" in fold._message.text()


def test_the_picture_has_the_width_of_the_button_and_what_is_beside_it(qtbot):
    map_button = QPushButton("Model map…")
    fold = LayerSteps(rates, map_button)
    qtbot.addWidget(fold)
    fold.resize(308, 200)
    fold.show()

    fold._more.click()

    assert fold._picture.width() == fold.width() and map_button.isVisible()


def test_reported_weights_are_kept_with_the_live_run():
    live = JobProgress(1, "run", "title")
    follow(live, Started(0, 0.0))

    message = {"kind": "layer_weights", "step": 3, "weights": [0.25, 0.75], "gamma": 1.5}
    follow(live, Output(message))

    assert live.layer_mixes == (LayerMix("", (0.25, 0.75), 1.5),)

    parts = {"elmo": {"weights": [0.5, 0.5], "gamma": 2.0}}
    follow(live, Output({"kind": "layer_weights", "step": 4, "weights": [], "parts": parts}))
    assert live.layer_mixes == (LayerMix("elmo", (0.5, 0.5), 2.0),)


def test_every_model_in_the_embeddings_has_bars_of_its_own(qtbot):
    card = LayerMixes()
    qtbot.addWidget(card)
    assert not card.isVisibleTo(None)

    card.set_mixes((LayerMix("", (1.0,)), LayerMix("elmo", (0.3, 0.7), 1.2)))

    text = [label.text() for label in card.findChildren(QLabel)]
    assert text == ["Layer weights", "", "Layer weights of elmo", "γ 1.200"]
    bars = [item.accessibleDescription() for item in card.findChildren(LayerBars)]
    assert bars == ["Embeddings: 1.000", "Embeddings: 0.300, Layer 1: 0.700"]
    card.set_mixes(())
    assert card.isHidden()


def test_bars_name_each_layer_and_its_weight(qtbot):
    bars = LayerBars()
    qtbot.addWidget(bars)
    bars.resize(300, bars.height())

    bars.set_weights((0.25, 0.75))

    assert bars.accessibleDescription() == "Embeddings: 0.250, Layer 1: 0.750"
    assert not bars.grab().isNull()
    assert gamma_text(1.5) == "γ 1.500" and gamma_text(None) == ""
