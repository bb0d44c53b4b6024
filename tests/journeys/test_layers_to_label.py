"""Which layers are labelled: chosen once by mouse, and kept when a layer is added."""

import pytest
from PySide6.QtWidgets import QLabel

from tests.journeys.test_by_mouse import opens_the_sample
from workbench.operations.annotation import document_view
from workbench.operations.schema import labels

pytestmark = [pytest.mark.process, pytest.mark.timeout(900)]


def test_only_the_class_is_labelled_and_a_new_layer_leaves_its_progress(hand):
    opens_the_sample(hand)
    hand.click("Annotate")
    hand.click("Next unlabelled")
    first = hand.app.project.selection[0]
    hand.click("delay")
    hand.click("Submit")

    view = document_view.view(hand.app.project, first)
    states = {layer.name: view.states[layer.id] for layer in view.layers}
    assert states == {"class": "submitted", "spans": "pending"}
    hand.click("Label only class")
    hand.wait(lambda: shown(hand, "Labelling: class"), "the layers were not chosen")
    done = count(hand)
    hand.click("delay")
    hand.click("Submit")
    hand.wait(lambda: count(hand) == done + 1, "submitting finishes nothing")

    adds_a_layer(hand, "topic")
    hand.click("Annotate")
    hand.wait(lambda: shown(hand, "Labelling: class"))
    assert count(hand) == done + 1
    hand.click("Label topic")
    hand.wait(lambda: count(hand) < done, "the layer is not labelled")


def adds_a_layer(hand, name):
    labels.add_layer(hand.app.project, name, "class", labels=("bus", "tram"))


def shown(hand, text: str) -> bool:
    return any(
        label.text() == text for label in hand.app.window.findChildren(QLabel) if label.isVisible()
    )


def count(hand) -> int:
    """The number of finished documents that the queue shows."""
    texts = [
        label.text()
        for label in hand.app.window.findChildren(QLabel)
        if label.isVisible() and " / " in label.text()
    ]
    return int(texts[0].split(" / ")[0].replace(",", ""))
