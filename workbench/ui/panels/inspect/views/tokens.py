"""Tokens: a strip below the words of the text, and a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QRectF
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.style import formats, theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import card, layout_of, row, scrolled
from workbench.ui.widgets.tables.table import Column, Table
from workbench.ui.widgets.text.span_layout import starts_rtl
from workbench.ui.widgets.tokens.token_strip import PredictionLine, StripToken, TokenStrip, Word

if TYPE_CHECKING:
    from workbench.inspection.spec import TokenRow, TokenTable
    from workbench.inspection.subwords.info import Tokenized
    from workbench.ui.panels.inspect.inspector_state import InspectorState

STRIP_HEIGHT = 250  # pixels at 100%; a taller strip scrolls
WORD, OFFSETS = 0, 2  # columns
NARROW_WIDTH = 640  # width below which they are hidden, pixels at 100%
LABEL = 4  # the first column that only some views have
EMBEDDING = (*("segment", "position"), *("token_norm", "position_norm", "segment_norm", "sum_norm"))


class TokensView(InspectorView):
    """Any result with tokens below their words. Subclasses define the predictions of a token."""

    heading = _("Tokenization")
    lines = 0  # maximum number of predictions below each token
    best = ""  # title of the column with the most probable prediction

    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._note = words("", "caption", "muted")
        self._strip = TokenStrip(_("Subwords"), see=self._see, tip=self._tip)
        self._strip.grown.connect(self._fit)
        self._strip.chosen.connect(self.page.choose_token)
        self._scroll = scrolled(self._strip)
        self._table = Table(self.columns(), name=_("Tokens"), key=itemgetter(0))
        self._table.chosen.connect(self._table_chosen)
        self._more = Button(_("Compute the rest"), "ellipsis", small=True, on=self._ask_more)
        self._stop = Button(_("Stop"), "square", small=True, on=state.stop)
        self._rest = words("", "small", "muted")
        self._rest_row = row(self._rest, self._more, self._stop, None)
        self._rest_row.hide()
        self._heading = words(self.heading, weight=600)
        top = card(row(self._heading, None, self._note), self._scroll, self._rest_row, gap=10)
        top.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        layout_of(self).addWidget(top)
        layout_of(self).addWidget(card(self._table, margins=(4, 4, 4, 4)), 1)

    def show_state(self, fields: frozenset[str]) -> None:
        super().show_state(fields)
        if concerns(fields, "chosen_token", "result"):
            number = self.page.chosen_token
            self._strip.choose(number)
            self._table.choose({number} if number is not None else set())

    def clear(self) -> None:
        self._note.setText("")
        self._strip.set(())
        self._table.rows_model.set_rows(())
        self._rest_row.hide()

    def show_result(self, result: TokenTable) -> None:
        text = self.page.document.text if self.page.document else ""
        self._strip.set(self._words(result), lines=self.lines, rtl=starts_rtl(text))
        self._table.rows_model.set_rows(list(enumerate(result.tokens)))
        self._note.setText(
            _(
                "Words: {words} · Tokens: {tokens} · {ms:.0f} ms",
                words=len(result.words),
                tokens=result.count,
                ms=self.state.answer.milliseconds if self.state.answer else 0,
            )
        )
        self._fit()

    def columns(self) -> list[Column]:
        """The columns of the table; a row is (index, token)."""
        return [*_columns(self), *_predictions(self)]

    def data(self) -> list[list[object]]:
        columns = self.columns()
        rows: list[list[object]] = [[column.title for column in columns]]
        rows += [[column.text(pair) for column in columns] for pair in self._table.rows()]
        return rows

    def _ask_more(self) -> None:
        """Request the next part; for subclasses that compute their results in parts."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """The strip takes what it needs, up to its share of the page; the table takes the rest."""
        most = max(theme.px(120), min(theme.px(STRIP_HEIGHT), self.height() // 2))
        self._scroll.setFixedHeight(min(self._strip.minimumHeight() + 6, most))

    def _see(self, area: QRectF) -> None:
        self._scroll.ensureVisible(
            int(area.center().x()), int(area.center().y()), 0, int(area.height() / 2) + 4
        )

    # ---------------------------------------------------------------- predictions as cells

    def _words(self, result: TokenTable) -> Iterator[Word]:
        """Runs of tokens of one word, in order; tokens outside of words are separate."""

        def key(pair: tuple[int, TokenRow]) -> tuple[bool, int]:
            number, token = pair
            return (True, token.word) if token.word is not None else (False, number)

        for (in_word, index), pairs in groupby(enumerate(result.tokens), key):
            cells = (
                StripToken(number, pair.shown, self._lines(pair), pair.special, pair.unknown)
                for number, pair in pairs
            )
            yield Word(result.words[index].text if in_word else "", tuple(cells))

    def _lines(self, token: TokenRow) -> tuple[PredictionLine, ...]:
        return tuple(PredictionLine(name, share, self.tint(name)) for name, share in token.best)

    def tint(self, name: str) -> str:
        """The colour of a prediction's bar."""
        return "accent"

    def _tip(self, number: int) -> str:
        tokens = self.state.result.tokens if self.state.result is not None else ()
        best = tokens[number].best if number < len(tokens) else ()
        return "\n".join(f"{name}  {formats.points(share)}%" for name, share in best)

    # ---------------------------------------------------------------- selection

    def _table_chosen(self) -> None:
        if (current := self._table.chosen_rows()) and current[0][0] != self.page.chosen_token:
            self.page.choose_token(current[0][0])


class SubwordsView(TokensView):
    """Tokens with the embeddings that are summed for each."""

    def columns(self) -> list[Column]:
        return [*_columns(self), *_embeddings(self)]

    def show_result(self, result: Tokenized) -> None:
        super().show_result(result)
        for number, name in enumerate(EMBEDDING):
            known = any(getattr(embedded, name) is not None for embedded in result.embedded)
            self._table.setColumnHidden(LABEL + number, not known)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A narrow pane leaves out what the strip above shows."""
        super().resizeEvent(event)
        for column in (WORD, OFFSETS):
            self._table.setColumnHidden(column, self.width() < theme.px(NARROW_WIDTH))


class ExpectedWordsView(TokensView):
    """The words that a language model predicts for every token."""

    lines = 5
    best = _("Best word")

    @staticmethod
    def _title(result: Any) -> str:
        if result.masked:
            return _("Predictions for each token when it is masked")
        if result.backward:
            return _("Predictions for the previous token, before each token")
        return _("Predictions for the next token, after each token")

    def show_state(self, fields: frozenset[str]) -> None:
        super().show_state(fields)
        if concerns(fields, "continuing") and self.visible is not None:
            self._show_rest(self.visible)

    def show_result(self, result: Any) -> None:
        super().show_result(result)
        self._heading.setText(self._title(result))
        self._show_rest(result)

    def _show_rest(self, result: Any) -> None:
        n = result.unanswered
        message = ngettext(
            "{n} later token is not computed yet; it takes one forward pass.",
            "{n} later tokens are not computed yet; each takes one forward pass.",
            n,
        )
        message = message.format(n=n)
        if self.state.continuing:
            text = ngettext(
                "Computing: {done} of {n} token…",
                "Computing: {done} of {n} tokens…",
                result.count,
                done=result.count - n,
            )
            message = text
        self._rest.setText(message)
        self._more.setVisible(not self.state.continuing)
        self._stop.setVisible(self.state.continuing)
        self._rest_row.setVisible(n > 0)
        self._fit()

    def _ask_more(self) -> None:
        self.state.ask_rest()


def _columns(view: TokensView) -> list[Column]:
    def word(pair: tuple[int, TokenRow]) -> str:
        token: TokenRow = pair[1]
        words = view.state.result.words if view.state.result is not None else ()
        return words[token.word].text if token.word is not None and token.word < len(words) else "–"

    return [
        Column(_("Word"), word, 130, hint=_("The word that contains the token")),
        Column(
            _("Token"),
            lambda pair: pair[1].shown,
            120,
            hint=_("As written in the vocabulary: ## continues a word, ␣ is a space"),
        ),
        Column(
            _("Offsets"),
            lambda pair: f"{pair[1].start}–{pair[1].end}" if not pair[1].special else "–",
            80,
            right=True,
            hint=_("Character offsets (Unicode code points) in the text, end exclusive"),
        ),
        Column(
            _("Id"),
            lambda pair: str(pair[1].id) if pair[1].id is not None else "–",
            70,
            right=True,
            hint=_("Index in the vocabulary"),
        ),
    ]


def _predictions(view: TokensView) -> list[Column]:
    def best(pair: tuple[int, TokenRow]) -> str:
        token: TokenRow = pair[1]
        return f"{token.best[0][0]} {formats.points(token.best[0][1], 0)}" if token.best else "–"

    def others(pair: tuple[int, TokenRow]) -> str:
        return (
            " · ".join(f"{name} {formats.points(share, 0)}" for name, share in pair[1].best[1:])
            or "–"
        )

    return [
        Column(view.best, best, 170, hint=_("The most probable prediction, in %")),
        Column(
            _("Other predictions"),
            others,
            None,
            tip=others,
            hint=_("The next most probable predictions, in %"),
        ),
    ]


def _embeddings(view: TokensView) -> list[Column]:
    """Columns of the embeddings that the model sums; a column that no token fills is hidden."""

    def text(name: str) -> Callable[[tuple[int, TokenRow]], str]:
        def found(pair: tuple[int, TokenRow]) -> str:
            result = view.state.result
            rows = result.embedded if result is not None else ()
            value = getattr(rows[pair[0]], name) if pair[0] < len(rows) else None
            if value is None:
                return "–"
            return formats.decimal(value, 2) if isinstance(value, float) else str(value)

        return found

    titles = {
        "segment": (_("Segment"), _("Index of the segment: 1 in the second text")),
        "position": (_("Pos."), _("Index in the table of position embeddings")),
        "token_norm": (_("‖t‖"), _("Euclidean norm of the token embedding")),
        "position_norm": (_("‖p‖"), _("Euclidean norm of the position embedding")),
        "segment_norm": (_("‖s‖"), _("Euclidean norm of the segment embedding")),
        "sum_norm": (_("‖Σ‖"), _("Euclidean norm of the sum of these embeddings")),
    }
    columns = [
        Column(title, text(name), 78 if name == "segment" else 62, right=True, hint=hint)
        for name, (title, hint) in titles.items()
    ]
    return [*columns, Column("", width=None)]
