"""Drive the window like a user: find controls by accessible name, use the mouse or the keyboard."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import pytest
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QMenu,
    QMenuBar,
    QTableView,
    QWidget,
)

from workbench.base.settings import Settings
from workbench.operations.runs import results
from workbench.storage.runs.runs import Run

PATIENCE = (
    600_000  # milliseconds for training, export or loading a model; slow machines must not fail
)
SOON = 30_000
LONGEST_PAUSE = 100  # milliseconds between two checks of a condition

NO, CTRL, SHIFT, ALT = (
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.AltModifier,
)
PAGES = "Data Annotate Labels Models Train Results Inspect Prompts Export".split()


@contextmanager
def window(qtbot, chosen: Settings) -> Iterator[Hand]:
    """The running application in a 1280 × 800 window. Errors that reach it fail the test."""
    from workbench.ui.app import App, make_qt

    faults: list[BaseException] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("workbench.ui.dialogs.error.install", lambda app: None)
        app = App(make_qt(), chosen)
        patch.setattr(sys, "excepthook", lambda kind, error, trace: faults.append(error))
        patch.setattr(threading, "excepthook", threading.excepthook)
        qtbot.addWidget(app.window)
        # a journey that fails during a run must not wait for an answer
        patch.setattr(app, "may_close", lambda: True)
        app.window.resize(1280, 800)
        app.go("welcome")
        app.window.show()
        app.window.load_commands()
        app.window.activateWindow()
        yield Hand(app, qtbot)
        app.stop_jobs()
        app.closed()
        app.window.close()
    assert not faults, faults


class Hand:
    def __init__(self, app, qtbot):
        self.app, self.qtbot = app, qtbot

    # ---------------------------------------------------------------- finding

    def find(self, name: str, within: QWidget | None = None, kind: type = QWidget) -> QWidget:
        """The visible control with this accessible name (without a trailing "…"); waits for it."""
        matches: list[QWidget] = []

        def is_shown() -> bool:
            root = within or QApplication.activeModalWidget() or self.app.window
            matches[:] = [
                widget
                for widget in root.findChildren(kind)
                if widget.isVisible() and widget.accessibleName().rstrip("…") == name
            ]
            return bool(matches)

        self.wait(is_shown, f"no visible widget is named {name!r}")
        return matches[0]

    def wait(self, condition: Callable[[], bool], message: str = "", timeout: int = SOON) -> None:
        """Process events until the condition holds; fails with the message after the timeout (ms).

        The longer it takes, the less often the condition is checked: a check may read the project,
        and a job needs the processor meanwhile.
        """
        end, pause = time.monotonic() + timeout / 1000, 5
        while not condition():
            assert time.monotonic() < end, message or "not yet"
            self.qtbot.wait(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def rows(self, name: str) -> int:
        table = self.find(name, kind=QAbstractItemView)
        return table.model().rowCount()

    def job_ends(self) -> None:
        """Wait until the queue has no running or queued jobs."""
        self.wait(
            lambda: not self.app.queue.running and not self.app.queue.waiting,
            "a job is still running",
            PATIENCE,
        )

    # ---------------------------------------------------------------- mouse

    def click(self, name: str, at: QPoint | None = None, within: QWidget | None = None) -> QWidget:
        control = self.find(name, within)
        self.wait(control.isEnabled, f"{name!r} cannot be used")
        self.awake()
        self.qtbot.mouseClick(_target(control), Qt.MouseButton.LeftButton, NO, at or QPoint())
        return control

    def menu(self, *titles: str) -> None:
        """Click through the menu bar: the menu, submenus, the entry; each by how it begins."""
        self.awake()
        bar: QMenuBar | QMenu = self.app.window.menuBar()
        for title in titles:
            self.wait(bar.isVisible, f"the menu before {title!r} does not open")
            action = next(
                action
                for action in bar.actions()
                if action.isVisible() and action.text().replace("&", "").startswith(title)
            )
            assert action.isEnabled(), f"{title!r} cannot be used"
            place = bar.actionGeometry(action).center()
            self.qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, NO, place)
            bar = cast(QMenu, action.menu()) if action.menu() is not None else bar

    def double_click(self, name: str, at: QPoint) -> None:
        control = _target(self.find(name))
        self.qtbot.mouseClick(control, Qt.MouseButton.LeftButton, NO, at)
        self.qtbot.mouseDClick(control, Qt.MouseButton.LeftButton, NO, at)

    def choose(self, name: str, text: str) -> None:
        """Open a combo box and click the entry that starts with `text`."""
        box = self.find(name, kind=QComboBox)
        index = next(
            number for number in range(box.count()) if box.itemText(number).startswith(text)
        )
        box.showPopup()
        view = box.view()
        self.wait(view.isVisible)
        view.setCurrentIndex(view.model().index(index, box.modelColumn()))
        QTest.keyClick(view, Qt.Key.Key_Return)
        self.wait(lambda: not view.isVisible())

    def click_row(self, name: str, row: int, column: int = 1) -> None:
        table = self.find(name, kind=QAbstractItemView)
        self.wait(lambda: table.model().rowCount() > row)
        columns = table.model().columnCount() if isinstance(table, QTableView) else 1
        area = table.visualRect(table.model().index(row, min(column, columns - 1)))
        self.qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, NO, area.center())

    # ---------------------------------------------------------------- keys

    def awake(self) -> None:
        """Activate the window after a dialog, as a window manager does."""
        if QApplication.activeModalWidget() is None and not self.app.window.isActiveWindow():
            self.app.window.activateWindow()
            self.wait(self.app.window.isActiveWindow, "the window does not become active")

    def press(self, name: str, key: Qt.Key, modifiers=NO) -> None:
        """Press a key on the control with this name."""
        control = self.find(name)
        self.awake()
        control.setFocus()
        QTest.keyClick(control, key, modifiers)

    def key(self, key: Qt.Key, modifiers=NO, times: int = 1) -> None:
        """Press a key in the focused widget; shortcuts of the window take precedence."""
        self.awake()
        for _number in range(times):
            QTest.keyClick(_focused(self.app), key, modifiers)

    def type(self, text: str) -> None:
        self.awake()
        QTest.keyClicks(_focused(self.app), text)

    def page(self, name: str) -> None:
        """Ctrl+Alt+digit."""
        self.key(Qt.Key(Qt.Key.Key_1 + PAGES.index(name)), CTRL | ALT)
        self.wait(lambda: self.app.window.page == name.lower(), f"{name} does not show")

    def unfold_sides(self) -> None:
        """Show what Annotate folds on the small screen of the offscreen platform (Shift+F9)."""
        view = self.app.window.panel("annotate").view
        if view.folded("right"):
            self.press("Text", Qt.Key.Key_F9, SHIFT)
        self.wait(lambda: not view.folded("right"), "the side stays folded")

    def tab_to(self, name: str, most: int = 80) -> QWidget:
        """Press Tab until the control with this name has the focus."""
        self.find(name)
        self.awake()
        for _number in range(most):
            focused = QApplication.focusWidget()
            if focused is not None and focused.accessibleName().rstrip("…") == name:
                return focused
            self.key(Qt.Key.Key_Tab)
        raise AssertionError(
            f"Tab does not reach {name!r}; the focus stays at "
            f"{focused.accessibleName() if focused else None!r}"
        )

    def replace(self, text: str) -> None:
        """Replace the text of the focused field."""
        self.key(Qt.Key.Key_A, CTRL)
        self.key(Qt.Key.Key_Delete)
        self.type(text)

    # ---------------------------------------------------------------- runs

    def train(self, task: str, layer: str, model: str, *, epochs: int, reading: str = "") -> Run:
        """Train on the page, until it is done. reading: of pairs."""
        self.click("Train")
        self.find("Start training")
        for name, value in (("Task", task), ("Layer", layer), ("Model", model)):
            self.choose(name, value)
        self.wait(lambda: self.app.window.panel("train").state.ready, "cannot train")
        self.find("Epochs", kind=QLineEdit).setFocus()
        self.replace(str(epochs))
        if reading:
            self.click("Options")
            self.choose("Reading of pairs", reading)
        before = len(results.all_runs(self.app.project))
        self.click("Start training")
        self.wait(lambda: len(results.all_runs(self.app.project)) > before, "no run starts")
        self.job_ends()
        run = results.all_runs(self.app.project)[0]
        assert run.status == "done", run.failure
        assert run.scores["dev"]
        return run

    def export(self, run: Run, folder: Path) -> None:
        """Export the model of a run, and wait for the proof that it labels texts equally."""
        self.app.go("export", run=run.id)
        self.find("Folder", kind=QLineEdit).setFocus()
        self.replace(str(folder))
        self.click("Export model")
        view = self.app.window.panel("export").view

        def is_proved() -> bool:
            labels = (label for label in view.findChildren(QLabel) if label.isVisible())
            return any("labels equal" in label.text() for label in labels)

        self.wait(is_proved, "the result of the check is not shown", PATIENCE)
        self.job_ends()

    # ---------------------------------------------------------------- dialogs

    def in_dialog(self, opens: Callable[[], object], act: Callable[[QWidget], None]) -> None:
        """Run an action that opens a modal dialog, then call `act(dialog)`.

        Exceptions of `act` are raised here.
        """
        raised: list[BaseException] = []
        done: list[bool] = []

        def act_once_shown() -> None:
            dialog = QApplication.activeModalWidget()
            if dialog is None:
                QTimer.singleShot(30, act_once_shown)
                return
            try:
                act(dialog)
            except (
                BaseException
            ) as error:  # raised again below, outside the dialog's own event loop
                raised.append(error)
            finally:
                done.append(True)
                if dialog is QApplication.activeModalWidget():
                    dialog.reject()

        QTimer.singleShot(30, act_once_shown)
        opens()
        self.wait(lambda: bool(done), "no dialog was shown")
        if raised:
            raise raised[0]


def _target(control: QWidget) -> QWidget:
    """Scroll areas receive mouse events in their viewport."""
    return control.viewport() if hasattr(control, "viewport") else control


def _focused(app) -> QWidget:
    return QApplication.focusWidget() or app.window.focusWidget() or app.window
