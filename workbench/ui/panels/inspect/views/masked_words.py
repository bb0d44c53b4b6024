"""Words that the user masks, what the model expects there, and how unexpected each word is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF
from PySide6.QtWidgets import QLineEdit

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.panels.inspect.views.figures import Figures
from workbench.ui.style import formats, theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import card, layout_of, line, row, scrolled
from workbench.ui.widgets.tables.table import Column, Table
from workbench.ui.widgets.text.span_layout import starts_rtl
from workbench.ui.widgets.tokens.word_strip import StripWord, WordStrip

if TYPE_CHECKING:
    from workbench.inspection.masked_words.info import MaskedPosition, MaskedWords
    from workbench.ui.panels.inspect.inspector_state import InspectorState

DARKEST = 16.0  # bits with the darkest ground
NAMED = 8.0  # bits from which the number is shown below the word


class MaskedWordsView(InspectorView):
    """Click or Space masks a word; the tables show the tokens expected in its place."""

    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._strip = WordStrip(_("Words to mask"), tip=self._tip, see=self._see)
        self._strip.clicked.connect(self._toggle)
        self._strip.opened.connect(self._toggle)
        self._scroll = scrolled(self._strip)
        self._note = words("", "caption", "muted")
        self._none = Button(_("Unmask all"), "x", "quiet", small=True, on=self._unmask)
        self._hint = words("", "small", "muted", wrap=True)
        self._more = Button(_("Score the rest"), "ellipsis", small=True, on=state.ask_rest)
        self._stop = Button(_("Stop"), "square", small=True, on=state.stop)
        for button in (self._more, self._stop):
            button.hide()
        self._masked = Table(_masked_columns(self), name=_("Masked tokens"), key=lambda row: row[0])
        self._masked.chosen.connect(self._show_chosen)
        self._best = Table(_best_columns(), name=_("Expected tokens"), key=lambda pair: pair[0])
        self._figures = Figures()
        self._second = QLineEdit()
        self._second.setPlaceholderText(_("A sentence that could follow the text"))
        self._second.returnPressed.connect(self._ask_second)
        self._second.editingFinished.connect(self._ask_second)
        self._pair = TitledField(_("Next sentence"), self._second)
        top = row(words(_("Masked words"), weight=600), self._note, None, self._none)
        self._tables = row((self._masked, 1), (self._best, 1), gap=12)
        layout_of(self).addWidget(
            card(
                top,
                (self._scroll, 1),
                row((self._hint, 1), self._more, self._stop),
                (self._tables, 2),
                line(),
                self._figures,
                self._pair,
                gap=8,
            )
        )

    def clear(self) -> None:
        self._strip.set(())
        self._note.setText("")
        self._masked.set_rows(())
        self._best.set_rows(())
        self._figures.set(())
        for button in (self._more, self._stop):
            button.hide()

    def show_state(self, fields: frozenset[str]) -> None:
        super().show_state(fields)
        if concerns(fields, "continuing") and self.visible is not None:
            self._show_rest(self.visible)

    def _show_rest(self, result: MaskedWords) -> None:
        continuing = self.state.continuing
        self._hint.setText(_hint(result, continuing=continuing))
        self._more.setVisible(result.rest > 0 and not continuing)
        self._stop.setVisible(continuing)

    def show_result(self, result: MaskedWords) -> None:
        masked = {position.word for position in result.positions}
        text = self.page.document.text if self.page.document else ""
        words_ = [self._painted(result, at, at in masked) for at in range(len(result.words))]
        self._strip.set(words_, rtl=starts_rtl(text))
        ms = self.state.answer.milliseconds if self.state.answer else 0
        self._note.setText(_("{ms:.0f} ms", ms=ms))
        self._none.setVisible(bool(masked))
        self._tables.setVisible(bool(masked))
        self._show_rest(result)
        self._masked.set_rows(list(enumerate(result.positions)))
        if masked and not self._masked.chosen_rows():
            self._masked.choose({0})
        self._show_chosen()
        self._figures.set(_figures(result))
        self._pair.setVisible(result.pairs)

    def data(self) -> list[list[object]]:
        rows: list[list[object]] = [[_("Word"), _("Start"), _("End"), _("Surprisal, bits")]]
        result = self.state.result
        for word, bits in zip(result.words, result.bits, strict=False):
            rows.append([word.text, word.start, word.end, bits])
        for position in result.positions:
            rows += [[], [_("Masked token"), position.piece, _("Probability"), position.own]]
            rows += [[name, share] for name, share in position.best]
        return rows

    def _painted(self, result: MaskedWords, at: int, masked: bool) -> StripWord:
        word = result.words[at].text
        if masked:
            return StripWord(at, word, "accent_soft", "accent", frame="accent", bold=True)
        if at >= len(result.bits):
            return StripWord(at, word, ink="muted")
        bits = result.bits[at]
        ground = theme.sequential(min(1.0, bits / DARKEST))
        ink = theme.readable(ground, "text", "surface")
        caption = formats.decimal(bits, 1) if bits >= NAMED else ""
        return StripWord(at, word, ground, ink, caption=caption, ink_caption="muted")

    def _tip(self, number: int) -> str:
        result = self.state.result
        if result is None or number >= len(result.bits):
            return ""
        return _("{bits:.1f} bits when masked alone", bits=result.bits[number])

    def _see(self, area: QRectF) -> None:
        center = area.center()
        self._scroll.ensureVisible(int(center.x()), int(center.y()), 0, int(area.height() / 2) + 4)

    def _show_chosen(self) -> None:
        chosen = self._masked.chosen_rows()
        self._best.set_rows(list(enumerate(chosen[0][1].best, 1)) if chosen else ())

    # ---------------------------------------------------------------- actions

    def _toggle(self, number: int) -> None:
        result = self.state.result
        if result is not None:
            masked = {position.word for position in result.positions} ^ {number}
            self.state.set_options(words=",".join(map(str, sorted(masked))))

    def _unmask(self) -> None:
        self.state.set_options(words="")

    def _ask_second(self) -> None:
        self.state.set_options(second=self._second.text().strip())


def _hint(result: MaskedWords, *, continuing: bool) -> str:
    message = []
    if not result.positions:
        message.append(_("Click a word, or select it and press Space, to mask it."))
    if continuing:
        n = len(result.bits) + result.rest
        text = ngettext("Scoring: {done} of {n} word…", "Scoring: {done} of {n} words…", n)
        message.append(text.format(done=len(result.bits), n=n))
    elif result.rest:
        text = ngettext(
            "{n} later word is not scored yet; each token takes one forward pass.",
            "{n} later words are not scored yet; each token takes one forward pass.",
            result.rest,
        )
        message.append(text.format(n=result.rest))
    if (left := len(result.words) - len(result.bits) - result.rest) > 0:
        text = ngettext(
            "{n} later word is not scored: the text is too long.",
            "{n} later words are not scored: the text is too long.",
            left,
        )
        message.append(text.format(n=left))
    return " ".join(message)


def _figures(result: MaskedWords) -> list[tuple[str, str]]:
    if result.per_token is None or result.per_word is None:
        return []
    figures = [
        (_("Pseudo-perplexity per token"), formats.decimal(result.per_token, 1)),
        (_("Pseudo-perplexity per word"), formats.decimal(result.per_word, 1)),
    ]
    if result.follows is not None:
        figures.append((_("Second sentence follows, %"), formats.points(result.follows)))
    return figures


def _masked_columns(view: MaskedWordsView) -> list[Column]:
    def word(pair: tuple[int, MaskedPosition]) -> str:
        words_ = view.state.result.words if view.state.result is not None else ()
        return words_[pair[1].word].text if pair[1].word < len(words_) else "–"

    return [
        Column(_("Word"), word, 96),
        Column(_("Token"), lambda pair: pair[1].piece, None),
        Column(
            _("Own, %"),
            lambda pair: formats.points(pair[1].own),
            78,
            right=True,
            hint=_("The probability of the token in the text"),
        ),
        Column(
            _("Rank"),
            lambda pair: formats.count(pair[1].rank),
            66,
            right=True,
            hint=_("The rank of this token among all tokens of the vocabulary"),
        ),
        Column(
            _("Entropy"),
            lambda pair: formats.decimal(pair[1].entropy, 1),
            86,
            right=True,
            hint=_("Entropy of the distribution over the vocabulary, in bits"),
        ),
    ]


def _best_columns() -> list[Column]:
    return [
        Column("", lambda pair: str(pair[0]), 34, right=True),
        Column(_("Expected token"), lambda pair: pair[1][0], 130),
        Column(
            _("Probability, %"),
            lambda pair: formats.points(pair[1][1]),
            None,
            share=lambda pair: pair[1][1],
        ),
    ]
