"""The preview of the import dialog: roles above the columns, invalid records marked."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QPushButton, QStyleOptionViewItem

from workbench.ui.panels.data.import_columns import ImportColumns
from workbench.ui.panels.data.import_state import ImportState
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.text.offsets import is_rtl

ROWS = "".join(f"text {n},A\n" for n in range(30))
ERRORS = f"text,label\nfine,A\n,B\n{ROWS},late\nlast,C\n"


@pytest.fixture
def shown(qtbot, qapp, context, tmp_path):
    """shown("t.csv", content) → the columns of an import dialog for that file."""
    made = []

    def show(name, content):
        path = tmp_path / name
        path.write_text(content)
        state = ImportState(context, [path])
        view = ImportColumns(state)
        qtbot.addWidget(view)
        state.listen(state.changed, view.render)
        view.resize(1000, 500)
        view.render(frozenset({"all"}) | frozenset({"preview"}))
        view.show()
        made.append(state)
        return view

    yield show
    for state in made:
        state.close()


def button(view, name):
    return next(
        button for button in view.findChildren(QPushButton) if button.accessibleName() == name
    )


def callouts(view):
    return [widget.text() for widget in view.findChildren(Callout) if widget.isVisible()]


def test_rows_have_line_numbers_and_later_errors_follow_as_they_are_in_the_file(shown):
    table = shown("t.csv", ERRORS).table

    lines = [table.verticalHeaderItem(row).text() for row in range(table.rowCount())]
    assert lines == [*map(str, range(2, 22)), "34"]
    assert table.item(20, 0).text() == ",late" and table.columnSpan(20, 0) == 2
    assert "the text is empty" in table.verticalHeaderItem(1).toolTip()


def test_the_first_error_is_in_view_with_its_reason_and_the_buttons_go_through_all(shown):
    view = shown("t.csv", ERRORS)

    assert view.table.currentRow() == 1
    assert "2 of 34 records have errors" in callouts(view)[0]
    assert "Line 3: the text is empty." in callouts(view)[0]
    button(view, "Next error").click()
    assert view.table.currentRow() == 20 and "Line 34" in callouts(view)[0]
    button(view, "Next error").click()
    assert view.table.currentRow() == 1
    button(view, "Previous error").click()
    assert view.table.currentRow() == 20


def test_a_late_error_is_in_view_however_small_the_table_becomes(shown, qtbot):
    view = shown("t.csv", f"text,label\n{ROWS},late\n")
    table, before = view.table, view.table.height()

    view.resize(1000, 340)
    qtbot.waitUntil(lambda: table.height() < before)

    place = table.visualItemRect(table.item(table.currentRow(), 0))
    assert table.current_problem().line == 32
    assert table.viewport().rect().contains(place.center())


def test_without_errors_there_is_no_callout(shown):
    view = shown("t.csv", "text,label\nfine,A\n")

    assert callouts(view) == [] and view.table.rowCount() == 1


def test_roles_are_chosen_above_the_columns_and_stay_when_rows_are_scrolled(shown, qtbot):
    view = shown("t.csv", ERRORS)
    box = next(
        widget
        for widget in view.findChildren(QComboBox)
        if widget.accessibleName() == "Role of label"
    )
    place = box.mapTo(view, box.rect().topLeft())

    view.table.verticalScrollBar().setValue(view.table.verticalScrollBar().maximum())
    assert box.mapTo(view, box.rect().topLeft()) == place and box.isVisible()

    box.setCurrentIndex(box.findData("meta:label"))
    box.activated.emit(box.currentIndex())
    assert view.state.roles["label"] == "meta:label"
    assert box is view.table.roles.boxes["label"]  # so the focus is kept


def test_columns_of_tags_show_their_spans(shown):
    view = shown("t.conll", "Ada\tB-PER\tO\nmet\tO\tO\n\nBob\tB-PER\tB-X\n")

    heads = [view.table.horizontalHeaderItem(place).text() for place in range(3)]
    assert heads == ["1", "2  ·  2 spans", "3  ·  1 span"]


def test_a_question_has_a_button_that_answers_it(shown):
    view = shown("page.txt", "<html>\n<p>Hello</p>\n</html>\n")
    assert "web page" in callouts(view)[0]

    button(view, "Import as plain text").click()

    assert view.state.format == "text" and callouts(view) == []


def test_text_from_right_to_left_begins_at_the_right(shown):
    view = shown("t.csv", "text,label\nمرحبا بالعالم,A\n123 שלום,B\nplain,C\n")

    sides = []
    for row in range(3):
        option = QStyleOptionViewItem()
        view.table.itemDelegate().initStyleOption(option, view.table.model().index(row, 0))
        sides.append(option.direction == Qt.LayoutDirection.RightToLeft)
    assert sides == [True, True, False]
    assert not is_rtl("") and not is_rtl("12 a")


def test_a_long_text_is_cut_in_the_table(shown):
    view = shown("t.csv", "text,label\n" + "word " * 20_000 + ",A\n")

    assert len(view.table.item(0, 0).text()) <= 300
