"""Transitions of a CRF: a matrix of scores from the tag of the row to the tag of the column."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import (
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from workbench.base.i18n import _
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.charts import heat
from workbench.ui.widgets.charts.matrix import set_up_matrix
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import card, layout_of, row

if TYPE_CHECKING:
    from workbench.inspection.transitions.info import TransitionScores
    from workbench.ui.panels.inspect.inspector_state import InspectorState

SCORE, SHARE = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1
Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()  # parent item of all rows of a table
CELL, HIGH = 54, 26  # pixels at 100%


class TransitionsView(InspectorView):
    """Rows: from, including the start of the text. Columns: to, including its end."""

    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._table = _Matrix()
        self._range = words("", "small", "muted")
        hint = words(_("Rows: from. Columns: to. Hatched: not allowed in BIO."), "small", "muted")
        layout_of(self).addWidget(
            card(
                row(words(_("Transition scores"), weight=600), hint, None, self._range),
                (self._table, 1),
                gap=8,
            )
        )

    def clear(self) -> None:
        self._table.scores.set(None)
        self._range.setText("")

    def data(self) -> list[list[object]]:
        """Rows: from; columns: to. Empty where the scheme forbids a transition."""
        result: TransitionScores = self.state.result
        rows: list[list[object]] = [["", *result.tags, _("end")]]
        pairs = zip(result.start, result.no_start, strict=True)
        rows.append([_("start"), *("" if no else float(score) for score, no in pairs), ""])
        for at, tag in enumerate(result.tags):
            steps = zip(result.step[at], result.no_step[at], strict=True)
            scores = ("" if no else float(score) for score, no in steps)
            rows.append([tag, *scores, float(result.end[at])])
        return rows

    def show_result(self, result: TransitionScores) -> None:
        self._table.scores.set(result)
        self._table.fit()
        low, high = self._table.scores.bounds()
        message = _("from {low} to {high}", low=_signed(low), high=_signed(high))
        self._range.setText(message)


def _signed(score: float, digits: int = 2) -> str:
    return formats.decimal(score, digits, signed=True)


class _Scores(QAbstractTableModel):
    """Rows: start and tags.

    Columns: tags and end. None if the scheme does not allow a transition.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._down: list[str] = []
        self._across: list[str] = []
        self._values = np.zeros((0, 0))
        self._forbidden = np.zeros((0, 0), bool)

    def set(self, result: TransitionScores | None) -> None:
        self.beginResetModel()
        if result is None:
            self._down, self._across, self._values = [], [], np.zeros((0, 0))
        else:
            size = len(result.tags)
            self._down = [_("start"), *result.tags]
            self._across = [*result.tags, _("end")]
            self._values = np.zeros((size + 1, size + 1))
            self._values[0, :-1], self._values[1:, -1] = result.start, result.end
            self._values[1:, :-1] = result.step
            self._forbidden = np.zeros((size + 1, size + 1), bool)
            self._forbidden[0, :-1], self._forbidden[1:, :-1] = result.no_start, result.no_step
            self._forbidden[0, -1] = True  # there is no text without words
        self.endResetModel()

    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest score."""
        allowed = self._values[~self._forbidden]
        return (float(allowed.min()), float(allowed.max())) if allowed.size else (0.0, 0.0)

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._down)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._across)

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        at = index.row(), index.column()
        forbidden, score = bool(self._forbidden[at]), float(self._values[at])
        if role == SCORE:
            return None if forbidden else score
        if role == SHARE:
            return 0.0 if forbidden else score / (max(map(abs, self.bounds())) or 1.0)
        if role == Qt.ItemDataRole.DisplayRole:
            return "–" if forbidden else _signed(score)
        if role == Qt.ItemDataRole.ToolTipRole:
            names = {"before": self._down[at[0]], "after": self._across[at[1]]}
            if forbidden:
                return escaping.tip(_("{before} → {after}: not allowed", **names))
            message = _("{before} → {after}: {score}", **names, score=_signed(score, 3))
            return escaping.tip(message)
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        names = self._across if orientation == Qt.Orientation.Horizontal else self._down
        if role == Qt.ItemDataRole.DisplayRole:
            return names[section]
        return escaping.tip(names[section]) if role == Qt.ItemDataRole.ToolTipRole else None


class _Matrix(QTableView):
    def __init__(self) -> None:
        super().__init__()
        self.scores = _Scores(self)
        self.setModel(self.scores)
        self.setAccessibleName(_("Transitions"))
        self.setProperty("part", "matrix")
        set_up_matrix(self, _("Rows: from. Columns: to."))
        self.setItemDelegate(_Cell(self))
        self.setFrameShape(self.Shape.NoFrame)
        for header in (self.horizontalHeader(), self.verticalHeader()):
            header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
            header.setHighlightSections(True)
        self.verticalHeader().setDefaultAlignment(
            Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        )
        drop = theme.changed.connect(self.fit)
        self.destroyed.connect(lambda *_: drop())

    def fit(self) -> None:
        """Set the column width to the longest name, up to a limit."""
        metrics = QFontMetrics(theme.font("caption", 600))
        head = self.scores.headerData
        names = (str(head(n, Qt.Orientation.Horizontal)) for n in range(self.columns))
        longest = max((metrics.horizontalAdvance(name) for name in names), default=0) + 10
        wide = min(max(longest, theme.px(CELL)), theme.px(2 * CELL))
        self.horizontalHeader().setDefaultSectionSize(wide)
        self.verticalHeader().setDefaultSectionSize(theme.px(HIGH))

    @property
    def columns(self) -> int:
        return self.scores.columnCount()


class _Cell(QStyledItemDelegate):
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        score, view = index.data(SCORE), cast(QTableView, self.parent())
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(option.rect).adjusted(1, 1, -1, -1)
        ground = "sunken" if score is None else None
        tint = theme.qcolour(ground) if ground else QColor(theme.diverging(index.data(SHARE)))
        chosen = view.hasFocus() and view.currentIndex() == index
        painter.setPen(QPen(theme.qcolour("accent"), 2) if chosen else Qt.PenStyle.NoPen)
        painter.setBrush(tint)
        painter.drawRoundedRect(area, 3, 3)
        if score is None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(heat.hatch())
            painter.drawRoundedRect(area, 3, 3)
        else:
            painter.setPen(theme.qcolour("text"))
            painter.setFont(theme.font("caption"))
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, _signed(score))
        painter.restore()
