"""The Export page in a window."""

import threading
from functools import partial

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QLineEdit, QPushButton, QTableView, QWidget

from tests.ui.panels.export.conftest import WorkerQueue
from workbench.base.errors import JobFailed
from workbench.base.registry import registry
from workbench.exporters.model.spec import ExporterInfo
from workbench.operations.models import export
from workbench.operations.runs import run_folders
from workbench.ui.widgets.callout import Callout


@pytest.fixture
def panel(app, exportable_file, qtbot, monkeypatch, tmp_path):
    app.settings.documents_folder = str(tmp_path / "out")
    assert app.open_project(exportable_file, page="export")
    panel = app.window.panel("export")
    monkeypatch.setattr(panel.state, "queue", WorkerQueue())
    return panel


def named(panel, name, kind=QWidget):
    return next(
        widget
        for widget in panel.view.findChildren(kind)
        if widget.accessibleName() == name and widget.isVisible()
    )


def visible(panel):
    return [widget for widget in panel.view.findChildren(QWidget) if widget.isVisible()]


def test_run_folder_and_button_have_their_names_and_values(panel):
    assert named(panel, "Run", QComboBox).currentText().startswith("second")
    assert named(panel, "Folder", QLineEdit).text().endswith("small second")
    assert named(panel, "Export model", QPushButton).isEnabled()
    assert "62.5" in panel.view._choices._run_field._message.text()


@pytest.mark.parametrize("percent", [100, 150, 200])
def test_the_check_never_covers_the_options(app, panel, qtbot, percent):
    app.settings.text_size = percent
    app.restyle()
    app.window.resize(1280, 760)
    qtbot.wait(50)
    options, check = panel.view._choices, panel.view.checks

    assert options.geometry().right() < check.mapTo(panel.view, QPoint(0, 0)).x()
    app.settings.text_size = 100
    app.restyle()


def test_a_typed_folder_is_taken_and_return_starts_nothing(panel, qtbot, tmp_path):
    folder = named(panel, "Folder", QLineEdit)
    folder.selectAll()
    qtbot.keyClicks(folder, str(tmp_path / "mine"))
    qtbot.keyClick(folder, Qt.Key.Key_Return)

    assert panel.state.folder == str(tmp_path / "mine") and panel.state.queue.specs == []


def test_without_a_format_the_button_waits(panel, qtbot):
    for card in panel.view._choices.formats.values():
        if card.box.isChecked():
            card.box.click()

    assert not named(panel, "Export model", QPushButton).isEnabled()


def test_a_format_that_the_run_does_not_support_is_disabled_and_says_why(panel, monkeypatch):
    monkeypatch.setattr(ExporterInfo, "unfit", lambda _info, _model: "It has no graph.")
    panel.state.update(offers=export.offers(panel.state.project, panel.state.run))
    cards = panel.view._choices.formats

    assert not cards["hf"].box.isEnabled()
    assert cards["hf"].box.toolTip() == "It has no graph."


def test_adapters_are_offered_only_for_runs_that_have_them(panel):
    run, formats = panel.state.run, panel.view._choices.formats
    assert "adapter" not in formats

    (run_folders.model(panel.state.project, run.id) / "adapter").mkdir()
    registry().changed.emit()

    assert "adapter" in panel.view._choices.formats


def test_formats_come_and_go_with_their_plugins(panel):
    before = registry().everything()
    try:
        registry().replace(tuple(entry for entry in before if entry.id != "onnx"))
        assert "onnx" not in panel.view._choices.formats
    finally:
        registry().replace(before)

    assert "onnx" in panel.view._choices.formats


def test_the_check_is_shown_as_it_goes_and_its_result_in_words(app, panel, qtbot, checked, written):
    gate = threading.Event()

    def worker(spec, watch):
        for number in range(3):
            app.dispatch(partial(watch.event, checked(number)))
        gate.wait(20)
        return written(spec.params["out"])

    panel.state.queue.worker = worker
    qtbot.mouseClick(named(panel, "Export model", QPushButton), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(panel.state.rows) == 3)
    table = named(panel, "Checked texts", QTableView)
    qtbot.waitUntil(lambda: table.model().rowCount() == 3)
    assert (
        named(panel, "Cancel export").isVisible()
        and not named(panel, "Export model", QPushButton).isEnabled()
    )

    gate.set()
    qtbot.waitUntil(lambda: not panel.state.busy)

    line = "ONNX, 32 bit: 2 of 3 labels equal, largest difference 3.0e-06"
    qtbot.waitUntil(lambda: any(w.accessibleName() == line for w in visible(panel)))
    qtbot.mouseClick(named(panel, "Differences", QPushButton), Qt.MouseButton.LeftButton)
    assert table.isVisible()
    assert table.model().index(0, 4).data() == "3.0e-06"
    qtbot.mouseClick(named(panel, "Copy loading code", QPushButton), Qt.MouseButton.LeftButton)
    assert (
        "from_pretrained" in QGuiApplication.clipboard().text()
        or "pipeline" in QGuiApplication.clipboard().text()
    )
    assert named(panel, "Open folder", QPushButton).isEnabled()


def test_results_can_send_a_run_here(panel, app):
    first = panel.state.runs[1]

    app.go("export", run=first.id)

    assert named(panel, "Run", QComboBox).currentText().startswith("first")


def test_a_project_without_runs_leads_to_train(app, project_file, qtbot, monkeypatch):
    assert app.open_project(project_file, page="export")
    panel = app.window.panel("export")
    gone = []
    monkeypatch.setattr(panel.context.app, "visit", lambda page, **args: gone.append(page))

    qtbot.mouseClick(named(panel, "Train a model", QPushButton), Qt.MouseButton.LeftButton)

    assert gone == ["train"]


def test_the_left_column_is_as_wide_as_its_words_need_at_150_per_cent(panel, qtbot):
    from PySide6.QtWidgets import QApplication, QScrollArea

    from workbench.base import settings
    from workbench.ui.style import style_sheet

    try:
        style_sheet.apply(QApplication.instance(), settings.Settings(theme="light", text_size=150))
        panel.context.app.window.resize(1280, 800)
        area = panel.view._choices.findChild(QScrollArea)
        qtbot.waitUntil(lambda: area.widget().minimumSizeHint().width() <= area.viewport().width())
    finally:
        style_sheet.apply(QApplication.instance(), settings.Settings(theme="light"))


def test_why_an_export_failed_is_in_sight_without_scrolling(panel, app, qtbot):
    def fail(_spec, _watch):
        raise JobFailed("The weights have changed.", hint="Restore.")

    app.window.resize(1280, 760)
    panel.state.queue.worker = fail

    panel.state.start()
    qtbot.waitUntil(lambda: not panel.state.busy)

    (callout,) = (item for item in panel.view.findChildren(Callout) if item.isVisible())
    qtbot.waitUntil(lambda: callout.visibleRegion().boundingRect().height() == callout.height())
