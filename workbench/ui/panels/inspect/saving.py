"""Save what a view of the Inspect page shows: its picture, or its data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint
from PySide6.QtGui import QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from workbench.base.i18n import _
from workbench.ui.widgets.whole import whole

if TYPE_CHECKING:
    from workbench.ui.panels.inspect.base import InspectorView


def fill_menu(menu: QMenu, view: InspectorView | None) -> None:
    """The entries that save a view; disabled without a result."""
    menu.clear()
    ready = view is not None and view.state.result is not None
    for title, ending in (
        (_("Save picture (PNG)…"), "png"),
        (_("Save picture (SVG)…"), "svg"),
        (_("Save data (CSV)…"), "csv"),
        (_("Save data (JSON)…"), "json"),
    ):
        action = menu.addAction(title)
        action.setEnabled(ready)
        if view is not None:
            action.triggered.connect(lambda _on=False, end=ending, of=view: ask(of, end))


def ask(view: InspectorView, ending: str) -> None:
    """Ask for a file, and save."""
    name = f"{view.state.id}.{ending}"
    file, _kind = QFileDialog.getSaveFileName(
        view.window(), _("Save"), str(Path.home() / name), f"*.{ending}"
    )
    if file:
        save(view, Path(file).with_suffix(f".{ending}"))


def save(view: InspectorView, path: Path) -> None:
    """Write a file of the kind that its suffix names; a message tells of the result."""
    page = view.page
    {
        ".png": lambda: page.save(lambda: _write(_write_png, view.picture(), path), path),
        ".svg": lambda: page.save(lambda: _write(_write_svg, view.picture(), path), path),
        ".csv": lambda: page.save_rows(path, view.data()),
        ".json": lambda: page.save_result(path, view.state.result),
    }[path.suffix]()


def _write(write: Callable[[QWidget, Path], None], widget: QWidget, path: Path) -> str:
    """Write the picture with what is scrolled out of view; returns what it lacks."""
    with whole(widget) as picture:
        write(widget, path)
    return picture.note


def _write_png(widget: QWidget, path: Path) -> None:
    if not widget.grab().save(str(path)):
        raise OSError(_("cannot write the image"))


def _write_svg(widget: QWidget, path: Path) -> None:
    generator = QSvgGenerator()
    generator.setFileName(str(path))
    generator.setSize(widget.size())
    generator.setViewBox(widget.rect())
    painter = QPainter()
    if not painter.begin(generator):
        raise OSError(_("cannot write the image"))
    widget.render(painter, QPoint())
    painter.end()
