"""Fixtures of window tests: an application with temporary folders, closed at the end."""

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest

from workbench.base import settings


@pytest.fixture(scope="session", autouse=True)
def plots():
    """Import pyqtgraph on the main thread.

    The window imports it in a thread, once in a process; of many runs of the suite, one ended there
    in a segmentation fault, while the event loop of a test destroyed widgets.
    """
    import pyqtgraph  # noqa: F401


@pytest.fixture
def look(qapp):
    """The Qt application in the light theme, for tests of single widgets."""
    from workbench.ui.style import style_sheet, theme
    from workbench.ui.widgets.controls import combo_access

    combo_access.install()
    qapp.setStyle("Fusion")
    theme.load_fonts()
    style_sheet.apply(qapp, settings.Settings(theme="light"))
    return qapp


@pytest.fixture
def page_look(qapp):
    """`page_look(view)` styles a page as the window does: with a style sheet of its own.

    It is built in half the time that it takes with one on the application.
    """
    from workbench.ui.style import style_sheet, theme
    from workbench.ui.widgets.controls import combo_access

    combo_access.install()
    qapp.setStyle("Fusion")
    theme.load_fonts()
    style_sheet.apply(qapp, settings.Settings(theme="light"), ())
    return lambda view: view.setStyleSheet(style_sheet.style_sheet())


@pytest.fixture
def canary(tmp_path):
    """An image file that nothing should open, watched by `Canary`."""
    import sys

    if not sys.platform.startswith("linux"):
        pytest.skip("opens are watched by inotify, which only Linux has")
    from PySide6.QtGui import QImage

    from tests.canary import Canary

    path = tmp_path / "canary.png"
    picture = QImage(4, 4, QImage.Format.Format_RGB32)
    picture.fill(0)
    assert picture.save(str(path))
    made = Canary(path)
    yield made
    made.close()


@pytest.fixture
def app(qapp, qtbot, monkeypatch):
    """The application as built by `main`, its window shown, without a warm worker; closed at the
    end. No page is built: the Welcome page takes as long as all the rest.
    """
    import sys
    import threading

    from workbench.ui.app import App, make_qt

    hooks = sys.excepthook, threading.excepthook
    made = App(make_qt(), settings.Settings(theme="light", warm_worker=False))
    monkeypatch.setattr("workbench.ui.dialogs.error.install", lambda app: None)
    qtbot.addWidget(made.window, before_close_func=lambda _window: _ask_nothing(made, monkeypatch))
    made.window.show()
    made.window.load_commands()
    yield made
    made.stop_jobs()
    made.closed()
    sys.excepthook, threading.excepthook = hooks


def _ask_nothing(app, monkeypatch):
    """After a failure jobs may be running: closing would open a dialog and wait."""
    app.stop_jobs()
    monkeypatch.setattr(app, "may_close", lambda: True)


@pytest.fixture
def project_file(tmp_path, copy_of):
    """A closed project: a class layer (good, bad), a span layer (PER, LOC), three documents."""
    return copy_of(small_project, tmp_path / "small.glossbench")


def small_project(folder):
    """Create the project of `project_file`; returns its path."""
    from workbench.operations.schema import labels
    from workbench.project.project import Project
    from workbench.storage.documents import documents
    from workbench.text.dataset import Record
    from workbench.text.document import Document

    path = folder / "small.glossbench"
    project = Project.create(path)
    labels.add_layer(project, "class", "class", labels=("good", "bad"))
    labels.add_layer(project, "spans", "span", labels=("PER", "LOC"))
    with project.edit("Add documents"):
        texts = ("Ada met Bob in Paris.", "A fine day.", "A bad day in Rome.")
        records = [
            Record(Document(f"k{number}", (("text", text),))) for number, text in enumerate(texts)
        ]
        documents.add(project.db, records, source_id=project.source("person"))
    project.close()
    return path


@pytest.fixture
def scored_file(tmp_path, copy_of):
    """A closed project with six dev documents and two class runs.

    `first` is correct on four of six, `second` on three. Gold: good good good bad bad bad. first
    predicts good good bad bad bad good; second predicts good bad bad bad bad good.
    """
    return copy_of(scored_project, tmp_path / "scored.glossbench")


def scored_project(folder):
    """Create the project of `scored_file`; returns its path."""
    from workbench.operations.schema import labels
    from workbench.project.project import Project
    from workbench.storage.documents import documents
    from workbench.storage.runs import runs
    from workbench.text.dataset import Record
    from workbench.text.document import Document

    path = folder / "scored.glossbench"
    project = Project.create(path)
    layer = labels.add_layer(project, "class", "class", labels=("good", "bad"))
    gold = ("good", "good", "good", "bad", "bad", "bad")
    with project.edit("Add documents"):
        records = [
            Record(
                Document(f"k{n}", (("text", f"Text number {n}"),), split="dev"),
                states={"class": "submitted"},
                marks={"class": (label,)},
            )
            for n, label in enumerate(gold)
        ]
        ids = documents.add(project.db, records, source_id=project.source("person"))
    predictions = {
        "first": "good good bad bad bad good".split(),
        "second": "good bad bad bad bad good".split(),
    }
    with project.write():
        for name, predicted in predictions.items():
            spec = {
                "task": "classify",
                "layer": "class",
                "model": "starter-bert",
                "model_name": "starter-bert",
                "seed": 1,
                "options": {"epochs": 2},
            }
            right = sum(a == b for a, b in zip(gold, predicted, strict=True)) / len(gold)
            run = runs.add(
                project.db,
                name,
                "train",
                layer_id=layer,
                spec=spec,
                status="done",
                scores={"dev": {"accuracy": right, "macro_f1": right}},
            )
            rows = []
            for number, (id, label) in enumerate(zip(ids, predicted, strict=True)):
                confidence = 0.6 + 0.05 * number
                other = "bad" if label == "good" else "good"
                payload = {
                    "scores": {label: confidence, other: 1 - confidence},
                    "label": label,
                    "tokens": [],
                    "spans": [],
                    "cut": False,
                }
                rows.append((id, records[number].document.text_hash, payload))
            runs.save_predictions(project.db, run.id, rows)
    project.close()
    return path
