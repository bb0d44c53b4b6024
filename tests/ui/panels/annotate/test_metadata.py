"""The metadata of a document beside its text."""

import pytest
from PySide6.QtCore import Qt

from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.parts import COUNT, NUMBER, OF
from workbench.ui.panels.annotate.metadata import VALUE_LENGTH, shown

META = {"word": "spring", "index": 3, "senses": ["season", "time_of_year"], "empty": "", "no": None}


@pytest.fixture
def described(filled):
    """The id of a document with metadata."""
    with filled.edit("Add documents"):
        record = Record(Document("d", (("text", "In spring."),), meta=META))
        (id,) = documents.add(filled.db, [record], source_id=filled.source("person"))
    return id


@pytest.fixture
def pane(state, open_view):
    view = open_view(state)
    return view.right.metadata


def test_names_and_values_are_shown_beside_the_text_that_has_them(pane, state, described):
    assert pane.isHidden()  # the first document has none

    state.session.open(described)

    assert pane.isVisible()
    lines = pane.text.toPlainText().split("\n")
    assert lines == ["word  spring", "index  3", "senses  season, time_of_year"]
    content = pane.text.document().size().height()
    assert pane.text.viewport().height() >= content  # all lines are in sight
    state.queue.step(-1)
    assert pane.isHidden()


def test_folded_metadata_stays_folded_in_later_documents(pane, state, described, qtbot):
    state.session.open(described)
    qtbot.mouseClick(pane._head, Qt.MouseButton.LeftButton)
    assert pane.text.isHidden() and pane.isVisible()

    state.queue.step(-1)
    state.session.open(described)
    assert pane.text.isHidden() and state.context.settings.window["annotate.metadata"] is False

    qtbot.mouseClick(pane._head, Qt.MouseButton.LeftButton)
    assert pane.text.isVisible()


def test_long_values_are_shortened_and_places_of_parts_are_left_out():
    meta = {OF: "book", NUMBER: 1, COUNT: 9, "text": "x" * 5_000, "more": {"a": "ä"}, "yes": True}

    assert shown(meta) == (
        ("text", "x" * VALUE_LENGTH + "…"),
        ("more", '{"a": "ä"}'),
        ("yes", "true"),
    )
