"""The text view by keys and mouse: the selection is that of the stored text, in any script."""

import random

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from workbench.ui.widgets.text import caret, span_layout
from workbench.ui.widgets.text.scroll import LEFT, TOP
from workbench.ui.widgets.text.span_layout import TextSpan
from workbench.ui.widgets.text.view import TextView

NONE, ALT = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.AltModifier
RGB = QImage.Format.Format_RGB32
HEBREW = "האוטובוס 👩‍👩‍👧 הגיע מאוחר"
ARABIC = "وصل الباص رقم 42 متأخراً hello world نصف ساعة"


@pytest.fixture
def make(look, qtbot):
    def _make(text, spans=(), tokens=(), size=(600, 300)):
        view = TextView()
        qtbot.addWidget(view)
        view.resize(*size)
        with qtbot.waitExposed(view):
            view.show()
        view.set_text(text, tokens)
        view.set_spans(spans)
        view.setFocus()
        view.viewport().repaint()
        view.span_clicked.connect(lambda name: view.choose(name))
        return view

    return _make


def point_of(view, position: int, part: float = 0.5) -> QPoint:
    """A point on the character at `position`, `part` of its way across."""
    index, line, x = view.pieces.x_of(position)
    after = caret.following(view.pieces, position)
    other = view.pieces.x_of(after)[2] if view.pieces.locate(after)[1] is line else x + 8
    y = view.pieces.tops[index] + line.top + line.height / 2 - view.offset
    return QPoint(round(x + (other - x) * part + LEFT), round(y))


def drag(view, start: int, end: int, modifiers=Qt.KeyboardModifier.NoModifier):
    """Press on the character at `start`, release on the one before `end`."""
    last = caret.previous(view.pieces, end)
    QTest.mousePress(
        view.viewport(), Qt.MouseButton.LeftButton, modifiers, point_of(view, start, 0.2)
    )
    for part in (0.4, 0.8):
        event_at = point_of(view, last, part)
        QTest.mouseMove(view.viewport(), event_at)
        _move(view, event_at, modifiers)
    QTest.mouseRelease(
        view.viewport(), Qt.MouseButton.LeftButton, modifiers, point_of(view, last, 0.8)
    )


def _move(view, point, modifiers):
    from PySide6.QtCore import QEvent
    from PySide6.QtGui import QMouseEvent

    where = QPointF(point)
    view.mouseMoveEvent(
        QMouseEvent(
            QEvent.Type.MouseMove,
            where,
            where,
            Qt.MouseButton.NoButton,
            Qt.MouseButton.LeftButton,
            modifiers,
        )
    )


def press(view, *keys, modifiers=Qt.KeyboardModifier.NoModifier):
    for key in keys:
        QTest.keyClick(view, key, modifiers)


def chosen_text(view) -> str:
    start, end = view.selection
    return view.text.text[start:end]


# ---------------------------------------------------------------- mouse


def test_a_drag_chooses_whole_words_and_with_alt_characters(make):
    view = make("The 42 tram from Harbour Gate was late.")

    drag(view, 18, 27)
    assert chosen_text(view) == "Harbour Gate"

    view.select(0, 0)
    drag(view, 18, 27, Qt.KeyboardModifier.AltModifier)
    assert chosen_text(view) == "arbour Ga"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (HEBREW, "הגיע מאוחר"),
        (HEBREW, "👩‍👩‍👧"),
        (ARABIC, "رقم 42 متأخراً"),
        (ARABIC, "hello world"),
        (ARABIC, "متأخراً hello"),
    ],
)
def test_what_is_chosen_by_mouse_is_what_stands_in_the_stored_text(make, text, wanted):
    view, start = make(text), text.index(wanted)

    drag(view, start, start + len(wanted))

    assert chosen_text(view) == wanted


def test_no_drag_ever_cuts_a_grapheme(make):
    text = "e\u0301क्षि👩\u200d👩\u200d👧\U00012000é🇩🇪 " * 3
    view, draw = make(text), random.Random(1)
    view.select(0, 0)
    legal = [0]
    while (after := caret.following(view.pieces, legal[-1])) != legal[-1]:
        legal.append(after)

    assert len(legal) == 7 * 3 + 1
    for _ in range(30):
        point = QPointF(draw.randrange(400), draw.randrange(40))
        assert view.position_at(point) in legal


def test_a_double_click_chooses_the_word_and_a_third_click_the_sentence(make):
    view = make("One day. Two trams were late. Three.")
    place = point_of(view, 14)

    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert chosen_text(view) == "trams"

    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert chosen_text(view) == "Two trams were late."


def test_a_double_click_on_the_last_letter_still_means_its_word(make):
    view = make("alpha beta")
    QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=point_of(view, 4, 0.9))

    assert chosen_text(view) == "alpha"


def test_double_clicks_at_fixed_points_of_the_first_line_hit_its_first_words(make):
    view = make("alpha beta gamma delta epsilon zeta theta 0")
    collected = []
    for x in (20, 75, 130):
        QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(x, 16))
        collected.append(chosen_text(view))
        QTest.qWait(0)

    assert collected == ["alpha", "beta", "gamma"]
    assert LEFT <= 12 and TOP <= 6


def test_tokens_of_an_import_are_the_words(make):
    view = make("don't stop", tokens=((0, 2), (2, 5), (6, 10)))
    QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=point_of(view, 3))

    assert chosen_text(view) == "n't"


def test_a_click_chooses_a_span_and_a_second_the_one_beneath(make):
    outer, inner = TextSpan(0, 11, "VEHICLE", 0, 1), TextSpan(4, 6, "LINE", 1, 2)
    view = make("The 42 tram came", [outer, inner])
    seen = []
    for _ in range(3):
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=point_of(view, 4))
        seen.append(view.chosen)
        view._mouse.forget()

    assert seen == [inner.name, outer.name, inner.name]
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=point_of(view, 13))
    assert view.chosen is None


def test_a_drag_of_a_boundary_moves_it_by_word_and_with_alt_by_character(make):
    view = make("The 42 tram came late", [TextSpan(4, 6, "LINE", 0, 1)])
    resized = []
    view.span_resized.connect(lambda start, end: resized.append((start, end)))
    view.choose((span_layout.GOLD, 1))

    drag(view, 6, 10)  # dragging does not move boundaries unless the page enables it
    assert resized == [] and chosen_text(view) == "tram"
    view.boundaries_move = True
    for start, end, modifiers in ((6, 10, NONE), (6, 9, ALT), (4, 2, NONE)):
        view.select(0, 0)
        view.choose((span_layout.GOLD, 1))
        drag(view, start, end, modifiers)
        view._mouse.forget()
    assert resized == [(4, 11), (4, 9), (0, 6)] and view.selection is None


def test_the_boundary_held_is_that_of_the_chosen_span_in_right_to_left_text_too(make):
    view = make(ARABIC, [TextSpan(0, 3, "A", 0, 1)])
    view.boundaries_move = True
    at = [QPointF(view.rect_of(place).left(), view.rect_of(place).center().y()) for place in (0, 3)]

    assert [view._mouse.boundary_at(position) for position in at] == [None, None]
    view.choose((span_layout.GOLD, 1))
    assert [view._mouse.boundary_at(position)[1] for position in at] == [False, True]


def test_a_click_on_a_bar_or_caption_means_that_span(make):
    outer, inner = TextSpan(0, 11, "VEHICLE", 0, 1), TextSpan(4, 6, "LINE", 1, 2)
    view = make("The 42 tram came", [outer, inner])
    line = view.pieces.ensure(0).lines[0]
    lane = view.pieces.measures.lane
    place = QPoint(point_of(view, 4).x(), round(TOP + line.height + lane * 0.4))

    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert view.chosen == outer.name


# ---------------------------------------------------------------- keys


def test_home_end_and_arrows_go_where_they_go_everywhere(make):
    view = make("alpha beta\r\ngamma")

    press(view, Qt.Key.Key_End)
    assert view.caret == 10
    press(view, Qt.Key.Key_Right)
    assert view.caret == 12  # over CR LF as one step
    press(view, Qt.Key.Key_Left, Qt.Key.Key_Home)
    assert view.caret == 0
    press(view, Qt.Key.Key_End, modifiers=Qt.KeyboardModifier.ControlModifier)
    assert view.caret == 17


def test_shift_chooses_and_an_arrow_alone_lets_go_at_that_side(make):
    view = make("alpha beta")

    press(view, Qt.Key.Key_Right, Qt.Key.Key_Right, modifiers=Qt.KeyboardModifier.ShiftModifier)
    assert chosen_text(view) == "al"
    press(view, Qt.Key.Key_Right)
    assert (view.caret, view.selection) == (2, None)
    press(view, Qt.Key.Key_End, modifiers=Qt.KeyboardModifier.ShiftModifier)
    assert chosen_text(view) == "pha beta"


def test_control_and_arrows_step_by_word_unless_the_page_wants_those_keys(make):
    view = make("alpha beta gamma")
    press(view, Qt.Key.Key_Right, modifiers=Qt.KeyboardModifier.ControlModifier)
    assert view.caret == 6

    view.word_steps = False
    press(view, Qt.Key.Key_Right, modifiers=Qt.KeyboardModifier.ControlModifier)
    assert view.caret == 6
    press(
        view,
        Qt.Key.Key_Right,
        modifiers=Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier,
    )
    assert chosen_text(view) == "beta "


def test_the_left_key_goes_to_the_left_in_right_to_left_text(make):
    view = make("שלום abc")
    x = [view.pieces.x_of(view.caret)[2]]
    for _ in range(4):
        press(view, Qt.Key.Key_Left)
        x.append(view.pieces.x_of(view.caret)[2])

    assert x == sorted(x, reverse=True) and view.caret == 4


def test_up_and_down_keep_to_their_column_over_short_lines(make):
    view = make("a long first line\nab\nanother long line")
    view.select(12, 12)
    x = view.goal_x

    press(view, Qt.Key.Key_Down)
    assert view.caret == 20  # the end of "ab"
    press(view, Qt.Key.Key_Down)
    assert abs(view.pieces.x_of(view.caret)[2] - x) < 8
    press(view, Qt.Key.Key_Up, Qt.Key.Key_Up)
    assert view.caret == 12


def test_page_keys_go_through_a_long_text_and_stop_at_its_ends(make):
    view = make("word " * 4000)
    press(view, Qt.Key.Key_PageDown)
    first = view.caret
    press(view, Qt.Key.Key_PageUp)
    assert first > 100 and view.caret == 0

    press(view, Qt.Key.Key_End, modifiers=Qt.KeyboardModifier.ControlModifier)
    assert view.caret == 20_000
    view.viewport().repaint()
    assert view.verticalScrollBar().value() == view.verticalScrollBar().maximum()


def test_the_target_is_the_chosen_text_else_the_word_at_the_caret(make):
    view = make("alpha beta")

    assert view.target == (0, 5)
    view.select(5, 5)
    assert view.target == (0, 5)
    view.select(6, 6)
    assert view.target == (6, 10)
    view.select(2, 8)
    assert view.target == (2, 8)
    view.select(5, 10)
    assert view.target == (6, 10)  # space at the ends is not included
    assert make("  ").target is None


def test_a_caret_step_lets_a_chosen_span_go(make):
    view = make("alpha beta", [TextSpan(0, 5, "A", 0, 1)])
    view.choose(("gold", 1))
    press(view, Qt.Key.Key_Right)

    assert view.chosen is None


# ---------------------------------------------------------------- scrolling, zoom, access


def test_what_stands_at_the_top_stays_there_while_heights_settle(make, qtbot):
    text = " ".join(f"w{number}" for number in range(20_000))
    view = make(text, [TextSpan(n * 40, n * 40 + 6, "A", 0, n) for n in range(2000)])
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum() // 2)
    view.viewport().repaint()
    top = view.position_at(QPointF(LEFT, 5))

    qtbot.waitUntil(lambda: view.pieces.is_settled, timeout=10_000)
    view.viewport().repaint()
    assert (
        abs(view.position_at(QPointF(LEFT, 5)) - top) < 120
    )  # the true line may replace a guessed one


def test_the_screen_shows_what_a_whole_paint_would_after_partial_ones(make, qtbot):
    """The pixels on the screen, against those of the view painted anew, after 60 random acts."""
    draw = random.Random(5)
    words = " ".join(draw.choices(("tram", "gate", "محطة", "Northfield", "late"), k=400))
    text = words[:900] + "\n" + words[900:1500] + "\n" + words[1500:]
    view = make(text, [TextSpan(n * 30, n * 30 + 9, "PER", n % 3, n) for n in range(40)])
    shown = list(view.spans)

    def change():
        gone = draw.sample(shown, draw.randrange(3))
        at = draw.randrange(400)
        come = [TextSpan(at, at + draw.choice((3, 40)), "LOC", 4, 1000 + len(shown) + at)]
        shown[:] = [item for item in shown if item not in gone] + come
        view.exchange_spans(gone, come)

    def act():
        at, name = draw.randrange(500), draw.choice(shown).name
        draw.choice(
            (
                lambda: view.select(at, at, show=False),
                lambda: view.select(at, at + draw.randrange(200), show=False),
                lambda: view.choose(draw.choice((None, name)), show=draw.random() < 0.2),
                lambda: view.set_linked(draw.choice((None, name))),
                change,
            )
        )()

    for _ in range(60):
        act()
        QApplication.processEvents()

        on_screen, anew = view.screen().grabWindow(view.winId()), view.grab()
        assert pixels(view, on_screen) == pixels(view, anew)


def pixels(view, picture):
    """Of the text, without the scroll bar."""
    return picture.toImage().copy(view.viewport().geometry()).convertToFormat(RGB)


def test_a_caret_step_paints_its_lines_only(make, monkeypatch):
    view = make("one two three four\n" * 30, size=(600, 500))
    QApplication.processEvents()
    painted = []
    monkeypatch.setattr(view, "_paint_part", lambda _painter, clip, _marked: painted.append(clip))

    view.select(0, 0, show=False)
    view.select(4, 4, show=False)
    QApplication.processEvents()

    assert len(painted) == 1
    assert painted[0].height() < 80


def test_a_new_span_paints_its_line_only(make, monkeypatch):
    view = make("one two three four " * 60, size=(600, 500))  # a paragraph of many lines
    QApplication.processEvents()
    painted = []
    monkeypatch.setattr(view, "_paint_part", lambda _painter, clip, _marked: painted.append(clip))

    view.exchange_spans((), [TextSpan(200, 205, "PER", 1, 1)])
    QApplication.processEvents()

    assert len(painted) == 1
    assert painted[0].height() < 80


def test_zoom_goes_to_300_per_cent_and_keeps_the_place(make):
    view = make("word " * 4000)
    view.verticalScrollBar().setValue(4000)
    view.viewport().repaint()
    top = view.position_at(QPointF(LEFT, 5))

    for _ in range(12):
        view.zoom_by(1)
    view.viewport().repaint()
    assert view.zoom == 300
    start, end = view.position_at(QPointF(LEFT, 5)), view.position_at(QPointF(590, 290))
    assert start <= top <= end


def test_a_long_line_never_needs_sideways_scrolling(make):
    view = make("x" * 5000)

    assert view.horizontalScrollBar().maximum() == 0
    assert all(
        line.line.naturalTextWidth() <= view.pieces.measures.width + 1
        for line in view.pieces.ensure(0).lines
    )


def test_a_screen_reader_finds_text_caret_and_selection(make):
    view = make("a 😀 b")
    view.select(2, 3)
    access = QAccessible.queryAccessibleInterface(view)
    text = access.textInterface()

    assert (
        access.text(QAccessible.Text.Name) == "Text"
        and access.role() == QAccessible.Role.EditableText
    )
    assert text.text(0, text.characterCount()) == "a 😀 b"
    assert text.cursorPosition() == 4 and text.selection(0) == (2, 4)
    assert text.characterRect(0).width() > 3


def test_hostile_characters_are_shown_and_counted(make):
    text = "\ufeffa\x00b\u2028c\td\ud800e\x85f\r\n\ufffcg"
    view = make(text)

    view.select(0, len(text))
    assert chosen_text(view) == text
    press(view, Qt.Key.Key_Right)
    places = {view.caret}
    for _ in range(20):
        press(view, Qt.Key.Key_Left)
        places.add(view.caret)
    assert len(places) == len(text)  # CR LF counts once, and the end is a place too
