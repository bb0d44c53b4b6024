"""Platform plugins and fonts as Qt sees them."""

import pytest

from workbench.base.system_check import OK, PROBLEM, WARNING, Check
from workbench.ui.shell import system_check
from workbench.ui.shell.system_check import scripts, why_not, window_system


def test_the_job_reports_qt_plugins_and_fonts(qapp):
    checks = [item for item in system_check.display({}) if isinstance(item, Check)]
    result = {check.id: check for check in checks}

    assert "offscreen" in result["display.plugins"].result
    assert result["display.fonts"].result == "Inter, JetBrains Mono"
    assert {"display.qt", "display.scripts"} <= set(result)


@pytest.mark.parametrize(
    ("variables", "reasons", "state"),
    [
        ({}, {"xcb": "", "wayland": ""}, WARNING),
        ({"DISPLAY": ":0"}, {"xcb": "", "wayland": ""}, OK),
        ({"DISPLAY": ":0"}, {"xcb": "libxcb-cursor.so.0: cannot open shared object file"}, PROBLEM),
        ({"DISPLAY": ":0"}, {"offscreen": ""}, PROBLEM),
        ({"DISPLAY": ":0", "WAYLAND_DISPLAY": "w"}, {"xcb": "broken", "wayland": ""}, OK),
    ],
)
def test_a_display_needs_a_plugin_that_loads(monkeypatch, variables, reasons, state):
    for name in system_check.DISPLAYS.values():
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    check = window_system(reasons)

    assert check.state == state and bool(check.advice) == (state != OK)
    if "xcb" in reasons and state == PROBLEM:
        assert "libxcb-cursor" in check.result


def test_a_plugin_that_is_broken_says_why_without_its_path(tmp_path):
    plugin = tmp_path / "libqxcb.so"
    plugin.write_bytes(b"\x7fELF, no more")

    assert why_not(plugin) and str(tmp_path) not in why_not(plugin)


def test_scripts_without_a_font_are_named():
    assert scripts({"Latin": True, "Thai": True}).state == OK

    check = scripts({"Latin": True, "Thai": False, "Korean": False})

    assert (check.state, check.result) == (WARNING, "missing: Thai, Korean")
    assert "fonts-noto" in check.advice
