"""State and list of similar documents: read once asked for, after an index, again after edits."""

from types import SimpleNamespace

import pytest

from tests.held import Held
from tests.ui.panels.results.test_state import Context
from workbench.base.settings import Settings
from workbench.operations.documents import similar
from workbench.operations.documents.similar import SimilarDocument
from workbench.operations.inspecting import corpus_index
from workbench.project.changes import Changes
from workbench.text.labels import Layer
from workbench.ui.panels.results.review.error_detail import SimilarList
from workbench.ui.panels.results.review.similar import SimilarState

LAYER = Layer("class", "class", id=1)
ROW = SimilarDocument(7, "k7", "late again", "train", ("delay",), 0.91)


@pytest.fixture
def made(monkeypatch):
    """A state whose index is ready; made.read are the documents that were compared."""
    made = SimpleNamespace(read=[], indexed=0, ready=True)

    def need(*_given):
        made.indexed += 1
        return SimpleNamespace(
            ready=made.ready, documents=5_000, forms=(), files=SimpleNamespace(key="k", about=FILE)
        )

    FILE = SimpleNamespace(is_file=lambda: False)  # noqa: N806 (a stand-in of a path)
    monkeypatch.setattr(corpus_index, "need", need)
    monkeypatch.setattr(corpus_index, "completed", lambda _p, _n, given: {**given, "index": "i"})
    monkeypatch.setattr(similar, "model_for", lambda *_given: SimpleNamespace(title="starter-bert"))

    def nearest(_project, _layer, _task, document, index):
        made.read.append((document, index))
        return (ROW,)

    monkeypatch.setattr(similar, "nearest", nearest)
    context = Context(SimpleNamespace())
    context.settings = Settings()
    made.state = SimilarState(context)
    return made


def test_nothing_is_read_before_the_list_is_shown_and_the_index_is_found_once(made):
    made.state.follow(LAYER, "classify", None, 3)
    assert made.read == []

    made.state.show(True)
    made.state.follow(LAYER, "classify", None, 4)
    made.state.follow(LAYER, "classify", None, 4)
    assert made.read == [(3, "i"), (4, "i")] and made.indexed == 1
    assert made.state.rows == (ROW,) and made.state.model == "starter-bert"


def test_labels_read_the_list_again_and_texts_the_index_too(made):
    made.state.show(True)
    made.state.follow(LAYER, "classify", None, 3)

    made.state.project_changed(Changes("Label", None, {"mark": frozenset({1})}, frozenset()))
    assert (len(made.read), made.indexed) == (2, 1)
    made.state.project_changed(Changes("Add", None, {"document": frozenset({1})}, frozenset()))
    assert (len(made.read), made.indexed) == (3, 2)


def test_a_large_project_waits_for_a_click_and_a_row_opens_in_annotate(made, qtbot):
    made.ready = False
    made.state.show(True)
    made.state.follow(LAYER, "classify", None, 3)
    shown = SimilarList(made.state, lambda _name: None)
    qtbot.addWidget(shown)
    shown.show_state(5)
    assert not shown._compute.isHidden() and shown._table.isHidden()

    made.state.update(build=None, rows=(ROW,))
    shown.show_state(5)
    assert shown._compute.isHidden() and [row.key for row in shown._table.rows()] == ["k7"]
    shown._table.opened.emit(ROW)
    assert made.state.context.gone == [("annotate", {"document": 7})]


def test_without_a_model_it_says_so(made, monkeypatch):
    monkeypatch.setattr(similar, "model_for", lambda *_given: None)
    made.state.show(True)
    made.state.follow(LAYER, "classify", None, 3)

    assert made.state.message == "No model is installed that gives vectors."


def test_documents_found_before_labels_changed_do_not_replace_those_found_after(made, monkeypatch):
    state = made.state
    state.show(True)
    state.follow(LAYER, "classify", None, 3)
    held, found = Held(state.context), iter(("old", "new"))
    monkeypatch.setattr(similar, "nearest", lambda *_given: next(found))
    state.project_changed(Changes("Label", None, {"mark": frozenset({1})}, frozenset()))
    held.compute(0)
    state.project_changed(Changes("Label", None, {"mark": frozenset({1})}, frozenset()))

    held.answer(1, 0)

    assert state.rows == "new"


def test_an_error_about_another_document_is_not_shown(made):
    state = made.state
    state.show(True)
    state.follow(LAYER, "classify", None, 3)
    held = Held(state.context)
    state.follow(LAYER, "classify", None, 4)
    state.follow(LAYER, "classify", None, 5)

    held.answer(1)
    held.fail(0, ValueError("deleted"))

    assert state.rows == (ROW,) and state.message == ""


def test_the_index_that_is_computed_is_that_of_every_document_of_the_run(made):
    made.ready = False
    made.state.show(True)
    for document in (3, 4, 5):
        made.state.follow(LAYER, "classify", None, document)

    assert made.indexed == 1 and made.state.build.waits
