"""Answers to the questions about a text: where they start and end, and the ranges considered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QRectF

from workbench.base.i18n import _
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.style import formats, theme
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.layout import card, layout_of, line, row
from workbench.ui.widgets.tables.table import Column, Table
from workbench.ui.widgets.text.span_layout import starts_rtl
from workbench.ui.widgets.tokens.word_strip import Share, StripWord, WordStrip, strip_scrolled

if TYPE_CHECKING:
    from workbench.inspection.answer_scores.info import (
        AnswerAlternatives,
        Boundaries,
        BoundaryToken,
        ConsideredAnswer,
    )
    from workbench.ui.panels.inspect.inspector_state import InspectorState

BOXED = 0.05  # probability of a start or an end from which both have a box
PALE = 0.005  # probability below which a token has no ground
ROWS = 7  # height of the table of ranges, in rows at most


class AnswersView(InspectorView):
    """Above: the text, painted by the starts and ends of the answer to one question. Below: the
    ranges of all questions; the one that is selected chooses the question.
    """

    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._question = ""
        self._asked = Elided("", "ui", weight=600)
        self._null = words("", "caption", "muted")
        self._strip = WordStrip(
            _("Tokens with the probabilities of start and end"), tip=self._tip, see=self._see
        )
        self._scroll = strip_scrolled(self._strip)
        legend = words(_("Blue: start · orange: end"), "caption", "muted")
        self._table = Table(_columns(), name=_("Answers"), key=_key)
        self._table.chosen.connect(self._row_chosen)
        top = row((self._asked, 1), self._null, legend, gap=16)
        layout_of(self).addWidget(card(top, (self._scroll, 1), line(), self._table, gap=8))

    def clear(self) -> None:
        self._table.set_rows(())
        self._show(None)

    def show_result(self, result: AnswerAlternatives) -> None:
        self._table.set_rows(result.answers)
        self._table.fit_height(ROWS)
        self._show_question(self._question)

    def data(self) -> list[list[object]]:
        head = [_("Question"), _("Token"), _("Start"), _("End")]
        rows: list[list[object]] = [
            [*head, _("Probability of start"), _("Probability of end")],
        ]
        for boundary in self.state.result.boundaries:
            for token in boundary.tokens:
                place = [boundary.question, token.shown, token.start, token.end]
                rows.append([*place, token.first, token.last])
        return rows

    # ---------------------------------------------------------------- one question

    def _row_chosen(self) -> None:
        if chosen := self._table.chosen_rows():
            self._show_question(chosen[0].question)
            at = next(
                (at for at, token in enumerate(self._tokens()) if token.end > chosen[0].start), 0
            )
            self._strip.choose(at if chosen[0].text else -1)

    def _show_question(self, question: str) -> None:
        by_question = {
            boundary.question: boundary for boundary in reversed(self.visible.boundaries)
        }
        self._show(by_question.get(question) or next(iter(self.visible.boundaries), None))

    def _show(self, boundaries: Boundaries | None) -> None:
        self._question = boundaries.question if boundaries is not None else ""
        self._asked.setText(self._question)
        message = _("No answer: start {start}%, end {end}%")
        first, last = (
            (boundaries.null_first, boundaries.null_last) if boundaries is not None else (0.0, 0.0)
        )
        shares = {"start": formats.points(first), "end": formats.points(last)}
        self._null.setText(message.format(**shares) if first or last else "")
        text = self.page.document.text if self.page.document else ""
        tokens = boundaries.tokens if boundaries is not None else ()
        painted = [_painted(at, token) for at, token in enumerate(tokens)]
        self._strip.set(painted, rtl=starts_rtl(text))

    def _tokens(self) -> tuple[BoundaryToken, ...]:
        boundaries = self.state.result.boundaries if self.state.result is not None else ()
        return next((item.tokens for item in boundaries if item.question == self._question), ())

    def _tip(self, number: int) -> str:
        tokens = self._tokens()
        if not 0 <= number < len(tokens):
            return ""
        message = _("Start: {start}%\nEnd: {end}%")
        token = tokens[number]
        return message.format(start=formats.points(token.first), end=formats.points(token.last))

    def _see(self, area: QRectF) -> None:
        center = area.center()
        self._scroll.ensureVisible(int(center.x()), int(center.y()), 0, int(area.height() / 2) + 4)


def _painted(at: int, token: BoundaryToken) -> StripWord:
    most = max(token.first, token.last)
    if most < PALE:
        return StripWord(at, token.shown, ink="muted")
    ground = theme.diverging(most if token.first >= token.last else -most)
    ink = theme.readable(ground, "text", "surface")
    if most < BOXED:
        return StripWord(at, token.shown, ground, ink)
    shares = (
        Share(_("Start"), token.first, "accent"),
        Share(_("End"), token.last, "warn"),
    )
    return StripWord(at, token.shown, ground, ink, frame="line", shares=shares, bold=True)


def _columns() -> list[Column]:
    return [
        Column(_("Question"), lambda row: row.question, 260, tip=lambda row: row.question),
        Column(_("Answer"), _text, 240, tip=_text, icon=_mark),
        Column(
            _("Probability, %"),
            lambda row: formats.points(row.probability),
            None,
            share=lambda row: row.probability,
        ),
    ]


def _key(answer: ConsideredAnswer) -> Any:
    return answer.question, answer.start, answer.end


def _text(answer: ConsideredAnswer) -> str:
    return answer.text or _("no answer in the text")


def _mark(answer: ConsideredAnswer) -> tuple[str, str] | None:
    return ("check", "good") if answer.chosen else None
