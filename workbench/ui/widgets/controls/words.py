"""Read-only text: labels in the fonts of the theme, key caps, icons."""

from __future__ import annotations

import re

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QAbstractSpinBox, QLabel, QLineEdit, QSizePolicy, QToolButton, QWidget

from workbench.base.i18n import _
from workbench.ui.style import escaping, icons, theme


def words(
    text: str = "",
    kind: str = "ui",
    tone: str = "text",
    *,
    weight: int = 400,
    wrap: bool = False,
    select: bool = False,
) -> QLabel:
    """A label. `kind`: a key of theme.FONT; `tone`: text, muted, faint, accent, good, warn, bad.

    `select`: the text can be selected and copied.
    """
    it = QLabel()
    it.setTextFormat(Qt.TextFormat.PlainText)
    it.setText(text)
    it.setProperty("kind", kind)
    it.setProperty("tone", tone)
    it.setProperty("weight", weight)
    it.setWordWrap(wrap)
    if select:
        it.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return it


def set_tone(label: QWidget, tone: str) -> None:
    """Change the tone of a label or callout."""
    if label.property("tone") != tone:
        label.setProperty("tone", tone)
        label.style().unpolish(label)
        label.style().polish(label)


class Elided(QLabel):
    """A single line of text, elided with "…"; the full text is the tooltip, or `tip` if it is set.

    whole: show nothing where the text does not fit, for a text of one word.
    """

    def __init__(
        self,
        text: str = "",
        kind: str = "ui",
        tone: str = "text",
        *,
        weight: int = 400,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
        whole: bool = False,
    ) -> None:
        super().__init__()
        self._mode, self._whole = mode, whole
        self.tip = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)
        for name, value in (("kind", kind), ("tone", tone), ("weight", weight)):
            self.setProperty(name, value)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(24)

    def minimumSizeHint(self) -> QSize:
        return QSize(24, super().minimumSizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        text = self.text().replace("\n", " ")
        elided = self.fontMetrics().elidedText(text, self._mode, self.contentsRect().width())
        escaping.set_tip(self, self.tip or (text if elided != text else ""))
        if self._whole and elided != text:
            elided = ""
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(
            self.contentsRect(), self.alignment() | Qt.AlignmentFlag.AlignVCenter, elided
        )


class Wrapped(QLabel):
    """A text in one line, in further lines where its width is not enough.

    A plain label with word wrap asks for a width of its own that is narrower than its text.
    """

    def __init__(
        self, text: str = "", kind: str = "ui", tone: str = "text", *, weight: int = 400
    ) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)
        for name, value in (("kind", kind), ("tone", tone), ("weight", weight)):
            self.setProperty(name, value)
        self.setWordWrap(True)

    def sizeHint(self) -> QSize:
        self.ensurePolished()
        lines = self.text().split("\n")
        metrics = self.fontMetrics()
        wide = max(metrics.horizontalAdvance(line) for line in lines) + 2
        return QSize(wide, self.heightForWidth(wide))


class Counted(Elided):
    """A number at the right of a line. Its size is fixed until a longer one needs more, so that
    counting up and down does not lay out the page each time.
    """

    def __init__(self, text: str = "", kind: str = "ui", tone: str = "text") -> None:
        super().__init__(text, kind, tone)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAlignment(Qt.AlignmentFlag.AlignRight)

    def setText(self, text: str) -> None:
        digits = re.sub(r"\d", "0", text)
        room = self.fontMetrics().horizontalAdvance(digits) + 2
        size = QSize(max(room, 1), self.fontMetrics().height())
        if size != self.size():
            self.setFixedSize(size)
        super().setText(text)


def picture(pixmap: QPixmap) -> QLabel:
    """A label with one of our own images."""
    it = QLabel()
    it.setPixmap(pixmap)
    return it


class KeyCap(QLabel):
    """A key as printed on a keyboard."""

    def __init__(self, text: str):
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        width = QFontMetrics(theme.font("caption")).horizontalAdvance(self.text())
        return QSize(max(18, width + 12), theme.size("caption") + 8)

    minimumSizeHint = sizeHint

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(theme.qcolour("line"))
        painter.setBrush(theme.qcolour("sunken"))
        painter.drawRoundedRect(self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.qcolour("muted"))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.text())


class IconLabel(QLabel):
    """An icon in a tone; follows the theme."""

    def __init__(self, name: str, tone: str = "muted", size: int = 18):
        super().__init__()
        self._name, self._tone, self._size = name, tone, size
        self._draw()

    def set(self, name: str, tone: str) -> None:
        if (name, tone) != (self._name, self._tone):
            self._name, self._tone = name, tone
            self._draw()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self._draw()
        super().changeEvent(event)

    def _draw(self) -> None:
        side = theme.px(self._size)  # scales with the text beside it
        self.setFixedSize(side + 2, side + 2)
        self.setPixmap(icons.pixmap(self._name, self._tone, side))


def call(widget: QWidget, name: str, description: str = "") -> QWidget:
    """Set the accessible name of a control and of its inner widgets.

    These are line edits (spin box, editable combo box) and buttons (search field).
    """
    widget.setAccessibleName(name)
    if description:
        widget.setAccessibleDescription(description)
    line = getattr(widget, "lineEdit", None)
    if line is not None and (inner := line()) is not None:
        inner.setAccessibleName(name)
        if isinstance(widget, QAbstractSpinBox):
            inner.setTextMargins(
                8, 0, 0, 0
            )  # Qt ignores the style sheet's padding in a spin box's line edit
    if isinstance(widget, QLineEdit):
        for button in widget.findChildren(QToolButton):
            clears = (
                button.defaultAction() is not None
                and "clear" in button.defaultAction().objectName()
            )
            button.setAccessibleName(
                _("Clear {name}", name=name) if clears else _("Icon of {name}", name=name)
            )
    return widget
