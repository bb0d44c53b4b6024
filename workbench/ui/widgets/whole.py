"""Make everything of a widget visible for a moment, for a picture of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QScrollArea, QTableView, QWidget

from workbench.base.i18n import _

MAX_PICTURE_SIDE = (
    16_000  # pixels in height and width: an image of twice the size can still be painted
)


@dataclass
class Whole:
    """cut: rows or parts that exceed MOST are not in the picture."""

    cut: bool = False

    @property
    def note(self) -> str:
        """What the picture lacks, "" for nothing."""
        if not self.cut:
            return ""
        return _(
            "The picture is cut off at {limit:,} pixels. Save the data to get all of it.",
            limit=MAX_PICTURE_SIDE,
        )


@contextmanager
def whole(widget: QWidget) -> Iterator[Whole]:
    """Enlarge a widget until nothing in it has to be scrolled, at most to MOST pixels.

    The screen does not change: it is painted by the event loop, when the size is as before.
    """
    areas = _areas(widget)
    before = [(area, area.minimumSize(), area.maximumSize()) for area in areas]
    size, least, most = widget.size(), widget.minimumSize(), widget.maximumSize()
    picture = Whole()
    try:
        widget.setMinimumSize(0, 0)
        widget.setMaximumSize(MAX_PICTURE_SIDE, MAX_PICTURE_SIDE)
        for _turn in range(2):  # the height of text depends on the width that the first one gives
            for area in areas:
                _grow(area, picture)
            _activate(widget)  # so that the size below knows the new minimum sizes
            full_size = widget.size().expandedTo(widget.minimumSizeHint())
            if widget in areas:
                full_size = full_size.expandedTo(widget.minimumSize())
            widget.resize(full_size.boundedTo(QSize(MAX_PICTURE_SIDE, MAX_PICTURE_SIDE)))
            _activate(widget)
        yield picture
    finally:
        for area, smallest, largest in before:
            area.setMinimumSize(smallest)
            area.setMaximumSize(largest)
        widget.setMinimumSize(least)
        widget.setMaximumSize(most)
        widget.resize(size)
        _activate(widget)


def _areas(widget: QWidget) -> list[QTableView | QScrollArea]:
    """The widget or what is visible in it, if it scrolls; the inner ones come first."""
    inner: list[QWidget] = [*widget.findChildren(QWidget), widget]
    areas = [item for item in inner if isinstance(item, QTableView | QScrollArea)]
    return [item for item in reversed(areas) if item is widget or item.isVisibleTo(widget)]


def _grow(area: QTableView | QScrollArea, picture: Whole) -> None:
    """Set the size that shows all contents as the minimum."""
    missing = (_contents(area) - area.viewport().size()).expandedTo(QSize(0, 0))
    if missing.isNull():
        return
    full_size = area.size() + missing
    if full_size.width() > MAX_PICTURE_SIDE or full_size.height() > MAX_PICTURE_SIDE:
        picture.cut = True
        full_size = full_size.boundedTo(QSize(MAX_PICTURE_SIDE, MAX_PICTURE_SIDE))
    area.setMaximumSize(MAX_PICTURE_SIDE, MAX_PICTURE_SIDE)
    area.setMinimumSize(full_size)


def _contents(area: QTableView | QScrollArea) -> QSize:
    if isinstance(area, QTableView):
        return QSize(area.horizontalHeader().length(), area.verticalHeader().length())
    inside = area.widget()
    if inside is None:
        return QSize(0, 0)
    height = inside.height()
    if area.widgetResizable():
        height = max(inside.minimumSizeHint().height(), inside.minimumHeight())
        if inside.hasHeightForWidth():
            height = max(height, inside.heightForWidth(area.viewport().width()))
    return QSize(0, height)


def _activate(widget: QWidget) -> None:
    """Lay out the children now instead of with the next event, the innermost first."""
    for item in (*reversed(widget.findChildren(QWidget)), widget):
        if (layout := item.layout()) is not None:
            layout.activate()
