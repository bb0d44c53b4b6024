"""The Annotate page by keys and mouse."""

import sys

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QAccessible, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLayout, QLineEdit, QWidget

from workbench.operations.annotation import annotate, suggestion_edits
from workbench.operations.annotation.annotate import NewSuggestion
from workbench.operations.schema import label_groups, labels
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.ui.panels.annotate.session import SpanTarget
from workbench.ui.project import folded_labels
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.chip import ChipButton
from workbench.ui.widgets.controls.label_palette import LabelPalette

CONTROL, SHIFT, ALT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.AltModifier,
)
Key = Qt.Key


@pytest.fixture
def view(state, open_view):
    made = open_view(state)
    made.take_focus()
    return made


@pytest.fixture
def text(view):
    return view.first


def spans(view) -> list[tuple[str, str]]:
    state = view.state
    names = {id: label.name for id, (_layer, label) in state.session.label_of.items()}
    return [
        (state.session.doc.document.content(r.field)[r.start : r.end], names[r.label_id])
        for r in state.session.spans
    ]


def chip(view, name: str) -> ChipButton:
    return next(
        widget
        for widget in view.findChildren(ChipButton)
        if widget.accessibleName() == name and widget.isVisible()
    )


def press(widget, key, modifiers=Qt.KeyboardModifier.NoModifier):
    QTest.keyClick(widget, key, modifiers)


def suggest(state, *rows):
    names = next(layer for layer in state.session.layers if layer.name == "names")
    made = [
        NewSuggestion(
            state.session.document_id, names.id, names.labels[0].id, start, end, "text", score
        )
        for start, end, score in rows
    ]
    suggestion_edits.add_suggestions(state.project, None, made, kind="rule", ref="test")


# ---------------------------------------------------------------- keys


def test_a_key_pressed_again_gives_the_sublabels(view, text):
    ids = {label.name: id for id, (_layer, label) in view.state.session.label_of.items()}
    label_groups.set_parent(view.state.project, [ids["LOC"]], ids["PER"])
    press(text, Key.Key_1)
    press(text, Key.Key_1)
    assert spans(view) == [("Ada", "LOC")]
    press(text, Key.Key_1)
    assert spans(view) == [("Ada", "PER")]


def test_the_text_has_the_focus_with_the_caret_at_the_start(view, text):
    assert text.hasFocus() and text.caret == 0 and text.accessibleName() == "Text"


def test_a_key_labels_the_word_at_the_caret_then_the_chosen_text(view, text):
    press(text, Key.Key_1)
    assert spans(view) == [("Ada", "PER")]

    press(text, Key.Key_End)
    press(text, Key.Key_Left, SHIFT)  # nothing is selected now: this selects text
    press(text, Key.Key_Left, SHIFT | CONTROL)
    press(text, Key.Key_2)
    assert spans(view)[1] == ("Paris.", "LOC")


@pytest.mark.skipif(sys.platform != "linux", reason="key codes of X11")
def test_a_label_key_works_by_its_place_on_a_russian_keyboard(view, text):
    for code, letter in ((24, "й"), (10, "1")):  # the keys that write q and 1 on an English layout
        QApplication.sendEvent(
            text,
            QKeyEvent(QEvent.Type.KeyPress, 0, Qt.KeyboardModifier.NoModifier, code, 0, 0, letter),
        )

    assert {view.state.session.label_of[id][1].name for id in view.state.session.marked} == {"good"}
    assert spans(view) == [("Ada", "PER")]


def test_tab_chooses_a_span_a_key_relabels_it_and_delete_removes_it(view, text):
    press(text, Key.Key_1)
    press(text, Key.Key_Escape)
    press(text, Key.Key_Tab)
    assert text.hasFocus() and text.chosen == view.state.session.chosen

    press(text, Key.Key_2)
    assert spans(view) == [("Ada", "LOC")]
    press(text, Key.Key_Delete)
    assert spans(view) == []


def test_brackets_grow_and_shrink_by_word_and_with_control_by_character(view, text):
    text.select(8, 8)
    press(text, Key.Key_1)  # Bob
    for char, wanted in (("[", "met Bob"), ("]", "Bob"), ("}", "Bob in"), ("{", "Bob")):
        QTest.keyClicks(text, char)
        assert spans(view) == [(wanted, "PER")]

    press(text, Key.Key_BracketRight, CONTROL)
    assert spans(view) == [("ob", "PER")]
    press(text, Key.Key_BraceLeft, CONTROL | SHIFT)
    assert spans(view) == [("o", "PER")]
    QTest.keyClicks(text, "{")  # never inverted
    assert spans(view) == [("o", "PER")]


def test_shift_and_arrows_move_the_end_of_a_chosen_span(view, text):
    press(text, Key.Key_1)
    press(text, Key.Key_Right, SHIFT)
    assert spans(view) == [("Ada ", "PER")]
    press(text, Key.Key_Left, SHIFT)
    press(text, Key.Key_Left, SHIFT)
    assert spans(view) == [("Ad", "PER")]


def test_a_and_x_decide_about_suggestions_and_u_lets_go(view, text):
    suggest(view.state, (0, 3, 0.9), (8, 11, 0.8))
    press(text, Key.Key_A)
    press(text, Key.Key_X)
    assert spans(view) == [("Ada", "PER")] and view.state.session.suggestions == ()

    press(text, Key.Key_Tab)
    press(text, Key.Key_U)
    assert view.state.session.chosen is None and text.chosen is None


def test_enter_submits_and_space_skips(view, text):
    press(text, Key.Key_Q)
    press(text, Key.Key_Return)
    assert view.state.session.doc.document.key == "k1" and text.caret == 0
    press(text, Key.Key_Space)
    assert view.state.session.doc.document.key == "k2"


def test_bare_keys_act_in_the_lists_too_but_never_in_a_field(view, text, qtbot):
    press(view.queue.list, Key.Key_1)
    assert spans(view) == [("Ada", "PER")]

    field = QLineEdit(view)
    field.show()
    field.setFocus()
    QTest.keyClicks(field, "12aX ")
    assert spans(view) == [("Ada", "PER")] and field.text() == "12aX "


def test_keys_held_down_do_not_run_through_the_queue(view, text):
    from PySide6.QtCore import QEvent
    from PySide6.QtGui import QKeyEvent

    held = QKeyEvent(QEvent.Type.KeyPress, Key.Key_Space, Qt.KeyboardModifier.NoModifier, " ", True)
    QApplication.sendEvent(text, held)

    assert view.state.session.doc.document.key == "k0"


def test_slash_opens_the_palette_typing_filters_and_enter_labels(view, text):
    press(text, Key.Key_Slash)
    palette = view._palette
    assert palette.isVisible()

    line = palette.findChild(QLineEdit)
    QTest.keyClicks(line, "lo")
    press(line, Key.Key_Return)
    assert not palette.isVisible() and spans(view) == [("Ada", "LOC")]


def test_f6_goes_through_text_suggestions_spans_and_queue(view, text):
    press(text, Key.Key_1)
    suggest(view.state, (8, 11, 0.8))
    seen = []
    for _turn in range(4):
        view.next_pane(1)
        seen.append(QApplication.focusWidget().accessibleName())

    assert seen == ["Suggestions", "Spans", "Queue", "Text"]


# ---------------------------------------------------------------- mouse


def test_a_chip_labels_what_is_chosen_and_the_text_keeps_the_focus(view, text):
    text.select(8, 11)
    QTest.mouseClick(chip(view, "LOC"), Qt.MouseButton.LeftButton)

    assert spans(view) == [("Bob", "LOC")] and text.hasFocus()


def button(view, name: str) -> Button:
    return next(item for item in view.findChildren(Button) if item.accessibleName() == name)


def test_the_controls_of_the_queue_stand_in_one_row(view):
    names = ["Filter the queue", "Order of the queue", "Pre-annotate", "Next unlabelled"]
    shown = [button(view, name) for name in names]
    places = [part.mapTo(view, part.rect().center()) for part in (view.queue.bar.line, *shown)]

    assert len({place.y() for place in places}) == 1
    assert [place.x() for place in places] == sorted(place.x() for place in places)


def test_a_side_without_contents_is_hidden_and_its_empty_parts_too(view, state):
    assert view.right.isVisible() and not view.right.suggestions.isVisible()
    suggest(state, (0, 3, 0.9))
    assert view.right.suggestions.isVisible()
    view.state.suggested.reject_all()

    (names,) = [layer.id for layer in state.session.layers if layer.name == "names"]
    state.session.switch_layer(names, False)
    mood = next(layer for layer in state.session.layers if layer.name == "mood")
    proposed = [NewSuggestion(state.session.document_id, mood.id, mood.labels[0].id, score=0.9)]
    suggestion_edits.add_suggestions(state.project, None, proposed, kind="rule", ref="test")
    QApplication.processEvents()
    assert view.right.suggestions.mapTo(view.right, QPoint()).y() < 60  # at the top
    state.suggested.reject_all()
    assert view.right.isHidden()
    view.toggle_guideline()
    assert view.right.isVisible() and view.right.guideline_shown
    view.toggle_guideline()
    assert view.right.isHidden()
    state.session.switch_layer(names, True)
    assert view.right.isVisible() and not view.folded("right")


def test_keys_of_labels_and_suggestions_work_after_a_click_on_a_button(view, qtbot):
    suggest(view.state, (0, 3, 0.9))
    following = button(view, "Next unlabelled")
    following.setFocus()

    qtbot.keyClick(following, "a")
    (bad,) = [
        id for id, (_layer, label) in view.state.session.label_of.items() if label.name == "bad"
    ]
    qtbot.keyClick(following, view.state.session.keys.by_label[bad])

    assert spans(view) == [("Ada", "PER")] and chip(view, "bad").isChecked()
    assert following.hasFocus()


def test_a_class_chip_shows_what_is_set(view):
    QTest.mouseClick(chip(view, "bad"), Qt.MouseButton.LeftButton)
    assert chip(view, "bad").isChecked() and not chip(view, "good").isChecked()

    QTest.mouseClick(chip(view, "bad"), Qt.MouseButton.LeftButton)
    assert not chip(view, "bad").isChecked()


def test_a_click_on_check_and_cross_decides_about_that_suggestion(view):
    suggest(view.state, (0, 3, 0.9), (8, 11, 0.8), (15, 20, 0.7))
    table = view.right.suggestions

    def click(row, column):
        QTest.mouseClick(
            table.viewport(),
            Qt.MouseButton.LeftButton,
            pos=table.visualRect(table.rows_model.index(row, column)).center(),
        )

    click(1, 1)
    assert spans(view) == [("Bob", "PER")]
    click(0, 2)
    assert [row.start for row in view.state.session.suggestions] == [15]


def test_without_the_right_to_write_suggestions_have_no_check_and_cross(
    state, open_view, monkeypatch
):
    suggest(state, (0, 3, 0.9))
    monkeypatch.setattr(type(state.session), "can_write", False)
    view = open_view(state)
    table = view.right.suggestions

    assert len(table.rows()) == 1
    assert (
        table.isColumnHidden(1)
        and table.isColumnHidden(2)
        and not button(view, "Reject all suggestions").isVisible()
    )


def test_a_span_is_deleted_and_stretched_by_mouse_alone(view, text):
    state = view.state
    for word in (0, 8):
        state.session.choose(None)
        state.session.label(
            next(id for id, (_l, label) in state.session.label_of.items() if label.name == "PER"),
            SpanTarget("text", word, word + 3),
        )
    table = view.right.spans
    row = table.visualRect(table.model().index(0, 0))
    cross = QPoint(row.right() - 14, row.center().y())

    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=cross)
    assert spans(view) == [("Bob", "PER")]
    state.session.choose(("gold", state.session.spans[0].id))
    text.span_resized.emit(
        8, 20
    )  # the result of dragging its end to the end of "Paris", see test_text_view
    assert spans(view) == [("Bob in Paris", "PER")] and text.boundaries_move


def test_a_row_of_spans_chooses_it_in_the_text(view, text):
    press(text, Key.Key_1)
    press(text, Key.Key_Escape)
    table = view.right.spans
    QTest.mouseClick(
        table.viewport(),
        Qt.MouseButton.LeftButton,
        pos=table.visualRect(table.rows_model.index(0, 0)).center(),
    )

    assert text.chosen == view.state.session.chosen == ("gold", view.state.session.spans[0].id)


def test_the_queue_shows_a_document_when_its_row_is_clicked_or_reached_by_arrows(view):
    queue = view.queue.list
    QTest.mouseClick(
        queue.viewport(),
        Qt.MouseButton.LeftButton,
        pos=queue.visualRect(queue.documents.index(2)).center(),
    )
    assert view.state.session.doc.document.key == "k2"

    press(queue, Key.Key_Down)
    assert view.state.session.doc.document.key == "k3"


# ---------------------------------------------------------------- display


def test_a_pair_shows_two_texts_and_the_first_is_called_text(view, text):
    view.state.session.open(view.state.queue.ids[-1])
    shown = [text for text in view._document_pane.texts if text.isVisible()]

    assert [widget.text.text for widget in shown] == ["It rains.", "The sun shines."]
    assert [widget.accessibleName() for widget in shown] == ["Text", "Second text"]
    view.state.session.open(view.state.queue.ids[0])
    assert [text.isVisible() for text in view._document_pane.texts] == [True, False]


def test_two_long_texts_share_all_the_room_and_a_short_one_takes_no_more_than_it_needs(
    view, text, filled, qtbot
):
    with filled.edit("Add a pair"):
        pair = Document(
            "long", (("text", "It rains. " * 400), ("text_b", "The sun shines. " * 300))
        )
        short = Document("mixed", (("text", "It rains."), ("text_b", "The sun shines. " * 300)))
        documents.add(filled.db, [Record(pair), Record(short)], source_id=filled.source("person"))

    def all_is_used() -> bool:
        return (
            sum(text.height() for text in view._document_pane.texts[:2])
            > view._document_pane._middle.geometry().height() - 80
        )

    for key in ("long", "mixed"):
        view.state.session.open(
            next(row.id for row in view.state.queue.rows(view.state.queue.ids) if row.key == key)
        )
        qtbot.waitUntil(all_is_used)
    assert view._document_pane.texts[0].height() < 60 < view._document_pane.texts[1].height()


def test_every_control_has_a_name(view):
    view.state.session.open(view.state.queue.ids[-1])
    view.toggle_guideline()
    nameless = []
    for widget in view.findChildren(QWidget):
        if widget.isVisible() and widget.focusPolicy() != Qt.FocusPolicy.NoFocus:
            access = QAccessible.queryAccessibleInterface(widget)
            if access is not None and not access.text(QAccessible.Text.Name):
                nameless.append(widget)

    assert not nameless


def tab_stops(view):
    """What Tab goes through after the buttons above the text, with rows of places on the page."""
    found, part = [], view.nextInFocusChain()
    while part is not view:
        if part.isVisible() and part.isEnabled() and part.focusPolicy() & Qt.FocusPolicy.TabFocus:
            at = part.mapTo(view, part.rect().center())
            found.append((part.accessibleName(), at.y() // 12, at.x()))
        part = part.nextInFocusChain()
    names = [name for name, *_place in found]
    return found[names.index("Next document") + 1 : names.index("Submit") + 1]


def test_tab_goes_down_the_labels_the_text_and_the_acts_as_on_the_screen(view, state):
    project, ids = state.project, {layer.name: layer.id for layer in state.session.layers}
    labels.add_layer(project, "summary", "text")
    labels.add_label(project, ids["mood"], "mixed")  # made after all other widgets
    labels.add_label(project, ids["names"], "ORG")
    QApplication.processEvents()

    stops = tab_stops(view)

    assert [name for name, *_place in stops][:-5] == [
        *("good", "bad", "mixed", "Text", "summary", "PER", "LOC", "TIME", "ORG", "More labels")
    ]
    stops = [stop for stop in stops if stop[0] != "More labels"]  # beside the first line of labels
    assert stops == sorted(stops, key=lambda stop: stop[1:])


def test_both_sides_fold_and_that_is_remembered(view, context):
    view.fold("left")
    view.fold("right")
    assert not view.queue.isVisible() and not view.right.isVisible()
    assert context.settings.window["annotate.left"] is True

    view.fold("left")
    assert view.queue.isVisible()


def test_the_guideline_opens_beside_the_text_even_where_that_side_was_folded(view):
    view.fold("right")
    view.toggle_guideline()

    assert view.guideline_shown and view.right.isVisible()
    view.toggle_guideline()
    assert not view.guideline_shown


def test_without_documents_and_without_labels_a_button_leads_on(view, context):
    from workbench.operations.documents import corpus
    from workbench.ui.widgets.empty import EmptyState

    corpus.delete_documents(view.state.project, list(view.state.queue.ids))
    empty = view._stack.currentWidget()
    assert isinstance(empty, EmptyState)
    QTest.mouseClick(
        empty.findChild(QWidget, "", Qt.FindChildOption.FindDirectChildrenOnly) or empty,
        Qt.MouseButton.LeftButton,
    )

    view.state.project.undo()
    for layer in list(view.state.session.layers):
        labels.delete_layer(view.state.project, layer.id)
    assert view._stack.currentIndex() == 2


def test_the_keys_of_skip_and_submit_show_where_there_is_room(view, qtbot):
    view.resize(1400, 700)
    qtbot.waitUntil(lambda: all(cap.isVisible() for cap in view._actions.caps))

    view.resize(900, 700)
    qtbot.waitUntil(lambda: not any(cap.isVisible() for cap in view._actions.caps))


def test_without_documents_enter_leads_to_the_import(view, context):
    from workbench.operations.documents import corpus

    corpus.delete_documents(view.state.project, list(view.state.queue.ids))
    view.take_focus()

    press(QApplication.focusWidget(), Key.Key_Return)
    assert context.gone == [("data", {"dialog": "import"})]


def test_what_is_left_to_do_is_counted(view):
    view.state.session.switch_layer(
        next(layer.id for layer in view.state.session.layers if layer.name == "names"), False
    )
    press(view.first, Key.Key_Q)
    press(view.first, Key.Key_Return)

    assert view.queue._count.text() == "1 / 6"


def test_progress_is_shown_of_each_layer_that_is_labelled(view, qtbot):
    press(view.first, Key.Key_Q)
    press(view.first, Key.Key_Return)
    qtbot.waitUntil(lambda: "mood 1 / 5 · names 0 / 5 · pairs 0 / 1" in shown_texts(view))

    for name in ("names", "pairs"):
        (id,) = [layer.id for layer in view.state.session.layers if layer.name == name]
        view.state.session.switch_layer(id, False)
    assert not any("mood 1 / 5" in text for text in shown_texts(view))


def shown_texts(view) -> list[str]:
    labels = view.queue.findChildren(QLabel)
    return [label.text() for label in labels if label.isVisible()]


def test_two_thousand_spans_are_shown_and_one_more_is_quick(view, qtbot, state):
    import time

    from workbench.storage.documents import documents
    from workbench.text.dataset import Record
    from workbench.text.document import Document
    from workbench.text.spans import Span

    text = "the tram from harbour gate was late again " * 2400
    marks = {"names": tuple(Span(n * 45, n * 45 + 8, "PER") for n in range(2000))}
    with state.project.edit("Add"):
        source = state.project.source("person")
        documents.add(
            state.project.db,
            [Record(Document("long", (("text", text),)), {"names": "submitted"}, {}, marks)],
            source_id=source,
        )
    view.state.session.open(list(annotate.queue(state.project))[-1])
    view.repaint()
    assert len(view.state.session.spans) == 2000

    start = time.thread_time()
    press(view.first, Key.Key_2)
    view.first.viewport().repaint()
    assert len(view.state.session.spans) == 2001
    # the benchmark measures; this only catches gross regressions
    assert time.thread_time() - start < 0.2


def test_the_whole_page_closes_without_a_trace(view, state):
    state.close()
    view.deleteLater()
    QPoint()
    assert not state.project.changed.listeners


# ---------------------------------------------------------------- the queue


def titles(menu) -> dict[str, object]:
    return {action.text().replace("&", ""): action for action in menu.actions()}


def test_the_filter_menu_narrows_the_queue_and_a_button_takes_each_filter_away(view, qtbot):
    menu = view.queue._menu
    menu.fill()
    titles(titles(menu)["State"].menu())["pending"].trigger()
    menu.fill()
    titles(menu)["Unlabelled"].trigger()
    qtbot.waitUntil(lambda: chip_of_filter(view, "Unlabelled") is not None)
    assert len(view.state.queue.ids) == 6 and chip_of_filter(view, "State: pending") is None

    menu.fill()
    layers = titles(titles(menu)["Label"].menu())
    titles(layers["mood"].menu())["good"].trigger()
    assert len(view.state.queue.ids) == 0
    assert view.queue._none.isVisible() and not view.queue.list.isVisible()

    qtbot.waitUntil(lambda: chip_of_filter(view, "Label: good") is not None)
    press(chip_of_filter(view, "Label: good"), Key.Key_Space)
    assert len(view.state.queue.ids) == 6 and view.queue.list.isVisible()


def chip_of_filter(view, name: str) -> Button | None:
    wanted = f"Remove the filter {name}"
    shown = (widget for widget in view.queue.findChildren(Button) if widget.isVisible())
    return next((widget for widget in shown if widget.accessibleName() == wanted), None)


def test_the_open_document_is_the_row_that_is_chosen_and_in_view(view, qtbot):
    with view.state.project.edit("many"):
        records = [Record(Document(f"m{n:03}", (("text", "x"),))) for n in range(300)]
        documents.add(
            view.state.project.db,
            records,
            source_id=view.state.project.source("person"),
        )
    listed = view.queue.list

    def shown() -> bool:
        index = listed.currentIndex()
        box = listed.visualRect(index)
        return (
            listed.documents.ids[index.row()] == view.state.session.document_id
            and listed.selectionModel().isSelected(index)
            and listed.viewport().rect().contains(box)
        )

    for change in (
        lambda: view.state.session.open(view.state.queue.ids[250]),
        lambda: view.state.queue.narrow(state="pending"),
        lambda: view.state.queue.step(1),
        lambda: view.state.submission.submit(),
        lambda: view.state.queue.skip(),
        lambda: view.state.queue.clear_filters(),
        lambda: view.state.session.open(view.state.queue.ids[3]),
    ):
        change()
        qtbot.waitUntil(shown)


def test_the_number_of_documents_that_pass_stands_above_the_queue(view):
    view.state.queue.narrow(state="pending", split="none")
    suggest(view.state, (0, 3, 0.9))
    view.state.queue.narrow(suggested=True)

    assert view.queue._count.text() == "1 of 6"
    message = view.queue._count.toolTip()
    assert "1 of 6 documents matches the filter" in message and "mood: 0 of" in message


# ---------------------------------------------------------------- find


def test_find_frames_the_matches_and_chooses_the_current_one(view, text, qtbot):
    view.find()
    assert view._find.line.hasFocus()
    with qtbot.waitSignal(view.state.finder.changed):
        QTest.keyClicks(view._find.line, "a")
    qtbot.waitUntil(lambda: view._find.count_text() == "1 of 3")
    assert text.selection == (0, 1)
    press(view._find.line, Key.Key_Return)
    assert view._find.count_text() == "2 of 3" and text.selection == (2, 3)

    press(view._find.line, Key.Key_Escape)
    assert not view._find.isVisible() and text.hasFocus() and text.selection == (2, 3)


def test_a_match_is_labelled_by_a_key_after_escape(view, text, qtbot):
    view.state.finder.open("bob", "text", 0)
    view.leave_find()
    press(text, Key.Key_1)

    assert spans(view) == [("Bob", "PER")]


def test_find_takes_over_a_few_chosen_words_and_f3_goes_on_from_the_caret(view, text):
    text.select(0, 3)
    view.find()
    assert view.state.finder.text == "Ada" and view._find.count_text() == "1 of 1"
    view.state.finder.set(text="a")
    text.select(10, 10)
    view.find_step(1)
    assert text.selection == (16, 17)
    text.select(0, 21)
    view.find()
    assert view.state.finder.text == "Ada met Bob in Paris."


def test_escape_in_the_text_closes_the_search_first(view, text):
    view.state.finder.open("bob", "text", 0)
    text.setFocus()
    press(text, Key.Key_Escape)

    assert not view._find.isVisible() and text.selection == (8, 11)


def test_the_search_goes_along_to_another_document(view, text):
    view.state.finder.open("a", "text", 0)
    view.state.queue.step(1)  # The 42 tram was late.

    assert view._find.count_text() == "1 of 3" and text.selection == (9, 10)


@pytest.mark.parametrize(
    ("content", "wanted", "place"),
    [
        ("👍👍🏽 tram 🚋 tram", "tram", (4, 8)),  # UTF-16 would say 7
        ("נסענו באוטובוס 42 הביתה", "42", (15, 17)),
        ("Ride وصل الباص home", "الباص", (9, 14)),
    ],
)
def test_what_is_framed_are_the_letters_that_were_found(view, text, content, wanted, place):
    """Only pixels of the match and its surroundings are painted differently than before."""
    with view.state.project.edit("another"):
        record = Record(Document("another", (("text", content),)))
        documents.add(
            view.state.project.db,
            [record],
            source_id=view.state.project.source("person"),
        )
    view.state.session.open(view.state.queue.ids[-1])
    view.queue.list.setFocus()
    QApplication.processEvents()
    before = text.viewport().grab().toImage()
    view.state.finder.open(wanted, "text", 0)
    assert text.selection == place
    text.select(len(content), len(content), show=False)  # only the frames remain
    after = text.viewport().grab().toImage()

    ratio = after.devicePixelRatio()
    changed = [
        x / ratio
        for x in range(0, after.width(), 2)
        if any(after.pixel(x, y) != before.pixel(x, y) for y in range(0, after.height(), 2))
    ]
    result = view.state.finder.found["text"]
    boxes = [
        text.rect_of(at)
        for start, end in zip(result.starts, result.ends, strict=True)
        for at in range(start, end)
    ]
    low = min(min(box.left(), box.right()) for box in boxes)
    high = max(max(box.left(), box.right()) for box in boxes)
    letter = 24  # pixels: the right edge of the last letter is that of a run, not of a caret
    assert low - letter <= min(changed) and max(changed) <= high + letter


def test_with_both_sides_folded_the_text_stands_in_the_middle(view, text, qtbot):
    view.resize(1300, 700)
    view.fold("left")
    view.fold("right")

    def margins() -> tuple[int, int]:
        left = text.mapTo(view._document_pane, QPoint(0, 0)).x()
        return left, view._document_pane.width() - left - text.width()

    qtbot.waitUntil(lambda: margins()[0] > 100)
    assert text.width() == text.maximumWidth() and abs(margins()[0] - margins()[1]) <= 1


def test_a_guideline_has_the_height_that_few_spans_do_not_need(view):
    view.toggle_guideline()
    QApplication.processEvents()

    guideline = next(
        part
        for part in view.right.findChildren(QWidget)
        if part.accessibleName() == "Guideline text"
    )
    assert guideline.height() > view.right.height() * 0.6
    assert view.right.width() > 300


@pytest.mark.parametrize(
    ("width", "shown"), [(1100, (True, True)), (740, (True, False)), (500, (False, False))]
)
def test_sides_fold_where_the_text_has_no_room_and_come_back(view, width, shown):
    view.layout().setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
    view.setMinimumWidth(0)
    view.resize(width, 700)
    QApplication.processEvents()
    assert (view.queue.isVisible(), view.right.isVisible()) == shown

    view.resize(1100, 700)
    assert view.queue.isVisible() and view.right.isVisible()


def test_a_side_that_folded_for_want_of_room_can_be_unfolded(view, context):
    view.layout().setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
    view.setMinimumWidth(0)
    view.resize(740, 700)
    QApplication.processEvents()
    assert view.folded("right")

    view.fold("right")

    assert not view.folded("right") and not context.settings.window.get("annotate.right")


def test_many_labels_fill_the_room_that_a_short_text_leaves(view, qtbot):
    layer = next(layer for layer in view.state.session.layers if layer.name == "names")
    with view.state.project.edit("Add labels"):
        for number in range(77):
            labels.add_label(view.state.project, layer.id, f"intent number {number}")
    view.resize(1100, 700)
    bar = next(bar for bar in view._document_pane._bars.values() if len(bar.chips) > 70)
    qtbot.waitUntil(lambda: bar.most_lines > 4)

    shown = [chip for chip in bar.chips if chip.isVisible()]
    assert len(shown) > 15 and bar.height() > 4 * 28
    assert view._document_pane.text.height() >= view._document_pane.text.content_height()

    view.state.project.undo()


def test_the_palette_opens_below_the_selection(view, text):
    text.select(12, 15)
    press(text, Key.Key_Slash)
    palette, word = view.findChild(LabelPalette), text.rect_of(12)
    at = text.viewport().mapTo(view, word.bottomLeft().toPoint())
    assert palette.isVisible() and palette.x() == at.x()
    assert at.y() <= palette.y() <= at.y() + 40
    press(palette.findChild(QLineEdit), Key.Key_Return)
    assert len(spans(view)) == 1 and text.hasFocus()


def test_sublabels_fold_and_their_keys_still_work(view, text):
    ids = {label.name: id for id, (_layer, label) in view.state.session.label_of.items()}
    label_groups.set_parent(view.state.project, [ids["LOC"]], ids["PER"])
    button = next(item for item in view.findChildren(Button) if item.text() == "\N{MINUS SIGN}")
    button.setFocus()
    press(button, Key.Key_Space)
    names = [item.accessibleName() for item in view.findChildren(ChipButton) if item.isVisible()]
    assert "PER" in names and "LOC" not in names
    assert view.focusWidget().accessibleName() == "Show 1 sublabel of PER"

    text.setFocus()
    press(text, Key.Key_2)
    assert spans(view) == [("Ada", "LOC")]
    (layer,) = (layer for layer in view.state.session.layers if layer.name == "names")
    assert folded_labels.folded(view.state.context, layer) == {ids["PER"]}


def test_sublabels_of_large_layers_are_folded_until_the_user_unfolds_them(context):
    project = context.project
    labels.add_layer(project, "many", "span", labels=[f"L{n}" for n in range(30)])
    ids = [label.id for label in labels.layers(project)[-1].labels]
    label_groups.set_parent(project, ids[10:20], ids[0])
    label_groups.set_parent(project, ids[20:], ids[1])
    layer = labels.layers(project)[-1]
    assert folded_labels.folded(context, layer) == set(ids[:2])
    folded_labels.fold(context, [layer.label("L1")], False)
    assert folded_labels.folded(context, layer) == {ids[0]}


def test_a_window_can_be_lower_than_many_labels_need(state, open_view, qtbot):
    labels.add_layer(state.project, "many", "span", labels=[f"Label {n}" for n in range(90)])
    view = open_view(state, height=1200)
    qtbot.waitUntil(lambda: len(shown_chips(view)) > 60)
    assert view.minimumSizeHint().height() < 600
    view.resize(1100, 600)
    qtbot.waitUntil(lambda: len(shown_chips(view)) < 60)
    assert view.height() == 600


def test_label_bars_scroll_before_they_hide_three_lines_of_text(state, open_view, qtbot):
    for number in range(6):
        names = [f"Label {number}.{n}" for n in range(40)]
        labels.add_layer(state.project, f"layer {number}", "span", labels=names)
    view = open_view(state)
    view.resize(1100, 640)
    text = view.document_pane.text
    text.set_zoom(150)
    text.set_text("many words of a text " * 60, ())
    view.document_pane._fit_bars()
    QApplication.processEvents()
    stack = view.document_pane._spans

    assert text.height() >= text.height_of_lines(3) > 0
    assert stack.height() < stack.needed()
    last = stack.bars[-1].chips[0]
    last.setFocus()
    assert stack.viewport().rect().contains(last.mapTo(stack.viewport(), last.rect().center()))


def test_two_lines_of_large_text_stay_beside_layers_of_every_kind(state, open_view):
    for kind in ("class", "tag", "span", "score", "text"):
        names = () if kind in ("score", "text") else ("A", "B")
        labels.add_layer(state.project, f"new {kind}", kind, labels=names)
    view = open_view(state)
    view.resize(1100, 560)
    view._zoomed(300)
    text, tokens, stack = view.first, view.document_pane.tokens, view.document_pane._values
    text.set_text("many words of a text " * 60, ())
    text.setFocus()
    view.document_pane._fit()
    QApplication.processEvents()

    captions = text.height_of_lines(3) - text.height_of_lines(2) - text.rect_of(0).height()
    assert text.viewport().height() >= text.height_of_lines(2) - captions
    assert stack.height() < sum(e.height_of(low=False) for e in stack.editors.values())
    field = list(stack.editors.values())[1].field
    field.setFocus()
    assert stack.viewport().rect().contains(field.mapTo(stack.viewport(), field.rect().center()))
    tokens.grid.setFocus()
    QApplication.processEvents()
    assert tokens.height() >= min(tokens.grid.row_height(), text.height())


def test_values_have_their_usual_height_where_there_is_room(state, open_view):
    labels.add_layer(state.project, "sum", "text")
    view = open_view(state, height=1000)
    (editor,) = view.document_pane._values.editors.values()

    assert view.document_pane._values.height() == editor.height_of(low=False) == editor.height()


def test_large_text_takes_the_room_of_the_header_and_gives_it_back(state, open_view):
    view = open_view(state)
    text, header, layers = view.first, view._header, view.head.layers
    text.set_text("many words of a text " * 60, ())
    view.resize(1100, 540)
    before = header.isVisible(), layers.isVisible()

    view._zoomed(300)
    QApplication.processEvents()

    assert before == (True, False) and (header.isVisible(), layers.isVisible()) == (False, True)
    names = [action.text() for action in layers.menu().actions() if action.isCheckable()]
    assert names[:3] == ["mood", "names", "pairs"]
    captions = text.height_of_lines(3) - text.height_of_lines(2) - text.rect_of(0).height()
    assert text.viewport().height() >= text.height_of_lines(3) - captions
    view._zoomed(100)
    assert header.isVisible() and not layers.isVisible()


def shown_chips(view) -> list[ChipButton]:
    return [item for item in view.findChildren(ChipButton) if item.isVisible()]


def test_in_a_low_window_the_instant_model_is_a_title_with_its_button(state, open_view):
    view = open_view(state)
    side, (_title, on, line) = view.queue, view.instant.findChildren(QLabel)[:3]
    side.resize(300, 300)
    low = line.isVisibleTo(view.instant)
    side.resize(300, 700)

    assert (low, line.isVisibleTo(view.instant)) == (False, True)
    assert on.toolTip() == line.text() != ""
