"""Exceptions of event handlers while the event loop runs."""

import sys

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QWidget

from workbench.base.errors import traceback_of
from workbench.ui.shell import event_loop


class Faulty(QWidget):
    def __init__(self, fail):
        super().__init__()
        self._fail = fail

    def showEvent(self, event):
        super().showEvent(event)
        self._fail()


def test_exceptions_of_c_code_in_event_handlers_are_reported(qtbot, monkeypatch):
    """They ended the process: Python 3.11 had not created their instances."""
    reported = []
    monkeypatch.setattr(sys, "excepthook", lambda _kind, error, _trace: reported.append(error))
    faults = {
        StopIteration: lambda: next(iter(())),
        IndexError: lambda: [][1],
        ValueError: lambda: int("x"),
    }
    loop = QEventLoop()

    for fail in faults.values():
        widget = Faulty(fail)
        qtbot.addWidget(widget)
        QTimer.singleShot(0, widget.show)
    QTimer.singleShot(20, loop.quit)

    assert event_loop.run_handling(loop.exec) == 0

    assert [type(error) for error in reported] == list(faults)


def test_a_traceback_does_not_show_the_exception_of_the_event_loop():
    def fail():
        try:
            [][1]
        except IndexError:
            raise ValueError("second") from None

    def both():
        try:
            fail()
        except ValueError:
            {}["third"]

    texts = []

    def loop():
        try:
            both()
        except KeyError as error:
            texts.append(traceback_of(error))
        return 0

    event_loop.run_handling(loop)
    assert "KeyError: 'third'" in texts[0] and "ValueError: second" in texts[0]
    assert "InEventLoop" not in texts[0]
