"""Run `walk.py` in a pseudo-language, on a project whose texts all look like HTML, Markdown and a
mnemonic.

`python -m tests.ui.hostile FOLDER`, with an empty folder for the project, prints as JSON which
texts have plain Latin letters, what was not shown verbatim, and where, and which places were
visited. `FOLDER/canary.png` is watched: nothing may open it.
"""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from shiboken6 import isValid

from tests.canary import Canary
from tests.ui import walk
from tests.ui.pseudo import Pseudo, Seen, make_project, visible_widgets, watch_painting
from tests.ui.tips import read

ROWS, COLUMNS = 12, 12  # rows of each table that are hovered
AND = "R&D"
NAME = "ω"  # takes the place of a text of the project, such as in the name of a file


class Watched(walk.Walk):
    """Hovers over everything that is shown at each place."""

    def __init__(self, seen: Seen, canary: Canary | None, texts: tuple[str, ...]):
        self.faults: dict[str, str] = {}
        self._canary, self._texts = canary, texts
        self._hovered = {""}
        self.tips = 0  # tooltips with a text of the project
        super().__init__(seen)

    def at(self, place: str, *, hidden: bool = False, within=None) -> None:
        super().at(place, hidden=hidden, within=within)
        for widget in list(visible_widgets()):
            if isValid(widget) and widget.isVisible():  # one may go while others are hovered over
                self._read(widget)
                self._hover(widget)
        self.qt.processEvents()
        if self._canary is not None and self._canary.opened():
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
        elif not (_is_plain(widget) and widget.toolTip() in self._hovered):
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
        if AND in text and not any(item in text for item in self._texts) and "…" not in text:
            self._fault("tooltip", shown)
        elif text != shown and "<p style" not in shown:
            self._fault("rich tooltip", shown)


def _is_plain(widget) -> bool:
    """Whether a widget shows its `toolTip()` alone: neither Qt nor we have written more for it.

    A viewport passes the event on to its area.
    """
    from PySide6 import QtWidgets

    plain = ("QFrame", "QLabel", "QPushButton", "QSplitter", "QStackedWidget", "QWidget")
    kind = next(kind for kind in type(widget).__mro__ if kind.__module__ == QtWidgets.__name__)
    return (
        kind.__name__ in plain
        and type(widget).event is kind.event
        and not isinstance(widget.parent(), QtWidgets.QAbstractScrollArea)
    )


def texts(canary: Path) -> tuple[str, ...]:
    """What is added to every text; the second is for file names, which cannot contain a slash."""
    address = canary.as_uri()
    return (
        f'<b>{AND}</b> <img src="{address}"> <a href="{address}">x</a> ![y]({address})',
        f'<b>{AND}<b> <img src="canary.png">',
    )


def remover(texts: tuple[str, ...]):
    """A function that removes `texts` from what a place shows, also their elided or escaped form
    and their single words; for `Seen.without_data`.
    """
    forms = [*texts, *(text.replace("/", "-") for text in texts)]
    names = [re.sub(r"\W+", "", text, flags=re.ASCII) for text in texts]  # of INCEpTION's types
    forms += [name[:1].upper() + name[1:] for name in names]
    forms += [re.sub(r"[^\w-]+", "_", text) for text in texts]  # of brat's types
    forms += [html.escape(form) for form in forms] + [read(form) for form in forms]
    forms += [form.replace("&", "&&") for form in forms]
    forms.sort(key=len, reverse=True)
    words = {word for form in forms for word in form.split()}
    letters = " ".join(forms).lower()

    def remove(text: str, place: str) -> str:
        if text in words:
            return ""
        for form in forms:
            text = text.replace(form, NAME)
        head, elided, tail = text.partition("…")
        for form in forms if elided else ():
            head = next((head[:-n] for n in _lengths(form) if head.endswith(form[:n])), head)
            tail = next((tail[n:] for n in _lengths(form) if tail.startswith(form[-n:])), tail)
        text = re.sub("R&&?D", NAME, head + elided + tail)
        if place.startswith("tokenizers"):  # subwords learned from the texts
            pieces = re.findall("[A-Za-z]+", text)
            return "" if all(piece in letters for piece in pieces) else text
        return text

    return remove


def _lengths(form: str) -> range:
    """Of a part of the text beside an ellipsis."""
    return range(len(form), 2, -1)


def further_texts(path: Path, message: str) -> None:
    """Guidelines, label descriptions and run messages, which the project lacks."""
    from workbench.operations.schema import guideline, labels
    from workbench.project.project import Project
    from workbench.storage.runs import runs

    project = Project.open(path)
    for layer in labels.layers(project):
        guideline.write(
            project, layer.id, f"# Heading {message}\n\n- item {message}\n\n`{message}`"
        )
        for label in layer.labels:
            labels.describe_label(project, label.id, message)
    with project.write():
        for run in runs.all(project.db):
            runs.update(
                project.db, run.id, result={**run.result, "message": message, "hint": message}
            )
    project.close()


def a_model(folder: Path, message: str) -> Path:
    """A starter model under a hostile name, with a hostile card."""
    from workbench.base import paths

    shutil.copytree(paths.resource("models") / "starter-bert", folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["architectures"] = [message]
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "README.md").write_text(
        f"---\nlicense: '{message}'\n---\n{message}", encoding="utf-8"
    )
    return folder


def bring(way: Watched, folder: Path, name: str, message: str) -> None:
    """Import a file whose name, columns and cells are hostile."""
    file = folder / f"{name}.csv"
    quoted = message.replace('"', '""')
    file.write_text(f'key;"{quoted}"\n"α {quoted}";"Ένα {quoted}"\nβ;\n', encoding="utf-8")

    def preview(dialog) -> None:
        way.settle()
        way.at("import, preview")
        dialog.state.start()
        way.wait(lambda: dialog.state.phase in ("done", "ready"))

    way.dialog("import", lambda: way.app.go("data", files=[file]), preview)
    way.dialog("export data", lambda: way.app.go("data", dialog="export"))


def quick_system_check() -> None:
    """Leave out what takes seconds: another library to import, and the measurement of bf16."""
    from workbench.models import precision, system_check

    system_check.LIBRARIES = tuple(
        library for library in system_check.LIBRARIES if library != "transformers"
    )
    precision.trial = lambda shape: 2.0 if shape == system_check.SHAPES[0] else 0.5


def hostile(folder: Path) -> Watched:
    from PySide6.QtGui import QImage

    quick_system_check()
    picture = folder / "canary.png"
    image = QImage(4, 4, QImage.Format.Format_RGB32)
    image.fill(0)
    image.save(str(picture))
    long, short = texts(picture)
    path = folder / f"{short}.glossbench"
    make_project(path, lambda text: f"{text} {long}")
    further_texts(path, long)
    seen = Seen()
    seen.without_data = remover((long, short))
    watch_painting(seen)
    canary = Canary(picture) if sys.platform.startswith("linux") else None  # it needs inotify
    way = Watched(seen, canary, (long, short))
    walk.before_opening(way, folder)
    assert way.app.open_project(path)
    way.app.settings.model_folders = [str(a_model(folder / short, long))]
    walk.in_project(way)
    seen.own = ("key",)  # a column of the file
    bring(way, folder, short, long)
    seen.own = ()
    way.at("all pages, used", hidden=True)
    walk.exchange(way, folder)
    way.app.closed()
    return way


def walked() -> dict:
    """What a walk in a subprocess prints: the language must be set before window modules are
    imported.
    """
    # Libraries imported by other tests set KMP_ variables, which the system check would show.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("KMP_")}
    # A short path: it stands in every label, and a prompt with all labels must fit the model.
    with tempfile.TemporaryDirectory(prefix="h") as folder:
        done = subprocess.run(
            [sys.executable, "-m", "tests.ui.hostile", folder],
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=590,
            cwd=Path(__file__).resolve().parents[2],
            env={**inherited, "QT_QPA_PLATFORM": "offscreen", "PYTHONUTF8": "1"},
        )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


if __name__ == "__main__":
    from workbench.base import i18n

    language = Pseudo()
    i18n.install(language)
    way = hostile(Path(sys.argv[1]))
    message = {"english": way.seen.faults, "twice": sorted(language.twice)}
    message |= {"altered": way.faults, "tips": way.tips, "places": sorted(way.seen.places)}
    print(json.dumps(message, ensure_ascii=False))
