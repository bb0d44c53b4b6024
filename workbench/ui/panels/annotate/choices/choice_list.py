"""The texts of a document with choices; a click or a number key chooses one.

They are below each other; texts that are compared are side by side where there is room.
"""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QGridLayout, QHBoxLayout, QSizePolicy, QWidget

from workbench.base.i18n import _
from workbench.ui.panels.annotate.choices.choices import ShownChoice
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.text.span_layout import starts_rtl

CAP = 22  # pixels of the frame around a number, at 100%
COLUMN = 300  # pixels of a text that is beside another, at least, at 100%
GAP = 8


class ChoiceRow(QAbstractButton):
    """One text, wrapped; outlined if it is chosen, dashed if it is suggested."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number, self._suggested = number, False
        self._from_top = False  # texts that are compared begin at one height
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

    def set(self, choice: ShownChoice, *, enabled: bool, from_top: bool) -> None:
        rtl = starts_rtl(choice.text)
        side = Qt.LayoutDirection.RightToLeft if rtl else Qt.LayoutDirection.LeftToRight
        self._text.setLayoutDirection(side)
        self._text.setText(choice.text)
        self._from_top = from_top
        top = Qt.AlignmentFlag.AlignTop if from_top else Qt.AlignmentFlag.AlignVCenter
        self._text.setAlignment(Qt.AlignmentFlag.AlignLeading | top)
        self._message.setAlignment(Qt.AlignmentFlag.AlignTrailing | top)
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
        middle = frame.center().y() - side / 2
        top = self._row.contentsMargins().top() if self._from_top else middle
        cap = QRectF(frame.left() + 11, top, side, side)
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
        self._count, self._columns, self._compares = 0, 1, False
        self._layout = QGridLayout(self)
        self._layout.setContentsMargins(0, 2, 0, 2)
        self._layout.setSpacing(GAP)

    def set(
        self,
        choices: tuple[ShownChoice, ...],
        tips: tuple[str, ...] = (),
        *,
        enabled: bool,
        compares: bool = False,
    ) -> None:
        """tips: who made each choice. compares: side by side where there is room."""
        while len(self.rows) < len(choices):
            row = ChoiceRow(len(self.rows) + 1)
            row.clicked.connect(lambda _on, number=row.number: self.picked.emit(number))
            self.rows.append(row)
        self._count, self._compares = len(choices), compares
        for number, row in enumerate(self.rows):
            row.setVisible(number < len(choices))
            if number < len(choices):
                row.set(choices[number], enabled=enabled, from_top=compares)
                escaping.set_tip(row, tips[number] if number < len(tips) else "")
        self._place(self._columns_at(self.width()))

    def _columns_at(self, width: int) -> int:
        wide = width >= 2 * theme.px(COLUMN) + GAP
        return 2 if self._compares and self._count > 1 and wide else 1

    def _place(self, columns: int) -> None:
        for number, row in enumerate(self.rows):
            self._layout.addWidget(row, number // columns, number % columns)
        for line in range(len(self.rows) + 1):
            self._layout.setRowStretch(line, int(line == len(self.rows)))
        for column in range(2):
            self._layout.setColumnStretch(column, int(column < columns))
        self._columns = columns

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if (columns := self._columns_at(event.size().width())) != self._columns:
            self._place(columns)

    def heightForWidth(self, width: int) -> int:
        """Of the rows as they are placed at this width."""
        columns, shown = self._columns_at(width), self.rows[: self._count]
        each = (width - (columns - 1) * GAP) // columns
        heights = [row.heightForWidth(each) for row in shown]
        lines = [max(heights[at : at + columns]) for at in range(0, len(heights), columns)]
        return sum(lines) + GAP * max(0, len(lines) - 1) + 4
