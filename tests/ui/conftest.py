"""What tests of the window share: an application whose folders lie in the test's own, closed at the end."""

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest

from workbench.base import settings


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    """Settings, logs and caches of the window in `tmp_path`; nothing of the person who runs the tests is touched."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CONFIG", "DATA", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.setenv("XDG_DOCUMENTS_DIR", str(tmp_path / "Documents"))


@pytest.fixture
def look(qapp):
    """Light theme on the Qt application, for tests of single widgets."""
    from workbench.ui import style, theme

    qapp.setStyle("Fusion")
    theme.load_fonts()
    style.apply(qapp, settings.Settings(theme="light"))
    return qapp


@pytest.fixture
def app(qapp, qtbot, monkeypatch):
    """The application as `main` builds it, its window shown, no worker kept warm; closed at the end."""
    import sys
    import threading

    from workbench.ui.app import App, make_qt

    hooks = sys.excepthook, threading.excepthook
    made = App(make_qt(), settings.Settings(theme="light", warm_worker=False))
    monkeypatch.setattr("workbench.ui.dialogs.error.install", lambda app: None)
    qtbot.addWidget(made.window)
    made.window.go("welcome")
    made.window.show()
    made.window.load_commands()
    yield made
    made.stop_jobs()
    made.closed()
    sys.excepthook, threading.excepthook = hooks


@pytest.fixture
def project_file(tmp_path):
    """A closed project with a class layer (good, bad), a span layer (PER, LOC) and three documents."""
    from workbench.operations import labels
    from workbench.project.project import Project
    from workbench.storage import documents
    from workbench.text.dataset import Record
    from workbench.text.document import Document

    path = tmp_path / "small.glossbench"
    project = Project.create(path)
    labels.add_layer(project, "class", "class", labels=("good", "bad"))
    labels.add_layer(project, "spans", "span", labels=("PER", "LOC"))
    with project.edit("Add documents"):
        texts = ("Ada met Bob in Paris.", "A fine day.", "A bad day in Rome.")
        records = [Record(Document.of(text, key=f"k{number}")) for number, text in enumerate(texts)]
        documents.add(project.db, records, source_id=project.source("person"))
    project.close()
    return path
