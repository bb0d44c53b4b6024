"""Pages of plugins: shown like built-in ones; one that fails never takes the window with it."""

import pytest
from PySide6.QtWidgets import QLabel

from tests import a_plugin
from workbench.base import registry
from workbench.base.settings import Settings
from workbench.operations.application import plugin_checks, plugins
from workbench.ui.shell import pages


@pytest.fixture(autouse=True)
def known():
    """A registry of its own, as one of a fresh process."""
    registry.registry.cache_clear()
    yield registry.registry()
    for package in PACKAGES:
        a_plugin.forget(package)
    registry.registry.cache_clear()


BROKEN = {
    "start": ("", "raise RuntimeError('its package')"),
    "module": ("1 / 0", ""),
    "absent": ("x = 1", ""),
    "other": ("Page = dict", ""),
    "table": (a_plugin.PAGE.replace("    commands = (", "    commands = (3, "), ""),
    "build": (a_plugin.PAGE.replace("return State()", "1 / 0; return State()"), ""),
    "view": (a_plugin.PAGE.replace('QLabel("A page', '1 / 0, QLabel("A page'), ""),
    "late": (a_plugin.PAGE + "\n    def shown(self, **args):\n        raise KeyError('late')", ""),
    "place": (a_plugin.PAGE + "\n    def place(self):\n        raise KeyError('place')", ""),
}
PACKAGES = ("lines", *BROKEN)
EARLY = ("start", "module", "absent", "other")  # not in the window at all


def make(folder, name, code, start=""):
    entry = {"id": f"{name}.page", "title": name, "object": f"{name}.code:Page", "place": "page"}
    made = a_plugin.make(folder, id=name, package=name, entries={"panel": [entry]}, code=code)
    (made / "__init__.py").write_text(start, encoding="utf-8")
    return str(made)


@pytest.fixture
def enabled(tmp_path, known):
    """A good page and all broken ones are enabled before the window is built."""
    folders = [make(tmp_path, "lines", a_plugin.PAGE)]
    folders += [make(tmp_path, name, *code) for name, code in BROKEN.items()]
    Settings(plugin_folders=folders, plugins_enabled=folders).save()
    registry.reload(Settings(plugin_folders=folders, plugins_enabled=folders))
    return known


def test_a_page_of_a_plugin_is_shown_and_broken_ones_say_why(enabled, app, qtbot):
    shown = [page.id for page in app.window.pages() if page.source != "builtin"]
    assert shown == ["lines.page", *(f"{name}.page" for name in BROKEN if name not in EARLY)]

    app.go("lines.page")
    assert app.window.stack.currentWidget().text() == "A page of a plugin"
    assert any(entry.command.id == "lines.greet" for entry in app.window.menus.entries)

    for name in ("build", "view", "late"):
        app.go(f"{name}.page")
        assert "This page cannot be shown" in texts(app.window.stack.currentWidget())
    app.go("lines.page")
    app.visit("place.page")  # built in steps, with events between them
    qtbot.waitUntil(lambda: app.window.page == "place.page")
    app.go("lines.page")
    assert app.window.page == "lines.page"

    states = {row.plugin.id: row for row in plugins.all_plugins()}
    assert states.pop("lines").state == "enabled"
    assert {row.state for row in states.values()} == {"error"} and len(states) == len(BROKEN)
    assert all("Traceback" in row.details for row in states.values())


def test_a_page_with_an_unknown_icon_gets_a_neutral_one(known, tmp_path, request):
    entry = a_plugin.PANEL["panel"][0] | {"icon": "labels"}
    folder = str(a_plugin.make(tmp_path, entries={"panel": [entry]}, code=a_plugin.PAGE))
    chosen = Settings(plugin_folders=[folder], plugins_enabled=[folder])
    chosen.save()
    registry.reload(chosen)

    app = request.getfixturevalue("app")
    app.go("lines.page")

    assert app.window.rail.button("lines.page").icon().isNull() is False
    assert pages.icon_of(known.entry("panel", "lines.page")) == "square"
    (status,) = plugins.all_plugins()
    assert status.state == "error" and "icon of lines.page is 'labels'" in status.error


def test_a_dock_that_fails_shows_its_error_in_place(known, tmp_path, request):
    code = a_plugin.PAGE.replace("return State()", "1 / 0; return State()")
    entry = a_plugin.PANEL["panel"][0] | {"place": "dock"}
    folder = str(a_plugin.make(tmp_path, entries={"panel": [entry]}, code=code))
    chosen = Settings(plugin_folders=[folder], plugins_enabled=[folder])
    chosen.save()
    registry.reload(chosen)

    app = request.getfixturevalue("app")
    app.window.toggle_dock("lines.page")

    found = texts(app.window._docks["lines.page"])
    assert "The plugin lines failed: ZeroDivisionError: division by zero." in found
    assert "This dock cannot be shown" in found


def test_a_page_that_fails_while_it_is_built_in_steps_is_replaced_too(enabled, app, qtbot):
    app.visit("view.page")

    qtbot.waitUntil(lambda: app.window.page == "view.page")
    assert "This page cannot be shown" in texts(app.window.stack.currentWidget())


def test_an_error_of_a_built_in_page_is_raised(known):
    entry = known.entry("panel", "data")

    with pytest.raises(ZeroDivisionError), pages.contained(known, entry):
        1 / 0  # noqa: B018
    assert known.faults == {}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("start", "its package"),
        ("module", "ZeroDivisionError"),
        ("other", "Derive it from workbench.ui.panel.Panel"),
    ],
)
def test_a_check_imports_pages(tmp_path, name, words):
    (found,) = plugin_checks.check(plugins.find(make(tmp_path, name, *BROKEN[name])))
    assert words in found.error

    (found,) = plugin_checks.check(plugins.find(make(tmp_path, "lines", a_plugin.PAGE)))
    assert found.error == ""


def test_a_page_must_not_import_torch(tmp_path):
    (found,) = plugin_checks.check(
        plugins.find(make(tmp_path, "lines", "import torch\n" + a_plugin.PAGE))
    )

    assert "torch" in found.error


def texts(widget):
    return " ".join(label.text() for label in widget.findChildren(QLabel))
