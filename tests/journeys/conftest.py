"""Fixtures of journeys: the application as built by `main`, with the real starter models.

All folders are temporary. The sample has a third of its texts: a journey answers for each of them
several times with a starter model.
"""

import sys
import threading
from itertools import islice

import pytest

from tests.journeys.hand import Hand


@pytest.fixture
def third_of_the_sample(monkeypatch):
    from workbench.operations.application import sample

    every = sample.records
    monkeypatch.setattr(sample, "records", lambda folder: islice(every(folder), 0, None, 3))


@pytest.fixture
def hand(qapp, qtbot, user_dir, third_of_the_sample, monkeypatch):
    """The running application in a 1280 × 800 window, and a `Hand` that finds controls by
    accessible name.
    """
    from workbench.base import settings
    from workbench.ui.app import App, make_qt

    hooks = sys.excepthook, threading.excepthook
    faults = []
    monkeypatch.setattr("workbench.ui.dialogs.error.install", lambda app: None)
    app = App(make_qt(), settings.Settings(theme="light", warm_worker=False))
    sys.excepthook = lambda kind, error, trace: faults.append(error)
    qtbot.addWidget(app.window)
    monkeypatch.setattr(
        app, "may_close", lambda: True
    )  # a journey that fails during a run must not wait for an answer
    app.window.resize(1280, 800)
    app.go("welcome")
    app.window.show()
    app.window.load_commands()
    app.window.activateWindow()
    yield Hand(app, qtbot)
    app.stop_jobs()
    app.closed()
    sys.excepthook, threading.excepthook = hooks
    assert not faults, faults
