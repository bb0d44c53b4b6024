"""What smaller weights cost, on the Export page."""

import threading
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QTableView

from tests.ui.panels.export.conftest import WorkerQueue
from tests.ui.panels.export.test_view import named
from workbench.base.errors import JobFailed
from workbench.exporters.model.weights import EVENT, WeightsRow, WeightsTable
from workbench.metrics.evaluation import Measured

FULL = WeightsRow("fp32", 91_000_000, 8.0, 4.0, 60, 60, Measured(0.8, 0.7, 0.9))
SMALL = WeightsRow(
    "int8", 23_000_000, 3.0, 1.6, 58, 60, Measured(0.78, 0.7, 0.9), Measured(-0.02, -0.05, 0.01)
)
TABLE = WeightsTable((FULL, SMALL), "macro_f1", 60, 2, "2026-05-04T10:00:00Z")


@pytest.fixture
def panel(app, exportable_file, monkeypatch):
    assert app.open_project(exportable_file, page="export")
    panel = app.window.panel("export")
    monkeypatch.setattr(panel.state.weights, "queue", WorkerQueue())
    return panel


@pytest.fixture(autouse=True)
def measurable(monkeypatch):
    """Documents of the small project have no gold."""
    monkeypatch.setattr("workbench.operations.models.weights._measured_on", lambda *_args: [])


def test_rows_appear_as_they_are_measured_and_stay_with_the_run(app, panel, qtbot):
    gate = threading.Event()

    def worker(_spec, watch):
        event = {"kind": EVENT, "row": FULL.to_json(), "done": 1, "total": 2}
        app.dispatch(partial(watch.event, event))
        gate.wait(20)
        return TABLE.to_json()

    panel.state.weights.queue.worker = worker
    qtbot.mouseClick(named(panel, "Measure", QPushButton), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.state.weights.rows == (FULL,))
    cancel = named(panel, "Cancel measuring", QPushButton)
    assert cancel.isEnabled() and panel.view.window().focusWidget() is cancel
    gate.set()
    qtbot.waitUntil(lambda: panel.state.weights.table is not None)
    assert panel.view.window().focusWidget() is named(panel, "Measure again", QPushButton)

    table = named(panel, "Smaller weights", QTableView)
    cells = [table.model().index(1, column).data() for column in range(7)]
    header = table.model().headerData(4, Qt.Orientation.Horizontal)
    assert header == "Equal labels"
    assert cells[2:5] == ["3.0", "1.6", "58 of 60"] and cells[5].startswith("78.0")
    assert "2 of 60 labels change" in panel.state.weights.sentence
    assert named(panel, "Measure again", QPushButton).isEnabled()
    assert panel.state.weights.run == panel.state.run
    panel.state.choose(panel.state.runs[1].id)
    assert panel.state.weights.table is None
    panel.state.choose(panel.state.runs[0].id)
    assert panel.state.weights.rows == (FULL, SMALL)


def test_a_failure_is_named_and_the_earlier_table_shown_again(panel, qtbot):
    state = panel.state.weights
    state.queue.worker = lambda _spec, _watch: TABLE.to_json()
    state.measure()
    qtbot.waitUntil(lambda: state.table is not None)

    def fail(_spec, _watch):
        raise JobFailed("No memory is left.")

    state.queue.worker = fail
    state.measure()
    qtbot.waitUntil(lambda: bool(state.problem))

    assert state.problem == "No memory is left." and len(state.rows) == 2


def test_the_table_is_saved_as_csv(panel, qtbot, tmp_path):
    state = panel.state.weights
    state.queue.worker = lambda _spec, _watch: TABLE.to_json()
    state.measure()
    qtbot.waitUntil(lambda: state.table is not None)

    state.save(tmp_path / "weights.csv")

    lines = (tmp_path / "weights.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("id,title,bytes") and lines[2].startswith("int8,")
