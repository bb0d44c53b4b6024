"""The answers of one prompt run or two, text by text: counts on the left, texts on the right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFileDialog, QFrame, QLabel, QWidget

from workbench.base.events import concerns
from workbench.base.i18n import N_, _
from workbench.ui.panels.prompts.answers_state import NO_ANSWER, RIGHT, SORTS, AnswersState
from workbench.ui.panels.prompts.editor import PromptText, displayed
from workbench.ui.panels.prompts.parts import Tab
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.controls.chip import Chip
from workbench.ui.widgets.controls.field import combo, fill
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.later import LaterStack
from workbench.ui.widgets.layout import TurningRow, card, column, line, row, scrolled
from workbench.ui.widgets.layout import fill as fill_with
from workbench.ui.widgets.tables.table import Column, Table
from workbench.ui.widgets.tables.table_rows import WINDOW
from workbench.ui.widgets.text.marked_text import MonoText
from workbench.ui.widgets.text.view import TextView

if TYPE_CHECKING:
    from workbench.operations.prompts.prompt_answers import Answer, AnswerRow, Exchange
    from workbench.text.labels import Label

SEGMENTS = {
    "disagreements": N_("Disagreements  {n}"),
    "both-wrong": N_("Both wrong  {n}"),
    "no-answer": N_("No answer  {n}"),
    "all": N_("All  {n}"),
}
WRONG_ALONE = N_("Wrong  {n}")  # in place of "Both wrong" with one run
JOINT = {
    (True, True): N_("both right"),
    (True, False): N_("only A right"),
    (False, True): N_("only B right"),
    (False, False): N_("both wrong"),
}
ICONS = {RIGHT: ("check", "good"), NO_ANSWER: ("circle-help", "warn")}
WRONG_ICON = ("x", "bad")
KEY, TEXT, GOLD, A, SHARE_A, B, SHARE_B = range(7)  # columns
NARROW, NARROWER = 760, 560  # widths of the table, pixels at 100%: without bars, without keys
MOST_LABELS = 5  # rows of the probabilities below a text
MOST_LINES = 6  # of a reply before it scrolls
SEPARATOR = "\n――\n"  # between several replies
MOST_TEXT = 110  # height of a text before it scrolls, pixels at 100%
NO_ANSWER_HELP = _("“No answer” counts as wrong in the scores and never becomes a suggestion.")


def _letter(name: str, *, filled: bool) -> Chip:
    return Chip(name, tone="accent" if filled else "")


class AnswersTab(Tab):
    """The table of answers, the selected text in full below it, and both sides' counts beside."""

    def __init__(self, state: AnswersState):
        super().__init__()
        self.state, self.states = state, (state,)
        self.side = self._counts = AnswersSide(state)
        self._edit = Button(_("Edit prompt A"), small=True, on=state.edit_first)
        self._save = Button(_("Save answers…"), "download", small=True, on=self._ask_file)
        self.buttons = row(self._edit, self._save, gap=8)
        self._problem = Callout("", "warn")
        self._pages = LaterStack(self._no_runs, self._answers)
        fill_with(self, self._problem, (self._pages, 1), gap=10)

    def _no_runs(self) -> EmptyState:
        hint = _("“Run on dev” asks the prompt about every dev document. Its answers appear here.")
        return EmptyState("message-square-quote", _("No answers yet"), hint)

    def _answers(self) -> QWidget:
        state = self.state
        self._segments = Segments(*((name, "") for name in SEGMENTS), name=_("Documents"))
        self._segments.chosen.connect(lambda name: state.show_segment(str(name)))
        self._sort = combo([(name, _(title)) for name, title in SORTS.items()], name=_("Order"))
        self._sort.setMaximumWidth(theme.px(220))
        self._sort.activated.connect(lambda _i: state.sort_by(self._sort.currentData()))
        self.table = Table(
            self._columns(), name=_("Answers"), key=lambda row: row.document_id, sortable=True
        )
        self.table.setMinimumHeight(theme.px(150))
        self.table.opened.connect(lambda chosen: state.open(chosen.document_id))
        self.table.chosen.connect(self._choose)
        self._none = words(_("No documents."), "small", "muted")
        self.detail = AnswerDetail(state)
        head = row((self._segments, 4), (self._sort, 1), gap=12)
        top = card(head, (self.table, 1), (self._none, 1), gap=8, margins=(14, 10, 14, 12))
        return scrolled(column((top, 6), (self.detail, 5), gap=12))

    def _columns(self) -> list[Column]:
        known = self.state.columns()

        def answer(key: str, side: int) -> Column:
            return Column.of(known[key], 132, most=220, icon=self._icon(side), tip=self._tip(side))

        def share(key: str, side: int) -> Column:
            return Column.of(known[key], 124, share=lambda row: _side(row, side).share)

        return [
            Column.of(known["key"], 96, most=150, tip=lambda row: row.key),
            Column.of(known["text"], None, prose=True, tip=lambda row: row.text[:600]),
            Column.of(known["gold"], 122, most=200, chip=self._chip, tip=lambda row: row.gold),
            answer("answer_a", 0),
            share("probability_a", 0),
            answer("answer_b", 1),
            share("probability_b", 1),
        ]

    def _chip(self, item: AnswerRow) -> tuple[str, Any, str] | None:
        label = self.state.labels.get(item.gold)
        return (item.gold, label, "") if label is not None else None

    @staticmethod
    def _icon(side: int) -> Callable[[AnswerRow], tuple[str, str] | None]:
        return lambda row: ICONS.get(_side(row, side).outcome, WRONG_ICON)

    @staticmethod
    def _tip(side: int) -> Callable[[AnswerRow], str]:
        return lambda row: _side(row, side).text

    def _choose(self) -> None:
        chosen = self.table.current_row()
        if chosen is not None:
            self.state.select(chosen.document_id)

    def _ask_file(self) -> None:
        path, _kind = QFileDialog.getSaveFileName(
            self, _("Save answers"), "answers.csv", "CSV (*.csv)"
        )
        if path:
            self.state.context.attempt(self.state.save, Path(path))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if 1 in self._pages.made():
            self._hide_columns()

    def _hide_columns(self) -> None:
        """Those that are absent, and in a narrow tab those that say least."""
        comparison = self.state.comparison
        shares = comparison.has_shares if comparison is not None else ()
        width, two = self.width(), len(shares) > 1
        self.table.setColumnHidden(KEY, width < theme.px(NARROWER))
        self.table.setColumnHidden(SHARE_A, not any(shares[:1]) or width < theme.px(NARROW))
        self.table.setColumnHidden(B, not two)
        self.table.setColumnHidden(SHARE_B, not any(shares[1:]) or width < theme.px(NARROW))
        self.table.rows_model.set_title(A, _("Answer of A") if two else _("Answer"))

    # ---------------------------------------------------------------- showing

    def render_part(self, fields: frozenset[str]) -> None:
        state, comparison = self.state, self.state.comparison
        self._counts.render_part(fields)
        self._problem.set(state.problem, "warn")
        self._save.setEnabled(comparison is not None)
        self._edit.setEnabled(state.first is not None)
        self._pages.setCurrentIndex(1 if state.prompts else 0)
        if not state.prompts:
            return
        if concerns(fields, "comparison", "segment", "sort", "labels"):
            self._show_rows()
        if concerns(fields, "comparison", "segment", "sort", "labels", "document"):
            chosen = state.row
            if chosen is not None:
                self.table.choose({chosen.document_id})
            self.detail.show_row(chosen)
        if concerns(fields, "comparison", "exchanges"):
            self.detail.show_exchanges()

    def _show_rows(self) -> None:
        state, comparison = self.state, self.state.comparison
        counts = comparison.segments if comparison is not None else {}
        for name, title in SEGMENTS.items():
            self._segments.button(name).setVisible(name in counts)
            if name == "both-wrong" and "disagreements" not in counts:
                title = WRONG_ALONE
            text = _(title).format(n=formats.count(counts.get(name, 0)))
            self._segments.set_words(name, text)
        self._segments.set(state.segment)
        self._hide_columns()
        rows = state.rows
        self.table.set_rows(rows)
        self.table.setVisible(bool(rows))
        self._none.setVisible(not rows)


class AnswersSide(QFrame):
    """Which runs are shown, and how many of their answers are right."""

    def __init__(self, state: AnswersState):
        super().__init__()
        self.state = state
        self._title = words("", "heading", weight=600)
        self._first, self._second = combo(name=_("Prompt A")), combo(name=_("Prompt B"))
        self._first.activated.connect(lambda _i: state.choose_first(self._first.currentData()))
        self._second.activated.connect(lambda _i: state.choose_second(self._second.currentData()))
        self._abouts = [words("", "caption", "muted", wrap=True) for _side in range(2)]
        what, *values = state.count_columns(WINDOW)
        self._counts = Table(
            (
                Column.of(what, None, icon=_no_answer_icon),
                *(Column.of(column, 56) for column in values),
            ),
            name=_("Counts"),
            key=lambda row: row.name,
        )
        self._joint: dict[tuple[bool, bool], QLabel] = {}
        tiles = [self._tile(key, title) for key, title in JOINT.items()]
        self._tiles = flow(*tiles, gap=8, fill=True)
        self._verdict = words("", "small", "muted", wrap=True)
        chosen = column(
            row(_letter(_("A"), filled=True), (self._first, 1), gap=8),
            self._abouts[0],
            row(_letter(_("B"), filled=False), (self._second, 1), gap=8),
            self._abouts[1],
            gap=6,
        )
        self._what_counts = words("", "small", wrap=True)
        help = words(NO_ANSWER_HELP, "caption", "muted", wrap=True)
        inner = column(
            self._title,
            chosen,
            self._counts,
            self._tiles,
            self._verdict,
            line(),
            words(_("What counts as an answer"), weight=600),
            column(self._what_counts, help, gap=4),
            None,
            gap=12,
            margins=(20, 14, 20, 16),
        )
        fill_with(self, (scrolled(inner, upright=True), 1))

    def _tile(self, key: tuple[bool, bool], title: str) -> QFrame:
        number = self._joint[key] = words("", "ui", weight=600)
        name = words(_(title), "caption", "muted")
        return column(number, name, gap=0, margins=(10, 6, 10, 6), part="card")

    def render_part(self, fields: frozenset[str]) -> None:
        state = self.state
        if concerns(fields, "prompts", "others", "first", "second"):
            fill(self._first, [(run.id, state.title(run)) for run in state.prompts], state.first)
            others = [(run.id, state.title(run)) for run in state.others]
            fill(self._second, [(None, _("none")), *others], state.second)
            for label, id in zip(self._abouts, (state.first, state.second), strict=True):
                label.setText(state.about(id))
                label.setVisible(bool(label.text()))
            self._what_counts.setText("\n".join(state.what_counts))
        if concerns(fields, "comparison", "second"):
            self._title.setText(state.heading)
            self._show_counts()

    def _show_counts(self) -> None:
        state, comparison = self.state, self.state.comparison
        self._counts.setVisible(comparison is not None)
        self._tiles.setVisible(bool(state.verdict))
        self._verdict.setVisible(bool(state.verdict))
        self._verdict.setText(state.verdict)
        if comparison is None:
            return
        self._counts.setColumnHidden(2, len(comparison.runs) < 2)
        self._counts.set_rows(state.counts)
        self._counts.fit_height(len(state.counts))
        for key, label in self._joint.items():
            label.setText(formats.count(comparison.joint[key]))


class AnswerDetail(QFrame):
    """The selected text in full, and what each run answered."""

    def __init__(self, state: AnswersState):
        super().__init__()
        self.state = state
        self._key = Elided("", weight=600)
        self._exact = Button(_("Exact prompt"), "eye", "quiet", small=True, on=self._show_sent)
        self._open = Button(
            _("Open in Annotate"), "arrow-up-right", "quiet", small=True, on=self._open_document
        )
        self._text = TextView()
        self._text.setAccessibleName(_("Text"))
        self._sides = [AnswerOfRun(state, side) for side in range(2)]
        head = row((self._key, 1), self._exact, self._open)
        answers = TurningRow((self._sides[0], 1), (self._sides[1], 1), gap=20)
        inner = column(head, self._text, answers, None, gap=8, margins=(14, 10, 14, 12))
        self._area = scrolled(inner)
        fill_with(self, (card((self._area, 1), margins=(0, 0, 0, 0)), 1))
        self.setMinimumHeight(theme.px(140))

    def _open_document(self) -> None:
        if (chosen := self.state.row) is not None:
            self.state.open(chosen.document_id)

    def _show_sent(self) -> None:
        if (chosen := self.state.row) is not None:
            dialog = ExactPrompt(self.window(), chosen, self.state.exchanges)
            dialog.exec()
            dialog.deleteLater()

    def show_exchanges(self) -> None:
        exchanges = self.state.exchanges
        self._exact.setEnabled(any(exchange and exchange.sent for exchange in exchanges))
        for side, answer in enumerate(self._sides):
            answer.show_reply(exchanges[side] if side < len(exchanges) else None)

    def show_row(self, chosen: AnswerRow | None) -> None:
        self.setVisible(chosen is not None)
        if chosen is None:
            return
        self._key.setText(chosen.key)
        if self._text.text.text != chosen.text:
            self._text.set_text(chosen.text)
            self._text.set_lanes(0)
        self._fit_text()
        for side, answer in enumerate(self._sides):
            answer.setVisible(side < len(chosen.answers))
            if side < len(chosen.answers):
                answer.show_answer(chosen.answers[side])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._fit_text)  # when the text has its new width

    def _fit_text(self) -> None:
        """As high as the text, which scrolls if it is long; a scroll bar would wrap it earlier."""
        text, most, policy = self._text, theme.px(MOST_TEXT), Qt.ScrollBarPolicy
        text.setVerticalScrollBarPolicy(policy.ScrollBarAlwaysOff)
        needed = text.content_height() + text.height() - text.viewport().height()
        if needed > most:
            text.setVerticalScrollBarPolicy(policy.ScrollBarAsNeeded)
        text.setFixedHeight(min(needed, most))


class AnswerOfRun(QFrame):
    """The answer of one run to a text, and the probability of each label."""

    def __init__(self, state: AnswersState, side: int):
        super().__init__()
        self.state = state
        letter = (_("A"), _("B"))[side]
        self._answer, self._note = Elided("", weight=600), words("", "small", "warn", wrap=True)
        self._chip = Chip("")
        name = (_("Probabilities of A"), _("Probabilities of B"))[side]
        columns = (
            Column(_("Label"), lambda pair: pair[0], 120, most=200, chip=self._look),
            Column(
                _("Probability, %"),
                lambda pair: formats.points(pair[1]),
                None,
                share=lambda pair: pair[1],
            ),
        )
        self._shares = Table(columns, name=name, key=lambda pair: pair[0])
        self._shares.horizontalHeader().hide()
        head = row(_letter(letter, filled=not side), self._chip, (self._answer, 1), gap=8)
        self._reply = MonoText((_("Reply of A"), _("Reply of B"))[side])
        self._reply.setReadOnly(True)
        self._reply.hide()
        fill_with(self, head, self._reply, self._note, self._shares, None, gap=6)

    def _look(self, pair: tuple[str, float]) -> tuple[str, Label | None, str] | None:
        label = self.state.labels.get(pair[0])
        return (pair[0], label, "") if label is not None else None

    def show_answer(self, answer: Answer) -> None:
        none, label = answer.outcome == NO_ANSWER, self.state.labels.get(answer.text)
        self._chip.setVisible(label is not None)
        if label is not None:
            self._chip.set(answer.text, label)
        self._answer.setText("" if label is not None else _("no answer") if none else answer.text)
        escaping.set_tip(self._answer, answer.text)
        self._note.setText(answer.text if none else "")
        self._note.setVisible(none)
        self._shares.setVisible(bool(answer.shares))
        self._shares.set_rows(answer.shares)
        self._shares.fit_height(MOST_LABELS)

    def show_reply(self, exchange: Exchange | None) -> None:
        """The replies as received, one below the other."""
        replies = exchange.replies if exchange is not None else ()
        text = SEPARATOR.join(replies) or (exchange.error if exchange is not None else "")
        self._reply.setPlainText(displayed(text))
        self._reply.setVisible(bool(replies))
        lines = min(MOST_LINES, max(1, text.count("\n") + 1 + len(text) // 60))
        self._reply.setFixedHeight(lines * self._reply.fontMetrics().lineSpacing() + 28)


class ExactPrompt(Dialog):
    """What was sent for a document to each run."""

    def __init__(self, parent: QWidget, chosen: AnswerRow, exchanges: Sequence[Exchange | None]):
        super().__init__(parent, _("Exact prompt"), chosen.key, width=760)
        self._chosen, self._exchanges = chosen, exchanges
        letters = (_("A"), _("B"))
        known = [side for side, exchange in enumerate(exchanges) if exchange is not None]
        self._side = Segments(*((side, letters[side]) for side in known), name=_("Prompt"))
        self._side.chosen.connect(self._show_side)
        self._side.setVisible(len(known) > 1)
        self._name = combo(name=_("Part"))
        self._name.activated.connect(lambda _i: self._show_part())
        self._text = PromptText(_("Exact prompt"))
        self._text.setMinimumHeight(theme.px(360))
        self.put(row(self._side, (self._name, 1), gap=10), self._text)
        self.end(None, Button(_("Close"), on=self.accept))
        self._show_side(known[0])

    def _sent(self) -> tuple[tuple[str, str, str, str], ...]:
        exchange = self._exchanges[int(str(self._side.value()))]
        return exchange.sent if exchange is not None else ()

    def _show_side(self, side: object) -> None:
        self._side.set(side)
        names = [(number, name) for number, (name, *_parts) in enumerate(self._sent())]
        predicted = _side(self._chosen, int(str(side))).text  # of scored labels, that one
        fill(self._name, names, next((at for at, name in names if name == predicted), 0))
        self._name.setVisible(len(names) > 1)
        self._show_part()

    def _show_part(self) -> None:
        _name, *parts = self._sent()[self._name.currentData()]
        self._text.show_prompt((parts[0], parts[1], parts[2]))


def _side(item: AnswerRow, side: int) -> Answer:
    return item.answers[min(side, len(item.answers) - 1)]


def _no_answer_icon(item: Any) -> tuple[str, str] | None:
    return ("circle-help", "warn") if item.name == NO_ANSWER else None
