"""The questions about a document with their answers, beside the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QFrame, QLineEdit, QSizePolicy, QVBoxLayout, QWidget

from workbench.base.i18n import _
from workbench.base.settings import Settings
from workbench.ui.panels.annotate.questions.questions import ShownQuestion
from workbench.ui.shell.keys import current
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.words import KeyCap, call, set_tone, words
from workbench.ui.widgets.layout import column, layout_of, line, row, scrolled
from workbench.ui.widgets.text.span_layout import starts_rtl

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.questions.questions import QuestionTool

BETWEEN = " · "
LEAST_LIST = 56  # height that questions keep, pixels at 100%


class QuestionRow(QAbstractButton):
    """A question and what answers it, wrapped; the current one is outlined."""

    def __init__(self) -> None:
        super().__init__()
        self.id = 0
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # keys work in the text
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._question = words("", "ui", wrap=True)
        self._answer = words("", "small", "muted", wrap=True)
        self._suggested = words("", "small", "accent", wrap=True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 8)
        layout.setSpacing(3)
        for part in (self._question, self._answer, self._suggested):
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            layout.addWidget(part)

    def set(self, question: ShownQuestion) -> None:
        self.id = question.id
        rtl = starts_rtl(question.text)
        side = Qt.LayoutDirection.RightToLeft if rtl else Qt.LayoutDirection.LeftToRight
        for part in (self._question, self._answer, self._suggested):
            part.setLayoutDirection(side)
        self._question.setText(question.text)
        message = BETWEEN.join(f"“{answer}”" for answer in question.answers)
        if question.is_null:
            message = _("no answer in the text")
        self._answer.setText(message or _("not answered yet"))
        set_tone(self._answer, "muted" if message else "warn")
        suggested = ""
        if question.suggested:
            score = formats.points(question.score) if question.score is not None else "?"
            suggested = _("suggested: {answer} ({score}%)", answer=question.suggested, score=score)
        self._suggested.setText(suggested)
        self._suggested.setVisible(bool(suggested))
        self.setAccessibleName(question.text)
        self.setAccessibleDescription(BETWEEN.join(filter(None, (self._answer.text(), suggested))))
        self.setChecked(question.current)
        self.updateGeometry()
        self.update()

    def nextCheckState(self) -> None:
        """The state follows the current question, not the click."""

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return layout_of(self).heightForWidth(width)

    def sizeHint(self) -> QSize:
        return layout_of(self).sizeHint()

    def minimumSizeHint(self) -> QSize:
        return layout_of(self).minimumSize()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        current = self.isChecked()
        painter.setPen(QPen(theme.qcolour("accent" if current else "line"), 2 if current else 1))
        ground = "accent_soft" if current else "sunken" if self.underMouse() else "surface"
        painter.setBrush(theme.qcolour(ground))
        frame = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        painter.drawRoundedRect(frame, theme.RADIUS, theme.RADIUS)


class QuestionPane(QFrame):
    """The list, a field for new questions, and actions on the current one.

    `left`: the keyboard focus should return to the text. `answered`: the selected text is to be an
    answer.
    """

    left, answered = Signal(), Signal()

    def __init__(self, tool: QuestionTool) -> None:
        super().__init__()
        self.tool, self._editing = tool, False
        self.rows: list[QuestionRow] = []
        self._number, self._cap = words("", "small", "muted"), KeyCap("")
        head = row(
            words(_("Questions"), weight=600),
            None,
            self._number,
            self._cap,
            gap=6,
            margins=(14, 12, 14, 6),
        )
        self._list = QWidget()
        listed = QVBoxLayout(self._list)
        listed.setContentsMargins(12, 0, 12, 4)
        listed.setSpacing(6)
        listed.addStretch(1)
        self._area = scrolled(self._list)
        self._none = words("", "small", "muted", wrap=True)
        self.field = QLineEdit()
        self.field.installEventFilter(self)
        call(self.field, _("Question"))
        self._answer = Button(
            _("Answer"), small=True, on=self.answered.emit,
            tip=_("Add the selected text to the answers (Return)"),
        )  # fmt: skip
        self._null = Button(
            _("No answer"), small=True, on=tool.toggle_null,
            tip=_("The text does not answer the question (N)"),
        )  # fmt: skip
        self._edit = Button(
            _("Edit"), kind="quiet", small=True, on=self.edit, tip=_("Change the question (F2)")
        )
        self._delete = Button(
            _("Delete"), kind="quiet", small=True, on=tool.delete_question,
            tip=_("Delete the question with its answers (Shift+Delete)"),
        )  # fmt: skip
        actions = row(self._answer, self._null, None, self._edit, self._delete, gap=6)
        below = column(self._none, self.field, actions, gap=8, margins=(14, 6, 14, 10))
        self._others = head, below
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for part, stretch in ((head, 0), (self._area, 1), (below, 0), (line(), 0)):
            layout.addWidget(part, stretch)

    def render(self) -> None:
        tool, questions = self.tool, self.tool.shown_questions
        self._number.setText(formats.count(len(questions)) if questions else "")
        self._cap.setText(
            "." if any(layer.traits.in_text for layer in tool.session.active) else "Tab"
        )
        self._cap.updateGeometry()
        listed = layout_of(self._list)
        while len(self.rows) < len(questions):
            question_row = QuestionRow()
            question_row.clicked.connect(
                lambda _on, question_row=question_row: tool.choose_question(question_row.id)
            )
            self.rows.append(question_row)
            listed.insertWidget(len(self.rows) - 1, question_row)
        for number, question_row in enumerate(self.rows):
            question_row.setVisible(number < len(questions))
            if number < len(questions):
                question_row.set(questions[number])
                escaping.set_tip(question_row, tool.session.origins.answers_made(question_row.id))
        self._area.setVisible(bool(questions))
        current = tool.question
        self._none.setText(question_hint(tool.context.settings, any_questions=bool(questions)))
        self.field.setEnabled(tool.session.can_edit)
        for button in (self._answer, self._null, self._edit, self._delete):
            button.setEnabled(tool.session.can_edit and current is not None)
        null = current is not None and current.question.is_null
        self._null.set_text(_("Has answer") if null else _("No answer"))
        self._say_field()
        self._fit()
        self._show_current()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Few questions leave room for the spans below; what is beside them is never cut."""
        others = 1 + sum(map(self._height_of, self._others))
        listed = self._height_of(self._list) if self.tool.shown_questions else 0
        for part in self._others:  # else a layout cuts wrapped text before it shortens the list
            part.setMinimumHeight(self._height_of(part))
        self._area.setMaximumHeight(listed)
        self.setMinimumHeight(others + min(listed, theme.px(LEAST_LIST)))
        self.setMaximumHeight(others + listed)

    def _height_of(self, part: QWidget) -> int:
        layout = layout_of(part)
        if layout.hasHeightForWidth():
            return layout.totalHeightForWidth(self.width())
        return layout.totalSizeHint().height()

    def _show_current(self) -> None:
        current = next(
            (question for question in self.rows if question.isVisible() and question.isChecked()),
            None,
        )
        if current is not None:
            layout_of(self._list).activate()
            self._area.ensureWidgetVisible(current, 0, 24)

    def _say_field(self) -> None:
        message = _("Change the question (Enter)") if self._editing else _("New question (?)")
        self.field.setPlaceholderText(message)

    # ------------------------------------------------------------ the field

    def ask(self) -> None:
        """Type a new question."""
        self._begin("", editing=False)

    def edit(self) -> None:
        """Change the current question."""
        if (current := self.tool.question) is not None:
            self._begin(current.question.text, editing=True)

    def _begin(self, text: str, *, editing: bool) -> None:
        self._editing = editing
        self._say_field()
        self.field.setText(text)
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._finish()
                return True
            if event.key() == Qt.Key.Key_Escape:
                self._leave()
                return True
        return super().eventFilter(watched, event)

    def _finish(self) -> None:
        text = self.field.text()
        if self._editing:
            self.tool.rename_question(text)
        elif text.strip() and not self.tool.add_question(text):
            return
        self._leave()

    def _leave(self) -> None:
        self._editing = False
        self.field.clear()
        self._say_field()
        self.left.emit()


def question_hint(settings: Settings, *, any_questions: bool) -> str:
    """What to do next, with the current keys."""
    ask = current(settings, "annotate.ask", "?")
    if not any_questions:
        message = _("No questions yet. Press {key} and type the first one.")
        return message.format(key=ask) if ask else _("No questions yet. Type the first one.")
    enter, null = (
        current(settings, "annotate.enter", "Return"),
        current(settings, "annotate.no-answer", "N"),
    )
    if not (ask and enter and null):
        return _("Select the answer in the text.")
    message = _(
        "Select the answer in the text, then press {enter}. {null}: no answer. {ask}: new question."
    )
    return message.format(enter=enter, null=null, ask=ask)
