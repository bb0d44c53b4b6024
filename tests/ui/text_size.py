"""Run `walk.py` with large text in a window of 1280 × 800 and find what has no room.

`python -m tests.ui.text_size FOLDER PERCENT`, with an empty folder for the project, prints as JSON
which buttons are narrower than their text or partly outside, and which pages scroll sideways.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from tests.ui import walk
from tests.ui.pseudo import Seen, make_project

WIDTH, HEIGHT = 1280, 800
ROUNDS = 10


class Sized(walk.Walk):
    """Measures the buttons and scroll areas that are visible at each place."""

    def __init__(self, percent: int):
        self.faults: dict[str, str] = {}
        super().__init__(Seen())
        self.app.settings.text_size = percent
        self.app.restyle()
        self.window.resize(WIDTH, HEIGHT)

    def at(self, place: str, *, hidden: bool = False, within=None) -> None:
        self.seen.place = place
        for _round in range(ROUNDS):  # a layout that is not finished is measured again
            self.settle()
            faults = list(self._measure(within or self.window))
            if not faults:
                return
            time.sleep(0.02)
        self.faults.update({fault: place for fault in faults if fault not in self.faults})

    def _measure(self, root):
        from PySide6.QtWidgets import QAbstractButton, QDockWidget, QScrollArea

        docked = any(dock.isVisible() for dock in self.window.findChildren(QDockWidget))
        for button in root.findChildren(QAbstractButton):
            if button.isVisible() and button.text():
                for lack in _lacks(button, high=not docked):  # docks take the height of the page
                    yield f"{_parents(button)} “{button.text().strip()}” {lack}"
        for area in root.findChildren(QScrollArea):
            if area.isVisible() and (pixels := area.horizontalScrollBar().maximum()):
                yield f"{_parents(area)} scrolls {pixels} sideways"
        if self.window.width() > WIDTH:
            yield f"the window is {self.window.width()} wide"


def _lacks(button, *, high: bool):
    """What is cut off a button, also by its parents up to a scroll area; `high`: in height, too."""
    from PySide6.QtCore import QPoint
    from PySide6.QtWidgets import QAbstractScrollArea

    if (narrow := button.sizeHint().width() - button.width()) > 0:
        yield f"is {narrow} too narrow"
    if high and (low := button.sizeHint().height() - button.height()) > 1:  # 1: room for focus
        yield f"is {low} too low"
    parent, scrolls = button.parentWidget(), False
    while parent is not None and not scrolls and not parent.isWindow():
        place, scrolls = button.mapTo(parent, QPoint(0, 0)), _is_viewport(parent)
        if place.x() < 0 or place.x() + button.width() > parent.width():
            yield f"is cut at the side by {type(parent).__name__}"
        low = place.y() < 0 or place.y() + button.height() > parent.height()
        if high and low and not scrolls:
            yield f"is cut above or below by {type(parent).__name__}"
        parent = None if isinstance(parent, QAbstractScrollArea) else parent.parentWidget()


def _is_viewport(widget) -> bool:
    from PySide6.QtWidgets import QAbstractScrollArea

    return isinstance(widget.parentWidget(), QAbstractScrollArea)


def _parents(widget) -> str:
    names = []
    while widget is not None and not widget.isWindow() and len(names) < 6:
        names.append(type(widget).__name__)
        widget = widget.parentWidget()
    return " < ".join(names)


def parts(way: Sized) -> None:
    """The tabs of each page and the choices of its segments, which change what is shown."""
    from PySide6.QtWidgets import QPushButton, QTabBar

    from workbench.ui.widgets.controls.button import Segments

    for page in way.window.pages():
        view = way.go(page.id).view
        for segments in (*view.findChildren(Segments), *view.findChildren(Segments)):
            first = segments.button(segments.value()) if segments.isVisible() else None
            for choice in segments.findChildren(QPushButton) if first is not None else ():
                choice.click()
                way.at(f"{page.id}, {choice.text()}")
                for tabs in view.findChildren(QTabBar):
                    for number in range(tabs.count()) if tabs.isVisible() else ():
                        tabs.setCurrentIndex(number)
                        way.at(f"{page.id}, {tabs.tabText(number)}")
            if first is not None:
                first.click()


def sized(folder: Path, percent: int) -> Sized:
    screen = {"name": "screen", "x": 0, "y": 0, "width": WIDTH, "height": HEIGHT, "dpr": 1}
    config = folder / "screens.json"
    config.write_text(json.dumps({"screens": [{**screen, "logicalDpi": 96}]}), encoding="utf-8")
    os.environ["QT_QPA_PLATFORM"] = f"offscreen:configfile={config}"
    path = folder / "project.glossbench"
    make_project(path)
    way = Sized(percent)
    assert way.app.open_project(path)
    parts(way)
    walk.in_project(way)
    way.app.closed()
    return way


if __name__ == "__main__":
    print(json.dumps(sized(Path(sys.argv[1]), int(sys.argv[2])).faults, ensure_ascii=False))
