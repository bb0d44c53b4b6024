"""About dialog, list of changes, log file, and diagnostics without the user's text."""

from __future__ import annotations

import os
import platform
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl, qVersion
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication, QWidget

from workbench.base import paths
from workbench.base.i18n import _
from workbench.ui.style import icons, theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.words import picture, words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.layout import column, row
from workbench.ui.widgets.text.markdown import MarkdownView
from workbench.version import __version__

if TYPE_CHECKING:
    from workbench.ui.application import Application


class ChangesDialog(Dialog):
    """What's new: the list of changes."""

    def __init__(self, parent: QWidget | None):
        super().__init__(parent, _("What's new"), width=720)
        self.text = MarkdownView(_("List of changes"))
        self.text.setMinimumHeight(theme.px(360))
        self.text.set_markdown(paths.resource("help/changes.md").read_text(encoding="utf-8"))
        close = Button(_("Close"), kind="primary", on=self.accept)
        self.put(self.text)
        self.end(None, close)
        close.setFocus()


PACKAGES = (
    "PySide6-Essentials",
    "torch",
    "transformers",
    "tokenizers",
    "onnxruntime",
    "numpy",
    "sqlite-utils",
    "pyqtgraph",
)


class About(Dialog):
    def __init__(self, app: Application) -> None:
        super().__init__(app.window, _("About Glossbench"), width=480)
        mark = picture(icons.app_icon().pixmap(64, 64))
        facts = column(
            words(f"Glossbench {__version__}", "heading", weight=600),
            words(
                _(
                    "A desktop workbench for transfer learning in NLP: label, fine-tune, "
                    "inspect, prompt, export. Offline."
                ),
                wrap=True,
            ),
            words(
                _(
                    "Licence: Apache-2.0. No account, no telemetry. Nothing is sent over the "
                    "network unless you request a download."
                ),
                "small",
                "muted",
                wrap=True,
            ),
            words(
                _(
                    "With Inter and JetBrains Mono (OFL), Lucide icons (ISC), Qt through "
                    "PySide6 (LGPL), PyTorch and transformers."
                ),
                "small",
                "muted",
                wrap=True,
            ),
            words(
                "\n".join(f"{name} {version}" for name, version in versions().items()),
                "small",
                "muted",
                select=True,
            ),
            gap=8,
        )
        self.put(row(column(mark, None), (facts, 1), gap=20))
        close = Button(_("Close"), kind="primary", on=self.accept)
        self.end(
            Button(_("Copy diagnostics"), "copy", "quiet", on=lambda: copy_diagnostics(app)),
            None,
            close,
        )
        close.setFocus()


def versions() -> dict[str, str]:
    """Installed versions by package, read without importing the packages."""
    installed = {"Python": platform.python_version(), "Qt": qVersion()}
    for name in PACKAGES:
        try:
            installed[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            installed[name] = _("missing")
    return installed


def diagnostics(app: Application) -> str:
    """Versions, system, settings and counts for bug reports: no text, names or paths of the user.

    Always in English, as developers read it.
    """
    lines = [
        f"Glossbench {__version__}",
        f"System: {platform.platform()}, {os.cpu_count()} cores",
        f"Qt platform: {QApplication.platformName()}",
    ]
    lines += [f"{name} {version}" for name, version in versions().items()]
    chosen = app.settings
    lines.append(
        f"Settings: theme {chosen.theme}, text {chosen.text_size}%, font {chosen.font}, "
        f"device {chosen.device}, offline {chosen.offline}"
    )
    lines.append(f"Devices: {chosen.devices or 'not asked yet'}")
    lines.append(f"Page: {app.page}; jobs: {[job.status for job in app.active_jobs()]}")
    if app.project is not None:
        from workbench.operations.documents import corpus
        from workbench.operations.schema import labels

        kinds = [
            f"{layer.kind} ({len(layer.labels)} labels)" for layer in labels.layers(app.project)
        ]
        lines.append(
            f"Project: {corpus.counts(app.project).documents} documents; "
            f"layers: {', '.join(kinds)}; read-only: {app.project.read_only}"
        )
    last = getattr(getattr(sys.excepthook, "__self__", None), "last", "")
    lines.append("Last fault:")
    lines += _places(last) or ["none"]
    return "\n".join(lines)


def _places(trace: str) -> list[str]:
    """The source lines of a traceback, without the folders above the package (private)."""
    frames = re.findall(r'^ *File "([^"\n]*)", line (\d+), in (\w+)$', trace, re.MULTILINE)
    return [f"{'/'.join(Path(file).parts[-3:])}:{line} {name}" for file, line, name in frames]


def copy_diagnostics(app: Application) -> None:
    QApplication.clipboard().setText(diagnostics(app))
    app.note(_("Diagnostics copied to the clipboard. They contain none of your text."))


def open_log(app: Application) -> None:
    """Open the log in the system's viewer; without one, report its path."""
    path = paths.log_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(exist_ok=True)
    if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))):
        app.tell(_("The log file is {path}.", path=path), "accent")
