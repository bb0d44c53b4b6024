"""The widgets shared by all pages."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QAccessible, QFontMetrics, QHelpEvent
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QSizePolicy,
    QSpacerItem,
    QSpinBox,
    QWidget,
    QWidgetItem,
)

from workbench.base import settings
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets import layout
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button, Segments, icon_button
from workbench.ui.widgets.controls.chip import Chip, ChipButton, chip_width
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.controls.form import Form
from workbench.ui.widgets.controls.words import Counted, Elided, IconLabel, words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.header import PageHeader
from workbench.ui.widgets.job_row import progress_of
from workbench.ui.widgets.note_line import NoteLine
from workbench.ui.widgets.tables.table import Column, Table


@dataclass(frozen=True)
class Option:
    name: str
    kind: str
    default: object
    help: str = ""
    choices: tuple = ()
    group: str = ""


OPTIONS = (
    Option("epochs", "int", 3, "Passes over the data"),
    Option("learning_rate", "float", 5e-5),
    Option("balanced", "bool", False),
    Option("best_by", "choice", "macro_f1", choices=("macro_f1", "accuracy")),
)


def accessible_name(widget) -> str:
    return QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name)


def test_an_icon_button_has_an_accessible_name(look, qtbot):
    button = icon_button("x", "Close message")
    qtbot.addWidget(button)

    assert accessible_name(button) == "Close message" == button.toolTip()


def test_enter_presses_the_button_that_has_the_focus(look, qtbot):
    pressed = []
    button = Button("Start", on=lambda: pressed.append(1))
    qtbot.addWidget(button)

    qtbot.keyClick(button, Qt.Key.Key_Return)
    assert pressed == [1]


def test_segments_tell_what_a_person_chose_but_not_what_the_program_set(look, qtbot):
    segments = Segments(("a", "One"), ("b", "Two"), name="Which")
    qtbot.addWidget(segments)
    received = []
    segments.chosen.connect(received.append)

    segments.set("b")
    assert (segments.value(), received) == ("b", [])
    qtbot.mouseClick(segments.button("a"), Qt.MouseButton.LeftButton)
    assert (segments.value(), received) == ("a", ["a"])


def test_a_segment_that_cannot_be_chosen_is_paler(look, qtbot):
    segments = Segments(("a", "One"), ("b", "Two"))
    qtbot.addWidget(segments)
    before = segments.button("b").grab().toImage()

    segments.button("b").setEnabled(False)

    assert segments.button("b").grab().toImage() != before


@pytest.mark.parametrize("control", [QLineEdit, QSpinBox, QComboBox])
def test_a_field_gives_its_control_the_name(look, qtbot, control):
    field = TitledField("Epochs", control())
    qtbot.addWidget(field)

    assert accessible_name(field.control) == "Epochs"
    for inner in field.control.findChildren(QLineEdit):
        assert inner.accessibleName() == "Epochs"


def test_an_error_takes_the_place_of_the_hint_and_goes_again(look, qtbot):
    field = TitledField("Epochs", QLineEdit(), "Passes over the data")
    qtbot.addWidget(field)

    field.set_error("must be at least 1")
    assert field.error() == "must be at least 1"
    field.set_error("")
    assert field.error() == "" and field._message.text() == "Passes over the data"


def test_a_chip_is_called_by_its_label_alone(look, qtbot):
    chip, button = Chip("VEHICLE", 0, key="1"), ChipButton("VEHICLE", 0, key="1")
    qtbot.addWidget(chip)
    qtbot.addWidget(button)

    assert accessible_name(chip) == accessible_name(button) == "VEHICLE"


def test_a_form_gives_only_what_differs_from_the_defaults(look, qtbot):
    form = Form(OPTIONS)
    qtbot.addWidget(form)
    assert form.values() == {}

    form.set_values({"epochs": 5, "balanced": True, "best_by": "accuracy"})
    assert form.values() == {"epochs": "5", "balanced": "true", "best_by": "accuracy"}


def test_a_form_emits_the_option_that_a_person_changed(look, qtbot):
    form = Form(OPTIONS)
    qtbot.addWidget(form)
    received = []
    form.changed.connect(received.append)

    form.control("epochs").end(False)  # fields show the start of their value
    qtbot.keyClicks(form.control("epochs"), "0")
    form.control("balanced").click()
    assert received == ["epochs", "balanced"]
    assert form.values() == {"epochs": "30", "balanced": "true"}


def test_a_form_can_be_searched_and_shows_errors_at_their_field(look, qtbot):
    form = Form(OPTIONS)
    qtbot.addWidget(form)

    assert form.filter("passes") == 1
    form.set_errors({"epochs": "not a number"})
    assert form._fields["epochs"].error() == "not a number"
    assert isinstance(form.control("balanced"), QCheckBox)


def rows_table(qtbot, many=False):
    columns = (
        Column("Name", lambda row: row[0], sort=lambda row: row[0]),
        Column("n", lambda row: str(row[1]), 60, right=True, sort=lambda row: row[1]),
    )
    table = Table(columns, name="Things", key=lambda row: row[0], many=many)
    qtbot.addWidget(table)
    table.set_rows([("b", 2), ("a", 3), ("c", 1)])
    return table


def test_a_choice_of_rows_survives_new_rows_in_another_order(look, qtbot):
    table = rows_table(qtbot)
    table.choose({"c"})

    table.set_rows([("c", 9), ("d", 4)])
    assert table.chosen_rows() == [("c", 9)]


def test_new_values_alone_do_not_move_the_choice(look, qtbot):
    table, received = rows_table(qtbot), []
    table.choose({"a"})
    table.chosen.connect(lambda: received.append(1))

    table.set_rows([("b", 5), ("a", 6), ("c", 7)])
    assert table.chosen_rows() == [("a", 6)] and received == []


def test_any_column_of_a_sortable_table_sorts_numbers_by_value(look, qtbot):
    columns = (Column("n", lambda row: row, 60),)
    table = Table(columns, name="Numbers", key=lambda row: row, sortable=True)
    qtbot.addWidget(table)
    table.set_rows(["k10", "–", "1,200", "k9", "66.7", "+3", "−1.5", ""])
    table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    assert table.rows() == ["−1.5", "+3", "66.7", "1,200", "k9", "k10", "–", ""]
    table.sortByColumn(0, Qt.SortOrder.DescendingOrder)
    assert table.rows() == ["k10", "k9", "1,200", "66.7", "+3", "−1.5", "–", ""]


def test_the_third_click_brings_the_rows_back_as_they_came(look, qtbot):
    columns = (Column("n", lambda row: row, 60),)
    table = Table(columns, name="Letters", key=lambda row: row, sortable=True)
    qtbot.addWidget(table)
    table.resize(200, 200)
    table.show()
    table.set_rows(["b", "c", "a"])
    table.selectRow(0)
    head, seen = table.horizontalHeader(), []
    for _turn in range(3):
        at = QPoint(10, head.height() // 2)
        qtbot.mouseClick(head.viewport(), Qt.MouseButton.LeftButton, pos=at)
        seen.append("".join(table.rows()))

    assert seen == ["abc", "cba", "bca"]
    assert table.chosen_rows() == ["b"] and table.current_row() == "b"


def test_a_column_sorts_and_keeps_sorting(look, qtbot):
    table = rows_table(qtbot)

    table.sortByColumn(1, Qt.SortOrder.AscendingOrder)
    assert [row[0] for row in table.rows()] == ["c", "b", "a"]
    table.set_rows([("x", 5), ("y", 4)])
    assert [row[0] for row in table.rows()] == ["y", "x"]


def test_enter_opens_and_delete_removes(look, qtbot):
    table, opened, removed = rows_table(qtbot), [], []
    table.opened.connect(opened.append)
    table.removed.connect(lambda: removed.append(1))
    table.selectRow(1)

    qtbot.keyClick(table, Qt.Key.Key_Return)
    qtbot.keyClick(table, Qt.Key.Key_Delete)
    assert (opened, removed) == ([("a", 3)], [1])


def test_a_note_offers_undo_and_goes_by_itself(look, qtbot):
    page, undone = QWidget(), []
    qtbot.addWidget(page)
    page.resize(600, 400)
    line = QLineEdit(page)
    page.show()
    line.setFocus()
    note = NoteLine(page, seconds=0.05)

    note.say("3 documents deleted", lambda: undone.append(1))
    assert note.text() == "3 documents deleted"
    note._undo.click()
    assert undone == [1] and note.text() == ""
    note.say("again")
    qtbot.waitUntil(lambda: note.text() == "")


def test_a_note_line_has_a_button_for_each_choice_and_leaves_after_one(look, qtbot):
    page, done = QWidget(), []
    qtbot.addWidget(page)
    page.resize(900, 200)
    page.show()
    note = NoteLine(page)

    note.say("Submitted", lambda: done.append("undo"), more=[("Always", lambda: done.append("x"))])
    buttons = {button.text(): button for button in note.findChildren(Button) if button.isVisible()}
    assert list(buttons) == ["Undo", "Always", "×"] and note.text() == "Submitted"
    buttons["Always"].click()
    assert done == ["x"] and note.text() == ""
    note.say("Deleted")
    assert [b.text() for b in note.findChildren(Button) if b.isVisible()] == ["×"]


def test_a_combo_box_holds_values_beside_its_words(look, qtbot):
    box = combo([(1, "One"), (2, "Two")], value=2, name="Number")
    qtbot.addWidget(box)

    assert (box.currentData(), box.currentText(), accessible_name(box)) == (2, "Two", "Number")


def test_a_number_that_counts_lays_out_the_page_only_where_it_grows(look, qtbot):
    number, chip = Counted("20,000"), Chip("draft")
    page = Page()
    qtbot.addWidget(page)
    box = QHBoxLayout(page)
    box.addWidget(chip)
    box.addWidget(number)
    page.show()
    number.setText("20,001")
    chip.set("draft")
    QApplication.processEvents()
    before = page.layouts

    number.setText("19,999")
    chip.set("draft")
    QApplication.processEvents()
    assert page.layouts == before

    number.setText("100,000")
    QApplication.processEvents()
    assert page.layouts > before
    assert number.width() >= number.fontMetrics().horizontalAdvance("100,000")


class Page(QWidget):
    layouts = 0  # requests for one

    def event(self, event):
        self.layouts += event.type() == QEvent.Type.LayoutRequest
        return super().event(event)


def test_a_combo_box_filled_again_shows_what_is_refused_now(look, qtbot):
    items = [(1, "One"), (2, "Two")]
    box = combo(items, name="Number")
    qtbot.addWidget(box)

    fill(box, items, 1, refused={2: "Too many."})
    refused = [box.model().item(number).isEnabled() for number in range(2)]
    fill(box, items, 2)

    assert refused == [True, False]
    assert [box.model().item(number).isEnabled() for number in range(2)] == [True, True]
    assert box.currentData() == 2

    fill(box, items, 3)
    assert box.currentData() == 1


def test_progress_is_read_from_what_a_job_told_last():
    class Job:
        progress = {"step": 30, "total": 40, "seconds_left": 65}

    assert progress_of(Job()) == (0.75, "1:05 left")
    Job.progress = {}
    assert progress_of(Job()) == (None, "")


def test_durations_read_as_clocks_do():
    assert [formats.duration(item) for item in (0, 31, 125, 3725)] == [
        "0:00",
        "0:31",
        "2:05",
        "1:02:05",
    ]


def test_a_plot_keeps_its_points_marks_the_best_and_saves_both_ways(look, qtbot, tmp_path):
    from workbench.ui.widgets.charts.live_plot import LivePlot

    plot = LivePlot("Score on dev", empty="", percent=True)
    qtbot.addWidget(plot)
    for step in range(3):
        plot.add("span F1", step, 0.5 + 0.1 * step)
    plot.add("span F1", 3, float("nan"))
    plot.mark_best(2, 0.7)
    plot.draw()

    plot.save_numbers(tmp_path / "numbers.csv")
    plot.save_picture(tmp_path / "picture.png")
    lines = (tmp_path / "numbers.csv").read_text().splitlines()
    assert lines[0] == "curve,step,value" and len(lines) == 4
    assert (tmp_path / "picture.png").stat().st_size > 1000
    plot.save_picture(tmp_path / "picture.svg")
    drawn = (tmp_path / "picture.svg").read_text(encoding="utf-8")
    assert ">65</text>" in drawn and "<polyline" in drawn


def test_a_plot_draws_at_most_twice_a_second(look, qtbot, monkeypatch):
    from workbench.ui.widgets.charts import live_plot

    plot = live_plot.LivePlot("Loss", empty="no steps")
    qtbot.addWidget(plot)
    drawn = []
    monkeypatch.setattr(plot, "draw", lambda: drawn.append(1))
    plot._clock.timeout.disconnect()
    plot._clock.timeout.connect(lambda: drawn.append(1))

    for step in range(1000):
        plot.add("loss", step, 1.0)
    assert drawn == []
    assert plot._clock.interval() >= 500


def test_a_larger_text_size_makes_rows_taller(look, qtbot):
    from workbench.base.settings import Settings
    from workbench.ui.style import style_sheet

    table = rows_table(qtbot)
    style_sheet.apply(look, Settings(theme="light", text_size=200))
    assert table.verticalHeader().defaultSectionSize() == 2 * theme.ROW
    style_sheet.apply(look, Settings(theme="light"))


def test_words_that_do_not_fit_a_combo_box_stand_on_hover(look, qtbot):
    box = combo([(1, "a run with a name of about sixty letters, as people give them")], value=1)
    qtbot.addWidget(box)
    box.resize(120, 32)
    box.grab()
    assert box.toolTip() == box.currentText()

    box.resize(900, 32)
    box.grab()
    assert box.toolTip() == ""


@pytest.fixture
def large_text(look):
    from workbench.ui.style import style_sheet

    style_sheet.apply(look, settings.Settings(theme="light", text_size=150))
    yield
    style_sheet.apply(look, settings.Settings(theme="light"))


def test_icons_grow_with_the_words_beside_them(large_text, qtbot):
    button, mark = Button("Start", "play"), IconLabel("circle-check", "good", 16)
    for item in (button, mark):
        qtbot.addWidget(item)

    assert button.iconSize().width() == 24
    assert mark.pixmap().deviceIndependentSize().width() == 24 < mark.width()


def test_the_header_of_a_page_has_room_for_large_text(large_text, qtbot):
    header = PageHeader("Results", "12 runs")
    qtbot.addWidget(header)

    assert header.sizeHint().height() == 78


def test_an_empty_state_in_a_low_place_keeps_its_words(look, qtbot):
    state = EmptyState(
        "circle",
        "No scores yet",
        "A sentence that takes two lines in a place as narrow as this one is here.",
    )
    place = QWidget()
    qtbot.addWidget(place)
    state.setParent(place)
    state.resize(300, 320)
    place.show()
    assert state._icon.isVisible()

    state.resize(300, 120)
    assert not state._icon.isVisible()
    qtbot.waitUntil(lambda: state._hint.height() >= state._hint.heightForWidth(state._hint.width()))


def test_a_long_sentence_of_an_empty_state_has_several_short_lines(look, qtbot):
    state = EmptyState("circle", "Not measured yet", "A sentence of some length. " * 12)
    qtbot.addWidget(state)
    state.resize(1200, 500)
    state.show()

    assert state._hint.width() <= 480
    assert state._hint.height() > 3 * state._hint.fontMetrics().height()
    assert abs(state._hint.mapTo(state, state._hint.rect().center()).x() - 600) < 3


def test_a_table_as_tall_as_its_rows_stays_so_when_the_text_grows(look, qtbot):
    from workbench.ui.style import style_sheet

    table = Table((Column("Name", str),), name="Names")
    qtbot.addWidget(table)
    table.set_rows(["a", "b", "c"])
    table.fit_height(8)
    try:
        style_sheet.apply(look, settings.Settings(theme="light", text_size=150))
        assert (
            table.height()
            >= 3 * table.verticalHeader().defaultSectionSize()
            + table.horizontalHeader().sizeHint().height()
        )
    finally:
        style_sheet.apply(look, settings.Settings(theme="light"))


def test_details_of_an_error_fold_out_below_it_and_go_with_it(look, qtbot):
    callout = Callout("It broke.", "bad")
    qtbot.addWidget(callout)
    callout.show()
    assert not callout._fold.isVisible()

    callout.set("It broke.", "bad", "line one\nline two")
    callout._fold.click()
    box = callout.findChild(QPlainTextEdit)
    assert box.isVisible() and box.toPlainText() == "line one\nline two" and box.isReadOnly()
    callout.set("It broke.", "bad", "line one\nline two")
    assert box.isVisible(), "said again, it stays as it was left"
    callout.set("Another thing broke.", "bad")
    assert not box.isVisible() and not callout._fold.isVisible()


def test_a_chip_follows_its_title_and_a_long_title_is_elided(look, qtbot):
    title, chip = Elided("tag-1"), Chip("done")
    title.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
    line = layout.row(title, chip, None)
    qtbot.addWidget(line)
    line.resize(400, 30)
    line.show()
    assert title.width() >= title.fontMetrics().horizontalAdvance("tag-1") and chip.x() < 120

    title.setText("a run with a name of about sixty letters, as people give them, or more")
    qtbot.waitUntil(lambda: chip.geometry().right() < 400 and title.width() > 200)


def test_a_segment_has_room_for_its_words_when_they_turn_bold(look, qtbot):
    segments = Segments(("a", "Run on dev: scores"), ("b", "Predictions for this text"))
    qtbot.addWidget(segments)
    segments.resize(segments.sizeHint())
    segments.show()
    bold = QFontMetrics(theme.font("ui", 600)).horizontalAdvance("Predictions for this text")

    before = segments.sizeHint().width()
    segments.set("b")
    assert segments.button("b").width() >= bold + 24 and segments.sizeHint().width() == before


def test_segments_without_room_go_to_further_rows_and_take_their_height(look, qtbot):
    segments = Segments(("a", "Run on dev: scores"), ("b", "Predictions for this text"))
    first, second = segments.button("a"), segments.button("b")
    host = layout.column(segments, None)
    qtbot.addWidget(host)
    host.resize(segments.sizeHint().width() - 1, 300)
    host.show()
    qtbot.waitUntil(lambda: second.y() > first.y())
    qtbot.waitUntil(lambda: segments.height() == second.geometry().bottom() + 1)

    assert first.width() == second.width() == host.width() >= second.sizeHint().width()


def test_a_header_gives_room_to_an_action_that_is_shown_later(look, qtbot):
    first, second = Button("A rather long action"), Button("Another rather long action")
    second.hide()
    header = PageHeader("Page", "", first, second)
    qtbot.addWidget(header)
    header.resize(360, header.minimumHeight())
    header.show()
    second.show()

    qtbot.waitUntil(lambda: second.y() > first.y())
    qtbot.waitUntil(lambda: header.height() > first.height() + second.height())


def test_a_button_that_is_too_narrow_elides_its_text_in_the_middle(look, qtbot, monkeypatch):
    text = "Change to card_payment_wrong_exchange_rate"
    narrow, whole = Button(text), Button(text)
    metrics = QFontMetrics(theme.font("ui"))
    room = metrics.horizontalAdvance(text) - 60
    elided = Button(metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, room))
    for button in (narrow, whole, elided):
        qtbot.addWidget(button)
        button.show()
    for button in (narrow, elided):
        button.setFixedWidth(whole.sizeHint().width() - 60)
    assert elided.text().startswith("Change to")
    assert narrow.grab().toImage() == elided.grab().toImage()

    tips = []
    monkeypatch.setattr(escaping, "show_tip", lambda _at, text, _widget: tips.append(text))
    for button in (narrow, whole):
        QApplication.sendEvent(button, QHelpEvent(QEvent.Type.ToolTip, QPoint(5, 5), QPoint(5, 5)))
    assert tips == [text]


def test_a_spin_box_is_as_high_as_a_combo_box(look, qtbot):
    boxes = QSpinBox(), combo([(1, "one")])
    for box in boxes:
        qtbot.addWidget(box)
        box.show()
        box.resize(box.sizeHint())

    assert boxes[0].height() == boxes[1].height() == theme.CONTROL


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
def test_the_list_of_a_narrow_combo_box_shows_its_names_whole(look, qtbot):
    place = QWidget()
    qtbot.addWidget(place)
    place.resize(900, 300)
    box = combo(
        [(1, "a run with a name of about sixty letters, as people give them"), (2, "b")], value=2
    )
    box.setParent(place)
    box.resize(120, 32)
    place.show()
    box.showPopup()

    longest = box.fontMetrics().horizontalAdvance(box.itemText(0))
    assert longest > 120
    qtbot.waitUntil(lambda: box.view().width() > longest)
    box.hidePopup()


@pytest.mark.parametrize("percent", [100, 200])
def test_the_error_of_a_narrow_field_is_shown_in_full(look, qtbot, percent):
    from workbench.ui.style import style_sheet

    style_sheet.apply(look, settings.Settings(theme="light", text_size=percent))
    first, second = TitledField("Epochs", QLineEdit()), TitledField("Learning rate", QLineEdit())
    whole = layout.row((first, 1), (second, 1))
    page = layout.column(whole, None)
    qtbot.addWidget(page)
    page.resize(320, 600)
    page.show()
    first.set_error("epochs is 'abc', expected a whole number from 1 to 1000 or auto.")
    look.processEvents()

    message = first._message
    assert message.height() >= message.heightForWidth(message.width())
    assert message.mapTo(first, message.rect().bottomLeft()).y() <= first.height()
    assert (
        first.control.mapTo(page, QPoint(0, 0)).y() == second.control.mapTo(page, QPoint(0, 0)).y()
    )
    style_sheet.apply(look, settings.Settings(theme="light"))


def test_arrows_and_check_boxes_grow_with_the_text(look):
    import re

    from workbench.ui.style import style_sheet

    def arrows() -> set[int]:
        result = re.findall(r"-arrow[^{}]*\{ image[^}]*?width: (\d+)px", style_sheet.style_sheet())
        return set(map(int, result))

    at_100 = arrows()
    theme.set_up(dark=False, percent=150)
    assert {round(item * 1.5) for item in at_100} == arrows() and len(at_100) == 2
    theme.set_up(dark=False)


def test_choices_without_room_are_cut_in_the_middle_not_at_the_edges(look, qtbot):
    choices = Segments(
        ("a", "Run on dev: scores"), ("b", "Predictions for this text"), name="Results"
    )
    qtbot.addWidget(choices)
    wide = choices.sizeHint().width()
    choices.resize(wide // 2, choices.sizeHint().height())
    choices.show()

    assert choices.minimumSizeHint().width() < wide // 2
    assert all(choices.button(item).geometry().right() <= choices.width() for item in "ab")


def test_columns_of_words_narrow_before_a_number_is_out_of_sight(look, qtbot):
    columns = (
        Column("Label", str, 190),
        Column("Key", str, 60),
        Column("Count", str, 76, right=True),
        Column("Description", str),
    )
    table = Table(columns, name="Labels")
    qtbot.addWidget(table)
    table.set_rows(["12"])
    table.resize(300, 200)
    table.show()
    assert sum(map(table.columnWidth, range(4))) <= table.viewport().width()
    assert table.columnWidth(2) >= 76

    table.resize(900, 200)
    assert table.columnWidth(0) == 190


def test_a_table_for_a_picture_is_wide_enough_for_its_names(look, qtbot):
    name = "a name that needs more room than a narrow table has beside its numbers"
    columns = (Column("System", str), Column("Made from", str, 90, most=400), Column("F1", str, 90))
    table = Table(columns, name="Board")
    qtbot.addWidget(table)
    table.set_rows([name])

    table.resize(table.width_for(0, 300), 200)
    table.show()
    assert table.columnWidth(0) >= table.fontMetrics().horizontalAdvance(name)
    table.set_rows(["A"])
    assert table.width_for(0, 400) == 400


def test_columns_of_names_grow_where_there_is_room_and_leave_some_to_the_text(look, qtbot):
    name = "balance_not_updated_after_bank_transfer"
    columns = (
        Column("Text", str, prose=True),
        Column("Gold", chip=lambda row: (row, None, ""), width=96, most=400),
        Column("A", str, 96, most=130),
    )
    table = Table(columns, name="Errors")
    qtbot.addWidget(table)
    table.resize(900, 200)
    table.show()
    table.set_rows([name])
    assert chip_width(name) < table.columnWidth(1) < 400
    assert table.columnWidth(2) == 130

    table.resize(300, 200)
    assert table.columnWidth(1) == 96 and table.columnWidth(0) >= 100

    table.resize(900, 200)
    table.set_rows(["short"])
    assert table.columnWidth(1) == 96


def test_a_column_keeps_the_width_that_it_was_given(look, qtbot):
    table = Table((Column("Kind", str, 118), Column("Text", str)), name="Errors")
    qtbot.addWidget(table)
    table.set_width(0, 60)
    table.show()

    for width in (100, 900):
        table.resize(width, 200)

    assert table.columnWidth(0) == 60


def test_names_in_tables_and_combo_boxes_are_cut_in_the_middle(look, qtbot, monkeypatch):
    from PySide6.QtWidgets import QStyleOptionViewItem

    columns = (Column("Key", str, 80), Column("Text", str, prose=True))
    table = Table(columns, name="Documents")
    qtbot.addWidget(table)
    table.set_rows(["a-name-that-is-too-long.txt"])
    middle = Qt.TextElideMode.ElideMiddle
    option, index = QStyleOptionViewItem(), table.rows_model.index(0, 1)
    table.itemDelegateForIndex(index).initStyleOption(option, index)
    assert table.textElideMode() == middle and option.textElideMode == Qt.TextElideMode.ElideRight

    box = combo([("a", "classify-starter-bert-1"), ("b", "classify-starter-bert-2")])
    qtbot.addWidget(box)
    monkeypatch.setattr(QComboBox, "showPopup", lambda _self: None)  # it grabs the keyboard
    box.showPopup()
    assert box.view().textElideMode() == middle


def test_a_number_at_the_right_of_a_line_ends_at_its_margin(look, qtbot):
    number = Counted()
    line = layout.row(words("Spans"), None, number, margins=(14, 0, 14, 0))
    qtbot.addWidget(line)
    line.resize(300, 30)
    line.show()

    number.setText("1,269")
    QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)

    assert number.geometry().right() == 300 - 14 - 1
    assert number.width() >= number.fontMetrics().horizontalAdvance("1,269")


def layout_items():
    """Addresses of the Python objects of items."""
    kinds = QWidgetItem, QSpacerItem
    return {id(item) for item in shiboken6.getAllValidWrappers() if isinstance(item, kinds)}


def test_reading_a_layout_keeps_no_items(qtbot):
    """A Python object left for an item that Qt has deleted crashes Python later: see `items`."""
    frame = layout.row(QWidget(), 8, None)
    qtbot.addWidget(frame)
    before = layout_items()

    (child,) = layout.widgets(layout.layout_of(frame))

    assert isinstance(child, QWidget)
    assert layout_items() == before


def test_no_page_reads_the_items_of_a_layout():
    code = Path(layout.__file__).parents[1]
    calls = [
        path.relative_to(code).as_posix()
        for path in sorted(code.rglob("*.py"))
        if re.search(r"(layout\w*|box|line|grid)\.itemAt", path.read_text(encoding="utf-8"))
    ]
    assert calls == []
