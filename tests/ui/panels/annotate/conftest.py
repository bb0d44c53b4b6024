"""A project to annotate: a class, a span and a pair layer; five documents and a pair."""

from types import SimpleNamespace

import pytest

from tests.operations.conftest import (  # noqa: F401 (fixtures)
    add_documents,
    add_layer,
    add_texts,
    topics,
)
from tests.panel_tasks import add_tasks
from workbench.base.errors import WorkbenchError
from workbench.base.settings import Settings
from workbench.operations.schema import labels
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document

TEXTS = (
    "Ada met Bob in Paris.",
    "The 42 tram was late.",
    "A fine day in Rome.",
    "נסענו באוטובוס 42 הביתה",
    "Nobody came.",
)


@pytest.fixture
def filled(tmp_path, copy_of):
    """The project, open for writing; checks that no listener is left."""
    project = Project.open(copy_of(filled_project, tmp_path / "filled.glossbench"))
    yield project
    assert not project.changed.listeners
    project.close()


def filled_project(folder):
    """Create the project of `filled`; returns its path."""
    path = folder / "filled.glossbench"
    project = Project.create(path)
    labels.add_layer(
        project,
        "mood",
        "class",
        labels=("good", "bad"),
        guideline="# Mood\n\nOf the whole message.",
    )
    labels.add_layer(project, "names", "span", labels=("PER", "LOC", "TIME"))
    labels.add_layer(project, "pairs", "class", texts=2, labels=("same", "other"))
    with project.edit("Add documents"):
        records = [Record(Document(f"k{n}", (("text", text),))) for n, text in enumerate(TEXTS)]
        records.append(
            Record(Document("pair", (("text", "It rains."), ("text_b", "The sun shines."))))
        )
        documents.add(project.db, records, source_id=project.source("person"))
    project.close()
    return path


@pytest.fixture
def context(filled):
    """The context of a state, without a window.

    `message` collects messages and errors, `gone` the pages opened; `offered` are the buttons of
    the last message.
    """
    made = SimpleNamespace(project=filled, settings=Settings(), message=[], gone=[])

    def attempt(act, *args, **named):
        try:
            return act(*args, **named)
        except WorkbenchError as error:
            made.message.append(str(error))
            return None

    made.attempt = attempt

    def note(text, undo=False, *, action="", more=()):
        made.message.append(text)
        made.offered = {**({action or "Undo": undo} if undo else {}), **dict(more)}

    made.note = note
    made.go = lambda page, **args: made.gone.append((page, args))
    made.dispatch = lambda act: act()
    made.fail = lambda error: made.message.append(str(error))
    return add_tasks(made)


@pytest.fixture
def state(context):
    from workbench.ui.panels.annotate.state import Desk

    made = Desk(context)
    yield made
    made.close()


@pytest.fixture
def open_view(page_look, qtbot):
    """`open_view(state)` → the Annotate page, shown in an active window."""
    from workbench.ui.panels.annotate.view import AnnotateView

    def make(state, height=700):
        view = AnnotateView(state)
        qtbot.addWidget(view)
        view.resize(1100, height)
        page_look(view)
        with qtbot.waitActive(view):
            view.show()
            view.activateWindow()
        return view

    return make
