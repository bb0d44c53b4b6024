"""The legend of a map: shape, name and number of points of each group; a click selects it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QIcon, QImage, QPixmap
from PySide6.QtWidgets import QVBoxLayout, QWidget

from workbench.base.i18n import _, ngettext
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.charts.point_map import PointGroup
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import clear

MAX_GROUPS = 12  # groups; those after are summed up
SIZE = 16  # pixels of a shape


class PointLegend(QWidget):
    """`chosen(number)` is emitted with the number of the group that was clicked."""

    chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self.buttons: list[Button] = []

    def set(self, groups: Sequence[PointGroup], counts: Sequence[int]) -> None:
        clear(self._column)
        self.buttons = []
        pairs = list(zip(groups, counts, strict=True))
        for number, (group, count) in enumerate(pairs[:MAX_GROUPS]):
            message = _(
                "{name} {count}", name=escaping.menu_text(group.name), count=formats.count(count)
            )
            text = message
            button = Button(text, kind="quiet", small=True, on=self._emit(number))
            button.setIcon(shape_icon(group))
            button.setIconSize(QSize(theme.px(SIZE), theme.px(SIZE)))
            escaping.set_tip(button, _("Select these points"))
            self.buttons.append(button)
        if len(pairs) > MAX_GROUPS:
            more = sum(count for _group, count in pairs[MAX_GROUPS:])
            hidden = len(pairs) - MAX_GROUPS
            text = ngettext("{n} more group {count}", "{n} more groups {count}", hidden)
            rest = Button(
                text.format(n=hidden, count=formats.count(more)),
                kind="quiet",
                small=True,
            )
            rest.setEnabled(False)
            self.buttons.append(rest)
        if self.buttons:
            self._column.addWidget(flow(*self.buttons, gap=2))

    def _emit(self, number: int) -> Callable[[], None]:
        return lambda: self.chosen.emit(number)


def shape_icon(group: PointGroup) -> QIcon:
    """The shape of a group in its colour."""
    import numpy

    from workbench.ui.widgets.charts import point_stamps

    size = 2 * theme.px(SIZE)  # for displays with two pixels per point
    buffer = numpy.zeros((size, size), numpy.uint32)
    place = numpy.full((1, 2), size // 2, numpy.int32)
    codes = numpy.zeros(1, numpy.int16)
    shades, shapes = (theme.channels(group.colour),), (group.shape,)
    point_stamps.paint(buffer, place, codes, shades, shapes, size / 4)
    image = QImage(buffer.data, size, size, 4 * size, QImage.Format.Format_ARGB32).copy()
    return QIcon(QPixmap.fromImage(image))
