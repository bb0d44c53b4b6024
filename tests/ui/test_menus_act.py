"""Every menu entry, in every state of the application: enabled entries have an effect, disabled
none.

An effect is another page, a dialog, a step in the project, a setting, a dock, the focus, the
clipboard, a message, a job, or a change in the state of a page. `Trace` records all of these.
"""

import time
from dataclasses import asdict

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QMenu
from shiboken6 import isValid

from tests.inline import InlineQueue
from workbench.jobs import threads
from workbench.operations.runs import train
from workbench.ui import dialogs
from workbench.ui.widgets.text.view import TextView

pytestmark = pytest.mark.slow


class Trace:
    """A snapshot of the application; `shows()` before and after an entry differs if it had an
    effect.

    Timers and text views are noted when they start or are made: to search all objects of the
    window for them after each entry took half of the time.
    """

    def __init__(self, app, monkeypatch):
        self.app, self.opened, self.message = app, [], 0
        self._watched = set()
        self._timers = noted(monkeypatch, QTimer, "start", app.window)
        self._texts = noted(monkeypatch, TextView, "__init__", app.window)
        for name in dialogs.ACTS:
            monkeypatch.setitem(dialogs.ACTS, name, lambda app, name=name: self.opened.append(name))
        monkeypatch.setattr(QDialog, "exec", lambda dialog: self.opened.append(dialog) or 0)
        monkeypatch.setattr(QMenu, "popup", lambda menu, *_at: self.opened.append(menu))
        for name in ("getOpenFileName", "getSaveFileName"):
            monkeypatch.setattr(
                QFileDialog, name, lambda *a, **n: self.opened.append("file") or ("", "")
            )
        monkeypatch.setattr(
            QFileDialog, "getExistingDirectory", lambda *a, **n: self.opened.append("folder") or ""
        )
        monkeypatch.setattr(
            QDesktopServices, "openUrl", lambda url: self.opened.append(url) or True
        )
        # Settings really change; restyling all widgets each time would take minutes.
        monkeypatch.setattr(app, "restyle", lambda: self.opened.append("style"))
        for ask in ("may_close", "may_leave"):  # Quit and Close project ask for confirmation
            monkeypatch.setattr(app, ask, lambda ask=ask: self.opened.append(ask) and False)

    def _count(self, *_told):
        self.message += 1

    def watch(self):
        """Listen to changes of pages built since."""
        for panel in self.app.window._panels.values():
            if panel not in self._watched:
                self._watched.add(panel)
                panel.state.changed.connect(self._count)
                parts = getattr(panel.state, "parts", ())
                for part in (getattr(panel.state, "finder", None), *parts):
                    if part is not None:
                        part.changed.connect(self._count)

    def settle(self):
        while self.app.window._steps is not None:  # a page is being built
            self.app.qt.processEvents()
        for _round in range(3):
            while threads.computing():
                self.app.qt.processEvents()
                time.sleep(0.001)  # else threads that are waited for get little of the interpreter
            self.app.qt.processEvents()
            self._end_pauses()

    def _end_pauses(self):
        """Views take over typed text after a pause, which changes their state."""
        for _round in range(20):  # one pause may begin another
            self._timers[:] = [
                timer for timer in self._timers if isValid(timer) and timer.isActive()
            ]
            timers = [
                timer
                for timer in self._timers
                if timer.isSingleShot() and timer.interval() <= 1000 and within(timer, self.app)
            ]
            if not timers:
                return
            for timer in timers:
                timer.stop()
                timer.timeout.emit()
            self.app.qt.processEvents()

    def shows(self):
        app, window = self.app, self.app.window
        steps = [(step.id, step.undone) for step in app.project.history(50)] if app.project else []
        jobs = [(job.id, job.status, job.ending) for job in app.queue.jobs]
        texts = [
            (view.caret, view.selection, view.zoom)
            for view in self._texts
            if isValid(view) and within(view, app)
        ]
        field = app.window.editing.widget
        inner = getattr(field, "textCursor", lambda: None)()
        edited = next(
            (
                getattr(field, item)()
                for item in ("toPlainText", "text")
                if callable(getattr(field, item, None))
            ),
            "",
        )
        chosen = (
            field.selectedText() if hasattr(field, "selectedText") else "",
            (inner.anchor(), inner.position()) if inner else None,
        )
        docks = [window.dock_shown(item) for item in ("jobs", "history")]
        return {
            "opened": len(self.opened),
            "page": window.page,
            "output": self.message,
            "steps": steps,
            "settings": repr(asdict(app.settings)),
            "docks": docks,
            "jobs": jobs,
            "focus": id(QApplication.focusWidget()),
            "texts": texts,
            "field": (edited, chosen),
            "clipboard": QGuiApplication.clipboard().text(),
            "note": window.note_line.text(),
            "banner": window.banner.text(),
            "frame": (window.isFullScreen(), tuple(window._torn)),
            "table": window.panel("data") and window.panel("data").view.table.chosen_count(),
        }


def noted(monkeypatch, kind, method, window):
    """The objects of a kind in the window, to which each one is added that calls `method`."""
    objects, real = list(window.findChildren(kind)), getattr(kind, method)

    def called(item, *args, **named):
        if all(item is not known for known in objects):
            objects.append(item)
        return real(item, *args, **named)

    monkeypatch.setattr(kind, method, called)
    return objects


def within(item, app):
    """Whether an object belongs to the window of the application."""
    while item is not None and item is not app.window:
        item = item.parent()
    return item is app.window


@pytest.fixture
def app(app):
    """As after the start without a project: the Welcome page is shown."""
    app.window.go("welcome")
    return app


@pytest.fixture
def trace(app, monkeypatch):
    """Jobs do nothing, so that a running one keeps running."""
    monkeypatch.setattr(InlineQueue, "_run", lambda self, job: None)
    app.queue, app._queue_used = InlineQueue(dispatch=app.dispatch), True
    app.queue.changed.connect(app._jobs_changed)
    return Trace(app, monkeypatch)


def entries(app, menu, *, everywhere=True):
    """The entries of a menu as it opens now, without submenus; of the page and of Edit, or all."""
    app.window.menus.menus[menu].aboutToShow.emit()
    shown = set(actions_of(app.window.menus.menus[menu]))
    return [
        entry
        for entry in app.window.menus.entries
        if entry.submenu is None
        and entry.action in shown
        and (everywhere or menu == "Edit" or entry.page == app.window.page)
    ]


def actions_of(menu):
    for action in menu.actions():
        yield action
        if action.menu() is not None:
            yield from actions_of(action.menu())


def back(trace, page):
    """Restore the initial situation: its page, with nothing in front of it."""
    window = trace.app.window
    for torn in tuple(window._torn):
        window.bring_back(torn)
    if window.isFullScreen():
        window.showNormal()
    for dock in ("jobs", "history"):
        window.toggle_dock(dock, False)
    for side in ("left", "right"):
        annotate = window.panel("annotate")
        if annotate is not None and annotate.view.folded(side):
            annotate.view.fold(side)
    window.note_line.hide()
    window.banner.hide()
    if window.page != page:
        window.go(page)
    trace.settle()


def pretenders(trace, pages):
    """(page, title, kind) of enabled entries without effect and disabled ones with an effect."""
    app, collected = trace.app, []
    for everywhere, page in zip([True] + [False] * len(pages), pages, strict=False):
        app.window.go(page)
        trace.settle()
        for menu, bar in app.window.menus.menus.items():
            for number in range(len(entries(app, menu, everywhere=everywhere))):
                back(trace, page)
                trace.watch()
                entry = entries(app, menu, everywhere=everywhere)[number]
                enabled, action = entry.action.isEnabled(), entry.action
                ticked = action.isCheckable() and action.isChecked()
                QGuiApplication.clipboard().setText("held")
                before = trace.shows()
                bar.aboutToHide.emit()
                app.window.menus.act(entry)
                trace.settle()
                acted = trace.shows() != before
                if acted != enabled and not ticked:
                    collected.append((page, entry.command.plain(entry.target()), enabled))
                take_back(app, before["steps"])
    return collected


def take_back(app, steps):
    """Undo or redo what an entry changed in the project."""
    if app.project is None or [(step.id, step.undone) for step in app.project.history(50)] == steps:
        return
    undone = sum(step.undone for step in app.project.history(50))
    (app.redo if undone > sum(was for _id, was in steps) else app.undo)()


def all_pages(app):
    return ["welcome", *(page.id for page in app.window.pages())]


def test_without_a_project_what_is_enabled_acts(app, trace):
    assert pretenders(trace, all_pages(app)) == []


def test_in_an_empty_project_what_is_enabled_acts(app, trace, tmp_path):
    from workbench.project.project import Project

    Project.create(tmp_path / "empty.glossbench").close()
    assert app.open_project(tmp_path / "empty.glossbench", page="data", ask=False)

    assert pretenders(trace, all_pages(app)) == []


def test_in_the_sample_what_is_enabled_acts(app, trace, copy_sample, tmp_path):
    open_sample(app, copy_sample(tmp_path))

    assert pretenders(trace, all_pages(app)) == []


def test_while_a_run_is_going_on_what_is_enabled_acts(app, trace, copy_sample, tmp_path):
    open_sample(app, copy_sample(tmp_path))
    start_run(app)
    trace.settle()

    assert pretenders(trace, ["train", "results"]) == []


def open_sample(app, sample_file):
    assert app.open_project(sample_file, page="annotate", ask=False)


def start_run(app):
    state = app.window._widget("train") and app.window.panel("train").state
    train.start(app.project, app.queue, state.spec())
