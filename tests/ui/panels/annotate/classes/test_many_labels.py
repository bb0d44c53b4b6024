"""A class layer with many labels: the first ones by key, the others by search."""

from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QLabel, QLineEdit, QListView, QListWidget

from tests.ui.panels.annotate.test_session import key_of, layer_id
from workbench.operations.annotation import annotate, document_view
from workbench.operations.schema import labels
from workbench.text.labels import Label
from workbench.ui.panels.annotate.state import Desk
from workbench.ui.style import theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.chip import ChipButton
from workbench.ui.widgets.controls.label_palette import LabelPalette

NAMES = tuple(f"topic_{number:02}" for number in range(30))


@pytest.fixture
def many(filled, context):
    """Annotate with a layer of 30 classes alone; its last two have been given."""
    layer = labels.add_layer(filled, "topic", "class", labels=NAMES)
    ids = dict(zip(NAMES, (item.id for item in labels.layers(filled)[-1].labels), strict=True))
    documents = [row.id for row in annotate.queue_page(filled, annotate.queue(filled), ())]
    for document, name in zip(documents[2:5], (NAMES[29], NAMES[29], NAMES[28]), strict=True):
        annotate.set_class(filled, document, ids[name])
    state = Desk(context)
    for other in ("mood", "names", "pairs"):
        state.session.switch_layer(layer_id(state, other), False)
    yield SimpleNamespace(state=state, layer=layer, ids=ids)
    state.close()


def first(many):
    (layer,) = many.state.session.active
    return many.state.session.keys.first_labels(layer)


def names_of(many, ids):
    known = {id: name for name, id in many.ids.items()}
    return [known[id] for id in ids]


def key_names(many):
    known = {id: name for name, id in many.ids.items()}
    keys = many.state.session.keys.by_key
    return {key: known[keys[key]] for key in "12345" if key in keys}


def test_without_a_model_the_most_frequent_classes_come_first_with_digits(many):
    likely = names_of(many, first(many).likely)

    assert likely == ["topic_29", "topic_28", "topic_00", "topic_01", "topic_02"]
    assert first(many).chances == {} and first(many).recent == ()
    assert list(key_names(many).values()) == likely


def test_the_model_in_the_loop_puts_the_most_probable_classes_first(many, monkeypatch):
    chances = [(many.ids[name], 0.5 - n / 10) for n, name in enumerate(reversed(NAMES[:5]))]
    monkeypatch.setattr(many.state.instant, "class_chances", lambda _layer: chances)
    many.state.queue.step(1)

    assert names_of(many, first(many).likely) == [*reversed(NAMES[:5])]
    assert first(many).chances == dict(chances)


def test_the_order_stays_while_a_document_is_open_and_the_latest_come_with_the_next(many):
    before = first(many)
    many.state.session.label(many.ids["topic_17"])
    assert first(many) == before and many.state.session.marked == {many.ids["topic_17"]}

    many.state.queue.step(1)
    assert names_of(many, first(many).recent) == ["topic_17"]
    assert many.state.session.keys.by_label[many.ids["topic_17"]] == "q"


def test_beside_spans_the_probable_classes_have_letters(many):
    many.state.session.switch_layer(layer_id(many.state, "names"), True)
    keys = many.state.session.keys.by_key

    assert [keys[key] for key in "qwert"] == list(first_of(many, "topic").likely)
    assert {keys[key] for key in "123"}.isdisjoint(many.ids.values())


def first_of(many, name):
    (layer,) = [layer for layer in many.state.session.active if layer.name == name]
    return many.state.session.keys.first_labels(layer)


def chips(view):
    return {chip.text(): chip for chip in view.findChildren(ChipButton) if chip.isVisible()}


def test_the_rows_keep_their_place_from_document_to_document(many, open_view, monkeypatch):
    view = open_view(many.state)
    places = []
    for step in range(3):
        chances = [(id, 0.3) for id in list(many.ids.values())[4 * step : 4 * step + 5]]
        monkeypatch.setattr(
            many.state.instant, "class_chances", lambda _layer, found=chances: found
        )
        many.state.queue.step(1)
        QTest.qWait(1)
        shown = chips(view)
        parts = (shown[NAMES[4 * step]], shown[NAMES[4 * step + 4]], view.document_pane.text)
        places.append(tuple(part.mapTo(view, part.rect().topLeft()).y() for part in parts))

    assert len(set(places)) == 1
    assert {"one of 30", "Most probable"} <= {*said(view)} and said(view).count("0.30") == 5


def field(view):
    return next(
        line for line in view.findChildren(QLineEdit) if line.accessibleName() == "Find a class"
    )


def results(view):
    shown = [
        box for box in view.findChildren(QListView) if box.accessibleName() == "Matching labels"
    ]
    return [box for box in shown if box.isVisible()]


def said(view):
    return [label.text() for label in view.findChildren(QLabel) if label.isVisible()]


def test_a_digit_gives_a_class_and_the_search_any_other(many, open_view):
    view = open_view(many.state)
    QTest.keyClick(view.first, Qt.Key.Key_2)
    assert (
        many.state.session.marked == {many.ids["topic_28"]} and chips(view)["topic_28"].isChecked()
    )

    QTest.keyClick(view.first, Qt.Key.Key_Slash)
    assert field(view).hasFocus() and not results(view)
    QTest.keyClicks(field(view), "topic 1")
    assert len(results(view)) == 1 and "topic_28" not in chips(view)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Return):
        QTest.keyClick(field(view), key)
    QTest.qWait(10)
    assert (
        many.state.session.marked == {many.ids["topic_11"]} and chips(view)["topic_11"].isChecked()
    )
    assert key_of(many.state) == "k0" and view.first.hasFocus() and field(view).text() == ""


def test_escape_leaves_the_search_and_enter_in_an_empty_one_gives_no_class(many, open_view):
    view = open_view(many.state)
    QTest.keyClick(view.first, Qt.Key.Key_Slash)
    QTest.keyClick(field(view), Qt.Key.Key_Return)
    assert many.state.session.marked == set()

    QTest.keyClicks(field(view), "topic")
    QTest.keyClick(field(view), Qt.Key.Key_Escape)
    assert view.first.hasFocus() and field(view).text() == "" and not results(view)
    assert many.state.session.marked == set() and "topic_28" in chips(view)


def test_the_search_reads_descriptions_and_says_when_nothing_matches(many, open_view):
    labels.describe_label(many.state.project, many.ids["topic_23"], "Money came back")
    view = open_view(many.state)
    field(view).setFocus()
    QTest.keyClicks(field(view), "wombat")
    assert "No label matches “wombat”." in said(view)

    field(view).clear()
    QTest.keyClicks(field(view), "money")
    QTest.keyClick(field(view), Qt.Key.Key_Return)
    assert many.state.session.marked == {many.ids["topic_23"]}


def test_enter_in_the_search_counts_as_a_key(many, open_view):
    view, here = open_view(many.state), many.state.session.document_id
    many.state.submission.set_goes_on(True)
    QTest.keyClick(view.first, Qt.Key.Key_Slash)
    QTest.keyClicks(field(view), "topic 19")
    QTest.keyClick(field(view), Qt.Key.Key_Return)

    assert many.state.session.document_id != here and view.first.hasFocus()


def test_beside_other_layers_the_key_of_the_search_finds_the_labels_of_all(many, open_view):
    view = open_view(many.state)
    many.state.session.switch_layer(layer_id(many.state, "names"), True)
    QTest.keyClick(view.first, Qt.Key.Key_Slash)

    assert view.findChild(LabelPalette).isVisible() and not field(view).hasFocus()


def test_turning_the_model_off_in_the_card_shows_the_most_frequent_classes(
    many, open_view, monkeypatch
):
    state = many.state
    on = SimpleNamespace(layer=state.session.active[0], close=lambda: None, order=None)
    state.instant.update(model=on, line="Learned from 9 documents.")
    chances = [(many.ids[name], 0.3) for name in NAMES[:5]]
    monkeypatch.setattr(
        state.instant, "class_chances", lambda _layer: chances if state.instant.model else []
    )
    state.session.keys.first_labels(state.session.active[0])
    view = open_view(state)
    assert {"Most probable", "Learned from 9 documents."} <= {*said(view)}

    (off,) = [b for b in view.document_pane.findChildren(Button) if b.text() == "Turn off"]
    QTest.mouseClick(off, Qt.MouseButton.LeftButton)
    assert state.instant.model is None and first(many).chances == {}
    assert "Most frequent" in said(view) and "0.30" not in said(view)
    assert list(key_names(many).values())[:2] == ["topic_29", "topic_28"]


def test_without_recent_labels_their_heading_is_hidden(many, open_view):
    view = open_view(many.state)
    assert "Recent" not in said(view)

    many.state.session.label(many.ids["topic_17"])
    many.state.queue.step(1)
    QTest.qWait(10)
    assert "Recent" in said(view)


def test_the_button_in_the_card_names_the_instant_model(many, open_view):
    view = open_view(many.state)

    names = [button.text() for button in view.document_pane.findChildren(Button)]
    assert "Turn on instant model" in names


def test_in_a_low_window_only_whole_rows_are_shown_and_the_text_stays(many, open_view):
    view = open_view(many.state)
    view.resize(1100, 700)
    QTest.qWait(10)
    usual = view.document_pane.text.height()
    for height in (520, 420, 340):
        view.resize(1100, height)
        QTest.qWait(10)
        rows = [chip for name, chip in chips(view).items() if name.startswith("topic")]
        assert all(chip.height() >= 24 for chip in rows) and len(rows) <= 5
        assert view.document_pane.text.height() > 40
    view.resize(1100, 700)
    QTest.qWait(10)
    assert len(chips(view)) == 5 and view.document_pane.text.height() == usual


def goes_on(view):
    name = "A key also submits and goes on"
    return next(box for box in view.findChildren(QCheckBox) if box.accessibleName() == name)


def test_a_key_also_submits_and_goes_on_and_undo_returns_to_the_document(many, open_view):
    view, state, here = open_view(many.state), many.state, many.state.session.document_id
    goes_on(view).click()
    QTest.keyClick(view.first, Qt.Key.Key_2)

    assert state.session.document_id != here
    (submitted,) = annotate.queue_page(state.project, [here], [many.layer])
    assert submitted.state == "submitted"
    state.project.undo()
    assert state.session.document_id == here and state.session.marked == set()
    assert state.session.state_of_document == "pending"


def test_a_click_with_the_mouse_gives_the_class_and_stays(many, open_view):
    view, here = open_view(many.state), many.state.session.document_id
    goes_on(view).click()
    QTest.mouseClick(chips(view)["topic_28"], Qt.MouseButton.LeftButton)

    assert many.state.session.document_id == here and many.state.session.marked == {
        many.ids["topic_28"]
    }
    QTest.keyClick(view.first, Qt.Key.Key_2)  # the same class: submitted, not cleared
    assert many.state.session.document_id != here
    assert many.ids["topic_28"] in {
        mark.label_id for mark in document_view.view(many.state.project, here).marks
    }


def test_whether_a_key_goes_on_is_kept_for_the_project(many, context, open_view):
    assert not many.state.submission.goes_on
    many.state.submission.set_goes_on(True)
    again = Desk(context)

    assert again.submission.goes_on
    again.close()


def test_a_key_goes_on_only_in_the_one_layer_with_many_classes(many, open_view):
    view = open_view(many.state)
    many.state.submission.set_goes_on(True)
    assert goes_on(view).isVisible() and goes_on(view).isChecked()

    many.state.session.switch_layer(layer_id(many.state, "names"), True)
    here = many.state.session.document_id
    assert not goes_on(view).isVisible()
    QTest.keyClick(view.first, Qt.Key.Key_Q)
    assert many.state.session.document_id == here and many.state.session.marked == {
        many.ids["topic_29"]
    }


def lines(view, name):
    shown = [box for box in view.findChildren(QListWidget) if box.accessibleName() == name]
    return [shown[0].item(at).text() for at in range(shown[0].count())], shown[0]


@pytest.fixture
def topical(filled, context):
    """As `many`, with classes of two topics and one of none."""
    names = [f"{topic}_{number}" for topic in ("trip", "card") for number in range(12)]
    given = [Label("trip"), Label("card"), *(Label(name, parent=name[:4]) for name in names)]
    layer = labels.add_layer(filled, "topic", "class", labels=[*given, Label("else")])
    ids = {label.name: label.id for label in labels.layers(filled)[-1].labels}
    state = Desk(context)
    for other in ("mood", "names", "pairs"):
        state.session.switch_layer(layer_id(state, other), False)
    yield SimpleNamespace(state=state, layer=layer, ids=ids)
    state.close()


def test_all_classes_stand_by_topic_and_a_click_gives_one(topical, open_view):
    view = open_view(topical.state, height=1000)
    assert lines(view, "Topics")[0] == ["trip", "card", "Other"]
    lines(view, "Topics")[1].setCurrentRow(1)
    names, shown = lines(view, "Classes of the topic")
    assert names == ["card", *(f"card_{number}" for number in range(12))]

    place = shown.visualItemRect(shown.item(2)).center()
    QTest.mouseClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert topical.state.session.marked == {topical.ids["card_1"]} and not shown.hasFocus()


def test_classes_of_a_topic_are_chosen_by_keys_and_enter_goes_on(topical, open_view):
    view, here = open_view(topical.state, height=1000), topical.state.session.document_id
    topical.state.submission.set_goes_on(True)
    shown = lines(view, "Classes of the topic")[1]
    shown.setFocus()
    QTest.keyClick(shown, Qt.Key.Key_Right)
    QTest.keyClick(shown, Qt.Key.Key_Return)

    given = {mark.label_id for mark in document_view.view(topical.state.project, here).marks}
    assert given == {topical.ids["trip_0"]} and topical.state.session.document_id != here


def test_without_topics_all_classes_stand_by_first_letter_in_its_colour(many, open_view):
    view = open_view(many.state, height=1000)

    assert lines(view, "Topics")[0] == ["T"] and len(lines(view, "Classes of the topic")[0]) == 30
    chip = chips(view)["topic_29"].grab().toImage()
    square = chip.pixelColor(13, chip.height() // 2).name()
    assert square == theme.label_colours(0).line.lower()


def test_the_numbers_of_documents_follow_the_labels(many, open_view):
    view = open_view(many.state, height=1000)
    assert documents_of(view, "topic_28") == 1
    many.state.session.label(many.ids["topic_28"])
    many.state.queue.step(1)

    assert documents_of(view, "topic_28") == 2


def documents_of(view, name):
    names, shown = lines(view, "Classes of the topic")
    return int(shown.item(names.index(name)).data(Qt.ItemDataRole.AccessibleTextRole).split()[-1])


def test_all_classes_keep_their_place_and_leave_the_text_room(many, open_view):
    view = open_view(many.state)
    for height in (1000, 742, 500):
        view.resize(1100, height)
        QTest.qWait(10)
        shown = lines(view, "Classes of the topic")[1]
        places = set()
        for _document in range(2):
            many.state.queue.step(1)
            QTest.qWait(1)
            places.add(
                (shown.isVisible(), shown.geometry().getRect(), view.document_pane.text.height())
            )
        assert len(places) == 1 and view.document_pane.text.height() > 70
        assert shown.isVisible() == (height > 500)


def test_the_classes_of_a_topic_fill_their_columns_from_the_first_line(many, open_view):
    view = open_view(many.state, height=1000)
    for width in (1000, 1100, 1237, 1500):
        view.resize(width, 1000)
        QTest.qWait(10)
        shown = lines(view, "Classes of the topic")[1]
        places = [shown.visualItemRect(shown.item(at)) for at in range(shown.count())]

        assert places[0].topLeft().toTuple() == (0, 0) and places[0].width() >= 220
        assert max(place.right() for place in places) < shown.viewport().width()
    assert len({place.left() for place in places}) > 1
