"""The alignment audit: findings, snapping by key, opening the place."""

from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from shiboken6 import isValid

from tests import panel_tasks
from tests.held import Held
from workbench.operations.annotation import annotate, document_view
from workbench.operations.evaluation import alignment_audit
from workbench.operations.schema import labels
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.spans import Span
from workbench.ui.dialogs import audit, audit_state


@pytest.fixture
def dialog(app, project_file, qtbot):
    assert app.open_project(project_file, page="data")
    project = app.project
    labels.add_layer(project, "place", "span", labels=("PLACE",))
    rows = [("at Riverside Pier", Span(3, 15, "PLACE")), ("by Mill Lane", Span(3, 7, "PLACE"))]
    records = [
        Record(Document(f"p{n}", (("text", text),), "train"), {"place": "submitted"}, {},
               {"place": (span,)})
        for n, (text, span) in enumerate(rows)
    ]  # fmt: skip
    with project.edit("Add documents"):
        documents.add(project.db, records, source_id=project.source("import"))
    audit.show(app, "place", "starter-bert")
    dialog = next(w for w in QApplication.topLevelWidgets() if isinstance(w, audit.AuditDialog))
    qtbot.waitUntil(lambda: dialog.state.audit is not None)
    yield dialog
    if isValid(dialog):
        dialog.accept()


def test_a_label_is_opened_snapped_by_key_and_undone(dialog, app, qtbot):
    (item,) = dialog.state.shown
    dialog.table.selectRow(0)
    assert "moved to those of words" in dialog._meaning.text()

    qtbot.keyClick(dialog.table, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: app.window.page == "annotate" and not app.window._steps)
    assert app.window.panel("annotate").state.session.chosen == ("gold", item.span_id)

    qtbot.keyClick(dialog.table, Qt.Key.Key_S)
    qtbot.waitUntil(lambda: dialog.state.audit is not None and not dialog.state.audit.findings)
    row = document_view.view(app.project, item.document_id).spans[0]
    assert (row.start, row.end) == (3, 17)

    dialog.activateWindow()
    qtbot.keyClick(dialog.table, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: [found.span_id for found in dialog.state.shown] == [item.span_id])
    assert document_view.view(app.project, item.document_id).spans[0].end == 15
    assert not dialog.state.outdated and dialog.state.describe().startswith("2 documents with 2")


def test_each_press_of_the_key_snaps_the_next_label(dialog, app, qtbot):
    cut = Record(
        Document("p9", (("text", "to Foundry Street"),), "train"),
        {"place": "submitted"},
        {},
        {"place": (Span(3, 10, "PLACE"), Span(11, 15, "PLACE"))},
    )
    with app.project.edit("Add a document"):
        documents.add(app.project.db, [cut], source_id=app.project.source("import"))
    dialog.state.check()
    qtbot.waitUntil(lambda: len(dialog.state.shown) == 2 and dialog.state.share is None)

    for left in (1, 0):
        assert [finding.quote for finding in dialog.table.chosen_rows()] == [
            dialog.state.shown[0].quote
        ]
        qtbot.keyClick(dialog.table, Qt.Key.Key_S)
        qtbot.waitUntil(lambda left=left: len(dialog.state.shown) == left)


def test_only_the_documents_that_have_changed_are_checked_again(dialog, app, qtbot, monkeypatch):
    asked, audited = [], alignment_audit.audit
    monkeypatch.setattr(
        alignment_audit,
        "audit",
        lambda *args, **named: asked.append(named["only"]) or audited(*args, **named),
    )
    (item,) = dialog.state.shown
    annotate.delete_span(app.project, item.span_id)
    qtbot.waitUntil(lambda: dialog.state.shown == ())

    assert asked == [{item.document_id}]
    assert dialog.state.describe().startswith("2 documents with 1 label;")


def test_many_changed_documents_are_only_announced(dialog, app, monkeypatch):
    monkeypatch.setattr(audit_state, "MOST_AGAIN", 0)
    (item,) = dialog.state.shown
    annotate.delete_span(app.project, item.span_id)

    assert dialog.state.outdated and dialog.state.shown == (item,)
    assert not dialog._outdated.isHidden()


def test_the_audit_closes_with_its_project(dialog, app):
    app.close_project()

    assert dialog.state.closed


@pytest.fixture
def audited(project):
    """The state of a check of two layers without a window, and the held back work."""
    for name in ("one", "two"):
        labels.add_layer(project, name, "span", labels=("PLACE",))
    context = panel_tasks.context()
    held = Held(context)
    app = SimpleNamespace(settings=None, new_tasks=lambda: context.tasks, fail=context.fail)
    state = audit_state.AuditState(app, project, "one")
    held.answer(0)  # the models
    yield state, held, context
    state.close()


def test_an_error_about_changed_documents_does_not_end_the_check_of_another_layer(
    audited, monkeypatch
):
    state, held, context = audited
    monkeypatch.setattr(alignment_audit, "audit", lambda *_args, **_named: result)
    result = SimpleNamespace(findings=(), updated=lambda _ids, _audit: result)
    held.answer(1)
    state._changed_ids = {1}
    state._check_changed()
    state.choose(layer="two")
    assert state.share == 0.0

    held.fail(2, ValueError("of layer one"))

    assert state.share == 0.0 and context.faults == []
    held.answer(3)
    assert state.audit is result and state.share is None


def test_documents_that_could_not_be_checked_again_are_outdated(audited):
    state, held, context = audited
    held.answer(1)
    before = state.audit
    state._changed_ids = {1}
    state._check_changed()

    held.fail(2, error := ValueError("damaged"))

    assert state.outdated and context.faults == [error] and state.audit is before
