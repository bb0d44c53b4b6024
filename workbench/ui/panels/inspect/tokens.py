"""By token: the strip of subwords, and the same as a table."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.inspection.spec import Answer, TokenRow
from workbench.ui import theme
from workbench.ui.widgets.button import Button
from workbench.ui.widgets.layout import card, row, scrolled
from workbench.ui.widgets.span_layout import starts_rtl
from workbench.ui.widgets.table import Column, Table
from workbench.ui.widgets.token_strip import Cell, Line, TokenStrip, Word
from workbench.ui.widgets.words import words

STRIP_HEIGHT = 250  # pixels at 100 %, beyond which the strip scrolls
LABEL_LINES, WORD_LINES = 2, 5
LABEL, OTHERS = 4, 5  # columns that only some models fill


class TokensView(QWidget):
    def __init__(self, state):
        super().__init__()
        self.state, self._of = state, None
        self._note = words("", "caption", "muted")
        self._strip = TokenStrip(_("Subwords"), see=self._see)
        self._strip.chosen.connect(self._strip_chosen)
        self._scroll = scrolled(self._strip)
        self._table = Table(_columns(self), name=_("Tokens"), key=lambda pair: pair[0])
        self._table.chosen.connect(self._table_chosen)
        self._more = Button(_("Ask about the rest"), "ellipsis", small=True, on=state.more)
        self._rest = words("", "small", "muted")
        self._rest_row = row(self._rest, self._more, None)
        heading = words(_("Tokens and what the model expects there"), weight=600)
        self._heading = heading
        top = card(row(heading, None, self._note), self._scroll, self._rest_row, gap=10)
        top.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        bottom = card(self._table, margins=(4, 4, 4, 4))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(12)
        layout.addWidget(top)
        layout.addWidget(bottom, 1)

    def show_state(self, fields: frozenset[str]) -> None:
        answer = self.state.answer
        if concerns(fields, "answer", "choice"):
            self._show(answer)
        if concerns(fields, "chosen_token"):
            number = self.state.chosen_token
            self._strip.choose(number)
            self._table.choose({number} if number is not None else set())

    def _show(self, answer: Answer | None) -> None:
        if answer is None:
            self._note.setText("")
            if (
                self.state.choice is not self._of
            ):  # of one model, the answer before stays in sight until the next one comes
                self._of = self.state.choice
                self._strip.set(())
                self._table.rows_model.set_rows(())
                self._rest_row.hide()
            return
        self._of = self.state.choice
        lines = {"tag": LABEL_LINES, "masked": WORD_LINES, "causal": WORD_LINES}.get(answer.kind, 0)
        text = self.state.document.text if self.state.document else ""
        self._strip.set(self._words(answer), lines=lines, rtl=starts_rtl(text))
        self._table.rows_model.set_rows(list(enumerate(answer.tokens)))
        self._note.setText(
            _("{words} words · {subwords} subwords · {ms:.0f} ms").format(
                words=len(answer.words), subwords=answer.subwords, ms=answer.milliseconds
            )
        )
        self._heading.setText(_HEADINGS[answer.kind])
        for column in (LABEL, OTHERS):
            self._table.setColumnHidden(column, not lines)
        self._table.rows_model.set_title(
            LABEL, _("Label") if answer.kind == "tag" else _("Best word")
        )
        left = self.state.unanswered
        self._rest.setText(
            _(
                "{n} later subwords are not asked about yet: each one takes a pass of its own."
            ).format(n=left)
        )
        self._rest_row.setVisible(left > 0)
        self._fit()

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """The strip takes what it needs, up to its share of the page; the table has the rest."""
        most = max(theme.px(120), min(theme.px(STRIP_HEIGHT), self.height() // 2))
        self._scroll.setFixedHeight(min(self._strip.minimumHeight() + 6, most))

    def _see(self, area: QRectF) -> None:
        self._scroll.ensureVisible(
            int(area.center().x()), int(area.center().y()), 0, int(area.height() / 2) + 4
        )

    # ---------------------------------------------------------------- answers as cells

    def _words(self, answer: Answer) -> list[Word]:
        """Runs of subwords of one word, in order; subwords of no word stand alone."""
        found: list[tuple[object, list[Cell]]] = []
        for number, one in enumerate(answer.tokens):
            key = one.word if one.word is not None else f"alone {number}"
            cell = Cell(
                number, one.shown, self._lines(one), one.special, one.unknown, self._tip(one)
            )
            if found and found[-1][0] == key:
                found[-1][1].append(cell)
            else:
                found.append((key, [cell]))
        return [
            Word(answer.words[key].text if isinstance(key, int) else "", tuple(cells))
            for key, cells in found
        ]

    def _lines(self, one: TokenRow) -> tuple[Line, ...]:
        return tuple(Line(name, share, self.tint(name)) for name, share in one.best)

    def tint(self, name: str) -> str:
        """The label's own colour for B-X and I-X, grey for O, the accent for words of a vocabulary."""
        if self.state.answer is None or self.state.answer.kind != "tag":
            return "accent"
        prefix, _dash, label = name.partition("-")
        found = self.state.labels.get(label)
        if prefix not in ("B", "I") or not label:
            return "strong_line"
        if found is not None:
            return theme.label_colours(found).line
        labels = self.state.answer.labels
        return theme.label_colours(labels.index(label) if label in labels else 0).line

    def _tip(self, one: TokenRow) -> str:
        return "\n".join(f"{name}  {100 * share:.1f} %" for name, share in one.best)

    # ---------------------------------------------------------------- choosing

    def _strip_chosen(self, number: int) -> None:
        self.state.choose_token(number)

    def _table_chosen(self) -> None:
        if (current := self._table.chosen_rows()) and current[0][0] != self.state.chosen_token:
            self.state.choose_token(current[0][0])


_HEADINGS = {
    "tag": _("Tokens and label distribution"),
    "masked": _("Each word hidden in turn, and what the model expects there"),
    "causal": _("What the model expects next, after each word"),
    "classify": _("How the text falls into subwords"),
    "pairs": _("How the texts fall into subwords"),
    "none": _("How the text falls into subwords"),
}


def _columns(view: TokensView) -> list[Column]:
    def best(pair) -> str:
        one: TokenRow = pair[1]
        return f"{one.best[0][0]} {100 * one.best[0][1]:.0f}" if one.best else "–"

    def others(pair) -> str:
        return " · ".join(f"{name} {100 * share:.0f}" for name, share in pair[1].best[1:]) or "–"

    def word(pair) -> str:
        one: TokenRow = pair[1]
        answer = view.state.answer
        return (
            answer.words[one.word].text
            if answer and one.word is not None and one.word < len(answer.words)
            else "–"
        )

    return [
        Column(_("Word"), word, 150, hint=_("The word that the subword is a part of")),
        Column(
            _("Subword"),
            lambda pair: pair[1].shown,
            130,
            hint=_("As it stands in the vocabulary; ## continues a word, ␣ is a space"),
        ),
        Column(
            _("Offsets"),
            lambda pair: f"{pair[1].start}–{pair[1].end}" if not pair[1].special else "–",
            90,
            hint=_("Characters (Unicode code points) of the text, the end not included"),
        ),
        Column(
            _("Id"),
            lambda pair: str(pair[1].id),
            80,
            right=True,
            hint=_("Number in the vocabulary"),
        ),
        Column(_("Label"), best, 170, hint=_("The surest answer, in per cent")),
        Column(
            _("Runners-up"), others, None, tip=others, hint=_("The answers after it, in per cent")
        ),
    ]
