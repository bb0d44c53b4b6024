"""Pictures of widgets that do not draw themselves with `chart.save_drawing`."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, QRectF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QFileDialog, QGraphicsView, QWidget

from workbench.base.i18n import _

KINDS = "PNG (*.png);;SVG (*.svg)"


def save_widget(widget: QWidget, path: Path) -> None:
    """Save what a widget shows as SVG, or as PNG at twice its size, by the suffix."""
    from workbench.ui.widgets.chart import save_drawing  # Qt's SVG module

    def draw(painter: QPainter, area: QRectF) -> None:
        if isinstance(widget, QGraphicsView):  # its `render` is that of the scene
            widget.render(painter, area)
        else:
            widget.render(painter, QPoint())

    save_drawing(path, widget.size(), draw)


def ask_path(parent: QWidget, title: str) -> Path | None:
    """Where to save a picture, None if the dialog was cancelled."""
    path, _kind = QFileDialog.getSaveFileName(parent, _("Save image"), f"{title}.png", KINDS)
    return Path(path) if path else None
