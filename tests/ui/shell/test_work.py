"""Long operations in the window: a title with progress, Cancel by mouse and Escape, editing
disabled.
"""

import threading

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from workbench.base.errors import WorkbenchError
from workbench.operations.documents import corpus
from workbench.storage.documents import documents
from workbench.storage.journal.replay import Replay
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.ui.shell import window_commands

COUNT = 3000


@pytest.fixture
def open_page(app, project_file, qtbot):
    """The Data page of a project with `count` documents, all selected."""
    assert app.open_project(project_file, page="data")
    with app.project.edit("Add many", bulk=True):
        records = (
            Record(Document(f"n{number}", (("text", f"text {number}"),))) for number in range(COUNT)
        )
        documents.add(app.project.db, records, source_id=app.project.source("person"))
    state = app.window.panel("data").state
    qtbot.waitUntil(lambda: not state.selection.searching and len(state.selection.ids) == COUNT + 3)
    app.window.panel("data").view.table.selectAll()
    qtbot.waitUntil(lambda: len(state.selection.chosen) == COUNT + 3)
    return state


@pytest.fixture
def slow(monkeypatch):
    """slow("delete") → an event: `delete` of documents blocks after its first batch until it is
    set.
    """

    def slow(name):
        gate, act = threading.Event(), getattr(documents, name)

        def held(db, *args, watch):
            at = watch.at

            def wait(share):
                assert share == 0 or gate.wait(20)
                at(share)

            watch.at = wait
            return act(db, *args, watch=watch)

        monkeypatch.setattr(documents, name, held)
        return gate

    return slow


def cancel_button(app):
    return next(
        button
        for button in app.work.line.findChildren(QPushButton)
        if "Cancel" in (button.text(), button.accessibleName())
    )


def describe(app):
    return app.window.note_line.text()


@pytest.mark.parametrize("by", ["mouse", "escape"])
def test_a_bulk_act_is_shown_and_can_be_called_off(app, open_page, slow, qtbot, by):
    gate = slow("delete")
    app.window.activateWindow()

    open_page.actions.delete()
    qtbot.waitUntil(app.work.line.isVisible)
    assert (
        app.work.line.accessibleName() == "Delete 3,003 documents"
        and not open_page.selection.can_act
    )
    if by == "mouse":
        qtbot.mouseClick(cancel_button(app), Qt.MouseButton.LeftButton)
    else:
        qtbot.keyClick(app.window, Qt.Key.Key_Escape)
    gate.set()
    qtbot.waitUntil(lambda: not app.working)

    assert (
        describe(app) == "Delete 3,003 documents: cancelled. No changes were made."
        and not app.work.line.isVisible()
    )
    assert (
        corpus.counts(app.project).documents == COUNT + 3
        and app.project.undo_title == "Add many"
        and open_page.selection.can_act
    )


def test_meanwhile_nothing_can_be_edited_but_everything_read(app, open_page, slow, qtbot):
    gate = slow("delete")

    open_page.actions.delete()
    qtbot.waitUntil(lambda: app.project.busy)
    assert (
        not window_commands.can_write(app.window)
        and not window_commands.can_undo(app.window)
        and not window_commands.may_close(app.window)
    )
    app.undo()
    open_page.actions.set_split("dev")
    app.go("annotate")
    qtbot.waitUntil(lambda: app.window.panel("annotate").state.session.doc is not None)
    gate.set()
    qtbot.waitUntil(lambda: not app.working)

    assert describe(app) == "3,003 documents deleted." and window_commands.can_undo(app.window)
    assert [step.title for step in app.project.history(2)] == ["Delete 3,003 documents", "Add many"]


def test_a_small_act_shows_no_bar(app, open_page, qtbot):
    shown = []
    app.work.line.begin = lambda *args, **named: shown.append(args)
    open_page.selection.choose(open_page.selection.ids[:2])

    open_page.actions.set_split("dev")
    qtbot.waitUntil(lambda: not app.working)

    assert describe(app) == "2 documents moved to dev." and shown == []


def test_a_large_undo_is_called_off_and_the_step_stands(app, open_page, monkeypatch, qtbot):
    reached, gate = threading.Event(), threading.Event()
    play = Replay._replay

    def held(self, *args):
        play(self, *args)
        reached.set()
        assert gate.wait(20)

    monkeypatch.setattr(Replay, "_replay", held)
    app.undo()
    assert reached.wait(20)
    qtbot.waitUntil(app.work.line.isVisible)
    assert app.work.line.accessibleName() == "Undo Add many"
    qtbot.mouseClick(cancel_button(app), Qt.MouseButton.LeftButton)
    gate.set()
    qtbot.waitUntil(lambda: not app.working)

    assert (
        corpus.counts(app.project).documents == COUNT + 3 and app.project.undo_title == "Add many"
    )


def test_a_fault_of_a_long_act_is_reported(app, open_page, qtbot):
    def fail(watch):
        raise WorkbenchError("The disk is full.")

    app.tasks.start("try", fail, lambda _result: None, title="Try", writes=True)
    qtbot.waitUntil(lambda: not app.working)

    assert "The disk is full." in app.window.banner.text()


def test_closing_meanwhile_asks_and_can_call_it_off(app, open_page, slow, qtbot):
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    gate, asked = slow("delete"), []

    def answer():
        dialog = QApplication.activeModalWidget()
        asked.append(dialog.windowTitle())
        dialog._cancel.click()
        gate.set()

    open_page.actions.delete()
    qtbot.waitUntil(lambda: app.project.busy)
    QTimer.singleShot(50, answer)

    assert app.may_close() and asked == ["A change is being written"] and not app.working
    assert corpus.counts(app.project).documents == COUNT + 3
