"""Relations, chains and parts in Annotate: by keys only, by mouse, in the list."""

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from workbench.operations.annotation import annotate, questions, relation_rules, suggestion_edits
from workbench.operations.schema import labels
from workbench.storage.annotation.suggestions import NewSuggestion, field_of_ends
from workbench.text.spans import Span
from workbench.ui.panels.annotate.row_words import RowWords

Key, SHIFT = Qt.Key, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def linked(filled):
    """Layers of relations and chains, and three names in the first text."""
    labels.add_layer(filled, "links", "relation", labels=("knows", "in"))
    labels.add_layer(filled, "chains", "cluster", labels=("mention",))
    names = next(layer for layer in labels.layers(filled) if layer.name == "names")
    for start, end, label in ((0, 3, "PER"), (8, 11, "PER"), (15, 20, "LOC")):
        annotate.add_span(filled, 1, start, end, names.label(label).id)
    return filled


@pytest.fixture
def view(linked, state, open_view):
    made = open_view(state, height=900)
    made.take_focus()
    return made


def relations(view):
    state = view.state
    text = state.session.doc.document.text
    named = {id: label.name for id, (_layer, label) in state.session.label_of.items()}
    found = []
    for row in state.session.relations:
        item, other = state.session.span_of[row.from_span], state.session.span_of[row.to_span]
        found.append(
            (text[item.start : item.end], named[row.label_id], text[other.start : other.end])
        )
    return found


def chains(view):
    return [row.chain for row in view.state.session.spans if row.chain is not None]


def press(view, *keys):
    for key in keys:
        QTest.keyClick(view.first, key)


def test_a_relation_is_made_by_keys_alone_relabelled_reversed_and_deleted(view):
    press(view, Key.Key_Tab, Key.Key_C, Key.Key_Tab, Key.Key_D)
    assert relations(view) == [("Ada", "knows", "Bob")]
    assert (
        view.state.relations.chosen_relation() is not None and view.state.relations.linking is None
    )

    press(view, Key.Key_F)
    view.state.relations.reverse()
    assert relations(view) == [("Bob", "in", "Ada")]

    press(view, Key.Key_Delete)
    assert relations(view) == []
    view.state.project.undo()
    assert relations(view) == [("Bob", "in", "Ada")]


def test_enter_asks_for_the_label_unless_only_one_is_allowed(view):
    press(view, Key.Key_Tab, Key.Key_C, Key.Key_Tab, Key.Key_Return)
    palette = QApplication.focusWidget()
    QTest.keyClicks(palette, "in")
    QTest.keyClick(palette, Key.Key_Return)
    assert relations(view) == [("Ada", "in", "Bob")]

    view.state.session.choose(None)
    QTest.keyClick(view.first, Key.Key_Tab)
    QTest.keyClick(view.first, Key.Key_F)  # the label first, then the target
    press(view, Key.Key_Tab, Key.Key_Tab, Key.Key_Return)
    assert relations(view)[-1][1:] == ("in", "Paris")


def test_enter_finishes_a_relation_then_answers_a_question_then_submits(view, linked):
    layer = labels.add_layer(linked, "answers", "answer")
    questions.add(linked, 1, layer, "Who?")
    state = view.state
    state.session.open(1)
    press(view, Key.Key_Tab, Key.Key_F, Key.Key_Tab)
    view.first.select(0, 3)
    press(view, Key.Key_Return)
    assert (
        relations(view) == [("Ada", "in", "Bob")]
        and state.questions.question.question.answers == ()
    )

    view.first.select(0, 3)
    press(view, Key.Key_Return)
    assert state.questions.question.question.answers == ((0, 3),)
    press(view, Key.Key_Return)
    assert state.session.document_id != 1


def test_the_key_of_a_label_precedes_the_key_for_no_answer(view, linked):
    names = next(layer for layer in labels.layers(linked) if layer.name == "names")
    labels.add_label(linked, names.id, "NAT", key="n")
    questions.add(linked, 1, labels.add_layer(linked, "answers", "answer"), "Who?")
    view.state.session.open(1)
    view.first.select(15, 20)
    press(view, Key.Key_N)

    assert not view.state.questions.question.question.is_null
    assert view.state.session.label_of[view.state.session.chosen_span().label_id][1].name == "NAT"


def test_the_text_keeps_its_place_while_a_relation_is_made(view, qtbot):
    press(view, Key.Key_Tab)
    before = view.first.mapTo(view, view.first.rect().topLeft())

    press(view, Key.Key_C)
    QApplication.processEvents()

    hint = next(part for part in view.findChildren(QLabel) if part.text().startswith("From “Ada”"))
    assert hint.isVisible() and view.first.mapTo(view, view.first.rect().topLeft()) == before


def test_a_target_in_another_layer_is_refused_and_the_relation_goes_on(view, context):
    text = view.first
    text.select(8, 11)
    view.state.session.choose(None)
    QTest.keyClicks(text, "+")
    mention = view.state.session.chosen_span().id
    view.state.session.choose(None)
    press(view, Key.Key_Tab, Key.Key_C)
    source = view.state.relations.linking

    view.state.session.choose(("gold", mention))
    press(view, Key.Key_Return)
    press(view, Key.Key_D)

    assert (
        context.message
        == ["Choose a target in the layer of the first span, names, or press Esc."] * 2
    )
    assert view.state.relations.linking == source and relations(view) == [] and chains(view) == [1]


def test_escape_leaves_the_relation_and_enter_submits_again(view):
    press(view, Key.Key_Tab, Key.Key_C)
    assert view.state.relations.linking is not None

    press(view, Key.Key_Escape)
    assert view.state.relations.linking is None and view.state.session.chosen is not None


def test_a_drag_from_the_bar_of_a_span_to_another_asks_for_the_label(view, qtbot):
    text = view.first
    text.viewport().repaint()
    box = text.rect_of(1)
    start = QPointF(box.center().x(), box.bottom() + 6)
    end = QPointF(text.rect_of(9).center())

    QTest.mousePress(text.viewport(), Qt.MouseButton.LeftButton, pos=start.toPoint())
    for point in ((start + end) / 2, end):
        move = QMouseEvent(
            QMouseEvent.Type.MouseMove, point, text.viewport().mapToGlobal(point),
            Qt.MouseButton.NoButton, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier,
        )  # fmt: skip
        QApplication.sendEvent(text.viewport(), move)
    QTest.mouseRelease(text.viewport(), Qt.MouseButton.LeftButton, pos=end.toPoint())
    QTest.keyClick(QApplication.focusWidget(), Key.Key_Return)

    assert relations(view) == [("Ada", "knows", "Bob")]


def test_the_list_names_label_and_both_spans_and_a_click_on_the_arc_selects_it(view):
    press(view, Key.Key_Tab, Key.Key_C, Key.Key_Tab, Key.Key_D)
    row = view.state.session.relations[0]
    assert view.right.relations.words_of(row) == "→ knows: Ada › Bob"
    view.state.session.choose(None)
    text = view.first
    text.viewport().repaint()
    _index, line, _x = text.pieces.x_of(0)
    (arc,) = line.arcs
    y = text.pieces.tops[0] + line.above + 8 - text.offset

    QTest.mouseClick(
        text.viewport(), Qt.MouseButton.LeftButton,
        pos=QPointF((arc.left + arc.right) / 2 + text.left_margin, y).toPoint(),
    )  # fmt: skip

    assert view.state.session.chosen == ("relation", row.id)


def test_chains_grow_merge_and_split_by_keys(view):
    text = view.first
    for (start, end), key in (((0, 3), "+"), ((8, 11), "="), ((15, 20), "+")):
        text.select(start, end)
        view.state.session.choose(None)
        QTest.keyClicks(text, key)
    assert chains(view) == [1, 1, 2] and text.selection is None

    mentions = [row.id for row in view.state.session.spans if row.chain is not None]
    view.state.session.choose(("gold", mentions[1]))
    press(view, Key.Key_C)
    view.state.session.choose(("gold", mentions[2]))
    QTest.keyClick(text, Key.Key_Return, SHIFT)
    assert chains(view) == [1, 2, 2]

    view.state.session.choose(("gold", mentions[0]))
    press(view, Key.Key_C)
    view.state.session.choose(("gold", mentions[1]))
    press(view, Key.Key_Return)
    assert chains(view) == [2, 2, 2]

    QTest.keyClicks(text, "+")
    assert sorted(chains(view)) == [2, 2, 3]


def test_selected_words_become_a_part_of_the_span_selected_last(view):
    text = view.first
    press(view, Key.Key_Tab)
    ada = view.state.session.chosen_span().id
    text.select(8, 11)
    view.state.session.choose(None)

    QTest.keyClicks(text, "&")

    row = view.state.session.chosen_span()
    assert (row.id, row.parts) == (ada, ((0, 3), (8, 11)))
    item = next(item for item in text.pieces.ensure(0).placed[0].items if item.span.parts)
    assert len(item.runs) == 2 and len(item.gaps) == 1


def shown(view):
    """The label of each arc of the first line, and whether it is dashed."""
    view.first.viewport().repaint()
    _index, line, _x = view.first.pieces.x_of(0)
    return [(item.arc.label, item.arc.dashed) for item in line.arcs]


def shown_suggestions(view):
    words = RowWords(view.state.session)
    return [words.text(row) for row in view.state.session.suggestions]


def test_a_suggested_relation_without_a_direction_has_no_arrow(linked, view):
    links = next(layer for layer in labels.layers(linked) if layer.name == "links")
    relation_rules.set_rules(linked, links.id, spans="names", undirected=["knows"], pairs={})
    ends = Span(0, 3, "PER"), Span(8, 11, "PER")
    row = NewSuggestion(1, links.id, links.label("knows").id, field=field_of_ends(ends), score=0.9)

    suggestion_edits.add_suggestions(linked, None, [row], kind="rule", ref="r")

    assert shown_suggestions(view) == ["Ada – Bob"]


def test_a_suggested_relation_is_a_dashed_arc_and_accepted_by_its_key(linked, view):
    links = next(layer for layer in labels.layers(linked) if layer.name == "links")
    ends = Span(0, 3, "PER"), Span(15, 20, "LOC")
    row = NewSuggestion(1, links.id, links.label("in").id, field=field_of_ends(ends), score=0.91)
    suggestion_edits.add_suggestions(linked, None, [row], kind="rule", ref="r")

    assert shown(view) == [("in · 0.91 ?", True)]
    assert shown_suggestions(view) == ["Ada → Paris"]
    press(view, Key.Key_A)

    assert relations(view) == [("Ada", "in", "Paris")]
    assert shown(view) == [("in", False)]
