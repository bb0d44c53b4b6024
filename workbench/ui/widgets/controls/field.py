"""A form field: small title above a control and a hint below; an error replaces the hint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import (
    QFontMetrics,
    QPaintEvent,
    QResizeEvent,
    QStandardItem,
    QStandardItemModel,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QSizePolicy,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)

from workbench.ui.style import escaping, theme
from workbench.ui.widgets.controls.words import IconLabel, call, set_tone, words
from workbench.ui.widgets.layout import fill as fill_with
from workbench.ui.widgets.layout import layout_of, row


class TitledField(QFrame):
    """A control with its title, which is the accessible name unless `name` is given."""

    def __init__(self, title: str, control: QWidget, hint: str = "", *, name: str = ""):
        super().__init__()
        self.control, self._hint = control, hint
        self._title = words(title, "small", "muted", weight=500)
        self._title.setBuddy(control)
        self._message = words(hint, "caption", "muted", wrap=True)
        self._mark = IconLabel("triangle-alert", "bad", 12)
        self._below = row(self._mark, (self._message, 1), gap=5)
        if not control.accessibleName() or name:
            call(control, name or title.rstrip("?:"), title if name else "")
        fill_with(self, self._title, control, self._below, gap=5)
        tall = control.sizePolicy().verticalPolicy()
        grows = tall in (QSizePolicy.Policy.Expanding, QSizePolicy.Policy.MinimumExpanding)
        self.setSizePolicy(
            QSizePolicy.Policy.Preferred,
            QSizePolicy.Policy.Expanding if grows else QSizePolicy.Policy.Maximum,
        )
        self.setProperty("field", True)  # aligned at the top of a row
        self.set_error("")

    def sizeHint(self) -> QSize:
        """As tall as the message at this width: wrapped text reports too little."""
        hint = super().sizeHint()
        if self._message.text() and self.width() > 0:
            hint.setHeight(max(hint.height(), layout_of(self).heightForWidth(self.width())))
        return hint

    def minimumSizeHint(self) -> QSize:
        return QSize(super().minimumSizeHint().width(), self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width() and self._message.text():
            self.updateGeometry()

    def put_beside(self, *parts: QWidget) -> None:
        """Place buttons on the row of the control, independent of the hint or error below."""
        layout = layout_of(self)
        layout.removeWidget(self.control)
        layout.insertWidget(1, row((self.control, 1), *parts))

    def above(self) -> int:
        """Height above the control, to align a button beside it."""
        return QFontMetrics(theme.font("small", 500)).height() + layout_of(self).spacing()

    def set_title(self, title: str) -> None:
        self._title.setText(title)

    def set_hint(self, hint: str) -> None:
        self._hint = hint
        self.set_error("")

    def set_error(self, message: str) -> None:
        """Show an error in the value; "" clears it and shows the hint again."""
        self._message.setText(message or self._hint)
        set_tone(self._message, "bad" if message else "muted")
        self._mark.setVisible(bool(message))
        self._below.setVisible(bool(message or self._hint))
        self.updateGeometry()
        if bool(self.control.property("wrong")) != bool(message):
            self.control.setProperty("wrong", bool(message))
            self.control.style().unpolish(self.control)
            self.control.style().polish(self.control)

    def error(self) -> str:
        return self._message.text() if self.control.property("wrong") else ""


class _Combo(QComboBox):
    """Text that does not fit is elided in the middle and shown in the tooltip.

    Names often differ at their end; Qt would clip them within a letter. The mouse wheel changes the
    value only while the box has the focus, else it scrolls the page.
    """

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

    def showPopup(self) -> None:
        """Make the popup wider than the box if necessary, to show long names in full."""
        longest = max(
            (
                self.fontMetrics().horizontalAdvance(self.itemText(index))
                for index in range(self.count())
            ),
            default=0,
        )
        width = longest + 40
        self.view().setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.view().setMinimumWidth(min(max(width, self.width()), self.window().width() - 40))
        super().showPopup()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        place = QStyle.SubControl.SC_ComboBoxEditField
        room = (
            self.style()
            .subControlRect(QStyle.ComplexControl.CC_ComboBox, option, place, self)
            .width()
        )
        option.currentText = self.fontMetrics().elidedText(
            self.currentText(), Qt.TextElideMode.ElideMiddle, room - 4
        )
        escaping.set_tip(
            self, self.currentText() if option.currentText != self.currentText() else ""
        )
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)


def combo(
    items: Sequence[tuple[object, str]] = (),
    *,
    value: object = None,
    name: str = "",
    typed: bool = False,
) -> QComboBox:
    """A combo box of (value, text); `value` is selected. The value of an item is its user data.

    typed: other values can be typed (`chosen_value`).
    """
    it = _Combo()
    it.setEditable(typed)
    it.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
    it.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    it.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    it.setMinimumContentsLength(8)
    it.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    if name:
        it.setAccessibleName(name)
    fill(it, items, value)
    return it


def fill(
    box: QComboBox,
    items: Iterable[tuple[object, str]],
    value: object = None,
    *,
    refused: Mapping[Any, str] | None = None,
) -> None:
    """Replace a combo box's items by (value, text) and select `value`; emits nothing.

    `refused`: disabled values with the reason, which is their tooltip.
    """
    entries = list(items)
    blocked = box.blockSignals(True)
    if not refused and entries == _choices(box):
        box.setCurrentIndex(0)
    else:
        box.clear()
        for this, text in entries:
            box.addItem(text, this)
            if reason := (refused or {}).get(this):
                item = _item(box, box.count() - 1)
                item.setEnabled(False)
                escaping.set_tip(item, reason)
    choose(box, value)
    box.blockSignals(blocked)


def _choices(box: QComboBox) -> list[tuple[object, str]]:
    """The (value, text) of the enabled items."""
    numbers = [n for n in range(box.count()) if _item(box, n).isEnabled()]
    return [(box.itemData(number), box.itemText(number)) for number in numbers]


def _item(box: QComboBox, number: int) -> QStandardItem:
    return cast(QStandardItemModel, box.model()).item(number)


def chosen_value(box: QComboBox) -> Any:
    """The value of the selected item; of a box that can be typed in, also the text."""
    if not box.isEditable():
        return box.currentData()
    at = box.findText(text := box.currentText().strip())
    return text if at < 0 else box.itemData(at)


def choose(box: QComboBox, value: object) -> None:
    """Select the item with this value, if any, else write it where that is possible; emits
    nothing.
    """
    blocked = box.blockSignals(True)
    known = [index for index in range(box.count()) if box.itemData(index) == value]
    if known:
        box.setCurrentIndex(known[-1])
    elif box.isEditable() and value is not None:
        box.setEditText(str(value))
    box.blockSignals(blocked)
