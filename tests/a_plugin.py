"""Writes small plugins for tests."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

from workbench.base import registry

IMPORTER = """
from workbench.importers.base import Guess, Row, Table
from workbench.text.dataset import Record
from workbench.text.document import Document


class Lines:
    def sniff(self, head, name):
        return Guess(0.95 if head.startswith("LINES") else 0.0, "it begins with LINES")

    def preview(self, source, options, limit):
        return Table(("line",), ())

    def read(self, source, options):
        for number, line in enumerate(source.lines(), 1):
            if number > 1 and line:
                yield Row(number, Record(Document("", (("text", line),))))
"""
ENTRY = {"importer": [{"id": "lines.all", "title": "Lines", "object": "lines.code:Lines"}]}
PAGE = """
from PySide6.QtWidgets import QLabel

from workbench.base.events import State
from workbench.ui.commands import Command
from workbench.ui.panel import Panel


class Page(Panel):
    needs_project = False
    commands = (Command("lines.greet", "&Greet", lambda panel: None, "Run"),)

    def build(self, context):
        return State(), lambda: QLabel("A page of a plugin")
"""
PANEL = {
    "panel": [
        {"id": "lines.page", "title": "Lines", "object": "lines.code:Page", "place": "page"},
    ]
}

README = Path(__file__).resolve().parents[1] / "plugins" / "README.md"
FILES = re.compile(r"^```(?:python|toml)\n# (my_plugin/\S+)\n(.*?)^```$", re.M | re.S)


def write_tutorial(folder: Path) -> Path:
    """Write the plugin of the tutorial in plugins/README.md; returns its folder.

    Call it before the plugin is enabled: options of objectives list the segmenters that are
    enabled when they are imported, for the rest of the process.
    """
    registry.registry().infos("objective")
    for name, content in FILES.findall(README.read_text(encoding="utf-8")):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return folder / "my_plugin"


def forget(package: str = "lines") -> None:
    """Remove the modules of a plugin, so that the next test imports its own."""
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]


def make(
    folder: Path,
    *,
    id: str = "lines",
    package: str = "lines",
    entries: Mapping = ENTRY,
    code: str = IMPORTER,
    api: str = "1",
) -> Path:
    """The folder of a plugin with one module, `code`."""
    place = folder / package
    place.mkdir(parents=True)
    head = {"id": id, "name": id.title(), "version": "0.1.0", "description": "", "api": api}
    lines = [f'{key} = "{value}"' for key, value in head.items()]
    for kind, some in entries.items():
        for entry in some:
            lines += [f"[[{kind}]]", *(f'{key} = "{value}"' for key, value in entry.items())]
            lines += ['patterns = ["*.lines"]'] if kind == "importer" else []
    (place / "plugin.toml").write_text("\n".join(lines), encoding="utf-8")
    (place / "code.py").write_text(code, encoding="utf-8")
    return place
