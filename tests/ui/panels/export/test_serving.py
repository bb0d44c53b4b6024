"""The server of a run, on the Export page."""

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QLineEdit, QPlainTextEdit, QPushButton

from tests.ui.panels.export.test_view import named, visible
from workbench.base.errors import WorkbenchError
from workbench.base.events import Signal
from workbench.operations.models import serving
from workbench.serving.spec import ServerStats


class FakeServer:
    """A server that answers at once."""

    address, message, token, name = "http://127.0.0.1:8770", "", "", "second"

    def __init__(self):
        self.changed, self.running = Signal(), True
        self.stats = ServerStats("2026-05-04T10:00:00Z", 3, 3, 0, 12.0, 96_000_000)

    def stop(self):
        self.running = False
        self.changed.emit()


@pytest.fixture
def panel(app, exportable_file):
    assert app.open_project(exportable_file, page="export")
    return app.window.panel("export")


def labels(panel):
    return [item for item in visible(panel) if isinstance(item, QLabel)]


def test_a_server_is_started_tried_and_stopped(panel, qtbot, monkeypatch):
    requests, started = [], []

    def start(_project, _queue, run, *, weights, watch):
        started.append((run.name, weights))
        return FakeServer()

    def ask(_server, request):
        requests.append(request)
        return {**request, "label": "good"}

    monkeypatch.setattr(serving, "start", start)
    monkeypatch.setattr(serving, "ask", ask)
    state, clicked = panel.state.serving, Qt.MouseButton.LeftButton
    qtbot.waitUntil(lambda: bool(state.request))
    assert not named(panel, "Try it", QPushButton).isEnabled()

    qtbot.mouseClick(named(panel, "Start the server", QPushButton), clicked)
    qtbot.waitUntil(lambda: state.running)
    assert started == [("second", "fp32")]
    assert named(panel, "Address", QLineEdit).text() == "http://127.0.0.1:8770"
    assert named(panel, "Stop the server", QPushButton).hasFocus()
    assert any(widget.text().startswith("second  ·  since") for widget in labels(panel))

    qtbot.mouseClick(named(panel, "Try it", QPushButton), clicked)
    qtbot.waitUntil(lambda: bool(state.answer))
    assert requests == [{"text": "Text number 0"}]
    assert json.loads(named(panel, "Answer", QPlainTextEdit).toPlainText())["label"] == "good"
    qtbot.mouseClick(named(panel, "Copy request", QPushButton), clicked)
    assert "curl http://127.0.0.1:8770/predict" in QGuiApplication.clipboard().text()

    qtbot.mouseClick(named(panel, "Stop the server", QPushButton), clicked)
    assert not state.running and named(panel, "Address", QLineEdit).text() == ""
    assert named(panel, "Start the server", QPushButton).isEnabled()


def test_why_a_server_did_not_start_is_said(panel, qtbot, monkeypatch):
    def start(*_args, **_named):
        raise WorkbenchError("Serving needs the packages fastapi, uvicorn.", hint="Install them.")

    monkeypatch.setattr(serving, "start", start)
    panel.state.serving.start()
    qtbot.waitUntil(lambda: bool(panel.state.serving.problem))

    assert "fastapi" in panel.state.serving.problem and not panel.state.serving.running
