"""Pictures of every place of `walk.py`, in light and dark, and a comparison of two such folders.

    python -m tests.ui.pictures FOLDER
    python -m tests.ui.pictures BEFORE AFTER

The second lists the pictures that differ, by share of pixels; its exit code is then 1. Pictures of
one computer can be compared, those of two have different fonts. `packaging/screenshots.py` draws
those of the README.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from unittest import mock

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from tests.ui import hostile, walk
from tests.ui.pseudo import Seen, make_project

SIZE = (1280, 800)
THEMES = ("light", "dark")
NOON = time.struct_time((2026, 1, 1, 12, 0, 0, 3, 1, 0))
STEP = 8  # a channel of a pixel, of 255, that differs by less looks the same
SHARE = 1e-5  # of pixels: fewer are rounding of antialiased lines


class Unchecked(Seen):
    """Remembers the place only."""

    def note(self, text: object, where: str) -> None:
        pass

    def look(self, *, hidden: bool = False, within=None) -> None:
        pass


class Pictured(walk.Walk):
    """Saves a picture of each place; of a dialog, without the window behind it."""

    def __init__(self, folder: Path, theme: str):
        super().__init__(Unchecked(), theme=theme)
        self._folder = folder
        self._names: dict[str, int] = {}
        self._windows: set = set()  # those that were there at earlier places
        self.qt.setCursorFlashTime(0)

    def at(self, place: str, *, hidden: bool = False, within=None) -> None:
        from PySide6.QtWidgets import QToolTip

        QToolTip.hideText()
        self.window.resize(*SIZE)
        self.window.note_line.hide()  # it hides itself after some time
        super().at(place)
        self._save(place, within or self.window)
        windows = {window for window in self.qt.topLevelWidgets() if window.isVisible()}
        for window in windows - self._windows - {within, self.window}:
            self._save(f"{place}, beside the window", window)
        self._windows |= windows

    def _save(self, place: str, widget) -> None:
        name = re.sub(r"[^\w, .-]", "_", place)
        count = self._names[name] = self._names.get(name, 0) + 1
        path = self._folder / f"{name}{f' {count}' if count > 1 else ''}.png"
        if not widget.grab().save(str(path), "PNG"):
            raise SystemExit(f"{path} cannot be written.")


def draw(folder: Path, theme: str) -> None:
    hostile.quick_system_check()
    folder.mkdir(parents=True, exist_ok=True)
    home = Path(tempfile.gettempdir()) / "glossbench-pictures"  # paths are shown
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    _use_home(home)
    with mock.patch("time.localtime", lambda _at=None: NOON):  # times are shown, too
        project = home / "έργο.glossbench"
        make_project(project)
        way = Pictured(folder, theme)
        walk.before_opening(way, home)
        assert way.app.open_project(project)
        walk.in_project(way)
        walk.exchange(way, home)
        way.app.closed()
    shutil.rmtree(home)


def _use_home(home: Path) -> None:
    os.environ["HOME"] = str(home)
    for name in ("CONFIG", "DATA", "CACHE", "STATE"):
        os.environ[f"XDG_{name}_HOME"] = str(home / name.lower())
    os.environ["XDG_DOCUMENTS_DIR"] = str(home / "Documents")


def compare(before: Path, after: Path) -> int:
    """Print what is missing, new or different; returns the number of these pictures."""
    names = [
        {str(path.relative_to(root)) for path in root.rglob("*.png")} for root in (before, after)
    ]
    lines = [(1.0, f"missing  {name}") for name in names[0] - names[1]]
    lines += [(1.0, f"new      {name}") for name in names[1] - names[0]]
    shares = {name: _share(before / name, after / name) for name in names[0] & names[1]}
    lines += [(share, f"{share:7.2%}  {name}") for name, share in shares.items() if share > SHARE]
    print(*(line for _share, line in sorted(lines, reverse=True)), sep="\n")
    print(f"{len(lines)} of {len(names[0] | names[1])} pictures differ")
    return len(lines)


def _share(before: Path, after: Path) -> float:
    """The share of pixels that differ; 1 for pictures of different sizes."""
    first, second = _pixels(before), _pixels(after)
    if first.shape != second.shape:
        return 1.0
    return float((abs(first - second).max(axis=2) > STEP).mean())


def _pixels(path: Path):
    import numpy as np
    from PySide6.QtGui import QImage

    image = QImage(str(path)).convertToFormat(QImage.Format.Format_RGBX8888)
    shape = (image.height(), image.width(), 4)
    return np.frombuffer(image.constBits(), np.uint8).reshape(shape)[..., :3].astype(np.int16)


def main(folders: list[str]) -> int:
    if len(folders) == 2 and folders[1] in THEMES:
        draw(Path(folders[0]) / folders[1], folders[1])
        return 0
    if len(folders) == 2:
        return int(compare(*map(Path, folders)) > 0)
    for theme in THEMES:
        subprocess.run([sys.executable, "-m", "tests.ui.pictures", folders[0], theme], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
