"""The texts of a document with choices, below each other; a click or a number key chooses one."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from workbench.base.i18n import _
from workbench.ui.panels.annotate.choices.choices import ShownChoice
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.text.span_layout import starts_rtl

CAP = 22  # pixels of the frame around a number, at 100%


class ChoiceRow(QAbstractButton):
    """One text, wrapped; outlined if it is chosen, dashed if it is suggested."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number, self._suggested = number, False
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # number keys work in the text
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._text = words("", "reading", wrap=True)
        self._message = words("", "caption", "muted")
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(theme.px(CAP) + 24, 9, 14, 9)
        self._row.setSpacing(12)
        self._row.addWidget(self._text, 1)
        self._row.addWidget(self._message)
        for part in (self._text, self._message):
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def set(self, choice: ShownChoice, *, enabled: bool) -> None:
        rtl = starts_rtl(choice.text)
        side = Qt.LayoutDirection.RightToLeft if rtl else Qt.LayoutDirection.LeftToRight
        self._text.setLayoutDirection(side)
        self._text.setText(choice.text)
        message = ""
        if choice.score is not None:
            message = _("suggested {score}%", score=formats.points(choice.score))
        elif choice.chosen:
            message = _("chosen")
        self._message.setText(message)
        name = _("Choice {n}: {text}", n=self.number, text=choice.text)
        self.setAccessibleName(name)
        self.setAccessibleDescription(message)
        self.setChecked(choice.chosen)
        self.setEnabled(enabled)
        self._suggested = choice.score is not None and not choice.chosen
        self.updateGeometry()
        self.update()

    def nextCheckState(self) -> None:
        """The state follows the project, not the click."""

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._row.heightForWidth(width)

    def sizeHint(self) -> QSize:
        return self._row.sizeHint()

    def minimumSizeHint(self) -> QSize:
        return self._row.minimumSize()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        chosen = self.isChecked()
        pen = QPen(theme.qcolour("accent" if chosen or self._suggested else "strong_line"), 1.0)
        if chosen:
            pen.setWidthF(2.0)
        elif self._suggested:
            pen.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(pen)
        hovered = self.underMouse() and self.isEnabled()
        ground = "accent_soft" if chosen else "sunken" if hovered else "surface"
        painter.setBrush(theme.qcolour(ground))
        frame = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        painter.drawRoundedRect(frame, theme.RADIUS, theme.RADIUS)
        self._paint_number(painter, frame)

    def _paint_number(self, painter: QPainter, frame: QRectF) -> None:
        side = theme.px(CAP)
        cap = QRectF(frame.left() + 11, frame.center().y() - side / 2, side, side)
        if self.isRightToLeft():
            cap.moveRight(frame.right() - 11)
        painter.setPen(QPen(theme.qcolour("accent" if self.isChecked() else "strong_line"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(cap, 4, 4)
        painter.setPen(theme.qcolour("text" if self.isEnabled() else "faint"))
        painter.setFont(theme.font("small", 600))
        painter.drawText(cap, Qt.AlignmentFlag.AlignCenter, str(self.number))


class ChoiceList(QWidget):
    """`picked(number)`: a choice was clicked, 1 for the first."""

    picked = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[ChoiceRow] = []
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 2, 0, 2)
        self._layout.setSpacing(8)
        self._layout.addStretch(1)

    def set(
        self, choices: tuple[ShownChoice, ...], tips: tuple[str, ...] = (), *, enabled: bool
    ) -> None:
        """tips: who made each choice."""
        while len(self.rows) < len(choices):
            row = ChoiceRow(len(self.rows) + 1)
            row.clicked.connect(lambda _on, number=row.number: self.picked.emit(number))
            self.rows.append(row)
            self._layout.insertWidget(len(self.rows) - 1, row)
        for number, row in enumerate(self.rows):
            row.setVisible(number < len(choices))
            if number < len(choices):
                row.set(choices[number], enabled=enabled)
                escaping.set_tip(row, tips[number] if number < len(tips) else "")
