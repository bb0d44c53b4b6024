"""The label palette: type part of a name, press Enter. For labels without a key, or many labels."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, cast

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from workbench.base.i18n import _
from workbench.text.labels import Label
from workbench.ui.style import escaping, theme
from workbench.ui.widgets.controls.chip import chip_width, paint_chip
from workbench.ui.widgets.controls.words import words

WIDTH, LEAST_WIDTH = 340, 220  # pixels at 100%
ROWS, LEAST_ROWS = 7, 3
ROW = 34  # height of a row, pixels at 100%
GAP = 6  # between a text and the palette beside it, pixels
EDGE = 8  # between the palette and the edge of its parent, pixels
DESCRIPTION = 340  # left edge of the descriptions in a list of one layer, pixels at 100%
_WORD = re.compile(r"[^\W_a-z]*[^\W_A-Z]+|[^\W_]+")


class LabelChoice(NamedTuple):
    """`layer`: its name, shown at the right; "" shows the description of the label instead."""

    label: Label
    layer: str


@lru_cache(maxsize=4096)
def _folded(name: str) -> tuple[str, str]:
    """A name without case and accents, and its words (also in camelCase) with a space before each
    of them.
    """
    return _plain(name), "".join(f" {_plain(word)}" for word in _WORD.findall(name))


def _plain(text: str) -> str:
    split = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in split if not unicodedata.combining(char))


def matching(choices: Sequence[LabelChoice], typed: str) -> list[LabelChoice]:
    """Labels whose name or description contains the text, whatever its case and accents: those that
    start with it first, then word starts, other places in names, sublabels of a label that starts
    with it, and descriptions. Otherwise in the given order. Words may be typed with spaces for
    whatever is between them in the name.
    """
    key, part = typed.strip().casefold(), _plain(typed.strip())
    typed_words = part.split()
    phrase = " " + " ".join(typed_words)

    def rank(choice: LabelChoice) -> int | None:
        name, spaced = _folded(choice.label.name)
        if name.startswith(part) or spaced.startswith(phrase) or choice.label.key == key:
            return 0
        if all(f" {word}" in spaced for word in typed_words):
            return 1
        if part in name or phrase[1:] in spaced:
            return 2
        parent = choice.label.parent
        if parent and _folded(parent)[0].startswith(part):
            return 3
        return 4 if part in _plain(choice.label.description) else None

    ranked = [(rank(choice), number, choice) for number, choice in enumerate(choices)]
    return [
        choice
        for place, _number, choice in sorted(
            (r for r in ranked if r[0] is not None), key=lambda r: r[:2]
        )
    ]


class _Model(QAbstractListModel):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.choices: list[LabelChoice] = []

    def set(self, choices: list[LabelChoice]) -> None:
        self.beginResetModel()
        self.choices = choices
        self.endResetModel()

    def rowCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.choices)

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self.choices[index.row()].label.name
        if role == Qt.ItemDataRole.ToolTipRole:
            return escaping.tip(self.choices[index.row()].label.description)
        return None


class _Delegate(QStyledItemDelegate):
    def sizeHint(self, _option: QStyleOptionViewItem, _index: QModelIndex) -> QSize:
        return QSize(80, theme.px(ROW))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        choice = cast(_Model, index.model()).choices[index.row()]
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, theme.qcolour("accent_soft"))
        key, box = choice.label.key, QRectF(option.rect)
        width = min(chip_width(choice.label.name, key), option.rect.width() - 90)
        height = theme.px(26)
        paint_chip(
            painter,
            QRectF(box.left() + 8, box.center().y() - height / 2, width, height),
            choice.label.name,
            choice.label,
            key=key,
        )
        painter.setFont(theme.font("small"))
        painter.setPen(theme.qcolour("muted"))
        right = option.rect.adjusted(0, 0, -10, 0)
        middle = Qt.AlignmentFlag.AlignVCenter
        if choice.layer:
            painter.drawText(right, middle | Qt.AlignmentFlag.AlignRight, choice.layer)
        else:
            right.setLeft(right.left() + max(theme.px(DESCRIPTION), width + 20))
            elided = painter.fontMetrics().elidedText(
                choice.label.description.replace("\n", " "),
                Qt.TextElideMode.ElideRight,
                right.width(),
            )
            painter.drawText(right, middle, elided)
        painter.restore()


class LabelSearch(QObject):
    """A field, the list of the labels that match what is typed in it, and a line for no match.

    `picked(label id)` for Enter or a click, `left()` for Escape, `filtered()` after each change of
    the matches. The arrow keys move in the list while the field keeps the focus.
    """

    picked = Signal(int)
    left = Signal()
    filtered = Signal()

    def __init__(self, parent: QWidget, name: str, hint: str, *, at_once: bool = False) -> None:
        """name: accessible name of the field. at_once: all labels match before anything is typed,
        and Tab chooses as Enter does.
        """
        super().__init__(parent)
        self._at_once = at_once
        self._choices: Sequence[LabelChoice] = ()
        self.line = QLineEdit()
        self.line.setPlaceholderText(hint)
        self.line.setAccessibleName(name)
        self.line.textChanged.connect(self.filter)
        self.line.installEventFilter(self)
        self._model, self.list = _Model(parent), QListView()
        self.list.setModel(self._model)
        self.list.setItemDelegate(_Delegate(self.list))
        self.list.setUniformItemSizes(True)
        self.list.setAccessibleName(_("Matching labels"))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.clicked.connect(lambda _index: self._pick())
        self.none = words("", "small", "muted", wrap=True)

    @property
    def count(self) -> int:
        """Number of matches."""
        return len(self._model.choices)

    def offer(self, choices: Sequence[LabelChoice]) -> None:
        """Search in these labels."""
        self._choices = choices
        self.filter()

    def filter(self) -> None:
        """Show the matches."""
        typed = self.line.text().strip()
        self._model.set(matching(self._choices, typed) if typed or self._at_once else [])
        if self.count:
            self.list.setCurrentIndex(self._model.index(0))
        self.list.setVisible(bool(self.count))
        self.none.setText(_("No label matches “{typed}”.", typed=typed))
        self.none.setHidden(bool(self.count))
        self.filtered.emit()

    def _pick(self) -> None:
        row = self.list.currentIndex().row()
        if 0 <= row < self.count:
            id = self._model.choices[row].label.id
            self.left.emit()
            self.picked.emit(id)

    def _move(self, step: int) -> None:
        row = min(max(0, self.list.currentIndex().row() + step), self.count - 1)
        self.list.setCurrentIndex(self._model.index(row))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            key, chooses = event.key(), [Qt.Key.Key_Return, Qt.Key.Key_Enter]
            if key == Qt.Key.Key_Escape:
                self.left.emit()
            elif key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
                self._move(1 if key == Qt.Key.Key_Down else -1)
            elif key in chooses or (key == Qt.Key.Key_Tab and self._at_once):
                self._pick()
            else:
                return False
            return True
        return super().eventFilter(watched, event)


class LabelPalette(QFrame):
    """Shown over its parent; `picked(label id)`.

    Closes on Escape or when it loses the focus, and returns the focus to the previous widget.
    """

    picked = Signal(int)

    def __init__(self, parent: QWidget):
        super().__init__(parent)
        self.hide()
        self.setProperty("part", "card")
        self._before: QWidget | None = None
        self._search = LabelSearch(
            self, _("Find a label"), _("Type the name of a label"), at_once=True
        )
        self._search.filtered.connect(self._fit)
        self._search.left.connect(self.leave)
        self._search.picked.connect(self.picked)
        self._line, self._list = self._search.line, self._search.list
        self._line.installEventFilter(self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.setSpacing(6)
        for part in (self._line, self._list, self._search.none):
            layout.addWidget(part)
        self._rows = ROWS

    def ask(
        self,
        choices: Sequence[LabelChoice],
        above: QPoint,
        *,
        beside: QRect | None = None,
        texts: Sequence[QRect] = (),
    ) -> None:
        """Open with these labels; `above`: middle of the lower edge, in parent coordinates.

        `beside`: the text to be labelled. `texts`: areas that stay in sight. The palette is below
        the texts, above or left of them, with fewer rows below them where there is little room;
        without any such place it is beside the text to be labelled, else at `above`.
        """
        self._before = QApplication.focusWidget()
        self._line.clear()
        self._rows = ROWS
        self._search.offer(choices)
        self.setFixedWidth(theme.px(WIDTH))
        free = self._place_without(texts, beside)
        if free is not None:
            self._fit()  # with the rows that have room there
        self.move(free if free is not None else self._place(above, beside))
        self.raise_()
        self.show()
        self._line.setFocus()

    def _place_without(self, texts: Sequence[QRect], beside: QRect | None) -> QPoint | None:
        """The upper left corner of the nearest place that covers none of the texts; None if there
        is none. Sets the number of rows and the width that fit there.
        """
        parent = self.parentWidget()
        if parent is None or not texts:
            return None
        first, last = texts[0], texts[-1]
        left = beside.left() if beside is not None else first.left()
        left = max(EDGE, min(left, parent.width() - self.width() - EDGE))
        line, around = theme.px(ROW), self.height() - self._list.height()
        room = parent.height() - EDGE - (last.bottom() + GAP)
        if room >= around + min(self._search.count, LEAST_ROWS) * line + 4:
            self._rows = max(1, min(ROWS, (room - around - 4) // line))
            return QPoint(left, last.bottom() + GAP)
        if first.top() - GAP - self.height() >= EDGE:
            return QPoint(left, first.top() - GAP - self.height())
        if first.left() - 2 * EDGE >= theme.px(LEAST_WIDTH):
            self.setFixedWidth(min(self.width(), first.left() - 2 * EDGE))
            top = max(EDGE, min(first.top(), parent.height() - self.height() - EDGE))
            return QPoint(EDGE, top)
        return None

    def _place(self, above: QPoint, beside: QRect | None) -> QPoint:
        """The upper left corner."""
        usual = QPoint(above.x() - self.width() // 2, max(EDGE, above.y() - self.height()))
        parent = self.parentWidget()
        if beside is None or parent is None:
            return usual
        room = parent.size()
        below, over = beside.bottom() + 1 + GAP, beside.top() - GAP - self.height()
        top = below if below + self.height() + EDGE <= room.height() else over
        if top < EDGE or beside.bottom() < 0 or beside.top() > room.height():
            return usual
        return QPoint(max(EDGE, min(beside.left(), room.width() - self.width() - EDGE)), top)

    def _fit(self) -> None:
        """Adapt the height to the matches; the field stays in place while typing."""
        self._list.setFixedHeight(min(self._rows, self._search.count) * theme.px(ROW) + 4)
        self.adjustSize()

    def leave(self) -> None:
        """Close and return the focus."""
        before, self._before = self._before, None
        self.hide()
        if before is not None and isValid(before):
            before.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._line and event.type() == QEvent.Type.FocusOut:
            self.hide()
        return super().eventFilter(watched, event)
