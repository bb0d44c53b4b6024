"""The dialogs of the queue: what an order lacks is said, the curve is drawn with its advice."""

from types import SimpleNamespace

import pytest
from PySide6.QtWidgets import QComboBox, QLabel

from tests.ui.tips import read
from workbench.operations.annotation.instant_curve import CurvePoint
from workbench.operations.annotation.queue_orders import QueueOrder
from workbench.ui.panels.annotate.instant.instant import LearningCurve


@pytest.fixture
def dialog(state, qtbot, monkeypatch):
    from workbench.operations.annotation import queue_orders
    from workbench.ui.panels.annotate.queue.order_dialog import OrderDialog

    monkeypatch.setattr(queue_orders, "vector_models", lambda _settings=None: ())
    made = OrderDialog(None, state.queue)
    qtbot.addWidget(made)
    return made


def pick(dialog, title):
    dialog._order.setCurrentIndex(dialog._order.findText(title))


def test_an_order_without_a_run_cannot_be_started(dialog):
    pick(dialog, "Uncertainty: margin")
    assert not dialog._done.isEnabled() and not dialog._fields["share"].isHidden()

    pick(dialog, "Random")
    assert dialog._done.isEnabled() and dialog._fields["share"].isHidden()


def test_orders_of_spans_are_offered_for_layers_of_spans(dialog):
    assert dialog._order.findText("Uncertainty: spans") < 0

    dialog._layer.setCurrentIndex(dialog._layer.findText("names"))

    assert dialog._order.findText("Uncertainty: spans") > 0


def test_the_order_of_a_plugin_that_is_disabled_is_listed_greyed(dialog, state):
    state.queue.queue_order = QueueOrder("gone.middle", 1, "", 0.1, 1, "")

    dialog._fill()

    box = dialog._order
    item = box.model().item(box.count() - 1)
    assert item.text() == "gone.middle (needs the plugin gone)" and not item.isEnabled()
    assert "Enable the plugin gone" in read(item.toolTip()) and box.currentText() == "File order"


def test_the_dialog_opens_with_what_the_present_order_reads(state, qtbot, monkeypatch):
    from workbench.ui.panels.annotate.queue import order_dialog
    from workbench.ui.panels.annotate.queue.queue import OrderChoices

    strategies = ("margin", "Margin"), ("diversity", "Diversity")
    models = ("one", "First model"), ("two", "Second model")
    choices = OrderChoices(strategies, ((5, "a"), (6, "b"), (7, "c")), models, {})
    monkeypatch.setattr(type(state.queue), "order_choices", lambda _state, _layer: choices)
    layer = state.session.ordered_layers[0].id

    def opened(strategy, source, runs):
        state.queue.queue_order = QueueOrder(strategy, layer, source, 0.1, 1, "", runs)
        made = order_dialog.OrderDialog(None, state.queue)
        qtbot.addWidget(made)
        return made

    assert (it := opened("margin", "c, a", (7, 5)))._run.currentText() == "c"
    assert it._other.currentText() == "a"
    assert opened("diversity", "Second model", ())._model.currentText() == "Second model"


def texts(dialog):
    return [label.text() for label in dialog.findChildren(QLabel)]


def test_the_learning_curve_shows_its_points_and_advice(qtbot):
    from workbench.ui.panels.annotate.instant.learning_dialog import LearningDialog

    points = (CurvePoint(10, None, 0, None), CurvePoint(20, 0.6, 20, 0.9))
    curves = (
        LearningCurve("Instant model", points, "Go on.", ""),
        LearningCurve("Rounds", points, "Stop.", "a"),
    )
    dialog = LearningDialog(None, SimpleNamespace(read_curves=lambda done: done(curves)))
    qtbot.addWidget(dialog)

    box = dialog.findChild(QComboBox)
    assert "Go on." in texts(dialog) and box.count() == 2
    box.setCurrentIndex(1)
    assert "Stop." in texts(dialog)


def test_without_a_run_and_an_instant_model_there_is_no_curve(state, qtbot):
    from workbench.ui.panels.annotate.instant.learning_dialog import LearningDialog

    dialog = LearningDialog(None, state.instant)

    qtbot.addWidget(dialog)
    assert any(text.startswith("No run has been trained yet") for text in texts(dialog))
