"""The dialog shows results as they arrive, problems first, and copies the report."""

import pytest
from PySide6.QtWidgets import QApplication, QLabel

from workbench.base.system_check import Check
from workbench.operations.application import system_check
from workbench.operations.application.system_check import CheckPart
from workbench.ui.dialogs.system_check import ATTENTION, SystemCheckDialog
from workbench.ui.widgets.layout import widgets

pytestmark = pytest.mark.process


def quick(params):
    """12 results, one of them a problem."""
    yield "Loading torch…"
    for number in range(11):
        yield Check(f"versions.{number}", f"Package {number}", "1.0")
    yield Check("storage.cache", "Cache folder", "full", "problem", "Make room.")


def endless(params):
    import time

    while True:
        yield "Loading <b>torch</b>…"
        time.sleep(0.01)


@pytest.fixture
def dialog(app, qtbot, monkeypatch):
    """`dialog("quick")` → the dialog, with its check running in a worker."""

    def make(name):
        part = CheckPart(
            "computing.check", "Computing", f"tests.ui.dialogs.test_system_check:{name}"
        )
        monkeypatch.setattr(system_check, "PARTS", (part,))
        made = SystemCheckDialog(app)
        qtbot.addWidget(made)
        made.show()
        return made

    return make


def lines(group):
    """Accessible names of the results of a group."""
    return [line.accessibleName() for line in widgets(group._lines)]


def test_all_lines_are_shown_and_what_is_not_fine_stands_first(dialog, qtbot):
    made = dialog("quick")
    assert made._meter.isVisible() and not made._again.isEnabled()

    qtbot.waitUntil(lambda: len(lines(made._groups[ATTENTION])) == 1, timeout=20_000)

    assert lines(made._groups[ATTENTION]) == ["problem: Cache folder: full"]
    assert lines(made._groups["versions"]) == [f"ok: Package {n}: 1.0" for n in range(11)]
    assert made._state.text() == "1 problem." and not made._meter.isVisible()
    assert any(label.text() == "Make room." for label in made.findChildren(QLabel))


def test_the_report_is_copied_and_the_check_can_be_repeated(dialog, qtbot):
    made = dialog("quick")
    qtbot.waitUntil(lambda: made._again.isEnabled(), timeout=20_000)

    made._copy.click()
    assert "problem  Cache folder: full" in QApplication.clipboard().text()

    made._again.click()
    assert lines(made._groups["versions"]) == [] and made._meter.isVisible()
    qtbot.waitUntil(lambda: len(lines(made._groups["versions"])) == 11, timeout=20_000)


def test_closing_cancels_what_is_still_running(dialog, app, qtbot):
    made = dialog("endless")
    qtbot.waitUntil(lambda: made._state.text() == "Loading <b>torch</b>…", timeout=20_000)

    made.reject()

    qtbot.waitUntil(lambda: not app.queue.running, timeout=20_000)
    assert app.queue.jobs == ()


def test_the_help_menu_has_it(app, monkeypatch):
    shown = []
    monkeypatch.setattr(SystemCheckDialog, "__init__", lambda self, app: shown.append(app))
    monkeypatch.setattr(SystemCheckDialog, "exec", lambda self: None)

    (entry,) = [entry for entry in app.window.menus.entries if entry.command.id == "system-check"]
    app.window.menus.act(entry)

    assert entry.command.menu == "Help" and shown == [app]
