"""Label bar, label palette, document list."""

from types import SimpleNamespace

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QWidget

from workbench.text.labels import Label
from workbench.ui.widgets.controls.chip import chip_width
from workbench.ui.widgets.controls.label_bar import LabelBar
from workbench.ui.widgets.controls.label_palette import LabelChoice, LabelPalette, matching
from workbench.ui.widgets.tables.document_list import PAGE, DocumentList, DocumentModel

NAMES = ("delay", "crowding", "driver", "ticket", "accessibility", "praise")
LABELS = tuple(
    Label(name, key=key, position=n, id=n + 1)
    for n, (name, key) in enumerate(zip(NAMES, "qwerty", strict=True))
)


def shown_bar(qtbot, width: int, **how) -> LabelBar:
    bar = LabelBar(**how)
    qtbot.addWidget(bar)
    bar.resize(width, 70)
    bar.show()
    bar.set("class", LABELS, chosen=(2,), checkable=True)
    return bar


def test_a_wide_bar_shows_all_chips_on_one_line_and_no_more(look, qtbot):
    bar = shown_bar(qtbot, 1000)

    assert all(chip.isVisible() and chip.y() == 0 for chip in bar.chips)
    assert not bar._end.isVisible()
    assert [chip.accessibleName() for chip in bar.chips] == list(NAMES)
    assert [chip.isChecked() for chip in bar.chips] == [False, True, False, False, False, False]


def test_a_narrow_bar_uses_two_lines_and_puts_the_rest_behind_more(look, qtbot):
    two, less = shown_bar(qtbot, 520), shown_bar(qtbot, 260)

    assert all(chip.isVisible() for chip in two.chips) and two.chips[-1].y() > 0
    assert less._end.isVisible() and not less.chips[-1].isVisible()
    assert all(
        chip.geometry().right() <= less._chips.width() for chip in less.chips if chip.isVisible()
    )


def test_a_long_label_is_cut_and_shown_on_hover(look, qtbot):
    bar = LabelBar()
    qtbot.addWidget(bar)
    bar.resize(600, 70)
    bar.show()
    bar.set(
        "span",
        (
            Label("a label with a name of sixty letters that takes a whole line", key="1", id=1),
            *LABELS[:2],
        ),
    )

    assert all(chip.isVisible() and chip.y() == 0 for chip in bar.chips)
    assert bar.chips[0].toolTip().startswith("a label with a name of sixty letters")


def test_a_long_label_takes_the_free_room_of_its_line(look, qtbot):
    long = "wrong_exchange_rate_for_cash_withdrawal"
    bar = LabelBar()
    qtbot.addWidget(bar)
    bar.resize(520, 70)
    bar.show()
    bar.set("span", (Label(long, key="1", id=1), *LABELS))

    first, second = bar.chips[:2]
    assert first.width() == chip_width(long, "1") > 240
    assert second.y() > 0 or second.x() > first.geometry().right()


def test_a_chosen_label_shows_even_where_there_is_no_room_for_all(look, qtbot):
    bar = shown_bar(qtbot, 260)
    assert not bar.chips[-1].isVisible()

    bar.set("class", LABELS, chosen=(LABELS[-1].id,), checkable=True)
    assert bar.chips[-1].isVisible() and bar.chips[0].isVisible()
    assert all(
        chip.geometry().bottom() <= bar._chips.height() for chip in bar.chips if chip.isVisible()
    )
    bar.set("class", LABELS, chosen=(), checkable=True)
    assert not bar.chips[-1].isVisible()


def test_a_pressed_chip_reports_its_label_and_takes_no_focus(look, qtbot):
    bar = shown_bar(qtbot, 1000)
    with qtbot.waitSignal(bar.picked) as message:
        QTest.mouseClick(bar.chips[3], Qt.MouseButton.LeftButton)

    assert message.args == [4] and not bar.chips[3].hasFocus()


def test_folded_sublabels_are_behind_a_button_unless_chosen(look, qtbot):
    bar = shown_bar(qtbot, 1000)

    def names(folded, chosen=()):
        bar.set("class", LABELS, groups={1: (3, 6), 2: (4,)}, folded=folded, chosen=chosen)
        return [chip.accessibleName() for chip in bar.chips]

    assert names(()) == ["delay", "driver", "praise", "crowding", "ticket", "accessibility"]
    assert names((1,)) == ["delay", "crowding", "ticket", "accessibility"]
    assert bar.folds[1].accessibleName() == "Show 2 sublabels of delay"
    with qtbot.waitSignal(bar.folded) as message:
        QTest.mouseClick(bar.folds[1], Qt.MouseButton.LeftButton)
    assert message.args == [[1], False]
    assert names((1, 2), chosen=(6,)) == ["delay", "praise", "crowding", "accessibility"]


def test_typing_finds_beginnings_before_words_before_parts():
    choices = [
        LabelChoice(Label(name), "l")
        for name in ("REST_STOP", "STOP", "BUS STOP", "NONSTOP", "LINE")
    ]

    assert [choice.label.name for choice in matching(choices, "sto")] == [
        "STOP",
        "REST_STOP",
        "BUS STOP",
        "NONSTOP",
    ]
    assert len(matching(choices, "")) == 5 and matching(choices, "zz") == []


def test_matching_ignores_case_and_accents_and_finds_words_and_groups():
    names = ("ÉTAT", "birthPlace", "date/place", "replaced", "x")
    choices = [LabelChoice(Label(name), "") for name in names]
    choices.append(LabelChoice(Label("town", parent="Place"), ""))

    def found(typed):
        return [choice.label.name for choice in matching(choices, typed)]

    assert found("etat") == ["ÉTAT"] and found("État") == ["ÉTAT"]
    assert found("PLACE") == ["birthPlace", "date/place", "replaced", "town"]
    assert found("") == [*names, "town"]


def test_the_frame_of_a_key_is_as_wide_as_the_key(look):
    assert chip_width("PER", "1×2") > chip_width("PER", "1")


def test_the_palette_gives_the_focus_back_and_reports_what_was_picked(look, qtbot):
    page = QWidget()
    qtbot.addWidget(page)
    page.resize(600, 500)
    field, palette = QLineEdit(page), LabelPalette(page)
    with qtbot.waitActive(page):
        page.show()
        page.activateWindow()
    field.setFocus()
    palette.ask([LabelChoice(label, "class") for label in LABELS], QPoint(300, 480))
    line = palette.findChild(QLineEdit)
    QTest.keyClick(line, Qt.Key.Key_Escape)
    assert not palette.isVisible() and field.hasFocus()

    palette.ask([LabelChoice(label, "class") for label in LABELS], QPoint(300, 480))
    QTest.keyClicks(line, "d")
    QTest.keyClick(line, Qt.Key.Key_Down)
    with qtbot.waitSignal(palette.picked) as message:
        QTest.keyClick(line, Qt.Key.Key_Return)
    assert message.args == [3] and field.hasFocus()


def test_the_palette_is_as_tall_as_what_is_found_and_its_field_stays(look, qtbot):
    page = QWidget()
    qtbot.addWidget(page)
    page.resize(600, 500)
    page.show()
    palette = LabelPalette(page)
    palette.ask([LabelChoice(label, "class") for label in LABELS], QPoint(300, 480))
    before = palette.geometry()

    QTest.keyClicks(palette.findChild(QLineEdit), "praise")
    assert palette.height() < before.height() - 100
    assert palette.geometry().topLeft() == before.topLeft()


def test_the_palette_is_below_a_text_or_above_it_where_there_is_no_room(look, qtbot):
    page = QWidget()
    qtbot.addWidget(page)
    page.resize(600, 500)
    page.show()
    palette, choices = LabelPalette(page), [LabelChoice(label, "class") for label in LABELS]

    def opened(beside):
        palette.ask(choices, QPoint(300, 480), beside=beside)
        return palette.geometry()

    assert opened(QRect(100, 20, 1, 20)).topLeft() == QPoint(100, 46)
    low = opened(QRect(590, 450, 1, 20))
    assert low.bottom() < 450 and low.right() < 600
    assert opened(QRect(100, 10, 1, 480)) == opened(None)


def row(id: int):
    return SimpleNamespace(
        id=id,
        key=f"k{id}",
        text="وصل الباص" if id % 2 else "text",
        state="draft",
        span_count=id % 3,
        suggestion_count=0,
        flags=(),
        note="",
    )


def test_a_long_list_of_documents_reads_only_what_it_shows(look, qtbot):
    asked = []

    def fetch(ids):
        asked.append(len(ids))
        return [row(id) for id in ids]

    listed = DocumentList(fetch, "Queue")
    qtbot.addWidget(listed)
    listed.resize(220, 400)
    listed.show()
    listed.show_ids(range(1, 100_001), 50_000)
    listed.grab()

    assert sum(asked) <= 3 * PAGE
    assert listed.model().rowCount() == 100_000
    assert listed.documents.data(listed.documents.index(50_000)) == "k50001, draft: وصل الباص"


def test_a_long_list_is_not_asked_for_every_row_and_home_and_end_lead_to_its_ends(
    look, qtbot, monkeypatch
):
    asked, count = [], DocumentModel.rowCount
    monkeypatch.setattr(
        DocumentModel, "rowCount", lambda self, *parent: asked.append(1) or count(self, *parent)
    )
    listed = DocumentList(lambda ids: [row(id) for id in ids], "Queue")
    qtbot.addWidget(listed)
    listed.resize(220, 400)
    listed.show()

    listed.show_ids(range(1, 60_001), 30_000)
    QTest.keyClick(listed, Qt.Key.Key_End)
    assert listed.currentIndex().row() == 59_999
    QTest.keyClick(listed, Qt.Key.Key_Home)
    listed.grab()

    assert listed.currentIndex().row() == 0 and len(asked) < 2000


def test_a_key_of_the_queue_uses_the_room_that_the_numbers_leave(look, qtbot, monkeypatch):
    shown = row(3)
    shown.key = "trecopen.tsv:1040"
    painted = []
    monkeypatch.setattr(QPainter, "drawText", lambda _painter, *what: painted.append(what[-1]))
    listed = DocumentList(lambda ids: [shown], "Queue", lambda _id: "0.25")
    qtbot.addWidget(listed)
    listed.resize(217, 80)
    listed.show()
    listed.show_ids([3], 0)
    listed.grab()

    assert painted[:2] == ["0.25", "trecopen.tsv:1040"]


def test_a_changed_document_is_read_again_alone(look, qtbot):
    asked = []

    def fetch(ids):
        asked.append(tuple(ids))
        return [row(id) for id in ids]

    listed = DocumentList(fetch, "Queue")
    qtbot.addWidget(listed)
    listed.show_ids(range(1, 500), 0)
    listed.documents.row(0)
    asked.clear()
    listed.documents.forget({7, 450})

    assert asked == [(7,)]


def test_only_a_person_going_to_a_row_is_reported(look, qtbot):
    listed = DocumentList(lambda ids: [row(id) for id in ids], "Queue")
    qtbot.addWidget(listed)
    received = []
    listed.picked.connect(received.append)
    listed.resize(220, 400)
    listed.show()
    listed.show_ids(range(1, 50), 3)
    listed.show_row(5)
    assert received == []

    QTest.keyClick(listed, Qt.Key.Key_Down)
    assert received == [7]


def test_the_row_shown_in_the_queue_has_its_neighbours_in_sight(look, qtbot):
    listed = DocumentList(lambda ids: [row(id) for id in ids], "Queue")
    qtbot.addWidget(listed)
    listed.resize(220, 400)
    listed.show()
    listed.show_ids(list(range(100)), 0)

    for at in (30, 31, 12):
        listed.show_row(at)
        sight = listed.viewport().rect()
        assert all(
            sight.contains(listed.visualRect(listed.documents.index(near)))
            for near in (at - 1, at, at + 1)
        )


def test_more_lines_show_more_labels_and_all_of_them_need_no_more_button(look, qtbot):
    bar = LabelBar()
    qtbot.addWidget(bar)
    bar.resize(600, 400)
    bar.show()
    bar.set(
        "intent",
        [Label(f"intent {number}", position=number, id=number + 1) for number in range(77)],
    )
    few = sum(chip.isVisible() for chip in bar.chips)

    bar.set_most_lines(6)
    more = sum(chip.isVisible() for chip in bar.chips)
    bar.set_most_lines(bar.lines_wanted() + 1)

    assert 0 < few < more < 77
    qtbot.waitUntil(lambda: all(chip.isVisible() for chip in bar.chips))
    assert not bar._more.isVisible()
