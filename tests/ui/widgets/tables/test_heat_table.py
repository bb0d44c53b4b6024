"""A table of shaded cells, beside the names of its rows."""

from workbench.ui.widgets.tables.heat_table import HeatCell, HeatTable


def test_long_names_of_rows_leave_room_for_the_cells(qtbot):
    table = HeatTable("Pairs", "Rows and columns: people.")
    qtbot.addWidget(table)
    table.resize(400, 200)
    table.show()

    names = ["Ada", "Bartholomäus von Hohenzollern-Sigmaringen (student assistant) " * 2]
    table.set_cells(names, names, lambda *_at: HeatCell("0.5", 0.5), lambda *_at: "")

    assert table.viewport().width() > 200
    assert table.horizontalHeader().sectionViewportPosition(0) == 0


def test_short_names_of_rows_take_what_they_need(qtbot):
    table = HeatTable("Pairs", "Rows and columns: people.")
    qtbot.addWidget(table)
    table.resize(400, 200)
    table.show()

    table.set_cells(["Ada"], ["Ada"], lambda *_at: HeatCell("0.5", 0.5), lambda *_at: "")

    assert table.viewport().width() > 300
