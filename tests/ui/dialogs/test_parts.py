"""Splitting documents into sentences and paragraphs from the window."""

import pytest

from tests import panel_tasks
from tests.held import Held
from workbench.base.errors import WorkbenchError
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.ui.dialogs import parts_state
from workbench.ui.dialogs.parts import PartsDialog
from workbench.ui.dialogs.parts_state import PartsState


@pytest.fixture
def context(project):
    """Does tasks at once; `message` collects messages."""
    context = panel_tasks.context(project=project, message=[])
    context.note = lambda text, undo=False: context.message.append((text, undo))
    return context


@pytest.fixture
def ids(project):
    texts = "Ada left. Bob came.\nThey met.", "One."
    with project.edit("fill"):
        records = [Record(Document(f"k{n}", (("text", text),))) for n, text in enumerate(texts)]
        return documents.add(project.db, records, source_id=project.source("import"))


def keys(project):
    return [record.document.key for record in documents.records(project.db)]


def test_what_becomes_of_the_documents_is_told_before(context, ids):
    state = PartsState(context, ids)
    assert state.message == (
        "1 document becomes 3 parts.\n1 document is left unchanged: a single part."
    )
    state.set_unit("paragraph")
    assert state.message.startswith("1 document becomes 2 parts.")
    state.close()


def test_documents_are_split_and_joined_again(context, ids):
    state = PartsState(context, ids)
    state.split()
    state.close()
    assert keys(context.project) == ["k1", "k0/1", "k0/2", "k0/3"]
    parts = [record.document.id for record in documents.records(context.project.db)][1:]

    parts_state.join(context, parts[:1])

    assert keys(context.project) == ["k1", "k0"]
    assert context.message == [
        ("1 document becomes 3 parts.", True),
        ("1 document was joined from its parts.", True),
    ]


def test_the_button_waits_for_something_to_split(qtbot, context, ids):
    state = PartsState(context, ids[1:])
    dialog = PartsDialog(None, state)
    qtbot.addWidget(dialog)

    assert not dialog._split.isEnabled()
    assert "a single part" in dialog._message.text()
    state.close()


def test_parts_that_cannot_be_counted_leave_no_message_that_they_are(context, ids):
    held = Held(context)
    state = PartsState(context, ids)
    state.set_unit("paragraph")

    held.fail(0, WorkbenchError("earlier"))
    assert state.message == "Counting the parts…"
    held.fail(1, WorkbenchError("The project is busy."))

    assert state.message == "The project is busy."
    state.set_unit("sentence")
    held.answer(2)
    assert state.message.startswith("1 document becomes 3 parts.")
    state.close()
