"""History and export of guidelines on the Labels page."""

from datetime import timedelta

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QPlainTextEdit, QTableView

from tests.ui.panels.labels.test_view import named
from workbench.operations.schema import guideline, labels


@pytest.fixture
def panel(app, project_file):
    assert app.open_project(project_file, page="labels")
    return app.window.panel("labels")


def text_of(panel):
    return labels.layers(panel.state.project)[0].guideline


def test_an_earlier_version_is_seen_and_restored(panel, qtbot, monkeypatch):
    monkeypatch.setattr(guideline, "TOGETHER", timedelta(0))
    project, id = panel.state.project, panel.state.layer.id
    guideline.write(project, id, "# One\n\nfirst")
    guideline.restore(project, id, 1)
    guideline.add_example(project, id, "good", 1)
    dialogs = []

    def use():
        dialog = QApplication.activeModalWidget()
        dialogs.append(dialog.difference.toPlainText())
        table = next(part for part in dialog.findChildren(QTableView))
        table.selectRow(1)
        dialogs.append(dialog.difference.toPlainText())
        dialog.restore()
        dialogs.append(table.model().rowCount())
        dialog.reject()

    QTimer.singleShot(0, use)
    qtbot.mouseClick(named(panel, "History…", QAbstractButton), Qt.MouseButton.LeftButton)

    assert "+ ## good" in dialogs[0] and "  first" in dialogs[0]
    assert dialogs[1] == "+ # One\n+ \n+ first" or "+ first" in dialogs[1]
    assert dialogs[2] == 3 and text_of(panel) == "# One\n\nfirst"
    project.undo()
    assert "✓" in text_of(panel)


def test_the_page_is_written_where_the_user_says(panel, qtbot, tmp_path, monkeypatch):
    guideline.write(panel.state.project, panel.state.layer.id, "Rules.")
    path = tmp_path / "page.html"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a: (str(path), ""))

    qtbot.mouseClick(named(panel, "Export HTML…", QAbstractButton), Qt.MouseButton.LeftButton)

    qtbot.waitUntil(path.exists)
    assert "Rules." in path.read_text(encoding="utf-8")


def test_an_example_that_is_added_while_one_writes_stays(panel, qtbot):
    qtbot.mouseClick(named(panel, "Write", QAbstractButton), Qt.MouseButton.LeftButton)
    editor = named(panel, "Guideline text", QPlainTextEdit)
    qtbot.keyClicks(editor, "Rules.")
    guideline.add_example(panel.state.project, panel.state.layer.id, "good", 1)

    panel.view.save_guideline()

    assert "Rules." in text_of(panel) and "✓" in text_of(panel)
    assert editor.toPlainText() == text_of(panel)
