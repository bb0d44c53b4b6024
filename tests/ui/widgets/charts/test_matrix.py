"""The confusion matrix: few labels and many, light and dark."""

from time import process_time

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics

from workbench.ui.style import style_sheet, theme
from workbench.ui.widgets.charts.matrix import Matrix, cell_colours, cell_text

LONG = "balance_not_updated_after_cheque_or_cash_deposit"  # the longest of Banking77


def names_of(count):
    """Names as in Banking77, 7 to 48 letters long."""
    return [LONG[: 5 + (7 * number) % 40] + f"_{number}" for number in range(count - 1)] + [LONG]


def diagonal(count, value=3):
    return [[value * (row == column) for column in range(count)] for row in range(count)]


@pytest.fixture
def matrix(look, qtbot):
    matrix = Matrix("Confusion")
    qtbot.addWidget(matrix)
    matrix.resize(840, 600)
    matrix.show()
    return matrix


def test_only_cells_that_count_something_can_be_opened(matrix, qtbot):
    opened = []
    matrix.opened.connect(lambda row, column: opened.append((row, column)))
    matrix.set_counts(("a", "b"), [[3, 0], [1, 2]])

    for row in (0, 1):
        matrix.choose(row, 1)
        qtbot.keyClick(matrix, Qt.Key.Key_Return)

    assert opened == [(1, 1)]
    assert "gold b, predicted a: 1" in matrix.model().index(1, 0).data(Qt.ItemDataRole.ToolTipRole)


def test_seventy_seven_full_names_stay_in_sight_while_the_cells_scroll(matrix):
    names = names_of(77)
    matrix.set_counts(names, diagonal(77))

    metrics = QFontMetrics(theme.font("caption"))
    assert 250 < metrics.horizontalAdvance(LONG) < theme.px(310)
    for header in (matrix.across, matrix.down):
        assert [header.shown_name(section) for section in range(77)] == names
    assert matrix.horizontalScrollBar().maximum() > 0 < matrix.verticalScrollBar().maximum()
    places = matrix.across.geometry(), matrix.down.geometry()
    matrix.choose(76, 76)
    assert matrix.verticalScrollBar().value() > 0 < matrix.horizontalScrollBar().value()
    assert (matrix.across.geometry(), matrix.down.geometry()) == places


def test_a_name_beyond_a_sensible_width_is_shortened_and_whole_in_its_tooltip(matrix):
    names = ["word " * 40 + "one", "word " * 40 + "two"]
    matrix.set_counts(names, [[3, 1], [0, 2]])

    shown = matrix.down.shown_name(0)
    assert "…" in shown and shown.startswith("word") and shown.endswith("one")
    tip = matrix.model().headerData(0, Qt.Orientation.Vertical, Qt.ItemDataRole.ToolTipRole)
    assert names[0] in tip


@pytest.mark.parametrize("largest", [9, 12345])
def test_a_number_always_fits_its_cell(matrix, largest):
    matrix.set_counts(names_of(77), diagonal(77, largest))

    width = QFontMetrics(theme.font("caption")).horizontalAdvance(str(largest))
    assert matrix.columnWidth(0) >= width + 4


def test_few_labels_need_no_scrolling_and_short_names_are_not_turned(matrix, qtbot):
    matrix.resize(700, 700)
    matrix.set_counts(names_of(7), diagonal(7))
    assert matrix.across.turned
    bars = matrix.horizontalScrollBar(), matrix.verticalScrollBar()
    qtbot.waitUntil(lambda: [bar.maximum() for bar in bars] == [0, 0])

    matrix.set_counts(("yes", "no"), [[3, 1], [0, 2]])
    assert not matrix.across.turned and matrix.across.shown_name(0) == "yes"


def test_the_names_of_the_hovered_cell_stand_out(matrix):
    matrix.set_counts(("a", "b"), [[3, 0], [1, 2]])
    matrix._hover(matrix.model().index(1, 0))

    assert [matrix.down._stands_out(section) for section in (0, 1)] == [False, True]
    assert [matrix.across._stands_out(section) for section in (0, 1)] == [True, False]


@pytest.mark.parametrize("dark", [False, True])
def test_numbers_can_be_read_on_every_depth_of_colour(look, dark):
    from workbench.base.settings import Settings

    style_sheet.apply(look, Settings(theme="dark" if dark else "light"))
    for step in range(1001):
        ground, number = cell_colours(1 if step else 0, step / 1000)
        assert theme.contrast(ground, number) >= 4.5, (step, ground, number)
    style_sheet.apply(look, Settings(theme="light"))


def test_a_thousand_labels_are_shown_without_delay(matrix):
    names, counts = names_of(1000), diagonal(1000)

    begun = process_time()
    matrix.set_counts(names, counts)
    matrix.grab()

    assert process_time() - begun < 0.5


def test_it_asks_for_no_more_height_than_its_cells_can_use(matrix):
    matrix.set_most_height(1200)
    matrix.resize(830, 1200)
    matrix.set_counts(names_of(25), [[1] * 25] * 25)

    head, cell = matrix.across.height(), matrix.columnWidth(0)
    assert matrix.sizeHint().height() == head + 25 * cell + 10 < 1200


def test_a_zero_is_shown_as_zero():
    assert cell_text(0, 0.0, as_shares=False) == cell_text(0, 0.0, as_shares=True) == "0"
    assert cell_text(3, 0.25, as_shares=False) == "3" and cell_text(3, 0.25, as_shares=True) == "25"


@pytest.mark.parametrize("dark", [False, True])
def test_an_empty_cell_shows_a_zero_that_can_be_read(look, dark):
    from workbench.base.settings import Settings

    style_sheet.apply(look, Settings(theme="dark" if dark else "light"))
    ground, number = cell_colours(0, 0.0)
    assert theme.contrast(ground, number) >= 4.5
    style_sheet.apply(look, Settings(theme="light"))
