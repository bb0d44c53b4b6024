"""The view of the nearest documents: its selection is that of all views."""

from types import SimpleNamespace

import pytest

from tests.ui.panels.inspect.shown import Page, cells, named, show, texts
from workbench.inspection.near_documents.info import NearDocument, NearDocuments
from workbench.ui.widgets.tables.table import Table

NEAR = tuple(NearDocument(id, f"m-{id}", f"text\n{id}", 1 - id / 10) for id in (1, 2, 3))
RESULT = NearDocuments(NEAR, 1, (0, 1), 3, 9)


@pytest.fixture
def view(qtbot):
    page = Page("text 2")
    page.document_id, page.chosen_documents, page.opened = 2, (3,), []
    page.corpus = SimpleNamespace(
        choose=lambda ids: page.update(chosen_documents=ids), open=page.opened.append
    )
    return show(qtbot, "near_documents", RESULT, page=page)


def test_the_text_itself_is_left_out_and_a_sample_is_named(view):
    assert cells(named(view, "Nearest documents")) == [
        ["0.900", "text 1", "m-1"],
        ["0.700", "text 3", "m-3"],
    ]
    assert "random sample of 3 documents" in texts(view)
    assert view.data()[2] == [0.8, "m-2", "text\n2"]


def test_documents_are_selected_in_every_view(view):
    table = named(view, "Nearest documents", Table)
    assert [row.document for row in table.chosen_rows()] == [3]

    view.page.chosen_documents = (1,)
    view.show_state(frozenset({"chosen_documents"}))
    assert [row.document for row in table.chosen_rows()] == [1]

    table.selectRow(1)
    assert view.page.chosen_documents == (3,)


def test_a_document_is_opened_and_another_layer_asked_for(view, monkeypatch):
    monkeypatch.setattr(view.state, "ask", lambda: None)  # without an index of documents

    named(view, "Nearest documents", Table).opened.emit(NEAR[0])
    named(view, "0").click()

    assert view.page.opened == [1] and view.state.options == {"layer": 0}
