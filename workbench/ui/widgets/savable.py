"""Tables that can be saved as a picture and as CSV, by the menu of `saving.save_menu`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QRegion

from workbench.ui.style import theme
from workbench.ui.widgets.charts.saving import Savable, save_drawing
from workbench.ui.widgets.tables.marked_table import MarkedTable
from workbench.ui.widgets.whole import whole

NOTHING = (None, "", "–")  # cells without a value


class SavableTable(Savable, MarkedTable):
    """named_rows: the names of rows are the first column of the numbers."""

    named_rows = False

    def save_picture(self, path: Path) -> None:
        """All rows, also those that are scrolled out of view, as PNG or SVG; a picture that would
        be too high ends with a note.
        """
        with whole(self) as whole_picture:
            size = self._drawn()
            below = theme.px(theme.ROW) if whole_picture.note else 0

            def draw(painter: QPainter, area: QRectF) -> None:
                self.render(painter, QPoint(), QRegion(QRect(QPoint(), size)))
                if below:
                    painter.setPen(theme.qcolour("muted"))
                    strip = area.adjusted(8, area.height() - below, -8, 0)
                    painter.drawText(strip, Qt.AlignmentFlag.AlignVCenter, whole_picture.note)

            save_drawing(path, QSize(size.width(), size.height() + below), draw)

    def numbers(self) -> Iterable[Sequence[object]]:
        """All rows, with the columns that are hidden for lack of room."""
        model = self.model()
        columns = [at for at in range(model.columnCount()) if self._tells(at)]
        across, down = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        rows = [["", *(model.headerData(at, across) for at in columns)]]
        for number in range(model.rowCount()):
            cells = (model.index(number, at).data() for at in columns)
            rows.append([model.headerData(number, down), *cells])
        return rows if self.named_rows else [cells[1:] for cells in rows]

    def _tells(self, column: int) -> bool:
        """Whether a column is shown, or would show something."""
        if not self.isColumnHidden(column):
            return True
        model = self.model()
        cells = (model.index(row, column).data() for row in range(model.rowCount()))
        return any(cell not in NOTHING for cell in cells)

    def _drawn(self) -> QSize:
        """The size without the empty room below the rows."""
        rows = self.horizontalHeader().height() + self.verticalHeader().length()
        return self.size().boundedTo(QSize(self.width(), rows + 2 * self.frameWidth()))
