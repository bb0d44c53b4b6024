"""The Plugins page of Settings: confirmation, check, and tracebacks of errors."""

import pytest
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit

from tests import a_plugin, panel_tasks
from tests.held import Held
from tests.inline import InlineQueue
from workbench.base import registry
from workbench.ui.dialogs.plugins import PERMISSION, PluginCard, PluginsPage
from workbench.ui.dialogs.plugins_state import PluginsState
from workbench.ui.dialogs.settings import PLUGINS, SettingsDialog
from workbench.ui.widgets.controls.button import Button


@pytest.fixture(autouse=True)
def known():
    registry.registry.cache_clear()
    yield registry.registry()
    a_plugin.forget()
    registry.registry.cache_clear()


@pytest.fixture
def state(app, tmp_path):
    """A state with one plugin in a configured folder, and a queue with in-process jobs.

    Checks are done at once, on this thread.
    """
    queue, context = InlineQueue(), panel_tasks.context()
    app.settings.plugin_folders = [str(tmp_path / "plugins")]
    made = PluginsState(app.settings, queue, context.tasks)
    made.context = context
    yield made
    made.close()
    queue.close()


@pytest.fixture
def page(state, look, qtbot):
    made = PluginsPage(state)
    qtbot.addWidget(made)
    made.resize(700, 500)
    made.show()
    return made


def plugin(state, tmp_path, **given):
    a_plugin.make(tmp_path / "plugins", **given)
    state.refresh()
    (row,) = state.rows
    return row.plugin


def press(page, name):
    QApplication.processEvents()  # widgets added to a layout are shown by the event loop
    (button,) = [
        widget
        for widget in page.findChildren(Button)
        if widget.accessibleName() == name and widget.isVisibleTo(page)
    ]
    button.click()


def said(page):
    QApplication.processEvents()
    return " ".join(label.text() for label in page.findChildren(QLabel) if label.isVisibleTo(page))


def test_few_plugins_stand_at_the_top_of_the_page(page, state, tmp_path):
    plugin(state, tmp_path)
    QApplication.processEvents()

    (card,) = page.findChildren(PluginCard)
    assert card.mapTo(page, card.rect().topLeft()).y() < 60


def test_nothing_is_enabled_before_the_question_was_answered(page, state, tmp_path, known):
    plugin(state, tmp_path)
    press(page, "Enable Lines")

    assert PERMISSION in said(page) and state.settings.plugins_enabled == []
    press(page, "Cancel")
    assert PERMISSION not in said(page)

    press(page, "Enable Lines")
    press(page, "Enable plugin")
    assert [row.state for row in state.rows] == ["enabled"]
    assert "lines.all" in known.ids("importer")
    assert state.summary() == "1 plugin: 1 enabled, 0 disabled, 0 with an error"

    press(page, "Disable Lines")
    assert "lines.all" not in known.ids("importer") and state.settings.plugins_enabled == []


def test_the_focus_stays_in_the_card_while_a_plugin_is_enabled(page, state, tmp_path, known):
    plugin(state, tmp_path)
    page.activateWindow()
    with_focus = []
    for name in ("Enable Lines", "Cancel", "Enable Lines", "Enable plugin", "Disable Lines"):
        QApplication.processEvents()
        button = next(b for b in page.findChildren(Button) if b.accessibleName() == name)
        button.setFocus()
        button.click()
        QApplication.processEvents()
        with_focus.append(QApplication.focusWidget().accessibleName())
    assert with_focus == ["Cancel", "Enable Lines", "Cancel", "Disable Lines", "Enable Lines"]


def test_a_plugin_whose_code_fails_stays_disabled_and_shows_its_traceback(
    page, state, tmp_path, known
):
    folder = a_plugin.make(tmp_path / "plugins", code="import not_there_at_all")
    state.refresh()
    state.enable(state.rows[0].plugin)

    assert "lines.all" not in known.ids("importer")
    assert "not_there_at_all is missing" in said(page)
    (box,) = page.findChildren(PluginCard)[-1].findChildren(QPlainTextEdit)
    assert "ModuleNotFoundError" in box.toPlainText()
    press(page, "Copy traceback")
    assert "ModuleNotFoundError" in QApplication.clipboard().text()

    (folder / "code.py").write_text(a_plugin.IMPORTER, encoding="utf-8")
    press(page, "Check Lines again")
    assert [row.state for row in state.rows] == ["enabled"]


def test_a_check_can_be_cancelled(page, state, tmp_path, known):
    disabled, held = plugin(state, tmp_path), Held(state.context)
    state.enable(disabled)
    assert state.progress == {disabled.key: ""}
    held.compute(0)  # its last line is on the way

    press(page, "Cancel the check of Lines")
    assert not state.progress
    assert [row.state for row in state.rows] == ["disabled"]

    held.answer(0)
    assert state.queue.jobs == () and state.settings.plugins_enabled == []


def test_a_check_that_is_cancelled_leaves_the_error_of_the_one_before(page, state, tmp_path):
    a_plugin.make(tmp_path / "plugins", code="import not_there_at_all")
    state.refresh()
    state.enable(state.rows[0].plugin)
    Held(state.context)

    press(page, "Check Lines again")
    assert "not_there_at_all is missing" not in said(page)
    press(page, "Cancel the check of Lines")

    assert "not_there_at_all is missing" in said(page)


def test_a_damaged_manifest_is_an_error_that_goes_once_it_is_corrected(page, state, tmp_path):
    folder = a_plugin.make(tmp_path / "plugins", api="7")
    state.refresh()
    assert "version 7 of the plugin interface" in said(page)

    text = (folder / "plugin.toml").read_text("utf-8")
    (folder / "plugin.toml").write_text(text.replace('api = "7"', 'api = "1"'), "utf-8")
    press(page, "Check lines again")

    assert [row.state for row in state.rows] == ["disabled"] and not state.progress


def test_a_card_warns_of_a_misspelled_key(page, state, tmp_path):
    folder = a_plugin.make(tmp_path / "plugins")
    text = (folder / "plugin.toml").read_text("utf-8")
    (folder / "plugin.toml").write_text(text.replace("patterns", "paterns"), "utf-8")

    state.refresh()

    assert "line 10: unknown key 'paterns' of importer 'lines.all'." in said(page)
    assert [row.state for row in state.rows] == ["disabled"]


def test_a_folder_that_is_removed_takes_its_plugins_with_it(page, state, tmp_path):
    made = plugin(state, tmp_path)
    state.enable(made)

    state.remove_folder(str(tmp_path / "plugins"))

    assert state.rows == () and state.settings.plugins_enabled == []
    assert "No plugins found" in said(page)


def test_pages_of_a_plugin_come_and_go_with_a_restart(page, state, tmp_path):
    made = plugin(state, tmp_path, entries=a_plugin.PANEL, code=a_plugin.PAGE)
    assert "Restart" not in said(page)

    state.enable(made)
    assert "Restart Glossbench to see “Lines”." in said(page)

    state.pages = frozenset({"lines.page"})  # as after a restart
    state.refresh()
    assert "estart" not in said(page)
    state.disable(made)
    assert "“Lines” is removed when Glossbench is restarted." in said(page)


def test_an_enabled_plugin_with_an_error_can_be_disabled(page, state, tmp_path, known):
    made = plugin(state, tmp_path, entries=a_plugin.PANEL, code=a_plugin.PAGE)
    state.enable(made)
    known.failed("panel", "lines.page", ValueError("later"))
    state.refresh()
    assert "The plugin lines failed: ValueError: later." in said(page)

    press(page, "Disable Lines")

    assert [row.state for row in state.rows] == ["disabled"]


def test_the_settings_have_the_page_as_a_tab(app, qtbot):
    dialog = SettingsDialog(app)
    qtbot.addWidget(dialog)
    dialog.show()
    assert not dialog.findChildren(PluginsPage)

    dialog._tabs.setCurrentIndex(PLUGINS)

    assert len(dialog.findChildren(PluginsPage)) == 1
    dialog.reject()
