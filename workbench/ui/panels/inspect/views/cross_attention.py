"""Cross-attention: rows are the tokens that the decoder writes, columns those of the source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QHeaderView, QTableView

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.panels.inspect.views.option_field import OptionField
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.charts.heat import Legend
from workbench.ui.widgets.charts.matrix import set_up_matrix
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.layout import card, layout_of, row
from workbench.ui.widgets.tables.heat_table import CELL, HeatCell, HeatPainter

if TYPE_CHECKING:
    from workbench.inspection.cross_attention.info import CrossAttention
    from workbench.ui.panels.inspect.inspector_state import InspectorState

ROOT = QModelIndex()
MIN_COLUMN_WIDTH = 23  # minimum width of a column, pixels at 100%
HIGH, PADDING = 26, 14  # of a row, beside the contents of a cell


class CrossAttentionView(InspectorView):
    """Arrow keys move in the table."""

    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._fields = [
            OptionField(state, "target", _("Target text")),
            OptionField(state, "layer", _("Layer of the decoder")),
            OptionField(state, "head", _("Head")),
        ]
        self._title, self._about = words("", weight=600), Elided("", "small", "muted")
        self._cells = _Weights()
        self._table = QTableView()
        self._table.setAccessibleName(_("Cross-attention"))
        self._table.setProperty("part", "matrix")
        self._table.setFrameShape(QTableView.Shape.NoFrame)
        self._table.setModel(self._cells)
        self._table.setItemDelegate(HeatPainter(self._table))
        set_up_matrix(self._table, _("Rows: written tokens. Columns: source tokens."))
        for header in (self._table.horizontalHeader(), self._table.verticalHeader()):
            header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
            header.setMinimumSectionSize(theme.px(MIN_COLUMN_WIDTH))
            header.setSectionsClickable(False)
        drop = theme.changed.connect(self._fit)
        self.destroyed.connect(lambda *_: drop())
        target, layer, head = self._fields
        layout_of(self).addWidget(
            card(
                row((target, 3), (layer, 1), (head, 1), gap=12),
                row(self._title, (self._about, 1), Legend()),
                (self._table, 1),
                gap=8,
            )
        )

    def show_state(self, fields: frozenset[str]) -> None:
        super().show_state(fields)
        if concerns(fields, "options"):
            for field in self._fields:
                field.show_value()

    def clear(self) -> None:
        self._cells.set(None)
        for label in (self._title, self._about):
            label.setText("")

    def _fit(self) -> None:
        """Columns as wide as the names of the source tokens and a number.

        Qt would ask for the contents of every cell, which takes seconds for long texts.
        """
        metrics = QFontMetrics(theme.font("caption", 600))
        least = metrics.horizontalAdvance(formats.decimal(0, 2))
        across = self._table.horizontalHeader()
        for column, name in enumerate(self._cells.columns()):
            across.resizeSection(column, max(least, metrics.horizontalAdvance(name)) + PADDING)
        self._table.verticalHeader().setDefaultSectionSize(theme.px(HIGH))

    def show_result(self, result: CrossAttention) -> None:
        self._cells.set(result)
        self._fit()
        title = _(
            "Layer {layer} of {layers}, head {head} of {heads}",
            layer=result.layer,
            layers=result.layers,
            head=result.head,
            heads=result.heads,
        )
        self._title.setText(title)
        bits = float(result.entropies[result.layer - 1, result.head - 1])
        message = _("entropy {bits:.2f} bits · the model writes: {target}")
        if not result.own:
            message = _("entropy {bits:.2f} bits · target: {target}")
        self._about.setText(message.format(bits=bits, target=result.target))

    def data(self) -> list[list[object]]:
        result: CrossAttention = self.state.result
        rows: list[list[object]] = [["", *(token.shown for token in result.source)]]
        rows += [
            [name, *map(float, weights)]
            for name, weights in zip(result.written, result.weights, strict=True)
        ]
        return rows


class _Weights(QAbstractTableModel):
    """The weights of one head as numbers on shades."""

    def __init__(self) -> None:
        super().__init__()
        self._result: CrossAttention | None = None

    def set(self, result: CrossAttention | None) -> None:
        self.beginResetModel()
        self._result = result
        self.endResetModel()

    def columns(self) -> list[str]:
        """The source tokens."""
        return [token.shown for token in self._result.source] if self._result else []

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = ROOT) -> int:
        return 0 if parent.isValid() or self._result is None else len(self._result.written)

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = ROOT) -> int:
        return 0 if parent.isValid() or self._result is None else len(self._result.source)

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if not index.isValid() or self._result is None:
            return None
        weight = float(self._result.weights[index.row(), index.column()])
        if role == Qt.ItemDataRole.DisplayRole:
            return formats.decimal(weight, 2)
        if role == CELL:
            return HeatCell(formats.decimal(weight, 2), weight**0.5, "")
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            written = self._result.written[index.row()]
            source = self._result.source[index.column()].shown
            message = _("{written} → {source}: {weight:.3f}")
            message = message.format(written=written, source=source, weight=weight)
            return escaping.tip(message) if role == Qt.ItemDataRole.ToolTipRole else message
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if role != Qt.ItemDataRole.DisplayRole or self._result is None:
            return None
        if orientation == Qt.Orientation.Vertical:
            return self._result.written[section]
        return self._result.source[section].shown
