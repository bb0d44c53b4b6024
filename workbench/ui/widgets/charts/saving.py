"""Save what a widget shows: its picture as PNG or SVG, its numbers as CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import cast

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from workbench.base.i18n import _
from workbench.text.columns import write_delimited
from workbench.ui.style import formats, theme
from workbench.ui.widgets.controls.button import Button

PICTURES, NUMBERS = "PNG (*.png);;SVG (*.svg)", "CSV (*.csv)"


class Savable:
    """Mixin of a widget that can be saved."""

    def picture_size(self) -> QSize:
        """The size of the picture, pixels."""
        return cast(QWidget, self).size()

    def draw_picture(self, painter: QPainter, area: QRectF) -> None:
        """Paint the widget into a rectangle of any device."""
        raise NotImplementedError

    def numbers(self) -> Iterable[Sequence[object]]:
        """Rows of a table; the first has the names of the columns."""
        raise NotImplementedError

    def save_picture(self, path: Path) -> None:
        """Save as SVG, or as PNG at twice the size, by the suffix."""
        save_drawing(path, self.picture_size(), self.draw_picture)

    def save_numbers(self, path: Path) -> None:
        """Save the numbers as CSV; texts that a spreadsheet would run are escaped."""
        write_delimited(path, ([_cell(cell) for cell in row] for row in self.numbers()))


def _cell(cell: object) -> object:
    return formats.with_hyphen(cell) if isinstance(cell, str) else cell


def save_drawing(path: Path, size: QSize, draw: Callable[[QPainter, QRectF], None]) -> None:
    """Save what `draw` paints as SVG, or as PNG at twice the size, by the suffix."""
    whole = QRectF(0, 0, size.width(), size.height())
    if path.suffix.lower() == ".svg":
        from PySide6.QtSvg import QSvgGenerator  # a library of its own, not needed at the start

        device = QSvgGenerator()
        device.setFileName(str(path))
        device.setSize(size)
        device.setViewBox(whole)
        painter = QPainter(device)
        painter.fillRect(whole, theme.qcolour("surface"))
        draw(painter, whole)
        painter.end()
        return
    image = QImage(size * 2, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(2.0)
    image.fill(theme.qcolour("surface"))
    painter = QPainter(image)
    draw(painter, whole)
    painter.end()
    image.save(str(path))


# -------------------------------------------------------------------- menu and dialogs


def save_menu(file: str, name: str, *charts: Savable) -> Button:
    """A button "…" that saves the pictures or the numbers of those charts that are visible.

    file: the suggested name of the file, without suffix; several charts are saved as files numbered
    from 1. name: the accessible name of the button.
    """
    parent = cast(QWidget, charts[0])
    return more_button(
        parent,
        name,
        (_("Save image…"), lambda: ask_picture(parent, charts, file)),
        (_("Save data…"), lambda: ask_numbers(parent, charts, file)),
    )


def more_button(parent: QWidget, name: str, *actions: tuple[str, Callable[[], None]]) -> Button:
    """A button "…" with a menu. name: its accessible name."""
    menu = QMenu(parent)
    for text, slot in actions:
        menu.addAction(text, slot)
    button = Button("", "ellipsis", "quiet", small=True, name=name, menu=menu)
    button.setProperty("menu", False)  # the icon is sufficient; hide the menu arrow
    button.setStyleSheet("QPushButton::menu-indicator { image: none; width: 0; }")
    return button


def ask_picture(parent: QWidget, charts: Sequence[Savable], title: str) -> None:
    """Save the visible charts as PNG or SVG; several as files numbered from 1."""
    path, _kind = QFileDialog.getSaveFileName(parent, _("Save image"), f"{title}.png", PICTURES)
    for chart, file in files(charts, path):
        chart.save_picture(file)


def ask_numbers(parent: QWidget, charts: Sequence[Savable], title: str) -> None:
    """Save the numbers of the visible charts as CSV; several as files numbered from 1."""
    path, _kind = QFileDialog.getSaveFileName(parent, _("Save data"), f"{title}.csv", NUMBERS)
    for chart, file in files(charts, path):
        chart.save_numbers(file)


def files(charts: Sequence[Savable], path: str) -> list[tuple[Savable, Path]]:
    """The file of each visible chart; [] without a path."""
    visible = [chart for chart in charts if cast(QWidget, chart).isVisible()]
    whole = Path(path)
    if not path or len(visible) < 2:
        return [(chart, whole) for chart in visible if path]
    return [
        (chart, whole.with_stem(f"{whole.stem}-{number}"))
        for number, chart in enumerate(visible, 1)
    ]
