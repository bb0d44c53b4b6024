"""Examples for the guideline, and the guideline beside the text."""

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from workbench.operations.annotation import annotate
from workbench.operations.schema import guideline, labels


@pytest.fixture
def view(state, open_view):
    return open_view(state)


def layer(state, name):
    return labels.layer_named(state.project, name)


def name_ada(state):
    """Ada is a person, and selected."""
    person = layer(state, "names").label("PER").id
    span = annotate.add_span(state.project, state.session.document_id, 0, 3, person)
    state.session.choose(("gold", span))


def examples(state, name="names"):
    return [
        (example.label, example.marked or example.text, example.positive)
        for example in guideline.examples(layer(state, name))
    ]


def press(view, key):
    QTest.keyClicks(view.document_pane.text, key)


def test_a_key_adds_the_selected_span_and_undo_takes_it_back(view, state, context):
    name_ada(state)

    press(view, "*")

    assert examples(state) == [("PER", "Ada", True)]
    assert context.message == ["Example of PER added: “Ada”."]
    assert state.session.chosen is not None  # the work goes on where it was
    state.project.undo()
    assert examples(state) == []


def test_the_same_again_is_refused_with_the_reason(view, state, context):
    name_ada(state)
    press(view, "!")
    press(view, "*")

    assert examples(state) == [("PER", "Ada", False)]
    assert "“Ada” is already an example of what is not PER here." in context.message[-1]


def test_without_a_span_the_class_of_the_document_is_meant(view, state):
    good = layer(state, "mood").label("good").id
    annotate.set_class(state.project, state.session.document_id, good)

    press(view, "!")

    assert examples(state, "mood") == [("good", "Ada met Bob in Paris.", False)]


def test_the_note_on_a_span_becomes_the_remark(view, state):
    name_ada(state)
    state.remarks.set_note("First name only.")
    press(view, "*")
    assert guideline.examples(layer(state, "names"))[0].remark == "First name only."


def test_words_without_a_label_are_asked_about(view, state):
    view.show_text("text", 8, 11)

    def fill():
        dialog = QApplication.activeModalWidget()
        dialog.label.setCurrentIndex(dialog.label.findText("LOC"))
        dialog.remark.setText("A person.")
        QTest.keyClick(dialog.remark, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)

    QTimer.singleShot(0, fill)
    press(view, "!")

    assert examples(state) == [("LOC", "Bob", False)]
    assert guideline.examples(layer(state, "names"))[0].remark == "A person."


def test_the_dialog_stays_open_if_the_words_are_an_example_already(view, state):
    guideline.add_example(state.project, layer(state, "names").id, "PER", 1, start=8, end=11)
    view.show_text("text", 8, 11)
    faults = []

    def fill():
        dialog = QApplication.activeModalWidget()
        dialog.add()
        faults.append(dialog.isVisible())
        dialog.reject()

    QTimer.singleShot(0, fill)
    view.ask_example()

    assert faults == [True] and len(examples(state)) == 1


def pane(view):
    return view.right.guideline


def test_the_guideline_has_the_labels_with_their_keys(view):
    view.toggle_guideline()
    words = pane(view).text.toPlainText()
    assert "Of the whole message." in words and "PER" in words and "Key" in words


def test_the_guideline_follows_the_selected_label(view, state):
    text = "\n\n".join(f"## {name}\n\n" + "line\n\n" * 60 for name in ("PER", "LOC", "TIME"))
    guideline.write(state.project, layer(state, "names").id, text)
    state.session.switch_layer(layer(state, "mood").id, False)
    view.toggle_guideline()
    pane(view).text.show_all()
    bar = pane(view).text.verticalScrollBar()
    names = layer(state, "names")
    places = []
    for label, (start, end) in (("TIME", (0, 3)), ("PER", (8, 11))):
        span = annotate.add_span(state.project, 1, start, end, names.label(label).id)
        state.session.choose(("gold", span))
        places.append(bar.value())

    assert places[0] > places[1] > 0


def test_the_guideline_is_searched(view, state, qtbot):
    guideline.write(state.project, layer(state, "names").id, "one two one")
    view.find_in_guideline()
    find = pane(view).search
    assert find.line.hasFocus()
    QTest.keyClicks(find.line, "one")
    qtbot.waitUntil(lambda: find.count_text() == "1 of 2")
    QTest.keyClick(find.line, Qt.Key.Key_Return)
    assert find.count_text() == "2 of 2"
    QTest.keyClick(find.line, Qt.Key.Key_Escape)
    assert find.line.text() == "" and view.document_pane.text.hasFocus()


def test_an_example_is_shown_at_once_beside_the_text(view, state):
    view.toggle_guideline()
    name_ada(state)
    press(view, "*")
    assert "✓ Ada met Bob in Paris." in pane(view).text.toPlainText()


def test_nothing_is_added_to_a_project_that_is_read_only(view, state, monkeypatch):
    name_ada(state)
    monkeypatch.setattr(type(state.session), "can_edit", property(lambda _self: False))
    press(view, "*")
    assert examples(state) == []
