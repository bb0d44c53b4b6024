"""The views Statistics and Duplicates as widgets: plots, keys, saved files, choices."""

import csv

import pytest
from PySide6.QtCore import Qt

from workbench.operations.schema import labels as schema
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.ui.panels.data.duplicates_view import DuplicatesView
from workbench.ui.panels.data.state import DUPLICATES, STATISTICS, DataState
from workbench.ui.panels.data.statistics_view import StatisticsView

NAMES = tuple(f"label {n:02}" for n in range(40))


@pytest.fixture
def data(context):
    schema.add_layer(context.project, "topics", "multi", labels=NAMES)
    records = [
        Record(
            Document(f"n{n}", (("text", "הרכבת איחרה שוב היום"),), "train" if n % 2 else "test"),
            {"topics": "submitted"},
            {"topics": (NAMES[n], NAMES[n + 1])},
        )
        for n in range(39)
    ]
    with context.project.edit("fill"):
        documents.add(context.project.db, records, source_id=context.project.source("import"))
    data = DataState(context)
    yield data
    data.close()


def test_forty_labels_are_shown_opened_by_keys_and_saved(data, qtbot, tmp_path):
    data.show_view(STATISTICS)
    view = StatisticsView(data.statistics)
    qtbot.addWidget(view)
    view.resize(1200, 700)
    view.show()
    data.statistics.choose_layer("balance", "topics")

    assert view.balance.count() == 40 and view.pairs.count() == 40 * 41 // 2
    view.balance.choose(0)
    qtbot.keyClick(view.balance, Qt.Key.Key_Down)
    view.balance.save_picture(tmp_path / "a.svg")
    view.pairs.save_picture(tmp_path / "a.png")
    view.pairs.save_numbers(tmp_path / "a.csv")
    qtbot.keyClick(view.balance, Qt.Key.Key_Return)

    assert data.selection.filters.query.text == 'label.topics:"label 01" state.topics:submitted'
    assert len(data.selection.ids) == 2 and (tmp_path / "a.svg").stat().st_size > 1000
    rows = list(csv.reader((tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 821 and rows[2] == ["label 00", "label 01", "1"]
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_the_arrow_keys_move_in_the_triangle(data, qtbot):
    data.show_view(STATISTICS)
    view = StatisticsView(data.statistics)
    qtbot.addWidget(view)
    view.show()
    view.pairs.choose(0)

    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Up):
        qtbot.keyClick(view.pairs, key)

    assert view.pairs.accessibleDescription() == "Documents with label 01: 2"
    view.pairs.choose(view.pairs.count() - 1)
    bar = view._cards[3]._area.verticalScrollBar()
    assert 0 < bar.value() > bar.maximum() - 60  # the last cell is scrolled into view


def test_a_bin_is_opened_by_a_click(data, qtbot):
    data.show_view(STATISTICS)
    view = StatisticsView(data.statistics)
    qtbot.addWidget(view)
    view.show()
    full = max(range(view.lengths.count()), key=lambda at: view.lengths.curves[0].counts[at])
    place = view.lengths.place(full, view.lengths.rect().toRectF()).center().toPoint()

    qtbot.mouseClick(view.lengths, Qt.MouseButton.LeftButton, pos=place)

    assert len(data.selection.ids) == view.lengths.curves[0].counts[full]


def test_duplicates_are_searched_listed_and_acted_on(data, qtbot):
    data.show_view(DUPLICATES)
    view = DuplicatesView(data.duplicates)
    qtbot.addWidget(view)
    view.show()
    assert not view.table.isVisible()

    data.duplicates.search()

    assert view.table.isVisible() and len(view.table.rows()) == 1
    assert "הרכבת" in view._text.toPlainText() and view._fix.text().strip() == "Fix 1 leak"
    view._fix.click()
    assert not view._fix.isVisible()
    view._ignore.click()
    assert data.duplicates.groups == () and not view.table.isVisible()
