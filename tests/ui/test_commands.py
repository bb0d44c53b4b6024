"""Menus, shortcuts and the palette come from one table."""

import pytest
from PySide6.QtGui import QKeySequence

from workbench.base.errors import SpecError
from workbench.ui.commands import MENUS, Command
from workbench.ui.dialogs.key_sheet import KeySheet
from workbench.ui.shell.keys import conflicts, keys_of, remap, shown
from workbench.ui.shell.palette import NO_MATCH, Palette, rank


@pytest.fixture
def app(app):
    """As after the start without a project: the Welcome page is shown."""
    app.window.go("welcome")
    return app


def entry(app, id):
    return next(entry for entry in app.window.menus.entries if entry.command.id == id)


def top(app, menu) -> list[str]:
    app.window.menus.menus[menu].aboutToShow.emit()
    actions = app.window.menus.menus[menu].actions()
    return [action.text().replace("&", "") for action in actions if action.text()]


def titles(app, menu) -> list[str]:
    """Titles of a menu and its submenus."""
    top(app, menu)
    return [text.replace("&", "") for text in texts(app.window.menus.menus[menu])]


def texts(menu):
    for action in menu.actions():
        if action.text():
            yield action.text()
        if action.menu() is not None:
            yield from texts(action.menu())


@pytest.mark.parametrize("page", ["annotate", "labels", "results", "models"])
def test_no_menu_has_more_than_fifteen_entries(app, project_file, page):
    app.open_project(project_file, page=page)

    for menu in MENUS:
        assert len(top(app, menu)) <= 15, menu
        for action in app.window.menus.menus[menu].actions():
            assert action.menu() is None or len(action.menu().actions()) <= 15, action.text()


def test_a_long_menu_has_its_groups_in_submenus_whose_keys_work(app, project_file, qtbot):
    app.open_project(project_file, page="annotate")
    assert "Suggestions" in top(app, "Labels") and "Patterns…" not in top(app, "Labels")
    assert "Patterns…" in titles(app, "Labels")
    assert top(app, "Labels") == top(app, "Labels")

    app.window.go("labels")
    assert "Add label" in top(app, "Labels")
    assert entry(app, "larger").action in app.window.actions()


def test_the_menu_bar_has_six_menus_with_mnemonics(app):
    assert tuple(app.window.menus.menus) == MENUS
    assert all("&" in menu.title() for menu in app.window.menus.menus.values())


def test_no_two_commands_of_one_place_share_a_key(app):
    entries = [(entry.command, entry.page) for entry in app.window.menus.entries]

    assert [(key, a.id, b.id) for key, a, b in conflicts(entries, app.settings)] == []


def test_every_page_has_its_key(app):
    keys = {
        entry.command.id: keys_of(entry.command, app.settings)
        for entry in app.window.menus.entries
        if entry.command.id.startswith("page.")
    }

    assert list(keys.values()) == [(f"Ctrl+Alt+{number}",) for number in range(1, len(keys) + 1)]


def test_what_needs_a_project_rests_without_one(app, project_file):
    assert "Close project" in titles(app, "File")
    assert not entry(app, "close").action.isEnabled()

    app.window.menus.menus["File"].aboutToHide.emit()
    app.open_project(project_file, page="results")
    titles(app, "File")
    assert entry(app, "close").action.isEnabled()


def test_a_menu_shows_what_the_page_shown_can_do_and_quit_at_its_end(app, project_file):
    app.open_project(project_file, page="data")
    assert titles(app, "File")[-1] == "Quit" and "Create splits…" in titles(app, "File")
    assert "Delete the selected documents" in titles(app, "Edit")
    assert "Submit and open next" not in titles(app, "Labels")

    app.window.go("annotate")
    assert "Submit and open next" in titles(app, "Labels")
    assert "Delete the selected documents" not in titles(app, "Edit")
    assert "Import data…" in titles(app, "File")


def test_a_key_can_be_changed_and_is_kept(app):
    command = entry(app, "palette").command

    remap(command, ["Ctrl+K"], app.settings)
    app.window.menus.rekey()
    assert entry(app, "palette").action.shortcut() == QKeySequence("Ctrl+K")
    assert app.settings.window["keys"] == {"palette": ["Ctrl+K"]}
    remap(command, list(command.all_keys), app.settings)
    assert app.settings.window["keys"] == {}


def test_the_palette_finds_by_beginning_by_word_and_by_letters():
    assert rank("new", "new project…") == 0
    assert rank("proj", "new project…") == 1
    assert rank("roje", "new project…") == 2
    assert rank("npj", "new project…") == 3
    assert rank("xyz", "new project…") == NO_MATCH


def test_the_palette_does_what_is_chosen(app, qtbot):
    palette = Palette(app)
    qtbot.addWidget(palette)
    palette._search.setText("larger te")
    before = app.settings.text_size

    qtbot.keyClick(palette._search, "\r")
    assert app.settings.text_size > before
    app.change_text_size(0)


def test_the_palette_says_why_it_finds_nothing(app, qtbot):
    palette = Palette(app)
    qtbot.addWidget(palette)

    palette._search.setText("versions")
    assert "“Versions…” is not available" in palette._fault._words.text()
    palette._search.setText("qqxqq")
    assert "No command" in palette._fault._words.text()
    palette._search.setText("larger te")
    assert palette._fault.isHidden()


def test_the_key_sheet_lists_every_key_and_refuses_one_that_is_taken(app, qtbot):
    from workbench.ui.dialogs.key_sheet import KeyDialog

    sheet = KeySheet(app)
    qtbot.addWidget(sheet)
    line = next(line for line in sheet.lines() if line.command.id == "palette")
    assert line.keys == shown(line.command, app.settings) == "Ctrl+Shift+P"

    dialog = KeyDialog(sheet, app, line)
    dialog._edit.setKeySequence(QKeySequence("Ctrl+Q"))
    dialog._use()
    assert "Quit" in dialog._field.error()
    assert keys_of(line.command, app.settings) == ("Ctrl+Shift+P",)


def test_a_single_key_of_annotate_is_changed_unless_a_label_has_it(app, qtbot, monkeypatch):
    from workbench.operations.schema import labels
    from workbench.text.labels import Label, Layer
    from workbench.ui.dialogs.key_sheet import KeyDialog

    sheet = KeySheet(app)
    qtbot.addWidget(sheet)
    line = next(line for line in sheet.lines() if line.command.id == "annotate.accept")
    dialog = KeyDialog(sheet, app, line)
    layer = Layer("names", "span", labels=(Label("PER", key="g"),))
    with monkeypatch.context() as patch:
        patch.setattr(app, "project", object())
        patch.setattr(labels, "layers", lambda _project: (layer,))
        dialog._edit.setKeySequence(QKeySequence("G"))
        dialog._use()
    assert "“PER”" in dialog._field.error() and keys_of(line.command, app.settings) == ("A",)
    dialog._edit.setKeySequence(QKeySequence("M"))
    dialog._use()
    assert "occurrences" in dialog._field.error() and keys_of(line.command, app.settings) == ("A",)
    dialog._edit.setKeySequence(QKeySequence("Shift+%"))
    dialog._use()
    assert keys_of(line.command, app.settings) == ("%",)


def test_a_command_in_a_menu_that_does_not_exist_is_refused_with_the_menus():
    with pytest.raises(SpecError, match="'Nowhere'.*Known: File, Edit, View, Labels, Run, Help"):
        Command("x.y", "Do", menu="Nowhere")
