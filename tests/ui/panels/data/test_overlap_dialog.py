"""Documents of the project that occur in text files: compared, listed, opened, cancelled."""

import pytest
from PySide6.QtWidgets import QLineEdit

from tests.held import Held
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.ui.panels.data.overlap_dialog import OverlapDialog
from workbench.ui.panels.data.overlap_state import OverlapState
from workbench.ui.panels.data.state import DOCUMENTS, DataState

LONG = "the 42 tram to the old harbour was late again this cold and wet morning"


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "texts"
    path.mkdir()
    (path / "a.txt").write_text(f"Before.\n{LONG.title()}, and more.\n", encoding="utf-8")
    return path


@pytest.fixture
def data(context):
    texts = ((LONG, "test"), (LONG.upper(), "train"), ("thank you", "test"))
    records = [
        Record(Document(f"d{n}", (("text", text),), split)) for n, (text, split) in enumerate(texts)
    ]
    with context.project.edit("fill"):
        documents.add(context.project.db, records, source_id=context.project.source("import"))
    data = DataState(context)
    yield data
    data.close()


@pytest.fixture
def state(data):
    found = OverlapState(data.selection)
    yield found
    found.close()


@pytest.fixture
def dialog(qtbot, state):
    found = OverlapDialog(None, state)
    qtbot.addWidget(found)
    return found


def keys(state):
    return [row.key for row in state.found.rows]


def test_documents_of_the_split_that_occur_in_the_texts_are_listed(dialog, state, folder):
    dialog.findChild(QLineEdit).setText(str(folder))
    dialog.compare()

    assert keys(state) == ["d0"] and state.share is None
    assert [row.key for row in dialog.table.rows()] == ["d0"]
    assert dialog._message.text() == (
        "1 of 1 documents (100.0%) shares 13 words in a row with the texts. "
        "1 document is too short to compare."
    )

    dialog._split.setCurrentIndex(dialog._split.findData(""))
    dialog._split.activated.emit(0)
    dialog._size.setValue(5)
    dialog.compare()
    assert keys(state) == ["d0", "d1"] and state.found.size == 5


def test_the_documents_found_are_shown_in_the_list_or_opened(dialog, state, folder, context, data):
    state.compare([folder])

    dialog._open(state.found.rows[0])
    dialog._show_in_list()

    document = state.found.rows[0].document
    assert documents.get(context.project.db, document).text == LONG
    assert context.went == [("annotate", {"document": document})]
    assert data.view == DOCUMENTS and list(data.selection.ids) == [document]


def test_a_path_that_does_not_exist_is_named_at_its_field(dialog, state, folder):
    dialog.findChild(QLineEdit).setText(str(folder / "none"))
    dialog.compare()

    assert "does not exist" in dialog._field.error() and state.found is None


def test_texts_that_cannot_be_read_are_a_problem_that_is_shown(state, folder, context):
    (folder / "a.txt").unlink()

    state.compare([folder])

    assert state.problem and state.share is None and context.failures == []


def test_a_comparison_shows_its_progress_and_is_cancelled(dialog, state, folder, context):
    held = Held(context)
    state.compare([folder])
    assert not dialog._wait.isHidden() and not dialog._compare.isEnabled()

    dialog._stop.click()

    held.answer(0)
    assert dialog._wait.isHidden() and dialog._compare.isEnabled() and state.problem == ""
