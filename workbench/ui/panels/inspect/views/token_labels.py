"""The label distribution of every word: certain words recede, doubtful ones stand out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.controls.button import Segments
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.layout import card, column, layout_of, line, row
from workbench.ui.widgets.tables.table import Column, Table
from workbench.ui.widgets.text.span_layout import starts_rtl
from workbench.ui.widgets.tokens.word_strip import Share, StripWord, WordStrip, strip_scrolled

if TYPE_CHECKING:
    from workbench.inspection.spec import TokenRow
    from workbench.inspection.token_scores.info import TokenLabels
    from workbench.ui.panels.inspect.inspector_state import InspectorState

CERTAIN = 0.9  # probability from which a word is not doubtful
MAX_LABELS, MIN_PROBABILITY = (
    3,
    0.03,
)  # labels in the box of a doubtful word: at most, and their probability
LOGIT = 2  # column of the labels of one word
NARROW_WIDTH = 620  # width below which the words have a row of their own, pixels at 100%
LOWEST = 4  # rows of the table of one word's labels
TABLE = 196  # height of the table of all words, pixels at 100%


@dataclass(frozen=True)
class _Unit:
    """A word with the index of its first token, and all its tokens."""

    text: str
    first: int
    tokens: tuple[TokenRow, ...]

    @property
    def row(self) -> TokenRow:
        return self.tokens[0]


@dataclass(frozen=True)
class _Label:
    """A label of the selected word; logit: None unless it was asked for."""

    name: str
    share: float
    logit: float | None = None


class TokenLabelsView(InspectorView):
    """Above: the words, in order of the text or of the entropy. Below: a table of them, and the
    labels of one.
    """

    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._result: TokenLabels | None = None
        self._units: list[_Unit] = []
        self._order = Segments(
            ("text", _("Text order")), ("entropy", _("By entropy")), name=_("Order of the words")
        )
        self._order.chosen.connect(self._sort)
        self._by_entropy = False
        self._strip = WordStrip(_("Words with labels"), tip=self._tip)
        self._strip.chosen.connect(self.page.choose_token)
        self._scroll = strip_scrolled(self._strip, fit=False)
        self._word, self._about = words("", weight=600), Elided("", "small", "muted")
        self._entropy = words("", "small", weight=600)
        self._table = Table(_word_columns(self), name=_("Tokens"), key=lambda unit: unit.first)
        self._table.chosen.connect(self._row_chosen)
        self._labels = Table(_columns(self), name=_("Labels of the word"), key=lambda row: row.name)
        self._every = QCheckBox(_("All labels and logits"))
        escaping.set_tip(self._every, _("Also in the data that is saved"))
        self._every.toggled.connect(self._ask_for_every)
        self._basis = words("", "caption", "muted", wrap=True)
        self._predicted = words("", "small")
        self._note = Elided("", "caption", "muted")
        legend = words(
            _("Grey: no label, 90% or more · tinted: a label with 90% or more · boxed: doubtful"),
            "caption",
            "muted",
            wrap=True,
        )
        top = row(words(_("Label distribution"), weight=600), (self._note, 1), self._order)
        about = row(self._word, (self._about, 1), self._entropy)
        side = column(about, self._predicted, self._labels, self._every, self._basis, gap=8)
        below = row((self._table, 1), (side, 1), gap=16)
        layout_of(self).addWidget(card(top, (self._scroll, 1), legend, line(), below, gap=8))

    def show_state(self, fields: frozenset[str]) -> None:
        super().show_state(fields)
        if concerns(fields, "options"):
            self._every.setChecked(bool(self.state.option("logits")))
        if concerns(fields, "chosen_token", "result"):
            self._show_chosen()

    def clear(self) -> None:
        self._result, self._units = None, []
        self._strip.set(())
        self._table.set_rows(())
        self._note.setText("")
        self._basis.setText("")
        self._show_chosen()

    def show_result(self, result: TokenLabels) -> None:
        self._result, self._units = result, _units(result)
        ms = self.state.answer.milliseconds if self.state.answer else 0
        self._note.setText(
            _(
                "Words: {words} · Tokens: {tokens} · {ms:.0f} ms",
                words=len(result.words),
                tokens=result.count,
                ms=ms,
            )
        )
        self._basis.setText(result.message)
        self._show_words()

    def data(self) -> list[list[object]]:
        head = [_("Word"), _("Start"), _("End"), _("Token"), _("Entropy, bits")]
        result = self.state.result
        names = result.outputs
        if result.logits is None:
            names = sorted({name for token in result.tokens for name, _share in token.best})
        logits = [_("Logit of {label}", label=name) for name in names]
        rows: list[list[object]] = [[*head, *names, *(logits if result.logits is not None else ())]]
        for unit in self._units:
            for number, token in enumerate(unit.tokens, unit.first):
                shares = {label.name: label for label in self._labels_of(number)}
                about = [unit.text, token.start, token.end, token.piece, token.entropy]
                values = [shares[name].share if name in shares else "" for name in names]
                if result.logits is not None:
                    values += result.logits[number].tolist()
                rows.append([*about, *values])
        return rows

    def _ask_for_every(self, on: bool) -> None:
        if on != bool(self.state.option("logits")):
            self.state.set_options(logits=on)

    def _labels_of(self, number: int) -> list[_Label]:
        """The labels of a token, most probable first; [] for a token without a distribution."""
        result = self._result
        best = result.tokens[number].best if result is not None else ()
        if result is None or result.logits is None or result.probabilities is None or not best:
            return [_Label(name, share) for name, share in best]
        rows = zip(
            result.outputs,
            result.probabilities[number].tolist(),
            result.logits[number].tolist(),
            strict=True,
        )
        return sorted((_Label(*item) for item in rows), key=lambda item: -item.share)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """A narrow pane leaves out the table of what the strip above shows."""
        wide = self.width() >= theme.px(NARROW_WIDTH)
        self._table.setVisible(wide)
        self._labels.fit_height(LOWEST if wide else LOWEST - 1)

    # ---------------------------------------------------------------- words

    def _sort(self, order: object) -> None:
        self._by_entropy = order == "entropy"
        self._show_words()

    def _show_words(self) -> None:
        units = self._units
        if self._by_entropy:
            units = sorted(units, key=lambda unit: -(unit.row.entropy or 0))
        text = self.page.document.text if self.page.document else ""
        self._strip.set([self._painted(unit) for unit in units], rtl=starts_rtl(text))
        self._table.set_rows(units)

    def _painted(self, unit: _Unit) -> StripWord:
        if not unit.row.best:
            return StripWord(unit.first, unit.text, ink="faint")
        name, share = unit.row.best[0]
        pieces = "·".join(token.shown for token in unit.tokens) if len(unit.tokens) > 1 else ""
        if share < CERTAIN:
            shares = _doubts(unit.row.best)
            boxes = tuple(Share(share, part, self.tint(share)) for share, part in shares)
            return StripWord(unit.first, unit.text, frame="warn", shares=boxes, bold=True)
        colours = self._colours(name)
        if colours is None:
            return StripWord(unit.first, unit.text, ink="muted", rule="line")
        message = f"{name} {formats.points(share, 0)}"
        return StripWord(
            unit.first,
            unit.text,
            ground=colours.fill,
            rule=colours.line,
            caption=message,
            ink_caption=colours.line,
            pieces=pieces,
        )

    def _colours(self, name: str) -> theme.LabelColours | None:
        """Those of X for B-X, I-X and X; None for O."""
        labels = self.state.result.labels if self.state.result else ()
        label = name if name in labels else name.partition("-")[2]
        if label not in labels:
            return None
        return theme.label_colours(self.page.labels.get(label, labels.index(label)))

    def tint(self, name: str) -> str:
        """The colour of a label's bar, grey for no label."""
        colours = self._colours(name)
        return "strong_line" if colours is None else colours.line

    def _tip(self, number: int) -> str:
        unit = self._unit(number)
        best = unit.row.best if unit is not None else ()
        return "\n".join(f"{name}  {formats.points(share)}%" for name, share in best)

    # ---------------------------------------------------------------- one word

    def _unit(self, number: int | None) -> _Unit | None:
        """The word that contains a token."""
        if number is None:
            return None
        holding = (
            unit for unit in self._units if unit.first <= number < unit.first + len(unit.tokens)
        )
        return next(holding, None)

    def _show_chosen(self) -> None:
        unit = self._unit(self.page.chosen_token)
        if unit is None and self._units:
            unit = max(self._units, key=lambda unit: unit.row.entropy or 0)
            self._strip.choose(-1)
            self._table.choose(set())
        elif unit is not None:
            self._strip.choose(unit.first)
            self._table.choose({unit.first})
        self._word.setText(unit.text if unit is not None else "")
        self._about.setText(_about(unit) if unit is not None else "")
        self._predicted.setText(_predicted(self._result, unit))
        known = unit is not None and unit.row.entropy is not None
        message = _("entropy {bits:.2f} bits")
        self._entropy.setText(message.format(bits=unit.row.entropy) if unit and known else "")
        self._labels.setColumnHidden(LOGIT, not self._every.isChecked())
        self._labels.set_rows(self._labels_of(unit.first) if unit is not None else ())
        self._fit()
        self._table.setFixedHeight(theme.px(TABLE))

    def _row_chosen(self) -> None:
        if (chosen := self._table.chosen_rows()) and chosen[0] is not self._unit(
            self.page.chosen_token
        ):
            self.page.choose_token(chosen[0].first)


def _units(result: TokenLabels) -> list[_Unit]:
    """The words of the text in order; a token outside of words stands for itself."""
    units: list[_Unit] = []
    before: int | None = None
    for number, token in enumerate(result.tokens):
        if token.special:
            before = None
        elif token.word is not None and token.word == before:
            last = units[-1]
            units[-1] = _Unit(last.text, last.first, (*last.tokens, token))
        else:
            text = result.words[token.word].text if token.word is not None else token.shown
            units.append(_Unit(text, number, (token,)))
            before = token.word
    return units


def _doubts(best: tuple[tuple[str, float], ...]) -> tuple[tuple[str, float], ...]:
    """The labels that share most of the probability."""
    return tuple(pair for pair in best[:MAX_LABELS] if pair[1] >= MIN_PROBABILITY)


def _about(unit: _Unit) -> str:
    pieces = " · ".join(
        token.shown if token.id is None else f"{token.shown} {token.id}" for token in unit.tokens
    )
    offsets = _("offsets {start}–{end}", start=unit.row.start, end=unit.tokens[-1].end)
    return f"{pieces} · " + offsets


def _predicted(result: TokenLabels | None, unit: _Unit | None) -> str:
    """What the run predicts for a word, with the probability that it states elsewhere."""
    if result is None or unit is None:
        return ""
    start, end = unit.row.start, unit.tokens[-1].end
    for word in result.predicted:
        if word.start < end and start < word.end:
            share = formats.points(word.score)
            if not word.label:
                return _("Predicted: no label, {share}%", share=share)
            return _("Predicted: {label}, {share}%", label=word.label, share=share)
    return ""


def _word_columns(view: TokenLabelsView) -> list[Column]:
    def best(unit: _Unit) -> str:
        return unit.row.best[0][0] if unit.row.best else ""

    return [
        Column(_("Word"), lambda unit: unit.text, None),
        Column(_("Label"), best, 130),
        Column(
            "%",
            lambda unit: formats.points(unit.row.best[0][1]) if unit.row.best else "",
            60,
            right=True,
        ),
        Column(
            _("Entropy"),
            lambda unit: "" if unit.row.entropy is None else formats.decimal(unit.row.entropy, 2),
            80,
            right=True,
        ),
    ]


def _columns(view: TokenLabelsView) -> list[Column]:
    def colour(item: _Label) -> Any:
        name, label = item.name, item.name.partition("-")[2]
        return name, view.page.labels.get(name) or view.page.labels.get(label), ""

    return [
        Column(_("Label"), lambda row: row.name, 150, chip=colour),
        Column(
            _("Probability, %"),
            lambda row: formats.points(row.share),
            None,
            share=lambda row: row.share,
        ),
        Column(
            _("Logit"),
            lambda row: "–" if row.logit is None else formats.decimal(row.logit, 2, signed=True),
            70,
            right=True,
        ),
    ]
