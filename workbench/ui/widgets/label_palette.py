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
from workbench.ui import plain, theme
from workbench.ui.widgets.chip import chip_width, paint_chip
from workbench.ui.widgets.words import words

WIDTH, LEAST_WIDTH = 340, 220  # pixels at 100%
ROWS, LEAST_ROWS = 7, 3
ROW = 34  # height of a row, pixels at 100%
GAP = 6  # between a text and the palette beside it, pixels
EDGE = 8  # between the palette and the edge of its parent, pixels
_WORD = re.compile(r"[^\W_a-z]*[^\W_A-Z]+|[^\W_]+")


class Choice(NamedTuple):
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


def matching(choices: Sequence[Choice], typed: str) -> list[Choice]:
    """Labels whose name or description contains the text, whatever its case and accents: those that
    start with it first, then word starts, other places in names, sublabels of a label that starts
    with it, and descriptions. Otherwise in the given order. Words may be typed with spaces for
    whatever is between them in the name.
    """
    key, part = typed.strip().casefold(), _plain(typed.strip())
    typed_words = part.split()
    phrase = " " + " ".join(typed_words)

    def rank(choice: Choice) -> int | None:
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
        self.choices: list[Choice] = []

    def set(self, choices: list[Choice]) -> None:
        self.beginResetModel()
        self.choices = choices
        self.endResetModel()

    def rowCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.choices)

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self.choices[index.row()].label.name
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain.tip(self.choices[index.row()].label.description)
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
        painter.drawText(
            option.rect.adjusted(0, 0, -10, 0),
            Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight,
            choice.layer,
        )
        painter.restore()


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
        self._choices: Sequence[Choice] = ()
        self._line = QLineEdit()
        self._line.setPlaceholderText(_("Type the name of a label"))
        self._line.setAccessibleName(_("Find a label"))
        self._line.textChanged.connect(self._filter)
        self._line.installEventFilter(self)
        self._model, self._list = _Model(self), QListView()
        self._list.setModel(self._model)
        self._list.setItemDelegate(_Delegate(self._list))
        self._list.setUniformItemSizes(True)
        self._list.setAccessibleName(_("Matching labels"))
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.clicked.connect(lambda _index: self._pick())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.setSpacing(6)
        layout.addWidget(self._line)
        layout.addWidget(self._list)
        self._none = words("", "small", "muted", wrap=True)
        layout.addWidget(self._none)
        self._rows = ROWS

    def ask(
        self,
        choices: Sequence[Choice],
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
        self._choices, self._before = choices, QApplication.focusWidget()
        self._line.clear()
        self._rows = ROWS
        self._filter("")
        self.setFixedWidth(theme.px(WIDTH))
        free = self._place_without(texts, beside)
        if free is not None:
            self._filter("")  # with the rows that have room there
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
        if room >= around + min(len(self._choices), LEAST_ROWS) * line + 4:
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

    def _filter(self, typed: str) -> None:
        """Show the matches and adapt the height; the field stays in place while typing."""
        self._model.set(matching(self._choices, typed))
        if self._model.choices:
            self._list.setCurrentIndex(self._model.index(0))
        self._list.setVisible(bool(self._model.choices))
        self._list.setFixedHeight(min(self._rows, len(self._model.choices)) * theme.px(ROW) + 4)
        self._none.setText(_("No label matches “{typed}”.").format(typed=typed.strip()))
        self._none.setHidden(bool(self._model.choices))
        self.adjustSize()

    def _pick(self) -> None:
        row = self._list.currentIndex().row()
        if 0 <= row < len(self._model.choices):
            id = self._model.choices[row].label.id
            self.leave()
            self.picked.emit(id)

    def leave(self) -> None:
        """Close and return the focus."""
        before, self._before = self._before, None
        self.hide()
        if before is not None and isValid(before):
            before.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._line and event.type() == QEvent.Type.FocusOut:
            self.hide()
        pressed = isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress
        if watched is self._line and pressed and isinstance(event, QKeyEvent):
            if event.key() == Qt.Key.Key_Escape:
                self.leave()
                return True
            key, row = event.key(), self._list.currentIndex().row()
            if key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
                row = min(
                    max(0, row + (1 if key == Qt.Key.Key_Down else -1)),
                    len(self._model.choices) - 1,
                )
                self._list.setCurrentIndex(self._model.index(row))
                return True
            if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab):
                self._pick()
                return True
        return super().eventFilter(watched, event)
