"""Pictures of widgets that do not draw themselves with `chart.save_drawing`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRectF, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QFileDialog, QGraphicsView, QWidget

from workbench.base.i18n import _
from workbench.ui.widgets.charts.legend import draw_names, names_height

if TYPE_CHECKING:
    from workbench.ui.widgets.charts.chart import Series

KINDS = "PNG (*.png);;SVG (*.svg)"


def save_widget(widget: QWidget, path: Path, named: Sequence[Series] = ()) -> None:
    """Save what a widget shows as SVG, or as PNG at twice its size, by the suffix.

    named: curves whose names and colours are painted below.
    """
    from workbench.ui.widgets.charts.chart import save_drawing  # Qt's SVG module

    def draw(painter: QPainter, area: QRectF) -> None:
        if isinstance(widget, QGraphicsView):  # its `render` is that of the scene
            widget.render(painter, area)
        else:
            widget.render(painter, QPoint())

    high = math.ceil(names_height(widget.width(), named)) if named else 0

    def draw_all(painter: QPainter, area: QRectF) -> None:
        if named:
            draw_names(painter, area, named)
        draw(painter, area.adjusted(0, 0, 0, -high))

    save_drawing(path, widget.size() + QSize(0, high), draw_all)


def ask_path(parent: QWidget, title: str) -> Path | None:
    """Where to save a picture, None if the dialog was cancelled."""
    path, _kind = QFileDialog.getSaveFileName(parent, _("Save image"), f"{title}.png", KINDS)
    return Path(path) if path else None
