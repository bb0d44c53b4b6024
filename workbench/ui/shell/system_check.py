"""The system checks that need Qt: platform plugins, fonts."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.base.i18n import N_, _
from workbench.base.system_check import PROBLEM, WARNING, Check

SCRIPTS = {  # QFontDatabase.WritingSystem → name
    "Latin": N_("Latin"),
    "Greek": N_("Greek"),
    "Cyrillic": N_("Cyrillic"),
    "Armenian": N_("Armenian"),
    "Georgian": N_("Georgian"),
    "Hebrew": N_("Hebrew"),
    "Arabic": N_("Arabic"),
    "Devanagari": N_("Devanagari"),
    "Bengali": N_("Bengali"),
    "Tamil": N_("Tamil"),
    "Telugu": N_("Telugu"),
    "Thai": N_("Thai"),
    "Khmer": N_("Khmer"),
    "Myanmar": N_("Myanmar"),
    "SimplifiedChinese": N_("Chinese (simplified)"),
    "TraditionalChinese": N_("Chinese (traditional)"),
    "Japanese": N_("Japanese"),
    "Korean": N_("Korean"),
}
DISPLAYS = {
    "xcb": "DISPLAY",
    "wayland": "WAYLAND_DISPLAY",
}  # platform plugin of Linux → its variable


def display(params: Mapping[str, Any]) -> Iterator[Check | str]:
    """The checks of Qt, in a worker without a display."""
    yield _("Loading Qt…")
    from PySide6.QtGui import QGuiApplication

    application = QGuiApplication.instance() or QGuiApplication(["glossbench"])
    yield from _platforms()
    yield _own_fonts()
    yield _scripts()
    del application


# ---------------------------------------------------------------- plugins


def _platforms() -> Iterator[Check]:
    """Available Qt platform plugins; on Linux each needs system libraries."""
    from PySide6.QtCore import QLibraryInfo, qVersion

    yield Check("display.qt", "Qt", qVersion())
    folder = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath)) / "platforms"
    plugins = sorted(folder.glob("*q*")) if folder.is_dir() else []
    if not plugins:
        yield Check(
            "display.plugins",
            _("Qt platform plugins"),
            _("none"),
            PROBLEM,
            _("Reinstall PySide6-Essentials (`make setup`)."),
        )
        return
    names = [plugin.stem.removeprefix("lib").removeprefix("q") for plugin in plugins]
    yield Check("display.plugins", _("Qt platform plugins"), ", ".join(names))
    if sys.platform not in ("win32", "darwin"):
        yield window_system(
            {name: why_not(path) for name, path in zip(names, plugins, strict=True)}
        )


def why_not(plugin: Path) -> str:
    """Why a plugin cannot be loaded, without its path; "" if it can."""
    from PySide6.QtCore import QPluginLoader

    loader = QPluginLoader(str(plugin))
    return "" if loader.load() else loader.errorString().replace(str(plugin), plugin.name)


def window_system(reasons: Mapping[str, str]) -> Check:
    """`reasons`: plugin → why it cannot be loaded, "" if it can."""
    id, title = "display.window", _("Window system")
    loadable = [name for name in DISPLAYS if reasons.get(name) == ""]
    there = [name for name, variable in DISPLAYS.items() if os.environ.get(variable)]
    if not there:
        message = _("There is no display (DISPLAY and WAYLAND_DISPLAY are not set).")
        advice = _(
            "The command line works without one. To open the window, use a desktop "
            "session, `ssh -X` or `xvfb-run`."
        )
        return Check(id, title, message, WARNING, advice)
    if usable := [name for name in there if name in loadable]:
        return Check(id, title, ", ".join(usable))
    message = "; ".join(f"{name}: {reasons.get(name) or _('not installed')}" for name in there)
    advice = _("Install the missing libraries; on Debian and Ubuntu: `apt install libxcb-cursor0`.")
    return Check(id, title, message, PROBLEM, advice)


# ---------------------------------------------------------------- fonts


def _own_fonts() -> Check:
    """Inter and JetBrains Mono are included with the application."""
    from PySide6.QtGui import QFontDatabase

    from workbench.ui.style import theme

    theme.load_fonts()
    missing = [name for name in (theme.FAMILY, theme.MONO) if name not in QFontDatabase.families()]
    if not missing:
        return Check("display.fonts", _("Bundled fonts"), ", ".join((theme.FAMILY, theme.MONO)))
    message = _("missing: {names}", names=", ".join(missing))
    advice = _("The system font is used instead. Reinstall Glossbench to restore the fonts.")
    return Check("display.fonts", _("Bundled fonts"), message, WARNING, advice)


def _scripts() -> Check:
    from PySide6.QtGui import QFontDatabase

    systems = QFontDatabase.WritingSystem
    return scripts({name: bool(QFontDatabase.families(systems[name])) for name in SCRIPTS})


def scripts(covered: Mapping[str, bool]) -> Check:
    """`covered`: writing system → whether there is a font for it."""
    id, title = "display.scripts", _("Fonts for scripts")
    have = [_(SCRIPTS[name]) for name in covered if covered[name]]
    missing = [_(SCRIPTS[name]) for name in covered if not covered[name]]
    if not missing:
        return Check(id, title, ", ".join(have))
    message = _("missing: {names}", names=", ".join(missing))
    advice = _(
        "Text in these scripts is shown as boxes. Install the Noto fonts; on Debian and Ubuntu:"
        " `apt install fonts-noto-core fonts-noto-cjk`."
    )
    return Check(id, title, message, WARNING, advice)
