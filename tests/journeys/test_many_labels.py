"""A class layer with many labels, by mouse and keys."""

import pytest
from PySide6.QtCore import Qt

from tests.journeys.test_by_mouse import opens_the_sample
from workbench.operations.annotation import document_view
from workbench.operations.schema import labels

pytestmark = [pytest.mark.process, pytest.mark.timeout(900)]
NAMES = [f"{action}_{thing}" for action in ("lost", "late", "new") for thing in "abcdefgh"]


def test_a_class_is_searched_by_words_and_then_has_a_key(hand):
    opens_the_sample(hand)
    labels.add_layer(hand.app.project, "intent", "class", labels=NAMES)
    hand.click("Label intent")
    hand.click("Next unlabelled")
    first = hand.app.project.selection[0]
    hand.press("Text", Qt.Key.Key_Slash)
    hand.type("late g")
    hand.key(Qt.Key.Key_Return)
    hand.wait(lambda: "late_g" in classes(hand, first), "the search gives no class")

    hand.press("Text", Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    hand.wait(lambda: hand.app.project.selection[0] != first, "Ctrl+Enter opens no other")
    second = hand.app.project.selection[0]
    chip = hand.find("late_g")
    hand.press("Text", Qt.Key(ord(chip.accessibleDescription().removeprefix("Key ").upper())))
    hand.wait(lambda: "late_g" in classes(hand, second), "its key gives no class")


def classes(hand, document: int) -> set[str]:
    names = {
        label.id: label.name for layer in labels.layers(hand.app.project) for label in layer.labels
    }
    return {names[mark.label_id] for mark in document_view.view(hand.app.project, document).marks}


def test_one_key_labels_a_document_and_undo_returns_to_it(hand):
    opens_the_sample(hand)
    labels.add_layer(hand.app.project, "intent", "class", labels=NAMES)
    hand.click("Label intent")
    others = [layer.id for layer in labels.layers(hand.app.project) if layer.name != "intent"]
    for layer in others:
        hand.app.window.panel("annotate").state.session.switch_layer(layer, False)
    hand.click("Next unlabelled")
    hand.key(Qt.Key.Key_F9)  # without the queue there is room for the option
    hand.press("A key also submits and goes on", Qt.Key.Key_Space)
    first = hand.app.project.selection[0]
    hand.press("Text", Qt.Key.Key_1)
    hand.wait(lambda: hand.app.project.selection[0] != first, "the key opens no other document")
    second = hand.app.project.selection[0]
    hand.key(Qt.Key.Key_2)
    hand.wait(lambda: hand.app.project.selection[0] != second, "the next key opens no other")
    assert classes(hand, first) and classes(hand, second)

    hand.key(Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    hand.wait(lambda: hand.app.project.selection[0] == second, "Undo does not return")
    assert not classes(hand, second) and classes(hand, first)


def test_a_class_is_chosen_by_topic_with_keys(hand):
    opens_the_sample(hand)
    hand.app.window.resize(1280, 1000)
    labels.add_layer(hand.app.project, "intent", "class", labels=NAMES)
    hand.click("Label intent")
    hand.click("Next unlabelled")
    document = hand.app.project.selection[0]
    hand.press("Topics", Qt.Key.Key_Down)  # L: late, lost; N: new
    hand.press("Classes of the topic", Qt.Key.Key_Right)
    hand.key(Qt.Key.Key_Return)
    hand.wait(lambda: "new_b" in classes(hand, document), "Enter gives no class")
