"""A text painted by how unexpected each word is to a language model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF

from workbench.base.i18n import _
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.panels.inspect.views.figures import Figures
from workbench.ui.style import formats, theme
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import card, layout_of, line, row
from workbench.ui.widgets.tables.table import Column, Table
from workbench.ui.widgets.text.span_layout import starts_rtl
from workbench.ui.widgets.tokens.word_strip import StripWord, WordStrip, strip_scrolled

if TYPE_CHECKING:
    from workbench.inspection.surprisal.info import Surprisal
    from workbench.ui.panels.inspect.inspector_state import InspectorState

DARKEST = 16.0  # bits with the darkest ground
NAMED = 8.0  # bits from which the number is shown below the word


class SurprisalView(InspectorView):
    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._note = words("", "caption", "muted")
        self._strip = WordStrip(_("Words with their surprisal"), tip=self._tip, see=self._see)
        self._scroll = strip_scrolled(self._strip)
        self._figures = Figures()
        self._table = Table(_columns(), name=_("Words"), key=lambda row: row[0], sortable=True)
        self._table.chosen.connect(self._row_chosen)
        self._strip.chosen.connect(lambda at: self._table.choose({at}))
        legend = words(
            _("Stronger colour: more unexpected, up to 16 bits · outlined: without a value"),
            "caption",
            "muted",
            wrap=True,
        )
        top = row(words(_("Surprisal"), weight=600), self._note, None)
        parts = ((self._scroll, 1), legend, self._figures, line(), (self._table, 1))
        layout_of(self).addWidget(card(top, *parts, gap=8))

    def clear(self) -> None:
        self._strip.set(())
        self._table.set_rows(())
        self._figures.set(())
        self._note.setText("")

    def show_result(self, result: Surprisal) -> None:
        text = self.page.document.text if self.page.document else ""
        pairs = list(zip((word.text for word in result.words), result.bits, strict=True))
        painted = [_painted(at, word, bits) for at, (word, bits) in enumerate(pairs)]
        self._strip.set(painted, rtl=starts_rtl(text))
        self._table.set_rows([(at, word, bits) for at, (word, bits) in enumerate(pairs)])
        ms = self.state.answer.milliseconds if self.state.answer else 0
        self._note.setText(_("{ms:.0f} ms", ms=ms))
        self._figures.set(_figures(result))

    def data(self) -> list[list[object]]:
        result = self.state.result
        rows: list[list[object]] = [[_("Word"), _("Start"), _("End"), _("Surprisal, bits")]]
        for word, bits in zip(result.words, result.bits, strict=True):
            rows.append([word.text, word.start, word.end, "" if bits is None else bits])
        return rows

    def _tip(self, number: int) -> str:
        result = self.state.result
        bits = result.bits[number] if result is not None and number < len(result.bits) else None
        return "" if bits is None else _("{bits:.1f} bits", bits=bits)

    def _see(self, area: QRectF) -> None:
        center = area.center()
        self._scroll.ensureVisible(int(center.x()), int(center.y()), 0, int(area.height() / 2) + 4)

    def _row_chosen(self) -> None:
        if chosen := self._table.chosen_rows():
            self._strip.choose(chosen[0][0])


def _painted(at: int, word: str, bits: float | None) -> StripWord:
    if bits is None:
        return StripWord(at, word, ink="muted", frame="line")
    ground = theme.sequential(min(1.0, bits / DARKEST))
    ink = theme.readable(ground, "text", "surface")
    caption = formats.decimal(bits, 1) if bits >= NAMED else ""
    return StripWord(at, word, ground, ink, caption=caption, ink_caption="muted")


def _figures(result: Surprisal) -> list[tuple[str, str]]:
    if not result.tokens or not result.scored:
        return []
    return [
        (_("Perplexity per token"), formats.decimal(2 ** (result.total / result.tokens), 1)),
        (_("Perplexity per word"), formats.significant(2 ** (result.total / result.scored), 4)),
        (_("Mean surprisal, bits"), formats.decimal(result.total / result.scored, 2)),
    ]


def _columns() -> list[Column]:
    return [
        Column(_("Word"), lambda row: row[1], 160),
        Column(
            _("Surprisal, bits"),
            lambda row: "–" if row[2] is None else formats.decimal(row[2], 2),
            None,
            share=lambda row: None if row[2] is None else min(1.0, row[2] / DARKEST),
            hint=_("The sum of -log2 P(token | tokens before) over the tokens of the word"),
        ),
    ]
