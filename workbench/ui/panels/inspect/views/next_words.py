"""The next word of a text: what the model expects, what sampling leaves of it, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.panels.inspect.views.option_field import OptionField
from workbench.ui.style import formats
from workbench.ui.widgets.charts.step_line import StepLine
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import card, layout_of, line, row
from workbench.ui.widgets.tables.table import Column, Table
from workbench.ui.widgets.text.span_layout import starts_rtl
from workbench.ui.widgets.tokens.word_strip import StripWord, WordStrip

if TYPE_CHECKING:
    from workbench.inspection.next_words.info import NextToken, NextWords
    from workbench.ui.panels.inspect.inspector_state import InspectorState

BEFORE = 6  # words of the text before the added tokens
CUTS = {"top-k": ("top_k", _("top-k")), "top-p": ("top_p", _("top-p"))}  # option, title
Numbered = tuple[int, "NextToken | None"]  # None: the row that names the cut


class NextWordsView(InspectorView):
    """↑ and ↓ select a token, Enter adds it, Backspace goes back one step."""

    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._note = words("", "caption", "muted")
        self._strip = WordStrip(_("Text with the tokens added"))
        self._strip.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # keys belong to the table
        self._cut = words("", "small", "warn")
        self._fields = [
            OptionField(state, "temperature", _("Temperature")),
            OptionField(state, "top_k", _("Top-k (0: all)")),
            OptionField(state, "top_p", _("Top-p")),
        ]
        self._table = Table(_columns(self), name=_("Next tokens"), key=lambda pair: pair[0])
        self._table.opened.connect(lambda pair: self._add(pair[1]))
        self._table.removed.connect(self._back)
        self._entropy = StepLine(_("Entropy of the next token after each step"))
        self._typed = QLineEdit()
        self._typed.setPlaceholderText(_("Type another token"))
        self._typed.setAccessibleName(_("Another token"))
        self._typed.returnPressed.connect(self._type)
        add = Button(_("Add token"), "plus", small=True, on=self._add_current)
        self._undo = Button(_("Back one step"), "undo-2", small=True, on=self._back)
        self._undo.setEnabled(False)
        layout_of(self).addWidget(
            card(
                row(words(_("Next words"), weight=600), self._note, None, self._cut),
                self._strip,
                row(*((field, 1) for field in self._fields), gap=12),
                (self._table, 1),
                words(_("Entropy of the next token, bits, after each step"), "small", "muted"),
                self._entropy,
                line(),
                row(add, (self._typed, 1), self._undo),
                gap=8,
            )
        )

    def show_state(self, fields: frozenset[str]) -> None:
        super().show_state(fields)
        if concerns(fields, "options"):
            for field in self._fields:
                field.show_value()

    def clear(self) -> None:
        self._strip.set(())
        self._table.set_rows(())
        self._entropy.set(())
        self._note.setText("")

    def show_result(self, result: NextWords) -> None:
        strip_words = self._words(result)
        self._strip.set(strip_words, rtl=starts_rtl(" ".join(word.text for word in strip_words)))
        self._table.set_rows(_rows(result))
        self._span_cut()
        self._table.choose({1})
        self._table.scrollToTop()
        names = [_("text"), *result.tokens]
        self._entropy.set(list(zip(names, result.entropies, strict=True)))
        self._cut.setText(self.cut_words())
        self._undo.setEnabled(bool(result.added))
        ms = self.state.answer.milliseconds if self.state.answer else 0
        self._note.setText(_("{ms:.0f} ms", ms=ms))

    def data(self) -> list[list[object]]:
        head = [_("Token"), _("Id"), _("Model"), _("Sampled")]
        rows: list[list[object]] = [[*head]]
        rows += [[item.token, item.id, item.model, item.sampled] for item in self.state.result.rows]
        return rows

    def _words(self, result: NextWords) -> list[StripWord]:
        text = self.page.document.text.split() if self.page.document else []
        near = text[:BEFORE] if result.backward else text[-BEFORE:]
        strip_words = [StripWord(-1 - at, text, ink="muted") for at, text in enumerate(near)]
        added = [
            StripWord(
                at,
                token,
                "sunken",
                caption=f"{formats.points(share, 0)}%",
                ink_caption="muted",
            )
            for at, (token, share) in enumerate(zip(result.tokens, result.shares, strict=True))
        ]
        step = _("step {n}", n=len(added) + 1)
        end = StripWord(len(added), "    ", frame="accent", caption=step, ink_caption="accent")
        if result.backward:
            return [end, *reversed(added), *strip_words]
        arrow = [StripWord(-1 - len(near), "→", ink="muted")] if result.apart else []
        return [*strip_words, *arrow, *added, end]

    def _span_cut(self) -> None:
        """Let the row that names the cut take all columns."""
        self._table.clearSpans()
        for number, (_at, token) in enumerate(self._table.rows()):
            if token is None:
                self._table.setSpan(number, 0, 1, self._table.model().columnCount())

    def cut_words(self) -> str:
        """What cuts how many tokens off."""
        result = self.state.result
        if result is None or not result.cut_by:
            return ""
        message = ngettext(
            "cut by {cut}: {n:,} token kept, {left:,} left out",
            "cut by {cut}: {n:,} tokens kept, {left:,} left out",
            result.kept,
        )
        name, title = CUTS[result.cut_by]
        cut = f"{title} {formats.significant(self.state.option(name))}"
        return message.format(cut=cut, n=result.kept, left=result.vocabulary - result.kept)

    # ---------------------------------------------------------------- actions

    def _continue(self, ids: tuple[int, ...], typed: str = "") -> None:
        self.state.set_options(added=",".join(map(str, ids)), typed=typed)

    def _add(self, token: NextToken | None) -> None:
        result = self.state.result
        if result is not None and token is not None and result.more and not self.state.asking:
            self._continue((*result.added, token.id))

    def _add_current(self) -> None:
        chosen = self._table.chosen_rows()
        self._add(chosen[0][1] if chosen else None)

    def _type(self) -> None:
        """A typed token begins with a space after a word, as the model reads words."""
        result, text = self.state.result, self._typed.text()
        if result is not None and text.strip() and not self.state.asking:
            spaced = text if text[0].isspace() or not text[0].isalnum() else f" {text}"
            self._typed.clear()
            self._continue(result.added, spaced)

    def _back(self) -> None:
        result = self.state.result
        if result is not None and result.added and not self.state.asking:
            self._continue(result.added[:-1])


def _rows(result: NextWords) -> list[Numbered]:
    """The tokens in order, with a row where the cut is."""
    rows: list[Numbered] = list(enumerate(result.rows, 1))
    if result.cut_by and result.kept < len(rows):
        rows.insert(result.kept, (0, None))
    return rows


def _columns(view: NextWordsView) -> list[Column]:
    def text(read: Any) -> Any:
        return lambda pair: read(pair[1]) if pair[1] is not None else ""

    def number(pair: Numbered) -> str:
        return str(pair[0]) if pair[1] is not None else f"– – –  {view.cut_words()}  – – –"

    def sampled(token: NextToken) -> str:
        return formats.points(token.sampled) if token.sampled else "–"

    def share(pair: Numbered) -> float | None:
        return pair[1].sampled if pair[1] is not None else None

    return [
        Column("", number, 44),
        Column(_("Token"), text(lambda token: token.token), 140),
        Column(
            _("Model, %"),
            text(lambda token: formats.points(token.model)),
            90,
            right=True,
            hint=_("The probability that the model gives the token"),
        ),
        Column(
            _("Sampled, %"),
            text(sampled),
            None,
            share=share,
            hint=_("The probability after temperature, top-k and top-p; – where it is cut off"),
        ),
    ]
