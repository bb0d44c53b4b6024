"""Run `walk.py` on a project whose texts all look like HTML, Markdown and a mnemonic.

`python -m tests.ui.hostile FOLDER`, with an empty folder for the project, prints as JSON what was
not shown verbatim, and where. `FOLDER/canary.png` is watched: nothing may open it.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from shiboken6 import isValid

from tests.canary import Canary
from tests.ui import walk
from tests.ui.pseudo import Seen, make_project
from tests.ui.tips import read

ROWS, COLUMNS = 12, 12  # rows of each table that are hovered
AND = "R&D"


class Watched(walk.Walk):
    """Hovers over everything that is shown at each place."""

    def __init__(self, seen: Seen, canary: Canary, texts: tuple[str, ...]):
        self.faults: dict[str, str] = {}
        self._canary, self._texts, self._hovered = canary, texts, set()
        self.tips = 0  # tooltips with a text of the project
        super().__init__(seen)

    def at(self, place: str, *, hidden: bool = False, within=None) -> None:
        super().at(place, hidden=hidden, within=within)
        for widget in self.qt.allWidgets():
            if isValid(widget) and widget.isVisible():  # one may go while others are hovered over
                self._read(widget)
                self._hover(widget)
        self.qt.processEvents()
        if self._canary.opened():
            self.faults[f"the canary was opened at {place}"] = place

    def menu(self, menu) -> None:
        super().menu(menu)
        for action in menu.actions():
            self._mnemonic("menu", action.text())

    def _fault(self, what: str, text: str) -> None:
        self.faults[f"{what}: {text}"] = self.seen.place

    # ------------------------------------------------------------ visible text

    def _read(self, widget) -> None:
        from PySide6 import QtWidgets
        from PySide6.QtCore import Qt as Core
        from PySide6.QtGui import Qt

        if isinstance(widget, QtWidgets.QLabel) and widget.metaObject().className() != "QTipLabel":
            if widget.textFormat() != Core.TextFormat.PlainText and Qt.mightBeRichText(
                widget.text()
            ):
                self._fault("rich label", widget.text())
            if widget.buddy() is not None:
                self._mnemonic("field", widget.text())
        if isinstance(widget, QtWidgets.QAbstractButton) and not hasattr(widget, "right_clicked"):
            self._mnemonic("button", widget.text())
        if isinstance(widget, QtWidgets.QTextEdit):
            self._markdown(widget)
        for action in widget.actions():
            self._mnemonic("menu", action.text())
            if action.menu() is not None:
                action.menu().aboutToShow.emit()
                for inner in action.menu().actions():
                    self._mnemonic("menu", inner.text())
        if isinstance(widget, QtWidgets.QPushButton) and widget.menu() is not None:
            widget.menu().aboutToShow.emit()
            for action in widget.menu().actions():
                self._mnemonic("menu", action.text())

    def _mnemonic(self, what: str, text: str) -> None:
        if AND in text.replace("&&", ""):
            self._fault(f"mnemonic of a {what}", text)

    def _markdown(self, view) -> None:
        shown = view.toPlainText()
        if AND in shown and self._texts[0] not in shown:
            self._fault("Markdown", shown)

    # ------------------------------------------------------------ tooltips

    def _hover(self, widget) -> None:
        from PySide6.QtCore import QPoint, QRect
        from PySide6.QtWidgets import QAbstractItemView, QHeaderView

        if isinstance(widget, QHeaderView):
            places = [
                QPoint(widget.sectionViewportPosition(at) + 4, 6)
                if widget.orientation().name == "Horizontal"
                else QPoint(6, widget.sectionViewportPosition(at) + 4)
                for at in range(min(widget.count(), COLUMNS))
            ]
            self._at_places(widget.viewport(), places)
        elif isinstance(widget, QAbstractItemView) and widget.model() is not None:
            self._cells(widget)
        else:
            self._tooltip(widget.toolTip())
            self._at_places(widget, [QRect(QPoint(), widget.size()).center()])

    def _cells(self, view) -> None:
        from PySide6.QtCore import QAbstractListModel, QModelIndex, Qt

        model, seen = view.model(), view.viewport().rect()
        columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount(QModelIndex())
        places = []
        for row in range(min(model.rowCount(QModelIndex()), ROWS)):
            for column in range(min(columns, COLUMNS)):
                index = model.index(row, column)
                self._tooltip(index.data(Qt.ItemDataRole.ToolTipRole) or "")
                box = view.visualRect(index)
                if box.intersects(seen):
                    places.append(box.center())
        self._at_places(view.viewport(), places)

    def _at_places(self, widget, places) -> None:
        from PySide6.QtCore import QEvent
        from PySide6.QtGui import QHelpEvent
        from PySide6.QtWidgets import QToolTip

        for place in places:
            event = QHelpEvent(QEvent.Type.ToolTip, place, widget.mapToGlobal(place))
            self.qt.sendEvent(widget, event)
            known = QToolTip.text() in self._hovered
            self._tooltip(QToolTip.text())
            for window in () if known else self.qt.topLevelWidgets():
                if window.metaObject().className() == "QTipLabel" and window.isVisible():
                    window.grab()
        QToolTip.hideText()

    def _tooltip(self, shown: str) -> None:
        if shown in self._hovered:
            return
        self._hovered.add(shown)
        text = read(shown)
        self.tips += AND in text
        if AND in text and not any(one in text for one in self._texts) and "…" not in text:
            self._fault("tooltip", shown)
        elif text != shown and "<p style" not in shown:
            self._fault("rich tooltip", shown)


def texts(canary: Path) -> tuple[str, ...]:
    """What is added to every text; the second is for file names, which cannot contain a slash."""
    address = canary.as_uri()
    return (
        f'<b>{AND}</b> <img src="{address}"> <a href="{address}">x</a> ![y]({address})',
        f'<b>{AND}<b> <img src="canary.png">',
    )


def further_texts(path: Path, told: str) -> None:
    """Guidelines, label descriptions and run messages, which the project lacks."""
    from workbench.operations import labels
    from workbench.project.project import Project
    from workbench.storage import runs

    project = Project.open(path)
    for layer in labels.layers(project):
        labels.set_guideline(project, layer.id, f"# Heading {told}\n\n- item {told}\n\n`{told}`")
        for label in layer.labels:
            labels.describe_label(project, label.id, told)
    with project.write():
        for run in runs.all(project.db):
            runs.update(project.db, run.id, result={**run.result, "message": told, "hint": told})
    project.close()


def a_model(folder: Path, told: str) -> Path:
    """A starter model under a hostile name, with a hostile card."""
    from workbench.base import paths

    shutil.copytree(paths.resource("models") / "starter-bert", folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["architectures"] = [told]
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "README.md").write_text(f"---\nlicense: '{told}'\n---\n{told}", encoding="utf-8")
    return folder


def bring(way: Watched, folder: Path, name: str, told: str) -> None:
    """Import a file whose name, columns and cells are hostile."""
    file = folder / f"{name}.csv"
    quoted = told.replace('"', '""')
    file.write_text(f'key;"{quoted}"\n"α {quoted}";"Ένα {quoted}"\nβ;\n', encoding="utf-8")

    def preview(dialog) -> None:
        way.settle()
        way.at("import, preview")
        dialog.state.start()
        way.wait(lambda: dialog.state.phase in ("done", "ready"))

    way.dialog("import", lambda: way.app.go("data", files=[file]), preview)
    way.dialog("export data", lambda: way.app.go("data", dialog="export"))


def without_torch() -> None:
    """Leave out of the system check what imports torch: it shows no text of a project."""
    from workbench.models import system_check

    system_check.LIBRARIES = ("tokenizers", "safetensors")
    system_check._devices = tuple
    system_check._bf16 = lambda _known: ()


def hostile(folder: Path) -> Watched:
    from PySide6.QtGui import QImage

    without_torch()
    picture = folder / "canary.png"
    image = QImage(4, 4, QImage.Format.Format_RGB32)
    image.fill(0)
    image.save(str(picture))
    long, short = texts(picture)
    path = folder / f"{short}.glossbench"
    make_project(path, lambda text: f"{text} {long}")
    further_texts(path, long)
    way = Watched(Seen(), Canary(picture), (long, short))
    assert way.app.open_project(path)
    way.app.settings.model_folders = [str(a_model(folder / short, long))]
    walk.pages(way)
    for part in (walk.data, walk.annotate, walk.results, walk.inspect, walk.train, walk.export):
        part(way)
    for part in (walk.prompts, walk.jobs, walk.dialogs):
        part(way)
    bring(way, folder, short, long)
    way.at("all pages, used")
    way.app.closed()
    return way


if __name__ == "__main__":
    way = hostile(Path(sys.argv[1]))
    print(json.dumps({"faults": way.faults, "tips": way.tips}, ensure_ascii=False))
